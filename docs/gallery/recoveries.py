# What random losses leave of TCP with each of four ways of loss recovery
import lasthop as lh

scenario = lh.load("examples/lossy.toml")
axes = lh.plot.in_order(lh.run(lh.plot.recording(scenario)))
