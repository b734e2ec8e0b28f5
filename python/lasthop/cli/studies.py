"""`lasthop studies`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from lasthop.cli import common

#: The study that is copied, and what of it is no part.
TEMPLATE, LEFT_OUT = "lasthop.studies.template", "__pycache__"


@click.group(invoke_without_command=True)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), default=Path("out"), help="Where runs lie. Default: out."
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def studies(context: click.Context, out: Path, as_json: bool) -> None:
    """List the studies and how their claims fared in the last run.

    \b
    lasthop studies
    """
    if context.invoked_subcommand:
        return
    from lasthop.columns import aligned
    from lasthop.studies import STUDIES, last_counts, study

    rows = []
    for name in STUDIES:
        known = study(name)
        rows.append(
            {
                "study": name,
                "question": known.title,
                "claims": len(known.claims),
                "verdicts": last_counts(out / name),
            }
        )
    if as_json:
        common.print_json(rows)
        return
    lines = [[str(row["study"]), str(row["question"]), _counts(row["verdicts"])] for row in rows]
    click.echo(aligned(["study", "what it asks", "last run"], lines))


def _counts(verdicts: object) -> str:
    if not isinstance(verdicts, dict):
        return "not run here yet"
    return " · ".join(f"{count} {verdict}" for verdict, count in verdicts.items())


@studies.command()
@click.argument("name")
@click.option("-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="The folder. Default: ./NAME.")
@common.quiet
def new(name: str, output: Path | None, quiet: bool) -> None:
    """Write a small study to start from: a folder that runs as it is.

    \b
    lasthop studies new mine
    lasthop reproduce ./mine
    """
    from lasthop import files

    if files.folder_name(name) != name:
        raise click.UsageError(f"{name!r} is no name of a folder; say where it is to lie with -o")
    folder = output or Path(name)
    if folder.exists():
        raise files.OutputRefused(f"{folder} exists", "choose another name, or another folder with -o")
    written = []
    for path, source in _files(resources.files(TEMPLATE), folder):
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.whole(path) as out:
            out.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
        written.append(path)
    told = folder if folder.is_absolute() else f"./{folder}"
    common.note(f"wrote {len(written)} files into {folder}; now: lasthop reproduce {told}", quiet=quiet)


def _files(source: Traversable, to: Path) -> Iterator[tuple[Path, Traversable]]:
    """All files of a folder, with their paths below another one."""
    for one in sorted(source.iterdir(), key=lambda one: one.name):
        if one.is_dir() and one.name != LEFT_OUT:
            yield from _files(one, to / one.name)
        elif one.is_file():
            yield to / one.name, one
