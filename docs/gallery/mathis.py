# Goodput falls as one over the root of the loss probability
import lasthop as lh

radio = {
    "name": "radio",
    "between": ["server", "phone"],
    "rate": "100 Mbit/s",
    "delay": "50 ms",
    "loss": {"bernoulli": {"p": 0.01}},
}
flow = {"name": "reno", "from": "server", "to": "phone", "transport": {"tcp": {"variant": "newreno"}}}
scenario = lh.load({"duration": "120 s", "link": [radio], "flow": [flow]})
losses = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05]
sweep = lh.sweep(scenario, vary={"link.radio.loss.bernoulli.p": losses}, seeds=10)
axes = lh.plot.across(sweep, "goodput_kbps")
axes.set(xscale="log", yscale="log", ylim=(100, 10_000), xlabel="loss probability")
