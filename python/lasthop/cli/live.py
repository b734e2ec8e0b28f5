"""`lasthop live`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lasthop.cli import common
from lasthop.live_runs import MADE_BY, python_with

if TYPE_CHECKING:
    from lasthop.scenario import Scenario

#: What `--replay` heeds.
REPLAYED = {"replay", "output", "format", "pcap", "force", "quiet"}


@click.command(context_settings={"max_content_width": 100})
@click.argument("words", nargs=-1, metavar="[SCENARIO] [NODE] [-- COMMAND...]")
@click.option("--shell", metavar="NODE", help="Start a shell there in place of a command.")
@click.option("--run", "runs", multiple=True, metavar="NODE=COMMAND", help="Run this, by sh, at another host.")
@click.option("--host", "hosts", multiple=True, metavar="NODE[=ADDRESS]", help="A host. Default: the ends of flows.")
@click.option(
    "--group", "groups", multiple=True, metavar="NAME=ADDRESS", help="A group's address. Default: 239.77.0.N."
)
@click.option("--attach", multiple=True, metavar="NODE=NETNS", help="Take this network namespace for NODE.")
@click.option("--seed", type=int, metavar="N", help="Another seed than the scenario's.")
@click.option("--for", "time", metavar="TIME", help="End after this time. Default: when COMMAND ends.")
@click.option("--late", metavar="TIME", help="From when on a packet is late. Default: 1 ms.")
@click.option("--memory", metavar="SIZE", help="The most bytes of packets under way. Default: 1 GB.")
@click.option("--offload", is_flag=True, help="Let kernels leave the cutting of TCP to the run: for high rates.")
@click.option("--strict", is_flag=True, help="End with exit code 3 at the first late packet.")
@click.option("--realtime", is_flag=True, help="Ask for real-time priority.")
@click.option(
    "--trace", metavar="FILE", type=click.Path(path_type=Path), help="In place of SCENARIO: a link by a trace."
)
@click.option("--uplink", metavar="FILE", type=click.Path(path_type=Path), help="The trace of its other direction.")
@click.option("--delay", metavar="TIME", help="The delay of its directions. Default: 0 s.")
@click.option("--queue", metavar="NAME", help="The queue in front of it. Default: droptail.")
@common.output("Write tables and a recording into DIR.")
@click.option("--format", type=click.Choice(["parquet", "csv"]), default="parquet", help="Format of the tables.")
@click.option("--pcap", type=click.Path(path_type=Path), metavar="FILE", help="Write a capture, with drops (pcapng).")
@click.option(
    "--replay", metavar="DIR", type=click.Path(path_type=Path), help="Run a recording again, without a clock."
)
@click.option("--view", is_flag=True, help="Show queues, rates, drops while it runs.")
@click.option("--web", type=click.IntRange(0, 65535), metavar="PORT", help="Show them as a page on 127.0.0.1.")
@common.force
@common.quiet
def live(words: tuple[str, ...], **asked: Any) -> int:
    """Run a scenario by the wall clock, with real programs at its nodes.

    \b
    lasthop live cell.toml --run 'server=python3 -m http.server' phone -- curl http://server:8000/
    lasthop live --trace down.trace --uplink up.trace --delay 40ms -- COMMAND
    """
    from lasthop import files

    if folder := asked["replay"]:
        if words:
            raise click.UsageError("--replay has its scenario and its packets: leave out the rest")
        common.refuse_beside("--replay", "repeats the run as it was", REPLAYED)
        return _replay(folder, asked)
    scenario, options = _plan(words, asked)
    files.refuse_to_replace(asked["pcap"], force=asked["force"])
    if asked["view"] and not sys.stdout.isatty():
        raise click.UsageError("--view draws in a terminal, and this is none: use --web")
    if asked["view"] and asked["shell"]:
        raise click.UsageError("--view and --shell cannot share a terminal: use --web")
    from lasthop import _core

    if not _core.live_is_inside():
        return _enter(scenario, options, asked)
    return _inside(scenario, options, asked)


def _plan(words: Sequence[str], asked: dict[str, Any]) -> tuple[Scenario, dict[str, Any]]:
    """The scenario with its hosts, and the core's options beside it."""
    from lasthop import _core
    from lasthop.errors import ScenarioError
    from lasthop.live_runs import hosts

    if asked["trace"]:
        if words and words[0].endswith((".toml", ".json")):
            raise click.UsageError(f"--trace stands in place of SCENARIO: leave out {words[0]}")
        node: str | None = hosts.TRACED
        scenario, command = _traced(asked), list(words)
    else:
        for option in ("uplink", "delay", "queue"):
            if asked[option]:
                raise click.UsageError(f"--{option} goes with --trace; a scenario says it itself")
        if not words:
            raise click.UsageError("a scenario is needed, or --trace FILE")
        if words[0] == "-":
            raise click.UsageError("a live run needs a file: standard input is COMMAND's")
        scenario = common.scenario(Path(words[0]))
        node, command = (words[1] if len(words) > 1 else None), list(words[2:])
    if asked["shell"]:
        if command or (node and not asked["trace"]):
            raise click.UsageError("either NODE -- COMMAND or --shell NODE")
        node = asked["shell"]
    elif node and not command:
        where = f"{node} -- COMMAND" if not asked["trace"] else "-- COMMAND"
        raise click.UsageError(f"what is to run at {node!r}? write: {where}")
    scenario = hosts.with_hosts(
        scenario,
        hosts=[_pair("--host", "NODE[=ADDRESS]", one, needed=False) for one in asked["hosts"]],
        runs=[_pair("--run", "NODE=COMMAND", one) for one in asked["runs"]],
        groups=[_pair("--group", "NAME=ADDRESS", one) for one in asked["groups"]],
        late=asked["late"],
        memory=asked["memory"],
        offload=asked["offload"],
        seed=asked["seed"],
    )
    attached = [_pair("--attach", "NODE=NETNS", one) for one in asked["attach"]]
    attach = {name: where if "/" in where else f"/run/netns/{where}" for name, where in attached}
    options = {
        "node": node,
        "command": command,
        "strict": asked["strict"],
        "realtime": asked["realtime"],
        "attach": attach,
        "record": str(asked["output"]) if asked["output"] else None,
        "pcap": str(asked["pcap"]) if asked["pcap"] else None,
    }
    if asked["time"]:
        try:
            _core.seconds(asked["time"])
        except ScenarioError as error:
            raise click.UsageError(f"--for: {error.message}") from None
        options["time"] = asked["time"]
    return scenario, options


