"""Why claims are not reproduced, as far as the runs show it."""

from __future__ import annotations

__all__ = ["CAUSES"]

#: By claim; said where the default reading does not reproduce it.
CAUSES = {
    "H2": "with RR the buffer holds what TFRC's slow start sends too much; with SIR packets pile up while a mobile "
    "waits, and whoever loses any loses many",
    "H4": "the mean loss of these files is more than half of a tenth already, so the tail passes it",
    "H7": "four round trips of the empty path are 0.6 s, less than TCP's minimum of 1 s, and with SIR a mobile often "
    "waits longer than that for a slot",
    "H8": "TFRC sees more events at both sizes, as the first of the paper's two sentences has it",
    "H10": "with TFRC 50 mobiles leave a third of the slots without a receiver: they ask for less than 65 do, however "
    "they are scheduled",
    "H11": "TFRC begins with one packet in a round trip, and doubles its rate once for each report; files up to "
    "184 150 B are over before that is made up",
    "H12": "transfers of mobiles with a low SIR wait for those with a higher one; the load is higher than the paper's, "
    "whose slots mostly have 1 or 2 receivers with SIR",
    "H14": "a file takes longer with TFRC, so a user asks for fewer of them: with TFRC more slots have no receiver",
    "H15": "a difference of two per cent, seen at one load only",
    "H20": "TFRC transfers less, not more: see H14",
    "H21": "TCP needs one and a half round trips for three segments, TFRC two and a half, not five",
}
