"""
The compiled core of lasthop. Use the package `lasthop` instead.
"""

from _typeshed import SupportsGetItem
from os import PathLike
from typing import SupportsFloat, SupportsIndex, final

__all__ = ["Measurement", "Outcome", "Scenario", "Session", "Table", "positions", "read", "read_file", "reference", "schema", "seconds", "segments", "student"]

@final
class Measurement:
    """
    The arguments of a controller's methods. Times in s, amounts in bytes, rates in bit/s; `None` where nothing is known.
    """
    def __repr__(self, /) -> str: ...
    @property
    def acked(self, /) -> int: ...
    @property
    def again(self, /) -> bool: ...
    @property
    def app_limited(self, /) -> bool: ...
    @property
    def ce(self, /) -> int: ...
    @property
    def delivered(self, /) -> int: ...
    @property
    def delivery_rate(self, /) -> float | None: ...
    @property
    def flight(self, /) -> int: ...
    @property
    def in_flight(self, /) -> int: ...
    @property
    def inter_ack(self, /) -> float | None: ...
    @property
    def lost(self, /) -> int: ...
    @property
    def min_rtt(self, /) -> float | None: ...
    @property
    def now(self, /) -> float: ...
    @property
    def pacing_rate(self, /) -> float | None: ...
    @property
    def packets_acked(self, /) -> int: ...
    @property
    def packets_ce(self, /) -> int: ...
    @property
    def prior_in_flight(self, /) -> int: ...
    @property
    def recovering(self, /) -> bool: ...
    @property
    def round(self, /) -> int: ...
    @property
    def rtt(self, /) -> float | None: ...
    @property
    def rtt_last(self, /) -> float | None: ...
    @property
    def rtt_min(self, /) -> float | None: ...
    @property
    def rttvar(self, /) -> float | None: ...
    @property
    def sacked(self, /) -> int: ...
    @property
    def segment(self, /) -> int: ...
    @property
    def send_rate(self, /) -> float | None: ...
    @property
    def srtt(self, /) -> float | None: ...
    @property
    def window(self, /) -> int: ...
    @property
    def window_limited(self, /) -> bool: ...

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

@final
class Session:
    """
    A scenario that is under way.
    """
    def __new__(cls, /, scenario: Scenario, seed: SupportsIndex, pcap: str | PathLike[str] | None = None) -> Session:
        """
        Builds the scenario with the random streams of `seed`. With `pcap`, the packets at the nodes that send are captured into that file.
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

def read_file(path: str) -> Scenario:
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
    The TCP segments of a capture (pcapng): one row for each packet that passed an interface.
    """

def student(freedom: float, probability: float) -> float:
    """
    The quantile of Student's distribution with `freedom` degrees of freedom at `probability`.

    With many degrees of freedom it is the first three terms of Abramowitz and Stegun, 26.7.5.
    """
