"""Figures of single runs: where packets died and what was concluded (Fig. 2), the tree, who represents the group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lasthop import plot
from lasthop.results import Table
from lasthop.stats import number
from lasthop.studies import Picture

from . import measures, scenario
from .measures import loss_classification
from .network import GROUP, NODE_BS, PER_RNC, RNCS, SCHEMES, Flow, Setting, node_b, rnc, sgsn, terminal, text
from .readings import ALONE
from .scenario import DEGRADED, PERMANENT_S

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lasthop.results import Result
    from lasthop.scenario import Scenario
    from lasthop.studies.bench import Bench


SEED = 1

#: The cases of Fig. 2.
CASES = {"a": "congestion", "b": "temporary degradation", "c": "permanent degradation"}

#: The schemes whose representatives are shown.
SHOWN = ("mod_tfmcc", "leg_tfmcc", "mod_pgmcc", "leg_pgmcc")

#: The group of the figure of the tree.
TREE = 100


@dataclass(frozen=True)
class Seen:
    """What single runs showed."""

    #: By case of Fig. 2: place of death, conclusion, packets.
    deaths: Mapping[str, Sequence[tuple[str, str, int]]]
    #: By scheme: times, and the number of the member that represents the group; of §5.3, and of §5.4.
    temporary: Mapping[str, tuple[Any, Any]]
    permanent: Mapping[str, tuple[Any, Any]]
    #: Packets that crossed each kind of link for each packet of the source, to a group and to each terminal by itself.
    copies: Mapping[str, Sequence[float]]


def watch(bench: Bench) -> Seen:
    """Makes the runs."""
    deaths = bench.run([(_case(case), SEED) for case in CASES], _deaths, counts=False)
    of_temporary = bench.run([(_sampled(scheme), SEED) for scheme in SHOWN], _members, counts=False)
    several = [scheme for scheme in SHOWN if scheme.startswith("mod")]
    of_permanent = bench.run(
        [(scenario.permanent({"scheme": one, "degraded": len(DEGRADED)}, taken=ALONE), SEED) for one in several],
        _members,
        counts=False,
    )
    copies = bench.run([(_copied(each), SEED) for each in (False, True)], _copies, counts=False)
    return Seen(
        dict(zip(CASES, deaths, strict=True)),
        dict(zip(SHOWN, of_temporary, strict=True)),
        dict(zip(several, of_permanent, strict=True)),
        dict(zip(("group", "each"), copies, strict=True)),
    )


# Figure 2


def _case(case: str) -> Scenario:
    """Twenty seconds of modified TFMCC to ten terminals, every packet of which is recorded."""
    from lasthop.scenario import load

    narrow = {"rate": "300 kbit/s", "queue": {"droptail": {"limit": "30 packets"}}}
    lossy = {"schedule": {"steps": [["0 s", scenario.SHARE if case == "c" else scenario.HIGHEST]], "attempts": 2}}
    setting = Setting(
        observed=[Flow("mod_tfmcc", range(GROUP), name="observed0")],
        duration_s=60.0,
        links={"internet": narrow} if case == "a" else {},
        radio={"loss": lossy} if case == "b" else {},
        node_bs={"nb0": {"loss": lossy}} if case == "c" else {},
        background=False,
        requests=False,
        record={"packets": True, "state": True},
    )
    return load(text(setting))


def _deaths(result: Result) -> list[tuple[str, str, int]]:
    rows = loss_classification.concluded(result, "edge")
    return [
        (place, conclusion, sum(n for _, p, c, n in rows if (p, c) == (place, conclusion)))
        for place in loss_classification.DIED
        for conclusion in (loss_classification.CONGESTION, loss_classification.RADIO)
    ]


def _figure_2(seen: Seen) -> Picture:
    figure, panels = plot.figure(plot.TWO_COLUMNS, 58.0, columns=3)
    rows, said = [], []
    looks = {
        loss_classification.CONGESTION: {"color": "#D55E00"},
        loss_classification.RADIO: {"color": "#56B4E9", "hatch": "///"},
    }
    for axes, (case, title) in zip(panels, CASES.items(), strict=True):
        deaths = seen.deaths[case]
        left = dict.fromkeys(loss_classification.DIED, 0)
        for place, conclusion, packets in deaths:
            axes.barh(
                loss_classification.DIED.index(place),
                packets,
                left=left[place],
                height=0.6,
                edgecolor="#FFFFFF",
                linewidth=0.4,
                label=f"concluded: {conclusion}" if place == loss_classification.DIED[0] else None,
                **looks[conclusion],
            )
            left[place] += packets
            rows.append({"case": case, "died": place, "concluded": conclusion, "packets": packets})
        most = max(left.values()) or 1
        for place, total in left.items():
            axes.annotate(
                number(total),
                (total, loss_classification.DIED.index(place)),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=7,
            )
        axes.set_xlim(0, 1.25 * most)
        axes.set_yticks(
            range(len(loss_classification.DIED)),
            loss_classification.DIED if case == "a" else [""] * len(loss_classification.DIED),
        )
        axes.invert_yaxis()
        axes.set_xlabel(f"({case}) {title}:\nlost packets of ten terminals")
        said.append(
            f"({case}) {title}: "
            + ", ".join(f"{n} died {place} and were put down to {what}" for place, what, n in deaths if n)
        )
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return Picture(
        id="figure-2",
        caption="Where packets died, and what the terminals concluded, in the three cases of the paper's Fig. 2: a "
        "link of 300 kbit/s before the tree (a); 5 % lost by each radio (b); 20 % lost by the radio of one terminal, "
        "whose FIFO fills (c). Modified TFMCC, ten terminals, 60 s of seed 1, reading A. Each packet counts for each "
        "terminal that missed it.",
        alt="; ".join(said) + ".",
        figure=figure,
        data=Table(pa.Table.from_pylist(rows)),
    )


# The tree


def _copied(each: bool) -> Scenario:
    """A hundred packets of a second to a hundred terminals: to a group, or to each."""
    from lasthop.scenario import load

    flows = [Flow("cbr", [ue]) for ue in range(TREE)] if each else [Flow("cbr", range(TREE))]
    setting = Setting(observed=flows, duration_s=11.0, cbr_kbps=80.0, background=False)
    return load(text(setting))


def _copies(result: Result) -> list[float]:
    sent = float(np.max(result.flows["sent_packets"]))
    links = result.links
    names = np.array([str(name) for name in links["link"]])
    made = [
        float(links["packets"][np.array([name.startswith(kind) and name.endswith(end) for name in names])].sum()) / sent
        for kind, end in (("gn", ""), ("iu", ""), ("nb", "iub down"))
    ]
    bearers = result.bearers
    down = np.array([" down" in str(name) for name in bearers["bearer"]])
    return [*made, float(np.nansum(bearers["packets"][down])) / sent]


KINDS = ("Gn", "Iu", "Iub", "radio")


def _tree(seen: Seen) -> Picture:
    figure, axes = plot.figure(plot.TWO_COLUMNS, 92.0)
    cells: dict[int, int] = {}
    for ue in range(TREE):
        cells[ue % NODE_BS] = cells.get(ue % NODE_BS, 0) + 1
    x_cell = {n: n + 2.0 * (n // PER_RNC) for n in range(NODE_BS)}
    x_rnc = {
        n: float(np.mean([x_cell[cell] for cell in range(PER_RNC * n, PER_RNC * (n + 1))])) for n in range(sum(RNCS))
    }
    x_sgsn = {n: float(np.mean([x for one, x in x_rnc.items() if sgsn(one) == n])) for n in range(len(RNCS))}
    middle = float(np.mean(list(x_sgsn.values())))
    rows = []

    def branch(above: tuple[float, float], below: tuple[float, float], of: str, from_: str, to: str) -> None:
        axes.plot([above[0], below[0]], [above[1], below[1]], color="#0072B2", linewidth=0.7, zorder=1)
        rows.append({"link": of, "from": from_, "to": to})

    branch((middle, 5.0), (middle, 4.0), "server", "server", "ggsn")
    for n, x in x_sgsn.items():
        branch((middle, 4.0), (x, 3.0), "Gn", "ggsn", f"sgsn{n}")
    for n, x in x_rnc.items():
        branch((x_sgsn[sgsn(n)], 3.0), (x, 2.0), "Iu", f"sgsn{sgsn(n)}", f"rnc{n}")
    for n, x in x_cell.items():
        branch((x_rnc[n // PER_RNC], 2.0), (x, 1.0), "Iub", f"rnc{n // PER_RNC}", node_b(n))
    for ue in range(TREE):
        place = x_cell[ue % NODE_BS] + (0.35 if ue >= NODE_BS else -0.35 if cells[ue % NODE_BS] > 1 else 0.0)
        branch((x_cell[ue % NODE_BS], 1.0), (place, 0.25), "radio", node_b(ue), terminal(ue))
        axes.plot(place, 0.25, marker="o", markersize=1.6, color="#D55E00")
    for points, level, size in ((x_sgsn, 3.0, 7), (x_rnc, 2.0, 5), (x_cell, 1.0, 3)):
        axes.plot(
            list(points.values()), [level] * len(points), linestyle="none", marker="s", markersize=size, color="#000000"
        )
    axes.plot([middle, middle], [5.0, 4.0], linestyle="none", marker="s", markersize=7, color="#000000")
    group, each = seen.copies["group"], seen.copies["each"]
    levels = ("server", "GGSN", "3 SGSNs", "20 RNCs", "80 Node Bs", "100 terminals")
    for words, level in zip(levels, (5.0, 4.0, 3.0, 2.0, 1.0, 0.25), strict=True):
        axes.annotate(words, (-9, level), ha="right", va="center", fontsize=7)
    right = max(x_cell.values()) + 4
    for kind, one, other, level in zip(KINDS, group, each, (3.5, 2.5, 1.5, 0.62), strict=True):
        axes.annotate(
            f"{kind}: {number(one, 0)} copies\n(one by one: {number(other, 0)})",
            (right, level),
            ha="left",
            va="center",
            fontsize=7,
        )
    axes.set_xlim(-26, right + 26)
    axes.axis("off")
    return Picture(
        id="figure-tree",
        caption="The tree of a group of 100 terminals in the network of Table I, and how many copies of a packet cross "
        "each kind of link, counted in a run; in brackets if each terminal has a flow of its own.",
        alt="A tree from a server over the GGSN, 3 SGSNs, 20 RNCs and 80 Node Bs to 100 terminals. Copies of a packet: "
        + ", ".join(
            f"{number(one, 0)} on {kind} instead of {number(other, 0)}"
            for kind, one, other in zip(KINDS, group, each, strict=True)
        )
        + ".",
        figure=figure,
        data=Table(pa.Table.from_pylist(rows)),
    )


# Who represents the group


def _sampled(scheme: str) -> Scenario:
    """§5.3 with ten terminals, sampled five times a second."""
    return scenario.temporary({"scheme": scheme, "ues": GROUP}, taken=ALONE, series="200 ms")


def _members(result: Result) -> tuple[Any, Any]:
    """When, and which member of the group."""
    names = [terminal(ue) for ue in range(GROUP)]
    times, who = measures.representatives(result, names)
    return times, np.array([names.index(one) if one else -1 for one in who])


def _representative(seen: Seen) -> Picture:
    figure, panels = plot.figure(plot.TWO_COLUMNS, 108.0, rows=3, columns=2)
    rows, said = [], []
    shown = [
        (panel, scheme, seen.temporary[scheme], (ALONE.from_s, ALONE.until_s))
        for panel, scheme in zip(panels.flat[:4], SHOWN, strict=True)
    ]
    shown += [
        (panel, scheme, found, (PERMANENT_S[0] - 20, PERMANENT_S[0] + 40))
        for panel, (scheme, found) in zip(panels.flat[4:], seen.permanent.items(), strict=True)
    ]
    for place, (axes, scheme, (times, members), (begin, end)) in enumerate(shown):
        here = (times >= begin) & (times <= end) & (members >= 0)
        several = place >= len(SHOWN)
        _strip(axes, times[here], members[here], marked=DEGRADED if several else ())
        changes = int(np.sum(np.diff(members[here]) != 0))
        label = f"{SCHEMES[scheme]}{', three degraded' if several else ''}: {changes} changes"
        axes.set_title(label, loc="left", fontsize=7, pad=2)
        axes.set_xlim(begin, end)
        axes.set_xticks(np.linspace(begin, end, 5))
        if several:
            axes.axvline(PERMANENT_S[0], color="#555555", linewidth=0.6, linestyle=":")
        if place % 2 == 0:
            axes.set_ylabel("terminal")
        if place >= 4:
            axes.set_xlabel("time (s)")
        said.append(label)
        experiment = "5.4" if several else "5.3"
        rows += [
            {"experiment": experiment, "scheme": SCHEMES[scheme], "time_s": float(time), "terminal": int(member)}
            for time, member in zip(times[here], members[here], strict=True)
        ]
    return Picture(
        id="figure-representative",
        caption="Who represents a group of ten (the CLR of TFMCC, the acker of PGMCC), sampled five times a second in "
        "seed 1: while the radio of each loses up to 5 % (upper four), and where three terminals (grey) lose 20 % from "
        "50 s on (lowest two).",
        alt="Strips of marks over time, a row for each terminal. " + "; ".join(said) + ".",
        figure=figure,
        data=Table(pa.Table.from_pylist(rows)),
    )


def _strip(axes: Axes, times: Any, members: Any, *, marked: Sequence[int]) -> None:
    for ue in marked:
        axes.axhspan(ue - 0.5, ue + 0.5, color="#DDDDDD", zorder=0, linewidth=0)
    axes.plot(times, members, drawstyle="steps-post", color="#0072B2", linewidth=0.7)
    axes.plot(times, members, linestyle="none", marker="|", markersize=4, color="#D55E00")
    axes.set_ylim(GROUP - 0.5, -0.5)
    axes.set_yticks((0, 3, 6, 9))


def pictures(seen: Seen) -> list[Picture]:
    """Fig. 2, the tree, and the representatives."""
    assert rnc(0) == 0
    return [_figure_2(seen), _tree(seen), _representative(seen)]
