# What MaxDAT costs TCP Reno at 20 % block errors
import lasthop as lh

core = {"name": "core", "between": ["server", "rnc"], "rate": "10 Mbit/s", "delay": "60 ms"}
loss = {"bernoulli": {"p": 0.2}}
cell = {"name": "cell", "rnc": "rnc", "ues": 1, "attachment": "dedicated", "rlc": {"am": {"max_dat": 4}}, "loss": loss}
flow = {"name": "reno", "from": "server", "to": "cell.ue[0]", "transport": {"tcp": {"variant": "reno"}}}
scenario = lh.load({"duration": "120 s", "link": [core], "cell": [cell], "flow": [flow]})
sweep = lh.sweep(scenario, vary={"cell.rlc.am.max_dat": [1, 2, 3, 4, 6, 10]}, seeds=10)
axes = lh.plot.across(sweep, "goodput_kbps")
