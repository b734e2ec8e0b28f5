"""What differs between two stored results: in their scenarios, and in their numbers, by pairs of equal seeds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lasthop import files
from lasthop.results import COUNTS, Result, Table, counts_as_0, read_table, table_of
from lasthop.stats import Estimate, estimate, mean, welch
from lasthop.things import THINGS

__all__ = ["MEANS", "Comparison", "Stored", "compare", "differing"]

#: Tables with several rows of one thing, of which the means are compared, and over what these are taken.
MEANS = {"series": "time", "handovers": "the handovers of each link"}

#: Tables of events, whose rows have no counterparts in another run, and where to find numbers instead.
_EVENTS = {
    "packets": "`lasthop analyze` makes numbers of it",
    "slots": "the table cells has their sums",
    "changes": "record.series takes samples that can be compared",
}
#: Columns of text that may differ in what is the same thing.
_SAID = {"transport"}
#: Columns of numbers that only say which thing it is, or when.
_NAMES = {"seed", "transfer", "time_s"}

#: What tells a thing from the others of its table: names of columns with their values.
Thing = tuple[tuple[str, Any], ...]
#: The metrics of each thing, by seed.
Things = dict[Thing, dict[int, dict[str, Any]]]


@dataclass(frozen=True)
class Stored:
    """What ``lasthop run -o`` or ``lasthop sweep`` left in a folder."""

    #: The folder.
    folder: Path
    manifest: Mapping[str, Any]

    @classmethod
    def load(cls, folder: str | Path) -> Stored:
        """Reads what a folder says of itself."""
        if not isinstance(folder, (str, os.PathLike)):
            raise TypeError(
                f"compare takes the folders of stored results, not a {type(folder).__name__}: "
                'save it first, as in result.save("out/reno")'
            )
        folder = Path(folder)
        if folder.exists() and not folder.is_dir():
            raise ValueError(
                f"{folder} is no folder of a stored run: expected one that `lasthop run -o` or `lasthop sweep` wrote"
            )
        manifest = files.manifest(folder)
        if not (isinstance(manifest.get("tables"), dict) and manifest.get("seeds")):
            raise ValueError(f"{folder} holds no whole result of `lasthop run` or `lasthop sweep`")
        return cls(folder, manifest)

    @property
    def vary(self) -> Mapping[str, Sequence[Any]]:
        """What was varied."""
        vary: Mapping[str, Sequence[Any]] = self.manifest.get("vary", {})
        return vary

    @property
    def varied(self) -> dict[str, list[Any]]:
        """The same, with the texts of files that values name."""
        from lasthop.sweeps.vary import Vary

        if not self.vary:
            return {}
        vary = Vary(self.vary, self.manifest.get("files"))
        return {key: [vary.whole(key, value) for value in values] for key, values in vary.keys.items()}

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return list(self.manifest["seeds"])

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """The scenario as plain data, with every default filled in."""
        from lasthop.scenario import of_result

        return of_result(self.manifest["scenario_text"], origin=str(self.folder)).to_dict()

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table; none if it was not recorded."""
        if table not in self.manifest["tables"]:
            return []
        return [{"seed": self.seeds[0], **row} for row in self.table(table)]

    def table(self, table: str) -> Table:
        """A table. In CSV it is the manifest that says that a name is text, such as that of a flow called 1."""
        types = self.manifest.get("columns", {}).get(table)
        return read_table(self.folder / self.manifest["tables"][table], types=types)


