"""What the scheme costs and what its parts are for (§II-B.6, §III-C): waste, counting, adaptations, grafting, state."""

from __future__ import annotations

import math
from collections.abc import Callable

from lasthop.stats import estimate, exact, number
from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Condition, Judgement, above, fact, judged
from lasthop.studies.satellite import experiments
from lasthop.studies.satellite.data import (
    ADAPTATIONS,
    ENDING,
    MISBEHAVING,
    PAIR,
    SCENARIOS,
    STATE,
    WAITING,
    Array,
    Data,
    at_most,
    rewritten,
)
from lasthop.studies.satellite.network import MULTICAST, TCP

__all__ = ["CLAIMS"]

#: How much of what its empty layer is sent a session may waste by chance, and in which share of bins it may be more.
ABOUT, SELDOM = 0.02, 0.01

#: What a pair of hosts may have of a session's rate.
A_SHARE = 1.3


def _waste(data: Data) -> Judgement:
    conditions, said = [], []
    for scenario in experiments.SCENARIOS:
        mean = data.mean(SCENARIOS, "waste_of_bound", scenario=scenario)
        beyond = data.mean(SCENARIOS, "waste_beyond", scenario=scenario)
        conditions += [
            at_most(f"scenario {scenario}, waste of the bound on average", mean, 1 + ABOUT),
            at_most(f"scenario {scenario}, share of time above it", beyond, SELDOM),
        ]
        said.append(f"{number(mean.mean, 2)} of the bound, above it for {number(100 * beyond.mean, 0)} % of the time")
    return judged("; ".join(said), *conditions)


def _waste_before(data: Data) -> Judgement:
    shares = {n: data.mean(SCENARIOS, "waste_over", scenario=n) for n in experiments.SCENARIOS}
    return judged(
        ", ".join(f"above the bound in {number(100 * one.mean, 1)} % of 10 s" for one in shares.values()),
        *(at_most(f"scenario {n}, share of times above it", one, 0.0) for n, one in shares.items()),
    )


def _shares(data: Data) -> dict[str, Array]:
    """What the pair gets of a session's rate, by what counts as a session."""
    return {
        counted: experiments.CONNECTIONS
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
CLAIMS: list[Claim[Data]] = [
    Claim(
        "L17", "III-C",
        "Specifically, the maximum bandwidth that may be wasted by session m at link i is limited to:",
        "What a session wastes above the bottleneck is bounded.",
        "at most its empty layer, and the unused rest of its share of the link",
        "packets of blocked layers that come to the gateway, against what the sources send in a layer for each "
        "session: on average, and the share of 10 s in which they are more than that but once in a thousand by chance. "
        "The rest of a share of the wire, 5 Mbit/s, is larger",
        "up to 1.02 on average, more in at most 1 % of the time",
        "the bound as the paper prints it, for the wire before the gateway; gaps vary by half of themselves, so that a "
        "layer's 62.5 packets in 10 s have a deviation of 2.3",
        _waste, Null("the run with a receiver that takes all layers in the place of the scenarios: it has eight empty "
                     "ones",
                     rewritten(SCENARIOS, _greedy)),
        Former("never above a layer for each session and one packet, over 10 "
               "s", "one packet is less than what the sources' own "
               "gaps make, so that two layers that are always empty break it", _waste_before),
        see="table-robust",
    ),
    Claim(
        "L20", "III-C",
        "this kind of aggregation can prevent a pair of hosts from stealing bandwidth from multicast sessions on a "
        "bottleneck by initializing a large number of TCP sessions.",
        "Counting pairs of addresses keeps a pair of hosts from stealing with many connections.", "prevent",
        "the rate of a pair with 20 connections over a session's, with pairs of addresses counted and with connections",
        "it helps: less than with connections counted, in pairs; and it prevents: up to 1.3 of a session's rate",
        "the first is the least that the sentence says, the second is R_Block and a little",
        _pair, Null("connections counted in the place of addresses: that is what aggregation is to mend",
                    lambda data: data.with_grids({PAIR: data.grid(PAIR).replaced(
                        "sessions", {"addresses": "connections"})})),
        Former("up to 1.3 of a session's "
               "rate", "whether it helps, and whether it helps enough, are two things", _pair_before),
        see="table-robust",
    ),
    Claim(
        "L21", "II-B.6",
        "To avoid various kinds of layer fluctuation, we add the following procedures to adapt our scheme to various "
        "situations",
        "Each of the three adaptations makes layers change less often.", "to avoid fluctuation",
        "changes an hour in scenario 1 without one of them − with all, in pairs", "above 0 for each",
        "that is their purpose; the loop that they are to end is one of a queue in balance",
        _adaptations,
        Null("the run with all of them in the place of each without one: nothing is switched off",
             lambda data: data.with_grids(
                 {ADAPTATIONS: data.grid(ADAPTATIONS).replaced("without", dict.fromkeys(NAMES, "none"))})),
        Former("the same, but slowing down and backing off where TCP ends and multicast has to rise",
               "they were looked at where T_observe decided nothing else; now it holds off releases in phase 2 too",
               _adaptations_before),
        see="table-control",
    ),
    Claim(
        "L22", "III-C",
        "Second, grafting above the bottleneck is not required when an empty layer is released, so the delay in "
        "increasing multicast traffic rate is significantly reduced with maintained empty layers.",
        "An empty layer saves the delay of grafting.", "significantly reduced",
        "the time until the next packet of the layer comes to the gateway, from a release and from a join: what both "
        "share, the queue and the way down, is left out",
        "from a release less than half of from a join", "a graft has to go up first; half is significant",
        _waits("_at_gateway"),
        Null("joins in the place of releases", rewritten(WAITING, _joins)),
        Former("the same, until the first packet is received", "both wait in the same queue then, for most of the time",
               _waits("")),
        see="table-robust",
    ),
    Claim(
        "L23", "III-C",
        "Among them, only the number of session addresses increases with the increase of the number of sessions "
        "passing through the bottleneck. Furthermore, these additional states only need to be maintained in the router "
        "just above the bottleneck.",
        "State grows with sessions only, and is kept at one router.", "one router",
        "bytes of state at the controlled link with 1 to 1000 sessions of each kind, and how many other places have "
        "any",
        "they grow with a power of 0.9 to 1.1 of the number; none", "in proportion to what has to be told apart",
        _state, Null("state for each pair of sessions", rewritten(STATE, _of_pairs)),
        see="table-state",
    ),
]  # fmt: skip
