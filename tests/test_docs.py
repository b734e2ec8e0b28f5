"""The examples in the documentation and in the README run, and print what the pages say."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _script(name):
    """A script of the documentation, as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


examples = _script("examples")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", examples.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_of_a_page_run_and_print_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    runner = examples.Runner(tmp_path)
    for block in examples.blocks(page.read_text(encoding="utf-8")):
        says = runner.run(block)
        assert says == block.text, f"{page.name}, line {block.line}: `python docs/examples.py {page.name}` renews it"


def test_the_claims_in_the_readme_are_those_of_the_last_run():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    generate = _script("generate")
    claims = generate.claims(generate.committed("handover"))
    assert claims.count("\n| A") > 5
    renewed = generate.with_claims(readme, claims)
    assert renewed == readme, "`python docs/generate.py --snapshot` renews the table"


def test_every_page_is_in_the_table_of_contents():
    listed = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").split()
    pages = {
        str(path.relative_to(ROOT / "docs").with_suffix(""))
        for path in (ROOT / "docs").rglob("*.md")
        if not {"generated", "snapshots", "_build", "does-not-follow"} & set(path.parts) and path.name != "index.md"
    }
    assert pages <= set(listed), pages - set(listed)


def test_every_table_and_column_is_explained():
    import lasthop as lh

    scenario = {
        "duration": "2 s",
        "link": [{"name": "radio", "between": ["a", "b"], "rate": "1 Mbit/s"}],
        "flow": [{"from": "a", "to": "b", "source": "file"}],
        "change": [{"at": "1 s", "link": "radio", "rate": "2 Mbit/s"}],
        "record": {"series": "1 s", "packets": True, "variables": True, "state": True, "handovers": True},
    }
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in page.split("\n## ")[1:])
    result = lh.run(scenario)
    for name, table in result.tables.items():
        names = [*table.columns, *set(table["quantity"] if name == "series" else [])]
        missing = [column for column in names if f"`{column}`" not in sections[name]]
        assert not missing, f"{name}: {missing}"


def test_every_value_that_models_show_is_on_a_page():
    """Those of the table `state`, which `record.quantities` takes by name."""
    pages = [
        path for path in (ROOT / "docs").rglob("*.md") if not {"snapshots", "generated", "_build"} & set(path.parts)
    ]
    named = set(re.findall(r"`([\w.]+)`", "\n".join(path.read_text(encoding="utf-8") for path in pages)))
    shown = set()
    for path in (ROOT / "crates").glob("*/src/**/*.rs"):
        if "tests" not in path.parts and path.stem != "tests":
            text = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
            shown |= set(re.findall(r'probe\s*\.(?:value|distribution)\(\s*"([\w.]+)"', text))
    assert len(shown) > 200
    missing = {name for name in shown if not {name, f"{name}_p50", f"{name}_mean"} & named}
    assert not missing, sorted(missing)


def test_output_may_differ_in_times_and_where_lines_are_left_out():
    said = "x · 60 s simulated in 0.31 s · seed 1\n\na\nb\nc\n"
    assert examples.same("x · 60 s simulated in 0.02 s · seed 1\n\na\n…\nc\n", said)
    assert not examples.same("x · 60 s simulated in 0.02 s · seed 2\n\na\n…\nc\n", said)


def test_a_command_that_is_wrong_fails(tmp_path):
    block = next(examples.blocks("```console\n$ lasthop nonsense\n```\n"))
    with pytest.raises(AssertionError, match="nonsense"):
        examples.Runner(tmp_path).run(block)


def test_the_python_page_has_everything_that_is_public():
    import lasthop as lh

    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\.\. auto(?:function|class|exception|module):: (?:lasthop\.)?(\w+)$", page, re.MULTILINE))
    named |= set(re.findall(r"`lh\.(\w+)`", page))
    assert named == {name for name in lh.__all__ if not name.startswith("_")}
