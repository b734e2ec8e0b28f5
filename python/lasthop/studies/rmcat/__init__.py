"""RFC 8867's test cases for interactive media, with figures and three verdicts for each case and controller."""

from .study import STUDY

__all__ = ["STUDY"]
