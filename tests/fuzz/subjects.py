"""What is tried: kinds of input, how each is made, and what may come of it."""

from __future__ import annotations

import importlib.util
import json
import re
import struct
import sys
import tempfile
import tomllib
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, Protocol

from lasthop import _core
from lasthop.errors import RunError, ScenarioError

from .contained import Defect
from .mutations import Mutator
from .places import compiled

ROOT = Path(__file__).resolve().parents[2]

#: The frame of a journal's record: mark, lengths of head and body, their CRC-32.
RECORD = struct.Struct("<8sIQI")

#: The largest scenario file that is read (crates/core/src/scenario/read.rs).
FILE_BYTES = 16_000_000

#: Events of a short run: fewer than 10^5 packets.
MOST_EVENTS = 200_000


#: Scenarios that are longer take time from those that are not.
LONG = 20_000


class Subject(Protocol):
    """A kind of input."""

    #: Its name, and its folder's in the corpus.
    name: str
    #: In which ways an input may end.
    ends: tuple[str, ...]

    def prepare(self) -> None:
        """What takes time and is the same for all inputs."""

    def make(self, rng: Random) -> bytes:
        """An input."""

    def try_(self, payload: bytes, *, thorough: bool) -> int:
        """Which of the ``ends`` it comes to, or a :class:`Defect`. A ``thorough`` try leaves nothing out."""

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        """Inputs that leave something out of this one."""

    def suffix(self, payload: bytes) -> str:
        """How its files' names end."""


class Scenarios:
    """Scenarios as data, changed by their schema: loaded, checked, and some of them run for a while."""

    name = "scenario"
    ends = ("refused", "right", "not built", "ran to the end", "ran for a while", "ended by a guard")
    REFUSED, RIGHT, UNBUILT, REACHED, PAUSED, GUARDED = range(6)

    #: Of the scenarios that are right, one in this many is run.
    RUN_ONE_IN = 4

    @cached_property
    def mutator(self) -> Mutator:
        return Mutator(compiled(json.loads(_core.schema())), self.documents())

    def documents(self) -> Iterator[dict[str, Any]]:
        """Scenarios that are right, as they are and with every default filled in."""
        for written in originals():
            try:
                core = _core.read(json.dumps(written), "original", "json")
            except ScenarioError:
                continue
            yield written
            if len(core.json()) < LONG:
                yield json.loads(core.json())

    def prepare(self) -> None:
        self.mutator  # noqa: B018

    def make(self, rng: Random) -> bytes:
        return json.dumps(self.mutator.scenario(rng)).encode()

    def try_(self, payload: bytes, *, thorough: bool) -> int:
        # Chosen by the input, so that the same input has the same fate.
        dice = zlib.crc32(payload)
        text = payload.decode()
        try:
            scenario = _core.read(text, "fuzz", "json" if _is_json(text) else "toml")
        except ScenarioError as error:
            one_line(error.message)
            return self.REFUSED
        if thorough or dice % 16 == 0:
            read_again(scenario)
        dice //= 16
        if not thorough and dice % self.RUN_ONE_IN:
            return self.RIGHT
        dice //= self.RUN_ONE_IN
        # As many of a hundred events as of a hundred thousand.
        events = MOST_EVENTS if thorough else round(10 ** (2 + dice % 1000 / 1000 * 3))
        try:
            run = _core.Session(scenario, scenario.seed, None)
            reached = run.advance(events)
            run.finish()
        except ScenarioError as error:
            one_line(error.message)
            return self.UNBUILT
        except RunError as error:
            one_line(str(error))
            if "not conserved" in str(error):
                raise Defect(f"RunError: {error}") from None
            return self.GUARDED
        return self.REACHED if reached else self.PAUSED

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        text = payload.decode()
        if not _is_json(text):
            yield from lines_left_out(payload)
            return
        try:
            document = json.loads(text)
        except ValueError:
            yield from pieces_left_out(payload)
            return
        for path in sorted(_paths(document), key=len):
            changed = json.loads(text)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            del inner[path[-1]]
            yield json.dumps(changed).encode()

    def suffix(self, payload: bytes) -> str:
        return "json" if _is_json(payload.decode(errors="replace")) else "toml"


