"""`lasthop reproduce`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from lasthop.cli import common, did_you_mean


@click.command()
@click.argument("name", metavar="STUDY")
@click.option("--quick", "mode", flag_value="quick", default=True, help="A first look, under a minute (default).")
@click.option("--full", "mode", flag_value="full", help="At least the paper's own campaign.")
@click.option("--appendix", is_flag=True, help="Only what goes beyond the paper, where a study has that.")
@common.output("Write all into DIR. Default: out/STUDY.")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads. Default: all processors.")
@click.option("--json", "as_json", is_flag=True, help="Print claims, figures and tables as JSON.")
@common.force
@common.quiet
def reproduce(
    name: str,
    mode: str,
    appendix: bool,
    output: Path | None,
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Re-run a study, by name or folder, draw its figures and judge its claims.

    \b
    lasthop reproduce handover
    lasthop reproduce ./mine
    """
    from lasthop import studies
    from lasthop.studies import bench

    if not studies.is_study(name):
        raise click.UsageError(f"unknown study {name!r}{did_you_mean(name, studies.STUDIES)}")
    try:
        study = studies.study(name)
    except studies.StudyError as error:
        raise click.UsageError(f"{name}: {error}") from None
    if appendix:
        if study.appendix is None:
            raise click.UsageError(f"the study {name!r} has no appendix")
        study = study.appendix
    folder = output or Path("out") / study.name
    try:
        with common.Progress(study.name, study.runs(mode), "runs", quiet=quiet) as progress:
            outcome = studies.reproduce(study, mode, folder, threads=threads, progress=progress.at, force=force)
    except studies.StudyError as error:
        raise click.UsageError(f"{name}: {error}") from None
    except KeyboardInterrupt:
        if bench.unfinished(folder):
            again = shlex.join(["lasthop", *sys.argv[1:]])
            common.note(f"\nwhat is finished is kept in {folder}; to go on: {again}", quiet=quiet)
        raise
    if outcome.damaged:
        told = "what an interrupted call had left was damaged: what is whole in it was kept, other runs were made again"
        common.note(f"note: {told}", quiet=quiet)
    if as_json:
        common.print_json(outcome.document())
    else:
        coloured = common.colour(sys.stdout)
        click.echo(outcome.text(colour=coloured), color=coloured)
