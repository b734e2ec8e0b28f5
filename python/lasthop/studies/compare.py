"""What differs between two results of a study: each claim's figure and verdict, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lasthop.columns import aligned, fitted
from lasthop.files import names_of
from lasthop.stats import number

__all__ = ["claims_differ", "claims_text", "is_study"]


def is_study(folder: Path) -> bool:
    """Whether a folder holds the claims of a study."""
    from lasthop.studies import CLAIMS_FILE

    return (folder / CLAIMS_FILE).is_file()


def claims_differ(one: Path, other: Path) -> list[dict[str, Any]]:
    """A row for each claim of two results of one study: what both found, their verdicts, and whether these differ.

    Raises `ValueError` if the folders hold different studies.
    """
    documents = [_read(folder) for folder in (one, other)]
    names = [document["study"] for document in documents]
    if names[0] != names[1]:
        raise ValueError(f"{one} holds the study {names[0]}, {other} holds {names[1]}: there is no claim in both")
    mine, theirs = ({claim["id"]: claim for claim in document["claims"]} for document in documents)
    nothing = {"ours": None, "verdict": None}
    return [
        {
            "claim": claim,
            "statement": (mine.get(claim) or theirs[claim])["statement"],
            "paper": (mine.get(claim) or theirs[claim])["paper"],
            **{f"one_{name}": mine.get(claim, nothing)[name] for name in nothing},
            **{f"other_{name}": theirs.get(claim, nothing)[name] for name in nothing},
            "differs": any(mine.get(claim, nothing)[name] != theirs.get(claim, nothing)[name] for name in nothing),
        }
        for claim in dict.fromkeys([*mine, *theirs])
    ]


def claims_text(one: Path, other: Path, *, every: bool = False) -> str:
    """What `lasthop compare` prints of two results of a study: the claims that differ, or all."""
    rows = claims_differ(one, other)
    first, second = _read(one), _read(other)
    names = names_of([one, other])
    heading = f"{first['study']} · {names[0]}: {first['mode']} · {names[1]}: {second['mode']}"
    turned = sum(row["one_verdict"] != row["other_verdict"] for row in rows)
    differ = [row for row in rows if row["differs"]]
    counted = (
        f"{number(turned)} of {number(len(rows))} verdicts differ, {number(len(differ))} claims have other figures or "
        "verdicts"
    )
    shown = rows if every else differ
    table = aligned(
        ["claim", "statement", "paper", *names, "verdict"],
        [
            [
                row["claim"],
                row["statement"],
                row["paper"],
                row["one_ours"] or "–",
                row["other_ours"] or "–",
                str(row["one_verdict"] or "–")
                + (f" → {row['other_verdict'] or '–'}" if row["one_verdict"] != row["other_verdict"] else ""),
            ]
            for row in shown
        ],
    )
    return "\n\n".join([fitted(heading), *([table] if shown else []), fitted(counted)])


def _read(folder: Path) -> dict[str, Any]:
    from lasthop.studies import CLAIMS_FILE

    try:
        document: dict[str, Any] = json.loads((folder / CLAIMS_FILE).read_text(encoding="utf-8"))
        if not isinstance(document["claims"], list):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{folder / CLAIMS_FILE} holds no claims of `lasthop reproduce`") from error
    return document
