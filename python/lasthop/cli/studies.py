"""`lasthop studies`."""

from __future__ import annotations

from pathlib import Path

import click

from lasthop.cli import common


@click.command()
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), default=Path("out"), help="Where runs lie. out")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def studies(out: Path, as_json: bool) -> None:
    """List the studies and how their claims fared in the last run.

    \b
    lasthop studies
    """
    from lasthop.studies import STUDIES, last_counts, study
    from lasthop.text import aligned

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
