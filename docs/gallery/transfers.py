# Files of 20 kB, 200 kB and 2 MB beside a download
import lasthop as lh

scenario = lh.load("examples/transfers.toml")
axes = lh.plot.throughput(lh.run(lh.plot.recording(scenario)))
