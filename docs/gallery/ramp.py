# The rate of a link falls slowly, and the round-trip time grows
import lasthop as lh

radio = {
    "name": "radio",
    "between": ["server", "phone"],
    "rate": "4 Mbit/s",
    "delay": "40 ms",
    "queue": {"droptail": {"limit": "256 kB"}},
}
flow = {"name": "download", "from": "server", "to": "phone", "transport": "tcp"}
fall = {"at": "10 s", "link": "radio", "rate": "500 kbit/s", "ramp": "10 s"}
scenario = lh.load({"duration": "40 s", "link": [radio], "flow": [flow], "change": [fall]})
axes = lh.plot.rtt(lh.run(lh.plot.recording(scenario)))
