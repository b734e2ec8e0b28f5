"""`lasthop plot`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.cli import common

if TYPE_CHECKING:
    from lasthop.results import Result


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=click.Path(path_type=Path))
@common.output("Folder for the pictures. Default: SOURCE if it is one, else out/NAME.")
@common.seed
@common.force
@common.quiet
def plot(sources: Sequence[Path], output: Path | None, seed: int | None, force: bool, quiet: bool) -> None:
    """Draw what a run shows over time, or several runs in the same axes.

    \b
    lasthop plot examples/two-flows.toml
    lasthop plot out/reno out/cubic -o out/both

    SOURCE is a scenario, which is then run, or a folder that `lasthop run -o` wrote: throughput, data in order,
    window, round-trip time, queues, links that change, and what the scenario records beyond. Of a folder that
    `lasthop sweep` wrote, goodput, loss and round-trip time are drawn over what was varied. Each picture is
    written as PNG, SVG and PDF.
    """
    from lasthop import files
    from lasthop import plot as plots
    from lasthop.sweeps.outcome import MADE_BY, Sweep

    runs_anew = len(sources) == 1 and not sources[0].is_dir()
    if output and not force and not runs_anew and [output.resolve()] != [source.resolve() for source in sources]:
        files.refuse_results(output, advice="choose another folder with -o, or write into it with --force")
    try:
        swept = [source for source in sources if source.is_dir() and files.manifest(source).get("made_by") == MADE_BY]
        if swept and len(sources) == 1:
            _print(plots.swept(Sweep.load(swept[0]), output or swept[0]))
            return
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if swept:
        raise click.UsageError(f"{swept[0]} holds a sweep, which is drawn alone")
    if len(sources) == 1:
        result, folder = _result(sources[0], output, seed, force=force, quiet=quiet)
        _print(plots.standard(result, folder))
        return
    if output is None:
        raise click.UsageError("say with -o where the pictures of several runs are to go")
    runs = [_result(source, None, seed, force=force, quiet=quiet)[0] for source in sources]
    names = [source.name if source.is_dir() else run.name for source, run in zip(sources, runs, strict=True)]
    _print(plots.standard(dict(zip(names, runs, strict=True)) if len({*names}) == len(runs) else runs, output))


def _result(source: Path, output: Path | None, seed: int | None, *, force: bool, quiet: bool) -> tuple[Result, Path]:
    """The result in a folder, or that of a scenario, which is run and kept; and the folder for its pictures."""
    from lasthop import files, runs
    from lasthop import plot as plots
    from lasthop.results import Result

    if source.is_dir():
        try:
            result = Result.load(source, seed)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        if "series" not in result.tables:
            raise click.UsageError(f"{source} holds no series: record them, or `lasthop plot` the scenario itself")
        return result, output or source
    scenario = plots.recording(common.scenario(source))
    folder = output or Path("out") / files.folder_name(scenario.name)
    click.get_current_context().with_resource(files.claimed(folder, made_by="lasthop run", force=force))
    with common.Progress(scenario.name, scenario.duration_s, "simulated s", quiet=quiet) as progress:
        result = runs.run(scenario, seed=seed, progress=progress)
    result.save(folder, force=force)
    return result, folder


def _print(paths: Sequence[Path]) -> None:
    from lasthop import files

    for path in files.braces(paths):
        click.echo(path)
