"""The claims of the study `handover`: what judges accept and refuse, and that they see through null models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from conftest import keeps_its_bands
from lasthop.studies.conditions import FAILS, HOLDS
from lasthop.studies.handover.data import Data
from lasthop.studies.handover.judges import CLAIMS, grading
from lasthop.studies.handover.measures.crowd import Crowd
from lasthop.studies.handover.measures.grades import Parts
from lasthop.studies.handover.measures.scalability import Counters
from lasthop.studies.handover.measures.table_1 import MECHANISMS
from lasthop.studies.handover.measures.trace import Trace
from lasthop.studies.handover.paper import TABLE_1
from lasthop.studies.handover.readings import FAST, QUESTIONS, SLOW, Taken, taken
from lasthop.studies.handover.scenario import END, HANDOVERS
from lasthop.studies.readings import singles

DOWN, UP = HANDOVERS

BY_ID = {claim.id: claim for claim in CLAIMS}

#: Packets from one long interval to the next.
PERIOD = 60


def arrivals(begin, end, rate, ratio=1.0):
    """Packets at this rate; one interval in sixty is ``ratio`` times as long as the others."""
    count = int((end - begin) * rate)
    intervals = np.where(np.arange(count) % PERIOD == PERIOD - 1, ratio, 1.0)
    times = begin + np.cumsum(intervals) * PERIOD / (PERIOD - 1 + ratio) / rate
    return times[times < end]


def made(
    start_s,
    *,
    wlan=1.0,
    back=1.0,
    wlan_ratio=1.0,
    umts_ratio=1.0,
    gaps=(0.15, 0.15),
    queue=1000.0,
    dropped=0,
    excess=0,
    slow_start=0.0,
):
    """One flow: shares of WLAN before and after, gaps at the handovers, bytes queued, drops and packets sent too many
    after 10 s, and the share of the drops that were sent in slow start."""
    parts = [
        arrivals(start_s, DOWN, wlan * FAST, wlan_ratio),
        arrivals(DOWN + gaps[0], UP, SLOW, umts_ratio),
        arrivals(UP + gaps[1], END, back * FAST, wlan_ratio),
    ]
    received = np.concatenate(parts)
    # Little's law; one packet in fifty waits for nothing.
    waits = np.concatenate([np.full(len(part), queue / 1000 * (here[1] - here[0]) / len(part))
                            for part, here in zip(parts, ((0, DOWN), (DOWN, UP), (UP, END)), strict=True)])  # fmt: skip
    waits[::50] = 0
    return Trace(
        start_s,
        received,
        transit_s=0.1 + waits,
        # UMTS carries 96 packets in two seconds.
        sent_s=np.linspace(DOWN, DOWN + 1.9, 96 + excess),
        dropped_s=np.full(dropped, DOWN + 1.0),
        in_slow_start=np.arange(dropped) < slow_start * dropped,
        windows=(64.0, 24.0),
    )


#: Made-up flows in which each claim holds.
GOOD = {
    "reno": {
        "dropped": 30,
        "slow_start": 0.8,
        "excess": 10,
        "back": 0.9,
        "wlan_ratio": 5.0,
        "umts_ratio": 5.0,
        "queue": 10_000.0,
    },
    "tfrc": {"dropped": 90, "excess": 125, "back": 0.2},
    "xcp": {},
    "ewa": {},
    "tfrc-rfc": {"dropped": 130, "back": 0.2},
    "tfrc-notified": {"dropped": 77, "back": 0.7},
    "xcp-late": {"dropped": 300},
    "xcp-stale": {"dropped": 900},
    "xcp-measured": {"back": 0.95},
    "ewa-asymmetric": {"back": 0.8},
    "reno-asymmetric": {"back": 0.8},
}

#: Packets of signalling after either handover, and the longest gap in seconds.
CROWDS = {"intserv": (7, 0.3), "diffserv": (12, 0.002), "swan": (6, 0.0), "none": (0, 0.0)}

PARTS = {
    "intserv": Parts(hosts=True, bottleneck=True, elsewhere=True, per_flow=True),
    "diffserv": Parts(hosts=False, bottleneck=True, elsewhere=True, per_flow=False),
    "swan": Parts(hosts=True, bottleneck=True, elsewhere=True, per_flow=False),
    "xcp": Parts(hosts=True, bottleneck=True, elsewhere=True, per_flow=False),
    "ewa": Parts(hosts=False, bottleneck=True, elsewhere=False, per_flow=False),
    "tfrc": Parts(hosts=True, bottleneck=False, elsewhere=False, per_flow=False),
    "reno": Parts(hosts=False, bottleneck=False, elsewhere=False, per_flow=False),
}

#: Operations of XCP per packet: with the header that has the window, and with that of ns-2.
OPERATIONS = {
    "window_header_additions_in": 3.0,
    "window_header_multiplications_in": 3.0,
    "window_header_multiplications_out": 4.0,
    "window_header_additions_out": 6.0,
    "additions_in": 3.0,
    "multiplications_in": 1.0,
    "multiplications_out": 2.0,
    "additions_out": 6.0,
}

STARTS = (0.1, 0.35, 0.6, 0.85)


def data(changes=None, crowds=None, parts=None, operations=None):
    """Made-up runs; what is changed of the good ones is named."""
    flows = {key: {**how, **(changes or {}).get(key, {})} for key, how in GOOD.items()}
    runs = {key: [made(start, **how) for start in STARTS] for key, how in flows.items()}
    runs["newreno"] = [made(start, **{**flows["reno"], **(changes or {}).get("newreno", {})}) for start in STARTS]
    one = runs["xcp"][0]
    among = {
        key: [Crowd(one, one, (signals, signals), gap_s, 0.0)] * len(STARTS)
        for key, (signals, gap_s) in {**CROWDS, **(crowds or {})}.items()
    }
    counted = {
        key: Counters((1,), (0.0,), (0.0,), part, {**OPERATIONS, **(operations or {})}, 0.0, ((), (), ()))
        for key, part in {**PARTS, **(parts or {})}.items()
    }
    return Data(Taken(), runs, among, counted)


@dataclass(frozen=True)
class Graded:
    """Grades of Table I without runs behind them."""

    grades: dict[str, tuple[str, str, str]]

    def replaced(self, others):
        return Graded({key: self.grades[others.get(key, key)] for key in self.grades})


def good(id):
    return Graded(dict(TABLE_1)) if id == "A18" else data()


@pytest.mark.parametrize("id", BY_ID)
def test_each_judge_accepts_what_the_paper_says(id):
    judgement = BY_ID[id].judge(good(id))
    assert judgement.state() == HOLDS, judgement.reason
    keeps_its_bands("handover", id, judgement)


@pytest.mark.parametrize("id", BY_ID)
def test_no_judge_lets_its_null_model_pass(id):
    claim = BY_ID[id]
    assert claim.judge(claim.null.of(good(id))).state() != HOLDS


#: Half an interval of UMTS before a handover.
EARLY = -0.5 / SLOW

REFUSED = [
    ("A1", {"tfrc": {"dropped": 50}}),
    ("A1", {"tfrc": {"dropped": 130}}),
    ("A2", {"xcp": {"dropped": 1}}),
    ("A3", {"tfrc": {"dropped": 30}}),
    ("A4", {"reno": {"slow_start": 0.4}}),
    ("A5", {"reno": {"excess": 70}}),
    ("A5", {"xcp": {"excess": 70}}),
    ("A5", {"tfrc": {"excess": 5}}),
    ("A6", {"reno": {"back": 0.5}}),
    ("A6", {"xcp": {"back": 0.5}}),
    ("A6", {"tfrc": {"back": 1.0}}),
    ("A7", {"reno": {"back": 1.0}, "xcp": {"back": 0.95}}),
    ("A7", {"tfrc": {"back": 1.0}}),
    ("A7", {"reno": {"back": 0.7}, "xcp": {"back": 0.8}}),
    ("A8", {"reno": {"wlan_ratio": 2.0}}),
    ("A8", {"reno": {"umts_ratio": 2.0}}),
    ("A8", {"reno": {"wlan_ratio": 10.0}}),
    ("A9", {"tfrc": {"wlan_ratio": 1.5}}),
    ("A9", {"tfrc": {"umts_ratio": 1.5}}),
    ("A9", {"xcp": {"wlan_ratio": 1.5}}),
    ("A9", {"xcp": {"umts_ratio": 1.5}}),
    ("A10", {"tfrc": {"gaps": (EARLY, 0.15)}}),
    ("A10", {"tfrc": {"gaps": (0.15, EARLY)}}),
    ("A10", {"xcp": {"gaps": (EARLY, 0.15)}}),
    ("A10", {"xcp": {"gaps": (0.15, EARLY)}}),
    ("A11", {"newreno": {"dropped": 36}}),
    ("A11", {"newreno": {"back": 0.7}}),
    ("A12", {"xcp": {"queue": 8000.0}}),
    ("A12", {"reno": {"queue": 500.0}}),
    ("A14", {"ewa": {"dropped": 30}}),
    ("A14", {"ewa": {"wlan_ratio": 5.0}, "reno": {"wlan_ratio": 1.0}}),
    ("A14", {"ewa": {"umts_ratio": 5.0}, "reno": {"umts_ratio": 1.0}}),
    ("A15", {"ewa-asymmetric": {"back": 0.81}}),
    ("A16", {"tfrc-notified": {"back": 0.2}}),
    ("A16", {"tfrc-notified": {"dropped": 130}}),
    ("A20", {"xcp-late": {"dropped": 0}}),
    ("A20", {"xcp-stale": {"dropped": 0}}),
    ("A20", {"xcp-measured": {"back": 1.0}}),
]


@pytest.mark.parametrize(("id", "changes"), REFUSED)
def test_each_condition_can_fail(id, changes):
    assert BY_ID[id].judge(data(changes)).state() == FAILS


@pytest.mark.parametrize("key", ["intserv", "diffserv", "swan"])
def test_who_signals_nothing_pays_nothing(key):
    assert BY_ID["A17"].judge(data(crowds={key: (0, CROWDS[key][1])})).state() == FAILS


@pytest.mark.parametrize("key", ["intserv", "diffserv"])
def test_a_gap_no_longer_than_swans_is_refused(key):
    assert BY_ID["A17"].judge(data(crowds={key: (CROWDS[key][0], 0.0)})).state() == FAILS


@pytest.mark.parametrize(
    ("name", "count"),
    [("additions_in", 4.0), ("multiplications_in", 2.0), ("multiplications_out", 2.0), ("additions_out", 0.0)],
)
def test_other_counts_of_operations_are_refused(name, count):
    assert BY_ID["A13"].judge(data(operations={f"window_header_{name}": count})).state() == FAILS


def test_each_count_of_operations_says_what_it_counts():
    assert (
        BY_ID["A13"]
        .judge(data())
        .ours.endswith("; 3 sums and 1 product in, 2 products and 6 sums out with that of ns-2, which has rtt/cwnd")
    )


def test_notice_is_said_to_be_given_to_tfrc_of_the_rfc():
    """A1 and A7 are of ns-2's."""
    assert BY_ID["A16"].judge(data()).ours.startswith("TFRC of RFC 5348: ")


