"""
The compiled core of lasthop. Use the package `lasthop` instead.
"""

from _typeshed import SupportsGetItem
from os import PathLike
from typing import Any, SupportsFloat, SupportsIndex, final
from typing_extensions import Buffer

__all__ = ["Environments", "LiveOutcome", "Measurement", "MediaMeasurement", "MediaPacket", "Outcome", "Scenario", "Session", "Table", "endpoint", "live", "live_enter", "live_is_inside", "live_replay", "positions", "read", "read_file", "reference", "schema", "seconds", "segments", "student", "toml_as_json"]

@final
class Environments:
    """
    Several environments of one scenario, whose steps are taken in one call.
    """
    def __new__(cls, /, scenario: Scenario, *, flow: str, step: str, action: str, observation: SupportsGetItem[int, str], history: SupportsIndex, reward: str | None, episode_s: SupportsFloat | SupportsIndex, count: SupportsIndex, threads: SupportsIndex, arrays: tuple[Buffer, Buffer, Buffer, Buffer, Buffer]) -> Environments:
        """
        `count` environments in which `flow` is led. Actions are read from an array, and what a step gives is written into the others: observations
        (float32), rewards, ends (0, 1 terminated, 2 truncated) and the values of `VALUES`. A `reward` of `None` is the caller's own.
        """
    def check(self, /, skip: SupportsGetItem[int, SupportsIndex]) -> None:
        """
        Checks the actions of the next step, but those of the environments in `skip`.
        """
    @staticmethod
    def feature_names() -> list[str]:
        """
        The names of the features.
        """
    def known(self, /, number: "int") -> "tuple[float | None, ...]":
        """
        The values of environment `number`, `None` where nothing is known.
        """
    def reset(self, /, number: SupportsIndex, seed: SupportsIndex, scenario: Scenario | None = None) -> None:
        """
        Begins an episode of environment `number`, of another scenario from now on if there is one. The arrays have it after `show` or `step`.
        """
    def show(self, /) -> None:
        """
        Writes what the last calls gave into the arrays.
        """
    def step(self, /, skip: SupportsGetItem[int, SupportsIndex]) -> None:
        """
        A step of each environment, but of those in `skip`.
        """
    def step_one(self, /) -> "tuple[float, int, tuple[float | None, ...]]":
        """
        A step of the only environment: its reward, how its episode stands, and its values, `None` where nothing is known.
        """
    @staticmethod
    def value_names() -> list[str]:
        """
        The names of the values.
        """

@final
class LiveOutcome:
    """
    What a live run gave.
    """
    @property
    def code(self, /) -> int:
        """
        The exit code: that of the run's own program, or 3 for a strict run that was late.
        """
    @property
    def packet_hops(self, /) -> int:
        """
        Transmissions that ended at the far side of a link.
        """
    @property
    def simulated_s(self, /) -> float:
        """
        How long it was, in simulated seconds.
        """
    @property
    def tables(self, /) -> list[tuple[str, Table]]:
        """
        The tables with their names.
        """
    @property
    def verdict(self, /) -> str:
        """
        Whether its figures can be trusted, and why not.
        """

@final
class Measurement:
    """
    The arguments of a controller's methods. Times in s, amounts in bytes, rates in bit/s; `None` where nothing is known.
    """
    def __repr__(self, /) -> str: ...
    @property
    def acked(self, /) -> int:
        """
        Bytes acknowledged cumulatively since the last `on_ack`, SACKed before or not.
        """
    @property
    def again(self, /) -> bool:
        """
        In `on_timeout`: whether the timer had expired for the same segment before.
        """
    @property
    def app_limited(self, /) -> bool:
        """
        Whether that sample was taken while the application had nothing more to send.
        """
    @property
    def ce(self, /) -> int:
        """
        Bytes in marked packets: as the receiver counts them (AccECN), or all that came with an echo.
        """
    @property
    def delivered(self, /) -> int:
        """
        Bytes delivered so far.
        """
    @property
    def delivery_rate(self, /) -> float | None:
        """
        The greatest valid sample of the delivery rate (draft-ietf-ccwg-bbr §4.1).
        """
    @property
    def flight(self, /) -> int:
        """
        In `on_loss` and the like: bytes sent and not acknowledged, from which standards take a new threshold.
        """
    @property
    def in_flight(self, /) -> int:
        """
        Bytes in flight now.
        """
    @property
    def inter_ack(self, /) -> float | None:
        """
        The mean time between acknowledgements.
        """
    @property
    def link_changed(self, /) -> bool:
        """
        Whether the terminal said since the last call that its path is another one (`path_hint = "delays"`).
        """
    @property
    def lost(self, /) -> int:
        """
        Bytes newly taken for lost.
        """
    @property
    def min_rtt(self, /) -> float | None:
        """
        The least round-trip time of 10 s.
        """
    @property
    def now(self, /) -> float:
        """
        The present.
        """
    @property
    def pacing_rate(self, /) -> float | None:
        """
        The pacing rate.
        """
    @property
    def packets_acked(self, /) -> int:
        """
        Packets acknowledged or SACKed, each once.
        """
    @property
    def packets_ce(self, /) -> int:
        """
        Marked packets, likewise.
        """
    @property
    def prior_in_flight(self, /) -> int:
        """
        Bytes in flight before the last acknowledgement that `on_ack` counts.
        """
    @property
    def recovering(self, /) -> bool:
        """
        Whether losses are being repaired.
        """
    @property
    def round(self, /) -> int:
        """
        How many round trips have passed.
        """
    @property
    def rtt(self, /) -> float | None:
        """
        The mean of the round-trip times measured since the last `on_ack`.
        """
    @property
    def rtt_last(self, /) -> float | None:
        """
        The last of them.
        """
    @property
    def rtt_min(self, /) -> float | None:
        """
        The least of them.
        """
    @property
    def rttvar(self, /) -> float | None:
        """
        Its variation.
        """
    @property
    def sacked(self, /) -> int:
        """
        Bytes newly SACKed.
        """
    @property
    def segment(self, /) -> int:
        """
        Payload bytes of a full segment.
        """
    @property
    def send_rate(self, /) -> float | None:
        """
        The rate at which segments left.
        """
    @property
    def srtt(self, /) -> float | None:
        """
        The smoothed round-trip time (RFC 6298).
        """
    @property
    def window(self, /) -> int:
        """
        The congestion window.
        """
    @property
    def window_limited(self, /) -> bool:
        """
        Whether the window was full when the acknowledged data left.
        """

