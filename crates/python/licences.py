"""Writes `THIRD-PARTY-LICENSES.txt`: the licences of the crates that are linked into the wheel, each text once.

Run it when Cargo.lock has changed: `python3 crates/python/licences.py`.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = ROOT / "THIRD-PARTY-LICENSES.txt"

#: Files with terms or with names, however a crate calls them.
TERMS = re.compile(r"(licen[sc]e|copying|copyright|notice|unlicense)([-_.].*)?", re.IGNORECASE)
OF_MIT = re.compile(r"licen[sc]e[-_.]mit([-_.].*)?", re.IGNORECASE)
OF_OTHERS = re.compile(r"(licen[sc]e[-_.](apache|zlib)|copyright|unlicense).*", re.IGNORECASE)

HEAD = """\
lasthop's wheels hold compiled code of the crates below, for all systems together: none of them holds all.
lasthop itself is under the terms of LICENSE. Of a crate with a choice of licences that has a file for MIT,
that one is given.

They hold code of Rust's standard library too (https://github.com/rust-lang/rust), copyright The Rust
Project Contributors, under the MIT licence or version 2.0 of the Apache Licence; both texts are below.
"""


def linked() -> set[tuple[str, str]]:
    """Name and version of each crate that is in some wheel, without those that only work while it is compiled."""
    targets = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))["graph"]["targets"]
    tree = ["cargo", "tree", "--locked", "-p", "lasthop-python", "-e", "normal,no-proc-macro", "--prefix", "none"]
    for target in targets:
        tree += ["--target", target]
    lines = subprocess.run(tree, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    crates = {(name, version.removeprefix("v")) for name, version, *_ in (line.split() for line in lines if line)}
    return {(name, version) for name, version in crates if not name.startswith("lasthop-")}


def terms(folder: Path) -> list[str]:
    """The texts that a crate comes with: of a choice, MIT's."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and TERMS.fullmatch(path.name))
    if any(OF_MIT.fullmatch(path.name) for path in files):
        files = [path for path in files if not OF_OTHERS.fullmatch(path.name)]
    lines = (path.read_text(encoding="utf-8").splitlines() for path in files)
    return ["\n".join(line.rstrip() for line in text).strip("\n") for text in lines]


def text() -> str:
    """What is written."""
    metadata = ["cargo", "metadata", "--locked", "--format-version", "1"]
    found = json.loads(subprocess.run(metadata, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    crates = linked()
    packages = [package for package in found["packages"] if (package["name"], package["version"]) in crates]
    users: dict[str, list[str]] = {}
    bare = []
    for package in sorted(packages, key=lambda package: (package["name"], package["version"])):
        name = f"{package['name']} {package['version']}"
        texts = terms(Path(package["manifest_path"]).parent)
        for one in texts:
            users.setdefault(one, []).append(name)
        if not texts:
            authors = ", ".join(re.sub(r" *<.*?>", "", author) for author in package["authors"]) or "its authors"
            bare.append(f"{name}: {package['license']}, copyright {authors} ({package['repository']})")
    rule = "\n\n" + "-" * 100 + "\n\n"
    parts = [f"{', '.join(names)}:\n\n{one}" for one, names in users.items()]
    parts.append("These come without a text of their own, and are under the licences named:\n\n" + "\n".join(bare))
    return rule.join([HEAD.rstrip(), *parts]) + "\n"


if __name__ == "__main__":
    WRITTEN.write_text(text(), encoding="utf-8")
    print(WRITTEN.relative_to(ROOT))
