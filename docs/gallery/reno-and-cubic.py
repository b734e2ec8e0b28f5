# Reno and CUBIC share a link
import lasthop as lh

radio = {
    "name": "radio",
    "between": ["server", "phone"],
    "rate": "4 Mbit/s",
    "delay": "40 ms",
    "queue": {"droptail": {"limit": "100 kB"}},
}
flow = {"from": "server", "to": "phone"}
flows = [{**flow, "name": name, "transport": {"tcp": {"congestion": name}}} for name in ("reno", "cubic")]
scenario = lh.load({"duration": "120 s", "link": [radio], "flow": flows})
axes = lh.plot.throughput(lh.run(lh.plot.recording(scenario)))
