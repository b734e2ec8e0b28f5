"""Writes `python/lasthop/builders.py`: the sections of a scenario as typed dictionaries, from its JSON Schema.

`python docs/builders.py` after a change of the schema; a test compares.
"""

from __future__ import annotations

import json
import keyword
import re
from pathlib import Path
from typing import Any

#: The sections with a name of their own in `lasthop`: ``lh.Link(name="radio", …)``.
BUILDERS = ("Link", "Cell", "Hsdpa", "Mbms", "Constellation", "Group", "Flow", "Change", "Record")

HEAD = '''"""The sections of a scenario as typed dictionaries, which type checkers know.

Made from the schema by `docs/builders.py`. A field that is a keyword of Python has an underscore behind it: `from_`.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Required, TypeAlias, TypedDict

'''

PATH = Path(__file__).resolve().parents[1] / "python" / "lasthop" / "builders.py"


def name_of(reference: str) -> str:
    """The name in Python of a definition, such as ``QueueRed`` for ``Queue.red``."""
    parts = re.split(r"[._]", reference.removeprefix("#/$defs/"))
    return "".join(part[:1].upper() + part[1:] for part in parts)


class Module:
    """The text of the module, definition by definition."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.text: list[str] = []

    def type_of(self, node: dict[str, Any]) -> str:
        """The type of a node of the schema, which names those that are dictionaries."""
        if "$ref" in node:
            return name_of(node["$ref"])
        if "const" in node:
            return f"Literal[{node['const']!r}]"
        if "enum" in node:
            return f"Literal[{', '.join(map(repr, node['enum']))}]"
        if several := node.get("anyOf") or node.get("oneOf"):
            return self.union(several)
        match node.get("type"):
            case "string":
                return "str"
            case "integer":
                return "int"
            case "number":
                return "float"
            case "boolean":
                return "bool"
            case "null":
                return "None"
            case "array":
                # Tuples of mixed types are written as lists as well.
                items = node.get("items")
                return f"Sequence[{self.type_of(items) if isinstance(items, dict) else 'Any'}]"
            case "object" if "properties" in node:
                return self.dictionary(node)
            case "object":
                inner = node.get("additionalProperties")
                return f"Mapping[str, {self.type_of(inner) if isinstance(inner, dict) else 'Any'}]"
        if isinstance(node.get("type"), list):
            return self.union([{**node, "type": one} for one in node["type"]])
        return "Any"

    def union(self, several: list[dict[str, Any]]) -> str:
        """A choice: words, or a table with one key, whose dictionaries need names."""
        found: list[str] = []
        words: list[str] = []
        for one in several:
            if "const" in one or "enum" in one:
                words += [one["const"]] if "const" in one else one["enum"]
                continue
            found.append(self.type_of(one))
        literal = [f"Literal[{', '.join(map(repr, words))}]"] if words else []
        return " | ".join(dict.fromkeys(literal + found))

    def dictionary(self, node: dict[str, Any]) -> str:
        """A dictionary without a name of its own gets that of its only key."""
        required = node.get("required", [])
        (key,) = required if len(required) == 1 and len(node["properties"]) == 1 else ("",)
        if not key:
            return "Mapping[str, Any]"
        of = self.type_of(node["properties"][key])
        name = f"As{of}" if of.isidentifier() else f"As{name_of(self.within)}{name_of(key)}"
        self.typed(name, node, f"``{key}`` with its parameters.")
        return name

    def typed(self, name: str, node: dict[str, Any], doc: str) -> None:
        """A typed dictionary, unless it stands already."""
        lines = [f"class {name}(TypedDict, total=False):", f'    """{doc}"""', ""]
        for key, value in node["properties"].items():
            field = f"{key}_" if keyword.iskeyword(key) else key
            kind = self.type_of(value)
            kind = kind.removesuffix(" | None")
            required = f"Required[{kind}]" if key in node.get("required", []) else kind
            lines += [f"    {field}: {required}"]
            if said := value.get("description"):
                lines += [f"    {json.dumps(one_line(said), ensure_ascii=False)}"]
        text = "\n".join(lines)
        if text not in self.text:
            self.text.append(text)

    def definitions(self) -> str:
        """The module."""
        for reference, node in self.schema["$defs"].items():
            self.within = reference
            name = name_of(reference)
            if node.get("type") == "object" and "properties" in node:
                self.typed(name, node, one_line(node.get("description", name)))
            else:
                kind = self.type_of(node)
                self.text.append(f'{name}: TypeAlias = "{kind}"')
        self.within = "Scenario"
        self.typed("ScenarioFields", self.schema, one_line(self.schema["description"]))
        public = sorted([*BUILDERS, "ScenarioFields"])
        return HEAD + f"__all__ = {json.dumps(public)}\n\n" + "\n\n".join(self.text) + "\n"


def one_line(text: str) -> str:
    """A description on one line."""
    return " ".join(text.split()).replace("\\", "\\\\")


def module() -> str:
    """The text of the module, not yet formatted."""
    from lasthop.cli.schema import document

    return Module(json.loads(document())).definitions()


if __name__ == "__main__":
    PATH.write_text(module(), encoding="utf-8")
