"""What became of each lost packet, and what a terminal concluded of it by the bit (§4).

The truth is from the table of packets: what was dropped in front of the radio, in the Node B's FIFO, or by the air.
What a terminal concludes follows from the rule of the bit and from the packets that it received; its own counters,
which the study compares with this, say the same.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lasthop.results import Result, Table

    Array = np.ndarray[Any, Any]

#: Where a packet can die, and what a terminal can conclude.
DIED = ("in front of the Node B", "in its FIFO", "on the air")
CONGESTION, RADIO = "congestion", "radio"


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
