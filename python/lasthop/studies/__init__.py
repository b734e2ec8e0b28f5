"""The studies: each re-runs a paper and holds it against what the paper claims.

A study is a folder, a package with a `STUDY`: one of ours, in this folder, or anybody's, at a path.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from lasthop import files
from lasthop.studies import claims, crossing, words
from lasthop.studies.claims import Claim
from lasthop.studies.crossing import Explored
from lasthop.studies.readings import Question
from lasthop.studies.words import Assumption, StudyError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lasthop.results import Table
    from lasthop.studies.bench import Bench

__all__ = [
    "STUDIES",
    "Assumption",
    "Campaign",
    "Outcome",
    "Picture",
    "Study",
    "StudyError",
    "is_study",
    "last_counts",
    "reproduce",
    "study",
]

#: Our studies by name. Each is a package in this folder with a ``STUDY`` in it.
STUDIES = ("handover", "umts-tcp", "hsdpa", "umts-multicast", "satellite", "rmcat", "handover-today")

#: How the name of an appendix ends.
APPENDIX = "-appendix"

#: The package, as it were, of studies at paths.
LOCAL = "local_studies"

#: Who writes a study's folder.
MADE_BY = "lasthop reproduce"

#: What a study leaves in its folder for `lasthop studies` to read.
CLAIMS_FILE = "claims.json"


@dataclass(frozen=True)
class Picture:
    """A figure of the paper, drawn from our runs."""

    #: Its name, as in the paper: `figure-3a`.
    id: str
    #: What it shows: how many runs, what a band is, which profile.
    caption: str
    #: What one sees, for who does not see it.
    alt: str
    figure: Figure
    #: The numbers behind it.
    data: Table


@dataclass(frozen=True)
class Campaign:
    """What the runs of a study gave."""

    #: The readings that were run, with the results that claims are judged on.
    explored: Explored
    pictures: Sequence[Picture]
    #: Tables beyond the figures' data, by name, each with a line that says what it holds.
    tables: Mapping[str, tuple[str, Table]]
    #: Seeds and the like, for the report's last part.
    facts: Mapping[str, str]
    #: Rows of figures that the terminal shows before the claims.
    shown: Sequence[Mapping[str, str]] = ()
    #: The study's answer to its question, sentence by sentence.
    answer: Sequence[str] = ()


@dataclass(frozen=True)
class Study:
    """A paper, re-run."""

    name: str
    #: A few words for the list of studies.
    title: str
    #: The paper.
    source: str
    #: The document among the seeds of the project.
    seed_document: str
    #: What the paper asked, in two sentences.
    question: str
    #: One line about the runs: what, where, how many.
    setting: Callable[[str], str]
    claims: Sequence[Claim[Any]]
    #: What the paper leaves open and more than one answer fits.
    questions: Sequence[Question]
    assumptions: Sequence[Assumption]
    #: The text of the scenario of the default reading.
    scenario: Callable[[], str]
    #: How many runs a mode takes, but for those of crossed readings.
    runs: Callable[[str], int]
    #: Makes the runs.
    perform: Callable[[Bench], Campaign]
    #: What goes beyond the paper; it is run by itself. Its name is the study's with ``-appendix``.
    appendix: Study | None = None
    #: What symbols in its claims mean.
    symbols: Mapping[str, str] = field(default_factory=dict)
    #: What its claims are held against.
    behind: str = "the paper"
    #: The folder of its code, and its path as it was given, if it is none of ours.
    home: Path | None = None
    path: str = ""

    @classmethod
    def of(
        cls,
        module: str,
        *,
        claims: Sequence[Claim[Any]],
        questions: Sequence[Question],
        scenario: Callable[[], str],
        runs: Callable[[str], int],
        perform: Callable[[Bench], Campaign],
        appendix: Study | None = None,
    ) -> Self:
        """The study that a module belongs to, with what its `paper/about.toml` says."""
        package, about = module.rpartition(".")[0], words.about(module)
        return cls(
            name=package.rpartition(".")[2].replace("_", "-"),
            title=about.title,
            source=about.source,
            seed_document=about.seed_document,
            question=about.question,
            setting=lambda mode: f"{about.setting} · {mode}",
            claims=claims,
            questions=questions,
            assumptions=about.assumptions,
            scenario=scenario,
            runs=runs,
            perform=perform,
            appendix=appendix,
            symbols=about.symbols,
            behind=about.behind,
            home=Path(str(sys.modules[module].__file__)).parent,
        )

    @property
    def command(self) -> str:
        """What runs it."""
        name = self.name.removesuffix(APPENDIX)
        return f"lasthop reproduce {self.path or name}" + (" --appendix" if name != self.name else "")

    @property
    def code(self) -> str:
        """What tells the code of its runs, and of what is measured in them, from any other."""
        made = hashlib.sha256()
        for path in sorted(self.home.rglob("*")) if self.home else ():
            entry = path.relative_to(self.home).parts[0].removesuffix(".py") if self.home else ""
            if path.suffix in (".py", ".toml") and entry not in AFTER_RUNS and path.name not in WORDS:
                made.update(path.read_bytes())
        return made.hexdigest()


#: Entries of a study that only read what its runs left, and words: after a change of these finished runs still count.
AFTER_RUNS = {"judges", "figures", "tables", "single_runs", "styles"}
WORDS = {"about.toml", "claims.toml"}


@dataclass(frozen=True)
class Outcome:
    """What :func:`reproduce` made."""

    study: Study
    mode: str
    judged: Sequence[claims.Judged]
    explored: Explored
    folder: Path
    #: The files of each figure and table, data included.
    figures: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    tables: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    report: Path | None = None
    wall_s: float = field(default=0.0, compare=False)
    #: Rows of figures that the terminal shows before the claims.
    shown: Sequence[Mapping[str, str]] = ()
    #: The study's answer to its question, sentence by sentence.
    answer: Sequence[str] = ()
    #: Whether what an interrupted call had left was damaged: runs of which nothing was whole were made again.
    damaged: bool = field(default=False, compare=False)

    def document(self) -> dict[str, Any]:
        """As plain data, in the form that all studies keep."""
        return {
            "study": self.study.name,
            "seed_document": self.study.seed_document,
            "mode": self.mode,
            **({"answer": list(self.answer)} if self.answer else {}),
            "claims": [self._claim(one) for one in self.judged],
            "questions": [
                {
                    "question": question.name,
                    "why": question.why,
                    "answers": [
                        {"answer": answer.name, "about": answer.about, "quote": answer.quote}
                        for answer in question.answers
                    ],
                    "crossed": question.name in self.explored.crossed,
                }
                for question in self.study.questions
            ],
            "together": [
                {"reading": one.reading, "gained": list(one.gained), "lost": list(one.lost)} for one in self.together
            ],
            "figures": [{"id": name, "files": list(paths)} for name, paths in self.figures.items()],
            "tables": [{"id": name, "files": list(paths)} for name, paths in self.tables.items()],
            "wall_s": self.wall_s,
        }

    def decider(self, judged: claims.Judged) -> crossing.Decider | None:
        """The question that decides a claim."""
        return crossing.decider(judged, self.study.questions, self.explored.readings)

    @property
    def together(self) -> Sequence[crossing.Together]:
        """The readings in which most claims hold together."""
        return crossing.together(self.judged, self.explored.readings)

    def _claim(self, judged: claims.Judged) -> dict[str, Any]:
        decider = self.decider(judged)
        return {**judged.document(), "decided_by": decider and decider.document()}

    def text(self, *, colour: bool = False) -> str:
        """What the terminal shows: the claims, the counts, and where everything is."""
        from lasthop.studies.page import outcome_text

        return outcome_text(self, colour=colour)


def is_study(name: str) -> bool:
    """Whether there is a study of this name, or at this path."""
    return name in STUDIES or (Path(name) / "study.py").is_file()


def study(name: str) -> Study:
    """The study of this name, or at this path."""
    ours = name in STUDIES
    found = (import_module(f"lasthop.studies.{name.replace('-', '_')}") if ours else _package(Path(name))).STUDY
    assert isinstance(found, Study)
    return found if ours else replace(found, path=name)


def _package(folder: Path) -> ModuleType:
    """The package at a path, as it is now."""
    name = f"{LOCAL}.{folder.resolve().name.replace('.', '_')}"
    for known in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
        del sys.modules[known]
    spec = util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    assert spec and spec.loader
    sys.modules[name] = made = util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def last_counts(folder: Path) -> dict[str, int] | None:
    """How many claims had each verdict in the run that lies in ``folder``."""
    try:
        document = json.loads((folder / CLAIMS_FILE).read_text(encoding="utf-8"))
        verdicts = [claim["verdict"] for claim in document["claims"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return {verdict: verdicts.count(verdict) for verdict in claims.VERDICTS if verdict in verdicts}


def reproduce(
    study: Study,
    mode: str,
    folder: Path,
    *,
    threads: int | None = None,
    progress: Callable[[float, int], None] | None = None,
    force: bool = False,
) -> Outcome:
    """Runs a study, judges its claims, and writes figures, data and report into ``folder``.

    ``progress`` gets how many runs are done, and of how many: more are added when it is known which readings to cross.
    """
    with files.claimed(folder, made_by=MADE_BY, force=force):
        return _reproduce(study, mode, folder, threads, progress)


def _reproduce(
    study: Study, mode: str, folder: Path, threads: int | None, progress: Callable[[float, int], None] | None
) -> Outcome:
    from lasthop import plot
    from lasthop.report import write_report
    from lasthop.results import write_table
    from lasthop.studies import records
    from lasthop.studies.bench import Bench

    began, started = time.perf_counter(), datetime.now(UTC)
    if not (folder / files.MANIFEST).exists():
        # Whose the folder is, should this be interrupted.
        _write_json(folder / files.MANIFEST, {"made_by": MADE_BY, "study": study.name})
    bench = Bench(mode, folder, total=study.runs(mode), threads=threads, progress=progress, code=study.code)
    with plot.in_look():
        campaign = study.perform(bench)
    explored = campaign.explored
    judged = [claims.judge(claim, explored.measured) for claim in study.claims]
    if judged:
        campaign = replace(campaign, tables={**campaign.tables, "claims-by-reading": records.by_reading(judged)})
    figures: dict[str, list[Path]] = {}
    tables: dict[str, list[Path]] = {}
    for picture in campaign.pictures:
        data = [write_table(picture.data, folder / f"{picture.id}.{suffix}") for suffix in ("parquet", "csv")]
        figures[picture.id] = [*plot.save(picture.figure, folder / picture.id), *data]
    for name, (_about, table) in campaign.tables.items():
        tables[name] = [write_table(table, folder / f"{name}.{suffix}") for suffix in ("parquet", "csv")]
    wall = time.perf_counter() - began
    report = folder / "report.html"
    told = (campaign.shown, campaign.answer, bench.damaged)
    outcome = Outcome(study, mode, judged, explored, folder, figures, tables, report, wall, *told)
    write_report(outcome, campaign, started)
    _write_json(folder / CLAIMS_FILE, outcome.document())
    _write_json(
        folder / files.MANIFEST,
        {
            "made_by": MADE_BY,
            **files.provenance(),
            "study": study.name,
            "mode": mode,
            "started": started.isoformat(timespec="seconds"),
            "wall_s": wall,
            "scenario_text": study.scenario(),
            **campaign.facts,
            **_crossed(explored),
        },
    )
    bench.clear()
    return outcome


def _crossed(explored: Explored) -> dict[str, str]:
    """What was crossed, and what that took."""
    if not explored.crossed:
        return {}
    crossed = sum(len(reading.chosen) > 1 for reading in explored.readings)
    return {"crossed readings": f"{crossed}, in {explored.crossed_s:.0f} s: all pairs of {', '.join(explored.crossed)}"}


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    with files.whole(path) as out:
        out.write_text(files.json_text(document) + "\n", encoding="utf-8")
