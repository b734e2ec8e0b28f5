"""Pictures of runs: of every template, of several runs, in a notebook."""

from __future__ import annotations

import re
import runpy
import time

import lasthop as lh
import numpy as np
import pytest
from conftest import ROOT
from lasthop import plot
from lasthop.plot.names import quantity_label
from lasthop.plot.style import BEHIND
from lasthop.results import INTERVAL_RATES
from looks import faults

TEMPLATES = sorted((ROOT / "python" / "lasthop" / "templates").glob("*.toml"))


def flows(count: int, *, start: str = "0 s", transport: object = "tcp") -> lh.Scenario:
    """So many downloads over a link of 1 Mbit/s."""
    radio = {"name": "radio", "between": ["server", "phone"], "rate": "1 Mbit/s", "delay": "40 ms"}
    one = {"from": "server", "to": "phone", "transport": transport, "start": start}
    return lh.load(
        {
            "duration": "20 s",
            "record": {"series": "100 ms"},
            "link": [{**radio, "queue": {"droptail": {"limit": "30 packets"}}}],
            "flow": [{**one, "name": f"bulk {n}"} for n in range(count)],
        }
    )


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_all_pictures_of_a_template(template):
    result = lh.run(plot.recording(lh.load(template)))
    shown = plot.pictures(result)
    assert {"throughput", "in-order", "queue"} <= set(shown)
    for name, draw in shown.items():
        figure, axes = plot.figure()
        draw(axes)
        assert not faults(figure), name


GALLERY = sorted((ROOT / "docs" / "gallery").glob("*.py"))


@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_a_picture_of_the_gallery_takes_few_lines(script, monkeypatch):
    monkeypatch.chdir(ROOT)
    title, *lines = script.read_text(encoding="utf-8").splitlines()
    assert title.startswith("# ") and len(lines) <= 15
    axes = runpy.run_path(str(script))["axes"]
    assert not faults(axes.figure)


def test_the_gallery_has_24_pictures():
    assert len(GALLERY) == 24


def test_bad_pictures_are_found():
    def drawn(spoil):
        figure, axes = plot.figure()
        axes.plot([0, 1, 2], [0, 1, 2], label="line")
        axes.set(xlabel="time (s)", ylabel="queue (packets)")
        spoil(axes)
        return faults(figure)

    assert drawn(lambda axes: axes.grid(True)) == []
    assert any("lies on" in one for one in drawn(lambda axes: [axes.text(1, 1, "one"), axes.text(1.02, 1, "two")]))
    assert any(
        "cut off" in one
        for one in drawn(lambda axes: axes.annotate("far", (1, 1), (900, 0), textcoords="offset points"))
    )
    assert "empty axes" in drawn(lambda axes: axes.lines[0].remove())
    assert "an axis has no name" in drawn(lambda axes: axes.set_ylabel(""))
    assert any("outside" in one for one in drawn(lambda axes: axes.set_ylim(5, 6)))
    assert any("collapsed" in one for one in drawn(lambda axes: axes.set_ylabel("line\n" * 60, rotation=0)))


def test_throughput_keeps_to_the_rate_of_the_link():
    result = lh.run(flows(1))
    # An interval of 200 ms has 17 packets, the last of which may belong in part to the next.
    assert plot.throughput(result).lines[0].get_ydata().max() <= 1e3 * (1 + 1 / 17)
    received = plot.in_order(result).lines[0].get_ydata()
    assert received[-1] == pytest.approx(result.flows["received_bytes"][0] / 1e6)
    assert np.all(np.diff(received) >= 0)


def test_nothing_is_drawn_before_a_flow_starts():
    result = lh.run(flows(1, start="5 s"))
    for draw in (plot.throughput, plot.window, plot.rtt, plot.in_order):
        assert draw(result).lines[0].get_xdata()[0] >= 5.0


