"""Circles of files in Rust: files that use one another, directly or round about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

#: A module by its path, the crate's name first.
Module = tuple[str, ...]


def modules(crate: str, source: Path) -> dict[Module, Path]:
    """The modules of a crate that have a file of their own."""
    found = {}
    for path in source.rglob("*.rs"):
        parts = path.relative_to(source).with_suffix("").parts
        found[(crate, *(parts[:-1] if parts[-1] in ("mod", "lib") else parts))] = path
    return found


def leaves(tree: str, before: str = "") -> Iterator[str]:
    """The paths of a ``use``: ``a::{b, c::d}`` is ``a::b`` and ``a::c::d``."""
    head, brace, rest = tree.partition("{")
    if not brace:
        yield before + tree.split(" as ")[0].strip()
        return
    depth, item = 0, ""
    for c in rest:
        if depth == 0 and c in ",}":
            if item.strip():
                yield from leaves(item.strip(), before + head.strip())
            item = ""
            if c == "}":
                return
        else:
            depth += (c == "{") - (c == "}")
            item += c


def uses(module: Module, text: str, known: dict[Module, Path]) -> Iterator[Module]:
    """The modules that a file uses, without its tests."""
    text = text.partition("#[cfg(test)]\nmod tests")[0]
    text = "\n".join(line.partition("//")[0] for line in text.splitlines())
    statement = re.compile(r"\buse\s+([^;]+);")
    paths = [path for found in statement.finditer(text) for path in leaves(found[1])]
    paths += re.findall(r"(?<!\w)(?:crate|super|lasthop_\w+)(?:::\w+)+", statement.sub("", text))
    for path in paths:
        first, *rest = path.split("::")
        if first == "crate":
            full = [module[0], *rest]
        elif first.startswith("lasthop_"):
            full = [first.removeprefix("lasthop_"), *rest]
        elif first == "super":
            base = list(module[:-1])
            while rest and rest[0] == "super":
                base, rest = base[:-1], rest[1:]
            full = base + rest
        elif (*module, first) in known:
            full = [*module, first, *rest]
        else:
            continue
        while full and tuple(full) not in known:
            full.pop()
        if len(full) > 1 and tuple(full) != module:
            yield tuple(full)


def circles(sources: dict[str, Path]) -> list[set[Module]]:
    """The sets of files of these crates that all use one another."""
    known = {module: path for crate, source in sources.items() for module, path in modules(crate, source).items()}
    plain = {module for module in known if "tests" not in module}
    arrows = {module: set(uses(module, known[module].read_text(), known)) & plain for module in plain}
    back = defaultdict(set)
    for module, used in arrows.items():
        for one in used:
            back[one].add(module)

    def reached(start: Module, by: dict[Module, set[Module]]) -> set[Module]:
        seen, todo = {start}, [start]
        while todo:
            new = by.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        return seen

    found, left = [], set(plain)
    while left:
        one = left.pop()
        circle = reached(one, arrows) & reached(one, back)
        left -= circle
        if len(circle) > 1:
            found.append(circle)
    return found