@final
class MediaMeasurement:
    """
    The argument of `on_feedback`: a report of the receiver. Times in s, amounts in bytes, rates in bit/s.
    """
    def __repr__(self, /) -> str: ...
    @property
    def acked(self, /) -> int:
        """
        Bytes of them that arrived.
        """
    @property
    def ce(self, /) -> int:
        """
        Bytes of them that arrived marked.
        """
    @property
    def in_flight(self, /) -> int:
        """
        Bytes in flight now.
        """
    @property
    def link_changed(self, /) -> bool:
        """
        Whether the terminal said since the last call that its path is another one (`path_hint = "delays"`).
        """
    @property
    def lost(self, /) -> int:
        """
        Bytes of them that are taken for lost.
        """
    @property
    def max_rate(self, /) -> float:
        """
        See `min_rate`.
        """
    @property
    def min_rate(self, /) -> float:
        """
        The bounds of the encoder's rate.
        """
    @property
    def now(self, /) -> float:
        """
        The present.
        """
    @property
    def packets(self, /) -> list[MediaPacket]:
        """
        Packets of which nothing was known before, by their numbers.
        """
    @property
    def prior_in_flight(self, /) -> int:
        """
        Bytes in flight before the report.
        """
    @property
    def queue_delay(self, /) -> float:
        """
        How long the first of them has waited.
        """
    @property
    def queued(self, /) -> int:
        """
        Bytes that wait at the sender.
        """
    @property
    def reported_at(self, /) -> float:
        """
        When the report was made, by the receiver's clock.
        """
    @property
    def rtt(self, /) -> float | None:
        """
        The round-trip time of the last of them that arrived, without the time for which the report was held; `None` if none arrived.
        """
    @property
    def target_bitrate(self, /) -> float:
        """
        What holds now.
        """

@final
class MediaPacket:
    """
    What became of a packet.
    """
    @property
    def arrival(self, /) -> float | None:
        """
        When it arrived, by the receiver's clock, in s; `None` if it is taken for lost.
        """
    @property
    def bytes(self, /) -> int:
        """
        Its bytes, RTP's header included.
        """
    @property
    def ecn(self, /) -> int:
        """
        The ECN field with which it arrived: 0 not ECN-capable, 1 ECT(1), 2 ECT(0), 3 marked.
        """
    @property
    def number(self, /) -> int:
        """
        Its number in the flow, from 0.
        """
    @property
    def sent_at(self, /) -> float:
        """
        When it was sent, in s.
        """

@final
class Outcome:
    """
    What a run gave.
    """
    @property
    def packet_hops(self, /) -> int:
        """
        Transmissions that ended at the far side of a link.
        """
    @property
    def tables(self, /) -> list[tuple[str, Table]]:
        """
        The tables with their names.
        """

@final
class Scenario:
    """
    A scenario that was read and checked.
    """
    @property
    def duration_s(self, /) -> float:
        """
        Its simulated time, in seconds.
        """
    def json(self, /) -> str:
        """
        The scenario as JSON, every name and default filled in.
        """
    @property
    def name(self, /) -> str:
        """
        The name that it states; empty if none.
        """
    @property
    def seed(self, /) -> int:
        """
        The seed that it states.
        """
    def summary(self, /) -> str:
        """
        What it holds, in one line.
        """
    def toml(self, /) -> str:
        """
        The scenario as TOML, every name and default filled in.
        """
    @property
    def whole(self, /) -> str | None:
        """
        What was written, in JSON with the texts of files that it names; `None` if it names none.
        """

