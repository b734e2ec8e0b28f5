# DropTail, RED and CoDel in front of the same download
import lasthop as lh

runs = {}
for queue in ("droptail", "red", "codel"):
    radio = {"name": "radio", "between": ["server", "phone"], "rate": "4 Mbit/s", "delay": "40 ms", "queue": queue}
    flow = {"name": "download", "from": "server", "to": "phone", "transport": "tcp"}
    scenario = lh.load({"duration": "30 s", "link": [radio], "flow": [flow]})
    runs[queue] = lh.run(lh.plot.recording(scenario))
axes = lh.plot.queue(runs, of="radio server>phone")
