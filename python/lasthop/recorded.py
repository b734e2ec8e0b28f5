"""Quantities that a scenario asks for and nothing in it has: which these are is known after a run alone."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterator

from lasthop.errors import RecordWarning
from lasthop.results import Result
from lasthop.scenario import Scenario


def in_vain(scenario: Scenario, result: Result) -> Iterator[str]:
    """A sentence for each quantity that is asked for in vain."""
    record = scenario["record"]
    if record.get("quantities") and not record.get("series"):
        yield 'record.quantities are samples, and none are taken: write record.series = "1 s", too'
    for field, name, of in (("quantities", "series", "series"), ("transfer_quantities", "transfer_state", "transfers")):
        asked = record.get(field, ())
        if not asked or of not in result.tables or not len(result.tables[of]):
            continue
        there = result.tables[name].to_arrow()["quantity"].unique().to_pylist() if name in result.tables else []
        for quantity in asked:
            if quantity not in there:
                near = difflib.get_close_matches(quantity, there, 1, cutoff=0.75)
                hint = f"; did you mean {near[0]}?" if near else ": the table state has the names"
                yield f"record.{field}: nothing here has {quantity}{hint}"


def warn(scenario: Scenario, result: Result) -> None:
    """Warns of them, at the line that called the caller of this."""
    for doubt in in_vain(scenario, result):
        warnings.warn(doubt, RecordWarning, stacklevel=3)
