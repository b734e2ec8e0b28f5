"""What the bit tells (§4): what became of each lost packet, and what a terminal concluded of it.

The truth is from the table of packets: what was dropped in front of the radio, in the Node B's FIFO, or by the air.
What a terminal concludes follows from the rule of the bit and from the packets that it received; its own counters,
which the study compares with this, say the same.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Former, NotRun, Null
from lasthop.studies.conditions import Judgement, judged, within
from lasthop.studies.umts_multicast.data import INDICATION, Data, asking
from lasthop.studies.umts_multicast.readings import TELLS

if TYPE_CHECKING:
    from lasthop.results import Result, Table

    Array = np.ndarray[Any, Any]

__all__ = ["CASES", "CLAIMS", "DIED", "EXPECTED", "concluded", "counts", "told", "verdicts"]

#: Where a packet can die, and what a terminal can conclude.
DIED = ("in front of the Node B", "in its FIFO", "on the air")
CONGESTION, RADIO = "congestion", "radio"

#: Misclassified shares in per cent, by rule and loss of the radio: of losses by congestion, of those by the radio
#: (computed apart, from 2·10⁶ packets with 1 % lost in front of the Node B).
EXPECTED: Mapping[tuple[str, float], tuple[float, float]] = {
    ("edge", 0.05): (5.0, 1.0),
    ("edge", 0.2): (20.5, 1.0),
    ("edge 2", 0.05): (0.3, 2.0),
    ("toggle", 0.05): (0.15, 2.1),
    ("toggle", 0.2): (0.4, 2.5),
}

#: Per cent of losses that are put down to their cause, at least.
CORRECTLY = 90.0

#: The rules and losses that are run.
RADIO_LOSSES = (0.05, 0.2)
CASES: Mapping[str, Sequence[Any]] = {"rule": ("edge", "edge 2", "toggle", "resend"), "radio": RADIO_LOSSES}


def verdicts(sent: int, upstream: Array, fifo: Array, air: Array, rule: str) -> tuple[Array, Array]:
    """The missing packets of a terminal that received another one after them, and whether it blames congestion.

    Packets have the numbers below ``sent``; the others are those that died in each place. ``rule`` is that of the bit.
    """
    alive = np.ones(sent, dtype=bool)
    alive[upstream] = alive[fifo] = False
    accepted = np.flatnonzero(alive)
    alive[air] = False
    received = np.flatnonzero(alive)
    after_gap = np.diff(accepted, prepend=-1) > 1
    after_gap[:1] = False
    name, _, hold = rule.partition(" ")
    if name == "edge":
        bit = after_gap.copy()
        for later in range(1, int(hold or 1)):
            bit[later:] |= after_gap[:-later]
    else:
        bit = np.cumsum(after_gap) % 2 == 1 if name == "toggle" else np.zeros(len(accepted), dtype=bool)
    seen = bit[np.isin(accepted, received)]
    blamed = np.concatenate([[False], seen[1:] != seen[:-1]]) if name == "toggle" else seen
    # The packet that ends each gap decides for all that are missing before it. Before the first packet nothing counts.
    missing = np.setdiff1d(np.arange(received[0], received[-1]), received)
    return missing, blamed[np.searchsorted(received, missing)]


def concluded(result: Result, rule: str, flow: str = "observed0") -> list[tuple[str, str, str, int]]:
    """For each terminal, place of death and conclusion: how many packets."""
    packets = _columns(result.packets, flow)
    sent = int(packets["seq"].max()) + 1
    dropped = packets["event"] == "dropped"
    terminals = sorted({str(to) for to in result.flows["to"][result.flows["flow"] == flow]})
    down = {name: packets["place"] == f"{name} down" for name in terminals}
    of_one = np.any(list(down.values()), axis=0)
    upstream = packets["seq"][dropped & ~of_one]
    made = []
    for name in terminals:
        here = dropped & down[name]
        fifo, air = (packets["seq"][here & (packets["cause"] == cause)] for cause in ("overflow", "radio"))
        missing, blamed = verdicts(sent, upstream, fifo, air, rule)
        for place, died in zip(DIED, (upstream, fifo, air), strict=True):
            mine = np.isin(missing, died)
            made += [
                (name, place, conclusion, int(np.sum(mine & (blamed == (conclusion == CONGESTION)))))
                for conclusion in (CONGESTION, RADIO)
            ]
    return made


def rule_of(result: Result) -> str:
    """The rule of the bit of a run's Node Bs."""
    written = tomllib.loads(result.scenario_text)["mbms"][0].get("loss_indication", "resend")
    return written if isinstance(written, str) else f"edge {written['edge']['hold']}"


