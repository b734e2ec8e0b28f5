# Sixty-five downloads over HSDPA: the best, the median, the worst
import lasthop as lh

scenario = lh.load("examples/hsdpa.toml")
axes = lh.plot.in_order(lh.run(lh.plot.recording(scenario)))
