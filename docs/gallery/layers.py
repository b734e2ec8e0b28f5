# Layers of two sessions that share a satellite with TCP
import lasthop as lh

scenario = lh.load("examples/satellite.toml")
axes = lh.plot.over_time(lh.run(lh.plot.recording(scenario)), "layers")
