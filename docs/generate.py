"""Makes the generated parts of the documentation.

`docs/generated/` is made anew at each build: the scenario reference from the schema, the
assumptions and criteria of a study from its code, and the tables of evidence from what the last
`make fidelity`, `make bench-peers` and `lasthop reproduce STUDY` left in this tree. Where they
left nothing, a table is the one in `docs/snapshots/`, which is committed;
`python docs/generate.py --snapshot` renews those, and the claims in the README.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
GENERATED = DOCS / "generated"
SNAPSHOTS = DOCS / "snapshots"
HANDOVER = ROOT / "out" / "handover"
README = ROOT / "README.md"
CLAIMS_FILE = "claims.json"


#: The sections of a scenario that have a page of their own.
SECTIONS = ("link", "cell", "hsdpa", "mbms", "constellation", "group", "flow", "change", "record")


def scenario_reference(section: str | None) -> str:
    """Every table and field of one section of a scenario, or those at its top level."""
    from lasthop import _core

    found = []
    for part in re.split(r"^(?=## )", _core.reference(), flags=re.MULTILINE)[1:]:
        path = part.partition("\n")[0].removeprefix("## ").strip("`[]")
        name = path.partition(".")[0]
        if (name if name in SECTIONS else None) == section:
            found.append(part)
    if not found:
        raise ValueError(f"the schema says nothing of {section!r}")
    return "".join(found).replace("## The scenario\n", "## Top level\n", 1)


def schema() -> str:
    """The JSON Schema of a scenario, which editors fetch from the site."""
    from lasthop.cli.schema import document

    return document()


def gallery() -> str:
    """A picture for each script of the gallery, with its lines; the pictures are drawn beside the page."""
    import os
    import runpy

    from lasthop import plot

    os.chdir(ROOT)
    page = []
    for script in sorted((DOCS / "gallery").glob("*.py"), key=lambda path: path.stem):
        title, _, lines = script.read_text(encoding="utf-8").partition("\n")
        picture = GENERATED / "gallery" / f"{script.stem}.svg"
        picture.parent.mkdir(parents=True, exist_ok=True)
        with plot.in_look():
            runpy.run_path(str(script))["axes"].figure.savefig(picture, format="svg", metadata={"Date": None})
        title = title.removeprefix("# ")
        page += [
            f"## {title}",
            f"```{{image}} generated/gallery/{script.stem}.svg\n:alt: {title}\n:width: 440px\n```",
            f":::{{dropdown}} {len(lines.splitlines())} lines\n```{{code-block}} python\n{lines}```\n:::",
        ]
    return "\n\n".join(page)


#: What the claims of most studies are held against.
PAPER = "the paper"


def assumptions(name: str) -> str:
    """What a paper does not say and its study takes without an alternative."""
    from lasthop.studies import study

    rows = [[a.question, a.taken, a.why] for a in study(name).assumptions]
    return _table(["question", "taken", "why"], rows)


def questions(name: str) -> str:
    """What a paper leaves open, with the admissible answers and the sentences that they rest on."""
    from lasthop.studies import study

    rows = []
    for question in study(name).questions:
        for place, answer in enumerate(question.answers):
            rests = f"“{answer.quote}”" if answer.quote else "no sentence"
            default = f" (default: {question.why})" if not place else ""
            rows.append([question.name if not place else "", f"**{answer.name}**{default}", answer.about, rests])
    return _table(["question", "answer", "what it means", study(name).behind], rows)


def criteria(name: str) -> str:
    """The claims of a study: the paper's words, what is measured and accepted, and what must not pass."""
    from lasthop.studies import study

    rows, behind = [], study(name).behind
    for c in study(name).claims:
        since = f"; set after results were seen, at first: {c.former.band}" if c.former else ""
        fitted = " (fitted)" if c.fitted and not c.fitted_at else ""
        sentence = f"“{c.sentence}”" if behind == PAPER else c.sentence
        rows.append([c.id, c.section, sentence, c.measure, f"{c.band}{fitted}", f"{c.why}{since}", c.null.about])
    return _table(["claim", "section", f"{behind} says", "measured", "accepted", "why that", "null model"], rows)


