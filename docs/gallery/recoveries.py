# What random losses leave of four recoveries
import lasthop as lh

scenario = lh.load("examples/lossy.toml")
axes = lh.plot.in_order(lh.run(lh.plot.recording(scenario)))
