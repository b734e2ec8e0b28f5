"""The runs of one reading of the paper, which claims are judged on."""

from __future__ import annotations

from dataclasses import dataclass

from lasthop.studies.grid import Grids

from .paper.model import Rule, printed

#: The grids.
SCENARIOS, RLM, ROUND_TRIP, UNCONTROLLED = "scenarios", "RLM", "round trip", "uncontrolled"
ERRORS, SLOW, MISBEHAVING = "link errors", "delay and leave latency", "misbehaving receiver"
RLM_ERRORS, RLM_SLOW, RLM_MISBEHAVING = f"RLM, {ERRORS}", f"RLM, {SLOW}", f"RLM, {MISBEHAVING}"
HELD, PAIR, ALONE = "held-back TCP", "pair of hosts", "no TCP"
ADAPTATIONS, ENDING = "adaptations", "adaptations where TCP ends"
WAITING, TREE, STATE = "release and join", "tree", "state"
OVERFLOW, FULL_OVERFLOW = "overflows", "overflows, uncontrolled"


@dataclass(frozen=True)
class Data(Grids):
    """The numbers of each grid that was run, and what is made of them."""

    #: What multicast does in the paper's model of fairness.
    rule: Rule = printed