def test_a_rate_is_drawn_over_its_interval_from_the_first_one_on():
    """A file of 0.3 s: the mean over the first 0.2 s, then over 0.6 s, of three samples."""
    short = flows(1, start="10 s").with_({"flow.0.source": {"file": {"size": "60 kB"}}, "link.radio.rate": "2 Mbit/s"})
    result = lh.run(short.with_({"duration": "60 s", "record.series": "200 ms"}))
    (line,) = plot.throughput(result).lines
    samples = [row for row in result.series.where(quantity="arrival_kbps") if row["value"] > 0]
    assert [row["time_s"] for row in samples] == pytest.approx([10.2, 10.4])
    first, second = (row["value"] for row in samples)
    assert line.get_drawstyle() == "steps-pre"
    assert line.get_xdata() == pytest.approx([10.0, 10.2, 10.8])
    assert line.get_ydata() == pytest.approx([first, first, second / 3])
    # The area under the line is what came.
    assert np.sum(line.get_ydata()[1:] * np.diff(line.get_xdata())) * 125 == pytest.approx(60_000)
    (line,) = plot.in_order(result).lines
    assert line.get_xdata()[0] == pytest.approx(10.0) and line.get_ydata()[0] == 0
    # A flow from the start is drawn from time 0 on.
    assert plot.throughput(lh.run(flows(1))).lines[0].get_xdata()[0] == pytest.approx(0.0)


def test_a_rate_of_the_present_is_drawn_as_it_was_sampled():
    """What an encoder sends at and what a cell has given away are no means over intervals."""
    flow = {"name": "f", "from": "server", "to": "rnc", "transport": {"media": {"congestion": "gcc"}}}
    link = {"name": "l", "between": ["server", "rnc"], "rate": "2 Mbit/s", "delay": "20 ms"}
    asked = ["encoder_kbps", "occupancy_kbps"]
    web = {"name": "w", "from": "server", "to": "cell.ue[*]", "source": "web"}
    result = lh.run(
        {
            "duration": "20 s",
            "record": {"series": "50 ms", "quantities": asked},
            "link": [link],
            "cell": [{"name": "cell", "rnc": "rnc", "ues": 2}],
            "flow": [{**flow, "source": "encoder"}, web],
        }
    )
    for quantity in asked:
        (line,) = plot.over_time(result, quantity).lines
        recorded = result.series.where(quantity=quantity)
        assert line.get_drawstyle() == "steps-post"
        assert line.get_xdata().tolist() == recorded["time_s"].tolist(), quantity
        assert line.get_ydata().tolist() == recorded["value"].tolist(), quantity


def test_the_page_says_which_rates_are_means_over_intervals():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    said = re.findall(r"^\| `\w+` \| `(\w+)` \| kbit/s: .* since the last sample", page, re.MULTILINE)
    assert sorted(said) == sorted(INTERVAL_RATES)


def test_a_flow_is_drawn_to_the_end_of_its_file():
    result = lh.run(plot.recording(lh.load(ROOT / "examples" / "transfers.toml")))
    ends = {row["flow"]: row["acked_s"] for row in result.transfers}
    for draw in (plot.throughput, plot.window, plot.rtt):
        axes = draw(result)
        for line in axes.lines:
            last = line.get_xdata()[-1]
            assert ends.get(line.get_label(), 60.0) <= last <= ends.get(line.get_label(), 60.0) + 0.6
        assert axes.get_legend(), "names cannot stand at ends that lie within the axes"
    # What was received remains.
    assert {line.get_xdata()[-1] for line in plot.in_order(result).lines} == {60.0}


def test_a_mean_over_receivers_is_called_one():
    result = lh.run(plot.recording(lh.load(ROOT / "examples" / "mbms.toml")))
    for draw in (plot.throughput, plot.in_order):
        (name,) = draw(result).get_legend().get_texts()
        assert name.get_text() == "tv, mean of 6 receivers"


def test_rows_of_a_figure_are_as_high_as_one():
    result = lh.run(plot.recording(lh.load(ROOT / "examples" / "two-flows.toml")))
    figure, both = plot.figure(rows=2, sharex=True)
    for draw, axes in zip((plot.throughput, plot.rtt), both, strict=True):
        draw(result, axes=axes)
    figure.canvas.draw()
    assert figure.get_figheight() * 25.4 == pytest.approx(110)
    first, second = (axes.get_window_extent() for axes in both)
    assert min(first.height, second.height) > 25 / 25.4 * figure.dpi and first.y0 > second.y1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rtt_ms_p50", "median round-trip time (ms)"),
        ("rtt_ms_mean", "mean round-trip time (ms)"),
        ("queue_ms_p95", "95th percentile of queueing delay (ms)"),
        ("queue_packets", "queue (packets)"),
        ("x_m", "x (m)"),
        ("goodput_kbps", "goodput (kbit/s)"),
        ("capacity_bytes_per_s", "capacity (B/s)"),
        ("tcp_packets_per_s", "tcp (packets/s)"),
    ],
)
def test_axes_have_quantity_and_unit(name, said):
    assert quantity_label(name) == said


