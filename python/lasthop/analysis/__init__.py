"""What TCP connections did: windows, round-trip times, retransmissions and acknowledgements, from a run or a capture.

``traces`` holds the packets seen, ``measures`` the measures of them; ``packets`` and ``captures`` read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lasthop import files
from lasthop.analysis import captures, packets
from lasthop.analysis.measures import Measured
from lasthop.analysis.tables import tables
from lasthop.analysis.traces import Trace
from lasthop.results import Format, Result, Table, save_tables
from lasthop.stats import number

__all__ = ["MADE_BY", "Analysis", "analyze"]

#: What manifests call the writer.
MADE_BY = "lasthop analyze"

#: The packets of real programs in the folder of a live run.
LIVE = "packets.pcapng"

#: What rates and means over time are taken over.
Over = Literal["run", "connections"]


def analyze(
    source: str | Path | Result, *, over: Over = "run", flows: Sequence[str] | None = None, seed: int | None = None
) -> Analysis:
    """Looks at the TCP connections of a run that recorded its packets, or of a capture.

    ``source`` is a result, a folder that ``lasthop run -o`` or ``lasthop live -o`` wrote, or a capture (pcapng or
    pcap). Of a live run these are the connections of real programs. Rates and means are over the whole run, or over
    the connections' own time. Of a folder with several runs ``seed`` chooses one.

    >>> lh.analyze(lh.run(scenario)).connections.to_pandas()  # doctest: +SKIP
    """
    if over not in ("run", "connections"):
        raise ValueError(f"over {over!r}: write 'run' or 'connections'")
    if not isinstance(source, Result) and not Path(source).exists():
        raise ValueError(f"there is no {source}")
    if seed is not None and (isinstance(source, Result) or not Path(source).is_dir()):
        raise ValueError("a seed chooses among the runs of a folder, and there is none to choose from")
    flows = [flows] if isinstance(flows, str) else flows
    if not isinstance(source, Result):
        path = Path(source)
        live = seed is None and (path / "live.json").exists()
        if live or not path.is_dir():
            seen, end_s, tells = captures.traces(path / LIVE if live else path, flows)
            return _analysis(files.text_of(path.name if live else path.stem), seen, end_s, over, tells)
    result = source if isinstance(source, Result) else _one_of(Path(source), seed)
    if "packets" not in result.tables:
        raise ValueError(f"{result.name} has no packets: record them, with record.packets = true in the scenario")
    return _analysis(result.name, packets.traces(result, flows), result.simulated_s, over)


def _one_of(folder: Path, seed: int | None) -> Result:
    """The run in a folder, or the one with this seed."""
    manifest = files.manifest(folder)
    if manifest.get("made_by") != "lasthop run":
        raise ValueError(f"{folder} holds no run: `{manifest.get('made_by')}` wrote it")
    return Result.load(folder, seed)


def _analysis(name: str, seen: Sequence[Trace], end_s: float, over: Over, tells_ends: bool = True) -> Analysis:
    if not seen:
        raise ValueError(f"{name} has no TCP connections")
    measured = []
    for trace, after in zip(seen, [*seen[1:], None], strict=True):
        # Data outstanding when a connection is given up stay so until the flow's next one begins.
        goes_on = after is not None and after.flow == trace.flow
        until = float(after.segments.time[0]) if after is not None and goes_on else end_s
        measured.append(Measured(trace, until if over == "run" else None))
    return Analysis(name, over, end_s, measured, tables(measured, end_s if over == "run" else None), tells_ends)


@dataclass(frozen=True, repr=False)
class Analysis:
    """What the TCP connections of a run did. Each table is an attribute: ``analysis.connections``."""

    #: The scenario, or the capture.
    name: str
    #: What rates and means are over: ``run``, or ``connections``.
    over: Over
    #: When the run ended.
    end_s: float
    #: The connections, as arrays.
    measured: Sequence[Measured] = field(compare=False)
    #: The tables by name.
    tables: Mapping[str, Table] = field(compare=False)
    #: Whether the source says which packets were sent where they were captured; if not, all data count as sent there.
    tells_ends: bool = True

    @property
    def back_s(self) -> float:
        """By how much time goes back at most from one packet of a connection to the next, where a clock was set."""
        import numpy as np

        steps = [float((0.0 - np.diff(one.trace.segments.time)).max(initial=0.0)) for one in self.measured]
        return max(steps)

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_") or name == "tables":
            raise AttributeError(name)
        if name in self.tables:
            return self.tables[name]
        raise AttributeError(f"no table {name!r}; known: {', '.join(self.tables)}")

    def __repr__(self) -> str:
        from lasthop.text import analysis_text

        return analysis_text(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self.heading())}</p>{self.totals._repr_html_()}{self.connections._repr_html_()}"

    def heading(self) -> str:
        """One line: what was looked at, over what time."""
        n = len(self.measured)
        time = f"over the run, {number(self.end_s)} s" if self.over == "run" else "over the connections' own time"
        return f"{self.name} · {number(n)} connection{'s' * (n != 1)} · {time}"

    def save(self, folder: str | Path, format: Format = "parquet", *, force: bool = False) -> list[Path]:
        """Writes the tables and ``manifest.json`` into ``folder``; the paths written."""
        manifest = {"scenario": self.name, "over": self.over, "end_s": self.end_s}
        return save_tables(self.tables, folder, format, manifest=manifest, made_by=MADE_BY, force=force)
