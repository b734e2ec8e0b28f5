# Which terminals a scheduler serves: maximum SIR and round robin
import lasthop as lh
import numpy as np

figure, axes = lh.plot.figure()
for scheduler in ("max_sir", "round_robin"):
    result = lh.run(lh.load("examples/hsdpa.toml").with_({"hsdpa.hsdpa.scheduler": scheduler}))
    rates = np.sort(result.flows["goodput_kbps"])
    axes.plot(
        rates, np.arange(1, len(rates) + 1) / len(rates), label=scheduler.replace("_", " "), drawstyle="steps-post"
    )
axes.set(xlabel="goodput of a download (kbit/s)", ylabel="share of downloads", ylim=(0, 1), xlim=(0, None))
with lh.plot.in_look():
    axes.legend(loc="lower right")
