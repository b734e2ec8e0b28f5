"""`lasthop new`."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from lasthop.cli import common, did_you_mean


def templates() -> dict[str, str]:
    """The scenarios to start from: their texts by name."""
    folder = resources.files("lasthop") / "templates"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".toml")), key=lambda f: f.name)
    return {f.name.removesuffix(".toml"): f.read_text(encoding="utf-8") for f in files}


@click.command()
@click.argument("template", required=False)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file, - for stdout. Default: TEMPLATE.toml.",
)
@common.force
@common.quiet
def new(template: str | None, output: Path | None, force: bool, quiet: bool) -> None:
    """Write a commented scenario to start from. Without TEMPLATE, list them.

    \b
    lasthop new handover -o mine.toml
    """
    from lasthop import files
    from lasthop.columns import aligned

    texts = templates()
    if template is None:
        lines = [[name, _title(text)] for name, text in texts.items()]
        click.echo(aligned(["template", "what it shows"], lines))
        return
    if template not in texts:
        raise click.UsageError(f"unknown template {template!r}{did_you_mean(template, texts)}")
    path = output or Path(f"{template}.toml")
    if str(path) == "-":
        click.echo(texts[template], nl=False)
        return
    if path.exists() and not force:
        raise files.OutputRefused(f"{path} exists", "choose another name with -o, or replace it with --force")
    beside = {path.parent / name: text for name, text in _named_in(texts[template]).items()}
    for taken in (one for one in beside if one.exists() and not force):
        raise files.OutputRefused(f"{taken} exists, which the template names", "replace it with --force")
    for file, text in {**beside, path: texts[template]}.items():
        with files.whole(file) as out:
            out.write_text(text, encoding="utf-8")
    wrote = " and ".join(str(file) for file in (path, *beside))
    common.note(f"wrote {wrote}; now: lasthop run {path}", quiet=quiet)


def _named_in(template: str) -> dict[str, str]:
    """The texts of files that a template names, by their names."""
    folder = resources.files("lasthop") / "templates"
    others = (file for file in folder.iterdir() if not file.name.endswith(".toml"))
    return {file.name: file.read_text(encoding="utf-8") for file in others if f'"{file.name}"' in template}


def _title(text: str) -> str:
    """The first line of a template that is for readers: editors have theirs before it."""
    return next(line.removeprefix("# ") for line in text.splitlines() if not line.startswith("#:"))
