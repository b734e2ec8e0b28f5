# A programme over MBMS: queues where one terminal loses the radio
import lasthop as lh

scenario = lh.load("examples/mbms.toml")
axes = lh.plot.queue(lh.run(lh.plot.recording(scenario)))
