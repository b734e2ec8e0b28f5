"""The paper's figures, drawn from our runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lasthop import plot
from lasthop.stats import Estimate, estimate
from lasthop.studies import Picture
from lasthop.studies.curves import Line, curves

from .data import LEVEL, Data, title
from .measures import RECEIVERS
from .measures.percentiles import lowest
from .scenario import LEAST_KBPS, PROTOCOLS, SCHEDULERS, SIZES

#: Sizes in kB, for the horizontal axis.
KB = [f"{size / 1000:.0f}" for size in SIZES]

#: What tells the schedulers apart: line style and marker.
LOOKS: Mapping[str, Mapping[str, Any]] = {
    "round_robin": {"linestyle": "--", "marker": "s", "markerfacecolor": "none"},
    "max_sir": {"linestyle": "-", "marker": "o"},
}


def _look(protocol: str, scheduler: str) -> dict[str, Any]:
    return {**plot.look("tcp sack" if protocol == "tcp" else protocol), **LOOKS[scheduler]}


def _lines(of: Callable[[str, str], Sequence[Estimate]], protocols: Sequence[str] = tuple(PROTOCOLS)) -> list[Line]:
    return [
        Line(title(protocol=protocol, scheduler=scheduler), of(protocol, scheduler), _look(protocol, scheduler))
        for protocol in protocols
        for scheduler in SCHEDULERS
    ]


def _said(data: Data) -> str:
    n = len(data.main.seeds)
    return f"65 mobiles; bars are 90 % intervals over {n} runs; all defaults."


def _by_size(data: Data, id: str, lines: Sequence[Line], *, y_label: str, caption: str, log: bool = False) -> Picture:
    return curves(
        id, lines, x=KB, x_label="file size (kB)", y_label=y_label, column="size_kb", even=True, log=log, zero=True,
        caption=f"{caption} {_said(data)}",
    )  # fmt: skip


def _each(data: Data, quantity: str, *, over: str = "transfers") -> Callable[[str, str], list[Estimate]]:
    """Its mean for each transfer, by size."""

    def of(protocol: str, scheduler: str) -> list[Estimate]:
        where = {"protocol": protocol, "scheduler": scheduler, "ues": 65}
        return [estimate(data.mean_of(quantity, size, over=over, **where), LEVEL) for size in SIZES]

    return of


def _timeouts(data: Data) -> Picture:
    retransmit, nofeedback = _each(data, "timeouts"), _each(data, "nofeedback")
    lines = _lines(lambda protocol, scheduler: (retransmit if protocol == "tcp" else nofeedback)(protocol, scheduler))
    return _by_size(
        data, "figure-1", lines, y_label="timeouts / transfer",
        caption="Timeouts for each transfer: TCP's retransmission timeouts and TFRC's no-feedback timeouts.",
    )  # fmt: skip


def _events(data: Data) -> Picture:
    return _by_size(
        data, "figure-2", _lines(_each(data, "events")), y_label="events / transfer",
        caption="Congestion events for each transfer that later packets show: fast retransmits of TCP after three "
        "duplicate acknowledgements, loss events of TFRC after three later packets.",
    )  # fmt: skip


def _receivers(data: Data, protocol: str, id: str) -> Picture:
    def of(protocol: str, scheduler: str) -> list[Estimate]:
        where = {"protocol": protocol, "scheduler": scheduler, "ues": 65}
        return [estimate(data.main.at(f"receivers_{n}", **where), LEVEL) for n in RECEIVERS]

    names = [str(n) for n in RECEIVERS[:-1]] + [f"≥{RECEIVERS[-1]}"]
    made = curves(
        id, _lines(of, [protocol]), x=names, x_label="potential receivers", y_label="share of slots",
        column="receivers", even=True, zero=True,
        caption=f"Mobiles of the centre cell that have data at the start of a slot, with {PROTOCOLS[protocol]}. "
        + _said(data),
    )  # fmt: skip
    made.figure.axes[0].set_xticks(RECEIVERS[::3], names[::3])
    return made


def _rates(data: Data) -> Picture:
    lines = _lines(_each(data, "rate_kbps", over="finished"))
    return _by_size(
        data, "figure-5", lines, y_label="mean rate (kbit/s)",
        caption="Mean transfer rate: the size over the time from the first packet sent to the last byte received.",
    )  # fmt: skip


def _lowest(data: Data, protocol: str, id: str) -> Picture:
    def of(protocol: str, scheduler: str) -> list[Estimate]:
        where = {"protocol": protocol, "scheduler": scheduler, "ues": 65}
        return [lowest(data.rates(size, **where), level=LEVEL) for size in SIZES]

    made = _by_size(
        data, id, _lines(of, [protocol]), y_label="5th percentile (kbit/s)",
        caption=f"Fifth percentile of the transfer rates of all runs together, with {PROTOCOLS[protocol]}. The "
        "grey line is what 95 % of the users should exceed. Intervals are from draws of whole runs.",
    )  # fmt: skip
    made.figure.axes[0].axhline(LEAST_KBPS, color=plot.GREY, linewidth=0.6, zorder=0)
    return made


def pictures(data: Data) -> list[Picture]:
    """Figs. 1 to 7."""
    return [
        _timeouts(data), _events(data), _receivers(data, "tcp", "figure-3"), _receivers(data, "tfrc", "figure-4"),
        _rates(data), _lowest(data, "tcp", "figure-6"), _lowest(data, "tfrc", "figure-7"),
    ]  # fmt: skip
