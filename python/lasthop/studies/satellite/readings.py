"""What the paper leaves open (`paper/questions.toml`), and what a reading takes."""

from __future__ import annotations

from lasthop.studies import words
from lasthop.studies.readings import Reading

from .network import Setting

QUESTIONS = words.questions(__name__)


def taken(reading: Reading) -> Setting:
    """The paper's network, read so.

    What an answer changes is a setting's parameter, or one of a part of it: `queue.hold`.
    """
    made = Setting()
    for name, value in reading.changes.items():
        part, _, parameter = name.partition(".")
        made = made.but(**{part: {parameter: value} if parameter else value})
    return made
