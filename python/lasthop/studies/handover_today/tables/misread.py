"""What each algorithm misreads when the path changes: words, with figures from the runs beside them."""

from __future__ import annotations

from collections.abc import Sequence

from lasthop.studies.records import Row

from ..data import Data
from ..network.mechanisms import DELAYS, NAMES, OFF

__all__ = ["misread"]

W = "wlan-umts"

#: Of each mechanism: what it misreads, why, and what of that a hint of delays makes void; then the figure that shows
#: it: its name, the
#: quantity, its unit, and the path.
_WORDS: dict[str, tuple[str, str, str, tuple[str, str, str, str]]] = {
    "nada": (
        "A longer path is a standing queue, unless packets were just lost.",
        "The base delay is the least since the start (RFC 8698 §5.1.1) and is never forgotten. But for seven loss "
        "intervals after a loss the delay is warped "
        "((1) of the RFC): after the losses of a handover, and a call without any before, that is for good, and 71 "
        "ms count as 40.",
        "the base delay and the delays before the change; the next one is measured behind the queue that the old "
        "rate fills",
        ("share of the rate, longer way of satellites", "share_slow", "", "leo"),
    ),
    "scream": (
        "A longer path is a queue, but on a long round trip it hardly yields to any.",
        "The base delay is the least of 50 times 10 s. What it yields to delay is divided by srtt over 30 ms, "
        "twice; the window of 33 packets that fills half of "
        "the buffer of UMTS stays, as what is in flight allows it.",
        "base delay, smoothed round-trip time; not the window",
        ("missed frames on UMTS", "missed_pct_slow", " %", W),
    ),
    "scream-l4s": (
        "The same, and one packet of a slow link for congestion.",
        "As SCReAM; and DualPI2 marks what waits for 1 ms, where a packet takes 26 ms on UMTS.",
        "base delay, smoothed round-trip time; marks stay marks",
        ("rate on UMTS", "kbps_slow", " kbit/s", W),
    ),
    "gcc": (
        "A longer path is a growing queue, for about two seconds; a full queue is none.",
        "It follows the gradient of the delay: a step is forgotten, and so is a queue that stands still because it "
        "is full. Losses it does not count (WebRTC's of "
        "the time of REMB); on the way up it knows nothing but 8 % a second.",
        "the filter and its threshold, so that the growth after the change may be missed; not the rate",
        ("missed frames in the second LTE cell", "missed_pct_slow", " %", "lte"),
    ),
    "bbr": (
        "The old bandwidth and the old round trip are the new ones.",
        "The greatest rate stays for two probe cycles, the least round-trip time for up to 10 s "
        "(draft-ietf-ccwg-bbr §2.14 to §2.16); twice their product is in "
        "flight meanwhile.",
        "the whole model, which starts anew",
        ("missed frames on UMTS", "missed_pct_slow", " %", W),
    ),
    "copa": (
        "A longer path is a queue that another flow keeps full.",
        "RTTmin lasts 10 s; since the delay never comes near it, Copa turns to its competitive mode and fills the "
        "queue.",
        "all delays",
        ("missed frames on UMTS", "missed_pct_slow", " %", W),
    ),
    "prague": (
        "Without marks nothing: it fills the buffer as Reno does.",
        "Its signal is the share of marks; a queue that does not mark leaves it losses alone. After the handover "
        "its pace is that of the old round trip.",
        "the smoothed round-trip time",
        ("missed frames on UMTS", "missed_pct_slow", " %", W),
    ),
    "prague-l4s": (
        "One packet of a slow link for congestion.",
        "DualPI2 marks what waits for 1 ms; the old path's window arrives at once.",
        "the smoothed round-trip time",
        ("missed frames on UMTS", "missed_pct_slow", " %", W),
    ),
    "cubic": (
        "It reads no delay, so it misreads none: the full buffer is what it looks for.",
        "Losses come when the queue is full, 1.3 s on UMTS; seven tenths of that window stay after each (RFC 9438 "
        "§4.6).",
        "the round-trip time of its timer",
        ("missed frames on UMTS", "missed_pct_slow", " %", W),
    ),
    "tfrc": (
        "The loss rate of the old path is that of the new one.",
        "Eight loss intervals reach far back on a path that lost little (RFC 5348 §5.4), and losses come when the "
        "buffer is full.",
        "– (it knows a restart alone)",
        ("missed frames on UMTS", "missed_pct_slow", " %", W),
    ),
}  # fmt: skip


def misread(data: Data) -> Sequence[Row]:
    """A row for each algorithm."""
    rows = []
    for name, (what, why, void, (said, quantity, unit, path)) in _WORDS.items():
        hinted = f"{data.over(quantity, path, name, DELAYS)}{unit}" if data.has(path, name, DELAYS) else "–"
        rows.append(
            {
                "algorithm": NAMES[name],
                "what it misreads": what,
                "why": why,
                "what the hint makes void": void,
                "seen here": said,
                "without a hint": f"{data.over(quantity, path, name, OFF)}{unit}",
                "with it": hinted,
            }
        )
    return rows
