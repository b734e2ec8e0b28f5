# Sixty-six satellites over the ground
import lasthop as lh

places = lh.load("examples/satellite.toml").positions(0.0)
figure, axes = lh.plot.figure()
for kind, mark in {"satellite": ".", "terminal": "^"}.items():
    these = places.where(kind=kind)
    axes.plot(these["longitude_deg"], these["latitude_deg"], mark, markersize=5, label=kind)
axes.set(xlabel="longitude (°)", ylabel="latitude (°)", xlim=(-180, 180), ylim=(-90, 90))
with lh.plot.in_look():
    axes.legend(ncols=2, loc="lower left", bbox_to_anchor=(0, 1))
