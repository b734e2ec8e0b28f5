# The delay of a link goes from 20 to 300 ms: CUBIC and NewReno
import lasthop as lh

path = {"name": "path", "between": ["server", "phone"], "rate": "5 Mbit/s", "delay": "20 ms"}
step = {"at": "20 s", "link": "path", "delay": "300 ms"}
runs = {}
for name in ("cubic", "newreno"):
    flow = {"name": name, "from": "server", "to": "phone", "transport": {"tcp": {"variant": name}}}
    scenario = lh.load({"duration": "60 s", "link": [path], "flow": [flow], "change": [step]})
    runs[name] = lh.run(lh.plot.recording(scenario))
axes = lh.plot.in_order(runs)
