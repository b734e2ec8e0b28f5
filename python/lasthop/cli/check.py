"""`lasthop check`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lasthop.cli import common


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--expand",
    is_flag=True,
    help="Print the scenario with defaults and names filled in, but for what its profile or its links decide.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what is wrong, or the expansion, as JSON.")
@common.quiet
def check(files: tuple[Path, ...], expand: bool, as_json: bool, quiet: bool) -> None:
    """Say whether scenario files are right. Nothing is run.

    \b
    lasthop check examples/*.toml
    """
    from lasthop.cli import complain
    from lasthop.controller import doubts
    from lasthop.errors import ScenarioError

    worst = 0
    said = []
    for file in files:
        try:
            scenario = common.scenario(file)
        except ScenarioError as error:
            if as_json:
                said.append({"file": str(file), "ok": False, **error.to_dict()})
                worst = 2
            else:
                worst = max(worst, complain(error))
            continue
        if as_json:
            said.append({"file": str(file), "ok": True, **({"scenario": scenario.to_dict()} if expand else {})})
        elif expand:
            click.echo(scenario.expand())
        elif not quiet:
            click.echo(f"{file}: valid: {scenario.summary()}")
        for doubt in doubts(scenario):
            common.note(f"note: {doubt}", quiet=quiet)
    if as_json:
        common.print_json(said)
    sys.exit(worst)
