"""Writing files so that none is ever half there, and nobody else's is lost."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from lasthop import __version__

__all__ = [
    "MANIFEST",
    "OutputRefused",
    "braces",
    "claim_folder",
    "clear_drafts",
    "code",
    "folder_name",
    "json_text",
    "manifest",
    "provenance",
    "settle",
    "whole",
    "write_new",
]

MANIFEST = "manifest.json"


class OutputRefused(ValueError):
    """Something stands where output should go."""


def folder_name(name: str) -> str:
    """A name as that of a folder: in the folder where it is made, and nowhere else."""
    return re.sub(r"[^\w .,+=()\[\]-]", "-", name).strip(". ") or "scenario"


@contextmanager
def whole(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """A path beside ``path`` to write to; at the end it takes the place of ``path``.

    If writing fails or is interrupted, nothing remains of it and ``path`` is as it was. What is
    ``durable`` survives a failure of the machine as soon as this is done.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.part{path.suffix}")
    try:
        yield draft
        if durable:
            settle(draft)
        draft.replace(path)
        if durable:
            settle(path.parent)
    except OSError as error:
        if error.filename is not None and Path(os.fsdecode(error.filename)) == draft:
            # Of the file that was to be written, of which the reader has heard.
            raise type(error)(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        draft.unlink(missing_ok=True)


def write_new(path: Path, text: str) -> bool:
    """Writes a file that is whole and on the disk, unless there is one already; whether it did."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part{path.suffix}")
    try:
        draft.write_text(text, encoding="utf-8")
        settle(draft)
        path.hardlink_to(draft)
    except FileExistsError:
        return False
    except OSError:
        # A file system without links.
        if path.exists():
            return False
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    settle(path.parent)
    return True


def settle(path: Path) -> None:
    """Waits until the disk has a file, or the names in a folder."""
    if os.name != "posix" and path.is_dir():
        # Only there can a folder be opened.
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def clear_drafts(folder: Path) -> None:
    """Removes what killed processes had begun to write into ``folder``."""
    for path in folder.iterdir():
        if _is_draft(path):
            path.unlink(missing_ok=True)


def _is_draft(path: Path) -> bool:
    """Whether a file is what :func:`whole` or :func:`write_new` had begun when its process was killed."""
    return re.fullmatch(r"\..+\.\d+\.part(\.\w+)?", path.name) is not None


def claim_folder(folder: Path, *, made_by: str, force: bool = False) -> Path:
    """Makes ``folder``, or takes it if it is empty or ``made_by`` wrote it before.

    What killed processes had only begun to write counts as nothing.
    """
    if folder.exists() and not folder.is_dir():
        raise OutputRefused(f"{folder} is a file, not a folder: choose another with -o")
    if folder.is_dir() and not force and not all(map(_is_draft, folder.iterdir())):
        try:
            owner = manifest(folder)["made_by"]
        except (ValueError, KeyError):
            owner = None
        if owner != made_by:
            whose = f"was written by `{owner}`" if owner else "holds other files"
            raise OutputRefused(f"{folder} {whose}: choose another folder with -o, or write into it with --force")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder that lasthop wrote."""
    try:
        document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{folder} holds no results: there is no {MANIFEST} in it") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder / MANIFEST} cannot be read: {error}") from None
    if not isinstance(document, dict):
        raise ValueError(f"{folder / MANIFEST} is not a manifest of lasthop")
    return document


def provenance() -> dict[str, str]:
    """Which code this is, and where it runs."""
    known = {"lasthop": __version__, "python": platform.python_version(), "platform": platform.platform()}
    if commit := _commit():
        known["commit"] = commit
    return known


def code() -> str:
    """Which code this is, in a word."""
    commit = _commit()
    return f"lasthop {__version__}" + (f" of {commit}" if commit else "")


@cache
def _commit() -> str | None:
    """The commit of the source tree that this package runs from, if it does."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    try:
        say = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return say.stdout.strip() or None


def json_text(document: object) -> str:
    """Plain data, paths and estimates as JSON. What is not a number becomes null."""
    return json.dumps(_plain(document), indent=1, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    from lasthop.stats import Estimate

    if isinstance(value, Estimate):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def braces(paths: Sequence[Path]) -> list[str]:
    """Paths for reading: those that differ in the suffix only are written as one."""
    stems: dict[Path, list[str]] = {}
    for path in paths:
        stems.setdefault(path.with_suffix(""), []).append(path.suffix.removeprefix("."))
    return [
        f"{stem}.{suffixes[0]}" if len(suffixes) == 1 else f"{stem}.{{{','.join(suffixes)}}}"
        for stem, suffixes in stems.items()
    ]
