"""The lines of a picture over time: what a run recorded, which of many lines are named, and how they look."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lasthop.plot.style import COLOURS, MANY, STYLES, look, protocol
from lasthop.results import INTERVAL_RATES, Result
from lasthop.scenario import directions

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

#: Quantities that are a mean over the receivers of a flow.
OF_RECEIVERS = ("goodput_kbps", "arrival_kbps")

__all__ = ["Labelled", "Line", "Of", "Runs", "chosen", "labelled", "merged", "named", "of_run", "styles", "together"]

#: One run, or several with their labels or without.
Runs = Result | Sequence[Result] | Mapping[str, Result] | Mapping[float, Result]
#: A run and its label.
Labelled = tuple[str, Result]
#: Names of what is drawn.
Of = str | Sequence[str] | None


@dataclass(frozen=True, eq=False)
class Line:
    """Something that a run recorded over time."""

    #: The label of the run.
    run: str
    #: The name of the flow, link or terminal.
    name: str
    #: Of a direction its link or terminal, of a receiver its flow; otherwise the name again.
    owner: str
    #: The transport of a flow.
    transport: str
    time: Array
    value: Array
    #: What the value is of, where the name does not say it.
    note: str = ""
    #: When a flow's file had been sent, in seconds.
    end: float | None = None
    #: Of a rate: when the first interval began.
    begin: float | None = None

    @property
    def kind(self) -> tuple[str, str, str]:
        """Lines of one kind differ in a number only."""
        return self.run, re.sub(r"\d+", "", self.name), self.transport

    def is_called(self, name: str) -> bool:
        """Whether this is its name, or that of its link, whatever the direction."""
        return name in (self.name, self.owner)


def labelled(runs: Runs) -> list[Labelled]:
    """Runs with their labels: those given, or what tells them apart."""
    if isinstance(runs, Result):
        return [("", runs)]
    try:
        several = [*(runs.values() if isinstance(runs, Mapping) else runs)]
    except TypeError:
        several = []
    if not several or not all(isinstance(run, Result) for run in several):
        raise TypeError(
            "pictures over time are of results of `lh.run`: of one, a list, or a dictionary with their labels. "
            "`lh.Result.load(folder)` reads a stored one, and `lh.plot.across` draws a sweep"
        )
    return [(str(label), run) for label, run in runs.items()] if isinstance(runs, Mapping) else _told_apart(several)


def _told_apart(runs: Sequence[Result]) -> list[Labelled]:
    """Runs by their names, seeds or transports: by the first of these that differs between all of them."""
    if len(runs) < 2:
        return [("", run) for run in runs]
    said = [
        [run.name for run in runs],
        [", ".join(dict.fromkeys(run.flows["transport"].tolist())) for run in runs],
        [f"seed {run.seed}" for run in runs],
    ]
    labels = next((one for one in said if len({*one}) == len(runs)), [f"run {n}" for n in range(1, len(runs) + 1)])
    return list(zip(labels, runs, strict=True))


def together(before: Sequence[Labelled], more: Sequence[Labelled]) -> list[Labelled]:
    """Runs that were drawn and further ones, told apart if they came without labels."""
    both = [*before, *more]
    return both if len({label for label, _ in both}) == len(both) else _told_apart([run for _, run in both])


def of_run(label: str, result: Result, quantity: str) -> Iterator[Line]:
    """The lines of a quantity, those of flows from their start."""
    import numpy as np

    series = result.series.where(quantity=quantity)
    samples = np.unique(result.series["time_s"])
    is_rate = quantity in INTERVAL_RATES
    flows = result.flows
    ends = _ends(result)
    receivers = Counter(flows["flow"].tolist()) if quantity in OF_RECEIVERS else Counter[str]()
    starts, transports = (
        dict(zip(flows["flow"].tolist(), flows[column].tolist(), strict=True)) for column in ("start_s", "transport")
    )
    kinds, names, times, values = (series[column] for column in ("kind", "name", "time_s", "value"))
    order = {name: place for place, name in enumerate(starts)}
    owners = _owners(result)
    found: dict[tuple[str, str], list[int]] = {}
    for row, one in enumerate(zip(kinds.tolist(), names.tolist(), strict=True)):
        found.setdefault(one, []).append(row)
    for kind, name in sorted(found, key=lambda one: order.get(one[1], len(order))):
        mine = np.array(found[kind, name])
        if kind == "flow":
            # A rate is of the interval before its time.
            mine = mine[times[mine] > starts[name] if is_rate else times[mine] >= starts[name]]
        # A rate has a beginning, too.
        if len(mine) > (0 if is_rate else 1):
            several = receivers[name] if kind == "flow" else 0
            yield Line(
                label,
                name,
                owners.get((kind, name), name),
                transports[name] if kind == "flow" else "",
                times[mine],
                values[mine],
                note=f"mean of {several} receivers" if several > 1 else "",
                end=ends.get(name) if kind == "flow" else None,
                begin=_sample_before(float(times[mine][0]), samples) if is_rate else None,
            )


def _owners(result: Result) -> dict[tuple[str, str], str]:
    """The links and terminals of all directions, and the flows of all receivers, by kind and name in ``series``."""
    ways = directions(result.scenario_text)
    found = {}
    for kind, table in (("link", "links"), ("bearer", "bearers")):
        for name in result.tables[table][kind].tolist() if table in result.tables else ():
            found[kind, name] = ways.get(name) or re.sub(" (down|up)$", "", name)
    flows = result.flows
    for flow, node in zip(flows["flow"].tolist(), flows["to"].tolist(), strict=True):
        found["receiver", f"{flow} at {node}"] = flow
    return found


def _sample_before(time: float, samples: Array) -> float:
    """The time of the sample before the one at ``time``, where its interval began; the beginning if there is none."""
    earlier = samples[samples < time]
    return float(earlier[-1]) if len(earlier) else 0.0


def _ends(result: Result) -> dict[str, float]:
    """When flows of the source ``file``, which have one transfer each, had all of it acknowledged."""
    if "transfers" not in result.tables:
        return {}
    flows, sent, acked = (result.transfers[column].tolist() for column in ("flow", "sent_s", "acked_s"))
    # The other sources say when they sent the first byte.
    return {flow: end for flow, began, end in zip(flows, sent, acked, strict=True) if began != began and end == end}


def merged(lines: Sequence[Line]) -> list[Line]:
    """The lines, with one for both directions of a link where they are the same."""
    import numpy as np

    made: list[Line] = []
    for line in lines:
        whole = (line.run, line.owner)
        twin = next((one for one in made if not one.transport and (one.run, one.owner) == whole), None)
        if (
            twin
            and not line.transport
            and np.array_equal(twin.time, line.time)
            and np.array_equal(twin.value, line.value)
        ):
            made[made.index(twin)] = replace(twin, name=line.owner)
        else:
            made.append(line)
    return made


def chosen(lines: Sequence[Line]) -> list[tuple[Line, str]]:
    """The lines that are named, and what is said of them: all, if there are few enough.

    Otherwise, of each kind with more than three, those with the highest, the median and the lowest mean.
    """
    if len(lines) <= MANY:
        return [(line, "") for line in lines]
    kinds: dict[Any, list[Line]] = {}
    for line in lines:
        kinds.setdefault(line.kind, []).append(line)
    front = [one for several in kinds.values() for one in _ranked(several)]
    return front if len(front) <= MANY else _ranked(lines)


def _ranked(lines: Sequence[Line]) -> list[tuple[Line, str]]:
    if len(lines) <= 3:
        return [(line, "") for line in lines]
    ordered = sorted(lines, key=lambda line: -float(line.value.mean()))
    return [(ordered[0], "highest"), (ordered[len(ordered) // 2], "median"), (ordered[-1], "lowest")]


def named(front: Sequence[tuple[Line, str]]) -> list[str]:
    """The names of lines: by run, by what they show, or by both."""
    runs, names = ({getattr(line, part) for line, _ in front} for part in ("run", "name"))
    made = []
    for line, rank in front:
        parts = [*([line.run] if len(runs) > 1 else []), *([line.name] if len(names) > 1 or len(runs) == 1 else [])]
        made.append(", ".join([": ".join(dict.fromkeys(parts)), *filter(None, [line.note, rank])]))
    return made


def is_one_of_several(line: Line, runs: Sequence[Labelled]) -> bool:
    """Whether the runs have more flows, or more links and radios, than the one that a line is of."""
    for _, result in runs:
        if line.transport:
            names = {*result.flows["flow"].tolist()}
        else:
            # Both directions have the name of the link, or of the terminal.
            names = {owner for (kind, _), owner in _owners(result).items() if kind in ("link", "bearer")}
        if len(names) > 1 and any(line.is_called(name) for name in names):
            return True
    return False


def styles(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The looks of lines: a protocol's own where each line has another, and otherwise a colour and a style by place.

    Of several runs with several lines each, the colour says which line and the style says which run.
    """
    runs, names = (list(dict.fromkeys(getattr(line, part) for line in lines)) for part in ("run", "name"))
    protocols = [protocol(line.transport) for line in lines]
    if None not in protocols and len({*protocols}) == len(lines):
        looks = [look(line.transport) for line in lines]
        return looks if len(lines) > 1 else [{**looks[0], "linestyle": "-"}]
    if len(runs) > 1 and len(names) > 1:
        places = [(names.index(line.name), runs.index(line.run)) for line in lines]
    else:
        places = [(place, place) for place in range(len(lines))]
    return [
        {"color": COLOURS[colour % len(COLOURS)], "linestyle": STYLES[style % len(STYLES)], "linewidth": 1.0}
        for colour, style in places
    ]
