"""The judges of the claims (`paper/claims.toml`): what hints and queues change, path by path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from lasthop.stats import Estimate, estimate
from lasthop.studies import words
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Condition, Judgement, above, alike, at_least, at_most, below, judged

from ..data import HINTED, Data
from ..network.mechanisms import DELAYS, HINTS, NAMES, OFF, RESERVED, RESTART
from ..network.paths import LINKED, PATHS
from ..readings import QUESTIONS

__all__ = ["CLAIMS"]

#: The path on which most claims are judged.
W = "wlan-umts"

#: A path, a mechanism and a hint.
Run = tuple[str, str, str]

#: Bounds of the claims, as `claims.toml` has them.
LEAST_KBPS, GAIN = 200.0, 1.5
SOONER_S, FULL_S, SHORTER_S, CLIMB_S = 5.0, 3.0, 1.0, 10.0
HALF, KEPT = 0.5, 0.6
SHARE, POINTS = 0.1, 5.0
MOST_PCT, FEW_PCT = 50.0, 1.0


def _paired(data: Data, quantity: str, one: Run, other: Run) -> Estimate:
    """One minus the other, by seed."""
    return estimate(data.of(quantity, *one) - data.of(quantity, *other))


def _ratio(data: Data, quantity: str, one: Run, other: Run) -> Estimate:
    """One over the other, by seed."""
    return estimate(data.of(quantity, *one) / data.of(quantity, *other))


def _said(*conditions: Condition) -> Judgement:
    return judged("; ".join(f"{one.what} {one.value}{one.unit}" for one in conditions), *conditions)


def _stuck(data: Data, *, mechanism: str) -> Judgement:
    off, hinted = (W, mechanism, OFF), (W, mechanism, DELAYS)
    return _said(
        at_most("on UMTS without a hint", data.over("kbps_slow_rest", *off), LEAST_KBPS, " kbit/s"),
        at_least("ratio with the hint", _ratio(data, "kbps_slow_rest", hinted, off), GAIN),
    )


def _back_sooner(data: Data) -> Judgement:
    more = _paired(data, "up_s", (W, "scream", OFF), (W, "scream", DELAYS))
    return judged(
        f"{data.over('up_s', W, 'scream', OFF)} s without, {data.over('up_s', W, 'scream', DELAYS)} s with",
        at_least("without the hint less with it", more, SOONER_S, " s"),
    )


def _stale(data: Data) -> Judgement:
    off, hinted = (W, "bbr", OFF), (W, "bbr", DELAYS)
    return _said(
        at_least("until frames come in time, without a hint", data.over("down_s", *off), FULL_S, " s"),
        at_least("the same less that with the hint", _paired(data, "down_s", off, hinted), SHORTER_S, " s"),
    )


def _saved(data: Data) -> Judgement:
    off, hinted = (W, "copa", OFF), (W, "copa", DELAYS)
    return judged(
        f"{data.over('missed_pct_slow_first', *off)} % without, {data.over('missed_pct_slow_first', *hinted)} % with",
        above(
            "missed without the hint less with it", _paired(data, "missed_pct_slow_first", off, hinted), 0.0, " points"
        ),
    )


def _marked(data: Data) -> Judgement:
    return _said(
        *(
            at_most(
                f"ratio of frame delays, {PATHS[path].slow}",
                _ratio(data, "delay_p95_ms_slow", (path, "prague-l4s", OFF), (path, "prague", OFF)), HALF,
            )
            for path in LINKED
        )
    )  # fmt: skip


def _low_latency(data: Data) -> Judgement:
    with_it, without = ("lte", "scream-l4s", OFF), ("lte", "scream", OFF)
    return _said(
        below("frame delay, L4S less DropTail", _paired(data, "delay_p95_ms_slow_rest", with_it, without), 0.0, " ms"),
        at_least("ratio of rates", _ratio(data, "kbps_slow_rest", with_it, without), KEPT),
    )


def _same(data: Data, *, path: str, mechanisms: Sequence[str], quantity: str) -> list[Condition]:
    """That a share is the same with the hint of delays and without."""
    return [
        alike(
            f"{NAMES[name]}, share with the hint less without",
            _paired(data, quantity, (path, name, DELAYS), (path, name, OFF)), SHARE,
        )
        for name in mechanisms
    ]  # fmt: skip


def _too_small(data: Data) -> Judgement:
    return _said(*_same(data, path="lte", mechanisms=("nada", "scream"), quantity="share_slow_rest"))


def _forgets(data: Data) -> Judgement:
    return _said(*_same(data, path=W, mechanisms=("gcc",), quantity="share_slow_rest"))


def _climbs(data: Data) -> Judgement:
    return _said(
        at_least("without a hint", data.over("up_s", W, "gcc", OFF), CLIMB_S, " s"),
        at_least("with it", data.over("up_s", W, "gcc", DELAYS), CLIMB_S, " s"),
    )


def _full(data: Data) -> Judgement:
    return _said(
        *(
            at_least(f"missed, hint {hint}", data.over("missed_pct_slow_rest", W, "cubic", hint), MOST_PCT, " %")
            for hint in HINTS
        )
    )


def _fewer(data: Data) -> Judgement:
    return _said(
        *(
            below(
                f"{path.title}, NADA less TFRC",
                _paired(data, "missed_pct", (path.name, "nada", DELAYS), (path.name, "tfrc", OFF)), 0.0, " points",
            )
            for path in PATHS.values()
        )
    )  # fmt: skip


def _reserved(data: Data) -> Judgement:
    return _said(
        *(
            at_most(f"{NAMES[name]}, {PATHS[path].title}", data.over("missed_pct", path, name, OFF), FEW_PCT, " %")
            for name in RESERVED
            for path in LINKED
        )
    )


def _untold(data: Data) -> Judgement:
    of = ("nada", "scream", "gcc")
    return _said(
        *_same(data, path="hsdpa", mechanisms=of, quantity="share"),
        *(
            alike(
                f"{NAMES[name]}, missed with the hint less without",
                _paired(data, "missed_pct", ("hsdpa", name, DELAYS), ("hsdpa", name, OFF)), POINTS, " points",
            )
            for name in of
        ),
    )  # fmt: skip


def _small_handoff(data: Data) -> Judgement:
    return _said(*_same(data, path="leo", mechanisms=("scream", "gcc", "bbr"), quantity="share_slow_first"))


def _anew(data: Data) -> Judgement:
    return _said(
        *(
            above(
                f"{NAMES[name]}, share with delays less with a restart",
                _paired(data, "share_fast_first", (W, name, DELAYS), (W, name, RESTART)),
            )
            for name in ("scream", "nada", "gcc")
        )
    )


# Causes whose figures come from the runs


def _in_short(data: Data) -> str:
    off, hinted = (data.over("missed_pct_slow", W, "bbr", hint) for hint in (OFF, DELAYS))
    return (
        "five seconds with four fifths of the frames in time never come: on UMTS BBR probes for more than a quarter of "
        "the time, since a probe lasts round trips of 280 ms and more, and frames are late meanwhile. The hint halves "
        f"what is missed on UMTS, from {off} to {hinted} %"
    )


def _at_first(data: Data) -> str:
    settled = _ratio(data, "delay_p95_ms_slow_rest", (W, "prague-l4s", OFF), (W, "prague", OFF))
    return (
        "the rate of WLAN goes on into UMTS for a round trip. DualPI2 is overloaded and drops what marks do not hold "
        "back, retransmissions among it; they wait for the timer, and these first seconds make the 95th percentile. "
        "Settled, the ratio on UMTS is "
        f"{settled}"
    )


# Null models


def placed(pairs: Sequence[tuple[Run, Run]]) -> Callable[[Data], Data]:
    """The second run of each pair in the place of the first, of the next seed."""

    def of(data: Data) -> Data:
        made = data
        for (path, mechanism, hint), other in pairs:
            name = data.holding(path, mechanism, hint)
            grid = made.grid(name)
            axes = [list(grid.axes[axis]) for axis in ("path", "mechanism", "hint")]
            place = tuple(known.index(value) for known, value in zip(axes, (path, mechanism, hint), strict=True))
            there = data.grid(data.holding(*other)).values
            values = {}
            for quantity, before in grid.values.items():
                values[quantity] = before.copy()
                if quantity in there:
                    values[quantity][place] = np.roll(data.of(quantity, *other), 1)
            made = made.with_values(name, values)
        return made

    return of


def _unhinted(path: str, *mechanisms: str) -> Callable[[Data], Data]:
    return placed([((path, name, DELAYS), (path, name, OFF)) for name in mechanisms])


def _dearer(path: str, *mechanisms: str) -> Callable[[Data], Data]:
    """A hint of delays that costs a quarter of the rate of the runs without one."""

    def of(data: Data) -> Data:
        made = data
        for name in mechanisms:
            grid = made.grid(HINTED)
            axes = [list(grid.axes[axis]) for axis in ("path", "mechanism", "hint")]
            here, there = (
                tuple(known.index(value) for known, value in zip(axes, (path, name, hint), strict=True))
                for hint in (DELAYS, OFF)
            )
            values = {
                quantity: grid.values[quantity].copy() for quantity in grid.values if quantity.startswith("share")
            }
            for quantity in values:
                values[quantity][here] = 0.75 * np.roll(grid.values[quantity][there], 1)
            made = made.with_values(HINTED, values)
        return made

    return of


def _on_wlan(data: Data) -> Data:
    """Of CUBIC the frames that it misses back on WLAN in the place of those on UMTS."""
    grid = data.grid(HINTED)
    values = grid.values["missed_pct_slow_rest"].copy()
    place = (list(grid.axes["path"]).index(W), list(grid.axes["mechanism"]).index("cubic"))
    values[place] = np.roll(grid.values["missed_pct_fast_rest"][place], 1, axis=-1)
    return data.with_values(HINTED, {"missed_pct_slow_rest": values})


def _elsewhere(path: str, *mechanisms: str) -> Callable[[Data], Data]:
    """The runs from WLAN to UMTS in the place of those of a path."""
    return placed([((path, name, hint), (W, name, hint)) for name in mechanisms for hint in (OFF, DELAYS)])


JUDGES: Judges[Data] = {
    "T1": Judge(partial(_stuck, mechanism="nada"), null=_unhinted(W, "nada")),
    "T2": Judge(partial(_stuck, mechanism="scream"), null=_unhinted(W, "scream")),
    "T3": Judge(_back_sooner, null=_unhinted(W, "scream")),
    "T4": Judge(_stale, null=_unhinted(W, "bbr"), cause=_in_short),
    "T5": Judge(_saved, null=_unhinted(W, "copa")),
    "T6": Judge(
        _marked, null=placed([((path, "prague-l4s", OFF), (path, "prague", OFF)) for path in LINKED]), cause=_at_first
    ),
    "T7": Judge(_low_latency, null=placed([(("lte", "scream-l4s", OFF), ("lte", "scream", OFF))])),
    "T8": Judge(_too_small, null=_dearer("lte", "nada", "scream"), former=_too_small),
    "T9": Judge(_forgets, null=_dearer(W, "gcc"), former=_forgets),
    "T10": Judge(_climbs, null=placed([((W, "gcc", hint), (W, "cubic", hint)) for hint in (OFF, DELAYS)])),
    "T11": Judge(_full, null=_on_wlan, former=_full),
    "T12": Judge(_fewer, null=placed([((path, "nada", DELAYS), (path, "tfrc", OFF)) for path in PATHS])),
    "T13": Judge(_reserved, null=placed([((p, name, OFF), (p, "cubic", OFF)) for p in LINKED for name in RESERVED])),
    "T14": Judge(_untold, null=_elsewhere("hsdpa", "nada", "scream", "gcc")),
    "T15": Judge(_small_handoff, null=_dearer("leo", "scream", "gcc", "bbr"), former=_small_handoff),
    "T16": Judge(_anew, null=placed([((W, name, RESTART), (W, name, DELAYS)) for name in ("scream", "nada", "gcc")])),
}

CLAIMS = words.claims(__name__, JUDGES, QUESTIONS)
