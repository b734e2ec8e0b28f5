# The same handover with TCP and with TFRC
import lasthop as lh

runs = {}
for name, transport in {"TCP": {"tcp": {"variant": "newreno"}}, "TFRC": "tfrc"}.items():
    scenario = lh.load("examples/handover.toml").with_({"flow.video.transport": transport})
    runs[name] = lh.run(lh.plot.recording(scenario))
axes = lh.plot.throughput(runs)