def fidelity_table() -> str | None:
    """The families in short, and the table that `make fidelity` wrote."""
    text = _text(ROOT / "target" / "fidelity" / "table.md")
    if text is None:
        return None
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    families: dict[str, list[int]] = {}
    for family, _, events, difference in rows:
        counts = families.setdefault(family, [0, 0, 0, 0, 0])
        counts[0] += 1
        counts[1] += int(events or 0)
        starts = ("by means", "left out", "not supported")
        by_means, left_out, unsupported = (difference.startswith(start) for start in starts)
        counts[2] += bool(difference) and not by_means and not left_out and not unsupported
        counts[3] += left_out
        counts[4] += unsupported
    short = [[family, *(_number(n, 0) for n in counts)] for family, counts in families.items()]
    head = ["family", "scenarios", "events compared", "differ", "left out", "not supported yet"]
    return f"{_table(head, short, right_from=1)}\n## Every scenario\n\n{text}"


def benchmark_table() -> str | None:
    """A row for each workload and peer that `make bench-peers` measured."""
    rows = _json(ROOT / "target" / "bench" / "peers.json")
    if rows is None:
        return None
    head = [
        "workload",
        "N",
        "peer",
        "peer, ns per hop",
        "lasthop, ns per hop",
        "ratio",
        "kB per flow",
        "set-up, s",
    ]
    cells = [
        [
            str(row["workload"]),
            _number(row["n"], 0),
            str(row["peer"]),
            _number(row["peer_ns_per_hop"], 0),
            _number(row["lasthop_ns_per_hop"], 1),
            _number(row["ratio"], 1),
            _number(_scaled(row.get("lasthop_bytes_per_flow"), 1e-3), 1),
            _number(row.get("lasthop_setup_s"), 3),
        ]
        for row in rows
    ]
    return _table(head, cells, right_from=3)


def instructions() -> str:
    """The counts of instructions from commit to commit; their picture is drawn beside the page."""
    import instructions as history

    rows = history.history()
    picture = GENERATED / "instructions.svg"
    history.draw(rows, picture)
    about = "A panel for each workload: instructions in per cent of the first count, from commit to commit"
    image = f"```{{image}} generated/{picture.name}\n:alt: {about}\n:width: 100%\n```"
    return f"{image}\n\n{_table(*history.table(rows), right_from=1)}"


def judged(name: str) -> Any:
    """The document of a study's last run in this tree, or of the full one that is committed."""
    return _json(ROOT / "out" / name / CLAIMS_FILE) or committed(name)


def committed(name: str) -> Any:
    """The document of a study's full run that is committed."""
    return _json(SNAPSHOTS / f"claims-{name}.json")


def _verdict(claim: Any) -> str:
    """The verdict; also that a claim which is reproduced fails by what was accepted at first."""
    from lasthop.studies.claims import REPRODUCED
    from lasthop.studies.conditions import FAILS

    verdict = f"*{claim['verdict']}*"
    first = claim["former"] and claim["former"]["state"]
    return f"{verdict}, not by the first measure" if claim["verdict"] == REPRODUCED and first == FAILS else verdict


def replaced() -> str:
    """The claims whose measure or band was set after results had been seen, and what the first one says."""
    rows = []
    for name in STUDIES:
        for claim in committed(name)["claims"]:
            if former := claim["former"]:
                cells = [former["state"], former["band"], former["why"]]
                rows.append([claim["id"], f"*{claim['verdict']}*", *cells])
    head = ["claim", "verdict", "by the first measure it", "what was accepted at first", "why it was replaced"]
    return _table(head, rows)


