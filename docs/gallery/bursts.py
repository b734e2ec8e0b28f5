# Single losses and losses in bursts, 1 % each: a burst that outlasts the retransmissions stops TCP for half a minute
import lasthop as lh

flow = {"name": "download", "from": "server", "to": "phone", "transport": "tcp"}
models = {"single": {"bernoulli": {"p": 0.01}}, "bursts": {"gilbert": {"good_to_bad": 0.00202, "bad_to_good": 0.2}}}
runs = {}
for name, loss in models.items():
    radio = {"name": "radio", "between": ["server", "phone"], "rate": "4 Mbit/s", "delay": "40 ms", "loss": loss}
    scenario = lh.load({"duration": "60 s", "link": [radio], "flow": [flow]})
    runs[name] = lh.run(lh.plot.recording(scenario))
axes = lh.plot.in_order(runs)
