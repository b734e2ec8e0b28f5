"""Figures of what the paper does not simulate: link errors, the tree, its model of fairness."""

from __future__ import annotations

from typing import Any

import numpy as np

from lasthop import plot
from lasthop.stats import estimate, number
from lasthop.studies import Picture
from lasthop.studies.curves import Line, curves
from lasthop.studies.pictures import FAINT, SOFT, legend, picture

from ..data import ERRORS, RLM_ERRORS, TREE, Data
from ..network import MULTICAST, TCP, Tree
from ..paper.model import CAPACITY, STARTS, model
from ..styles import COLOURS


def _errors(data: Data) -> Picture:
    rates = data.grid(ERRORS).axes["loss_pct"]
    looks: dict[tuple[str, str], dict[str, Any]] = {
        ("queue phase", MULTICAST): {"color": COLOURS[MULTICAST][0], "marker": "o", "linestyle": "-"},
        ("queue phase", TCP): {"color": COLOURS[TCP][0], "marker": "s", "linestyle": "-"},
        ("RLM", MULTICAST): {"color": COLOURS[MULTICAST][0], "marker": "o", "linestyle": "--"},
        ("RLM", TCP): {"color": COLOURS[TCP][0], "marker": "s", "linestyle": "--"},
    }
    lines = [
        Line(
            f"{kind}, {'RLM' if scheme == 'RLM' else 'queue phase'}",
            [data.mean(RLM_ERRORS if scheme == "RLM" else ERRORS, f"kbytes {kind}", loss_pct=pct) for pct in rates],
            look,
        )
        for (scheme, kind), look in looks.items()
    ]
    return curves(
        "figure-errors", lines, x=list(rates), x_label="packets lost behind the queue (%)", y_label="throughput (kB/s)",
        caption="Throughput of a session on average in scenario 1, with packets lost at random on the up-link after "
            "they were sent. "
        f"Bars are 95 % intervals over {len(data.grid(ERRORS).seeds)} runs.",
        column="loss_pct", zero=True,
    )  # fmt: skip


def _tree(data: Data) -> Picture:
    figure, axes = plot.figure(plot.TWO_COLUMNS, 62.0)
    rows: list[dict[str, Any]] = []
    place = 0
    ticks: list[tuple[float, str]] = []
    said = []
    for branch in Tree.BRANCHES:
        begin = place
        fair = branch.fair_layers(Tree.SESSIONS)
        for member in branch.members:
            for session in range(1, Tree.SESSIONS + 1):
                one = estimate(data.at(TREE, f"layers {session} {member}", misbehaves=True))
                wrong = session == 1 and member == Tree.MISBEHAVES
                axes.errorbar(
                    place + 0.24 * (session - 1.5), one.mean, yerr=one.half, capsize=1.5, elinewidth=0.7,
                    marker="X" if wrong else "os"[session - 1], markersize=5 if wrong else 3.5, linestyle="none",
                    color="#000000" if wrong else COLOURS[MULTICAST][session - 1],
                    label={0: f"session {session}", 1: "misbehaves"}.get(int(wrong)) if wrong or place == 1 else None,
                )  # fmt: skip
                rows.append(
                    {"bottleneck": branch.name, "receiver": member, "session": session, "misbehaves": wrong,
                     "layers": one.mean, "low": one.low, "high": one.high, "fair": fair}
                )  # fmt: skip
            place += 1
        axes.fill_between([begin - 0.5, place - 0.5], fair - 1, fair + 1, color=FAINT, alpha=0.4, linewidth=0,
                          label="fair share ± 1" if begin == 0 else None)  # fmt: skip
        axes.plot([begin - 0.5, place - 0.5], [fair, fair], color=SOFT, linewidth=0.7)
        ticks.append(((begin + place - 1) / 2, f"{branch.name}\n{branch.rate_kbps / 1000:g} Mbit/s, {branch.tcp} TCP"))
        mine = [row["layers"] for row in rows if row["bottleneck"] == branch.name]
        said.append(f"{branch.name}: {number(min(mine), 1)} to {number(max(mine), 1)}, fair {number(fair, 1)}")
    axes.set_xticks([at for at, _ in ticks], [words for _, words in ticks])
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, 14)
    axes.set_ylabel("layers that come")
    legend(axes, 4)
    return picture(
        "figure-tree",
        figure,
        rows,
        caption="Twelve receivers of two sessions behind three bottlenecks: the down-links to Boston and to Tokyo, "
        "and a wire. One receiver takes all layers of session 1. Means over the run; bars are 95 % intervals over "
        f"{len(data.grid(TREE).seeds)} runs.",
        alt="Layers of each receiver. " + "; ".join(said) + ".",
    )


def _model(_data: Data) -> Picture:
    figure, (left, right) = plot.figure(plot.TWO_COLUMNS, 66.0, columns=2)
    rows: list[dict[str, Any]] = []
    said = []
    for start, colour, style in zip(STARTS, ("#D55E00", "#0072B2"), ("-", "--"), strict=True):
        course = model(start, 600)
        name = f"from ({start[0]:g}, {start[1]:g})"
        left.plot(course.rates[:, 0], course.rates[:, 1], color=colour, linestyle=style, linewidth=0.7, label=name)
        left.plot(*start, marker="o", color=colour, markersize=4, linestyle="none")
        steps = np.arange(len(course.rates))
        right.plot(steps, course.fairness, color=colour, linestyle=style, linewidth=0.7, label=name)
        limit = model(start).limit()
        said.append(f"{name} the mean of the index tends to {number(limit, 3)}")
        rows += [
            {"start": name, "step": int(step), "multicast": float(one[0]), "tcp": float(one[1]), "jain": float(index)}
            for step, one, index in zip(steps, course.rates, course.fairness, strict=True)
        ]
    left.plot([0, CAPACITY], [CAPACITY, 0], color=FAINT, linewidth=0.8)
    left.plot([0, CAPACITY], [0, CAPACITY], color=FAINT, linewidth=0.8, linestyle=":")
    left.annotate("all equal", (88, 88), color=SOFT, fontsize=7, ha="right", va="bottom", rotation=0)
    left.annotate("capacity", (97, 6), color=SOFT, fontsize=7, ha="right", va="bottom")
    left.set_xlim(0, CAPACITY)
    left.set_ylim(0, CAPACITY)
    left.set_xlabel("multicast (% of the capacity)")
    left.set_ylabel("TCP (% of the capacity)")
    right.axhline(model(STARTS[0]).limit(), color=FAINT, linewidth=0.8)
    right.set_xlim(0, 600)
    right.set_ylim(0.5, 1.01)
    right.set_xlabel("steps")
    right.set_ylabel("Jain's index")
    legend(left, 2)
    return picture(
        "figure-model",
        figure,
        rows,
        caption="The paper's model of fairness (equations 1 to 9), computed from two beginnings: capacity 100, "
        "layers of 5, α = 1, β = 1/2. Right: Jain's index, and its mean in the limit (grey). Multicast ends at TCP's "
        "peak, above its mean.",
        alt="Left: rates of TCP over those of multicast; right: Jain's index over steps. " + "; ".join(said) + ".",
    )


#: Their makers.
BEYOND = (_errors, _tree, _model)
