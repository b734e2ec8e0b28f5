"""Colours and line styles of the study's figures."""

from __future__ import annotations

from .network import MULTICAST, TCP

#: Sessions of either kind, by number.
COLOURS = {MULTICAST: ("#D55E00", "#E69F00"), TCP: ("#0072B2", "#56B4E9", "#009E73")}
STYLES = ("-", "--", "-.")

#: The phases of the queue.
PHASES = {1: "#56B4E9", 2: "#DDDDDD", 3: "#D55E00"}
