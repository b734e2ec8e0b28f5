# The window of CUBIC over a radio link with a queue of 64 kB
import lasthop as lh

radio = {
    "name": "radio",
    "between": ["server", "phone"],
    "rate": "4 Mbit/s",
    "delay": "40 ms",
    "queue": {"droptail": {"limit": "64 kB"}},
}
flow = {"name": "download", "from": "server", "to": "phone", "transport": "tcp"}
scenario = lh.load({"duration": "60 s", "link": [radio], "flow": [flow]})
axes = lh.plot.window(lh.run(lh.plot.recording(scenario)))
