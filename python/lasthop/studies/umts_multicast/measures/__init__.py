"""From a run's tables to the numbers that are kept of it, one function for each experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.results import Table
from lasthop.studies.series import Series

from ..network import GROUP, PACKET, bearer, payload, terminal
from ..readings import AS_STATED, Taken
from ..scenario import DEGRADED, FAIRNESS_S, FROM_S, PERMANENT_S, STEPS_S, TCP_FLOWS

if TYPE_CHECKING:
    from lasthop.results import Result
    from lasthop.studies.grid import Array


#: An adapted throughput stays within this share of its new mean, for so long.
WITHIN, HOLD_S = 0.2, 1.0

#: A rate is cut when it is below this share of what it was before.
CUT = 0.8

#: From when after the change on the representative must be a degraded terminal: by then the paper has its schemes fully
#: adapted.
SETTLED_S = 6.0

#: The deadline that was set at first.
LATER_SETTLED_S = 10.0


#: Flows of §5.1 at most. All points of a grid keep the same numbers.
MOST_FLOWS = 3

# Over time


def sliding(times: Array, values: Array, window_s: float = 1.0) -> Array:
    """The mean of the samples in the second that ends with each."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    first = np.searchsorted(times, times - window_s + 1e-9, side="right")
    places = np.arange(1, len(times) + 1)
    made: Array = (sums[places] - sums[first]) / np.maximum(places - first, 1)
    return made


def adaptation(times: Array, values: Array, change_s: float, end_s: float) -> float:
    """From a change until the sliding mean stays near that of the second half of the stage; nan if it never does."""
    stage = (times > change_s - 1 - 1e-9) & (times < end_s + 1e-9)
    times, values = times[stage], values[stage]
    settled = times > (change_s + end_s) / 2
    target = float(values[settled].mean()) if settled.any() else math.nan
    near = np.abs(sliding(times, values) - target) <= WITHIN * target
    after = times > change_s - 1e-9
    times, near = times[after], near[after]
    # Where a stretch of near samples begins, and how long it has lasted at each of them.
    since = np.maximum.accumulate(np.where(near & ~np.concatenate([[False], near[:-1]]), np.arange(len(near)), -1))
    held = near & (since >= 0)
    long = held & (times - times[np.maximum(since, 0)] >= HOLD_S - 1e-9)
    return float(times[since[np.argmax(long)]] - change_s) if long.any() else math.nan


def cov(values: Array) -> float:
    """Standard deviation over mean."""
    return float(values.std() / values.mean()) if len(values) and values.mean() > 0 else math.nan


def _within(times: Array, values: Array, begin: float, end: float) -> Array:
    made: Array = values[(times > begin + 1e-9) & (times <= end + 1e-9)]
    return made


def _seconds(times: Array, values: Array) -> tuple[Array, Array]:
    """Means of whole seconds."""
    second = np.ceil(times - 1e-9).astype(int)
    ends = np.unique(second)
    return ends.astype(float), np.array([values[second == end].mean() for end in ends])


def _scheme(transport: str) -> str:
    return next(name for name in ("tfmcc", "pgmcc", "tcp", "cbr") if name in transport.replace("udp", "cbr"))


def _observed(result: Result) -> list[tuple[str, str, str]]:
    """Name, protocol and server of each observed flow, in the order of the scenario."""
    flows = result.flows
    seen: dict[str, tuple[str, str, str]] = {}
    for name, transport, server in zip(flows["flow"], flows["transport"], flows["from"], strict=True):
        if str(name).startswith("observed"):
            seen.setdefault(str(name), (str(name), _scheme(str(transport)), str(server)))
    return sorted(seen.values(), key=lambda one: int(one[0].removeprefix("observed")))


def _received(series: Series, name: str, protocol: str) -> tuple[Array, Array]:
    """What a receiver of a flow gets on average, in kbit/s on the wire: new payload, with the headers that it came
    with."""
    times, values = series.of(name, "goodput_kbps")
    return times, values * PACKET / payload(protocol)


def _sent(series: Series, server: str) -> tuple[Array, Array]:
    """What a server sends, in kbit/s on the wire."""
    return series.of(f"{server} {server}>router", "throughput_kbps")


# §5.1


