"""`lasthop plot`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from lasthop.cli import common


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@common.output("Folder for the pictures. SOURCE if it is a folder, else out/NAME.")
@common.force
@common.quiet
def plot(source: Path, output: Path | None, force: bool, quiet: bool) -> None:
    """Draw throughput, window, round-trip time and queue over time.

    \b
    lasthop plot examples/two-flows.toml

    SOURCE is a scenario, which is then run, or a folder that `lasthop run -o` wrote. Of one that
    `lasthop sweep` wrote, goodput, loss and round-trip time are drawn over what was varied. Each
    picture is written as PNG, SVG and PDF.
    """
    from lasthop import files, runs
    from lasthop import plot as plots
    from lasthop.results import Result
    from lasthop.sweeps.outcome import MADE_BY, Sweep

    if source.is_dir():
        try:
            if files.manifest(source).get("made_by") == MADE_BY:
                _print(plots.swept(Sweep.load(source), output or source))
                return
            result = Result.load(source)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        if "series" not in result.tables:
            raise click.UsageError(f"{source} holds no series: record them, or `lasthop plot` the scenario itself")
        folder = output or source
    else:
        scenario = plots.recording(common.scenario(source))
        folder = output or Path("out") / files.folder_name(scenario.name)
        click.get_current_context().with_resource(files.claimed(folder, made_by="lasthop run", force=force))
        with common.Progress(scenario.name, scenario.duration_s, "simulated s", quiet=quiet) as progress:
            result = runs.run(scenario, progress=progress)
        result.save(folder, force=force)
    _print(plots.standard(result, folder))


def _print(paths: Sequence[Path]) -> None:
    from lasthop import files

    for path in files.braces(paths):
        click.echo(path)
