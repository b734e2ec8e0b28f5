"""Study `umts-tcp`: TCP versions over UMTS common and dedicated channels."""

from .study import STUDY

__all__ = ["STUDY"]
