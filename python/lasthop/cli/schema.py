"""`lasthop schema`."""

from __future__ import annotations

import click


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON Schema.")
def schema(name: str | None, as_json: bool) -> None:
    """Print what a scenario can say, or NAME's part of it.

    \b
    lasthop schema queue
    """
    from lasthop import _core

    click.echo(_core.schema(name) if as_json else _core.reference(name))
