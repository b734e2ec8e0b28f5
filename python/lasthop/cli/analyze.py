"""`lasthop analyze`."""

from __future__ import annotations

from pathlib import Path

import click

from lasthop.cli import common


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "--over", type=click.Choice(["run", "connections"]), default="run", help="Time of rates and means. Default: run."
)
@click.option("--flow", "flows", multiple=True, metavar="NAME", help="Only this flow. May be repeated.")
@click.option("--seed", type=int, metavar="N", help="Which run, if the folder has several.")
@common.output("Write the tables into DIR.")
@click.option("--format", type=click.Choice(["parquet", "csv"]), default="parquet", help="Format of the tables.")
@click.option("--plot", "plots", is_flag=True, help="Draw sequence numbers, window, RTT and goodput.")
@click.option("--json", "as_json", is_flag=True, help="Print connections and totals as JSON.")
@common.force
@common.quiet
def analyze(
    source: Path,
    over: str,
    flows: tuple[str, ...],
    seed: int | None,
    output: Path | None,
    format: str,
    plots: bool,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Say what each TCP connection did: goodput, window, RTT, ACKs.

    \b
    lasthop analyze out/two-flows --over connections

    SOURCE is a folder that `lasthop run -o` wrote with record.packets = true, one that `lasthop live -o` wrote, or
    a capture (pcapng or pcap), of either's `--pcap` or of tcpdump.
    """
    from lasthop import analysis, files

    if plots:
        output = output or Path("out") / f"{source.stem}-analysis"
    if output:
        click.get_current_context().with_resource(files.claimed(output, made_by=analysis.MADE_BY, force=force))
    try:
        made = analysis.analyze(
            source, over="connections" if over == "connections" else "run", flows=flows or None, seed=seed
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        about = {"name": made.name, "over": made.over, "end_s": made.end_s}
        common.print_json({**about, "connections": made.connections.rows(), "totals": made.totals.rows()})
    else:
        click.echo(repr(made))
    written = made.save(output, "csv" if format == "csv" else "parquet", force=force) if output else []
    if output and plots:
        from lasthop import plot

        try:
            written += plot.analyzed(made, output)
        except ValueError as error:
            raise click.UsageError(f"{error}, with --flow") from None
    common.written(written, quiet=quiet)
