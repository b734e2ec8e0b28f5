"""`lasthop schema`."""

from __future__ import annotations

import json
import re

import click

#: Where the schema of this version can be had, for editors.
ID = "https://lasthop.readthedocs.io/en/stable/_static/scenario.schema.json"


@click.command()
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="The whole reference.")
@click.option("--json", "as_json", is_flag=True, help="The JSON Schema, for editors and other programs.")
def schema(name: str | None, every: bool, as_json: bool) -> None:
    """Print what a scenario can say: its sections, or a part or field called NAME.

    \b
    lasthop schema queue
    lasthop schema --json > scenario.schema.json
    """
    from lasthop import _core
    from lasthop.errors import ScenarioError

    try:
        # It says so if there is no such part.
        json_schema = _core.schema(name)
    except ScenarioError as error:
        if as_json:
            raise
        if not (found := _sections(str(name)) or _fields(str(name)) or _described_elsewhere(str(name))):
            if "did you mean" not in str(error) and (near := _near(str(name))):
                raise click.UsageError(f"no section or field is called {name!r}; did you mean {near!r}?") from None
            raise
        click.echo(found)
        return
    if as_json:
        click.echo(json_schema if name else document())
    elif name:
        click.echo(_sections(name) or json_schema)
    else:
        click.echo(_core.reference() if every else _overview())


def document() -> str:
    """The JSON Schema of a scenario, with its address."""
    from lasthop import _core

    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": ID, **json.loads(_core.schema(None))}
    return json.dumps(made, indent=2, ensure_ascii=False)


def _overview() -> str:
    """The sections at the top, and what there is to choose from."""
    from lasthop import _core
    from lasthop.columns import aligned

    read = json.loads(_core.schema(None))
    fields = [[name, _first(field)] for name, field in read["properties"].items()]
    return "\n".join(
        [
            aligned(["a scenario has", ""], fields),
            "",
            "lasthop schema NAME     one of these, or of their fields: link, queue, transport, tcp, loss, source, rlc",
            "lasthop schema --all    the whole reference",
            "lasthop new             scenarios to start from",
        ]
    )


def _first(field: dict[str, object]) -> str:
    """The first sentence of what a field is."""
    return str(field.get("description", "")).partition(". ")[0].rstrip(".")


def _sections(name: str) -> str:
    """The sections of the reference page about `name`, if there are any: its own, or those of everything called so."""
    mine = [f"{path}\n{body}\n" for path, body in _reference().items() if path == name or path.endswith(f".{name}")]
    return "\n".join(mine)


def _fields(name: str) -> str:
    """The fields called `name`, each below the part that has it; `rto.min` is the field `min` of parts called `rto`."""
    section, _, field = name.rpartition(".")
    found = []
    for path, body in _reference().items():
        if section and path != section and not path.endswith(f".{section}"):
            continue
        lines = body.splitlines()
        if mine := [line for line in lines if line.startswith(f"| `{field}` |")]:
            head = next((at for at, line in enumerate(lines) if line.startswith("| field |")), None)
            found.append("\n".join([path, "", *([] if head is None else lines[head : head + 2]), *mine, ""]))
    return "\n".join(found)


def _described_elsewhere(name: str) -> str:
    """A choice of a field with the same choices as one described before: `hsdpa.queue.red` is `link.queue.red`."""
    path, _, choice = name.rpartition(".")
    return _sections(f"{path.rpartition('.')[2]}.{choice}") if _fields(path) else ""


def _near(name: str) -> str | None:
    """The field or section whose name is nearest: `max_dat` for `MaxDAT`."""
    from difflib import get_close_matches

    reference = _reference()
    known = [path.rpartition(".")[2] for path in reference]
    known += [found for body in reference.values() for found in re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE)]
    plain = {one.replace("_", "").lower(): one for one in known}
    near = get_close_matches(re.sub(r"[^a-z0-9]", "", name.lower()), plain, 1, 0.75)
    return plain[near[0]] if near else None


def _reference() -> dict[str, str]:
    """The sections of the reference page by their paths."""
    from lasthop import _core

    sections = (section.partition("\n") for section in _core.reference().split("\n## ")[1:])
    return {heading.strip("`[]"): body.rstrip() for heading, _, body in sections}