@final
class Session:
    """
    A scenario that is under way.
    """
    def __new__(cls, /, scenario: Scenario, seed: SupportsIndex, pcap: str | PathLike[str] | None = None, *, changeable: bool = False) -> Session:
        """
        Builds the scenario with the random streams of `seed`. With `pcap`, the packets at the nodes that send are captured into that file.
        A `changeable` one is ready for changes by its caller.
        """
    def advance(self, /, events: SupportsIndex) -> bool:
        """
        Goes on for about `events` events; whether the end is reached.
        """
    def advance_to(self, /, until_s: SupportsFloat | SupportsIndex, events: SupportsIndex) -> bool:
        """
        The same up to an instant, in simulated seconds: whether it is reached.
        """
    def change(self, /, json: str) -> None:
        """
        Makes the changes of a scenario in JSON that has nothing else, now.
        """
    @property
    def end_s(self, /) -> float:
        """
        The end of the run, in simulated seconds.
        """
    def finish(self, /) -> Outcome:
        """
        Ends the run, makes its tables and closes its capture.
        """
    def look(self, /, name: str) -> list[tuple[str, str, str, float]]:
        """
        What the flow or the part of a medium of this name keeps at present: kind, node, quantity and value, as in the table `state`.
        """
    def names(self, /) -> list[str]:
        """
        The names of what can be looked at.
        """
    @property
    def next_event_s(self, /) -> float | None:
        """
        When something happens next, in simulated seconds; `None` at the end.
        """
    @property
    def now_s(self, /) -> float:
        """
        The present, in simulated seconds.
        """

@final
class Table:
    """
    A table of results. Give it to `pyarrow.table`, `polars.DataFrame` or DuckDB, which read it
    through `__arrow_c_stream__` without copying.
    """
    def __arrow_c_stream__(self, /, requested_schema: "object | None" = None) -> "object":
        """
        The table as a stream of the Arrow C interface.
        """
    def __len__(self, /) -> int: ...
    @property
    def columns(self, /) -> list[str]:
        """
        The names of the columns.
        """

def endpoint(words: SupportsGetItem[int, str]) -> int:
    """
    Runs `lasthop endpoint` with these words, and gives its exit code.
    """

def live(scenario: Scenario, options: str, show: Any | None = None) -> LiveOutcome:
    """
    Runs a plan here, inside namespaces. `show` gets a snapshot each second, as JSON, in a thread of its own.
    """

def live_enter(scenario: Scenario, options: str, program: str | PathLike[str], arguments: SupportsGetItem[int, str]) -> int:
    """
    Checks a plan, and runs a program with these arguments in namespaces of its own, where it is to call [`live`]; gives its exit code.
    """

def live_is_inside() -> bool:
    """
    Whether this process is in the namespaces of a live run.
    """

def live_replay(folder: str | PathLike[str], pcap: str | PathLike[str] | None = None, scenario: Scenario | None = None) -> LiveOutcome:
    """
    Runs a recording again, without clock or network, perhaps with a capture, or with a scenario that records more in the place of its own;
    the verdict is that of the recorded run.
    """

def positions(scenario: Scenario, seconds: SupportsGetItem[int, SupportsFloat | SupportsIndex]) -> Table:
    """
    Where the satellites and terminals of a scenario's constellations are over the ground at some times, in seconds: a row for
    each and each time.
    """

def read(text: str, origin: str, format: str) -> Scenario:
    """
    Reads and checks a scenario from text in the format `toml` or `json`; `origin` names the text
    in errors.
    """

def read_file(path: str | PathLike[str]) -> Scenario:
    """
    Reads and checks a scenario from a file.
    """

def reference() -> str:
    """
    The reference page of scenarios, in Markdown.
    """

def schema(section: str | None = None) -> str:
    """
    The JSON Schema of a scenario, or of one section of it by its name or its path.
    """

def seconds(text: str) -> float:
    """
    A time such as `"10 ms"` in seconds.
    """

def segments(path: str | PathLike[str]) -> Table:
    """
    The TCP segments of a capture (pcapng or pcap): one row for each packet that passed an interface.
    """

def student(freedom: SupportsFloat | SupportsIndex, probability: SupportsFloat | SupportsIndex) -> float:
    """
    The quantile of Student's distribution with `freedom` degrees of freedom at `probability`.

    With many degrees of freedom it is the first three terms of Abramowitz and Stegun, 26.7.5.
    """

def toml_as_json(text: str) -> str:
    """
    What a scenario in TOML says, as JSON in the same order.
    """
