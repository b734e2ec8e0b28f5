"""Table I of the paper: A18, A19."""

from __future__ import annotations

from collections.abc import Sequence

from lasthop.studies.claims import Claim, Former, Null
from lasthop.studies.conditions import Judgement, fact, judged
from lasthop.studies.handover.grades import GRADES, PAPER, scalability, steps
from lasthop.studies.handover.measured import Grades, Measured
from lasthop.studies.handover.tableone import MECHANISMS, RESERVED

__all__ = ["CLAIMS"]

COLUMNS = ("media friendliness", "scalability", "dynamic behaviour")


def _table(data: Measured) -> Judgement:
    return _against_the_paper(data.grades)


def _table_formerly(data: Measured) -> Judgement:
    rows = data.rows
    return _against_the_paper(
        {key: (rows[key].media_by_spread, *others) for key, (_, *others) in data.grades.items()}  # type: ignore[misc]
    )


def _against_the_paper(ours: Grades) -> Judgement:
    cells = [
        (f"{name}, {column}", mine, theirs)
        for key, name in MECHANISMS.items()
        for column, mine, theirs in zip(COLUMNS, ours[key], PAPER[key], strict=True)
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


def _why_not_table(data: Measured) -> str:
    ours = data.grades
    lower = [MECHANISMS[key] for key in RESERVED if steps(ours[key][0], PAPER[key][0]) < 0]
    return "the paper grades by judgement, and no threshold that is the same for all mechanisms gives its grades" + (
        f"; with {', '.join(lower)} a voice frame waits on UMTS while one packet of 1 kB is sent, which takes about "
        "as long as from one frame to the next"
        if lower
        else ""
    )


def _order(data: Measured) -> Judgement:
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
            if steps(PAPER[one][1], PAPER[other][1]) > 0
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


CLAIMS: Sequence[Claim[Measured]] = [
    Claim(
        "A18",
        "Table I",
        "COMPARATIVE TABLE OF THE DIFFERENT MECHANISMS PRESENTED IN TERMS OF *Media Friendliness*, *Scalability* "
        "AND *Dynamic Behaviour*.",
        "The 21 grades of Table I",
        "21 grades",
        "grades of the median run, from measures by thresholds; IntServ, DiffServ and SWAN in the crowd, the others "
        "alone",
        "equal, all of them; how many are one step off is said",
        "each grade is a claim by itself; the thresholds have their reasons in `grades.py`",
        _table,
        Null("the grades handed on from each mechanism to another of its kind", lambda d: d.replaced(NEXT)),
        former=Former(
            "the same, with P95 over P5 of all intervals in the place of the ratio of consecutive ones",
            "as for A8: percentiles of all intervals do not see a gap in each window",
            _table_formerly,
        ),
        see="figure-grades",
        cause=_why_not_table,
    ),
    Claim(
        "A19",
        "Table I",
        "*Scalability* - It describes the cost of deploying the new solution at a large scale taking into account "
        "the legacy Internet.",
        "The order of scalability",
        "TCP > TFRC, EWA > XCP, DiffServ, SWAN > IntServ",
        "four steps, one off if hosts, the bottleneck router, other routers have to change, and if routers keep "
        "state of each flow; read off the values that parts show in a run",
        "every order between two grades of the paper's column",
        "the paper's words name these costs (§II, §VI)",
        _order,
        Null("the counters handed on from each mechanism to another of its kind", lambda d: d.replaced(NEXT)),
        fitted="the map from what a mechanism puts where to four steps was written with the paper's column in view",
    ),
]
