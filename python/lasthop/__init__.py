"""lasthop simulates, packet by packet, how congestion control behaves over a radio last hop.

>>> import lasthop as lh
>>> result = lh.run("examples/two-flows.toml")  # doctest: +SKIP
>>> result.flows.to_pandas()                    # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lasthop import plot
    from lasthop.analysis import Analysis, analyze
    from lasthop.builders import Cell, Change, Constellation, Flow, Group, Hsdpa, Link, Mbms, Record
    from lasthop.comparison import Comparison, compare
    from lasthop.controller import Controller, MediaController
    from lasthop.errors import ControllerError, RecordWarning, RunError, ScenarioError
    from lasthop.live_runs import LiveRun, live
    from lasthop.results import Result, Table
    from lasthop.runs import Replications, replicate, run
    from lasthop.scenario import Scenario, load
    from lasthop.session import Session
    from lasthop.stats import Estimate, estimate
    from lasthop.sweeps import Sweep, sweep

__all__ = [
    "Analysis",
    "Cell",
    "Change",
    "Comparison",
    "Constellation",
    "Controller",
    "ControllerError",
    "Estimate",
    "Flow",
    "Group",
    "Hsdpa",
    "Link",
    "LiveRun",
    "Mbms",
    "MediaController",
    "Record",
    "RecordWarning",
    "Replications",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Session",
    "Sweep",
    "Table",
    "__version__",
    "analyze",
    "compare",
    "estimate",
    "live",
    "load",
    "plot",
    "replicate",
    "run",
    "sweep",
]

__version__ = "0.1.0"

#: Where each public name lives. It is imported when first used, so that ``lasthop --help`` waits
#: for nothing.
_HOMES = {
    "Analysis": "analysis",
    "analyze": "analysis",
    "Comparison": "comparison",
    "compare": "comparison",
    "Estimate": "stats",
    "estimate": "stats",
    "Replications": "runs",
    "replicate": "runs",
    "run": "runs",
    "Sweep": "sweeps",
    "sweep": "sweeps",
    "Result": "results",
    "Table": "results",
    "Controller": "controller",
    "MediaController": "controller",
    "ControllerError": "errors",
    "RecordWarning": "errors",
    "RunError": "errors",
    "ScenarioError": "errors",
    "Scenario": "scenario",
    "Session": "session",
    "load": "scenario",
    "LiveRun": "live_runs",
    "live": "live_runs",
    **dict.fromkeys(
        ("Cell", "Change", "Constellation", "Flow", "Group", "Hsdpa", "Link", "Mbms", "Record"), "builders"
    ),
}


def __getattr__(name: str) -> Any:
    if name == "plot":
        return import_module("lasthop.plot")
    if home := _HOMES.get(name):
        value = getattr(import_module(f"lasthop.{home}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'lasthop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