class Texts(Scenarios):
    """Scenarios as text, changed without regard to what it means."""

    name = "text"
    REPLACEMENTS = (
        *[
            '"',
            "'",
            "=",
            ",",
            ".",
            "#",
            "\\",
            "\\u0000",
            "[",
            "]",
            "[[",
            "]]",
            "{",
            "}",
            "-1",
            "0",
            "1e999",
            "nan",
            "1_0",
            "0x7f",
            "true",
            "1979-05-27",
            "null",
            "é",
            "𝕏",
            "\ufeff",
        ],
        *('"""', "\n", "\r", "\x00", "[" * 200, "{" * 200),
    )

    @cached_property
    def texts(self) -> list[str]:
        documents = list(self.documents())
        cores = (_core.read(json.dumps(document), "fuzz", "json") for document in documents[::2])
        toml = [core.toml() for core in cores]
        toml += [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("examples/*.toml"))]
        return toml + [json.dumps(document, indent=1) for document in documents]

    def prepare(self) -> None:
        self.texts  # noqa: B018

    def make(self, rng: Random) -> bytes:
        text = rng.choice(self.texts)
        while True:
            begin = rng.randrange(len(text) + 1)
            end = min(len(text), begin + round(10 ** rng.uniform(0, 2)))
            elsewhere = rng.randrange(len(text) + 1)
            ways = ("", text[begin:end] * 2, rng.choice(self.REPLACEMENTS), text[elsewhere : elsewhere + end - begin])
            text = text[:begin] + rng.choice(ways) + text[end:]
            if rng.random() < 0.7:
                return text.encode(errors="replace")


class Captures:
    """Captures (pcapng, and pcap in cooked frames): read, and the connections in them analysed."""

    name = "capture"
    ends = ("refused", "read")

    @cached_property
    def captures(self) -> list[bytes]:
        text = (ROOT / "examples" / "lossy.toml").read_text(encoding="utf-8")
        scenario = _core.read(text.replace('duration = "60 s"', 'duration = "500 ms"'), "lossy", "toml")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "lossy.pcapng"
            run = _core.Session(scenario, 1, path)
            run.advance(2_000)
            run.finish()
            whole = path.read_bytes()
        return [whole, whole[:4000], self.cooked(whole[:8000])]

    @staticmethod
    def cooked(pcapng: bytes) -> bytes:
        """Its packets as `tcpdump -i any` writes them: pcap, LINKTYPE_LINUX_SLL2."""
        made = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 276)
        place = 0
        while place + 12 <= len(pcapng):
            kind, length = struct.unpack_from("<II", pcapng, place)
            if kind == 6 and place + length <= len(pcapng):
                stored, whole = struct.unpack_from("<II", pcapng, place + 20)
                frame = pcapng[place + 28 : place + 28 + stored]
                frame = frame[12:14] + struct.pack(">HIHBB8s", 0, 3, 1, 4, 6, bytes(8)) + frame[14:]
                made += struct.pack("<4I", 1_795_737_600, place, len(frame), whole + 6) + frame
            place += length
        return made

    def prepare(self) -> None:
        from lasthop import analysis

        self.analyze = analysis.analyze
        self.captures  # noqa: B018

    def make(self, rng: Random) -> bytes:
        return damaged(rng.choice(self.captures), rng)

    def try_(self, payload: bytes, *, thorough: bool) -> int:
        with tempfile.NamedTemporaryFile(suffix=".pcapng") as file:
            file.write(payload)
            file.flush()
            try:
                self.analyze(file.name)
            except (ValueError, OSError) as error:
                one_line(str(error))
                return 0
        return 1

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        yield from pieces_left_out(payload)

    def suffix(self, payload: bytes) -> str:
        return "pcapng"


