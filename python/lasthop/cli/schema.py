"""`lasthop schema`."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON Schema.")
def schema(name: str | None, as_json: bool) -> None:
    """Print what a scenario can say: all of it, or the part called NAME.

    \b
    lasthop schema queue
    """
    from lasthop import _core

    # It says so if there is no such part.
    json_schema = _core.schema(name)
    if as_json:
        click.echo(json_schema)
    else:
        click.echo(_sections(name) if name else _core.reference())


def _sections(name: str) -> str:
    """The sections of the reference page about `name`: its own, or those of everything called so."""
    from lasthop import _core

    sections = {}
    for section in _core.reference().split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        sections[heading.strip("`[]")] = f"{heading.strip('`[]')}\n{body.rstrip()}\n"
    mine = [text for path, text in sections.items() if path == name or path.endswith(f".{name}")]
    return "\n".join(mine) or _core.schema(name)
