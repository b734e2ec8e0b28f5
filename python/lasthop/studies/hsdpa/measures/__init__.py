"""From a run to the numbers that are kept of it: of the centre cell, after the first seconds.

Rates are in kbit/s and shares from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.studies.series import Series, jain

from ..scenario import LEAST_KBPS, SEGMENT, WARM_UP
from . import transfers
from .transfers import CENTRE

if TYPE_CHECKING:
    from lasthop.results import Result

    Array = np.ndarray[Any, Any]


#: Numbers of mobiles with data at the start of a slot, as the cell counts them. The last is so many or more.
RECEIVERS = tuple(range(16))

#: What each mobile's queue counts of delay spikes.
SPIKES = ("delay_spikes", "offered_packets", "dropped_packets", "offered_in_spike", "dropped_in_spike")


def kept(result: Result) -> Mapping[str, float]:
    """All numbers of a run."""
    series = Series(result.series)
    of = transfers.centre(result)
    return {
        **transfers.by_size(of),
        **_totals(of, result.simulated_s - WARM_UP),
        **users(of),
        **_cell(series, result.simulated_s),
        **_mobiles(result, series),
    }


def _totals(of: Mapping[str, Array], seconds: float) -> dict[str, float]:
    """Over the transfers of all sizes."""
    done = ~np.isnan(of["rate_kbps"])
    arrived = (of["sent"] + of["resent"] - of["dropped"])[done]
    return {
        "transfers": float(len(done)),
        "files": float(done.sum()),
        # Files count whole, whether or not a packet of them was lost.
        "files_kbps": 8e-3 * float(of["bytes"][done].sum()) / seconds,
        # What came once more than the file has it: packets are lost before the air only.
        "duplicates_kbps": 8e-3 * SEGMENT * float((arrived - of["bytes"][done] / SEGMENT).clip(min=0).sum()) / seconds,
        "timeouts": float(of["timeouts"].sum()),
        "spurious": float(of["spurious"].sum()),
        "detected": float(of["detected"].sum()),
        "nofeedback": float(of["nofeedback"].sum()),
    }


def users(of: Mapping[str, Array]) -> dict[str, float]:
    """How many mobiles asked for files, and how many have less than the least rate: over all their files, or in the "
    "worst."""
    done = ~np.isnan(of["rate_kbps"])
    slow, worst = 0, 0
    mobiles = np.unique(of["mobile"])
    for mobile in mobiles:
        mine = done & (of["mobile"] == mobile)
        rates, bits = of["rate_kbps"][mine], 8e-3 * of["bytes"][mine]
        slow += not len(rates) or bits.sum() / (bits / rates).sum() < LEAST_KBPS
        worst += not len(rates) or rates.min() < LEAST_KBPS
    return {"users": float(len(mobiles)), "slow_users": float(slow), "users_once_slow": float(worst)}


def _cell(series: Series, end: float) -> dict[str, float]:
    """Slots of the centre cell."""
    cell = f"hsdpa.cell[{CENTRE}]"

    def grown(quantity: str) -> float:
        return series.grown(cell, quantity, WARM_UP, end)

    slots = grown("slots")
    names = [*(f"receivers_{n}" for n in RECEIVERS[:-1]), f"receivers_{RECEIVERS[-1]}_or_more"]
    shares = [grown(name) / slots for name in names]
    return {
        **{f"receivers_{n}": share for n, share in zip(RECEIVERS, shares, strict=True)},
        "one_or_two": sum(shares[1:3]),
        "five_or_more": sum(shares[5:]),
        "used_share": grown("used_slots") / slots,
        "radio_kbps": 8e-3 * grown("bytes") / (end - WARM_UP),
        "failed_share": grown("failed_blocks") / grown("blocks"),
    }


def _mobiles(result: Result, series: Series) -> dict[str, float]:
    """What the centre cell's mobiles got, and how it was shared."""
    flows = dict(zip(result.flows["to"], result.flows["flow"], strict=True))
    of = result.bearers
    here = [place for place, cell in enumerate(of["cell"]) if cell == CENTRE]
    bearers = [str(of["bearer"][place]) for place in here]
    names = [flows[bearer.removesuffix(" down")] for bearer in bearers]
    seconds = result.simulated_s - WARM_UP
    got = np.array([series.mean(name, "goodput_kbps", WARM_UP, result.simulated_s) for name in names])
    again = sum(series.grown(name, "retransmitted_bytes", WARM_UP, result.simulated_s) for name in names)
    spikes = {
        name: sum(series.grown(bearer, name, WARM_UP, result.simulated_s) for bearer in bearers) for name in SPIKES
    }
    return {
        "mobiles": float(len(here)),
        "goodput_kbps": float(got.sum()),
        "retransmitted_kbps": 8e-3 * again / seconds,
        "jain": jain(got),
        "upper_half_share": upper_half(of["sir_db"][here].astype(float), got),
        **spikes,
    }


def upper_half(sir: Array, got: Array) -> float:
    """Which share of the bytes went to the half of the mobiles with the better conditions."""
    if not len(got) or not got.sum():
        return float("nan")
    best_first = got[np.argsort(-sir, kind="stable")]
    half, odd = divmod(len(got), 2)
    upper = best_first[:half].sum() + (best_first[half] / 2 if odd else 0.0)
    return float(upper / got.sum())