def claims(document: Any) -> str:
    """A row for each claim of a study."""
    from lasthop.studies import study

    rows, behind = [], study(document["study"]).behind
    for claim in document["claims"]:
        verdict, reason = _verdict(claim), claim["reason"]
        verdict = f"{verdict}: {reason}" if reason else verdict
        rows.append([claim["id"], claim["section"], claim["statement"], claim["paper"], claim["ours"], verdict])
    table = _table(["claim", "section", f"{behind} says", "its figure", "ours", "verdict"], rows)
    return f"Mode `--{document['mode']}`.\n\n{table}"


#: How what is known of a claim is shown where there is no room for words.
MARKS = {"holds": "●", "fails": "○", "open": "◐"}


def readings(document: Any) -> str:
    """Under which answers each claim holds, what decides it, and which answers fit together."""
    answers = [answer["answer"] for one in document["questions"] for answer in one["answers"][1:]]
    rows = []
    for claim in document["claims"]:
        states = {reading: one["state"] for reading, one in claim["readings"].items()}
        crossed = [state for reading, state in states.items() if " + " in reading]
        decider = claim["decided_by"]
        rows.append(
            [
                claim["id"],
                *(MARKS.get(states.get(reading, ""), "") for reading in ("as taken", *answers)),
                f"{crossed.count('holds')} of {len(crossed)}" if crossed else "",
                f"{decider['question']}: {decider['answer']}, {decider['flips']} of {decider['contexts']}"
                if decider
                else "",
            ]
        )
    head = ["claim", "as taken", *answers, "crossed", "decided by"]
    parts = [
        "● holds, ○ fails, ◐ open with these runs, blank: not run. *Decided by*: the answer that most often changes "
        "whether the claim holds, and in how many of the readings that differ in nothing else.\n",
        _table(head, rows),
    ]
    best = [[one["reading"], ", ".join(one["gained"]), ", ".join(one["lost"]) or "–"] for one in document["together"]]
    if best:
        parts.append("Readings in which more claims hold together than in the default one:\n")
        parts.append(_table(["reading", "gained", "lost"], best))
    return "\n".join(parts)


def umts_tables() -> str | None:
    """The thesis' tables beside those of the last run of the study `umts-tcp`."""
    folder = ROOT / "out" / "umts-tcp"
    parts = []
    for name, about in (
        ("goodput-chapter-6", "§6.3.4, an error rate of 0.01 and maxDAT 9000"),
        ("table-6.2", "Table 6.2, maxDAT 2, a user alone"),
        ("table-7.3", "Table 7.3"),
        ("table-7.4", "Table 7.4 and §7.4"),
    ):
        if rows := _rows(folder / f"{name}.csv"):
            parts.append(
                f"{about}:\n\n{_table(list(rows[0]), [[_cell(cell, 3) for cell in row.values()] for row in rows])}"
            )
    return "\n".join(parts) or None


def hsdpa_tables() -> str | None:
    """What the last run of the study `hsdpa` gave."""
    folder = ROOT / "out" / "hsdpa"
    parts = []
    for name, about in (
        (
            "table-scenarios",
            "The centre cell, with 90 % intervals. PF is proportional fair, beyond the paper",
        ),
        (
            "table-spurious",
            "Timeouts of TCP with 65 mobiles, the spurious ones, and what the sender detects",
        ),
        (
            "table-spikes",
            "Delay spikes, and drops while one lasts or within a second after it",
        ),
    ):
        if rows := _rows(folder / f"{name}.csv"):
            parts.append(f"{about}:\n\n{_table(list(rows[0]), [list(row.values()) for row in rows])}")
    return "\n".join(parts) or None