class Variations:
    """What `lasthop sweep --vary` is given: read, and every point of it checked."""

    name = "vary"
    ends = ("refused", "right")
    SCENARIO = ROOT / "examples" / "two-flows.toml"
    RIGHT = (
        "link.radio.delay=20ms,80ms",
        "link.0.rate=1 Mbit/s,2 Mbit/s",
        "link.radio.queue=red,codel,{droptail={limit='9 packets'}}",
        "flow.0.transport=tcp,udp",
        "flow.1.transport.tcp.variant=sack,reno,tahoe",
        "flow.file.transport.tcp.window=10,20,30",
        "record={packets=true},{}",
        "nodes=[],['a','b']",
        "profile=rfc",
    )
    PARTS = (
        *[
            "link",
            "flow",
            "radio",
            "rate",
            "delay",
            "queue",
            "transport",
            "tcp",
            "variant",
            "source",
            "0",
            "1",
            "duration",
            "20ms",
            "sack",
            "red",
        ],
        *[
            "[",
            "]",
            "{",
            "}",
            "=",
            ",",
            ".",
            "'",
            '"',
            "*",
            "{red={}}",
            "[1,2]",
            "inf",
            "nan",
            "true",
            "1979-05-27",
            "0x10",
            "1e400",
            "é",
        ],
        *(" ", "80 ms", "1 Mbit/s", "\x00", "\ud800", "9" * 400, "[" * 300, "{a=" * 300),
    )

    def prepare(self) -> None:
        import click
        from lasthop import sweeps
        from lasthop.cli.sweep import values

        self.values, self.plan, self.usage = values, sweeps.plan, click.UsageError

    def make(self, rng: Random) -> bytes:
        words = []
        for _ in range(rng.choice((1, 1, 1, 2))):
            parts = list(re.findall(r"[\w.]+|\W", rng.choice(self.RIGHT)))
            while rng.random() < 0.6:
                place = rng.randrange(len(parts) + 1)
                parts[place : place + rng.randrange(2)] = [rng.choice(self.PARTS)]
            words.append("".join(parts))
        return "\n".join(words).encode(errors="surrogatepass")

    def try_(self, payload: bytes, *, thorough: bool) -> int:
        try:
            self.plan(self.SCENARIO, self.values(payload.decode(errors="surrogatepass").split("\n"))).check()
        except ScenarioError as error:
            one_line(error.message)
            return 0
        except self.usage as error:
            one_line(error.message)
            return 0
        return 1

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        yield from pieces_left_out(payload)

    def suffix(self, payload: bytes) -> str:
        return "txt"


class Journals:
    """The journals of a sweep that was interrupted: what is whole in them is kept, and nothing else."""

    name = "journal"
    ends = ("refused", "runs missing", "collected")

    @cached_property
    def whole(self) -> tuple[bytes, bytes]:
        """The manifest of a finished shard, and its journal."""
        from lasthop import sweeps

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sweep"
            vary = {"link.radio.delay": ["20 ms", "80 ms"]}
            sweeps.sweep(ROOT / "examples" / "two-flows.toml", vary=vary, seeds=2, folder=path, shard=(0, 1), threads=1)
            return (path / "manifest.json").read_bytes(), (path / "runs" / "0-of-1.journal").read_bytes()

    def prepare(self) -> None:
        from lasthop import files, sweeps

        self.collect, self.refused = sweeps.collect, files.OutputRefused
        self.whole  # noqa: B018

    def make(self, rng: Random) -> bytes:
        journal = self.whole[1]
        if rng.random() < 0.5:
            return damaged(journal, rng)
        # A head that is not ours, in a record that is whole by its check, as of another version.
        mark, head_length, body_length, _ = RECORD.unpack(journal[: RECORD.size])
        end = RECORD.size + head_length
        head, body = damaged(journal[RECORD.size : end], rng), journal[end : end + body_length]
        frame = RECORD.pack(mark, len(head), len(body), zlib.crc32(body, zlib.crc32(head)))
        return frame + head + body + journal[end + body_length :]

    def try_(self, payload: bytes, *, thorough: bool) -> int:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "runs").mkdir()
            (folder / "manifest.json").write_bytes(self.whole[0])
            (folder / "runs" / "0-of-1.journal").write_bytes(payload)
            try:
                self.collect(folder)
            except (self.refused, ValueError, OSError) as error:
                one_line(str(error))
                return 0
            except RunError as error:
                one_line(str(error))
                return 1
        return 2

    def smaller(self, payload: bytes) -> Iterator[bytes]:
        yield from pieces_left_out(payload)

    def suffix(self, payload: bytes) -> str:
        return "journal"


