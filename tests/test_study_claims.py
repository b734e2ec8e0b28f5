"""Every claim of every study says what is claimed, asked and must not pass; so do the committed runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lasthop as lh
import pytest
from lasthop.studies import STUDIES, claims, study
from lasthop.studies.claims import NOT_RUN
from lasthop.studies.conditions import FAILS, HOLDS, OPEN
from lasthop.studies.readings import AS_TAKEN, pairs, singles
from lasthop.studies.records import RUNS

SNAPSHOTS = Path(__file__).resolve().parents[1] / "docs" / "snapshots"

#: The project's list: the letter of each study, and how many claims it has.
LISTED = {"handover": ("A", 20), "umts-tcp": ("C", 56), "hsdpa": ("H", 22), "umts-multicast": ("M", 22),
          "satellite": ("L", 24), "rmcat": ("R", 16), "handover-today": ("T", 16)}  # fmt: skip

#: What each claim has to say.
SAID = ("section", "sentence", "statement", "paper", "measure", "band", "why")


def committed(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((SNAPSHOTS / f"claims-{name}.json").read_text(encoding="utf-8"))
    return document


def test_there_are_176_claims() -> None:
    assert set(LISTED) == set(STUDIES) and sum(count for _, count in LISTED.values()) == 176


# One list of quantities serves all variants of a study, and not each of them has all.
@pytest.mark.filterwarnings("ignore::lasthop.RecordWarning")
@pytest.mark.parametrize("name", STUDIES)
def test_the_scenario_that_a_report_shows_runs_to_its_end(name: str) -> None:
    scenario = lh.load(study(name).scenario())
    assert f"{lh.run(scenario).simulated_s:g} s" == str(scenario["duration"])


@pytest.mark.parametrize("name", STUDIES)
def test_every_claim_of_the_list_is_there_in_order(name: str) -> None:
    letter, count = LISTED[name]
    assert [one.id for one in study(name).claims] == [f"{letter}{n}" for n in range(1, count + 1)]


@pytest.mark.parametrize("name", STUDIES)
def test_every_claim_says_what_is_asked_and_what_must_not_pass(name: str) -> None:
    for claim in study(name).claims:
        for part in SAID:
            assert len(getattr(claim, part).strip()) > 0, f"{claim.id}: {part}"
        assert len(claim.sentence.split()) >= 3, f"{claim.id}: “{claim.sentence}”"
        assert len(claim.null.about.split()) >= 3, f"{claim.id}: null model"
        if claim.former:
            assert claim.former.band and claim.former.why, claim.id


@pytest.mark.parametrize("name", STUDIES)
def test_a_committed_run_does_not_say_where_it_was_made(name: str) -> None:
    document = committed(name)
    named = [path for part in ("figures", "tables") for one in document[part] for path in one["files"]]
    assert named and not [path for path in named if Path(path).is_absolute()]


@pytest.mark.parametrize("name", STUDIES)
def test_every_question_has_answers_of_their_own(name: str) -> None:
    questions = study(name).questions
    assert questions
    names = [answer.name for question in questions for answer in question.answers]
    assert len(names) == len(set(names)) and AS_TAKEN not in names
    assert not any(" + " in one for one in names)
    assert len({question.name for question in questions}) == len(questions)
    assert all(question.why and all(answer.about for answer in question.answers) for question in questions)
    readings = [*singles(questions), *pairs(questions, [question.name for question in questions])]
    assert len({one.name for one in readings}) == len(readings)


@pytest.mark.parametrize("name", STUDIES)
def test_the_committed_run_judges_every_claim(name: str) -> None:
    document = committed(name)
    judged = {claim["id"]: claim for claim in document["claims"]}
    for claim in study(name).claims:
        found = judged[claim.id]
        for part in SAID:
            assert found[part] == getattr(claim, part), f"{claim.id}: the committed run has another {part}"
        assert found["verdict"] in claims.VERDICTS
        assert found["reason"] or found["verdict"] == claims.REPRODUCED, claim.id
        assert found["null"]["about"] == claim.null.about
        assert found["null"]["state"] in (FAILS, OPEN) or found["verdict"] == claims.NOT_COMPARABLE, claim.id
        assert AS_TAKEN in found["readings"], f"{claim.id}: no runs in the default reading"
        for reading in found["readings"].values():
            assert reading["state"] in (HOLDS, FAILS, OPEN)
        holding = [reading for reading, one in found["readings"].items() if one["state"] == HOLDS]
        if found["verdict"] == claims.REPRODUCED_OTHERWISE:
            assert holding and AS_TAKEN not in holding
        if found["verdict"] == claims.NOT_REPRODUCED:
            assert not holding and found["readings"][AS_TAKEN]["state"] == FAILS
        assert bool(found["former"]) == bool(claim.former)


@pytest.mark.parametrize("name", STUDIES)
def test_the_committed_run_tried_every_answer(name: str) -> None:
    """In a claim, or where a question is of none, in runs of its own."""
    tried = {reading for claim in committed(name)["claims"] for reading in claim["readings"]}
    tables = [table["id"] for table in committed(name)["tables"]]
    for reading in singles(study(name).questions):
        runs = f"{RUNS}{reading.name.lower().replace(' ', '-')}-"
        assert reading.name in tried or any(table.startswith(runs) for table in tables), reading.name


@pytest.mark.parametrize("name", STUDIES)
def test_no_committed_null_is_left_out(name: str) -> None:
    """A null model may lack its runs in a quick study, not in the committed one."""
    assert not [one["id"] for one in committed(name)["claims"] if one["null"]["state"] == NOT_RUN]
