"""`lasthop report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from lasthop.cli import common


@click.command()
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="The page. Default: FOLDER/report.html."
)
@common.force
@common.quiet
def report(folders: Sequence[Path], output: Path | None, force: bool, quiet: bool) -> None:
    """Make one page of stored results: figures to zoom into, tables, scenario.

    \b
    lasthop report out/two-flows
    lasthop report out/reno out/cubic -o both.html

    Each FOLDER is one that `lasthop run -o`, `lasthop plot`, `lasthop sweep` or `lasthop live -o` wrote. Of two runs
    the page says what differs. It is one file, and asks for nothing from the network.
    """
    from lasthop import files
    from lasthop.report import write_runs

    if output is None and len(folders) > 1:
        raise click.UsageError("say with -o where the page of several results is to go")
    path = output or folders[0] / "report.html"
    files.refuse_to_replace(output, force=force)
    try:
        common.written([write_runs(folders, path)], quiet=quiet)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
