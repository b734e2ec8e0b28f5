"""How steady layers and the queue are (§IV-A, B and E)."""

from __future__ import annotations

import numpy as np

from lasthop.stats import estimate, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, at_least, at_most, below, judged, within
from lasthop.studies.grid import Array
from lasthop.studies.nulls import in_place, rewritten

from ..data import ADAPTATIONS, FULL_OVERFLOW, OVERFLOW, ROUND_TRIP, SCENARIOS, UNCONTROLLED, Data
from ..scenario import BEGINNINGS

#: How often the layers of a session may change in an hour: once a minute.
STEADY_PER_H = 60.0


def _soon(data: Data) -> Judgement:
    apart = data.mean(SCENARIOS, "unbalanced_layers", scenario=1)
    balanced = data.mean(SCENARIOS, "balanced", scenario=1)
    return judged(
        f"{apart} layers from the final mean after a minute; then in phase 2 for {number(100 * balanced.mean, 0)} % of "
        "the time",
        at_most("layers after a minute, from the final mean", apart, 1.0),
        above("share of time in phase 2 from then on", balanced, 0.5),
    )


def _soon_before(data: Data) -> Judgement:
    apart = data.mean(SCENARIOS, "unbalanced_layers", scenario=1)
    return judged(f"{apart} layers", at_most("layers after a minute, from the final mean", apart, 1.0))


def _stable(data: Data) -> Judgement:
    often = {n: data.at(SCENARIOS, "changes_per_session_h", scenario=n) for n in BEGINNINGS}
    said = ", ".join(number(float(one.mean()), 0) for one in often.values())
    return judged(
        f"{said} changes of a session's layers in an hour",
        *(at_most(f"changes in an hour, scenario {n}", estimate(one), STEADY_PER_H) for n, one in often.items()),
        above("changes in an hour, scenario 2 − 1", estimate(often[2] - often[1])),
    )


def _stable_before(data: Data) -> Judgement:
    spread = {n: data.mean(SCENARIOS, "subscribed_sd", scenario=n) for n in (1, 2)}
    more = estimate(data.at(SCENARIOS, "changes_per_h", scenario=2) - data.at(SCENARIOS, "changes_per_h", scenario=1))
    return judged(
        f"σ {spread[1]} and {spread[2]} layers; {more} more changes an hour",
        *(at_most(f"σ in scenario {n}", one, 1.0, " layers") for n, one in spread.items()),
        above("changes an hour, scenario 2 − 1", more),
    )


def _phases(data: Data) -> Judgement:
    shares = {n: data.mean(SCENARIOS, f"phase_{n}", scenario=1) for n in (1, 2, 3)}
    said = ", ".join(f"{number(100 * one.mean, 1)} % in phase {n}" for n, one in shares.items())
    return judged(
        said,
        above("share of time in phase 2", shares[2], 0.5),
        above("share of time in phase 1", shares[1]),
        above("share of time in phase 3", shares[3]),
    )


def _phases_before(data: Data) -> Judgement:
    long = data.mean(ROUND_TRIP, "phase_2")
    first = data.mean(SCENARIOS, "phase_1", scenario=1)
    stays = {n: data.mean(SCENARIOS, f"longest_phase_{n}_s", scenario=1) for n in (1, 3)}
    return judged(
        f"phase 2 for {number(100 * long.mean, 0)} % of the time at 200 ms",
        at_least("phase 2 at 200 ms", long, 0.5),
        at_most("phase 1", first, 0.05),
        *(at_most(f"longest stay in phase {n}", one, 20.0, " s") for n, one in stays.items()),
    )


def _short(data: Data) -> Judgement:
    stay, trip = (data.at(OVERFLOW, name) for name in ("after_overflow_ms", "tcp_rtt_ms"))
    return judged(
        f"{number(float(stay.mean()), 0)} ms at the median, TCP's round-trip time {number(float(trip.mean()), 0)} ms",
        within("median time in phase 3 after an overflow", estimate(stay / trip), 1.0, 3.0, " round-trip times"),
    )


def _short_before(data: Data) -> Judgement:
    stay, trip = (data.at(SCENARIOS, name, scenario=1) for name in ("phase_3_ms_p50", "tcp_rtt_ms"))
    return judged(
        f"median stay {number(float(stay.mean()), 0)} ms",
        below("median stay", estimate(stay / trip), 3.0, " round-trip times"),
    )


def _without_adaptations(data: Data) -> dict[str, Array]:
    changes = data.at(ADAPTATIONS, "changes_per_session_h", without="all")
    return {"changes_per_session_h": np.resize(changes, len(data.grid(SCENARIOS).seeds))}


#: Nothing is blocked.
FULL_QUEUE = in_place((SCENARIOS, UNCONTROLLED))


def _why_full(data: Data) -> str:
    """Why the queue is in phase 3."""
    share = 100 * data.mean(SCENARIOS, "phase_3", scenario=1).mean
    loss = data.mean(SCENARIOS, "tcp_loss_pct", scenario=1).mean
    return (
        f"three greedy TCP flows fill a queue of 50 packets until it overflows: they lose {number(loss, 1)} % of their "
        f"packets, and the queue is above its second threshold for {number(share, 0)} % of the time. Multicast has no "
        "more than R_Block above TCP then, so nothing is blocked"
    )


def _why_often(data: Data) -> str:
    often = data.mean(SCENARIOS, "changes_per_session_h", scenario=1).mean
    return (
        "TCP's ups and downs take the rates that are compared across each other's bounds again and again, "
        f"{number(often, 0)} times an hour for each session; T_observe slows that down until a minute without a block, "
        "or a handoff, lets it begin anew"
    )


def _why_overflow(data: Data) -> str:
    stay, trip = (data.mean(OVERFLOW, name).mean for name in ("after_overflow_ms", "tcp_rtt_ms"))
    return (
        f"it takes {number(stay, 0)} ms at a round-trip time of {number(trip, 0)} ms: a drop is seen when the queue "
        "before it has gone, and often not all flows have one"
    )


JUDGES: Judges[Data] = {
    "L6": Judge(_soon, null=FULL_QUEUE, former=_soon_before, cause=_why_full),
    "L7": Judge(_stable, null=rewritten(SCENARIOS, _without_adaptations), former=_stable_before, cause=_why_often),
    "L8": Judge(_phases, null=FULL_QUEUE, former=_phases_before, cause=_why_full),
    "L9": Judge(_short, null=in_place((OVERFLOW, FULL_OVERFLOW)), former=_short_before, cause=_why_overflow),
}
