"""The study `umts-multicast`: its judgements, on made-up numbers."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyarrow as pa
import pytest
from conftest import keeps_its_bands
from lasthop.results import Table
from lasthop.stats import Estimate
from lasthop.studies import claims
from lasthop.studies.claims import NOT_COMPARABLE, REPRODUCED
from lasthop.studies.conditions import FAILS, HOLDS
from lasthop.studies.grid import Numbers
from lasthop.studies.readings import AS_TAKEN, as_taken, singles
from lasthop.studies.umts_multicast import measures, network, scenario
from lasthop.studies.umts_multicast.data import (
    FAIRNESS,
    FREE,
    GN,
    INDICATION,
    PERMANENT,
    REPORTS,
    SCALING,
    SEVERAL,
    STEPS,
    TCP_ALONE,
    TEMPORARY,
    Data,
    up_to_one,
)
from lasthop.studies.umts_multicast.judges import CLAIMS, cost
from lasthop.studies.umts_multicast.judges.fairness import PLACES
from lasthop.studies.umts_multicast.judges.responsiveness import adaptation
from lasthop.studies.umts_multicast.network import FREE_RATE, LEGACY, MODIFIED
from lasthop.studies.umts_multicast.paper import TABLE_II
from lasthop.studies.umts_multicast.readings import QUESTIONS, touched
from lasthop.studies.umts_multicast.scenario import MIXED, PAIRS, SIZES, UNCONTROLLED

CLAIM = {claim.id: claim for claim in CLAIMS}
READINGS = [as_taken(), *singles(QUESTIONS)]
SEEDS = tuple(range(1, 9))

#: What does not differ from seed to seed: shares of all, and state.
EXACT = ("degraded_share", "before_kbps", *measures.COSTS)


# Judgements, on numbers as the paper has them


def numbers(axes, of):
    """A grid in which a point has these numbers, one per cent different from seed to seed."""
    draws = np.random.default_rng(1)
    points = list(Numbers(axes, (0,), {}).points())
    columns = {}
    for point in points:
        for name, value in of(**point).items():
            columns.setdefault(name, []).append(
                list(value * (1 + (0 if name in EXACT else 0.01) * draws.standard_normal(len(SEEDS))))
            )
    shape = [len(values) for values in axes.values()] + [len(SEEDS)]
    return Numbers(axes, SEEDS, {name: np.array(rows, dtype=float).reshape(shape) for name, rows in columns.items()})


def of_fairness(flows, **_):
    mixed = flows == MIXED
    made = {"kbps_0": 178.0 if mixed else 296.0, "kbps_1": 188.0 if mixed else 300.0, "kbps_2": 200.0}
    return {**made, "cov_0": 0.1, "cov_1": 0.2, "cov_2": 0.3, "least_of_most": 0.986}


def of_freed(**_):
    made = {"kbps_0": 380.0, "kbps_1": 110.0, "kbps_2": 110.0}
    return {**made, "cov_0": 0.0, "cov_1": 0.2, "cov_2": 0.3, "least_of_most": 110 / 380}


#: How late each protocol hears of a change of §5.2, and what it sends in each stage.
HEARS_S = {"tcp": 0.4, "pgmcc": 0.8, "tfmcc": 1.7}
STAGE_KBPS = (300.0, 150.0, 220.0)


def of_steps(**_):
    made = {}
    for protocol, late in HEARS_S.items():
        for stage in range(3):
            made[f"kbps_{protocol}_{stage}"] = STAGE_KBPS[stage]
            made[f"cov_{protocol}_{stage}"] = {"tcp": 0.3, "pgmcc": 0.25, "tfmcc": 0.1}[protocol]
            made[f"adaptation_{protocol}_{stage}"] = late + 0.8
            made[f"adaptation_at_ue_{protocol}_{stage}"] = late + 0.8
    return made


def steps(hears=HEARS_S, of=of_steps):
    """§5.2 with the curves of what is sent: each protocol changes its rate so much after a change."""
    grid = numbers({"step": ("loss", "delay")}, of)
    draws = np.random.default_rng(2)
    times = np.arange(1, 1501) / 10
    parts = []
    for step in grid.axes["step"]:
        for seed in SEEDS:
            for protocol, late in hears.items():
                stage = np.searchsorted([50 + late, 100 + late], times, side="right")
                sent = np.array(STAGE_KBPS)[stage] * (1 + 0.01 * draws.standard_normal(len(times)))
                labels = {"step": step, "seed": seed, "flow": protocol}
                columns = {"time_s": times, "kbps": sent, "sent_kbps": sent}
                parts.append(pa.table({**{n: [v] * len(times) for n, v in labels.items()}, **columns}))
    return dataclasses.replace(grid, rows=Table(pa.concat_tables(parts)))


def of_temporary(scheme, ues):
    if scheme == "cbr":
        return {"kbps": 325.0, "changes_per_minute": 0.0, **dict.fromkeys(measures.COSTS, 2.0)}
    changes = {"mod": 1.0, "leg": 20.0}[scheme[:3]]
    counted = dict.fromkeys(measures.COSTS, 2.0)
    return {"kbps": 250 * TABLE_II[scheme][SIZES.index(ues)], "changes_per_minute": changes, **counted}


def of_permanent(scheme, **_):
    cuts = {"mod_tfmcc": 6.0, "mod_pgmcc": 5.0, "cbr": math.nan}.get(scheme, 0.9)
    adapts = {"mod_tfmcc": 6.0, "mod_pgmcc": 5.0}.get(scheme, 1.5)
    return {
        "before_kbps": 384.0,
        "after_kbps": 200.0,
        "sent_after_kbps": 250.0,
        "adaptation_s": adapts,
        "slower_s": adapts,
        "adaptation_at_ue_s": 1.0,
        "first_rejection_s": 3.5 if scheme.startswith("mod") else math.nan,
        "first_cut_s": cuts,
        "degraded_share": 1.0,
        "degraded_share_later": 1.0,
    }


def of_scaling(scheme, queue, rate):
    return {**of_permanent(scheme), "adaptation_s": 2 + queue / 25 + 384 / rate}


def of_telling(**_):
    return {"congestion_losses": 1e5, "radio_losses": 1e5, "missed": 5e3, "blamed": 1e3, "own_off": 0.0}


def of_reports(ues, **_):
    return {
        "reports_per_round": cost.GROUPS[ues - 1],
        "naks": 3.0,
        "lost_packets": 2.0,
        **dict.fromkeys(measures.COSTS, 2.0),
    }


AXES = {
    FAIRNESS: {"where": ("iu", "none", "bearer"), "flows": (*PAIRS, MIXED)},
    GN: {"where": ("gn",), "flows": (*PAIRS, MIXED)},
    FREE: {"where": tuple(PLACES), "flows": UNCONTROLLED},
    TEMPORARY: {"scheme": (*MODIFIED, *LEGACY, FREE_RATE), "ues": SIZES},
    TCP_ALONE: {"scheme": ("tcp",), "ues": (10,)},
    PERMANENT: {"scheme": (*MODIFIED, *LEGACY, "tcp", "cbr")},
    SEVERAL: {"scheme": MODIFIED, "degraded": (3,)},
    SCALING: {"scheme": MODIFIED, "queue": (25, 50), "rate": (384, 192)},
    INDICATION: scenario.CASES,
    REPORTS: {"scheme": (*MODIFIED, *LEGACY), "ues": tuple(n + 1 for n in cost.GROUPS)},
}
OF = {
    FAIRNESS: of_fairness,
    GN: of_fairness,
    FREE: of_freed,
    TEMPORARY: of_temporary,
    PERMANENT: of_permanent,
    SEVERAL: of_permanent,
    SCALING: of_scaling,
    INDICATION: of_telling,
    REPORTS: of_reports,
    TCP_ALONE: lambda **_: {f"kbps_{n}": 250.0 for n in range(scenario.TCP_FLOWS)},
}


def paper(changed=None):
    """The runs of a study in which everything is as the paper says, but for what is given."""
    of = {**OF, **(changed or {})}
    made = {name: numbers(axes, of[name]) for name, axes in AXES.items()}
    return Data("made up", {**made, STEPS: of.get(STEPS) or steps()})


def test_the_paper_reproduces_itself():
    data = paper()
    for claim in CLAIMS:
        made = claims.judge(claim, {AS_TAKEN: data})
        assert made.verdict == REPRODUCED, (claim.id, made.reason)
        assert made.ours != "–", claim.id
        keeps_its_bands("umts-multicast", claim.id, made.readings[AS_TAKEN])


def test_no_null_model_passes():
    data = paper()
    for claim in CLAIMS:
        made = claims.judge(claim, {AS_TAKEN: data})
        # Something that is no different from itself leaves an order open, and never shows it.
        assert made.nulls[AS_TAKEN].state() != HOLDS, (claim.id, made.nulls[AS_TAKEN].ours)
        if claim.id not in ("M6", "M7", "M16"):
            assert made.nulls[AS_TAKEN].state() == FAILS, (claim.id, made.nulls[AS_TAKEN].ours)


def test_a_rate_that_nothing_controls_passed_the_former_level_of_m12():
    data = paper()
    null = CLAIM["M12"].null.of(data)
    assert CLAIM["M12"].former.judge(null).state() == HOLDS
    assert CLAIM["M12"].judge(null).state() != HOLDS


def test_a_rate_that_stays_passed_the_former_band_of_m10():
    null = CLAIM["M10"].null.of(paper())
    assert CLAIM["M10"].former.judge(null).state() == HOLDS
    assert CLAIM["M10"].judge(null).state() == FAILS


def but(of, when=lambda **_: True, **factors):
    """Like ``of``, with some numbers multiplied where ``when`` holds."""

    def made(**point):
        found = of(**point)
        return found | ({name: found[name] * by for name, by in factors.items()} if when(**point) else {})

    return made


def at(**where):
    """Whether a point has these values."""
    return lambda **point: all(point[name] == value for name, value in where.items())


def cases():
    """For each claim numbers that speak against each of its conditions: what fails, and what is changed."""
    pair = {"iu": "Iu", "none": "no wired bottleneck", "gn": "Gn", "bearer": "one bearer for all flows"}
    for id, flows in (("M1", PAIRS[0]), ("M2", PAIRS[1])):
        yield id, "pair, Iu", {FAIRNESS: but(of_fairness, at(flows=flows, where="iu"), least_of_most=0.8)}
    for flows in PAIRS:
        name = network.SCHEMES[flows.partition("+")[0]]
        for where, grid in (("none", FAIRNESS), ("gn", GN)):
            yield (
                "M3",
                f"{name} pair, {pair[where]}",
                {grid: but(of_fairness, at(flows=flows, where=where), least_of_most=0.8)},
            )
        bearer = at(flows=flows, where="bearer")
        yield "M5", f"{name} pair", {FAIRNESS: but(of_fairness, bearer, least_of_most=0.8)}
    for id, where in (("M4", "iu"), ("M5", "bearer")):
        for n, name in enumerate(("TFMCC", "PGMCC")):
            for by in (0.5, 2.0):
                changed = but(of_fairness, at(flows=MIXED, where=where), **{f"kbps_{n}": by})
                yield id, f"{name}/TCP, {pair[where]}", {FAIRNESS: changed}
    for name, place in (("PGMCC", 1), ("TCP", 2)):
        yield "M6", f"5.1: variation of {name}", {FAIRNESS: but(of_fairness, **{f"cov_{place}": 0.1})}
        for stage in range(3):
            of = but(of_steps, **{f"cov_{name.lower()}_{stage}": 0.1})
            yield "M6", f"5.2, stage {stage + 1}: variation of {name}", {STEPS: steps(of=of)}
    yield "M7", "PGMCC − TCP", {STEPS: steps({**HEARS_S, "pgmcc": 3.0, "tfmcc": 5.0})}
    yield "M7", "TFMCC − PGMCC", {STEPS: steps({**HEARS_S, "tfmcc": 0.4})}
    for id, protocol in (("M8", "pgmcc"), ("M8", "tcp"), ("M9", "tfmcc"), *(("M11", one) for one in HEARS_S)):
        yield id, protocol.upper(), {STEPS: steps({**HEARS_S, protocol: 10.0})}
    for protocol in ("tfmcc", "pgmcc"):
        for stage in range(3):
            for by in (0.5, 1.8):
                of = but(of_steps, **{f"kbps_{protocol}_{stage}": by})
                for id in ("M10", "M11"):
                    yield id, f"{protocol.upper()}/TCP in stage {stage + 1}", {STEPS: steps(of=of)}
    for scheme in MODIFIED:
        name = network.SCHEMES[scheme]
        for ues in (1, 30, 100):
            mine = at(scheme=scheme, ues=ues)
            for by in (0.6, 1.6):
                yield "M12", f"{name}/TCP with {ues}", {TEMPORARY: but(of_temporary, mine, kbps=by)}
                yield "M13", f"{name} with {ues}", {TEMPORARY: but(of_temporary, mine, kbps=by)}
        yield "M16", f"× {name} with 10", {TEMPORARY: but(of_temporary, at(scheme=scheme), changes_per_minute=15.0)}
        yield "M18", f"{name}, of the bearer's rate", {PERMANENT: but(of_permanent, at(scheme=scheme), before_kbps=0.9)}
        for by in (0.5, 4.0):
            yield "M19", f"{name}: cut", {PERMANENT: but(of_permanent, at(scheme=scheme), first_cut_s=by)}
        for by in (0.3, 3.0):
            yield "M20", f"{name} cuts after", {PERMANENT: but(of_permanent, at(scheme=scheme), first_cut_s=by)}
        at_once = but(of_permanent, at(scheme=scheme), first_cut_s=0.1)
        yield "M20", f"{name} − TCP", {PERMANENT: at_once}
        yield "M21", f"{name}, share", {SEVERAL: but(of_permanent, at(scheme=scheme), degraded_share=0.9)}
    yield (
        "M12",
        "MOD_TFMCC − MOD_PGMCC, over TCP, with 15",
        {TEMPORARY: but(of_temporary, at(scheme="mod_tfmcc", ues=15), kbps=0.9)},
    )
    for scheme in LEGACY:
        name = network.SCHEMES[scheme]
        yield "M14", f"{name}: 100 over 1", {TEMPORARY: but(of_temporary, at(scheme=scheme, ues=100), kbps=1.7)}
        yield (
            "M14",
            f"rise of {name}".replace("rise", "fall"),
            {TEMPORARY: but(of_temporary, at(scheme=scheme, ues=10), kbps=1.35)},
        )
        yield "M14", f"− {name} with 3", {TEMPORARY: but(of_temporary, at(scheme=scheme, ues=3), kbps=1.6)}
        for ues, by in ((1, 0.7), (1, 1.3), (100, 0.6), (100, 1.8)):
            yield "M15", f"{name}/TCP with {ues}", {TEMPORARY: but(of_temporary, at(scheme=scheme, ues=ues), kbps=by)}
    for id in ("M19", "M20"):
        yield id, "TCP cuts after", {PERMANENT: but(of_permanent, at(scheme="tcp"), first_cut_s=3.0)}
    for radio in scenario.RADIO_LOSSES:
        for what, by in (("missed", 4.0), ("blamed", 20.0)):
            name = "congestion" if what == "missed" else "radio"
            changed = but(of_telling, at(rule="edge", radio=radio), **{what: by})
            yield "M17", f"{name} recognised, {100 * radio:g} %", {INDICATION: changed}
    for counter, word in cost.COUNTERS.items():
        for scheme in MODIFIED:
            more = but(of_reports, at(scheme=scheme), **{counter: 2.0})
            yield "M22", f"{network.SCHEMES[scheme]}, {word}", {REPORTS: more}
    for others in cost.GROUPS:
        for by in (0.7, 1.4):
            yield "M22", f"a round of {others}", {REPORTS: but(of_reports, at(ues=others + 1), reports_per_round=by)}


CASES = list(cases())


@pytest.mark.parametrize(("id", "what", "changed"), CASES, ids=[f"{id} {what}" for id, what, _ in CASES])
def test_each_condition_can_fail(id, what, changed):
    judgement = CLAIM[id].judge(paper(changed))
    failing = [one.what for one in judgement.conditions if one.state() == FAILS]
    assert judgement.state() == FAILS and judgement.reason
    assert [one for one in failing if what in one], failing


def test_every_condition_has_numbers_against_it():
    """All that a judge asks for is in some case above; M12 to M14 and M16 ask the same of many sizes."""
    data = paper()
    for claim in CLAIMS:
        said = [what for id, what, _ in CASES if id == claim.id]
        asked = [one.what for one in claim.judge(data).conditions]
        left = [one for one in asked if not any(what in one for what in said)]
        assert not left or claim.id in ("M12", "M13", "M14", "M16"), (claim.id, left)


def test_every_claim_says_what_it_asks():
    assert [claim.id for claim in CLAIMS] == [f"M{n}" for n in range(1, 23)]
    for claim in CLAIMS:
        for text in (claim.sentence, claim.statement, claim.paper, claim.measure, claim.band, claim.why, claim.see):
            assert text, claim.id
        assert claim.null.about
        if claim.former:
            assert claim.former.band and claim.former.why
            assert claim.former.judge(paper()).conditions


def test_what_was_not_run_is_said():
    for claim in CLAIMS:
        made = claims.judge(claim, {AS_TAKEN: Data("a", {})})
        assert made.verdict == NOT_COMPARABLE and "not" in made.missing


def test_a_share_stays_below_one():
    assert up_to_one(Estimate(0.81, 0.41, 3)) == "0.810 [0.400, 1]"


def test_a_mean_curve_adapts_where_single_runs_swing():
    """Each run swings by half its mean, at a time of its own: none settles, their mean does."""
    draws = np.random.default_rng(3)
    times = np.arange(1, 1501) / 10
    level = np.array(STAGE_KBPS)[np.searchsorted([50.5, 100.5], times, side="right")]
    runs = [level * (1 + 0.5 * np.sin(2 * np.pi * (times / 2 + draws.uniform()))) for _ in range(60)]
    parts = [
        pa.table(
            {"step": ["loss"] * 1500, "flow": [flow] * 1500, "seed": [n + 1] * 1500, "time_s": times, "sent_kbps": one}
        )
        for n, one in enumerate(runs)
        for flow in HEARS_S
    ]
    grid = Numbers({"step": ("loss",)}, tuple(range(1, 61)), {}, Table(pa.concat_tables(parts)))
    assert math.isnan(measures.adaptation(times, runs[0], 50.0, 100.0))
    assert adaptation(Data("a", {STEPS: grid}), "loss", "tcp").mean == pytest.approx(1.3, abs=0.5)


def test_a_claim_that_an_answer_does_not_touch_is_not_judged_again():
    data = paper()
    constant = next(one for one in READINGS if one.name == "C = 0.6")
    made = {AS_TAKEN: data, constant.name: Data(constant.name, data.grids, touches=touched(constant))}
    assert constant.name not in claims.judge(CLAIM["M17"], made).readings
    assert constant.name in claims.judge(CLAIM["M12"], made).readings