def originals() -> Iterator[dict[str, Any]]:
    """Scenarios of the examples, the studies, the documentation, and of the corpus, where some are wrong."""
    folders = ("examples/*.toml", "python/lasthop/studies/*/*.toml", "tests/fuzz/corpus/scenario/*.toml")
    for path in sorted(path for folder in folders for path in ROOT.glob(folder)):
        yield tomllib.loads(path.read_text(encoding="utf-8"))
    spec = importlib.util.spec_from_file_location("docs_examples", ROOT / "docs" / "examples.py")
    assert spec and spec.loader
    examples = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = examples
    spec.loader.exec_module(examples)
    for page in examples.pages():
        for block in examples.blocks(page.read_text(encoding="utf-8")):
            if block.language == "toml" and "(wrong)" not in block.text:
                written = tomllib.loads(block.text)
                yield written if "# file:" in block.text else examples.completed(written)


def one_line(message: str) -> None:
    """A message is a line that says something."""
    if not message.strip() or "\n" in message or len(message) > 2000:
        raise Defect(f"a message that is no line: {message[:300]!r}")


def read_again(scenario: _core.Scenario) -> None:
    """What a scenario expands to says the same, if a file may be as large."""
    json_text = scenario.json()
    if len(json_text) > FILE_BYTES or len(toml := scenario.toml()) > FILE_BYTES:
        return
    for text, form in ((json_text, "json"), (toml, "toml")):
        try:
            again = _core.read(text, "expanded", form).json()
        except ScenarioError as error:
            raise Defect(f"what it expands to is refused as {form}: {error.message}") from None
        if again != json_text:
            raise Defect(f"what it expands to says something else as {form}")


def damaged(whole: bytes, rng: Random) -> bytes:
    """Bytes of which some are changed, left out, there twice, or cut off."""
    changed = bytearray(whole)
    while True:
        begin = rng.randrange(len(changed) + 1)
        end = min(len(changed), begin + round(10 ** rng.uniform(0, 3)))
        match rng.randrange(6):
            case 0:
                del changed[begin:end]
            case 1:
                changed[begin:begin] = changed[begin:end]
            case 2:
                number = rng.choice((0, 1, 2**31 - 1, 2**32 - 1))
                changed[begin : begin + 4] = number.to_bytes(4, rng.choice(("little", "big")))
            case 3 if rng.random() < 0.2:
                del changed[begin:]
            case _:
                for place in range(begin, min(end, begin + rng.choice((1, 1, 2, 8)))):
                    changed[place] = rng.choice((0, 255, rng.randrange(256), changed[place] ^ (1 << rng.randrange(8))))
        if rng.random() < 0.4:
            return bytes(changed)


def pieces_left_out(payload: bytes) -> Iterator[bytes]:
    length = len(payload) // 2
    while length:
        for begin in range(0, len(payload), length):
            yield payload[:begin] + payload[begin + length :]
        length //= 2


def lines_left_out(payload: bytes) -> Iterator[bytes]:
    lines = payload.splitlines(keepends=True)
    for i in range(len(lines)):
        yield b"".join(lines[:i] + lines[i + 1 :])


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from _paths(part, (*path, key))


def _is_json(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("{")
