"""All that was ever found by fuzzing ends in one clean message or in a run, within limits of time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from random import Random

from conftest import ROOT
from fuzz.subjects import Scenarios
from lasthop import _core

from fuzz import places

TESTS = ROOT / "tests"


def test_the_corpus_is_survived():
    done = subprocess.run(
        [sys.executable, "-m", "fuzz", "--replay"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        timeout=600,
    )
    files = [path for path in (TESTS / "fuzz" / "corpus").glob("*/*") if path.is_file()]
    assert len(files) == len(done.stdout.splitlines()) > 30, done.stderr
    assert done.returncode == 0, done.stdout


def test_every_kind_of_thing_is_drawn():
    """Each field of each table of the schema, such as those of each queue, is in one of some ten thousand scenarios."""
    subject = Scenarios()
    whole = places.compiled(json.loads(_core.schema()))
    known, drawn = set(), set()
    for place in reached(whole, set()):
        known |= {(place.name, key) for kind in place.kinds if isinstance(kind, places.Table) for key in kind.fields}
    for number in range(60_000):
        document = json.loads(subject.make(Random(number)))
        for _, place, value in places.walk(whole, document):
            if isinstance(value, dict):
                drawn |= {(place.name, key) for key in value}
    assert known and not known - drawn


def reached(place, seen):
    """All places within a place."""
    if place not in seen:
        seen.add(place)
        yield place
        for kind in place.kinds:
            inner = ()
            if isinstance(kind, places.Table):
                inner = kind.fields.values()
            elif isinstance(kind, places.Array):
                inner = (*kind.first, kind.items)
            for one in inner:
                yield from reached(one, seen)