def _shares(result: Result) -> list[tuple[Array, Array]]:
    """The throughput at UE_x of each observed flow, by seconds."""
    series = Series(result.series)
    made = []
    for number, (name, protocol, _) in enumerate(_observed(result)):
        times, values = series.of(bearer(0, number), "throughput_kbps")
        if not len(times):
            times, values = _received(series, name, protocol)
        made.append((times, values))
    return made


def fairness(result: Result) -> Mapping[str, float]:
    """Mean and coefficient of variation of each flow at UE_x, and the least mean over the most."""
    shares = [_within(*one, FROM_S, FAIRNESS_S) for one in _shares(result)]
    means = [float(one.mean()) for one in shares]
    kept = {f"kbps_{n}": means[n] if n < len(means) else math.nan for n in range(MOST_FLOWS)}
    kept |= {f"cov_{n}": cov(shares[n]) if n < len(shares) else math.nan for n in range(MOST_FLOWS)}
    kept["least_of_most"] = min(means) / max(means)
    return kept


def fairness_rows(result: Result) -> Table:
    """The throughput of each flow at UE_x, second by second."""
    return _rows((name, *one) for (name, _, _), one in zip(_observed(result), _shares(result), strict=True))


def _rows(lines: Any) -> Table:
    import pyarrow as pa

    parts = [(name, times, values) for name, times, values in lines]
    return Table(
        pa.table(
            {
                "flow": np.repeat([name for name, _, _ in parts], [len(times) for _, times, _ in parts]).tolist(),
                "time_s": np.concatenate([times for _, times, _ in parts]).astype(float),
                "kbps": np.concatenate([values for _, _, values in parts]).astype(float),
            }
        )
    )


# §5.2


def responsiveness(result: Result) -> Mapping[str, float]:
    """Of each protocol and stage the mean at UE_x and its variation; and after each change the adaptation of the
    sender."""
    series = Series(result.series)
    kept = {}
    begins = (0.0, *STEPS_S[:-1])
    for number, (_, protocol, server) in enumerate(_observed(result)):
        at_ue = series.of(bearer(0, number), "throughput_kbps")
        each = _seconds(*at_ue)
        for stage, (begin, end) in enumerate(zip(begins, STEPS_S, strict=True)):
            # The first stage begins with the start of the flows; its first half is left out.
            settled = _within(*each, (begin + end) / 2, end)
            kept[f"kbps_{protocol}_{stage}"] = float(settled.mean())
            kept[f"cov_{protocol}_{stage}"] = cov(settled)
            # The same where nothing changes: what the measure takes of chance.
            kept[f"chance_{protocol}_{stage}"] = adaptation(*_sent(series, server), (begin + end) / 2, end)
            if stage:
                kept[f"adaptation_{protocol}_{stage}"] = adaptation(*_sent(series, server), begin, end)
                kept[f"adaptation_at_ue_{protocol}_{stage}"] = adaptation(*at_ue, begin, end)
    return kept


def responsiveness_rows(result: Result) -> Table:
    """What comes to UE_x of each flow, and what its server sends, at each sample."""
    import pyarrow as pa

    series = Series(result.series)
    parts = []
    for number, (_, protocol, server) in enumerate(_observed(result)):
        times, sent = _sent(series, server)
        received = series.on(bearer(0, number), "throughput_kbps", times)
        columns = {"time_s": times, "kbps": np.nan_to_num(received), "sent_kbps": sent}
        parts.append(pa.table({"flow": pa.repeat(protocol, len(times)), **columns}))
    return Table(pa.concat_tables(parts))


# §5.3


def temporary(result: Result, *, taken: Taken = AS_STATED) -> Mapping[str, float]:
    """Throughput while the radio loses packets, and how often the representative changed."""
    series = Series(result.series)
    begin, end = taken.from_s, taken.until_s
    observed = _observed(result)
    each = [float(_within(*_received(series, name, protocol), begin, end).mean()) for name, protocol, _ in observed]
    kept = {"kbps": float(np.mean(each))}
    name, protocol, _ = observed[0]
    if protocol == "tcp":
        return kept | {f"kbps_{n}": each[n] if n < len(each) else math.nan for n in range(TCP_FLOWS)}
    changes = {"tfmcc": "clr_changes", "pgmcc": "acker_changes"}.get(protocol)
    kept["changes_per_minute"] = series.grown(name, changes, begin, end) * 60 / (end - begin) if changes else math.nan
    return kept | costs(result, name)


