# The queue before and after a handover
import lasthop as lh

scenario = lh.load("examples/handover.toml")
axes = lh.plot.queue(lh.run(lh.plot.recording(scenario)), of="radio router>mobile")
