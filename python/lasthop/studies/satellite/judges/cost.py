"""What the scheme costs and what its parts are for (§II-B.6, §III-C): waste, counting, adaptations, grafting, state."""

from __future__ import annotations

import math
from collections.abc import Callable

from lasthop.stats import estimate, exact, number
from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Condition, Judgement, above, at_most, fact, judged
from lasthop.studies.grid import Array
from lasthop.studies.nulls import another, rewritten

from ..data import ADAPTATIONS, ENDING, MISBEHAVING, PAIR, SCENARIOS, STATE, WAITING, Data
from ..network import MULTICAST, TCP
from ..scenario import BEGINNINGS, CONNECTIONS

#: How much of what its empty layer is sent a session may waste by chance, and in which share of bins it may be more.
ABOUT, SELDOM = 0.02, 0.01

#: What a pair of hosts may have of a session's rate.
A_SHARE = 1.3


def _waste(data: Data) -> Judgement:
    conditions, said = [], []
    for scenario in BEGINNINGS:
        mean = data.mean(SCENARIOS, "waste_of_bound", scenario=scenario)
        beyond = data.mean(SCENARIOS, "waste_beyond", scenario=scenario)
        conditions += [
            at_most(f"scenario {scenario}, waste of the bound on average", mean, 1 + ABOUT),
            at_most(f"scenario {scenario}, share of time above it", beyond, SELDOM),
        ]
        said.append(f"{number(mean.mean, 2)} of the bound, above it for {number(100 * beyond.mean, 0)} % of the time")
    return judged("; ".join(said), *conditions)


def _waste_before(data: Data) -> Judgement:
    shares = {n: data.mean(SCENARIOS, "waste_over", scenario=n) for n in BEGINNINGS}
    return judged(
        ", ".join(f"above the bound in {number(100 * one.mean, 1)} % of 10 s" for one in shares.values()),
        *(at_most(f"scenario {n}, share of times above it", one, 0.0) for n, one in shares.items()),
    )


def _shares(data: Data) -> dict[str, Array]:
    """What the pair gets of a session's rate, by what counts as a session."""
    return {
        counted: CONNECTIONS
        * data.at(PAIR, f"kbytes {TCP}", sessions=counted)
        / data.at(PAIR, f"kbytes {MULTICAST}", sessions=counted)
        for counted in ("connections", "addresses")
    }


def _pair(data: Data) -> Judgement:
    shares = _shares(data)
    means = {counted: estimate(one) for counted, one in shares.items()}
    return judged(
        f"the pair gets {means['addresses']} of a session's rate, {means['connections']} if connections count",
        above("the pair's share, connections − addresses", estimate(shares["connections"] - shares["addresses"])),
        at_most("the pair's share of a session's rate, addresses", means["addresses"], A_SHARE),
    )


def _pair_before(data: Data) -> Judgement:
    share = estimate(_shares(data)["addresses"])
    return judged(f"the pair gets {share}", at_most("the pair's share", share, A_SHARE))


NAMES = ("slowing down", "backing off", "blocking late")


def _often(data: Data, name: str, grid: str = ADAPTATIONS) -> Array:
    return data.at(grid, "changes_per_h", without=name)


def _adaptations(data: Data) -> Judgement:
    def said(name: str) -> str:
        return f"{number(float(_often(data, name).mean()), 0)} without {'one' if name == 'none' else name}"

    return judged(
        f"{number(float(_often(data, 'none').mean()), 0)} changes an hour with all; "
        + ", ".join(said(name) for name in NAMES),
        *(
            above(f"changes an hour, without {name} − with", estimate(_often(data, name) - _often(data, "none")))
            for name in NAMES
        ),
        without_all=estimate(_often(data, "all")),
    )


def _adaptations_before(data: Data) -> Judgement:
    where = {"slowing down": ENDING, "backing off": ENDING, "blocking late": ADAPTATIONS}
    differences = {
        name: estimate(_often(data, name, grid) - _often(data, "none", grid)) for name, grid in where.items()
    }
    return judged(
        ", ".join(f"{one} without {name}" for name, one in differences.items()),
        *(above(f"changes an hour, without {name} − with", one) for name, one in differences.items()),
    )


