"""The record of a finished run: its tables as bytes, small, and known to be whole.

A record is a frame of 24 bytes, a head in JSON and a body. The frame holds a mark, the lengths of head
and body, and the CRC-32 of both. The head says which run it is and which tables the body has. The body
is the tables one after the other as Arrow IPC streams, compressed as a whole (zstd).
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING

from lasthop.errors import RunError

if TYPE_CHECKING:
    import pyarrow as pa

    from lasthop.results import Result

__all__ = ["Head", "pack", "read", "scan"]

_FRAME = struct.Struct("<8sIQI")
_MARK = b"lasthop2"

#: Bytes that are read at once where a mark is looked for.
_PIECE = 1 << 20


@dataclass(frozen=True)
class Head:
    """What a record says of itself."""

    #: The run's number in the plan.
    run: int
    #: What tells its plan from any other.
    plan: str
    #: Transmissions that ended at the far side of a link.
    packet_hops: int
    #: The lengths of its tables, before compression.
    tables: dict[str, int]


def pack(run: int, plan: str, result: Result) -> bytes:
    """The record of run number ``run`` of a plan."""
    import pyarrow as pa

    lengths = {}
    out = pa.BufferOutputStream()
    for name, table in result.tables.items():
        before = out.tell()
        arrow = table.to_arrow()
        with pa.ipc.new_stream(out, arrow.schema) as stream:
            stream.write_table(arrow)
        lengths[name] = out.tell() - before
    body: bytes = pa.Codec("zstd").compress(out.getvalue(), asbytes=True)
    head = json.dumps(asdict(Head(run, plan, result.packet_hops, lengths))).encode()
    return _FRAME.pack(_MARK, len(head), len(body), zlib.crc32(body, zlib.crc32(head))) + head + body


def scan(file: IO[bytes]) -> Iterator[tuple[Head, int, int]]:
    """The whole records of a file: the head of each, where the record begins, where it ends.

    Between two of them lies what was damaged, behind the last one what was being written when the process died.
    """
    size = os.fstat(file.fileno()).st_size
    begin: int | None = 0
    while begin is not None:
        file.seek(begin)
        if found := _whole(file, begin, size):
            head, end = found
            yield _head(head), begin, end
            begin = end
        else:
            begin = _next_mark(file, begin + 1, size)


def _whole(file: IO[bytes], begin: int, size: int) -> tuple[bytes, int] | None:
    """The head of the record that begins there, and where the record ends, if it is one and whole."""
    frame = file.read(_FRAME.size)
    if len(frame) < _FRAME.size:
        return None
    mark, head_length, body_length, check = _FRAME.unpack(frame)
    end = begin + _FRAME.size + head_length + body_length
    if mark != _MARK or end > size:
        return None
    head = file.read(head_length)
    return (head, end) if zlib.crc32(file.read(body_length), zlib.crc32(head)) == check else None


def _next_mark(file: IO[bytes], begin: int, size: int) -> int | None:
    """Where the next mark stands, from ``begin`` on."""
    while begin < size:
        file.seek(begin)
        # A mark may lie across the end of a piece.
        piece = file.read(_PIECE + len(_MARK) - 1)
        if (place := piece.find(_MARK)) >= 0:
            return begin + place
        begin += _PIECE
    return None


def _head(text: bytes) -> Head:
    # A record that is whole, by its check, and yet none of ours is of another version.
    other = Head(-1, "another version of lasthop", 0, {})
    try:
        head = Head(**json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return other
    ours = isinstance(head.run, int) and isinstance(head.packet_hops, int) and isinstance(head.tables, dict)
    return head if ours and all(isinstance(length, int) for length in head.tables.values()) else other


def read(file: IO[bytes], begin: int, run: int) -> tuple[Head, dict[str, pa.Table]]:
    """The record of a run that begins there: its head and its tables."""
    import pyarrow as pa

    file.seek(begin)
    mark, head_length, body_length, _ = _FRAME.unpack(file.read(_FRAME.size).ljust(_FRAME.size))
    if mark != _MARK or (head := _head(file.read(head_length))).run != run:
        raise RunError(f"{file.name} was changed meanwhile: the record of run {run} is no longer where it was")
    packed = file.read(body_length)
    try:
        body = pa.Codec("zstd").decompress(packed, sum(head.tables.values()))
        source = pa.BufferReader(body)
        return head, {name: pa.ipc.open_stream(source).read_all() for name in head.tables}
    except (pa.ArrowException, OSError, OverflowError) as error:
        # Its check was right, so this is how it was written.
        raise RunError(f"{file.name}: the record of run {run} has no tables that can be read: {error}") from None
