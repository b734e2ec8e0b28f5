"""Traces of links in mahimahi's format: what they say, and how they are made of a series of rates."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BYTES", "About", "about", "converted", "draw", "read", "text_of"]

#: How many bytes an opportunity carries.
BYTES = 1504

#: The longest series that is converted, in opportunities, and the latest time of a trace, in ms.
_MOST, _LATEST = 100_000_000, 2**32 - 1

#: The largest trace that is read, as of a scenario.
_MOST_BYTES = 1 << 30

#: How much of an opportunity rounding may take away.
_ROUNDING = 1e-6

#: How a cell with a number begins.
_NUMBER = re.compile(r"\s*[-+.\d]")


@dataclass(frozen=True)
class About:
    """What a trace says: times in s, rates in Mbit/s."""

    opportunities: int
    period_s: float
    mean_mbps: float
    #: Percentiles of the rate over windows: 5, 50, 95.
    over_100ms_mbps: tuple[float, float, float]
    over_1s_mbps: tuple[float, float, float]
    #: The longest time without an opportunity, from round to round too; and when it begins.
    longest_gap_s: float
    longest_gap_at_s: float


def read(path: str | Path) -> np.ndarray:
    """The instants of a trace, ms. It is checked as a scenario's is.

    Raises ValueError with the file and the line that is wrong.
    """
    from lasthop.errors import ScenarioError
    from lasthop.scenario import load

    text = text_of(Path(path))
    link = {"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s", "trace": {"down": text}}
    try:
        core = load({"duration": "1 s", "link": [link], "flow": [{"from": "a", "to": "b"}]})
    except ScenarioError as error:
        message = str(error).splitlines()[0].removeprefix("error: ").removeprefix("down: ")
        raise ValueError(f"{path}: {message}") from None
    return np.fromstring(core["link"][0]["trace"]["down"], dtype=np.int64, sep="\n")


def text_of(path: Path) -> str:
    """The text of a trace as a scenario takes it: with its ends of lines as they are, and one at its end.

    Raises ValueError with the file if it is too large, or no text.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ValueError(f"{path} is larger than {_MOST_BYTES >> 20} MB")
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text: it is not UTF-8") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    # Without an end of line it could be a name.
    return text if text.endswith("\n") or not text else f"{text}\n"


def _rates(times: np.ndarray, window_ms: int) -> np.ndarray:
    """Mbit/s in each whole window of a period; of a trace that is shorter, over the whole."""
    windows = int(times[-1]) // window_ms
    if windows == 0:
        return np.array([_mean(times)])
    # An opportunity at the end of a window is in it: the first of the next comes after it.
    place = np.maximum(np.ceil(times / window_ms).astype(np.int64) - 1, 0)
    counts = np.bincount(place[place < windows], minlength=windows)
    return counts * BYTES * 8 / (window_ms * 1e3)


def _mean(times: np.ndarray) -> float:
    return float(len(times) * BYTES * 8 / (times[-1] * 1e3))


def about(times: np.ndarray) -> About:
    """What a trace says of its link."""

    def spread(window_ms: int) -> tuple[float, float, float]:
        low, middle, high = np.percentile(_rates(times, window_ms), [5, 50, 95])
        return float(low), float(middle), float(high)

    # After the last line comes the first of the next round.
    gaps = np.diff(times, append=times[-1] + times[0])
    longest = int(np.argmax(gaps))
    return About(
        opportunities=len(times),
        period_s=float(times[-1]) / 1e3,
        mean_mbps=_mean(times),
        over_100ms_mbps=spread(100),
        over_1s_mbps=spread(1000),
        longest_gap_s=float(gaps[longest]) / 1e3,
        longest_gap_at_s=float(times[longest]) / 1e3,
    )


