"""The judges of the study `hsdpa`: numbers at which each claim holds, fails, and is not told from its null model."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from conftest import keeps_its_bands
from lasthop.results import Table
from lasthop.studies import claims
from lasthop.studies.conditions import FAILS, HOLDS, OPEN
from lasthop.studies.grid import Numbers
from lasthop.studies.hsdpa.data import FIRST, MAIN, Data
from lasthop.studies.hsdpa.judges import CLAIMS
from lasthop.studies.hsdpa.readings import REVERSED_AT, TAKEN_UP
from lasthop.studies.hsdpa.scenario import LARGE, LOADS, MEDIUM, PROTOCOLS, SCHEDULERS, SIZES, SMALL
from lasthop.studies.readings import AS_TAKEN

CLAIM = {claim.id: claim for claim in CLAIMS}
NOISE = np.array([-1.0, 0.0, 1.0, 0.5, -0.5])
AXES = {"protocol": tuple(PROTOCOLS), "scheduler": tuple(SCHEDULERS), "ues": LOADS}


# Judgements, on numbers as the paper has them


def sir(scheduler):
    return scheduler == "max_sir"


def of_size(size, protocol, scheduler, ues):
    """Sums over a hundred transfers of a size."""
    large, tcp = size in LARGE, protocol == "tcp"
    timeouts = (100 if sir(scheduler) else 50) if tcp and size not in SMALL else 0
    spurious = timeouts * (0.7 if sir(scheduler) else 0.1)
    events = {MEDIUM: 15 if tcp else 20, LARGE[0]: 60 if tcp else 40, LARGE[1]: 80 if tcp else 120}.get(size, 0)
    rate = 45 if size == SIZES[0] else 10 * math.sqrt(size) * (1.5 if sir(scheduler) else 1)
    return {
        "transfers": 100,
        "finished": 100,
        "rate_kbps": 100 * rate * (1 if tcp else 1.05),
        "timeouts": timeouts,
        "spurious": spurious,
        "nofeedback": 3 if not tcp and sir(scheduler) and large else 0,
        "events": events,
        "dropped": 10 * (events + timeouts - spurious),
        "lossy": 20 if size == MEDIUM else 100 if large else 0,
        "above_mild": {MEDIUM: 1, LARGE[0]: 60, LARGE[1]: 2 if sir(scheduler) and ues == 65 else 0}.get(size, 0),
        "above_high": 15 if size == LARGE[0] else 0,
    }


def of_run(protocol, scheduler, ues):
    """What a run has once."""
    each = [of_size(size, protocol, scheduler, ues) for size in SIZES]
    more = 0.05 if protocol == "tfrc" else 0.0
    load = {("round_robin", 50): 2.2, ("round_robin", 65): 2.5, ("max_sir", 50): 2.9, ("max_sir", 65): 3.3}
    goodput = 1000 * (load[scheduler, ues] + more)
    return {
        **{name: sum(one[name] for one in each) for name in ("timeouts", "spurious", "nofeedback")},
        "transfers": goodput / 3,
        "receivers_0": 0.05,
        "one_or_two": 0.6 if sir(scheduler) else 0.4,
        "five_or_more": 0.1 if sir(scheduler) else 0.3,
        "files": goodput / 4,
        "files_kbps": goodput,
        "duplicates_kbps": 20.0 if protocol == "tcp" else 0.0,
        "goodput_kbps": goodput,
        "retransmitted_kbps": 55.0 if protocol == "tcp" else 0.0,
        "jain": 0.6 if sir(scheduler) else 0.8,
        "upper_half_share": 0.75 if sir(scheduler) else 0.6,
        "users": 60,
        "slow_users": 1 if sir(scheduler) else 0,
        "users_once_slow": 20,
    }


def rates(size, scheduler, **_):
    """Rates of twenty transfers of a size, two of which are slow."""
    usual = 10 * math.sqrt(size)
    slow = (40 if sir(scheduler) else 48) if size == SIZES[0] else usual / 2
    return [slow] * 2 + [usual] * 18


BOTH = {"tcp": 1000.0, "tfrc": 1000.0}
BURSTS = {"events": {"tcp": 100.0, "tfrc": 100.0}, "events_apart": {"tcp": 400.0, "tfrc": 400.0}}


def paper(
    of_size=of_size,
    of_run=of_run,
    rates=rates,
    before=None,
    bursts=None,
    axes=AXES,
    noise=0.1,
    reversed_at=LARGE[0],
    taken_up="retransmitted_kbps",
):
    """The runs of a study in which everything is as the paper says, but for what is given."""
    points = list(Numbers(axes, (0,), {}).points())
    shape = [len(values) for values in axes.values()]
    columns = {}
    for point in points:
        for name, value in of_run(**point).items():
            columns.setdefault(name, []).append(value)
        for size in SIZES:
            for name, value in of_size(size, **point).items():
                columns.setdefault(f"{name}_{size}", []).append(value)
    shares = ("one_or_two", "five_or_more", "receivers_0", "jain", "upper_half_share")
    values = {
        name: np.array(column, dtype=float).reshape(*shape, 1) * (1 + (0 if name in shares else noise) * NOISE)
        for name, column in columns.items()
    }
    rows = [
        {**point, "seed": seed, "bytes": float(size), "rate_kbps": rate * (1 + 0.01 * NOISE[seed])}
        for point in points
        for seed in range(len(NOISE))
        for size in SIZES
        for rate in rates(size, **point)
    ]
    grids = {MAIN: Numbers(axes, tuple(range(len(NOISE))), values, Table(pa.Table.from_pylist(rows)))}
    first = {name: axes[name] for name in ("protocol", "scheduler")} | {"ues": (65,)}
    before = before or {"tcp": 300.0, "tfrc": 400.0}
    packets = {
        name: np.array([[[number + 0.02 * number * NOISE] for _ in SCHEDULERS] for number in (of["tcp"], of["tfrc"])])
        for name, of in {"before_first_loss": before, **dict.fromkeys(("lost",), BOTH), **(bursts or BURSTS)}.items()
    }
    grids[FIRST] = Numbers(first, tuple(range(len(NOISE))), packets)
    return Data("made up", grids, {REVERSED_AT: reversed_at, TAKEN_UP: taken_up})


def judged(id, data):
    judgement = CLAIM[id].judge(data)
    return judgement.state(), judgement.reason


def test_the_paper_reproduces_itself():
    data = paper()
    for claim in CLAIMS:
        judgement = CLAIM[claim.id].judge(data)
        assert judgement.state() == HOLDS, (claim.id, judgement.reason)
        keeps_its_bands("hsdpa", claim.id, judgement)


def test_no_judge_lets_its_null_model_pass():
    data = paper()
    for claim in CLAIMS:
        assert claim.judge(claim.null.of(data)).state() != HOLDS, (claim.id, claim.null.about)


def test_the_paper_passes_the_former_judges_too():
    data = paper()
    formers = [claim for claim in CLAIMS if claim.former]
    assert len(formers) > 5
    for claim in formers:
        former = claim.former.judge(data)
        assert former.state() == HOLDS, (claim.id, former.reason)


def changed(of, when=lambda *_: True, **changes):
    """Like ``of``, with some of its numbers multiplied where ``when`` holds."""

    def made(*args, **point):
        numbers = of(*args, **point)
        where = {**point, "size": args[0] if args else None}
        return numbers | {name: numbers[name] * by for name, by in changes.items() if when(where)}

    return made


def with_rr(where):
    return where["scheduler"] == "round_robin"


def with_sir(where):
    return sir(where["scheduler"])


def with_tfrc(where):
    return where["protocol"] == "tfrc"


def with_tcp(where):
    return where["protocol"] == "tcp"


def at_50(where):
    return where["ues"] == 50


def of_rate(small_sir=40.0, small_rr=48.0, long=None):
    """Rates with these lowest ones of the smallest size, and perhaps of the larger ones."""

    def made(size, scheduler, **_):
        usual = 10 * math.sqrt(size)
        slow = usual / 2 if long is None or size in SMALL else long
        return [(small_sir if sir(scheduler) else small_rr) if size == SIZES[0] else slow] * 2 + [usual] * 18

    return made


#: For each claim numbers that speak against it: one case for each kind of condition that it has.
AGAINST = [
    ("H1", {"of_size": lambda size, **point: of_size(size, **point) | {"lossy": 2}}),
    ("H2", {"of_size": changed(of_size, lossy=2.0)}),
    ("H2", {"of_size": changed(of_size, above_mild=5.0)}),
    ("H3", {"of_size": changed(of_size, above_high=3.0)}),
    ("H3", {"of_size": changed(of_size, lossy=0.8)}),
    ("H4", {"of_size": changed(of_size, above_mild=5.0)}),
    ("H5", {"of_size": changed(of_size, timeouts=4.0, when=with_rr)}),
    ("H5", {"of_size": changed(of_size, timeouts=4.0, when=lambda w: with_rr(w) and w["size"] == MEDIUM)}),
    ("H6", {"of_run": changed(of_run, spurious=0.5)}),
    ("H6", {"of_run": changed(of_run, spurious=1.4)}),
    ("H7", {"of_size": changed(of_size, nofeedback=20)}),
    ("H7", {"of_run": lambda **point: of_run(**point) | {"nofeedback": 1.0}}),
    ("H8", {"of_size": changed(of_size, events=4.0, when=with_tfrc)}),
    ("H8", {"of_size": changed(of_size, events=0.5, when=with_tfrc)}),
    ("H9", {"of_run": changed(of_run, one_or_two=2.0, when=with_rr)}),
    ("H9", {"of_run": changed(of_run, five_or_more=0.2, when=with_rr)}),
    ("H9", {"of_run": changed(of_run, receivers_0=5.0, when=with_tfrc)}),
    ("H10", {"of_run": changed(of_run, goodput_kbps=1.3, when=lambda w: at_50(w) and with_sir(w))}),
    ("H10", {"of_run": changed(of_run, files=0.5, when=with_sir)}),
    ("H10", {"of_run": changed(of_run, goodput_kbps=0.5, when=lambda w: with_tfrc(w) and with_sir(w))}),
    ("H11", {"of_size": changed(of_size, rate_kbps=1.2, when=with_tfrc)}),
    ("H11", {"of_size": changed(of_size, rate_kbps=0.6, when=with_sir)}),
    ("H11", {"of_size": changed(of_size, rate_kbps=0.68, when=with_sir)}),
    ("H12", {"of_run": changed(of_run, slow_users=10.0)}),
    ("H13", {"rates": of_rate(long=10.0)}),
    ("H13", {"rates": of_rate(small_sir=60.0, small_rr=70.0)}),
    ("H13", {"rates": of_rate(small_sir=48.0, small_rr=40.0)}),
    ("H14", {"of_run": changed(of_run, files_kbps=0.9, when=with_tfrc)}),
    ("H15", {"of_size": changed(of_size, rate_kbps=0.2, timeouts=0.2, when=lambda w: at_50(w) and with_sir(w))}),
    ("H16", {"of_run": changed(of_run, jain=0.5, when=with_rr)}),
    ("H17", {"of_run": changed(of_run, upper_half_share=1.5, when=with_rr)}),
    ("H18", {"bursts": {**BURSTS, "events": {"tcp": 100.0, "tfrc": 300.0}}}),
    ("H19", {"before": {"tcp": 400.0, "tfrc": 300.0}}),
    ("H20", {"of_run": changed(of_run, retransmitted_kbps=0.2)}),
    ("H20", {"of_run": changed(of_run, retransmitted_kbps=5.0)}),
    ("H21", {"rates": of_rate(small_sir=48.0, small_rr=40.0)}),
    ("H21", {"of_run": changed(of_run, transfers=2.0, when=with_rr)}),
    ("H22", {"of_run": changed(of_run, spurious=9.0, when=with_rr)}),
    ("H22", {"of_run": changed(of_run, spurious=10.0, timeouts=10.0, when=with_rr)}),
]  # fmt: skip


@pytest.mark.parametrize(("id", "numbers"), AGAINST)
def test_what_speaks_against_a_claim_is_said(id, numbers):
    state, reason = judged(id, paper(**numbers))
    assert state == FAILS and reason


def test_every_claim_can_fail():
    assert {id for id, _ in AGAINST} == set(CLAIM)


def test_which_size_is_reversed_is_a_question():
    both = changed(of_size, events=2.0, when=lambda w: with_tfrc(w) and w["size"] == LARGE[0])
    fewer = changed(both, events=0.5, when=lambda w: with_tfrc(w) and w["size"] == MEDIUM)
    assert judged("H8", paper(of_size=fewer))[0] == FAILS
    assert judged("H8", paper(of_size=fewer, reversed_at=MEDIUM))[0] == HOLDS


def test_what_takes_up_capacity_is_a_question():
    assert judged("H20", paper(taken_up="duplicates_kbps"))[0] == FAILS


def test_what_may_be_chance_decides_nothing():
    # RR and SIR alike, but for noise that is not common to both.
    data = paper()
    grid = data.main
    jain = np.full((2, 2, 2, len(NOISE)), 0.7)
    jain[:, 1] += 0.01 * NOISE
    other = data.with_grids({MAIN: replace(grid, values={**grid.values, "jain": jain})})
    state, reason = judged("H16", other)
    assert state == OPEN and "it would take" in reason


def test_a_reading_with_one_load_leaves_some_claims_out():
    one = paper(axes={**AXES, "ues": (65,)})
    held = {claim.id: claims.judge(claim, {AS_TAKEN: one}) for claim in CLAIMS}
    assert {id for id, made in held.items() if made.missing} == {"H10", "H15"}
    assert all(made.verdict == claims.REPRODUCED for id, made in held.items() if id not in ("H10", "H15"))


def test_every_claim_says_what_it_is():
    for claim in CLAIMS:
        assert claim.see.startswith(("figure-", "table-")), claim.id
        said = (claim.sentence, claim.statement, claim.paper, claim.measure, claim.band, claim.why, claim.null.about)
        assert all(said), claim.id
        if claim.former:
            assert claim.former.band and claim.former.why


def test_causes_take_their_figures_from_the_runs():
    data = paper()
    for claim in CLAIMS:
        cause = claim.cause(data) if callable(claim.cause) else claim.cause
        assert callable(claim.cause) or not any(digit in cause for digit in "0123456789"), claim.id