@pytest.mark.parametrize("key", MECHANISMS)
def test_each_grade_of_the_table_counts(key):
    others = {**TABLE_1, key: ("very low", *TABLE_1[key][1:])}
    judgement = BY_ID["A18"].judge(Graded(others))
    assert judgement.state() == FAILS
    assert judgement.ours.startswith("20 equal")


@pytest.mark.parametrize(("key", "like"), [("reno", "tfrc"), ("ewa", "xcp"), ("intserv", "swan")])
def test_another_order_of_scalability_is_refused(key, like):
    assert BY_ID["A19"].judge(data(parts={key: PARTS[like]})).state() == FAILS


# What was asked at first


@pytest.mark.parametrize("id", [claim.id for claim in CLAIMS if claim.former and claim.id != "A18"])
def test_what_was_asked_at_first_is_judged_on_the_same_runs(id):
    judgement = BY_ID[id].former.judge(data())
    assert judgement.conditions and judgement.ours


def test_the_former_measures_did_not_discriminate():
    # TCP with a gap in each window has the median jitter of none, and every mechanism has a long interval at 20 s.
    tcp = BY_ID["A9"].null.of(data())
    assert BY_ID["A9"].former.judge(tcp).state() == HOLDS
    even = BY_ID["A10"].null.of(data())
    up = [one for one in BY_ID["A10"].former.judge(even).conditions if "20 s" in one.what]
    assert all(one.state() == HOLDS for one in up)
    assert BY_ID["A8"].former.judge(data()).state() == FAILS


