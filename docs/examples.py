"""Runs the examples in the documentation, and compares or renews what they print.

A page's blocks run in their order, in one folder and one Python namespace:

- `toml` that begins with `# file: NAME` is written to that file and checked, unless `(wrong)`
  stands behind the name. Any other `toml` is a fragment:
  links, flows and changes of which only the keys of interest stand there. It is completed and
  checked as a scenario.
- `console` holds commands after `$ `, each followed by what it prints. Times that a run took may
  differ, and a line with `…` alone stands for any lines. Other programs than `lasthop` run
  where they are installed.
- `sh` is not run, but for lines that begin with `.venv/bin/lasthop`, as the README has them. Of
  `reproduce` only the study's name is looked up: its own tests run it.
- `pycon` is a session whose output is compared; `python` is run.

`python docs/examples.py PAGE...` writes into the pages what their commands print now.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lasthop import studies

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent

#: A fenced block: language, text.
FENCE = re.compile(r"^```(toml|console|sh|pycon|python|py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: What differs from run to run: times that it took.
VARYING = [
    (re.compile(r"(simulated(?: \d+ times)? in) [\d.]+ m?s"), r"\1 0.00 s"),
    (re.compile(r"· \d+\.\d s$", re.MULTILINE), "· 0.0 s"),
]


#: A line that says how far a command is.
PROGRESS = re.compile(r"\S+: [\d ]+ of [\d ]+ (?:runs|simulated s)(?:, .* left)?")


@dataclass(frozen=True)
class Block:
    """An example."""

    language: str
    text: str
    #: The line of its first line, from 1, and where its text lies in the page.
    line: int
    span: tuple[int, int]


def pages() -> list[Path]:
    """The pages with examples."""
    own = sorted(p for p in DOCS.rglob("*.md") if not {"generated", "_build", "snapshots"} & set(p.parts))
    return [page for page in [ROOT / "README.md", *own] if page.exists() and any(blocks(page.read_text("utf-8")))]


def blocks(page: str) -> Iterator[Block]:
    """The examples of a page."""
    for found in FENCE.finditer(page):
        yield Block(found[1], found[2], page.count("\n", 0, found.start(2)) + 1, found.span(2))


class Runner:
    """Runs the blocks of one page in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        examples = folder / "examples"
        if (ROOT / "examples").is_dir() and not examples.exists():
            shutil.copytree(ROOT / "examples", examples)

    def run(self, block: Block) -> str:
        """Runs a block, and gives the text that it should have."""
        here = Path.cwd()
        os.chdir(self.folder)
        try:
            return getattr(self, block.language)(block)
        finally:
            os.chdir(here)

    def toml(self, block: Block) -> str:
        import lasthop

        if found := re.match(r"# file: (\S+)( \(wrong\))?\n", block.text):
            Path(found[1]).write_text(block.text, encoding="utf-8")
            if not found[2]:
                lasthop.load(found[1])
        else:
            lasthop.load(completed(tomllib.loads(block.text)))
        return block.text

    def console(self, block: Block) -> str:
        parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
        if parts[0].strip():
            raise AssertionError(f"output without a command: {parts[0]!r}")
        text = ""
        for command, expected in zip(parts[1::2], parts[2::2], strict=True):
            printed = self.command(command)
            ended = "\n" if expected.endswith("\n\n") else ""
            text += f"$ {command}\n"
            text += expected if printed is None or same(expected, printed) else printed.rstrip("\n") + "\n" + ended
        return text

    def command(self, command: str) -> str | None:
        """What a command prints; `None` if its program is not installed here."""
        program = command.split(maxsplit=1)[0]
        here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        if shutil.which(program, path=here) is None:
            return None
        done = subprocess.run(
            ["bash", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if program == "lasthop" else subprocess.DEVNULL,
            encoding="utf-8",
            env={**os.environ, "PATH": here, "NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
            timeout=300,
            check=False,
        )
        expected = {2} if done.stdout.startswith("error:") else {0}
        if done.returncode not in expected:
            raise AssertionError(f"`{command}` ended with {done.returncode}:\n{done.stdout}")
        # How far a command is it says only where the machine is slow.
        said = [line.rstrip() for line in done.stdout.splitlines() if not PROGRESS.fullmatch(line.rstrip())]
        return "\n".join(said) + "\n" if said else ""

    def pycon(self, block: Block) -> str:
        alike = doctest.OutputChecker().check_output
        text = ""
        for part in doctest.DocTestParser().parse(block.text):
            if isinstance(part, str):
                text += part
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(part.source, f"block at line {block.line}", "single"), self.names)
            first, *rest = part.source.splitlines(keepends=True)
            text += "".join([f">>> {first}", *(f"... {line}" for line in rest)])
            text += part.want if alike(part.want, printed.getvalue(), doctest.ELLIPSIS) else printed.getvalue()
        return text

    def python(self, block: Block) -> str:
        exec(compile(block.text, f"block at line {block.line}", "exec"), self.names)
        return block.text

    py = python

    def sh(self, block: Block) -> str:
        for line in block.text.splitlines():
            words = line.partition("#")[0].split()
            if words[:2] == [".venv/bin/lasthop", "reproduce"]:
                studies.study(words[2])
            elif words[:1] == [".venv/bin/lasthop"]:
                self.command(line.removeprefix(".venv/bin/"))
        return block.text


def same(expected: str, printed: str) -> bool:
    """Whether what was printed is what was expected, but for times and lines left out."""
    for varying, word in VARYING:
        expected, printed = varying.sub(word, expected), varying.sub(word, printed)
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line.rstrip()) + r"\n"
        for line in expected.strip("\n").splitlines()
    )
    return re.fullmatch(pattern, printed.strip("\n") + "\n") is not None or (expected.strip() == printed.strip())


def _listed(tables: Any) -> list[dict[str, Any]]:
    """The tables of a list, or the one table that a fragment such as ``link.queue.red.min = 5`` shows."""
    return tables if isinstance(tables, list) else [tables]


def completed(fragment: dict[str, Any]) -> dict[str, Any]:
    """A scenario of which `fragment` shows a part."""
    links, flows = (_listed(fragment.pop(key, {})) for key in ("link", "flow"))
    for number, link in enumerate(links):
        link.setdefault("name", "radio" if number == 0 else f"link{number}")
        link.setdefault("between", ["server", "mobile"] if number == 0 else ["server", f"node{number}"])
        link.setdefault("rate", "2 Mbit/s")
    ends = links[0]["between"]
    for number, flow in enumerate(flows):
        flow.setdefault("name", f"flow{number}")
        flow.setdefault("from", ends[0])
        flow.setdefault("to", ends[1])
    for change in fragment.get("change", []):
        change.setdefault("at", "10 s")
        change.setdefault("link", links[0]["name"])
    return {"link": links, "flow": flows, **fragment}


def renew(page: Path) -> bool:
    """Writes into a page what its commands print now; whether it changed."""
    text = page.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(folder))
        fresh = [(block, runner.run(block)) for block in blocks(text)]
    new = text
    for block, body in reversed(fresh):
        if body != block.text:
            start, end = block.span
            new = new[:start] + body + new[end:]
    page.write_text(new, encoding="utf-8")
    return new != text


if __name__ == "__main__":
    for name in sys.argv[1:] or pages():
        path = Path(name).resolve()
        print(f"{path.name}: {'renewed' if renew(path) else 'as it was'}")
