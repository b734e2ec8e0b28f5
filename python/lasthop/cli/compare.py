"""`lasthop compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lasthop.cli import common


@click.command()
@click.argument("one", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path))
@click.option("--table", default="flows", metavar="NAME", help="The table: flows, links, cells, …. Default: flows.")
@click.option("--all", "every", is_flag=True, help="Every number, not only those that `lasthop run` shows.")
@click.option("--plot", "plots", metavar="DIR", type=click.Path(path_type=Path), help="Draw both runs into pictures.")
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON.")
def compare(one: Path, other: Path, table: str, every: bool, plots: Path | None, as_json: bool) -> None:
    """Say what differs between two stored runs, sweeps or studies.

    \b
    lasthop compare out/reno out/cubic

    ONE and OTHER are folders that `lasthop run -o` or `lasthop sweep` wrote. First comes what differs in the
    scenarios, then each number that differs, with the difference OTHER − ONE. Seeds that both have are
    compared seed by seed; if there are none, runs are two samples. Of two results of one study come the
    claims with other figures or verdicts.
    """
    from lasthop import files
    from lasthop.comparison import compare as compared
    from lasthop.studies.compare import claims_differ, claims_text, is_study

    if is_study(one) and is_study(other):
        if plots:
            raise click.UsageError("--plot draws runs and sweeps; the figures of a study are in its folder")
        try:
            if as_json:
                common.print_json({"one": str(one), "other": str(other), "claims": claims_differ(one, other)})
            else:
                click.echo(claims_text(one, other, every=every))
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        return
    if plots:
        files.refuse_results(plots, advice="choose another folder")
    try:
        found = compared(one, other)
        if as_json:
            common.print_json(_document(found, table))
        else:
            from lasthop.text_compared import comparison_text

            click.echo(comparison_text(found, table, every=every))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if plots:
        try:
            common.written(found.draw(plots), quiet=False)
        except ValueError as error:
            raise click.UsageError(str(error)) from None


def _document(found: Any, table: str) -> dict[str, Any]:
    from lasthop.comparison import MEANS

    only_one, only_other = found.only(table)
    return {
        "one": str(found.one.folder),
        "other": str(found.other.folder),
        "scenario": [{"at": at, "one": one, "other": other} for at, one, other in found.scenario],
        "table": table,
        "means_over": MEANS.get(table),
        "differences": found.table(table).rows(),
        "only_in_one": only_one,
        "only_in_other": only_other,
    }