@dataclass(frozen=True)
class Comparison:
    """Two stored results beside each other."""

    one: Stored
    other: Stored

    @property
    def names(self) -> list[str]:
        """What the two are called."""
        return files.names_of([self.one.folder, self.other.folder])

    @cached_property
    def scenario(self) -> list[tuple[str, Any, Any]]:
        """What differs in the scenarios: the place, what the one says, what the other says. `None`: nothing.

        Keys of which other values were varied stand last, as ``vary KEY``, and what sessions changed, as
        ``session_changes``.
        """
        one, other = ({f"vary {key}": values for key, values in each.varied.items()} for each in (self.one, self.other))
        for more, stored in ((one, self.one), (other, self.other)):
            if changes := stored.manifest.get("session_changes"):
                more["session_changes"] = changes
        return [*differing(self.one.scenario, self.other.scenario), *differing(one, other)]

    @cached_property
    def shared(self) -> list[int]:
        """The seeds that both have."""
        there = {*self.other.seeds}
        return [seed for seed in self.one.seeds if seed in there]

    def rows(self, table: str = "flows") -> list[dict[str, Any]]:
        """A row for each thing that both have and each metric that differs: both means, and the difference.

        With seeds in both all three are an :class:`~lasthop.stats.Estimate` over pairs of equal seeds, of those with a
        value in both, and seeds of one alone are left out: samples that share some are not independent, as two
        samples have to be. Of the tables in :data:`MEANS` the means of each run are compared. In ``drops`` and
        ``links`` the counts of a thing are 0 in runs without a row of it.
        """
        parts = self._things(table)
        found = []
        for thing in [thing for thing in parts[0] if thing in parts[1]]:
            first, second = (part[thing] for part in parts)
            for metric in [name for name in next(iter(first.values())) if name in next(iter(second.values()))]:
                mine, theirs = ({seed: row[metric] for seed, row in part.items()} for part in (first, second))
                row = _difference(mine, theirs, paired=bool(self.shared))
                if row is not None:
                    found.append({**dict(thing), "metric": metric, **row})
        return found

    def only(self, table: str = "flows") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The things of a table that only the one has, and those that only the other has, by their names."""
        first, second = self._things(table)
        return [dict(thing) for thing in first if thing not in second], [dict(t) for t in second if t not in first]

    def in_both(self, table: str = "flows") -> bool:
        """Whether there is a thing in the table that both have."""
        first, second = self._things(table)
        return not first.keys().isdisjoint(second)

    def table(self, table: str = "flows") -> Table:
        """The same as a flat table: ``metric``, ``one``, ``other``, ``difference``, ``low``, ``high``, ``n``."""
        flat = []
        for row in self.rows(table):
            found = row["difference"]
            row = {**row, "one": row["one"].mean, "other": row["other"].mean, "difference": found.mean}
            flat.append({**row, "low": found.low, "high": found.high, "n": found.n})
        thing = next((thing for part in self._things(table) for thing in part), ())
        numbers = dict.fromkeys(("one", "other", "difference", "low", "high"), 0.0)
        return table_of(flat, like={**dict(thing), "metric": "", **numbers, "n": 0})

    def draw(self, folder: str | Path) -> list[Path]:
        """Draws both runs over time in the same axes, into ``folder``; the paths written."""
        from lasthop import plot

        runs = {}
        for place, (name, stored) in enumerate(zip(self.names, (self.one, self.other), strict=True)):
            if stored.vary or len(stored.seeds) > 1:
                way = "" if stored.vary else f": lasthop plot {self.one.folder} {self.other.folder} --seed N -o DIR"
                raise ValueError(f"{stored.folder} holds more than one run; a picture over time is of one{way}")
            if "series" not in stored.manifest["tables"]:
                raise ValueError(f"{stored.folder} holds no series: record them (record.series)")
            runs[name if name not in runs else f"{name} {place + 1}"] = Result.load(stored.folder)
        return plot.standard(runs, folder)

    def _things(self, table: str) -> tuple[Things, Things]:
        """The things of a table in the one and in the other."""
        if table not in self._read:
            parts = self._by_thing(self.one, table), self._by_thing(self.other, table)
            if table in COUNTS:
                self._count_nothing(table, parts)
            self._read[table] = parts
        return self._read[table]

    @cached_property
    def _read(self) -> dict[str, tuple[Things, Things]]:
        """The tables that have been read."""
        return {}

    def _by_thing(self, stored: Stored, table: str) -> Things:
        """The metrics of each thing, by seed."""
        known = sorted(set(self.one.manifest["tables"]) & set(self.other.manifest["tables"]))
        if table not in known:
            raise ValueError(f"no table {table!r} in both; known: {', '.join(known)}")
        if table in _EVENTS:
            raise ValueError(f"the table {table!r} has a row for each event and cannot be compared: {_EVENTS[table]}")
        things: dict[Thing, dict[int, list[dict[str, Any]]]] = {}
        for row in stored.rows(table):
            is_name = {
                name: name in self._varied or name == "transfer" or (isinstance(value, str) and name not in _SAID)
                for name, value in row.items()
            }
            thing = tuple((name, value) for name, value in row.items() if is_name[name])
            metrics = {
                name: value
                for name, value in row.items()
                if not is_name[name] and name not in _NAMES and (value is None or isinstance(value, (int, float)))
            }
            rows = things.setdefault(thing, {}).setdefault(row["seed"], [])
            if rows and table not in MEANS:
                said = ", ".join(f"{name} {value}" for name, value in thing)
                raise ValueError(
                    f"{stored.folder}, {table}: expected one row for each thing and seed, found two of {said}"
                )
            rows.append(metrics)
        return {
            thing: {seed: _mean(rows) if table in MEANS else rows[0] for seed, rows in part.items()}
            for thing, part in things.items()
        }

    @property
    def _varied(self) -> set[str]:
        """The keys that either varies."""
        return {*self.one.vary, *self.other.vary}

    def _count_nothing(self, table: str, parts: tuple[Things, Things]) -> None:
        """Adds zeros for what did not happen in a run, but none for things that a result does not have."""
        for thing, part in [item for each in parts for item in each.items()]:
            values = {name: [row[name] for row in part.values()] for name in next(iter(part.values()))}
            zeros = {name: 0 if counts_as_0(table, name, its) else None for name, its in values.items()}
            for place, stored in enumerate((self.one, self.other)):
                if thing in parts[place] or ("flow" in THINGS[table] and self._may_have(place, thing)):
                    kept = parts[place].setdefault(thing, {})
                    kept.update({seed: zeros for seed in stored.seeds if seed not in kept})

    def _may_have(self, place: int, thing: Thing) -> bool:
        """Whether a result has the flow of a thing, or its point if it is of no flow."""
        flow = self._of(thing, "flow")
        if any(flow in each for each in self._flows):
            return flow in self._flows[place]
        # Some drops are of no flow in the table, such as those of signalling.
        return self._of(thing) in {self._of(each) for each in self._flows[place]}

    @cached_property
    def _flows(self) -> list[set[Thing]]:
        """The flows of either, each with its point."""
        return [{self._of(thing, "flow") for thing in part} for part in self._things("flows")]

    def _of(self, thing: Thing, *names: str) -> Thing:
        """The point of a thing, and further ones of its names."""
        return tuple((name, value) for name, value in thing if name in self._varied or name in names)

    def __repr__(self) -> str:
        from lasthop.text_compared import comparison_text

        return comparison_text(self)


def compare(one: str | Path, other: str | Path) -> Comparison:
    """What differs between two folders that ``lasthop run -o`` or ``lasthop sweep`` wrote.

    >>> lh.compare("out/reno", "out/cubic").table("flows").df  # doctest: +SKIP
    """
    return Comparison(Stored.load(one), Stored.load(other))


def _mean(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The mean of each metric over rows, without those in which it is missing."""
    return {name: mean(row[name] for row in rows) for name in rows[0]}


