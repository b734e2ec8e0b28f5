# What a connection sent, sent again and had acknowledged
import lasthop as lh

radio = {
    "name": "radio",
    "between": ["server", "phone"],
    "rate": "4 Mbit/s",
    "delay": "40 ms",
    "loss": {"list": {"drop": [60, 61, 90]}},
}
file = {"name": "file", "from": "server", "to": "phone", "transport": "tcp", "source": {"file": {"size": "300 kB"}}}
scenario = lh.load({"duration": "5 s", "record": {"packets": True}, "link": [radio], "flow": [file]})
axes = lh.plot.time_sequence(lh.analyze(lh.run(scenario)))
