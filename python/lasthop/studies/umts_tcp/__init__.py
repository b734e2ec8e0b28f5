"""Study `umts-tcp`: TCP versions over UMTS common and dedicated channels."""

from lasthop.studies.umts_tcp.study import STUDY

__all__ = ["STUDY"]
