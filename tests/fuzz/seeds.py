"""What the targets of cargo-fuzz begin with: scenarios, captures and element sets as files, and the schema's words."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from lasthop import _core
from lasthop.errors import ScenarioError

from .subjects import ROOT, Captures, originals

OUT = ROOT / "fuzz" / "corpus"


def main() -> None:
    for written in originals():
        text = json.dumps(written)
        _write("json", text.encode())
        with suppress(ScenarioError):
            _write("toml", _core.read(text, "original", "json").toml().encode())
    for path in sorted((ROOT / "tests" / "fuzz" / "corpus").glob("*/*.*")):
        _write(path.suffix[1:] if path.suffix in (".json", ".toml") else path.parent.name, path.read_bytes())
    for capture in Captures().captures:
        _write("capture", capture)
    for constellation in (part for written in originals() for part in written.get("constellation", ())):
        orbits = constellation.get("orbits")
        if isinstance(orbits, dict) and "tle" in orbits:
            _write("element_sets", orbits["tle"]["text"].encode())
    words = sorted(set(_words(json.loads(_core.schema()))))
    (OUT / "scenario.dict").write_text("".join(f"{json.dumps(word)}\n" for word in words))


def _write(target: str, payload: bytes) -> None:
    folder = OUT / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha256(payload).hexdigest()[:16]).write_bytes(payload)


def _words(node: Any) -> Iterator[str]:
    """Names of fields, and what stands for a choice."""
    if isinstance(node, dict):
        yield from node.get("properties", ())
        yield from (value for value in (*node.get("enum", ()), node.get("const")) if isinstance(value, str))
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _words(part)


if __name__ == "__main__":
    main()
