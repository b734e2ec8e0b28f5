"""What a worker of a cluster does when something is wrong with it, in place of a run."""

from __future__ import annotations

import os

from lasthop.sweeps.work import Task, perform


def dies(task: Task) -> bytes:
    """Whoever makes this run ends."""
    if task.run == 3:
        os._exit(1)
    return perform(task)


def raises(task: Task) -> bytes:
    """A run fails of what nobody thought of."""
    if task.run == 3:
        raise MemoryError("out of memory")
    return perform(task)