def _pair(option: str, form: str, text: str, *, needed: bool = True) -> tuple[str, str]:
    """The two parts of a value of this form."""
    name, equals, rest = text.partition("=")
    if not name or (not rest and (needed or equals)):
        raise click.UsageError(f"{option} needs {form}, not {text!r}")
    return name, rest


def _traced(asked: dict[str, Any]) -> Scenario:
    """The scenario of two traces: mm-delay and mm-link in one."""
    from lasthop.errors import ScenarioError
    from lasthop.live_runs import hosts

    queue: Any = asked["queue"] or "droptail"
    if queue.lstrip().startswith("{"):
        try:
            queue = json.loads(queue)
        except ValueError as error:
            raise click.UsageError(f"--queue is no JSON: {error}") from None
    try:
        return hosts.traced(asked["trace"], asked["uplink"] or asked["trace"], asked["delay"] or "0 s", queue)
    except ScenarioError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _enter(scenario: Scenario, options: dict[str, Any], asked: dict[str, Any]) -> int:
    """Calls this command again, in namespaces of its own."""
    from lasthop import _core

    if asked["web"] is not None:
        from lasthop.live_runs import web

        address = web.listen(asked["web"])
        common.note(f"watch it at {address}", quiet=asked["quiet"])
    program, *arguments = [*python_with("lasthop"), *sys.argv[1:]]
    try:
        return _core.live_enter(scenario.core, json.dumps(options), program, arguments)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


def _inside(scenario: Scenario, options: dict[str, Any], asked: dict[str, Any]) -> int:
    """The run itself."""
    import time

    from lasthop import _core, files
    from lasthop.live_runs import watching
    from lasthop.results import begin, result

    output: Path | None = asked["output"]
    if output:
        click.get_current_context().with_resource(files.claimed(output, made_by=MADE_BY, force=asked["force"]))
        begin(output, made_by=MADE_BY)
    began = time.perf_counter()
    with watching.shown(scenario.name, view=asked["view"], web=asked["web"] is not None) as show:
        try:
            outcome = _core.live(scenario.core, json.dumps(options), show)
        except ValueError as error:
            raise click.ClickException(str(error)) from None
    wall = time.perf_counter() - began
    made = result(outcome, scenario, seed=scenario.seed, simulated_s=outcome.simulated_s, wall_s=wall)
    try:
        _save(made, asked, recorded=("live.json", "packets.pcapng"))
    finally:
        click.echo(outcome.verdict, err=True)
    return outcome.code


def _replay(folder: Path, asked: dict[str, Any]) -> int:
    """A recording again."""
    import time

    from lasthop import _core, files
    from lasthop.live_runs import hosts
    from lasthop.results import result

    files.refuse_to_replace(asked["pcap"], force=asked["force"])
    output: Path | None = asked["output"]
    if output and output.resolve() == folder.resolve():
        raise click.UsageError(f"{output} is the recording itself: choose another folder with -o")
    began = time.perf_counter()
    try:
        outcome = _core.live_replay(folder, asked["pcap"])
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    scenario = hosts.recorded(folder)
    wall = time.perf_counter() - began
    _save(result(outcome, scenario, seed=scenario.seed, simulated_s=outcome.simulated_s, wall_s=wall), asked)
    click.echo(outcome.verdict, err=True)
    return 0


def _save(made: Any, asked: dict[str, Any], recorded: Sequence[str] = ()) -> None:
    """Writes what is asked for, and says so."""
    written = [asked["pcap"]] if asked["pcap"] else []
    if output := asked["output"]:
        written += made.save(output, asked["format"], made_by=MADE_BY, force=asked["force"])
        written += [output / name for name in recorded]
    common.written(written, quiet=asked["quiet"])
