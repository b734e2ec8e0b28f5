"""Whether both loads give the same (§IV)."""

from __future__ import annotations

from lasthop.stats import Estimate
from lasthop.studies.claims import Claim, Judgement, verdict
from lasthop.studies.hsdpa.availability import concentration, more_with_sir
from lasthop.studies.hsdpa.data import Data
from lasthop.studies.hsdpa.rates import faster_with_sir, small_slower_with_sir
from lasthop.studies.hsdpa.timeouts import more_timeouts

__all__ = ["ALIKE"]

#: The differences behind the claims whose signs are compared.
SIGNS = {
    "H5": more_timeouts,
    "H9": concentration,
    "H10": more_with_sir,
    "H11": faster_with_sir,
    "H13": small_slower_with_sir,
}


def _alike(data: Data) -> Judgement:
    values: dict[str, Estimate] = {}
    outside, counted, decided = [], 0, 0
    for claim, of in SIGNS.items():
        at_50, at_65 = of(data, 50), of(data, 65)
        for name in at_50.keys() & at_65.keys():
            one, other = at_50[name], at_65[name]
            counted += 1
            if not (one.excludes(0) or other.excludes(0)):
                continue
            decided += 1
            values |= {f"{claim} {name}, 50": one, f"{claim} {name}, 65": other}
            if one.mean * other.mean < 0:
                outside.append(f"{claim}, {name}: {one} at 50 mobiles, {other} at 65")
    values = dict(sorted(values.items()))
    ours = f"{decided - len(outside)} of {decided} differences have the same sign; {counted - decided} more may be 0"
    return verdict(sorted(outside), ours, {_plain(name): one for name, one in values.items()})


def _plain(name: str) -> str:
    return name.replace(" ", "_").replace("−", "minus")


ALIKE: Claim[Data] = Claim(
    "H15", "IV", "In most cases the results of both loads are similar", "similar",
    "the differences behind H5, H9, H10, H11 and H13 have the same signs at 50 and 65 mobiles, wherever one of them is "
    "more than chance", "\"similar\" is read as: no conclusion changes", _alike, see="table-scenarios",
)  # fmt: skip
