"""What the bit tells (§4): what became of each lost packet, and what a terminal concluded of it.

The truth is from the table of packets: what was dropped in front of the radio, in the Node B's FIFO, or by the air.
What a terminal concludes follows from the rule of the bit and from the packets that it received; its own counters,
which the study compares with this, say the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.stats import estimate
from lasthop.studies.claims import Claim, Judgement, verdict
from lasthop.studies.umts_multicast.data import INDICATION, Data, outside

if TYPE_CHECKING:
    from lasthop.results import Result, Table

    Array = np.ndarray[Any, Any]

__all__ = ["CASES", "CLAIMS", "DIED", "EXPECTED", "concluded", "counts", "verdicts"]

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

#: The rules and losses that are run.
CASES = {"rule": ("edge", "edge 2", "toggle", "resend"), "radio": (0.05, 0.2)}


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


def _told(data: Data) -> Judgement:
    grid = data.grid(INDICATION)
    wrong, said, values = [], [], {}
    for (rule, radio), expected in EXPECTED.items():
        if not grid.has(rule=rule, radio=radio):
            continue
        at = {"rule": rule, "radio": radio}
        each = []
        for what, of, share in zip(("missed", "blamed"), ("congestion", "radio"), expected, strict=True):
            one = estimate(100 * grid.ratio(what, f"{of}_losses", **at))
            values[f"{rule}_{radio:g}_{what}_pct"] = one
            each.append(f"{one} %")
            if rule == "edge":
                wrong += outside(f"{rule} at {radio:g}, {what}:", one, 0.8 * share, 1.2 * share, " %")
        said.append(f"{rule} at {100 * radio:g} %: {' and '.join(each)}")
    return verdict(wrong, "; ".join(said), values)


CLAIMS: list[Claim[Data]] = [
    Claim(
        "M17",
        "4.2",
        "A terminal can tell losses by congestion from losses of the radio.",
        "identified correctly",
        "misclassified shares as computed apart for reading A, ± 20 %: 5.0 and 1.0 % with 5 % of radio losses, 20.5 "
        "and 1.0 % with 20 %",
        "a bit in the packet after a gap is lost with that packet; what the other rules give stands beside it",
        _told,
        see="table-indication",
    ),
]