def multicast_tables() -> str | None:
    """What the last run of the study `umts-multicast` gave."""
    folder = ROOT / "out" / "umts-multicast"
    parts = _tables(
        folder,
        {
            "table-2": "Table II: throughput over TCP's, with 95 % intervals",
            "table-readings": "The same under each reading of what the paper leaves open",
            "table-permanent": "A terminal that loses 20 % from 50 s on: kbit/s on the wire, seconds after the change",
            "table-expulsion": "A group of ten, one of which is degraded from 50 s on, with expulsion and without",
            "table-scaling": "The same by buffer and bit rate",
            "table-adaptation": "Time until what is sent has adapted to a step of the Iu, in s",
            "table-fairness": "Throughput at UE_x in kbit/s, by the place of the bottleneck",
            "table-indication": "Losses put down to the wrong cause, in per cent of those with the other",
            "table-changes": "Changes of the representative in a minute",
            "table-background": "What the background changes",
        },
    )
    return "\n".join(parts) or None


def satellite_tables() -> str | None:
    """What the last run of the study `satellite` gave."""
    folder = ROOT / "out" / "satellite"
    parts = _tables(
        folder,
        {
            "table-shares": "Rates of sessions in kB/s on the wire, from 100 s after each change",
            "table-control": "What the controller did, from the start of each run to its end",
            "table-rlm": "RLM against queue-phase control in scenario 1, from 100 s on",
            "table-robust": "What the text claims beyond the scenarios",
            "table-tree": "Layers in the tree",
            "table-state": "State and work at the controlled link",
        },
    )
    return "\n".join(parts) or None


#: Columns of the study `rmcat`'s table of cases that the page leaves out; the report has them.
LEFT_OUT = ("queue (ms)", "delay (ms)", "frozen (s)", "ratio 1 s", "ratio 5 s", "TCP loss (%)")


def rmcat_tables() -> str | None:
    """What the last run of the study `rmcat` gave: its cases, their rows, and outside runs of one of them."""
    folder = ROOT / "out" / "rmcat"
    if (rows := _rows(folder / "table-cases.csv")) is None:
        return None
    shown = [name for name in rows[0] if name not in LEFT_OUT]
    parts = [
        *_tables(folder, {"table-about": "The cases"}),
        f"Each case with each controller:\n\n{_table(shown, [[row[name] for name in shown] for row in rows])}",
        *_tables(
            folder, {"table-anchors": "Case 5.1 beside outside runs: one video, no jitter, no audio; rates on the wire"}
        ),
    ]
    return "\n".join(parts)


#: Columns of the study `handover-today`'s table of paths that the page shows.
TODAY_SHOWN = (
    "path",
    "mechanism",
    "hint",
    "missed (%)",
    "frame delay p95 (ms)",
    "in time again (s)",
    "rate back (s)",
    "share, worse state",
    "share in time",
    "queue, worse state (ms)",
)


def today_answer() -> str | None:
    """What the last run of the study `handover-today` answered."""
    document = _json(ROOT / "out" / "handover-today" / CLAIMS_FILE)
    return "\n".join(f"{n}. {sentence}" for n, sentence in enumerate(document["answer"], 1)) if document else None


def today_tables() -> str | None:
    """What it gave: the paper's Table I once more, what is misread, each path with each mechanism."""
    folder = ROOT / "out" / "handover-today"
    if (rows := _rows(folder / "table-paths.csv")) is None:
        return None
    parts = [
        *_tables(folder, {"table-1": "Table I again", "table-misread": "What each algorithm misreads, and why"}),
        "Each path with each mechanism and hint, from the first change to the end where nothing else is said:\n\n"
        + _table(list(TODAY_SHOWN), [[row[name] for name in TODAY_SHOWN] for row in rows]),
    ]
    return "\n".join(parts)


def _tables(folder: Path, about: dict[str, str]) -> list[str]:
    """Tables of a study, each below what it holds."""
    parts = []
    for name, words in about.items():
        if rows := _rows(folder / f"{name}.csv"):
            # The number of a case is a section's.
            cells = [[cell if name == "case" else _cell(cell, 3) for name, cell in row.items()] for row in rows]
            parts.append(f"{words}:\n\n{_table(list(rows[0]), cells)}")
    return parts


