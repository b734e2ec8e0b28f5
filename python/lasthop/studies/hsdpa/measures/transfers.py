"""The transfers of the centre cell, and what they sum up to for each size of file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.results import Table, numbers

from ..scenario import SIZES, WARM_UP

if TYPE_CHECKING:
    from lasthop.results import Result

Array = np.ndarray[Any, Any]


#: The number of the centre cell.
CENTRE = 0

#: Loss rates of a transfer: §IV-A has "a tenth", and "20 %", for which more than 15 % is taken.
MILD_LOSS, HIGH_LOSS = 0.10, 0.15

#: What is counted of each transfer, by its name in the table `transfer_state`.
COUNTS = {
    "sent_packets": "sent",
    "retransmitted_packets": "resent",
    "dropped_packets": "dropped",
    "timeouts": "timeouts",
    "spurious_timeouts": "spurious",
    "detected_spurious_timeouts": "detected",
    "nofeedback_expiries": "nofeedback",
}

#: How losses are seen by what comes later: three duplicate acknowledgements, or three later packets.
EVENTS = ("fast_retransmits", "loss_events")


def centre(result: Result) -> Mapping[str, Array]:
    """The transfers of the centre cell's mobiles that began after the first seconds, by column.

    A rate is missing where the run ended before the transfer did.
    """
    table = result.transfers
    bearers = {f"{to} down": flow for flow, to in zip(result.flows["flow"], result.flows["to"], strict=True)}
    inside = {
        bearers[name]: place
        for place, (name, cell) in enumerate(zip(result.bearers["bearer"], result.bearers["cell"], strict=True))
        if cell == CENTRE and name in bearers
    }
    flows = table["flow"]
    mobile = np.array([inside.get(flow, -1) for flow in flows])
    began = np.where(np.isnan(table["sent_s"].astype(float)), table["start_s"], table["sent_s"]).astype(float)
    here = (mobile >= 0) & (began >= WARM_UP)
    bytes_ = table["bytes"].astype(float)
    columns: dict[str, Array] = {
        "mobile": mobile,
        "bytes": bytes_,
        "start_s": began,
        "rate_kbps": 8e-3 * bytes_ / (table["received_s"].astype(float) - began),
    }
    counts = _counts(result)
    for name, short in COUNTS.items():
        columns[short] = counts[name]
    columns["events"] = np.sum([counts[name] for name in EVENTS], axis=0)
    columns["loss"] = columns["dropped"] / np.maximum(columns["sent"] + columns["resent"], 1)
    return {name: values[here] for name, values in columns.items()}


def _counts(result: Result) -> Mapping[str, Array]:
    """What was counted of each transfer, in the order of `transfers`; 0 where the protocol has no such thing."""
    table, state = result.transfers, result.transfer_state
    first: dict[str, int] = {}
    for place, flow in enumerate(table["flow"]):
        first.setdefault(flow, place)
    places = np.array([first[flow] for flow in state["flow"]]) + state["transfer"]
    quantity, value = state["quantity"], state["value"]
    counts = {name: np.zeros(len(table)) for name in (*COUNTS, *EVENTS)}
    for name, column in counts.items():
        mine = quantity == name
        column[places[mine]] = value[mine]
    return counts


#: What is summed over the transfers of a size: by its name, from the columns.
SUMS: Mapping[str, Callable[[Mapping[str, Array]], Array]] = {
    "transfers": lambda of: np.ones_like(of["bytes"]),
    "finished": lambda of: ~np.isnan(of["rate_kbps"]),
    "rate_kbps": lambda of: np.nan_to_num(of["rate_kbps"]),
    "timeouts": lambda of: of["timeouts"],
    "spurious": lambda of: of["spurious"],
    "detected": lambda of: of["detected"],
    "nofeedback": lambda of: of["nofeedback"],
    "events": lambda of: of["events"],
    "dropped": lambda of: of["dropped"],
    "lossy": lambda of: of["loss"] > 0,
    "above_mild": lambda of: of["loss"] > MILD_LOSS,
    "above_high": lambda of: of["loss"] > HIGH_LOSS,
}


def by_size(of: Mapping[str, Array]) -> dict[str, float]:
    """Sums over the transfers of each size, as `timeouts_4350`."""
    place = np.searchsorted(SIZES, of["bytes"])
    kept: dict[str, float] = {}
    for name, values in SUMS.items():
        sums = np.bincount(place, weights=values(of).astype(float), minlength=len(SIZES))
        kept |= {f"{name}_{size}": float(value) for size, value in zip(SIZES, sums, strict=True)}
    return kept


def rows(result: Result) -> Table:
    """A row for each transfer of the centre cell."""
    import pyarrow as pa

    return Table(pa.table({name: numbers(values.astype(float)) for name, values in centre(result).items()}))


def rates(result: Result) -> Table:
    """Of each of them its size and its rate."""
    import pyarrow as pa

    of = centre(result)
    return Table(pa.table({name: numbers(of[name].astype(float)) for name in ("bytes", "rate_kbps")}))