def test_only_what_is_summed_is_megabytes():
    result = lh.run(flows(1))
    assert plot.in_order(result).get_ylabel() == "received in order (MB)"
    assert plot.over_time(result, "goodput_kbps").get_ylabel() == "goodput (kbit/s)"


def test_axes_keep_their_height_below_a_long_legend():
    result = lh.run(plot.recording(lh.load(ROOT / "examples" / "mbms.toml")))

    def heights(draw, **size):
        drawn, axes = plot.figure(**size)
        draw(result, axes=axes)
        drawn.canvas.draw()
        return drawn.get_figheight() * 25.4, axes.get_window_extent().height

    (short, few), (tall, many) = heights(plot.throughput), heights(plot.queue)
    assert short == pytest.approx(55) and tall > short + 10 and many > 0.85 * few
    assert heights(plot.queue, height_mm=55.0)[0] == pytest.approx(55), "a height that was asked for stays"


@pytest.mark.parametrize("count", [2, 4, 5, 8, 9, 40])
def test_flows_of_one_protocol_are_told_apart(count):
    figure, axes = plot.figure()
    plot.throughput(lh.run(flows(count)), axes=axes)
    assert not faults(figure)
    assert len(axes.lines) == count
    bold = [line for line in axes.lines if line.get_color() != BEHIND]
    assert len(bold) == (count if count <= 8 else 3)
    assert len({line.get_color() for line in bold}) == len(bold)
    if count > 8:
        ranks = {line.get_label().rpartition(", ")[2]: line.get_ydata().mean() for line in bold}
        means = sorted(line.get_ydata().mean() for line in axes.lines)
        assert ranks["lowest"] == means[0] and ranks["highest"] == means[-1]
        assert f"{count - 3} others" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_several_runs_are_named():
    both = {variant: lh.run(flows(1, transport={"tcp": {"congestion": variant}})) for variant in ("reno", "cubic")}
    figure, axes = plot.figure()
    plot.window(both, axes=axes)
    assert [line.get_label() for line in axes.lines] == ["reno", "cubic"]
    assert not faults(figure)
    # One after the other into the same axes: what differs between them names them.
    figure, axes = plot.figure()
    for run in both.values():
        plot.window(run, axes=axes)
    assert [line.get_label() for line in axes.lines] == ["tcp sack+reno", "tcp sack+cubic"]
    assert sorted(text.get_text() for text in axes.texts) == ["tcp sack+cubic", "tcp sack+reno"]
    assert not faults(figure)


def test_labels_of_runs_may_be_numbers():
    axes = plot.window({delay: lh.run(flows(1).with_({"link.radio.delay": f"{delay} ms"})) for delay in (20, 80.5)})
    assert [line.get_label() for line in axes.lines] == ["20", "80.5"]


def test_seeds_name_runs_of_one_scenario():
    runs = [lh.run(flows(2), seed=seed) for seed in (1, 2, 3)]
    figure, axes = plot.figure()
    plot.rtt(runs, axes=axes)
    assert [line.get_label() for line in axes.lines] == [f"seed {seed}: bulk {n}" for seed in (1, 2, 3) for n in (0, 1)]
    assert not faults(figure)


def test_wrong_names_are_answered():
    result = lh.run(flows(2))
    with pytest.raises(ValueError, match=r"no cwnd_packets of 'film'; known: bulk 0, bulk 1"):
        plot.window(result, flow="film")
    with pytest.raises(ValueError, match="nothing has cqi; recorded are"):
        plot.over_time(result, "cqi")
    with pytest.raises(AttributeError, match=r"record\.series"):
        plot.window(lh.run(lh.load(TEMPLATES[0])))