def _waits(of: str) -> Callable[[Data], Judgement]:
    def judge(data: Data) -> Judgement:
        release, join = (data.at(WAITING, f"{name}{of}") for name in ("release_ms", "join_ms"))
        return judged(
            f"{number(float(release.mean()), 0)} ms from a release, {number(float(join.mean()), 0)} ms from a join",
            at_most("from a release, of from a join", estimate(release / join), 0.5),
        )

    return judge


def _state(data: Data) -> Judgement:
    numbers = data.grid(STATE)
    counts = numbers.axes["sessions"]
    sizes = [float(numbers.at("state_bytes", sessions=n)[0]) for n in counts]
    work = [float(numbers.at("additions_in", sessions=n)[0]) for n in counts]
    others = max(float(numbers.at("other_places", sessions=n)[0]) for n in counts)
    power = exact(math.log(sizes[-1] / sizes[0]) / math.log(counts[-1] / counts[0]))
    return judged(
        f"{', '.join(number(size, 0) for size in sizes)} B and {', '.join(number(one, 1) for one in work)} additions a "
        f"packet with {', '.join(map(str, counts))} sessions of each kind",
        Condition("power of the number of sessions with which state grows", power, 0.9, 1.1),
        fact("no other place has state", others == 0),
    )


def _of_pairs(data: Data) -> dict[str, Array]:
    return {"state_bytes": data.grid(STATE).values["state_bytes"] ** 2}


def _joins(data: Data) -> dict[str, Array]:
    return {"release_ms_at_gateway": data.grid(WAITING).values["join_ms_at_gateway"]}


def _greedy(data: Data) -> dict[str, Array]:
    return {name: data.at(MISBEHAVING, name, second="misbehaves") for name in ("waste_of_bound", "waste_beyond")}


#: L17 and L20 to L23.


def _why_waste(data: Data) -> str:
    blocks = data.mean(SCENARIOS, "blocks_per_h", scenario=1).mean
    greedy = data.mean(MISBEHAVING, "waste_of_bound", second="misbehaves").mean
    return (
        "a block leaves a session with two empty layers until its receiver has seen it and the last router stops, and "
        f"there are {number(blocks, 0)} blocks an hour; a receiver that takes all layers makes it {number(greedy, 1)} "
        "times the bound"
    )


def _why_pair(data: Data) -> str:
    share = 100 * data.mean(PAIR, "phase_3", sessions="addresses").mean
    rate = data.mean(PAIR, f"kbytes {TCP}", sessions="addresses").mean
    return (
        f"twenty connections at {number(rate, 1)} kB/s each keep the queue above its second threshold for "
        f"{number(share, 0)} % of the time, where the scheme may block and does not release"
    )


def _why_graft(data: Data) -> str:
    release, join = (data.mean(WAITING, f"{name}_ms_at_gateway").mean for name in ("release", "join"))
    return (
        f"both wait for the layer's next packet; the graft itself is the {number(join - release, 0)} ms between them, "
        "the way up over the satellites"
    )


JUDGES: Judges[Data] = {
    "L17": Judge(_waste, null=rewritten(SCENARIOS, _greedy), former=_waste_before, cause=_why_waste),
    "L20": Judge(
        _pair,
        null=another(PAIR, "sessions", {"addresses": "connections"}),
        former=_pair_before,
        cause=_why_pair,
    ),
    "L21": Judge(
        _adaptations,
        null=another(ADAPTATIONS, "without", dict.fromkeys(NAMES, "none")),
        former=_adaptations_before,
    ),
    "L22": Judge(_waits("_at_gateway"), null=rewritten(WAITING, _joins), former=_waits(""), cause=_why_graft),
    "L23": Judge(_state, null=rewritten(STATE, _of_pairs)),
}
