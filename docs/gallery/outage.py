# A link is down for three seconds: what the retransmission timer does
import lasthop as lh

radio = {"name": "radio", "between": ["server", "phone"], "rate": "4 Mbit/s", "delay": "40 ms"}
flow = {"name": "download", "from": "server", "to": "phone", "transport": "tcp"}
gone = [{"at": "10 s", "link": "radio", "up": False}, {"at": "13 s", "link": "radio", "up": True}]
scenario = lh.load({"duration": "20 s", "link": [radio], "flow": [flow], "change": gone})
axes = lh.plot.over_time(lh.run(lh.plot.recording(scenario)), "rto_ms")
