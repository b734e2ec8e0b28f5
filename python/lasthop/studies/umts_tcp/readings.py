"""What the thesis leaves open (`paper/questions.toml`), and what a reading takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lasthop.studies import words

QUESTIONS = words.questions(__name__)

#: An answer of which more is run.
ANY_OBJECT = "any object"


@dataclass(frozen=True)
class Taken:
    """What a reading takes; the defaults are the default answers."""

    #: What a connection loads, as a preset of the source `web`.
    load: str = "thesis-load-main"
    #: What a terminal does that asks for dedicated channels in vain.
    refused: str = "asks_again"
    #: Whether the common channels serve a terminal while its dedicated ones are set up.
    serve_during_switch: bool = False
    min_rto: str = "1 s"
    #: How many transmissions of a PDU there may be beyond maxDAT.
    more_transmissions: int = 0
    #: Of each of the two links between server and GGSN; none: as EURANE's examples have them.
    server_delay: str | None = None
    iub: str = "15 ms"
    spacing: str = "20 us"
    profile: str = "ns2"
    #: A source in the place of web pages.
    source: Any = None

    @property
    def everywhere(self) -> dict[str, Any]:
        """What it makes of every scenario."""
        wire = ("internet", "access") if self.server_delay else ()
        return {
            "profile": self.profile,
            "cell.cell.iub.delay": self.iub,
            "cell.cell.spacing": self.spacing,
            **{f"link.{link}.delay": self.server_delay for link in wire},
        }

    @property
    def pages(self) -> dict[str, Any]:
        """What it makes of those of web pages."""
        return {
            "flow.web.source": self.source or {"web": {"load": self.load}},
            "flow.web.transport.tcp.rto.min": self.min_rto,
            "cell.cell.attachment.rrc.refused": self.refused,
            "cell.cell.attachment.rrc.serve_during_switch": self.serve_during_switch,
        }

    def rlc(self, max_dat: int) -> dict[str, Any]:
        """Acknowledged mode with this maxDAT, and what the thesis says of it."""
        mode = "eurane" if self.profile == "ns2" else "am"
        most = max_dat + self.more_transmissions
        return {mode: {"pdu": "40 B", "poll_timer": "170 ms", "buffer": "100 kB", "max_dat": most}}


#: All defaults.
DEFAULT = Taken()

#: The names of what matters to chapter 6, where there are no pages and no dedicated channels.
OF_FACH = {"min_rto", "more_transmissions", "server_delay", "iub", "spacing", "profile"}
