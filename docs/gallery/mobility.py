# A terminal drives past three UMTS sites and a WLAN
import lasthop as lh

scenario = lh.load("examples/mobility.toml")
axes = lh.plot.over_time(lh.run(lh.plot.recording(scenario)), "active_set")
