"""The one place that writes files: none is ever half written, no other file is lost, and an error names its file.

Tables, pictures and captures are written by libraries, to the path that :func:`whole` gives.
"""

from __future__ import annotations

import errno
import json
import math
import os
import platform
import re
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from lasthop import __version__

__all__ = [
    "MANIFEST",
    "VIEW",
    "Log",
    "OutputRefused",
    "abandon",
    "braces",
    "claimed",
    "code",
    "folder_name",
    "json_text",
    "manifest",
    "named",
    "names_of",
    "provenance",
    "refuse_to_replace",
    "remove",
    "settle",
    "tables_of",
    "text_of",
    "whole",
    "write_new",
]

MANIFEST = "manifest.json"

#: The replay of a run, which `lasthop view` may write before there are results.
VIEW = "view.html"

#: Seconds between two waits for the disk.
SETTLE_S = 1.0


class OutputRefused(ValueError):
    """Something stands where output should go. The advice speaks of a command's options; as text, of arguments."""

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what, advice)
        self.what, self.advice = what, advice

    @property
    def command(self) -> str:
        """The same for a command."""
        return f"{self.what}: {self.advice}"

    def __str__(self) -> str:
        return f"{self.what}: {self.advice.replace(' with -o', '').replace('--force', 'force=True')}"


def refuse_to_replace(path: Path | None, *, force: bool) -> None:
    """A file that stands there already is left alone unless forced."""
    if path and path.exists() and not force:
        raise OutputRefused(f"{path} exists", "choose another name, or replace it with --force")


def refuse_results(folder: Path, *, advice: str) -> None:
    """A folder of results keeps its own pictures."""
    if (folder / MANIFEST).exists():
        raise OutputRefused(f"{folder} holds results, whose pictures would be replaced", advice)


def text_of(path: str | Path) -> str:
    """A path as text. The system takes any bytes for a name; those that are no UTF-8 are escaped."""
    return str(path).encode(errors="backslashreplace").decode()


def folder_name(name: str) -> str:
    """A name as that of a folder: in the folder where it is made, and nowhere else."""
    return re.sub(r"[^\w .,+=()\[\]-]", "-", name).strip(". ") or "scenario"


def names_of(folders: Sequence[Path]) -> list[str]:
    """What to call folders beside each other: by the last parts of their paths, or by these if two end alike."""
    names = [folder.resolve().name for folder in folders]
    return names if len({*names}) == len(names) else [str(folder) for folder in folders]


@contextmanager
def whole(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """A path beside ``path`` to write to; at the end it takes the place of ``path``.

    If writing fails or is interrupted, nothing remains of it and ``path`` is as it was. A
    ``durable`` file survives a failure of the machine as soon as this is done.
    """
    with _draft(path) as draft:
        yield draft
        if durable:
            settle(draft)
        draft.replace(path)
        if durable:
            settle(path.parent)


def write_new(path: Path, text: str) -> bool:
    """Writes a file that is whole and on the disk, unless there is one already; whether it did."""
    with _draft(path) as draft:
        draft.write_text(text, encoding="utf-8")
        settle(draft)
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            return False
        except OSError:
            # A file system without links.
            if path.exists():
                return False
            draft.replace(path)
        settle(path.parent)
    return True


@contextmanager
def _draft(path: Path) -> Iterator[Path]:
    """A path beside ``path``, of which nothing remains. What fails there has failed for ``path``."""
    draft = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}.part{path.suffix}")
    _drafts.add(draft)
    try:
        with named(path):
            try:
                yield draft
            except OSError as error:
                if _path(error) == draft:
                    raise _failure(error, path) from None
                raise
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        _drafts.discard(draft)


#: Files being written.
_drafts: set[Path] = set()


def abandon() -> None:
    """Removes unfinished files at the end of an interrupted process: their removal may have been hit."""
    for draft in _drafts:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@contextmanager
def named(path: Path) -> Iterator[None]:
    """What the system refuses here is said of ``path``, unless another file is named. Libraries often name none."""
    try:
        yield
    except BrokenPipeError:
        # Of our output, whose reader has closed it.
        raise
    except OSError as error:
        if error.filename is None:
            raise _failure(error, path) from None
        raise


def _failure(error: OSError, path: Path) -> OSError:
    """The error as one of ``path``, in the system's words."""
    said = re.search(r"\(os error (\d+)\)", str(error))
    number = error.errno or (int(said[1]) if said else None)
    return OSError(number or errno.EIO, os.strerror(number) if number else str(error), str(path))


def _path(error: OSError) -> Path | None:
    """The file of an error."""
    return Path(os.fsdecode(error.filename)) if isinstance(error.filename, (str, bytes)) else None


def settle(path: Path) -> None:
    """Waits until the disk has a file, or the names in a folder."""
    is_folder = path.is_dir()
    if os.name != "posix" and is_folder:
        # Only there can a folder be opened.
        return
    with named(path):
        # Windows flushes only files that are open for writing.
        handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Log:
    """A file that grows by whole entries, of which the disk has every one a second later.

    It goes on at ``end``: what a killed process had begun to write behind that is cut off.
    """

    def __init__(self, path: Path, end: int) -> None:
        self.path = path
        #: Where the next entry will begin.
        self.end = end
        self._out: IO[bytes] | None = None
        self._settled = time.monotonic()

    def append(self, entry: bytes) -> None:
        """Adds an entry. If that fails, the log ends where it ended before."""
        with named(self.path):
            try:
                if self._out is None:
                    self._out = self.path.open("ab")
                    self._out.truncate(self.end)
                    settle(self.path.parent)
                self._out.write(entry)
                self._out.flush()
            except BaseException:
                out, self._out = self._out, None
                if out:
                    with suppress(OSError):
                        out.close()
                raise
            self.end += len(entry)
            if time.monotonic() - self._settled > SETTLE_S:
                self._settle()

    def _settle(self) -> None:
        if self._out:
            os.fsync(self._out.fileno())
        self._settled = time.monotonic()

    def close(self) -> None:
        """Waits until the disk has everything."""
        with named(self.path):
            out, self._out = self._out, None
            if out:
                with out:
                    os.fsync(out.fileno())


