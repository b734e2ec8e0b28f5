"""Figures of single runs: how dedicated channels come and go (5.1, 5.2), and chapter 6 over time (6.1, 6.3, 6.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import followed, switching

if TYPE_CHECKING:
    from lasthop.studies.bench import Bench

SEED = 1


def watch(bench: Bench, parts: tuple[float, float]) -> dict[str, Any]:
    """What these runs show, by the names that the data of the default reading have for it."""
    [download] = bench.run([(switching.one_user(), SEED)], switching.download, counts=False)
    [sharing] = bench.run([(switching.two_users(), SEED)], switching.sharing, counts=False)
    return {"download": download, "sharing": sharing, "followed": followed.follow(bench, parts, SEED)}