def handover_table() -> str | None:
    """Table I of the study `handover`, as the last run measured it, and what it costs the routers."""
    grades, counters = (_rows(HANDOVER / f"{name}.csv") for name in ("table-1", "counters"))
    if grades is None or counters is None:
        return None
    head = list(grades[0])
    counted = [
        "mechanism",
        "hosts change",
        "bottleneck router changes",
        "other routers change",
        "state of each flow in the core",
        "router state, 1 flow (B)",
        "router state, 1000 flows (B)",
        "additions in per packet",
        "multiplications in per packet",
        "additions out per packet",
        "multiplications out per packet",
        "additions back per packet",
        "multiplications back per packet",
        "signalling packets per set-up",
    ]
    costs = [[_cell(row[name], 1) for name in counted] for row in counters]
    return (
        _table(head, [[row[name] for name in head] for row in grades])
        + "\nWhat that costs, read off runs over three routers:\n\n"
        + _table(counted, costs)
    )


def handover_choice() -> str | None:
    """What decides between the mechanisms, in figures of the last run."""
    measures, frames, counters, tried = (
        _rows(HANDOVER / f"{name}.csv") for name in ("table-1-measures", "frames", "counters", "over-provisioning")
    )
    if measures is None or frames is None or counters is None or tried is None:
        return None
    alone = {row["mechanism"]: row for row in measures if row["setting"] == "a"}
    among = {(row["mechanism"], row["flow"], row["link"]): row for row in frames}
    costs = {row["mechanism"]: row for row in counters}
    rows = []
    for name in dict.fromkeys(row["mechanism"] for row in frames):
        voice, video = among[name, "voice", "UMTS"], among[name, "video", "UMTS"]
        cost, one = costs.get(name), alone.get(name)
        rows.append(
            [
                name,
                _cell(voice["delay_ms_p50"], 0),
                _cell(voice["delay_ms_p99"], 0),
                _cell(video["delay_ms_p99"], 0),
                _cell(voice["lost_pct"], 1),
                _cell(voice["greedy_tcp_kbps_umts"], 0),
                _cell(one["down_rtts"], 1, "never") if one else "–",
                _cell(one["up_rtts"], 1, "never") if one else "–",
                _cell(cost["more for each flow (B)"], 0) if cost else "–",
            ]
        )
    head = [
        "mechanism",
        "voice, median delay (ms)",
        "voice, P99 (ms)",
        "video, P99 (ms)",
        "voice lost (%)",
        "left to greedy TCP (kbit/s)",
        "alone: R to adapt, down",
        "alone: R to adapt, up",
        "router state per flow (B)",
    ]
    enough = [row for row in tried if row["meets it"] == "yes"]
    factor = min(float(row["factor"]) for row in enough) if enough else None
    bound = float(tried[0]["bound (ms)"])
    grown = "no factor that was tried is enough" if factor is None else f"the link must be {factor:.1f} times as fast"
    return (
        _table(head, rows, right_from=1)
        + "\nVoice, video and what is left: in the crowd, on UMTS from 12 s to 20 s. The empty path takes 140 ms. "
        + "Round trips to adapt: the paper's single flow, median of the runs.\n\n"
        + f"Without any of them, for voice to stay within the {bound:.0f} ms that a reservation promises it on "
        f"UMTS, {grown}.\n"
    )


def _rows(path: Path) -> list[dict[str, str]] | None:
    """The rows of a table that a study wrote."""
    if not path.is_file():
        return None
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _cell(text: str, places: int, missing: str = "–") -> str:
    """A number for reading; a word stays as it is."""
    try:
        value = float(text)
    except ValueError:
        return text or missing
    return _number(value, 0 if value == int(value) else places)


def with_claims(readme: str, claims: str) -> str:
    """The README with the table of `claims`, a page of :func:`claims`, without the papers' figures and reasons."""
    rows = [re.split(r" (?<!\\)\| ", line[2:-2]) for line in claims.splitlines() if line.startswith("| ")]
    for cells in rows[1:]:
        cells[-1] = cells[-1].partition(":")[0]
    figure = rows[0].index("its figure")
    table = "".join(f"| {' | '.join(cells[:figure] + cells[figure + 1 :])} |\n" for cells in rows)
    return re.sub(r"^\| claim \|.*\n(\|.*\n)*", lambda _: table, readme, count=1, flags=re.MULTILINE)


