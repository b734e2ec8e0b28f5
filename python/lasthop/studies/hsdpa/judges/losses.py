"""Packet loss of TFRC by size of file (§IV-A)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lasthop.stats import Estimate, estimate
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, above, below, judged, within

from ..data import MAIN, Data
from ..scenario import LARGE, MEDIUM, SCHEDULERS, SMALL, TITLES

Sizes = tuple[int, ...]


def _of(data: Data, part: str, whole: str, sizes: Sizes, scheduler: str, ues: int = 65) -> Estimate:
    return data.share(part, whole, sizes, protocol="tfrc", scheduler=scheduler, ues=ues)


def as_size(of: int, *sizes: int) -> Callable[[Data], Data]:
    """A null model: transfers of these sizes lose what those of another one do."""

    def replaced(data: Data) -> Data:
        grid = data.main
        names = ("transfers", "lossy", "above_mild", "above_high")
        made = {f"{name}_{size}": grid.values[f"{name}_{of}"] for size in sizes for name in names}
        return data.with_values(MAIN, made)

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


JUDGES: Judges[Data] = {
    "H1": Judge(_small, null=as_size(LARGE[0], *SMALL)),
    "H2": Judge(_medium, null=as_size(LARGE[0], MEDIUM), cause=_piled),
    "H3": Judge(_large, null=as_size(MEDIUM, LARGE[0]), former=_large_before),
    "H4": Judge(_largest, null=as_size(LARGE[0], LARGE[1]), cause=_excess),
}