#: What a receiver counts of itself.
COSTS = (
    "additions_in",
    "multiplications_in",
    "comparisons_in",
    "state_bytes",
    "missing_by_congestion",
    "missing_by_radio",
)


def costs(result: Result, flow: str) -> dict[str, float]:
    """What a receiver does for each packet and keeps, on average; and what the sender hears."""
    state = result.state
    mine = state["name"] == flow
    made = {}
    for quantity in COSTS:
        values = state["value"][mine & (state["quantity"] == quantity)]
        made[quantity] = float(values.mean()) if len(values) else math.nan
    for quantity in ("reports_per_round", "rounds", "reports", "naks", "acks", "lost_packets"):
        values = state["value"][mine & (state["quantity"] == quantity) & (state["kind"] == "sender")]
        made[quantity] = float(values[0]) if len(values) else math.nan
    return made


# §5.4


def permanent(result: Result) -> Mapping[str, float]:
    """What the sender does when a terminal's radio gets bad for good."""
    series = Series(result.series)
    begin, end = PERMANENT_S
    [(name, protocol, server)] = _observed(result)
    sent, received = _sent(series, server), _received(series, name, protocol)
    before = float(_within(*sent, begin - 20, begin).mean())
    rejected = _first_growth(series, bearer(0), ("rejected_packets",), begin)
    smooth = sliding(*sent)
    late = (sent[0] > begin + 1e-9) & (smooth < CUT * before)
    slower = float(sent[0][late][0] - begin) if late.any() else math.nan
    degraded = sorted(degraded_numbers(result))

    def share(since: float) -> float:
        """For how much of the time since then a degraded terminal has represented the group."""
        who = _representatives(series, name, begin + since)
        return float(np.mean(np.isin(who, degraded))) if len(who) else math.nan

    return {
        "before_kbps": float(_within(*received, 20.0, begin).mean()),
        "after_kbps": float(_within(*received, (begin + end) / 2, end).mean()),
        "sent_after_kbps": float(_within(*sent, (begin + end) / 2, end).mean()),
        "adaptation_s": adaptation(*sent, begin, end),
        "adaptation_at_ue_s": adaptation(*received, begin, end),
        "first_rejection_s": rejected,
        "first_cut_s": _first_cut(series, name, protocol, begin),
        "slower_s": slower,
        "degraded_share": share(SETTLED_S),
        "degraded_share_later": share(LATER_SETTLED_S),
    }


def _first_growth(series: Series, name: str, counts: Sequence[str], begin: float) -> float:
    """How long after ``begin`` one of some counts first grows."""
    found = []
    for count in counts:
        times, values = series.of(name, count)
        grown = times[(times > begin + 1e-9) & (values > series.at(name, count, begin))] if len(times) else times
        found += [float(one - begin) for one in grown[:1]]
    return min(found, default=math.nan)


def _first_cut(series: Series, name: str, protocol: str, begin: float) -> float:
    """How long after ``begin`` a sender first reduces its window for a loss or a timeout; of TFMCC, its rate by a
    fifth."""
    if protocol != "tfmcc":
        return _first_growth(series, name, ("window_cuts", "timeouts"), begin)
    times, values = series.of(name, "rate_bps")
    low = times[(times > begin + 1e-9) & (values < CUT * series.at(name, "rate_bps", begin))]
    return float(low[0] - begin) if len(low) else math.nan


def _representatives(series: Series, name: str, begin: float) -> Array:
    """The numbers of the terminals that represent the group at the samples from ``begin`` on."""
    for quantity in ("clr", "acker"):
        times, values = series.of(name, quantity)
        if len(times):
            made: Array = values[times >= begin - 1e-9]
            return made
    return np.zeros(0)


def degraded_numbers(result: Result) -> set[float]:
    """The numbers of the degraded terminals among all nodes."""
    numbers = node_numbers(result)
    return {numbers[terminal(ue)] for ue in DEGRADED if terminal(ue) in numbers}


