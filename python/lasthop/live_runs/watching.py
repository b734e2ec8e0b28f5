"""The ways to look at a live run while it runs: the terminal, the page on this machine, or neither."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

__all__ = ["Show", "shown"]

#: Hears a snapshot as JSON.
Show = Callable[[str], None]


@contextmanager
def shown(name: str, *, view: bool, web: bool) -> Iterator[Show | None]:
    """What is to be called with each snapshot; ``None`` if none is."""
    with ExitStack() as stack:
        looking: list[Callable[[dict[str, Any]], None]] = []
        if view:
            from lasthop.live_runs import view as terminal

            looking.append(stack.enter_context(terminal.drawn(name)))
        if web:
            from lasthop.live_runs import web as page

            looking.append(stack.enter_context(page.served(name)))

        def show(text: str) -> None:
            snapshot = json.loads(text)
            for one in looking:
                one(snapshot)

        yield show if looking else None
