"""The Python side's import directions: cli, studies and report stand on the rest, not under it."""

from __future__ import annotations

import ast

import pytest
from conftest import ROOT

PACKAGE = ROOT / "python" / "lasthop"

#: What stands on top, and on which of each other it may lean.
ABOVE = {"cli": {"cli", "studies"}, "studies": {"studies", "report"}, "report": {"report", "studies"}}

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
