"""The wheel in fresh environments of two Pythons: every command of the docs, and the notebooks. The oldest
dependencies. The source distribution."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT, in_terminal
from test_docs import examples

#: Columns of the terminal.
COLUMNS = 80

#: Lines that may be longer: names of files, the place of an error and its list of what is known.
LONG = re.compile(r"^(wrote|report|figures|data) |^ *(= known:|-->) ")


def environments():
    """The oldest Python that lasthop promises, with a pipe for its output, and the newest, with a terminal."""
    lists = [Path.home() / ".pyenv" / "versions"]
    places = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    places += [path / "bin" for folder in lists if folder.is_dir() for path in folder.iterdir()]
    found = {
        int(match[1]): path
        for place in places
        if place.is_dir()
        for path in place.iterdir()
        if (match := re.fullmatch(r"python3\.(\d+)", path.name)) and int(match[1]) >= 11
    }
    found.setdefault(sys.version_info.minor, Path(sys.executable))
    oldest, newest = found[min(found)], found[max(found)]
    # What can go wrong with one does not depend on the other: both with both would take twice as long.
    return [(oldest, [None]), (newest, [COLUMNS])] if oldest != newest else [(oldest, [None, COLUMNS])]


@pytest.fixture(scope="module")
def maturin():
    """The program that builds."""
    found = shutil.which("maturin", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None or shutil.which("cargo") is None:
        pytest.skip("needs maturin and a Rust toolchain")
    return found


@pytest.fixture(scope="module")
def wheel(maturin, tmp_path_factory):
    """The wheel as `pip` would get it, without link-time optimisation."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([maturin, "build", "--profile", "fast", "--quiet", "--out", folder], cwd=ROOT, check=True)
    (built,) = folder.glob("*.whl")
    return built


class Fresh(examples.Runner):
    """Runs the commands of a page with an environment's `lasthop`, piped or in a terminal, and no Python."""

    def __init__(self, folder, bin, columns):
        super().__init__(folder)
        self.columns = columns
        self.wide = []
        left_out = ("COLUMNS", "PYTHONPATH")
        self.environment = {key: value for key, value in os.environ.items() if key not in left_out}
        self.environment |= {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "agg"}

    def command(self, command):
        if shutil.which(command.split(maxsplit=1)[0], path=self.environment["PATH"]) is None:
            return
        words = ["bash", "-c", command]
        if self.columns:
            code, shown = in_terminal(self.columns, words, self.folder, self.environment)
        else:
            done = subprocess.run(words, capture_output=True, text=True, env=self.environment, check=False)
            code, shown = done.returncode, done.stdout + done.stderr
        assert code == (2 if re.search(r"^(\x1b\S*m)?error", shown, re.MULTILINE) else 0), f"{command}: {code}\n{shown}"
        assert "Traceback" not in shown
        plain = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", shown)
        wide = [line for line in plain.splitlines() if self.columns and len(line) > self.columns]
        self.wide += [(command, line) for line in wide if not LONG.match(line)]

    def toml(self, block):
        if found := re.match(r"# file: (\S+)", block.text):
            (self.folder / found[1]).write_text(block.text, encoding="utf-8")

    def python(self, block):
        """Needs what a plain install leaves out: the notebooks have it."""

    pycon = py = python


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("python", "outputs"), environments(), ids=lambda value: getattr(value, "name", ""))
def test_every_command_in_a_fresh_environment(wheel, python, outputs, tmp_path):
    subprocess.run([python, "-m", "venv", tmp_path / "fresh"], check=True)
    bin = tmp_path / "fresh" / "bin"
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", bin / "python"]
    subprocess.run([*uv, wheel], check=True)
    wide = []
    for number, page in enumerate(examples.pages()):
        for columns in outputs:
            folder = tmp_path / f"{number}-{columns}"
            folder.mkdir()
            runner = Fresh(folder, bin, columns)
            for block in examples.blocks(page.read_text(encoding="utf-8")):
                runner.run(block)
            wide += runner.wide
    assert not wide, "\n".join(map(str, wide))
    subprocess.run([*uv, f"{wheel}[pandas]", "nbclient", "ipykernel"], check=True)
    for book in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        command = [bin / "python", "-c", NOTEBOOK, book]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and int(done.stdout) >= 1, done.stderr


def test_the_oldest_dependencies_do(wheel, tmp_path):
    """What the metadata allow is enough for each kind of command, without pandas, which a plain install leaves out."""
    python, _ = environments()[0]
    subprocess.run([python, "-m", "venv", tmp_path / "old"], check=True)
    bin = tmp_path / "old" / "bin"
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--resolution", "lowest-direct"]
    subprocess.run([*uv, "--python", bin / "python", wheel, *asked], check=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"MPLBACKEND": "agg"}
    for command in (
        "new two-flows",
        "run two-flows.toml -o run --plot --pcap run.pcapng",
        "sweep two-flows.toml --vary link.radio.delay=20ms,40ms --seeds 2 -o swept",
        "sweep two-flows.toml --vary link.radio.delay=20ms,40ms --seeds 2 -o csv --format csv",
        "plot swept",
        "report run",
        "report swept",
        "compare swept csv",
        "view two-flows.toml --to 2",
        "analyze run.pcapng",
        "schema queue",
    ):
        words = [bin / "lasthop", *command.split()]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"


def test_the_wheel_has_the_licences_of_the_crates_in_it(wheel):
    """Those of all systems; `python3 crates/python/licences.py` writes the file anew."""
    licences = runpy.run_path(str(ROOT / "crates" / "python" / "licences.py"))
    written = licences["WRITTEN"]
    with zipfile.ZipFile(wheel) as archive:
        (held,) = (name for name in archive.namelist() if name.endswith(f"licenses/{written.name}"))
        text = archive.read(held).decode()
    named = {tuple(crate) for crate in re.findall(r"^([\w-]+) (\d+\.\d+\.[\w.+-]+): ", text, re.MULTILINE)}
    for names in re.findall(r"^(?:[\w-]+ \d+\.\d+\.[\w.+-]+(?:, |:$))+", text, re.MULTILINE):
        named |= {tuple(crate.split()) for crate in names.rstrip(":").split(", ")}
    assert named == licences["linked"]()


def test_the_source_distribution_has_what_its_tests_read(maturin, tmp_path):
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        held = {Path(*Path(name).parts[1:]) for name in archive.getnames()}
    held |= {parent for path in held for parent in path.parents}
    read = {
        Path(*re.findall(r'"([^"]+)"', named))
        for path in (ROOT / "tests").glob("*.py")
        for named in re.findall(r'ROOT((?: / "[^"]+")+)', path.read_text(encoding="utf-8"))
    }
    assert Path("CONTRIBUTING.md") in read
    assert not {path for path in read if (ROOT / path).exists()} - held


#: Runs a notebook and counts its pictures.
NOTEBOOK = """
import sys, nbclient, nbformat
book = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
print(sum("image/png" in output.get("data", {}) for cell in book.cells for output in cell.get("outputs", [])))
"""
