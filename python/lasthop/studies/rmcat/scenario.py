"""The scenario of a case with a controller: the file `scenario.toml` is case 5.1 with NADA."""

from __future__ import annotations

from functools import partial
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies import words
from lasthop.studies.grid import Point

from .network.cases import CASES, Case
from .network.controllers import CONTROLLERS
from .network.path import flows, links
from .readings import Setting

text = partial(words.scenario, __name__)


def scenario(point: Point, setting: Setting) -> Scenario:
    """The case of a point, carried by its controller."""
    return of_case(CASES[point["case"]], point["controller"], setting)


def of_case(case: Case, controller: str, setting: Setting) -> Scenario:
    """A case carried by a controller."""
    chosen = CONTROLLERS[controller]
    made: dict[str, Any] = {
        "name": f"{case.id} {controller}",
        "duration": f"{case.seconds:g} s",
        **links(case, chosen, setting),
        "flow": flows(case, chosen, setting),
        "record": {"packets": True, "hops": True},
    }
    return load(made)
