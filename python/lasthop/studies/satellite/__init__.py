"""Study `satellite`: layered multicast and TCP over low-orbit satellites, by the phases of a queue and by RLM."""

from .study import STUDY

__all__ = ["STUDY"]