def _difference(mine: Mapping[int, Any], theirs: Mapping[int, Any], *, paired: bool) -> dict[str, Estimate] | None:
    """The means and the difference, if there is one.

    They are of the seeds with a value in both, or else of two independent samples. Where one side has no value at all
    the difference is unknown.
    """
    both = [(mine[seed], theirs[seed]) for seed in mine if seed in theirs]
    values = ([a for a, _ in both], [b for _, b in both]) if paired else (mine.values(), theirs.values())
    one, other = map(estimate, values)
    if not one.n or not other.n:
        return {"one": one, "other": other, "difference": estimate(())} if one.n or other.n else None
    if not paired:
        difference = welch(*values)
        return {"one": one, "other": other, "difference": difference} if difference.n and difference.mean else None
    pairs = [(a, b) for a, b in both if a is not None and b is not None]
    if pairs and all(a == b for a, b in pairs):
        return None
    if pairs:
        one, other = map(estimate, zip(*pairs, strict=True))
    return {"one": one, "other": other, "difference": estimate(b - a for a, b in pairs)}


def differing(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two plain data differ. Parts of lists have names, or numbers if both have as many."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            yield from differing(one.get(key), other.get(key), f"{path}.{key}" if path else key)
    elif _named(one) and _named(other):
        mine, theirs = ({part["name"]: part for part in parts} for parts in (one, other))
        for name in dict.fromkeys([*mine, *theirs]):
            yield from differing(mine.get(name), theirs.get(name), f"{path}.{name}")
    elif _parts(one) and _parts(other) and len(one) == len(other):
        for number, (this, that) in enumerate(zip(one, other, strict=True)):
            yield from differing(this, that, f"{path}.{number}")
    elif one != other:
        yield path, one, other


def _parts(parts: Any) -> bool:
    """Whether this is a list of parts."""
    return isinstance(parts, list) and all(isinstance(part, dict) for part in parts)


def _named(parts: Any) -> bool:
    """Whether these are parts with names that tell them apart."""
    return _parts(parts) and all(part.get("name") for part in parts) and len({p["name"] for p in parts}) == len(parts)
