"""Why claims are not reproduced, as far as the runs show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lasthop.studies.claims import NOT_REPRODUCED, Claim, Judgement
from lasthop.studies.umts_multicast.data import Data
from lasthop.studies.umts_multicast.readings import DEFAULT

__all__ = ["explained"]

#: By claim; said where the default reading does not reproduce it.
CAUSES: Mapping[str, str] = {}


def explained(claim: Claim[Data]) -> Claim[Data]:
    """The claim, with its cause said where it is not reproduced."""
    judge, cause = claim.judge, CAUSES.get(claim.id)
    if judge is None or cause is None:
        return claim

    def with_cause(data: Data) -> Judgement:
        judged = judge(data)
        if judged.verdict != NOT_REPRODUCED or data.name != DEFAULT.name:
            return judged
        return replace(judged, reason=f"{judged.reason}; cause: {cause}")

    return replace(claim, judge=with_cause)