STUDIES = ("handover", "umts-tcp", "hsdpa", "umts-multicast", "satellite", "rmcat", "handover-today")

#: What is made from the code alone.
FROM_CODE: dict[str, Callable[[], str]] = {
    "reference-scenario": partial(scenario_reference, None),
    **{f"reference-{name}": partial(scenario_reference, name) for name in SECTIONS},
    **{f"assumptions-{name}": partial(assumptions, name) for name in STUDIES},
    **{f"questions-{name}": partial(questions, name) for name in STUDIES},
    **{f"criteria-{name}": partial(criteria, name) for name in STUDIES},
}

#: What is made from the document of a study's claims.
FROM_CLAIMS: dict[str, Callable[[Any], str]] = {"claims": claims, "readings": readings}

#: The tables of evidence: what makes each, and the command without which it is not there.
EVIDENCE: dict[str, tuple[Callable[[], str | None], str]] = {
    "fidelity-table": (fidelity_table, "make fidelity"),
    "benchmark-table": (benchmark_table, "make bench-peers"),
    "tables-umts-tcp": (umts_tables, "lasthop reproduce umts-tcp"),
    "tables-hsdpa": (hsdpa_tables, "lasthop reproduce hsdpa"),
    "tables-umts-multicast": (multicast_tables, "lasthop reproduce umts-multicast"),
    "tables-satellite": (satellite_tables, "lasthop reproduce satellite"),
    "tables-rmcat": (rmcat_tables, "lasthop reproduce rmcat"),
    "answer-handover-today": (today_answer, "lasthop reproduce handover-today"),
    "tables-handover-today": (today_tables, "lasthop reproduce handover-today"),
    "table-handover": (handover_table, "lasthop reproduce handover"),
    "choice-handover": (handover_choice, "lasthop reproduce handover"),
}


def main() -> None:
    """Writes `docs/generated/`, or with `--snapshot` what is committed: `docs/snapshots/`, README's claims."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--snapshot", action="store_true", help="renew the committed tables of evidence, and README's")
    if parser.parse_args().snapshot:
        for name, (make, _) in EVIDENCE.items():
            if table := make():
                _write(SNAPSHOTS / f"{name}.md", table)
        for name in STUDIES:
            if document := _text(ROOT / "out" / name / CLAIMS_FILE):
                # Where the study was run does not matter.
                _write(SNAPSHOTS / f"claims-{name}.json", document.replace(f'"{ROOT}/', '"'))
        _write(README, with_claims(README.read_text(encoding="utf-8"), claims(committed("handover"))))
        return
    for part, of in FROM_CLAIMS.items():
        for name in STUDIES:
            _write(GENERATED / f"{part}-{name}.md", of(judged(name)))
    _write(GENERATED / "static" / "scenario.schema.json", schema())
    _write(GENERATED / "gallery.md", gallery())
    _write(GENERATED / "replaced-measures.md", replaced())
    _write(GENERATED / "instructions.md", instructions())
    for name, write in FROM_CODE.items():
        _write(GENERATED / f"{name}.md", write())
    for name, (make, command) in EVIDENCE.items():
        table = make() or _text(SNAPSHOTS / f"{name}.md")
        _write(GENERATED / f"{name}.md", table or f"*This table is not made yet: run* `{command}`.\n")


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _json(path: Path) -> Any:
    text = _text(path)
    return None if text is None else json.loads(text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _number(value: float | None, places: int) -> str:
    return "–" if value is None else f"{value:,.{places}f}".replace(",", "\u202f")


def _table(head: list[str], rows: list[list[str]], right_from: int | None = None) -> str:
    marks = ["---:" if right_from is not None and i >= right_from else "---" for i in range(len(head))]
    lines = [head, marks, *([cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
