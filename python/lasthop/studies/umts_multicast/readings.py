"""What the paper leaves open (`paper/questions.toml`), what each answer touches, and what a reading takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lasthop.studies import words
from lasthop.studies.readings import Reading

#: What an answer can touch: §5.1; §5.2; the schemes of §5.3, and TCP there; the schemes of §5.4 with one terminal, TCP
#: there, and the schemes with several; what the bit tells.
FAIR, STEP, MULTICAST, UNICAST = "5.1", "5.2", "5.3", "5.3 TCP"
WORSE, TCP, MANY_WORSE, TELLS = "5.4", "5.4 TCP", "5.4 several", "bit"

QUESTIONS = words.questions(__name__)

#: The question of which the other readings take the second answer.
BACKGROUND = "servers that are not observed"

#: What the answers to a question touch, by its name: elsewhere a run is the same, packet for packet.
TOUCHES: Mapping[str, frozenset[str]] = {
    "degradation of §5.3": frozenset({MULTICAST, UNICAST}),
    "losses of §5.3": frozenset({MULTICAST, UNICAST}),
    "radio bearer": frozenset({MULTICAST, UNICAST, WORSE, TCP, MANY_WORSE}),
    "share of lost packets": frozenset({MULTICAST, UNICAST, WORSE, TCP, MANY_WORSE}),
    "buffer at the Node B": frozenset({FAIR, MULTICAST, UNICAST, WORSE, TCP, MANY_WORSE}),
    "rate of a bearer": frozenset({MULTICAST, UNICAST, WORSE, TCP, MANY_WORSE}),
    "packet-loss indication": frozenset({FAIR, STEP, MULTICAST, WORSE, MANY_WORSE, TELLS}),
    "requests of the Node B": frozenset({FAIR, MULTICAST, WORSE, MANY_WORSE}),
    "PGMCC's constant C": frozenset({FAIR, STEP, MULTICAST, MANY_WORSE}),
    "what halves PGMCC's window again": frozenset({FAIR, STEP, MULTICAST, WORSE, MANY_WORSE}),
    "TCP": frozenset({FAIR, STEP, UNICAST, TCP}),
    BACKGROUND: frozenset({FAIR, MULTICAST, UNICAST}),
}


def touched(reading: Reading) -> Sequence[frozenset[str]]:
    """What each answer of a reading touches. With other answers the background is silent anyway."""
    several = len(reading.chosen) > 1
    return [frozenset() if several and name == BACKGROUND else TOUCHES[name] for name in reading.chosen]


def part(reading: Reading, of: Collection[str]) -> Reading:
    """The answers of a reading that touch something of these."""
    chosen = {name: answer for name, answer in reading.chosen.items() if TOUCHES[name] & set(of)}
    if len(chosen) > 1:
        chosen.pop(BACKGROUND, None)
    return Reading(chosen)


#: PDUs of RLC for a packet of 1000 B: of 40 B each, with a header of 2 B in AM, 1 B in UM.
PDUS = {"am": 27, "um": 26}

#: How often the bearers of a Node B send a packet at most; RLC in AM does so with each PDU.
ATTEMPTS = {"two attempts": 2, "one attempt": 1, "shared": 1, "um": 1, "am": 2}


@dataclass(frozen=True)
class Taken:
    """The parameters of the scenarios that are not those of an experiment: answers to questions change them."""

    #: §5.3: from when on the radio loses packets, and over which span the throughput is taken.
    begins_s: float = 0.0
    from_s: float = 20.0
    until_s: float = 40.0
    #: §5.3: losses of the radio come in bursts of so many attempts on average; 0: one by one.
    burst: float = 0.0
    #: §5.3: each terminal's rate and delay are drawn anew every 5 s.
    varying: bool = False
    #: A bearer of a terminal that sends a packet twice at most, or once; one for all of a cell; a cell with RLC, `um`
    #: or `am`.
    bearer: str = "two attempts"
    #: Whether a share of lost packets is what remains after all attempts, or of each attempt.
    remains: bool = True
    #: The buffer of a bearer, in packets, and its rate.
    queue: int = 50
    rate_kbps: int = 384
    #: The rule of the packet-loss indication.
    indication: str = "edge"
    #: Whether Node Bs ask for what they rejected.
    requests: bool = True
    #: PGMCC's constant C: another receiver becomes the acker below so much of the acker's throughput.
    c: float = 0.75
    #: What halves PGMCC's window again after a cut.
    cut_again: str = "later_loss"
    #: Parameters of TCP that differ.
    tcp: Mapping[str, Any] = field(default_factory=dict)
    #: Whether all of Table I sends.
    background: bool = True

    @property
    def rlc(self) -> str:
        """The mode of RLC, if there is any."""
        return self.bearer if self.bearer in PDUS else ""

    @property
    def radio(self) -> Mapping[str, Any]:
        """Of every Node B without RLC."""
        of = {"attempts": ATTEMPTS[self.bearer], "queue": f"{self.queue} packets", "rate": f"{self.rate_kbps} kbit/s"}
        return {**of, "ptm_threshold": 1} if self.bearer == "shared" else of

    @property
    def cell(self) -> Mapping[str, Any] | None:
        """A cell of UMTS with RLC instead of a Node B of MBMS. RLC's buffer holds what the Node B's FIFO does."""
        if not self.rlc:
            return None
        rlc: dict[str, Any] = {"buffer": f"{self.queue} kB"}
        if self.rlc == "am":
            rlc["max_dat"] = ATTEMPTS["am"]
        down = {"rate": f"{self.rate_kbps} kbit/s", "tti": "10 ms"}
        return {
            "attachment": "dedicated",
            "rlc": {self.rlc: rlc},
            "dch": {"down": down, "up": {"rate": "64 kbit/s", "tti": "10 ms"}},
        }

    @property
    def residual_attempts(self) -> int:
        """Of how many attempts a share of lost packets, or PDUs, is what remains."""
        return ATTEMPTS[self.bearer] if self.remains else 1


def losing(share: float, taken: Taken) -> float:
    """With which probability what the radio sends stays lost, if so many packets of 1000 B are to stay lost."""
    return 1 - (1 - share) ** (1 / PDUS[taken.rlc]) if taken.rlc else share


#: The default answer of each question; and the same with the other servers silent.
AS_STATED = Taken()
ALONE = Taken(background=False)


def taken(reading: Reading) -> Taken:
    """What is taken in a reading. Readings beside the default go without the background."""
    return replace(ALONE, **reading.changes) if reading.chosen else AS_STATED
