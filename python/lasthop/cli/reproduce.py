"""`lasthop reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lasthop.cli import common, did_you_mean


@click.command()
@click.argument("name", metavar="STUDY")
@click.option("--quick", "mode", flag_value="quick", default=True, help="A first look, under a minute (default).")
@click.option("--full", "mode", flag_value="full", help="At least the paper's own campaign.")
@common.output("Write report, figures and data into DIR. out/STUDY")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads. All processors.")
@click.option("--json", "as_json", is_flag=True, help="Print claims, figures and tables as JSON.")
@common.force
@common.quiet
def reproduce(
    name: str, mode: str, output: Path | None, threads: int | None, as_json: bool, force: bool, quiet: bool
) -> None:
    """Re-run a paper's study, draw its figures and judge its claims.

    \b
    lasthop reproduce handover
    """
    from lasthop import studies

    if name not in studies.STUDIES:
        raise click.UsageError(f"unknown study {name!r}{did_you_mean(name, studies.STUDIES)}")
    folder = output or Path("out") / name
    study = studies.study(name)
    with common.Progress(name, study.runs(mode), "runs", quiet=quiet) as progress:
        outcome = studies.reproduce(study, mode, folder, threads=threads, progress=progress, force=force)
    if as_json:
        common.print_json(outcome.document())
    else:
        click.echo(outcome.text(colour=common.colour(sys.stdout)))
