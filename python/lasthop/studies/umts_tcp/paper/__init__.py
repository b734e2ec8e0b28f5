"""What the thesis prints.

X. Dubois: Performance of Different TCP Versions over UMTS Common/Dedicated Channels, University of Namur 2005.
"""

from __future__ import annotations

#: §6.3.1 and §6.3.4: windows in packets. Of Vegas the text says 2.57 in one place, 4 in another.
WINDOWS = {"reno": (19.97,), "vegas": (2.57, 4.0)}

#: §6.3.4: goodput in kbit/s of a user alone, and of two together.
ALONE = {"reno": 30.36, "vegas": 31.48}
BOTH = {"reno": 25.76, "vegas": 26.72}

#: Table 6.2: mean window in packets and mean round-trip time in seconds, at maxDAT 2, by error rate.
TABLE_6_2: dict[float, dict[str, tuple[float, float]]] = {
    0.01: {
        "tahoe": (16.54, 4.17),
        "reno": (18.47, 4.71),
        "newreno": (18.44, 4.69),
        "vegas": (3.31, 0.812),
        "sack": (17.93, 4.54),
        "fack": (18.13, 4.52),
    },
    0.1: {
        "tahoe": (2.15, 0.70),
        "reno": (2.12, 0.75),
        "newreno": (2.16, 0.69),
        "vegas": (2.54, 0.67),
        "sack": (2.18, 0.68),
        "fack": (2.13, 0.69),
    },
}

#: Table 7.3: retransmissions and timeouts for each connection.
RETRANSMISSIONS = {"tahoe": (1.76, 0.9), "reno": (1.77, 0.9), "newreno": (1.76, 0.9), "sack": (1.74, 0.9)}

#: The versions of chapters 7 and 8.
VERSIONS = ("tahoe", "reno", "newreno", "sack")

#: Table 7.4.
OPTIMAL = {"max_dat": 6, "threshold": 500, "timer": 8}

#: §7.4, at the values of Table 7.4 (maxDAT 6, 500 B, 8 s): goodput in kbit/s and time of a page in seconds.
OPTIMUM = {"tahoe": (63.1, 2.75), "reno": (63.1, 2.75), "newreno": (63.1, 2.75), "sack": (62.8, 3.0)}

#: §8.3.2: retransmissions for each connection.
HYBRID_RETRANSMISSIONS = 0.077

#: The last digit of 63.1 kbit/s, in per cent: a difference in goodput that is less cannot be read in the thesis.
VISIBLE_PCT = 0.16