def test_a_name_is_not_that_of_all_that_begin_with_it():
    nodes = [("radio", "my server", "m"), ("radio up", "m", "t")]
    link = [{"name": name, "between": [*ends], "rate": "1 Mbit/s", "delay": "20 ms"} for name, *ends in nodes]
    flow = [{"name": name, "from": "my server", "to": "m"} for name in ("a", "a b", "a at b")]
    record = {"series": "100 ms", "quantities": ["received_packets"]}
    result = lh.run({"duration": "2 s", "record": record, "link": link, "flow": flow})

    def drawn(quantity, of):
        return [line.get_label() for line in plot.over_time(result, quantity, of=of).lines]

    assert drawn("arrival_kbps", "a") == ["a"]
    assert drawn("received_packets", "a") == ["a at m"]
    assert drawn("received_packets", "a at b") == ["a at b at m"]
    assert drawn("rate_bps", "radio") == ["radio my server>m", "radio m>my server"]
    assert drawn("rate_bps", "radio up") == ["radio up m>t", "radio up t>m"]
    with pytest.raises(ValueError, match="there is no rate_bps of 'radio my'"):
        drawn("rate_bps", "radio my")
    changed = lh.run(
        {**lh.load(result.scenario_text).to_dict(), "change": [{"at": "1 s", "link": "radio", "rate": "2 Mbit/s"}]}
    )
    (line,) = plot.pictures(changed)["rate"](plot.figure()[1]).lines
    assert line.get_label() == "radio", "both directions are the same"


def test_figures_are_saved_by_text_and_by_path(tmp_path):
    figure, axes = plot.figure()
    plot.queue(lh.run(flows(1)), of="radio", axes=axes)
    assert plot.save(figure, str(tmp_path / "a")) == [tmp_path / f"a.{suffix}" for suffix in ("png", "svg", "pdf")]
    assert [path.read_bytes()[:60] for path in plot.save(figure, tmp_path / "b")] == [
        (tmp_path / f"a.{suffix}").read_bytes()[:60] for suffix in ("png", "svg", "pdf")
    ]


def test_many_points_are_an_image_in_a_file_of_vectors(tmp_path):
    fast = {
        "link.radio.rate": "100 Mbit/s",
        "link.radio.delay": "4 ms",
        "link.radio.queue.droptail.limit": "99 packets",
    }
    fast = flows(1).with_({**fast, "record.packets": True}, duration="4 s")
    made = lh.analyze(lh.run(fast))
    assert made.totals["sent_packets"][0] > 25_000
    for draw in (plot.time_sequence, plot.rtts):
        axes = draw(made)
        assert max(len(line.get_xdata()) for line in axes.lines) > 15_000, "to zoom into"
        _, svg, pdf = plot.save(axes.figure, tmp_path / "points")
        assert max(svg.stat().st_size, pdf.stat().st_size) < 300_000
        assert "<image" in svg.read_text()
    few = plot.rtts(lh.analyze(lh.run(fast.with_(duration="1 s"))))
    assert "<image" not in plot.save(few.figure, tmp_path / "few")[1].read_text()


def test_names_at_lines_ends_stay_apart_and_beside_the_axes():
    for ends in ([1, 1, 1, 1], [10, 10, 10, 10], [0, 0, 10, 10], [5, 5.1, 5.2, 5.3]):
        figure, axes = plot.figure()
        for n, end in enumerate(ends):
            axes.plot([0, 1], [0, end], color=f"C{n}")
        axes.set(xlabel="time (s)", ylabel="window", ylim=(0, 10), xlim=(0, 1))
        plot.label_lines(axes, [(1, end, f"line {n}", f"C{n}") for n, end in enumerate(ends)])
        assert not faults(figure), ends


def test_runs_are_drawn_together_from_the_shell(lasthop, tmp_path):
    for variant in ("reno", "cubic"):
        lh.run(flows(1, transport={"tcp": {"congestion": variant}})).save(tmp_path / variant)
    said = lasthop("plot", "reno", "cubic", "-o", "both").stdout.split()
    assert said[0] == "both/throughput.{png,svg,pdf}"
    assert "cubic" in (tmp_path / "both" / "window.svg").read_text()
    lasthop("compare", "reno", "cubic", "--plot", "compared")
    assert (tmp_path / "compared" / "window.svg").read_text() == (tmp_path / "both" / "window.svg").read_text()
    assert "say with -o" in lasthop("plot", "reno", "cubic", code=2).stderr
    # A run keeps the pictures of its own.
    lasthop("plot", "reno")
    alone = (tmp_path / "reno" / "window.svg").read_bytes()
    for words in (("plot", "reno", "cubic", "-o", "reno"), ("plot", "cubic", "-o", "reno")):
        assert "choose another folder with -o" in lasthop(*words, code=2).stderr
    assert "reno holds results" in lasthop("compare", "reno", "cubic", "--plot", "reno", code=2).stderr
    assert (tmp_path / "reno" / "window.svg").read_bytes() == alone
    lasthop("plot", "reno", "-o", "reno")
    lasthop("plot", "cubic", "-o", "reno", "--force")
    assert (tmp_path / "reno" / "window.svg").read_bytes() != alone


