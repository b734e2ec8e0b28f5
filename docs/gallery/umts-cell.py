# Web pages and a download in a UMTS cell
import lasthop as lh

scenario = lh.load("examples/umts-cell.toml")
axes = lh.plot.in_order(lh.run(lh.plot.recording(scenario)))
