"""Why claims are not reproduced, as far as the runs at hand show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lasthop.stats import number
from lasthop.studies.satellite.data import MISBEHAVING, OVERFLOW, PAIR, RLM, SCENARIOS, WAITING, Data
from lasthop.studies.satellite.model import STARTS, model
from lasthop.studies.satellite.network import MULTICAST, TCP

__all__ = ["CAUSES"]


def _full(data: Data) -> str:
    """Why the queue is in phase 3."""
    share = 100 * data.mean(SCENARIOS, "phase_3", scenario=1).mean
    loss = data.mean(SCENARIOS, "tcp_loss_pct", scenario=1).mean
    return (
        f"three greedy TCP flows fill a queue of 50 packets until it overflows: they lose {number(loss, 1)} % of their "
        f"packets, and the queue is above its second threshold for {number(share, 0)} % of the time. Multicast has no "
        "more than R_Block above TCP then, so nothing is blocked"
    )


def _often(data: Data) -> str:
    often = data.mean(SCENARIOS, "changes_per_session_h", scenario=1).mean
    return (
        "TCP's ups and downs take the rates that are compared across each other's bounds again and again, "
        f"{number(often, 0)} times an hour for each session; T_observe slows that down until a minute without a block, "
        "or a handoff, lets it begin anew"
    )


def _held_back(data: Data) -> str:
    multicast, tcp = (data.mean(SCENARIOS, f"kbytes {kind}", scenario=1).mean for kind in (MULTICAST, TCP))
    return (
        f"T_observe holds back releases and nothing holds back blocks, so that multicast has {number(multicast, 1)} "
        f"kB/s and TCP {number(tcp, 1)}; R_Block alone would let multicast have more"
    )


def _overflow(data: Data) -> str:
    stay, trip = (data.mean(OVERFLOW, name).mean for name in ("after_overflow_ms", "tcp_rtt_ms"))
    return (
        f"it takes {number(stay, 0)} ms at a round-trip time of {number(trip, 0)} ms: a drop is seen when the queue "
        "before it has gone, and often not all flows have one"
    )


def _low(data: Data) -> str:
    levels = [data.mean(RLM, f"subscribed {MULTICAST} {n}").mean for n in (1, 2)]
    return (
        f"RLM's sessions have {number(levels[0], 1)} and {number(levels[1], 1)} layers on average: the fourth, of 256 "
        "kbit/s, does not hold beside three greedy TCP flows. So sessions get less than TCP nearly all the time"
    )


def _filled(data: Data) -> str:
    theirs, ours = data.mean(RLM, "utilisation").mean, data.mean(SCENARIOS, "utilisation", scenario=1).mean
    return (
        f"three greedy TCP flows take what RLM leaves: the link is used to {number(100 * theirs, 1)} % with RLM and to "
        f"{number(100 * ours, 1)} % here"
    )


def _messages(data: Data) -> str:
    often = data.mean(SCENARIOS, "changes_per_h", scenario=1).mean
    messages = data.mean(SCENARIOS, "messages_per_h", scenario=1).mean
    return (
        f"with each of {number(often, 0)} changes an hour a receiver joins a layer or leaves one, and each router on "
        f"the way grafts or prunes: {number(messages, 0)} messages"
    )


def _waste(data: Data) -> str:
    blocks = data.mean(SCENARIOS, "blocks_per_h", scenario=1).mean
    greedy = data.mean(MISBEHAVING, "waste_of_bound", second="misbehaves").mean
    return (
        "a block leaves a session with two empty layers until its receiver has seen it and the last router stops, and "
        f"there are {number(blocks, 0)} blocks an hour; a receiver that takes all layers makes it {number(greedy, 1)} "
        "times the bound"
    )


def _pair(data: Data) -> str:
    share = 100 * data.mean(PAIR, "phase_3", sessions="addresses").mean
    rate = data.mean(PAIR, f"kbytes {TCP}", sessions="addresses").mean
    return (
        f"twenty connections at {number(rate, 1)} kB/s each keep the queue above its second threshold for "
        f"{number(share, 0)} % of the time, where the scheme may block and does not release"
    )


def _graft(data: Data) -> str:
    release, join = (data.mean(WAITING, f"{name}_ms_at_gateway").mean for name in ("release", "join"))
    return (
        f"both wait for the layer's next packet; the graft itself is the {number(join - release, 0)} ms between them, "
        "the way up over the satellites"
    )


def _model(data: Data) -> str:
    multicast, tcp = model(STARTS[0], rule=data.rule).means()
    return (
        f"TCP halves its rate and multicast does not, so that multicast ends at TCP's peak, {number(multicast, 1)} of "
        f"100, and above its mean, {number(tcp, 1)}"
    )


#: By claim; said where the default reading does not reproduce it.
CAUSES: Mapping[str, str | Callable[[Data], str]] = {
    "L4": _held_back,
    "L6": _full,
    "L7": _often,
    "L8": _full,
    "L9": _overflow,
    "L11": _low,
    "L12": _filled,
    "L15": _messages,
    "L17": _waste,
    "L20": _pair,
    "L22": _graft,
    "L24": _model,
}