#: Names that matplotlib would take for formulas, or leave out of a legend, or that no figure has room for.
NAMES = ["$\\foo$", "cost $5$", "_hidden", "a download with a long name, " * 4, "$a_$"]


@pytest.mark.parametrize("names", [NAMES, NAMES[:3]], ids=["legend", "at the lines"])
def test_flows_may_have_any_name(names):
    one = flows(1).to_dict()["flow"][0]
    scenario = flows(1).with_(flow=[{**one, "name": name} for name in names])
    result = lh.run(scenario)
    shown = plot.pictures(result)
    assert {"throughput", "window", "rtt", "in-order"} <= set(shown)
    for name in ("throughput", "window", "rtt", "in-order"):
        figure, axes = plot.figure()
        shown[name](axes)
        assert not faults(figure)
        legend = axes.get_legend()
        texts = legend.get_texts() if legend else axes.texts
        assert not any(text.get_parse_math() for text in texts)
        said = [text.get_text().lstrip("\u200b") for text in texts]
        assert {*names} - {NAMES[3]} <= {*said} and len(said) == len(names)
        assert all(text.startswith("a download") and "…" in text for text in said if text not in names)
    made = lh.analyze(lh.run(scenario.with_({"record.packets": True})))
    for draw in plot.connections.PICTURES.values():
        assert not [one for one in faults(draw(made).figure) if "outside" not in one]


def test_values_and_keys_of_a_sweep_may_have_any_name():
    one = flows(1).to_dict()["flow"][0]
    scenario = flows(1).with_(flow=[{**one, "name": "$\\foo$"}], duration="2 s")
    swept = lh.sweep(scenario, vary={"flow.$\\foo$.transport.tcp.variant": ["reno", "cubic"]})
    assert not faults(plot.across(swept, "goodput_kbps").figure)
    swept = lh.sweep(scenario, vary={"flow.0.to": ["phone"], "flow.0.name": ["$\\foo$", "_b"]})
    assert not faults(plot.across(swept, "goodput_kbps", key="flow.0.name").figure)


def test_pictures_of_a_thousand_flows_take_as_long_as_their_rows():
    """600,000 rows: a second or less, and 13 s when each flow looked through all of them."""
    call = {
        "from": "server",
        "to": "phone",
        "transport": "udp",
        "source": {"cbr": {"rate": "1 kbit/s", "size": "500 B"}},
    }
    many = flows(1).with_(flow=[{**call, "name": f"call {n}"} for n in range(1000)])
    result = lh.run(many.with_({"record.series": "67 ms"}))
    assert len(result.series) > 500_000
    began = time.perf_counter()
    shown = plot.pictures(result)
    assert time.perf_counter() - began < 6
    axes = shown["in-order"](plot.figure()[1])
    assert len(axes.lines) == 1000 and not faults(axes.figure)


def test_what_stays_the_same_is_drawn():
    call = {"name": "call", "from": "server", "to": "phone", "transport": "udp"}
    steady = flows(1).with_(
        {"record.series": "100 s"},
        flow=[{**call, "source": {"cbr": {"rate": "10 kbit/s", "size": "500 B"}}}],
        duration="3000 s",
    )
    result = lh.run(steady)
    assert len({*result.series.where(quantity="arrival_kbps")["value"].tolist()}) == 1
    assert {"throughput", "in-order"} <= set(plot.pictures(result))
    # A flow has one sample if it begins late, and nothing comes of one that has just begun.
    late, just_begun = (lh.run(steady.with_({"flow.call.start": start})) for start in ("2999 s", "2999.9999 s"))
    assert late.flows["received_packets"][0] and not just_begun.flows["received_packets"][0]
    assert "throughput" in plot.pictures(late) and "throughput" not in plot.pictures(just_begun)


