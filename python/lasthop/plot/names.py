"""Names of quantities as they stand at axes."""

from __future__ import annotations

__all__ = ["quantity_label"]

#: The units that end a quantity's name, and what a quantile or a mean at its end is called.
_UNITS = {
    "kbps": "kbit/s",
    "bps": "bit/s",
    "ms": "ms",
    "s": "s",
    "pct": "%",
    "bytes": "B",
    "packets": "packets",
    "db": "dB",
    "dbm": "dBm",
    "m": "m",
    "bytes_per_s": "B/s",
    "packets_per_s": "packets/s",
}
_QUANTILES = {"p50": "median ", "p95": "95th percentile of ", "mean": "mean "}
_WORDS = {
    "rtt": "round-trip time",
    "sir": "SIR",
    "cqi": "CQI",
    "rto": "RTO",
    "rnc": "RNC",
    "srtt": "smoothed round-trip time",
}


def quantity_label(name: str) -> str:
    """The name of a column or of a quantity, with its unit: ``rtt_ms_p50`` is "median round-trip time (ms)"."""
    words = name.split("_")
    quantile = _QUANTILES.get(words[-1], "")
    words = words[:-1] if quantile else words
    if words[-3:-1] in (["bytes", "per"], ["packets", "per"]) and words[-1] == "s":
        words = [*words[:-3], "_".join(words[-3:])]
    unit = _UNITS.get(words[-1]) if len(words) > 1 else None
    if words == ["queue", "ms"]:
        words = ["queueing", "delay", "ms"]
    said = " ".join(_WORDS.get(word, word) for word in (words[:-1] if unit else words))
    return f"{quantile}{said} ({unit})" if unit else f"{quantile}{said}"
