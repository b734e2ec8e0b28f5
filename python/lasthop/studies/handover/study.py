"""The study: its runs, its tables, what the paper leaves open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lasthop.studies import Assumption, Campaign, Study
from lasthop.studies.handover.judgements import CLAIMS
from lasthop.studies.handover.scenario import DELAYS, SEED, SENSITIVITY, Variant, text

__all__ = ["STUDY"]

#: The delays at which claims are judged.
DEFAULT = "70/140 ms"
TCPS = ("reno", "newreno")
#: Start times at each set of parameters.
STARTS = 20


def variants(mode: str) -> Sequence[Variant]:
    """The sets of parameters of a mode."""
    return [*DELAYS, *SENSITIVITY] if mode == "full" else DELAYS


def runs(mode: str) -> int:
    """How many runs a mode takes."""
    return len(variants(mode)) * len(TCPS) * STARTS


def perform(mode: str, threads: int | None, progress: Callable[[float], None] | None) -> Campaign:
    """Makes the runs."""
    from lasthop.runs import run_each
    from lasthop.studies.handover.figures import pictures
    from lasthop.studies.handover.measures import Measured, trace
    from lasthop.studies.handover.scenario import scenario, start_times

    work = [
        (scenario(variant, tcp, start), SEED)
        for variant in variants(mode)
        for tcp in TCPS
        for start in start_times(STARTS)
    ]
    traces = iter(run_each(work, threads=threads, progress=progress, reduce=trace))
    measured = {}
    for variant in variants(mode):
        reno, newreno = ([next(traces) for _ in range(STARTS)] for _ in TCPS)
        measured[variant.name] = Measured(variant, reno, newreno)
    return Campaign(
        variants=measured,
        default=DEFAULT,
        pictures=pictures(measured[DEFAULT]),
        tables={"runs": ("Each run: packets received and dropped, and its intervals.", _table(measured))},
        facts={
            "seed": str(SEED),
            "start times": f"{STARTS} in [0, 1) s, one drawn from each equal part",
        },
    )


def _table(measured: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    from lasthop.results import Table
    from lasthop.studies.handover.scenario import END, HANDOVERS

    down, up = HANDOVERS
    rows = [
        {
            "variant": name,
            "protocol": tcp,
            "start_s": one.start_s,
            "received_packets": one.received(0, END),
            "received_packets_10_20_s": one.received(down, up),
            "received_packets_20_30_s": one.received(up, END),
            "dropped_packets": one.dropped(0, END),
            "dropped_packets_10_20_s": one.dropped(down, up),
            "dropped_in_slow_start": one.slow_start_share(),
            "wlan_interval_p95_over_p5": one.spread(fast=True),
            "umts_interval_p95_over_p5": one.spread(fast=False),
        }
        for name, data in measured.items()
        for tcp, traces in (("reno", data.reno), ("newreno", data.newreno))
        for one in traces
    ]
    return Table(pa.Table.from_pylist(rows))


STUDY = Study(
    name="handover",
    title="WLAN to UMTS and back: which congestion control adapts, and how evenly",
    source="F. Abrantes, M. Ricardo: On Congestion Control for Interactive Real-time Applications in Dynamic "
    "Heterogeneous 4G Networks (2005)",
    seed_document="001_de5361d7d9d3ec21.txt",
    question="A mobile moves from WLAN to UMTS and back: the rate falls to a tenth and the delay doubles. "
    "Which congestion control adapts quickly, and which delivers packets evenly enough for interactive media?",
    setting=lambda mode: f"WLAN to UMTS at 10 s and back at 20 s · {STARTS} start times · {mode}",
    claims=CLAIMS,
    assumptions=[
        Assumption(
            "Rates", "WLAN 3.84 Mbit/s, UMTS 384 kbit/s",
            "the paper: 90 packets are 720 kbit, “almost 2 seconds of the UMTS channel”; a tenth of the rate",
        ),
        Assumption(
            "End-to-end one-way delay", "70 ms on WLAN, 140 ms on UMTS; fitted to A1 and A2",
            "the paper gives none; in a scan with ns-2.35 XCP loses nothing there and TFRC about 90 packets",
            "every claim is also judged at 20/40, 50/100 and 90/180 ms",
        ),
        Assumption(
            "Packets in flight at a handover", "they move, in order, ahead of the new link's queue; the queue's limit "
            "does not apply to them, but they count for later arrivals",
            "the paper: an ideal handover, “packets that were sent on the old link are duplicated in the new link”",
            "with --full also: they finish on the old link",
        ),
        Assumption(
            "Packets queued at a handover", "kept", "the paper does not say", "with --full also: dropped",
        ),
        Assumption(
            "Queue", "64 kB in front of the radio link, DropTail, counted in bytes", "the paper: “queues of 64 kbytes”",
        ),
        Assumption(
            "TCP's window", "2000 packets, so that it does not limit", "ns-2's 20 packets could never fill 64 kB",
        ),
        Assumption("Packet size", "1000 B on the wire, ACKs 40 B", "the paper: “1 kbytes”"),
        Assumption("Minimum RTO", "0.2 s", "ns-2's default of late 2004", "with --full also: 1 s"),
        Assumption(
            "Profile", "ns2: TCP as ns-2.35 has it", "the paper used ns-2",
            "with --full also: profile rfc, TCP as today's standards have it",
        ),
        Assumption(
            "Time to adapt",
            "from the handover until the receive rate over the last max(5 R, 0.2 s) stays within 20 % of "
            "the new capacity for 10 R, with R the round trip of the empty new path",
            "the paper gives no measure; a sender that adapts at once would read 4 to 5 R",
        ),
    ],
    scenario=text,
    runs=runs,
    perform=perform,
)  # fmt: skip
