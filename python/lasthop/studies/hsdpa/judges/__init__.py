"""The judges of the paper's claims by subject, in the order of its sections."""

from __future__ import annotations

from dataclasses import replace

from lasthop.studies import words
from lasthop.studies.claims import Judge, Judges, NotRun
from lasthop.studies.conditions import Judgement

from ..data import Data
from ..readings import QUESTIONS
from . import availability, bursts, events, loads, losses, rates, small, system, timeouts


def _where_it_differs(number: str, of: Judge[Data]) -> Judge[Data]:
    """The same, but not judged again where only the text of another claim is read otherwise."""

    def judge(data: Data) -> Judgement:
        if data.otherwise and number not in data.otherwise:
            raise NotRun(f"{number} is not what is read otherwise")
        return of.judge(data)

    return replace(of, judge=judge)


_SUBJECTS = (losses, timeouts, events, availability, rates, small, system, loads, bursts)

JUDGES: Judges[Data] = {
    number: _where_it_differs(number, judge) for subject in _SUBJECTS for number, judge in subject.JUDGES.items()
}

CLAIMS = words.claims(__name__, JUDGES, QUESTIONS)
