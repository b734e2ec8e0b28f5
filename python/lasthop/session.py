"""Sessions: scenarios that the caller leads, looks at and changes while they are under way."""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lasthop import _core
from lasthop.errors import ScenarioError
from lasthop.results import Result, result
from lasthop.runs import SLICE, as_seed
from lasthop.scenario import Scenario, as_json, load

__all__ = ["Session"]


class Session:
    """A scenario that is under way: go on, look, change, go on.

    >>> import lasthop as lh
    >>> session = lh.Session("examples/handover.toml")   # doctest: +SKIP
    >>> session.advance_to("10 s")                       # doctest: +SKIP
    >>> session.flow("video")["cwnd_packets"]            # doctest: +SKIP
    >>> session.change("radio", rate="128 kbit/s")       # doctest: +SKIP
    >>> session.finish().flows                           # doctest: +SKIP

    What the scenario itself says of changes, joins and samples happens at its instants. A session that is only looked
    at gives the tables of :func:`lasthop.run`, byte for byte, in however many steps it goes on.
    """

    def __init__(self, scenario: str | Path | Mapping[str, Any] | Scenario, *, seed: int | None = None) -> None:
        self._scenario = load(scenario)
        self._seed = as_seed(self._scenario.seed if seed is None else seed)
        self._began = time.perf_counter()
        self._core = _core.Session(self._scenario.core, self._seed, changeable=True)
        self._changes: list[dict[str, Any]] = []
        self._finished = False

    @property
    def now_s(self) -> float:
        """The present, in simulated seconds."""
        return self._core.now_s

    @property
    def end_s(self) -> float:
        """The end of the scenario, in simulated seconds."""
        return self._core.end_s

    @property
    def next_event_s(self) -> float | None:
        """When something happens next, in simulated seconds; ``None`` at the end. It may be a timer put off since.

        It happens as the session goes on beyond that instant: ``advance_to(next_event_s)`` stops in front of it.
        """
        return self._core.next_event_s

    def advance_to(self, until: float | str) -> None:
        """Goes on to an instant: seconds, or text such as ``"10 s"``; not beyond the end.

        Events due at that instant itself come with the next call, so that a look or a change comes before it.
        """
        until_s = _seconds(until)
        if not until_s >= self.now_s:  # Not a number is no instant either.
            raise ScenarioError(f"{until_s:g} s is past: it is {self.now_s:g} s", path="until")
        while not self._core.advance_to(until_s, SLICE):
            pass

    def advance(self, by: float | str) -> None:
        """Goes on for a time: seconds, or text such as ``"100 ms"``; not beyond the end."""
        self.advance_to(self.now_s + _seconds(by))

    def flow(self, name: str) -> dict[str, float]:
        """What the sender of a flow keeps at present, as in the table ``state``: ``cwnd_packets``, ``srtt_ms``, …."""
        found = {quantity: value for kind, _, quantity, value in self._look(name) if kind == "sender"}
        if not found:
            raise ScenarioError(f'"{name}" is no flow: part("{name}") looks at it', path="name")
        return found

    def receivers(self, name: str) -> dict[str, dict[str, float]]:
        """What the receivers of a flow keep at present, by their nodes."""
        found: dict[str, dict[str, float]] = {}
        for kind, node, quantity, value in self._look(name):
            if kind == "receiver":
                found.setdefault(node, {})[quantity] = value
        return found

    def part(self, name: str) -> dict[str, float]:
        """What a direction of a link, a cell or a bearer keeps at present, such as ``"radio server>mobile"``."""
        rows = self._look(name)
        found = {quantity: value for kind, _, quantity, value in rows if kind not in ("sender", "receiver")}
        if not found:
            raise ScenarioError(f'"{name}" is a flow: flow("{name}") looks at it', path="name")
        return found

    def names(self) -> list[str]:
        """The names of all flows and parts."""
        return self._core.names()

    def change(self, link: str, /, **fields: Any) -> None:
        """Changes a link, or the way to a terminal, now: by the fields of a ``[[change]]`` but ``at`` and ``repeat``.

        ``session.change("radio", rate="384 kbit/s")``, ``session.change("cell.ue[3]", up=False)``. The result says of
        it (``session_changes``), and so does its folder.
        """
        for field in ("at", "repeat"):
            if field in fields:
                raise ScenarioError(f'"{field}" of a change that is made now', path=field)
        change = {"at": "0 s", "link": link, **fields}
        try:
            text = as_json({"change": [change]})
        except (TypeError, ValueError, RecursionError) as error:
            raise ScenarioError(f"the change is no plain data: {error}", path="change") from None
        self._core.change(text)
        self._changes.append({**json.loads(text)["change"][0], "at": f"{self.now_s!r} s"})

    def finish(self) -> Result:
        """Ends the session and gives the tables of what has happened so far."""
        simulated_s = self.now_s
        outcome = self._core.finish()
        self._finished = True
        wall_s = time.perf_counter() - self._began
        return result(
            outcome,
            self._scenario,
            seed=self._seed,
            simulated_s=simulated_s,
            wall_s=wall_s,
            session_changes=tuple(self._changes),
        )

    def complete(self) -> Result:
        """Goes on to the end, and finishes."""
        self.advance_to(self.end_s)
        return self.finish()

    def __repr__(self) -> str:
        try:
            where = f"{self.now_s:g} of {self.end_s:g} s"
        except RuntimeError as error:  # It ended, perhaps by an error, or it is inside a call of its controller.
            where = "finished" if self._finished else str(error)
        return f"<Session of {self._scenario.name or 'a scenario'}: {where}>"

    def _look(self, name: str) -> list[tuple[str, str, str, float]]:
        rows = self._core.look(name)
        if not rows:
            known = self.names()
            near = difflib.get_close_matches(name, known, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(known[:10])}"
            raise ScenarioError(f'there is nothing called "{name}": {hint}', path="name")
        return rows


def _seconds(time: float | str) -> float:
    return _core.seconds(time) if isinstance(time, str) else float(time)
