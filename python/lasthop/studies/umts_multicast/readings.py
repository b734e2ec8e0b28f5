"""What the paper leaves open (`paper/questions.toml`), and what each answer touches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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
