"""Study `handover-today`: which mechanism serves interactive media best when the path changes under it?"""

from .study import STUDY

__all__ = ["STUDY"]
