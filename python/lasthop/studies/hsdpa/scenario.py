"""The scenario of the paper at a point, and what a reading changes of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from lasthop.scenario import Scenario, load
from lasthop.studies import words
from lasthop.studies.grid import Point

#: The payload of a segment, and the sizes of the files, in bytes: 2ⁿ − 1 segments of 1450 B for n = 2 to 10 (equation
#: 3). The paper's equation
#: begins with one segment, but its text has six sizes below 369 750 B and two above.
SEGMENT = 1450
SIZES = tuple(SEGMENT * (2**n - 1) for n in range(2, 11))

#: As the paper groups them (§IV-A).
SMALL, MEDIUM, LARGE = SIZES[:6], SIZES[6], SIZES[7:]

#: The protocols and the schedulers, with their names in the paper.
PROTOCOLS = {"tcp": "TCP", "tfrc": "TFRC"}
SCHEDULERS = {"round_robin": "RR", "max_sir": "SIR"}

#: All that are run, by their short names.
TITLES = {**PROTOCOLS, **SCHEDULERS, "proportional_fair": "PF"}

#: Mobiles in the seven cells. The paper's figures are of the second.
LOADS = (50, 65)

#: Simulated seconds of a run, and how many of them are left out at its beginning.
DURATION, WARM_UP = 300.0, 5.0

#: What a circuit-switched bearer gives, in kbit/s: 95 % of the users should have more (§IV-C).
LEAST_KBPS = 50.0

#: How the name of a change begins that concerns no run, but how a claim reads the text; then its number.
TEXT = "text."

#: The transports at the default parameters, by protocol.
TRANSPORTS: Mapping[str, Mapping[str, Any]] = {
    "tcp": {
        "profile": "ns2",
        "variant": "sack",
        "segment": "1450 B",
        "handshake": "data_on_syn",
        "initial_window": 1,
        "window": 1000,
        "rto": {"min": "1 s", "granularity": "10 ms"},
    },
    "tfrc": {"profile": "rfc", "version": "rfc3448", "slow_start_limit": "matched", "segment": "1450 B"},
}


text = partial(words.scenario, __name__)


@cache
def _base() -> Scenario:
    return load(text())


def scenario(point: Point, *, changes: Mapping[str, Any] | None = None, duration: float = DURATION) -> Scenario:
    """The scenario of a point: `protocol`, `scheduler`, `ues`, and `spurious` if TCP is to detect such timeouts.

    ``changes`` are those of a reading, by name: `tcp.…` and `tfrc.…` are parameters of the transports, where `unset`
    takes one away; `text.…` is for judges only; all else is a place in the scenario.
    """
    changes = changes or {}
    protocol = str(point["protocol"])
    made = {"hsdpa.hsdpa.scheduler": point["scheduler"], "hsdpa.hsdpa.ues": point["ues"]}
    made |= {key: value for key, value in changes.items() if concerns(key, protocol) and not _of(key, protocol)}
    parameters = dict(TRANSPORTS[protocol])
    if "spurious" in point:
        parameters |= {"profile": "rfc", "spurious": point["spurious"]}
    parameters |= {key.partition(".")[2]: value for key, value in changes.items() if _of(key, protocol)}
    transport = {name: value for name, value in parameters.items() if value != "unset"}
    made["flow.download.transport"] = {protocol: transport}
    return _base().with_(made, duration=f"{duration:g} s")


def concerns(key: str, protocol: str) -> bool:
    """Whether a change of this name matters to runs of a protocol."""
    owner = key.partition(".")[0]
    return owner == protocol if owner in PROTOCOLS else not key.startswith(TEXT)


def _of(key: str, protocol: str) -> bool:
    return key.partition(".")[0] == protocol
