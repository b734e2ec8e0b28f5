"""The runs of one reading of the thesis, which claims are judged on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lasthop.studies.grid import Grids
from lasthop.studies.umts_tcp.switching import Download, Sharing
from lasthop.studies.umts_tcp.watched import Followed

__all__ = ["Data"]


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run, and what is made of them."""

    #: The buffer through the periods of a download, and two terminals that share a channel.
    download: Download | None = None
    sharing: Sharing | None = None
    #: Runs of chapter 6 over time.
    followed: Mapping[str, Followed] | None = None