def test_a_figure_shows_itself_in_a_notebook(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = [
        "import lasthop as lh",
        f"result = lh.run(lh.plot.recording(lh.load({str(TEMPLATES[-2])!r})))",
        "lh.plot.throughput(result);",
        "_, (one, two) = lh.plot.figure(rows=2)\nlh.plot.window(result, axes=one)\nlh.plot.rtt(result, axes=two);",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    pictures = [
        [one["output_type"] for one in cell["outputs"] if "image/png" in one.get("data", {})] for cell in book.cells
    ]
    assert [len(one) for one in pictures] == [0, 0, 1, 1]


def test_lines_of_one_protocol_differ_until_there_are_no_more_styles():
    from lasthop.plot.style import STYLES, look, unlike

    used: set[str] = set()
    drawn = [str(unlike(look(name), used)) for _ in STYLES for name in ("reno", "cubic", "udp")]
    assert len({*drawn}) == 3 * len(STYLES)


@pytest.mark.parametrize("count", [2, 6, 8])
def test_flows_of_one_protocol_are_told_apart_in_sweeps(count):
    for vary in ({"link.radio.delay": ["10 ms", "20 ms"]}, {"link.radio.queue": ["droptail", "codel"]}):
        axes = plot.across(lh.sweep(flows(count), vary=vary), "goodput_kbps")
        drawn = [bar.lines[0] for bar in axes.containers]
        assert len(drawn) == count and len({line.get_color() for line in drawn}) == count


def test_lines_are_told_apart_without_their_colours():
    drawn = plot.throughput(lh.run(plot.recording(flows(4).with_({"duration": "2 s"})))).lines
    assert len(drawn) == 4 == len({line.get_linestyle() for line in drawn})


def test_a_mean_over_flows_is_called_one():
    swept = lh.sweep(flows(9).with_({"duration": "2 s"}), vary={"link.radio.delay": ["10 ms", "20 ms"]})
    axes = plot.sweep_pictures(swept)["goodput"](plot.figure()[1])
    assert axes.get_ylabel() == "goodput (kbit/s)\nmean of flows" and not faults(axes.figure)
    for options, of in (({"by": (), "total": True}, "\nsum of flows"), ({"by": ("flow",)}, "")):
        assert plot.across(swept, "goodput_kbps", **options).get_ylabel() == f"goodput (kbit/s){of}"


def test_no_two_lines_of_a_sweep_look_the_same():
    two = [{"from": "s", "to": "m", "name": v, "transport": {"tcp": {"variant": v}}} for v in ("reno", "cubic")]
    link = {"name": "radio", "between": ["s", "m"], "rate": "5 Mbit/s"}
    scenario = lh.load({"duration": "2 s", "link": [link], "flow": two})
    for over in ({"link.radio.delay": ["10 ms", "20 ms"]}, {"link.radio.queue": ["droptail", "codel"]}):
        vary = {**over, "link.radio.loss.bernoulli.p": [0.01 * n for n in range(6)]}
        axes = plot.across(lh.sweep(scenario, vary=vary), "goodput_kbps", key=next(iter(over)))
        drawn = [bar.lines[0] for bar in axes.containers]
        looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in drawn}
        assert len(drawn) == 12 and len({line.get_color() for line in drawn}) == 2, "a protocol keeps its colour"
        # Without lines there are five markers of two colours.
        assert len(looks) == (12 if "link.radio.delay" in over else 10)


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["500 ms", "1 s"], ([500.0, 1000.0], "ms")),
        (["384 kbit/s", "7.2Mbit/s"], ([384.0, 7200.0], "kbit/s")),
        (["20 packets", "40 packets"], ([20.0, 40.0], "packets")),
        (["20 packets", "30 kB"], None),
        (["1 m", "1 ms"], None),
    ],
)
def test_values_in_two_units_of_one_quantity_are_numbers(values, numbers):
    from lasthop.plot.sweeps import _numbers

    assert _numbers(values) == numbers


def test_the_only_line_is_named_where_it_is_one_of_several():
    def names(scenario, draw):
        return [text.get_text() for text in draw(lh.run(plot.recording(scenario))).texts]

    bulk = {"from": "s", "to": "m", "name": "bulk"}
    call = {**bulk, "name": "call", "transport": "udp", "source": {"cbr": {"size": "160 B", "interval": "20 ms"}}}
    link = {"name": "radio", "between": ["s", "m"], "rate": "2 Mbit/s"}
    scenario = lh.load({"duration": "5 s", "link": [link], "flow": [bulk, call]})
    assert names(scenario, plot.window) == ["bulk"]
    assert names(scenario, lambda result: plot.window(result, flow="bulk")) == []
    alone = scenario.with_(flow=[bulk])
    assert names(alone, plot.window) == names(alone, plot.queue) == []