def converted(source: str | Path, *, note: Callable[[str], object] | None = None) -> np.ndarray:
    """The instants, ms, of a series of rates: a CSV file with seconds and Mbit/s in each row.

    A rate holds until the time of the next row, the last one as long as the one before it. The k-th opportunity comes
    in the millisecond in which the integral of the rate passes k · 1,504 bytes, so nothing drifts. The first row's time
    is the trace's 0. If the last rows carry no opportunity, one more comes at the end of the series, as a trace ends
    with its last; ``note`` gets a sentence about it.
    """
    path = Path(source)
    seconds, rates, lines = _series(path)
    seconds.append(2 * seconds[-1] - seconds[-2])
    if seconds[-1] * 1000 > _LATEST:
        lasts = f"{float(seconds[-1]):.10g} s"
        raise ValueError(f"{path}: the series lasts {lasts}; a trace lasts at most {_LATEST // 1000} s")
    megabits = (rate * (end - begin) for rate, (begin, end) in zip(rates, pairwise(seconds), strict=True))
    total = np.array([*map(float, accumulate(megabits, initial=Decimal(0)))]) * 1e6 / (8 * BYTES)
    ends = np.array([*map(float, seconds)])
    if total[-1] + _ROUNDING < 1:
        raise ValueError(f"{path}: all rates together do not carry one packet of {BYTES} bytes")
    if total[-1] > _MOST:
        raise ValueError(f"{path}: more than {_MOST:,} opportunities; cut the series, or scale it")
    at = _crossings(np.arange(1, math.floor(total[-1] + _ROUNDING) + 1), total, ends)
    silent = int(np.searchsorted(ends, at[-1] - 1e-9))
    if silent < len(lines):
        at = np.append(at, ends[-1])
        if note:
            note(
                f"{path}, line {lines[silent]}: nothing is delivered from here to the end at {ends[-1]:g} s; a trace "
                f"ends with its last opportunity, so one of {BYTES} bytes is added there"
            )
    times = np.ceil(at * 1e3 - 1e-6).astype(np.int64)
    return np.maximum(times, 1)


def _crossings(wanted: np.ndarray, total: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """When a function that does not fall first reaches each value, from its corners.

    A corner that rounding has put just below a value has reached it: behind it the function may stand still.
    """
    place = np.clip(np.searchsorted(total, wanted - _ROUNDING, side="left"), 1, len(total) - 1)
    before, after = total[place - 1], total[place]
    share = np.where(after > before, (wanted - before) / np.where(after > before, after - before, 1), 0)
    return np.asarray(ends[place - 1] + np.clip(share, 0, 1) * (ends[place] - ends[place - 1]))


def _series(path: Path) -> tuple[list[Decimal], list[Decimal], list[int]]:
    """Seconds since the first row, Mbit/s, and the line of each row.

    As they are written: rounded, seconds since 1970 would lose what is below a microsecond, and sums would drift.
    """
    seconds: list[Decimal] = []
    rates: list[Decimal] = []
    lines: list[int] = []
    may_be_heading = True
    for line, row in _rows(path):
        shown = ",".join(row).strip()
        if not shown or shown.startswith("#"):
            continue
        is_first, may_be_heading = may_be_heading, False
        try:
            time, rate = (float(cell) for cell in row)
        except ValueError:
            if is_first and not any(_NUMBER.match(cell) for cell in row):
                continue  # a heading
            raise ValueError(f"{path}, line {line}: expected seconds and Mbit/s, found {shown[:60]!r}") from None
        if not (math.isfinite(time) and 0 <= rate < math.inf):
            raise ValueError(f"{path}, line {line}: a time is finite, and a rate is 0 or more")
        second, megabits = (Decimal(cell) for cell in row)
        if seconds and second <= seconds[-1]:
            raise ValueError(f"{path}, line {line}: {second} s comes after {seconds[-1]} s; times must rise")
        seconds.append(second)
        rates.append(megabits)
        lines.append(line)
    if len(seconds) < 2:
        raise ValueError(f"{path}: expected at least two rows, each with seconds and Mbit/s")
    return [second - seconds[0] for second in seconds], rates, lines


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, each with its line."""
    reader = csv.reader(text_of(path).splitlines())
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from None


def draw(times: np.ndarray, name: str) -> Figure:
    """The rate over time, in windows of 100 ms and of 1 s."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    for window, label, colour, width in ((100, "over 100 ms", "0.75", 0.8), (1000, "over 1 s", "#0072B2", 1.6)):
        rates = _rates(times, window)
        edges = np.arange(len(rates) + 1) * window / 1e3
        axes.stairs(rates, edges, label=label, baseline=None, color=colour, linewidth=width)
    axes.set(xlabel="time (s)", ylabel="rate (Mbit/s)", ylim=(0, None), title=name)
    axes.margins(x=0)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False)
    return figure
