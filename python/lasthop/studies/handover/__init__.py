"""Study `handover`: congestion control over a handover between WLAN and UMTS."""

from .study import STUDY

__all__ = ["STUDY"]
