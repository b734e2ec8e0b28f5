# Dedicated channels of a UMTS cell, on demand
import lasthop as lh

scenario = lh.load("examples/umts-cell.toml")
axes = lh.plot.over_time(lh.run(lh.plot.recording(scenario)), "dedicated")
