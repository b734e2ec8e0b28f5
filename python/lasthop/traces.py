"""Traces of links in mahimahi's format: what they say, and how they are made of a series of rates."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BYTES", "About", "about", "converted", "draw", "read"]

#: How many bytes an opportunity carries.
BYTES = 1504

#: The longest series that is converted, in opportunities.
_MOST = 100_000_000

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

    text = _text(Path(path))
    # A text without an end of line could be a name.
    text = text if text.endswith("\n") else f"{text}\n"
    link = {"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s", "trace": {"down": text}}
    try:
        core = load({"duration": "1 s", "link": [link], "flow": [{"from": "a", "to": "b"}]})
    except ScenarioError as error:
        message = str(error).splitlines()[0].removeprefix("error: ").removeprefix("down: ")
        raise ValueError(f"{path}: {message}") from None
    return np.array(core["link"][0]["trace"]["down"].split(), dtype=np.int64)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text: it is not UTF-8") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None


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
    lasts = np.append(np.diff(seconds), seconds[-1] - seconds[-2])
    total = np.concatenate([[0.0], np.cumsum(rates * lasts)]) * 1e6 / (8 * BYTES)
    if total[-1] < 1:
        raise ValueError(f"{path}: all rates together do not carry one packet of {BYTES} bytes")
    if total[-1] > _MOST:
        raise ValueError(f"{path}: more than {_MOST:,} opportunities; cut the series, or scale it")
    ends = np.append(seconds, seconds[-1] + lasts[-1]) - seconds[0]
    opportunities = np.arange(1, math.floor(total[-1] + 1e-9) + 1)
    # A total that rounding has put just below a whole number is reached where the last rate above 0 ends.
    at = _crossings(np.minimum(opportunities, total[-1]), total, ends)
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
    """When a function that does not fall first reaches each value, from its corners."""
    place = np.clip(np.searchsorted(total, wanted, side="left"), 1, len(total) - 1)
    before, after = total[place - 1], total[place]
    share = np.where(after > before, (wanted - before) / np.where(after > before, after - before, 1), 0)
    return np.asarray(ends[place - 1] + np.clip(share, 0, 1) * (ends[place] - ends[place - 1]))


def _series(path: Path) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Seconds, Mbit/s, and the line of each row."""
    seconds: list[float] = []
    rates: list[float] = []
    lines: list[int] = []
    may_be_heading = True
    for line, row in enumerate(csv.reader(_text(path).splitlines()), 1):
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
        if seconds and time <= seconds[-1]:
            raise ValueError(f"{path}, line {line}: {time:g} s comes after {seconds[-1]:g} s; times must rise")
        seconds.append(time)
        rates.append(rate)
        lines.append(line)
    if len(seconds) < 2:
        raise ValueError(f"{path}: expected at least two rows, each with seconds and Mbit/s")
    return np.array(seconds), np.array(rates), lines


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
