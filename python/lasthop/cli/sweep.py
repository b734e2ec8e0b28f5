"""`lasthop sweep`."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lasthop import files
from lasthop.cli import common

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from lasthop.sweeps import Plan, Sweep
    from lasthop.sweeps.vary import Vary

#: What `--collect` heeds.
COLLECTED = {"collect_only", "output", "against", "as_json", "quiet"}


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--vary", multiple=True, metavar="KEY=V1,V2", help="What to vary, over which values. Repeatable.")
@click.option("--seeds", type=int, metavar="N", default=1, help="Seeds for every point. Default: 1.")
@click.option("--against", multiple=True, metavar="KEY=V", help="Differences to this point. Default: the first.")
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads. Default: all processors.")
@click.option("--scheduler", metavar="ADDRESS", help="Run on the Dask cluster tcp://HOST:PORT.")
@click.option("--shard", metavar="I/N", help="Make part I of N, from 0. All parts share DIR.")
@click.option("--collect", "collect_only", is_flag=True, help="Only put the tables of finished shards together.")
@click.option("--dry-run", is_flag=True, help="Check all points, and say how long it will take.")
@common.output("Keep all in DIR. Default: out/NAME-sweep.")
@click.option("--format", type=click.Choice(["parquet", "csv"]), default="parquet", help="Format of the tables.")
@click.option("--json", "as_json", is_flag=True, help="Print means and differences as JSON.")
@common.force
@common.quiet
def sweep(
    file: Path | None,
    vary: tuple[str, ...],
    seeds: int,
    against: tuple[str, ...],
    threads: int | None,
    scheduler: str | None,
    shard: str | None,
    collect_only: bool,
    dry_run: bool,
    output: Path | None,
    format: str,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Run a scenario at many points. The same command goes on after a kill.

    \b
    lasthop sweep examples/two-flows.toml --vary link.radio.delay=20ms,80ms --seeds 20
    """
    from lasthop import sweeps

    part = _shard(shard)
    other = _point(against)
    if collect_only:
        common.refuse_beside("--collect", "takes the sweep as it was begun", COLLECTED)
        if output is None:
            raise click.UsageError("--collect needs the folder of the sweep: -o DIR")
        _show(_collected(output, other), other, as_json=as_json, quiet=quiet)
        return
    if file is None:
        raise click.UsageError("say which scenario, or --collect with -o DIR")
    asked = sweeps.plan(common.scenario(file), values(vary), seeds, "csv" if format == "csv" else "parquet")
    for doubt in asked.doubts():
        common.note(f"note: {doubt}", quiet=quiet)
    with ExitStack() as stack:
        executor, workers = None, threads or os.cpu_count() or 1
        if scheduler:
            from lasthop.sweeps.cluster import cluster

            executor, workers = stack.enter_context(cluster(scheduler))
        if dry_run:
            asked.check()
            _compared(asked.vary, other)
            _forecast(asked, part or (0, 1), workers, as_json=as_json, quiet=quiet)
            return
        _compared(asked.vary, other)
        folder = output or Path("out") / f"{files.folder_name(asked.scenario.name)}-sweep"
        made = _sweep(asked, folder, executor, threads, part, quiet=quiet, force=force)
    _show(made, other, as_json=as_json, quiet=quiet)
    if part:
        common.note(f"when all parts are made: lasthop sweep --collect -o {shlex.quote(str(folder))}", quiet=quiet)


def _sweep(
    asked: Plan,
    folder: Path,
    executor: Executor | None,
    threads: int | None,
    part: tuple[int, int] | None,
    *,
    quiet: bool,
    force: bool,
) -> Sweep:
    from lasthop import sweeps
    from lasthop.errors import RunError

    runs = len(range(part[0], asked.runs, part[1])) if part else asked.runs
    try:
        with common.Progress(asked.scenario.name, runs, "runs", quiet=quiet) as progress:
            return sweeps.perform_plan(
                asked, folder, executor=executor, threads=threads, shard=part, progress=progress, force=force
            )
    except (KeyboardInterrupt, RunError, OSError):
        with suppress(ValueError, OSError):
            done, total = sweeps.progress_of(folder)
            again = shlex.join(["lasthop", *sys.argv[1:]])
            common.note(f"\n{done} of {total} runs are finished and kept in {folder}; to go on: {again}", quiet=quiet)
        raise


def _collected(folder: Path, other: dict[str, Any]) -> Sweep:
    from lasthop import files, sweeps
    from lasthop.sweeps.vary import Vary

    try:
        made = sweeps.collect(folder)
    except files.OutputRefused:
        # A kind of ValueError that has words of its own for commands.
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    _compared(Vary(made.vary), other)
    return made


def _compared(vary: Vary, other: dict[str, Any]) -> None:
    """Refuses a comparison with values that are not varied."""
    try:
        for key in other:
            vary.known(key)
        vary.moved(0, other)
    except ValueError as error:
        raise click.UsageError(f"--against: {error}") from None


