"""Study `umts-multicast`: TFMCC and PGMCC over MBMS, and a bit that tells losses of the radio from congestion."""

from .study import STUDY

__all__ = ["STUDY"]
