"""TCP's rate over the loss rate: a small study to begin with, as `lasthop studies new` writes it."""

from .study import STUDY

__all__ = ["STUDY"]
