"""Study `hsdpa`: congestion control over a shared high-speed channel and its scheduler."""

from .study import STUDY

__all__ = ["STUDY"]
