"""The signal-to-interference ratio without shadowing, for a map: where it would be how good."""

from __future__ import annotations

import math

import numpy as np

from lasthop.studies.grid import Array

#: The radius of a cell: of the circle through the corners of its hexagon.
RADIUS_M = 500.0

#: Power of the shared channel and of a site's other channels, in watts (Table I of the paper; own choice).
POWER_W, OTHER_W = 10.0, 1.0

#: What of a site's own powers interferes (Table I: limited to 10 % and to 40 %).
SELF, INTRA = 0.10, 0.40

#: Path loss in dB at 1 km (3GPP TR 25.848 §A.3.1), and its exponent (Table I).
LOSS_1_KM_DB, EXPONENT = 128.1, 3.5

#: Thermal noise in 3.84 MHz with a noise figure of 9 dB (3GPP TR 25.942 §5.1.4.1), in watts.
NOISE_W = 10 ** ((-174 + 10 * math.log10(3.84e6) + 9) / 10 - 3)

#: Not nearer to an antenna than this, in metres.
NEAREST_M = 10.0


def sites() -> Array:
    """The seven sites in metres, the centre first."""
    angles = np.radians(30 + 60 * np.arange(6))
    ring = math.sqrt(3) * RADIUS_M * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([np.zeros((1, 2)), ring])


def hexagon(centre: Array) -> Array:
    """The corners of a site's hexagon, the first one again at the end."""
    angles = np.radians(60 * np.arange(7))
    made: Array = centre + RADIUS_M * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return made


def sir_db(places: Array) -> Array:
    """What a mobile has there if the nearest site serves it and all sites send, in dB. Places are pairs in metres."""
    apart = np.linalg.norm(places[..., None, :] - sites(), axis=-1)
    loss = LOSS_1_KM_DB + 10 * EXPONENT * np.log10(np.maximum(apart, NEAREST_M) / 1000)
    gains = 10 ** (-loss / 10)
    own = gains.max(axis=-1)
    others = (gains.sum(axis=-1) - own) * (POWER_W + OTHER_W)
    made: Array = 10 * np.log10(POWER_W * own / ((SELF * POWER_W + INTRA * OTHER_W) * own + others + NOISE_W))
    return made
