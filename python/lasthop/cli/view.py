"""`lasthop view`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.cli import common

if TYPE_CHECKING:
    from lasthop.results import Result


@click.command()
@click.argument("source", metavar="SOURCE", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="The page. Default: out/NAME/view.html."
)
@click.option("--from", "begin", type=float, default=0.0, metavar="S", help="Begin at this second. Default: 0.")
@click.option("--to", "end", type=float, metavar="S", help="End at this second. Default: the end of the run.")
@common.seed
@common.force
@common.quiet
def view(
    source: Path, output: Path | None, begin: float, end: float | None, seed: int | None, force: bool, quiet: bool
) -> None:
    """Make a page that replays a run, packet by packet, on a time line to drag.

    \b
    lasthop view examples/two-flows.toml --from 5 --to 15

    SOURCE is a scenario, which is then run, or a folder that `lasthop run -o` wrote with `record.hops = true`, or one
    that `lasthop live -o` wrote.
    Of an HSDPA cell the page shows the terminals served in each slot, of satellites the globe. It is one file, and asks
    for nothing from the network.
    """
    from lasthop import files, runs, view
    from lasthop.results import Result

    files.refuse_to_replace(output, force=force)
    if source.is_dir():
        try:
            result = _live(source) if (source / "live.json").exists() and seed is None else Result.load(source, seed)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        path = output or source / files.VIEW
    else:
        scenario = view.recording(common.scenario(source))
        try:
            view.end_of_part(scenario.duration_s, begin, end)
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        path = output or Path("out") / files.folder_name(scenario.name) / files.VIEW
        with common.Progress(scenario.name, scenario.duration_s, "simulated s", quiet=quiet) as progress:
            result = runs.run(scenario, seed=seed, progress=progress)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        common.written([view.write_view(result, path, begin=begin, end=end)], quiet=quiet)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _live(folder: Path) -> Result:
    """A live recording, run again with all that a page shows."""
    from lasthop import _core, view
    from lasthop.live_runs.hosts import recorded
    from lasthop.results import result

    scenario = view.recording(recorded(folder))
    outcome = _core.live_replay(folder, None, scenario.core)
    return result(outcome, scenario, seed=scenario.seed, simulated_s=outcome.simulated_s, wall_s=0.0)
