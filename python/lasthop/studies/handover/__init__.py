"""Study `handover`: congestion control over a handover between WLAN and UMTS."""

from lasthop.studies.handover.study import STUDY

__all__ = ["STUDY"]
