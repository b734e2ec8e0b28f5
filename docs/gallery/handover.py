# A handover from WLAN to UMTS and back
import lasthop as lh

scenario = lh.load("examples/handover.toml")
axes = lh.plot.throughput(lh.run(lh.plot.recording(scenario)))
