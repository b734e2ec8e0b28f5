"""The runs of one reading of the thesis, which claims are judged on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lasthop.studies.claims import NotRun
from lasthop.studies.grid import Numbers
from lasthop.studies.umts_tcp.switching import Download, Sharing
from lasthop.studies.umts_tcp.watched import Followed

__all__ = ["Data"]


@dataclass(frozen=True)
class Data:
    """The numbers of each grid that was run, by its name."""

    #: What is taken, in a word or two.
    name: str
    grids: Mapping[str, Numbers] = field(default_factory=dict)
    #: The buffer through the periods of a download, and two terminals that share a channel.
    download: Download | None = None
    sharing: Sharing | None = None
    #: Runs of chapter 6 over time.
    followed: Mapping[str, Followed] | None = None

    def grid(self, name: str) -> Numbers:
        """A grid's numbers."""
        if name not in self.grids:
            raise NotRun(f"{name} was not run")
        return self.grids[name]