def _columns(packets: Table, flow: str) -> dict[str, Array]:
    import pyarrow.compute as pc

    arrow = packets.to_arrow()
    arrow = arrow.filter(pc.and_(pc.equal(arrow["flow"], flow), pc.equal(arrow["kind"], "data")))
    from lasthop.results import Table

    chosen = Table(arrow)
    return {name: chosen[name] for name in ("event", "place", "seq", "cause")}


def counts(result: Result) -> dict[str, float]:
    """The misclassified shares of all terminals together, and how far their own counters are from this."""
    rows = concluded(result, rule_of(result))
    total = {
        (place, conclusion): sum(n for _, p, c, n in rows if (p, c) == (place, conclusion))
        for place in DIED
        for conclusion in (CONGESTION, RADIO)
    }
    congestion = [sum(total[place, what] for place in DIED[:2]) for what in (CONGESTION, RADIO)]
    air = [total[DIED[2], what] for what in (CONGESTION, RADIO)]
    state = result.state
    own = [
        float(state["value"][(state["name"] == "observed0") & (state["quantity"] == f"missing_by_{what}")].sum())
        for what in (CONGESTION, RADIO)
    ]
    return {
        "congestion_losses": float(sum(congestion)),
        "radio_losses": float(sum(air)),
        "missed": float(congestion[1]),
        "blamed": float(air[0]),
        "own_congestion": own[0],
        "own_radio": own[1],
        "own_off": abs(own[0] - congestion[0] - air[0]) + abs(own[1] - congestion[1] - air[1]),
    }


def told(data: Data, rule: str, radio: float) -> tuple[Estimate, Estimate]:
    """Per cent of the losses by congestion, and of those by the radio, that a terminal puts down to their cause."""
    grid = data.grid(INDICATION)
    if not grid.has(rule=rule, radio=radio):
        raise NotRun(f"the rule {rule} was not run")
    congestion, air = (
        estimate(100 * (1 - grid.ratio(what, f"{of}_losses", rule=rule, radio=radio)))
        for what, of in (("missed", "congestion"), ("blamed", "radio"))
    )
    return congestion, air


def _told(data: Data) -> Judgement:
    found = [
        within(f"{name}, {100 * radio:g} % lost by the radio", one, CORRECTLY, math.inf, " %")
        for radio in RADIO_LOSSES
        for name, one in zip(
            ("congestion recognised", "radio recognised"), told(data, data.taken.indication, radio), strict=True
        )
    ]
    return judged("; ".join(f"{one.what}: {one.value} %" for one in found), *found)


def _as_computed(data: Data) -> Judgement:
    grid = data.grid(INDICATION)
    found = []
    for (rule, radio), expected in EXPECTED.items():
        if rule == "edge" and grid.has(rule=rule, radio=radio):
            for what, of, share in zip(("missed", "blamed"), ("congestion", "radio"), expected, strict=True):
                one = estimate(100 * grid.ratio(what, f"{of}_losses", rule=rule, radio=radio))
                found.append(within(f"{what} at {100 * radio:g} %", one, 0.8 * share, 1.2 * share, " %"))
    return judged("; ".join(f"{one.what}: {one.value} %" for one in found), *found)


def _guessing(data: Data) -> Data:
    """A terminal that blames congestion for as many losses as before, but for any of them."""
    grid = data.grid(INDICATION)
    of = grid.values
    congestion, air = of["congestion_losses"], of["radio_losses"]
    blamed = (congestion - of["missed"] + of["blamed"]) / (congestion + air)
    values = {**of, "missed": congestion * (1 - blamed), "blamed": air * blamed}
    return data.with_grids({INDICATION: replace(grid, values=values)})


CLAIMS: list[Claim[Data]] = [
    Claim(
        id="M17",
        section="4.3, 5.3",
        sentence="In fact, the UEs get always informed of the packet rejections caused by buffer overflow in their "
        "serving Node B. … The packet losses can be identified correctly at the UEs and are ignored during the "
        "calculation of the acceptable sending rate.",
        statement="A terminal can tell losses by congestion from losses of the radio.",
        paper="identified correctly; always informed",
        measure="share of the losses of each cause that terminals put down to it, with 1 % lost before the Node B and "
        "5 % (the most of §5.3) or 20 % (§5.4) by the radio",
        band="at least 90 % of either cause, at either rate",
        why="the paper says correctly, and always, and gives no number; nine in ten is less than that",
        judge=asking(_told, TELLS),
        null=Null("a terminal that blames congestion for as many losses as it did, drawn at random", _guessing),
        former=Former(
            "misclassified shares of reading A as computed apart, ± 20 %: 5.0 and 1.0 % with 5 % of radio losses, 20.5 "
            "and 1.0 % with 20 %",
            "that the model agrees with its own formula says nothing of “correctly”: at 20 % one loss by congestion in "
            "five is misread",
            _as_computed,
        ),
        see="table-indication",
    ),
]
