"""Packet loss of TFRC by size of file (§IV-A)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, above, below, judged, within
from lasthop.studies.hsdpa.data import Data
from lasthop.studies.hsdpa.scenario import LARGE, MEDIUM, SCHEDULERS, SMALL, TITLES

__all__ = ["CLAIMS"]

Sizes = tuple[int, ...]

BY_SIZE = "table-losses"


def _of(data: Data, part: str, whole: str, sizes: Sizes, scheduler: str, ues: int = 65) -> Estimate:
    return data.share(part, whole, sizes, protocol="tfrc", scheduler=scheduler, ues=ues)


def as_size(of: int, *sizes: int) -> Callable[[Data], Data]:
    """A null model: transfers of these sizes lose what those of another one do."""

    def replaced(data: Data) -> Data:
        grid = data.main
        made = dict(grid.values)
        for size in sizes:
            for name in ("transfers", "lossy", "above_mild", "above_high"):
                made[f"{name}_{size}"] = grid.values[f"{name}_{of}"]
        return data.with_grids({"main": type(grid)(grid.axes, grid.seeds, made, grid.rows)})

    return replaced


def _small(data: Data) -> Judgement:
    shares = {name: _of(data, "lossy", "transfers", SMALL, name) for name in SCHEDULERS}
    return judged(
        "; ".join(f"{TITLES[name]}: {one} % of the transfers lose something" for name, one in shares.items()),
        *(below(f"{TITLES[name]}: transfers that lose something", one, 1, " %") for name, one in shares.items()),
    )


def _medium_shares(data: Data, scheduler: str) -> tuple[Estimate, Estimate]:
    lossy = _of(data, "lossy", "transfers", (MEDIUM,), scheduler)
    return Estimate(100 - lossy.mean, lossy.half, lossy.n), _of(data, "above_mild", "lossy", (MEDIUM,), scheduler)


def _medium(data: Data) -> Judgement:
    ours, conditions = [], []
    for scheduler in SCHEDULERS:
        name = TITLES[scheduler]
        intact, high = _medium_shares(data, scheduler)
        ours.append(f"{name}: {intact} % intact; of the rest {high} % lose more than a tenth")
        conditions += [
            within(f"{name}: transfers that are intact", intact, 65, 92, " %"),
            below(f"{name}: of the rest, those that lose more than a tenth", high, 10, " %"),
        ]
    return judged("; ".join(ours), *conditions)


def _large_shares(data: Data) -> Mapping[str, tuple[Estimate, Estimate]]:
    return {
        name: (
            _of(data, "lossy", "transfers", LARGE[:1], name),
            _of(data, "above_high", "transfers", LARGE[:1], name),
        )
        for name in SCHEDULERS
    }


def _large_said(shares: Mapping[str, tuple[Estimate, Estimate]]) -> str:
    return "; ".join(
        f"{TITLES[name]}: {lossy} % lose something, {high} % more than 15 %" for name, (lossy, high) in shares.items()
    )


def _large(data: Data) -> Judgement:
    shares = _large_shares(data)
    conditions = [
        one
        for name, (lossy, high) in shares.items()
        for one in (
            above(f"{TITLES[name]}: transfers that lose something", lossy, 95, " %"),
            within(f"{TITLES[name]}: transfers with a high loss rate", high, 5, 30, " %"),
        )
    ]
    return judged(_large_said(shares), *conditions)


def _large_before(data: Data) -> Judgement:
    shares = _large_shares(data)
    return judged(
        _large_said(shares),
        *(
            within(f"{TITLES[name]}: transfers with a high loss rate", high, 5, 30, " %")
            for name, (_, high) in shares.items()
        ),
    )


def _largest(data: Data) -> Judgement:
    ours, conditions = [], []
    for ues in data.main.axes["ues"]:
        for scheduler in SCHEDULERS:
            high = _of(data, "above_mild", "transfers", LARGE[1:], scheduler, ues)
            name = f"{TITLES[scheduler]}/{ues}"
            conditions.append(below(f"{name}: transfers that lose more than a tenth", high, 5, " %"))
            ours.append(f"{name} {high} %")
    return judged("above 10 % lost: " + ", ".join(ours), *conditions)


def _excess(data: Data) -> str:
    """Which scheduler's transfers of 1 483 350 B lose more than a tenth, and what those of 740 950 B do."""
    largest = ", ".join(
        f"{_of(data, 'above_mild', 'transfers', LARGE[1:], name)} % with {TITLES[name]}" for name in SCHEDULERS
    )
    before = ", ".join(f"{_of(data, 'above_mild', 'transfers', LARGE[:1], name)} %" for name in SCHEDULERS)
    return (
        f"more than a tenth is lost by {largest} of the transfers, and by {before} of those of half the size: the "
        f"first overshoot of "
        "slow start costs up to half of a window, and the second half of the file does not always make up for it"
    )