def _show(made: Sweep, other: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Prints the results, and says where they are."""
    from lasthop.text import sweep_text

    if as_json:
        common.print_json(document(made, other))
    else:
        click.echo(sweep_text(made, other or None))
    for copy in made.damaged:
        told = f"a journal was damaged: what is whole in it was kept, other runs were made again, and {copy} is a copy"
        common.note(f"note: {told}", quiet=quiet)
    if made.tables:
        common.written([made.folder / name for name in [*made.files.values(), files.MANIFEST]], quiet=quiet)


def document(made: Sweep, other: dict[str, Any]) -> dict[str, Any]:
    """What --json prints, with differences to the point with the values of ``other``, or the first one."""
    from lasthop.sweeps.summary import summary_rows

    told: dict[str, Any] = {
        "scenario": made.name,
        "folder": made.folder,
        "vary": made.vary,
        "seeds": made.seeds,
        "runs": made.runs,
        "finished": made.finished,
    }
    if made.tables:
        told["against"] = other or made.points[0]
        told["summary"] = summary_rows(made, other) if other else made.summary.rows()
    return told


def _forecast(asked: Plan, part: tuple[int, int], workers: int, *, as_json: bool, quiet: bool) -> None:
    """Says what would run, and how long that would take."""
    from lasthop import sweeps
    from lasthop.stats import number

    with common.Progress("timing some runs", 1, "", quiet=quiet) as progress:
        each_s = sweeps.forecast(asked, progress)
    runs = len(range(part[0], asked.runs, part[1]))
    took_s = runs * each_s / max(1, min(workers, runs))
    if as_json:
        plan = {"scenario": asked.scenario.name, "vary": asked.vary.keys, "seeds": asked.seeds}
        common.print_json({**plan, "runs": runs, "run_s": each_s, "threads": workers, "about_s": took_s})
        return
    which = "" if part == (0, 1) else f", {number(runs)} of them in part {part[0]} of {part[1]}"
    click.echo(f"{asked.scenario.name} · {asked} · {number(asked.runs)} runs{which}")
    click.echo(f"{asked.vary}")
    click.echo(f"about {common.clock(took_s)} on {workers} thread{'s' * (workers != 1)}")


def _point(against: Sequence[str]) -> dict[str, Any]:
    """The values of ``--against``, one for each key."""
    several = values(against, "--against")
    for key, those in several.items():
        if len(those) > 1:
            raise click.UsageError(
                f"--against {key} has {len(those)} values, and a comparison is with one point: name one value, "
                "in quotes if it has a comma"
            )
    return {key: one for key, (one,) in several.items()}


def values(vary: Sequence[str], option: str = "--vary") -> dict[str, list[Any]]:
    """The values of each `--vary KEY=V1,V2`: numbers, truth values and tables as in TOML or JSON, else text."""
    chosen: dict[str, list[Any]] = {}
    for text in vary:
        key, equals, rest = text.partition("=")
        key = key.strip()
        if not equals or not rest.strip():
            several = ("VALUE,VALUE", "20ms,80ms") if option == "--vary" else ("VALUE", "20ms")
            raise click.UsageError(
                f"{option} {text!r}: write it as KEY={several[0]}, such as link.radio.delay={several[1]}"
            )
        if key in chosen:
            mend = "give all its values at once" if option == "--vary" else "a comparison is with one point"
            raise click.UsageError(f"{option} {key} is there twice: {mend}")
        chosen[key] = [_value(part.strip(), text, option) for part in _parts(rest)]
    return chosen


def _parts(text: str) -> list[str]:
    """Splits at the commas that stand outside of quotes and brackets."""
    parts, depth, quote = [""], 0, ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        else:
            depth += (c in "[{") - (c in "]}")
            if c == "," and depth == 0:
                parts.append("")
                continue
        parts[-1] += c
    return parts


def _value(text: str, whole: str, option: str) -> Any:
    if not text:
        raise click.UsageError(f"{option} {whole!r}: a value is empty")
    try:
        value = _read(text)
    except (RecursionError, ValueError):
        # Brackets in a thousand brackets, a number of a thousand digits.
        raise click.UsageError(f"{option} {whole[:60]!r}…: a value is nested too deep, or too long a number") from None
    # A date is no value of a scenario, and `inf` no number.
    plain = isinstance(value, (bool, int, str, list, dict)) or (isinstance(value, float) and math.isfinite(value))
    return value if plain else text


def _read(text: str) -> Any:
    """A value of TOML, or a table or a list of JSON; else text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    try:
        return json.loads(text) if text[0] in "{[" else text
    except json.JSONDecodeError:
        return text


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if not found or int(found[1]) >= int(found[2]):
        raise click.UsageError(f"--shard {text!r}: write it as I/N, with I from 0 to N − 1")
    return int(found[1]), int(found[2])