def node_numbers(result: Result) -> Mapping[str, float]:
    """Nodes have the numbers of their sorted names."""
    import tomllib

    data = tomllib.loads(result.scenario_text)
    names = {end for link in data["link"] for end in link["between"]}
    for kind in ("mbms", "cell"):
        for node_b in data.get(kind, ()):
            names |= {f"{node_b['name']}.ue[{n}]" for n in range(node_b["ues"])}
    return {name: float(n) for n, name in enumerate(sorted(names))}


def permanent_rows(result: Result) -> Table:
    """What is sent, what the bearer carries, what a terminal has in order, and what waits, second by second."""
    series = Series(result.series)
    [(name, protocol, server)] = _observed(result)
    lines = [
        ("sent", *_seconds(*_sent(series, server))),
        ("received", *_seconds(*_received(series, name, protocol))),
        ("carried", *_seconds(*series.of(bearer(0), "throughput_kbps"))),
    ]
    times, values = series.of(bearer(0), "queue_packets")
    if len(times):
        lines.append(("queue_packets", *_seconds(times, values)))
    return _rows(lines)


# §6

#: What the group gets: before the change; until the degraded terminal can have been bad for long enough; and from its
#: expulsion on, until it may return.
BEFORE_S, BAD_S, LATER_S = (20.0, 50.0), (60.0, 80.0), (10.0, 50.0)
#: How long after the change the group is looked at if nobody is expelled.
KEPT_S = 50.0
#: A group has recovered when it gets this share of what it had before, over so many seconds.
RECOVERED, RECOVERED_S = 0.9, 5


def expulsion(result: Result) -> Mapping[str, float]:
    """What the members get before, while one of them is bad, and after its expulsion: the mean of all, and the least of
    those who are in."""
    series = Series(result.series)
    [(name, *_)] = _observed(result)
    begin = PERMANENT_S[0]
    times = series.of(bearer(0), "throughput_kbps")[0]
    # A bearer has no sample before its first packet.
    all_get = np.nan_to_num([series.on(bearer(ue), "throughput_kbps", times) for ue in range(GROUP)])
    asked, expelled = series.of(name, "expelled")
    out = asked[expelled > 0]
    since = float(out[0]) if len(out) else begin + KEPT_S
    mean = all_get.mean(axis=0)

    def over(window: tuple[float, float], members: Array) -> tuple[float, float]:
        each = members[:, (times > window[0] + 1e-9) & (times <= window[1] + 1e-9)].mean(axis=1)
        return float(each.mean()), float(each.min())

    before_mean, before_min = over(BEFORE_S, all_get)
    bad_mean, bad_min = over(BAD_S, all_get)
    later = (since + LATER_S[0], since + LATER_S[1])
    late_mean, late_min = over(later, all_get)
    smooth = sliding(times, mean, RECOVERED_S)
    below = times[(times > begin + LATER_S[0]) & (times <= later[1]) & (smooth < RECOVERED * before_mean)]
    return {
        "before_mean_kbps": before_mean,
        "before_min_kbps": before_min,
        "bad_mean_kbps": bad_mean,
        "bad_min_kbps": bad_min,
        "later_mean_kbps": late_mean,
        "later_min_kbps": over(later, all_get[1:])[1] if len(out) else late_min,
        "expelled_s": float(out[0] - begin) if len(out) else math.nan,
        "recovered_s": float(below[-1] - begin) if len(below) and below[-1] < later[1] else math.nan,
        "expulsions": float(series.at(name, "expulsions", float(times[-1]))) if len(asked) else 0.0,
    }


# Scalability


def reports(result: Result) -> Mapping[str, float]:
    """Reports of a round, and what a receiver does."""
    [(name, *_)] = _observed(result)
    return costs(result, name)


def representatives(result: Result, names: Sequence[str]) -> tuple[Array, list[str]]:
    """Who represents the observed group at each sample: the times, and the names among ``names``; else empty."""
    series = Series(result.series)
    [(name, *_)] = _observed(result)
    known = {number: node for node, number in node_numbers(result).items()}
    for quantity in ("clr", "acker"):
        times, values = series.of(name, quantity)
        if len(times):
            return times, [known.get(float(value), "") if known.get(float(value)) in names else "" for value in values]
    return np.zeros(0), []
