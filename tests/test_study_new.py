"""`lasthop studies new`: a folder that is a study, as whoever begins one finds and changes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Lasthop
from lasthop import studies
from lasthop.results import read_table
from lasthop.studies.claims import NOT_REPRODUCED, REPRODUCED

#: What every study has, and what it may have beside.
SKELETON = {"paper", "readings", "scenario", "experiments", "measures", "judges", "figures", "tables", "study"}
MORE = {"data", "network", "single_runs", "styles", "appendix"}

STUDIES = Path(studies.__file__).parent


#: One made by the recipe of CONTRIBUTING, apart from ours.
EXAMPLE = ROOT / "examples" / "studies" / "round_trip"


@pytest.mark.parametrize(
    "home", [EXAMPLE, STUDIES / "template", *(STUDIES / name.replace("-", "_") for name in studies.STUDIES)]
)
def test_all_studies_have_the_same_entries(home: Path) -> None:
    code = {path.stem for path in home.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert code | {"paper"} >= SKELETON and code - {"__init__"} <= SKELETON | MORE
    assert {path.name for path in (home / "paper").glob("*.toml")} == {"about.toml", "claims.toml", "questions.toml"}


def changed(file: Path, before: str, after: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{file}: {before}"
    file.write_text(text.replace(before, after), encoding="utf-8")


@pytest.fixture(autouse=True)
def mine(lasthop: Lasthop) -> Path:
    assert "lasthop reproduce ./mine" in lasthop("studies", "new", "mine").stderr
    return lasthop.folder / "mine"


def verdicts(lasthop: Lasthop, *words: str) -> dict[str, str]:
    document = json.loads(lasthop("reproduce", "./mine", "--json", *words).stdout)
    return {claim["id"]: claim["verdict"] for claim in document["claims"]}


def test_a_new_study_runs_and_judges_its_claims(lasthop: Lasthop) -> None:
    shown = lasthop("reproduce", "./mine").stdout
    assert shown.startswith("mine · one file over a path of 100 ms that loses packets · quick")
    assert "2 reproduced" in shown and "lasthop reproduce ./mine --full" in shown
    out = lasthop.folder / "out" / "mine"
    document = json.loads((out / "claims.json").read_text(encoding="utf-8"))
    assert [claim["id"] for claim in document["claims"]] == ["N1", "N2"]
    for claim in document["claims"]:
        assert claim["null"]["state"] == "fails"
        assert list(claim["readings"]) == ["as taken", "every second packet"]
    for name in ("report.html", "figure-1.svg", "figure-1.csv", "table-1.csv", "costs.csv", "claims-by-reading.csv"):
        assert (out / name).stat().st_size > 0
    assert "rate ∝ p to the power of −0.5" in (out / "report.html").read_text(encoding="utf-8")


def test_a_claim_that_is_changed_fails(lasthop: Lasthop, mine: Path) -> None:
    assert verdicts(lasthop) == {"N1": REPRODUCED, "N2": REPRODUCED}
    changed(mine / "judges.py", "power, -0.6, -0.4", "power, -1.1, -0.9")
    assert verdicts(lasthop) == {"N1": NOT_REPRODUCED, "N2": REPRODUCED}


def test_finished_runs_count_after_a_change_of_what_reads_them(mine: Path) -> None:
    """An error in a judge was found after all runs, and its mend made all of them again."""
    before = studies.study(str(mine)).code
    for file in ("judges.py", "figures.py", "tables.py", "paper/claims.toml"):
        (mine / file).write_text((mine / file).read_text(encoding="utf-8") + "\n# mended\n", encoding="utf-8")
        assert studies.study(str(mine)).code == before, file
    for file in ("measures.py", "scenario.toml", "paper/questions.toml"):
        (mine / file).write_text((mine / file).read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
        assert studies.study(str(mine)).code != before, file
        before = studies.study(str(mine)).code


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('"fast"', ", seed 1: goodput_kbps is 'fast': a measure is a number, or None where there is none"),
        ("None if result.seed == 1 else 1.0", ""),
    ],
)
def test_a_measure_is_a_number_or_missing(lasthop: Lasthop, mine: Path, value: str, said: str) -> None:
    changed(mine / "measures.py", 'float(result.flows["goodput_kbps"][0])', value)
    error = lasthop("reproduce", "./mine", "-q", code=1 if said else 0).stderr
    assert said in error and "Traceback" not in error


def test_a_null_model_that_was_not_run_is_told(lasthop: Lasthop, mine: Path) -> None:
    changed(mine / "judges.py", 'level(LOSSES, "loss")', 'level("losse", "loss")')
    claims = json.loads(lasthop("reproduce", "./mine", "--json").stdout)["claims"]
    (reason,) = (claim["reason"] for claim in claims if claim["id"] == "N1")
    assert "whether the null model passes too is not known" in reason and "losse" in reason


def test_the_example_of_the_recipe_runs(lasthop: Lasthop) -> None:
    document = json.loads(lasthop("reproduce", str(EXAMPLE), "--json").stdout)
    [claim] = document["claims"]
    assert (claim["id"], claim["verdict"], claim["null"]["state"]) == ("N1", REPRODUCED, "fails")
    figure = read_table(lasthop.folder / "out" / "round-trip" / "figure-1.parquet").rows()
    # The model of the paper, a quarter either way as in the template's second claim: it knows no timeouts and no start.
    for row in figure:
        assert row["mean"] == pytest.approx(1.31 * 8.0 / (2e-3 * row["delay_ms"] * 0.1), rel=0.25), row


def test_it_is_small(mine: Path) -> None:
    files = [path for path in mine.rglob("*") if path.suffix in (".py", ".toml")]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= 280


def test_all_of_it_is_run(lasthop: Lasthop) -> None:
    """The full mode runs more, and the second answer changes what is run."""
    lasthop("reproduce", "./mine", "--full")
    out = lasthop.folder / "out" / "mine"
    ours = {
        name: one["ours"]
        for claim in json.loads((out / "claims.json").read_text(encoding="utf-8"))["claims"]
        for name, one in claim["readings"].items()
        if claim["id"] == "N2"
    }
    assert ours["as taken"] != ours["every second packet"]


def test_a_study_is_named_by_its_path(lasthop: Lasthop) -> None:
    lasthop("studies", "new", "other", "-o", "papers/mathis")
    assert "mathis · " in lasthop("reproduce", "papers/mathis").stdout
    assert (lasthop.folder / "out" / "mathis" / "report.html").exists()
    assert "unknown study 'papers'" in lasthop("reproduce", "papers", code=2).stderr


def test_what_stands_there_is_left_alone(lasthop: Lasthop, mine: Path) -> None:
    before = (mine / "judges.py").read_text(encoding="utf-8")
    assert "mine exists" in lasthop("studies", "new", "mine", code=2).stderr
    assert (mine / "judges.py").read_text(encoding="utf-8") == before
    assert "no name of a folder" in lasthop("studies", "new", "a/b", code=2).stderr


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("paper/claims.toml", "[N2]", "[N3]", "N2 is in JUDGES and not in paper/claims.toml"),
        ("judges.py", '"N1": Judge', '"N0": Judge', "N0 is in JUDGES and not in paper/claims.toml"),
        ("paper/claims.toml", 'band = "0.98 to 1.64"', "", "claims.toml: N2 does not say: band"),
        ("paper/claims.toml", 'band = "0.98 to 1.64"', 'bond = "0.98"', "claims.toml: N2: unknown bond; known: sec"),
        ("paper/about.toml", 'title = "TCP', 'titel = "TCP', "about.toml: unknown titel; known: title, source"),
        ("paper/questions.toml", 'name = "each packet"', "", "missing 1 required positional argument: 'name'"),
        ("paper/claims.toml", "[N1]", "[N1", "claims.toml: "),
        ("paper/questions.toml", '"every second packet"', '"each packet"', "two answers are named “each packet”"),
        ("paper/questions.toml", '"every second packet"', '"as taken"', "“as taken” is a name that readings have"),
        ("experiments.py", "{reading.name}: ", "", "two grids are named “losses” and run something else"),
        ("paper/claims.toml", 'paper = "1.31"', 'paper = "1.31"\nfitted_at = ["each"]', "no answer is named each"),
    ],
)
def test_what_is_wrong_is_told(lasthop: Lasthop, mine: Path, file: str, before: str, after: str, said: str) -> None:
    changed(mine / file, before, after)
    error = lasthop("reproduce", "./mine", code=2).stderr
    assert said in error and "Traceback" not in error
