"""`lasthop run`."""

from __future__ import annotations

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lasthop.cli import common

if TYPE_CHECKING:
    from lasthop.results import Result
    from lasthop.runs import Replications
    from lasthop.scenario import Scenario


#: The tables that --json prints. The others can be long: -o writes them.
TOTALS = ("flows", "transfers", "links", "cells", "bearers", "drops")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--seed", type=int, metavar="N", help="Another seed than the scenario's.")
@click.option("--seeds", type=int, metavar="N", help="Run N seeds; give means with 95 % intervals.")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads for --seeds. Default: all processors.")
@common.output("Write the tables into DIR.")
@click.option("--format", type=click.Choice(["parquet", "csv"]), default="parquet", help="Format of the tables.")
@click.option("--pcap", type=click.Path(path_type=Path), metavar="FILE", help="Write a capture (pcapng).")
@click.option("--plot", "plots", is_flag=True, help="Draw throughput, window, RTT, … over time, of the first seed.")
@click.option("--json", "as_json", is_flag=True, help="Print the tables as JSON.")
@common.force
@common.quiet
def run(
    file: Path,
    seed: int | None,
    seeds: int | None,
    threads: int | None,
    output: Path | None,
    format: str,
    pcap: Path | None,
    plots: bool,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Run a scenario and show its results.

    \b
    lasthop run examples/two-flows.toml --seeds 20
    """
    from lasthop import files, recorded
    from lasthop.errors import RecordWarning
    from lasthop.results import Result
    from lasthop.runs import Replications

    scenario = common.scenario(file)
    if seed is not None:
        scenario = scenario.with_(seed=seed)
    if pcap and seeds is not None:
        raise click.UsageError("--pcap captures one run: leave out --seeds")
    files.refuse_to_replace(pcap, force=force)
    if plots:
        from lasthop import plot

        scenario = plot.recording(scenario)
        output = output or Path("out") / files.folder_name(scenario.name)
    if output:
        # Refused now rather than after the work, and held against other processes until then.
        click.get_current_context().with_resource(files.claimed(output, made_by="lasthop run", force=force))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordWarning)  # said below, after the results
        outcome = _once(scenario, pcap, quiet=quiet) if seeds is None else _often(scenario, seeds, threads, quiet=quiet)
    if as_json:
        common.print_json(_document(outcome))
    else:
        click.echo(repr(outcome))
    written = [pcap] if pcap else []
    if output:
        written += outcome.save(output, "csv" if format == "csv" else "parquet", force=force)
        if plots:
            first = outcome if isinstance(outcome, Result) else outcome[0]
            written += plot.standard(first, output)
    common.written(written, quiet=quiet)
    for doubt in recorded.in_vain(scenario, outcome if isinstance(outcome, Result) else outcome[0]):
        common.note(f"note: {doubt}", quiet=quiet)
    if plots and isinstance(outcome, Replications) and len(outcome) > 1:
        again = f"lasthop plot {shlex.quote(str(output))} --seed N"
        told = f"the pictures are of seed {outcome[0].seed} alone; of another one: {again}"
        common.note(f"note: {told}", quiet=quiet)


def _once(scenario: Scenario, pcap: Path | None, *, quiet: bool) -> Result:
    from lasthop import runs

    with common.Progress(scenario.name, scenario.duration_s, "simulated s", quiet=quiet) as progress:
        return runs.run(scenario, pcap=pcap, progress=progress)


def _often(scenario: Scenario, seeds: int, threads: int | None, *, quiet: bool) -> Replications:
    from lasthop import runs

    with common.Progress(scenario.name, seeds, "runs", quiet=quiet) as progress:
        return runs.replicate(scenario, seeds=seeds, threads=threads, progress=progress)


def _document(outcome: Result | Replications) -> dict[str, Any]:
    from lasthop.results import Result

    if isinstance(outcome, Result):
        first, seeds = outcome, [outcome.seed]
        tables = {name: outcome.tables[name].rows() for name in TOTALS if name in outcome.tables}
    else:
        first, seeds = outcome.runs[0], [one.seed for one in outcome.runs]
        # Transfers of several seeds have nothing in common but their numbers.
        tables = {name: outcome.means(name) for name in TOTALS if name in first.tables and name != "transfers"}
    return {
        "scenario": first.name,
        "seeds": seeds,
        "simulated_s": first.simulated_s,
        "wall_s": outcome.wall_s,
        **tables,
    }