def _piled(data: Data) -> str:
    lost = ", ".join(
        f"{estimate(data.mean_of('dropped', MEDIUM, protocol='tfrc', scheduler=name, ues=65))} with {TITLES[name]}"
        for name in SCHEDULERS
    )
    return (
        f"a transfer of 255 segments loses {lost} on average. Whether the last doubling overflows 90 packets turns on "
        f"how fast "
        "the rate grows until the first report of a loss, which the paper says in one sentence; with SIR packets also "
        "pile up "
        "while a mobile waits"
    )


CLAIMS: list[Claim[Data]] = [
    Claim(
        "H1",
        "IV-A",
        "In the first group, the six smallest transfer sizes fall. These flows do not lose any packets and hence never "
        "leave slow start due to packet loss.",
        "the six smallest sizes lose nothing (TFRC)",
        "none",
        "share of TFRC's transfers of these sizes that lose a packet, with either scheduler",
        "below 1 %",
        "the text rounds; one transfer in a hundred would not be seen",
        _small,
        Null(
            "each of these sizes loses as 740 950 B does, of which the paper says that losses cannot be avoided",
            as_size(LARGE[0], *SMALL),
        ),
        see=BY_SIZE,
    ),
    Claim(
        "H2",
        "IV-A",
        "Approximately 80% of these transfers get through intact. The remaining 20% of the flows lose less than a "
        "tenth of the data.",
        "of 369 750 B some 80 % get through intact, and the rest lose less than a tenth (TFRC)",
        "80 %; < 10 %",
        "share of TFRC's transfers of 369 750 B that lose nothing; of the others, the share that loses more than a "
        "tenth; with either "
        "scheduler",
        "65 to 92 % intact; of the rest less than 10 %",
        "“approximately”: some forty transfers of this size in a run scatter by as much",
        _medium,
        Null("this size loses as 740 950 B does: the paper's groups do not differ", as_size(LARGE[0], MEDIUM)),
        see=BY_SIZE,
        cause=_piled,
    ),
    Claim(
        "H3",
        "IV-A",
        "For the two largest file sizes the transition from slow start to congestion avoidance can not be avoided. In "
        "the "
        "case of 740950 bytes, the flows all reach the maximum available capacity and about 15% have high loss rates "
        "(20%)",
        "of 740 950 B all reach the capacity, and about 15 % lose some 20 % (TFRC)",
        "all; 15 % of them lose 20 %",
        "share of TFRC's transfers of 740 950 B that lose a packet, which is how slow start ends; share that loses "
        "more than 15 %",
        "at least 95 %; 5 to 30 %",
        "“all”, in a text that rounds to 5 %; “about”, of few transfers; a loss rate of 15 % lies between a tenth, "
        "the paper's "
        "other step, and 20 %",
        _large,
        Null("this size loses as 369 750 B does: the paper's groups do not differ", as_size(MEDIUM, LARGE[0])),
        former=Former(
            "5 to 30 % lose more than 15 %",
            "the sentence says of all flows that they reach the capacity; that was shown and not asked for",
            _large_before,
        ),
        see=BY_SIZE,
    ),
    Claim(
        "H4",
        "IV-A",
        "For the 1483350 byte flows the loss rate stays below 10%, except in the case of SIR scheduling and 65 "
        "mobiles, "
        "where 2% of the flows experience higher loss rates.",
        "of 1 483 350 B nearly none lose more than a tenth (TFRC)",
        "none; 2 % of the flows with SIR and 65 mobiles",
        "share of TFRC's transfers of 1 483 350 B that lose more than a tenth, in every scenario",
        "below 5 %",
        "2 % and none are claimed; a handful of transfers of hundreds is as near",
        _largest,
        Null("this size loses as 740 950 B does, of which some 15 % lose 20 %", as_size(LARGE[0], LARGE[1])),
        see=BY_SIZE,
        cause=_excess,
    ),
]
