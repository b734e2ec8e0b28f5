"""Reports: one HTML file that holds everything and asks for nothing."""

from lasthop.report.runs import write_runs
from lasthop.report.study import write_report

__all__ = ["write_report", "write_runs"]
