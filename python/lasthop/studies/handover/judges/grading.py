"""Table I of the paper: A18, A19."""

from __future__ import annotations

from lasthop.studies.claims import Judge, Judges
from lasthop.studies.conditions import Judgement, fact, judged

from ..data import Data, Grades, instead
from ..measures.grades import GRADES, scalability, steps
from ..measures.table_1 import MECHANISMS, RESERVED
from ..paper import TABLE_1

COLUMNS = ("media friendliness", "scalability", "dynamic behaviour")


def _table(data: Data) -> Judgement:
    return _against_the_paper(data.grades)


def _table_formerly(data: Data) -> Judgement:
    rows = data.rows
    return _against_the_paper(
        {key: (rows[key].media_by_spread, *others) for key, (_, *others) in data.grades.items()}  # type: ignore[misc]
    )


def _against_the_paper(ours: Grades) -> Judgement:
    cells = [
        (f"{name}, {column}", mine, theirs)
        for key, name in MECHANISMS.items()
        for column, mine, theirs in zip(COLUMNS, ours[key], TABLE_1[key], strict=True)
    ]
    off = {cell: abs(steps(mine, theirs)) for cell, mine, theirs in cells}
    equal, near = (sum(one == n for one in off.values()) for n in (0, 1))
    differ = [f"{cell} {mine}, paper {theirs}" for cell, mine, theirs in cells if off[cell]]
    return judged(
        f"{equal} equal, {near} one step off, {len(cells) - equal - near} further"
        + (": " if differ else "")
        + "; ".join(differ),
        *(fact(f"{cell} as in Table I", one == 0) for cell, one in off.items()),
    )


def _why_not_table(data: Data) -> str:
    ours = data.grades
    lower = [MECHANISMS[key] for key in RESERVED if steps(ours[key][0], TABLE_1[key][0]) < 0]
    return "the paper grades by judgement, and no threshold that is the same for all mechanisms gives its grades" + (
        f"; with {', '.join(lower)} a voice frame waits on UMTS while one packet of 1 kB is sent, which takes about "
        "as long as from one frame to the next"
        if lower
        else ""
    )


def _order(data: Data) -> Judgement:
    ours = {key: scalability(data.counters[key].parts) for key in MECHANISMS}
    ranked = [
        f"{', '.join(MECHANISMS[key] for key in MECHANISMS if ours[key] == grade)} {grade}"
        for grade in reversed(GRADES)
        if grade in ours.values()
    ]
    return judged(
        "; ".join(ranked),
        *(
            fact(f"{MECHANISMS[one]} scales better than {MECHANISMS[other]}", steps(ours[one], ours[other]) > 0)
            for one in MECHANISMS
            for other in MECHANISMS
            if steps(TABLE_1[one][1], TABLE_1[other][1]) > 0
        ),
    )


#: Each mechanism gets what belongs to the next one of its kind; the kinds have nothing in common.
NEXT = {
    "intserv": "diffserv",
    "diffserv": "swan",
    "swan": "intserv",
    "xcp": "ewa",
    "ewa": "tfrc",
    "tfrc": "reno",
    "reno": "xcp",
}


JUDGES: Judges[Data] = {
    "A18": Judge(_table, null=instead(NEXT), former=_table_formerly, cause=_why_not_table),
    "A19": Judge(_order, null=instead(NEXT)),
}