def test_the_table_as_it_was_graded_at_first():
    @dataclass(frozen=True)
    class Row:
        media_by_spread: str

    graded = Graded(dict(TABLE_1))
    object.__setattr__(graded, "rows", {key: Row("very low") for key in TABLE_1})
    judgement = grading._table_formerly(graded)
    assert judgement.ours.startswith("14 equal")


# Claims and questions as such


def test_claims_say_what_stands_behind_them():
    for claim in CLAIMS:
        said = (claim.section, claim.sentence, claim.statement, claim.paper, claim.measure, claim.band, claim.why)
        assert all(said) and claim.null.about, claim.id
        if claim.former:
            assert claim.former.band and claim.former.why


def test_conditions_have_the_same_names_in_every_reading():
    for claim in CLAIMS:
        if claim.id == "A18":
            continue
        one, other = claim.judge(data()), claim.judge(data({"tfrc": {"dropped": 5}, "xcp": {"back": 0.3}}))
        assert [c.what for c in one.conditions] == [c.what for c in other.conditions]


def test_each_answer_changes_what_is_taken():
    for reading in singles(QUESTIONS):
        assert taken(reading) != Taken(), reading.name
    for question in QUESTIONS:
        assert not question.default.changes, question.name


def test_what_was_fitted_is_fitted_at_one_delay_only():
    delays = {answer.name for answer in QUESTIONS[0].answers[1:]}
    for claim in (BY_ID["A1"], BY_ID["A2"]):
        assert not delays & {part for name in claim.fitted_at for part in name.split(" + ")}
        assert {"as taken", "in flight: finish", "queue: emptied + RTO from 1 s"} <= set(claim.fitted_at)
