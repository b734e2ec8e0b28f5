"""`lasthop trace`."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path

import click

from lasthop.cli import common


@click.group()
def trace() -> None:
    """Look at traces of links in mahimahi's format, or make one.

    \b
    lasthop trace info cell.trace --plot cell.png
    lasthop trace convert rates.csv -o cell.trace
    """


@trace.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--plot", "picture", metavar="FILE", type=click.Path(path_type=Path), help="Draw its rate: PNG, SVG, PDF."
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@common.force
@common.quiet
def info(file: Path, picture: Path | None, as_json: bool, force: bool, quiet: bool) -> None:
    """Say how long a trace is, its rates, and its longest gap."""
    from lasthop import files, traces
    from lasthop.plot.style import format_of

    files.refuse_to_replace(picture, force=force)
    try:
        format = format_of(picture) if picture else None
        times = traces.read(file)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    made = traces.about(times)
    if as_json:
        common.print_json({"file": str(file), **asdict(made)})
    else:
        for name, value in _lines(made):
            click.echo(f"{name:<22}{value}")
    if picture:
        with files.whole(picture) as out:
            traces.draw(times, file.name).savefig(out, format=format, dpi=150)
        common.written([picture], quiet=quiet)


@trace.command()
@click.argument("source", metavar="CSV", type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="FILE", required=True, type=click.Path(path_type=Path), help="The trace.")
@common.force
@common.quiet
def convert(source: Path, output: Path, force: bool, quiet: bool) -> None:
    """Make a trace of a series of rates.

    Each row of CSV has a time in seconds and a rate in Mbit/s, which holds until the next row. An opportunity comes
    whenever 1,504 bytes more have been carried; of an outage at the end one comes as it ends. A heading, empty lines
    and lines that begin with # are left out.
    """
    from lasthop import files, traces

    if output.exists() and not force:
        raise files.OutputRefused(f"{output} exists", "choose another name with -o, or replace it with --force")
    try:
        times = traces.converted(source, note=partial(common.note, quiet=quiet))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with files.whole(output) as out:
        out.write_text("".join(f"{time}\n" for time in times), encoding="utf-8")
    made = traces.about(times)
    common.note(f"wrote {output}: {made.period_s:g} s, {made.mean_mbps:.3g} Mbit/s", quiet=quiet)


def _lines(made: object) -> list[tuple[str, str]]:
    from lasthop.traces import About

    assert isinstance(made, About)

    def spread(values: tuple[float, float, float]) -> str:
        return " / ".join(f"{value:.3g}" for value in values) + " Mbit/s (5th, 50th, 95th percentile)"

    return [
        ("opportunities", f"{made.opportunities}"),
        ("period", f"{made.period_s:g} s"),
        ("mean rate", f"{made.mean_mbps:.4g} Mbit/s"),
        ("rate over 100 ms", spread(made.over_100ms_mbps)),
        ("rate over 1 s", spread(made.over_1s_mbps)),
        ("longest gap", f"{made.longest_gap_s:g} s, from {made.longest_gap_at_s:g} s on"),
    ]
