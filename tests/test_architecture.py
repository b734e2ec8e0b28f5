"""Import directions of the Python side: cli, studies and report stand on the rest. Circles of files in Rust. Words."""

from __future__ import annotations

import ast
import json
import re

import pytest
import words
from circles import circles
from conftest import ROOT
from lasthop import _core

PACKAGE = ROOT / "python" / "lasthop"

#: What stands on top, and on which of each other it may lean.
ABOVE = {
    "cli": {"cli", "studies", "report", "view", "live_runs"},
    "studies": {"studies", "report"},
    "report": {"report", "studies"},
    "view": {"view", "report"},
    "live_runs": {"live_runs", "report"},
    # Its names are imported when they are first used.
    "__init__.py": {"live_runs"},
}

#: What costs much to import, and so is imported inside functions.
HEAVY = {"matplotlib", "scipy", "pandas", "polars", "plotly", "jinja2", "pyarrow", "numpy"}


def imports(tree: ast.AST):
    """The modules that a file imports, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path):
    room = path.relative_to(PACKAGE).parts[0]
    if room == "__main__.py":
        return
    found = {name.split(".")[1] for name in imports(ast.parse(path.read_text())) if name.startswith("lasthop.")}
    assert found & set(ABOVE) <= ABOVE.get(room, set())


@pytest.mark.parametrize("path", sorted((PACKAGE / "cli").glob("*.py")), ids=lambda path: path.stem)
def test_commands_start_without_heavy_imports(path):
    top = [node for node in ast.parse(path.read_text()).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    found = {name.split(".")[0] for node in top for name in imports(node)}
    assert not found & HEAVY
    assert not {n for node in top for n in imports(node) if n in ("lasthop._core", "lasthop.runs", "lasthop.plot")}


#: The crates in which there may be circles of files.
CRATES = ("net", "protocols", "radio", "replicas", "core")


def test_circles_of_files_become_no_more():
    found = circles({crate: ROOT / "crates" / crate / "src" for crate in CRATES})
    # BBR is one machine in several files, as TCP's sender is; the scoreboard's order by time is a part of it.
    assert len(found) <= 14, "\n".join(" ".join(sorted("::".join(one) for one in circle)) for circle in found)
    # Each is inside one room.
    assert all(len({module[:2] for module in circle}) == 1 for circle in found)


def test_a_long_file_says_why():
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        lines = path.read_text().splitlines()
        head = [line for line in lines if line.startswith("//!")]
        assert len(lines) <= 500 or any("More than 500 lines: " in line for line in head), path


def test_the_search_for_circles_finds_them(tmp_path):
    files = {
        "lib.rs": "mod a; mod b; mod c;",
        "a.rs": "use crate::{b::{self, B}, c};",
        "b.rs": "// use crate::c;\nuse super::c::C as D;",
        "c.rs": "#[cfg(test)]\nmod tests { use crate::a; }",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert circles({"x": tmp_path}) == []
    (tmp_path / "c.rs").write_text("fn f() -> crate::a::A { todo!() }")
    assert circles({"x": tmp_path}) == [{("x", "a"), ("x", "b"), ("x", "c")}]


def described(schema):
    """All descriptions in a schema, with where they stand."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties":
                yield from ((name, one["description"]) for name, one in value.items() if "description" in one)
            yield from described(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from described(value)


def test_defaults_are_said_as_defaults():
    """ "Default: 50 packets.", not "50 packets." at the end of what a parameter means."""
    trailing = re.compile(r"\. (None|On|Off|Nothing|Never|Yes|No|All|[0-9][\d.]*( [\w/]+)?( \([^()]*\))?)\.$")
    found = list(described(json.loads(_core.schema())))
    assert sum("Default: " in text for _, text in found) > 300
    assert not [(name, text) for name, text in found if trailing.search(text.strip())]


#: How prose is read, where it stands, and folders left out: studies quote papers, generated pages repeat their sources.
PROSE = [
    (words.rust, ["crates/**/*.rs", "examples/rust/**/*.rs"], {"target"}),
    (words.python, ["python/lasthop/**/*.py"], {"studies"}),
    (words.markdown, ["*.md", "docs/**/*.md"], {"generated", "snapshots", "_build", "CHANGELOG.md"}),
]


def banned():
    return words.banned((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("read", "patterns", "left_out"), PROSE, ids=["rust", "python", "markdown"])
def test_no_banned_phrases(read, patterns, left_out):
    """Comments, docstrings and docs name packets, senders and queues, as CONTRIBUTING.md asks under *Words*."""
    paths = {path.relative_to(ROOT) for pattern in patterns for path in ROOT.glob(pattern)}
    paths = sorted(path for path in paths if not left_out & set(path.parts))
    assert paths
    found = [
        f"{path}:{line}: {phrase}"
        for path in paths
        for line, phrase in words.hits(read((ROOT / path).read_text(encoding="utf-8")), banned())
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (
            words.rust,
            'let a = "// who";\n/// Tells who\n/// asks, so\n/// many times.\nlet b = 1; // nobody',
            [2, 3, 5],
        ),
        (words.rust, "let quote = '\"'; // who\nfn f<'a>(x: &'a str) {} // who", [1, 2]),
        (words.rust, '/// `who` keeps its name, and a paper says "what comes".', []),
        (words.python, 'x = "who"  # what\n\ndef f():\n    """First.\n\n    What\n    comes is told.\n    """', [6, 7]),
        (words.markdown, "Text\n\n```\nwho\n```\n\n| a | who |\n| b | somebody |\n\n- so\n  much", [7, 8, 10]),
    ],
)
def test_the_search_for_phrases_finds_them(read, text, expected):
    assert [line for line, _ in words.hits(read(text), banned())] == expected