def remove(folder: Path) -> None:
    """Removes a folder with all that is in it, as far as the system lets us."""
    with suppress(OSError):
        shutil.rmtree(folder, ignore_errors=True)


def _is_draft(path: Path) -> bool:
    """Whether a file is what :func:`whole` or :func:`write_new` had begun when its process was killed."""
    return re.fullmatch(r"\..+\.\d+(-\d+)?\.part(\.\w+)?", path.name) is not None


@contextmanager
def claimed(folder: Path, *, made_by: str, force: bool = False, shared: bool = False) -> Iterator[Path]:
    """Makes ``folder``, or takes it if it is empty or ``made_by`` wrote it before, and keeps all others out.

    Others are other processes, and other threads of this one. Those that share it do so with each other. Files that
    killed processes had only begun count as nothing, and go. A replay counts as nothing, and stays.
    """
    if str(folder) != text_of(folder):
        # Arrow, for one, writes to no other.
        raise OutputRefused(f"{text_of(folder)} is no name in UTF-8", "choose another folder with -o")
    if folder.exists() and not folder.is_dir():
        raise OutputRefused(f"{folder} is a file, not a folder", "choose another with -o")
    folder.mkdir(parents=True, exist_ok=True)
    with _held(folder, shared=shared) as first:
        drafts = {path for path in folder.iterdir() if _is_draft(path)}
        if not force and any(path not in drafts and path.name != VIEW for path in folder.iterdir()):
            try:
                owner = manifest(folder).get("made_by")
            except ValueError:
                owner = None
            if owner != made_by:
                whose = f"was written by `{owner}`" if owner else "holds other files"
                raise OutputRefused(f"{folder} {whose}", "choose another folder with -o, or write into it with --force")
        if first and not shared:
            for draft in drafts:
                draft.unlink(missing_ok=True)
        try:
            yield folder
        except OSError as error:
            path = _path(error)
            if path and path.is_relative_to(folder) and any(p.startswith(".") for p in path.relative_to(folder).parts):
                # Of internals that a user does not know.
                raise _failure(error, folder) from None
            raise


@dataclass
class _Hold:
    """A folder that this process holds."""

    #: Its descriptor.
    handle: int
    shared: bool
    #: The thread that holds it; of several that share it, the first.
    thread: int
    #: How often it is held.
    times: int = 1


#: The folders that this process holds, by device and number.
_holds: dict[tuple[int, int], _Hold] = {}
_guard = threading.Lock()


@contextmanager
def _held(folder: Path, *, shared: bool) -> Iterator[bool]:
    """Holds a folder against others, until this process ends at the latest; whether it did not before."""
    try:
        import fcntl
    except ImportError:
        # Windows.
        yield True
        return
    with _guard, named(folder):
        handle = os.open(folder, os.O_RDONLY)
        status = os.fstat(handle)
        place = status.st_dev, status.st_ino
        known = _holds.get(place)
        if known:
            os.close(handle)
            if not (shared if known.shared else known.thread == threading.get_ident()):
                raise _in_use(folder, "this program")
            known.times += 1
        else:
            try:
                fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                raise _in_use(folder, _holder(status.st_ino)) from None
            except OSError:
                # A file system that locks no folders, as NFS.
                pass
            _holds[place] = _Hold(handle, shared, threading.get_ident())
    try:
        yield known is None
    finally:
        with _guard:
            hold = _holds[place]
            hold.times -= 1
            if hold.times == 0:
                del _holds[place]
                with suppress(OSError):
                    os.close(hold.handle)


def _in_use(folder: Path, whom: str) -> OutputRefused:
    return OutputRefused(f"{folder} is in use by {whom}", "wait for it, or choose another folder with -o")


def _holder(number: int) -> str:
    """The process that holds the folder of this number, as far as the system reports it (proc_locks(5))."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            _, kind, _, _, process, place, *_ = line.split()
            if kind == "FLOCK" and int(place.rpartition(":")[2]) == number:
                words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
                return f"process {process} ({shlex.join(words[:-1])})"
    return "another process"


def _let_go() -> None:
    """A child holds nothing: else a folder would stay in use when its parent is gone."""
    for hold in _holds.values():
        os.close(hold.handle)
    _holds.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder that lasthop wrote."""
    path = folder / MANIFEST
    try:
        with named(path):
            document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        lacking = f"{MANIFEST} in it" if folder.exists() else "such folder"
        raise ValueError(f"{folder} holds no results: there is no {lacking}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not isinstance(document, dict):
        raise ValueError(f"{path} is not a manifest of lasthop")
    return document


def tables_of(folder: Path) -> list[Path]:
    """The files of the tables that a manifest of ours lists, in its folder whatever it says; none without."""
    try:
        said = manifest(folder)
    except ValueError:
        return []
    tables = said.get("tables") if "lasthop" in said else None
    return [folder / Path(str(file)).name for file in tables.values()] if isinstance(tables, dict) else []


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
    """Plain data, paths and estimates as JSON. NaN and infinities become null."""
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
        stems.setdefault(path.with_suffix(""), []).append(path.suffix)
    return [
        f"{stem}{suffixes[0]}" if len(suffixes) == 1 else f"{stem}.{{{','.join(suffixes).replace('.', '')}}}"
        for stem, suffixes in stems.items()
    ]
