# Bufferbloat, and CoDel against it
import lasthop as lh

scenario = lh.load("examples/bufferbloat.toml")
axes = lh.plot.rtt(lh.run(lh.plot.recording(scenario)))
