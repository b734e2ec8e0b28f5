"""Reports of stored results: what is on the page, and how it fares in a browser."""

from __future__ import annotations

import json
import re

import lasthop as lh
import numpy as np
import pytest
from browser import accessible, needs_browser, opened, scrolled
from conftest import ROOT
from lasthop import plot
from lasthop.report import page as pages
from lasthop.report import write_runs
from lasthop.report.chart import charts

#: How much longer a page may take than on an idle machine.
SLOW = 3

TEMPLATES = ROOT / "python" / "lasthop" / "templates"


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Two runs and a sweep."""
    folder = tmp_path_factory.mktemp("stored")
    scenario = plot.recording(lh.load(TEMPLATES / "two-flows.toml"))
    lh.run(scenario).save(folder / "slow")
    lh.run(scenario.with_({"link.radio.rate": "8 Mbit/s"})).save(folder / "fast")
    lh.sweep(scenario, vary={"link.radio.delay": ["20 ms", "80 ms"]}, seeds=3, folder=folder / "swept")
    return folder


def page(stored, *names):
    return write_runs([stored / name for name in names], stored / f"{'-'.join(names)}.html")


def drawn(path):
    text = path.read_text(encoding="utf-8")
    return [json.loads(one) for one in re.findall(r'<script type="application/json">(.*?)</script>', text)]


def test_a_chart_has_the_numbers_of_the_run(stored):
    result = lh.Result.load(stored / "slow")
    made = drawn(page(stored, "slow"))
    window = next(one["charts"][0] for one in made if "window" in one["charts"][0]["y"]["label"])
    series = result.series.where(kind="flow", name="file", quantity="cwnd_packets")
    late = series["time_s"] >= 5.0
    assert window["series"][0]["name"] == "file"
    assert np.allclose(window["series"][0]["x"], series["time_s"][late], rtol=1e-4)
    assert np.allclose(window["series"][0]["y"], series["value"][late], rtol=1e-4)


def test_two_runs_stand_beside_each_other(stored):
    path = page(stored, "slow", "fast")
    text = path.read_text(encoding="utf-8")
    assert "<code>link.radio.rate</code>" in text and "8 Mbit/s" in text
    names = {series["name"] for one in drawn(path) for chart in one["charts"] for series in chart["series"]}
    assert {"slow: file", "fast: file"} <= names


def test_what_a_session_changed_stands_in_the_report(tmp_path):
    scenario = lh.load(TEMPLATES / "two-flows.toml")
    session = lh.Session(scenario)
    session.advance_to("6 s")
    session.change("radio", rate="300 kbit/s", delay=None)
    session.complete().save(tmp_path / "led")
    lh.run(scenario).save(tmp_path / "plain")
    said = '[[change]]\nat = "6.0 s"\nlink = "radio"\nrate = "300 kbit/s"</pre>'.replace('"', "&#34;")
    for names, times in ((["led"], 1), (["plain"], 0), (["plain", "led"], 1)):
        text = page(tmp_path, *names).read_text(encoding="utf-8")
        assert text.count(said) == text.count("The caller of a session changed this on the way") == times
        assert (", changed once by a session" in text) == (names == ["led"])


def test_a_sweep_has_its_means_with_intervals(stored):
    made = drawn(page(stored, "swept"))
    goodput = made[0]["charts"][0]["series"][0]
    assert goodput["x"] == [20, 80]
    assert all(low <= y <= high for low, y, high in zip(goodput["low"], goodput["y"], goodput["high"], strict=True))


@pytest.mark.filterwarnings("error")
def test_a_picture_has_room_for_many_lines(tmp_path):
    scenario = lh.load(TEMPLATES / "two-flows.toml").with_({"duration": "31 s"})
    vary = {
        "link.radio.delay": ["20 ms", "80 ms"],
        "link.radio.rate": ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s", "4 Mbit/s"],
        "link.radio.loss.bernoulli.p": [0.0, 0.01, 0.02, 0.03],
    }
    lh.sweep(scenario, vary=vary, folder=tmp_path / "many")
    made = drawn(page(tmp_path, "many"))
    assert max(one["ratio"] for one in made) > 75 / 180


def test_times_of_long_runs_are_told_apart():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    axes.plot([2999.85, 2999.9, 2999.95], [1.234567, 2.0, 3.0])
    series = charts(axes.figure)[0]["series"][0]
    assert (series["x"], series["y"][0]) == ([2999.85, 2999.9, 2999.95], 1.2346)


def test_a_name_that_begins_with_an_underscore_is_in_the_list_of_names():
    from lasthop.report.runs import _alt

    one = lh.load(TEMPLATES / "two-flows.toml").with_({"flow.file.name": "_file"})
    axes = plot.throughput(lh.run(plot.recording(one)))
    assert [series["name"] for series in charts(axes.figure)[0]["series"]] == ["call", "_file"]
    assert _alt(axes).endswith(": call, _file")
    assert charts(axes.figure)[0]["words"] == []


def test_what_is_no_line_stays_a_picture():
    figure, axes = plot.figure()
    axes.bar([1, 2], [3, 4])
    assert charts(figure) is None
    figure, axes = plot.figure()
    axes.plot([0, 1], [0, 1])
    axes.plot([0, 1, 0.5], [0, 1, 2])
    assert charts(figure) is None, "a curve that turns back"
    figure, axes = plot.figure()
    axes.plot([2, 1, 0], [0, 1, 2])
    assert charts(figure)[0]["series"][0]["x"] == [0, 1, 2], "from right to left is a function of x"
    figure, axes = plot.figure()
    axes.plot([0, 1], [0, 1])
    axes.axis("off")
    assert charts(figure) is None, "a drawing without axes"


def test_a_chart_keeps_scales_bands_and_error_bars():
    figure, axes = plot.figure()
    axes.errorbar([1, 5, 10], [2, 2, 3], yerr=[0.5, np.nan, 1], label="mean", linestyle="--", marker="o")
    axes.fill_between([1, 10], [1, 2], [3, 4])
    axes.axvspan(2, 4, color="grey")
    axes.set(xscale="log", xlabel="x", ylabel="y", xlim=(1, 10))
    (chart,) = charts(figure)
    assert chart["x"]["log"] and not chart["y"]["log"] and chart["x"]["limits"] == [1, 10]
    mean, band = chart["series"]
    assert (mean["name"], mean["low"], mean["high"], mean["dash"]) == ("mean", [1.5, None, 2], [2.5, None, 4], [6, 3])
    assert (band["from"], band["to"]) == ([1, 2], [3, 4])
    assert chart["spans"][0]["x"] == [2, 4]
    figure, axes = plot.figure()
    axes.errorbar([3, 1], [0, 1], xerr=[0.5, 0.25], fmt="o")
    axes.errorbar([2], [2], xerr=[1], yerr=[0.5], fmt="s")
    one, both = charts(figure)[0]["series"]
    assert (one["x"], one["left"], one["right"], "low" in one) == ([1, 3], [0.75, 2.5], [1.25, 3.5], False)
    assert [both[end] for end in ("left", "right", "low", "high")] == [[1], [3], [1.5], [2.5]]


def test_a_chart_keeps_the_dashes_of_lines():
    figure, axes = plot.figure()
    for style in ("-", "--", ":", "-.", (0, (9, 2)), (0, (5, 1, 1, 1, 1, 1))):
        axes.plot([0, 1], [0, 1], linestyle=style)
    dashes = [one["dash"] for one in charts(figure)[0]["series"]]
    assert dashes[0] is None and dashes[1] == [6, 3]
    assert dashes[4] == [13.5, 3] and dashes[5] == [7.5, 1.5, 1.5, 1.5, 1.5, 1.5]
    assert len({str(one) for one in dashes}) == 6


def test_a_chart_keeps_the_shapes_of_markers():
    figure, axes = plot.figure()
    for marker in ("^", "s", "x", "o", ""):
        axes.plot([0, 1], [0, 1], marker=marker)
    up, square, cross, circle, none = [one["marker"] for one in charts(figure)[0]["series"]]
    # Up is down on a page.
    assert up == "M0 -0.5L-0.5 0.5L0.5 0.5Z"
    assert square == "M-0.5 0.5L0.5 0.5L0.5 -0.5L-0.5 -0.5Z"
    assert cross == "M-0.5 0.5L0.5 -0.5M-0.5 -0.5L0.5 0.5"
    assert circle.count("C") == 8 and none is None


def test_a_chart_keeps_words_and_lines_across_and_which_way_an_axis_runs():
    figure, axes = plot.figure()
    axes.plot([0, np.nan, 10], [1, 2, 3], label="Reno")
    axes.axvline(4, color="red", linestyle=":")
    axes.axhline(2.5)
    above = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    axes.annotate("to UMTS", (4, 1), xytext=(2, 0), va="bottom", rotation=90, **above)
    axes.annotate("12", (3, 2), ha="right", va="top", color="red")
    axes.annotate("Reno 3", (10, 3), xytext=(3, 0), textcoords="offset points")
    axes.set_ylim(5, -1)
    (chart,) = charts(figure)
    assert [(one["x"], one["y"]) for one in chart["series"]] == [([0, 10], [1, 3])]
    red, grey = chart["rules"]
    assert (red["x"], red["color"], red["dash"]) == (4, "#ff0000", [1.5, 3]) and grey["y"] == 2.5
    # A line's name at its end is in the list of names.
    over, at = chart["words"]
    assert (over["text"], over["x"], over["y"], over["by"]) == ("to UMTS", 4, 1, ["data", "axes"])
    assert over["shift"] == [2, 0] and over["upright"] and over["align"] == ["left", "bottom"]
    assert (at["text"], at["x"], at["y"], at["by"], at["shift"]) == ("12", 3, 2, ["data", "data"], [0, 0])
    assert at["align"] == ["right", "top"] and at["color"] == "#ff0000"
    assert chart["y"]["limits"] == [-1, 5] and chart["y"]["reversed"] and not chart["x"]["reversed"]
    for unknown in ({"arrowprops": {"arrowstyle": "->"}}, {"rotation": 30}, {"xycoords": "figure fraction"}):
        figure, axes = plot.figure()
        axes.plot([0, 1], [0, 1])
        axes.annotate("words", (0.5, 0.5), **unknown)
        assert charts(figure) is None, "what cannot be shown stays a picture"
    figure, axes = plot.figure()
    axes.plot([0, 1], [0, 1])
    axes.text(0, 0, "words")
    assert charts(figure) is None


def test_panels_of_one_axis_know_its_names():
    from matplotlib import pyplot

    figure, both = pyplot.subplots(1, 2, sharey=True)
    for axes in both:
        axes.plot([1, 2], [0, 1])
    both[0].set_yticks([0, 1], labels=["Reno", "SCReAM L4S, DualPI2"])
    left, right = charts(figure)
    pyplot.close(figure)
    assert left["y"]["ticks"] == right["y"]["ticks"] == [[0, "Reno"], [1, "SCReAM L4S, DualPI2"]]
    assert (left["y"]["named"], right["y"]["named"], right["x"]["named"]) == (True, False, True)


def test_the_command_says_what_it_cannot_do(lasthop, stored, tmp_path):
    lasthop.folder = stored
    assert lasthop("report", "slow").stderr == "wrote slow/report.html\n"
    assert "say with -o" in lasthop("report", "slow", "fast", code=2).stderr
    assert "holds a sweep" in lasthop("report", "slow", "swept", "-o", "x.html", code=2).stderr
    (stored / "mine.html").write_text("mine")
    assert "--force" in lasthop("report", "slow", "-o", "mine.html", code=2).stderr
    (tmp_path / "empty").mkdir()
    assert "manifest" in lasthop("report", tmp_path / "empty", code=2).stderr


@needs_browser
@pytest.mark.parametrize("names", [("slow",), ("slow", "fast"), ("swept",)], ids="-".join)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (360, True)])
def test_the_page_in_a_browser(stored, names, width, dark):
    path = page(stored, *names)
    assert path.stat().st_size < 3e6
    with opened(path, width=width, dark=dark) as browser:
        scrolled(browser)
        charts = sum(len(one["charts"]) for one in drawn(path))
        assert browser.execute_script("return document.querySelectorAll('.panel canvas').length") == charts
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
        assert accessible(browser) == []
        painted = "return performance.getEntriesByName('first-contentful-paint')[0].startTime"
        assert browser.execute_script(painted) < 1000 * SLOW
        # Something is drawn in each: pixels of more than one colour.
        blank = """return [...document.querySelectorAll('.panel canvas')].filter(one => {
            const at = one.getContext('2d').getImageData(0, 0, one.width, one.height).data, seen = new Set();
            for (let k = 0; k < at.length; k += 4) if (at[k + 3]) seen.add(at[k] << 16 | at[k + 1] << 8 | at[k + 2]);
            return seen.size < 8; }).length"""
        assert browser.execute_script(blank) == 0


@needs_browser
def test_the_name_of_an_axis_stands_apart_from_its_values(stored):
    """Columns of pixels without ink between the name of the axis upwards and what is written beside it."""
    with opened(page(stored, "slow")) as browser:
        scrolled(browser)
        apart = browser.execute_script("""
            return [...document.querySelectorAll('.panel')].map(panel => {
              const one = panel.querySelector('canvas'), box = panel.querySelector('.u-over');
              const wide = Math.round(box.offsetLeft * devicePixelRatio), high = one.height;
              const at = one.getContext('2d').getImageData(0, 0, wide, high).data, ink = [];
              for (let x = 0; x < wide; x++) {
                ink[x] = 0;
                for (let y = 0; y < high - 60; y++) if (at[4 * (y * wide + x) + 3] > 100) ink[x]++;
              }
              const first = ink.findIndex(one => one > 0), end = ink.findIndex((one, x) => x > first && one === 0);
              return ink.findIndex((one, x) => x > end && one > 0) - end;
            });""")
        assert apart and min(apart) >= 3


@needs_browser
def test_a_chart_shows_its_words_its_lines_across_and_its_axis_downwards(tmp_path):
    """Where there is red, on a panel whose points are black: in the middle, at the top right, elsewhere."""
    figure, axes = plot.figure()
    axes.plot([0, 10], [0, 1], color="black", linestyle="none", marker=".")
    axes.axvline(5, color="red", linewidth=3)
    axes.annotate("wwwww", (10, 0), xytext=(-3, -3), textcoords="offset points", ha="right", va="top", color="red")
    axes.set(xlim=(0, 10), ylim=(1, 0))
    shown = pages.figure("figure", figure, b"<svg xmlns='http://www.w3.org/2000/svg'/>", caption="", alt="", names=())
    made = pages.render("report/runs.html.j2", title="", pictures=[shown], scenarios={}, made={})
    (tmp_path / "figure.html").write_text(made, encoding="utf-8")
    with opened(tmp_path / "figure.html") as browser:
        scrolled(browser)
        red = browser.execute_script("""
            const one = document.querySelector('.panel canvas'), box = document.querySelector('.u-over');
            const [left, top] = [box.offsetLeft, box.offsetTop], wide = box.clientWidth, high = box.clientHeight;
            const at = one.getContext('2d').getImageData(left, top, wide, high).data, seen = [0, 0, 0];
            for (let k = 0; k < at.length; k += 4) if (at[k] > 150 && at[k + 1] < 100 && at[k + 3] > 150) {
              const x = k / 4 % wide / wide, y = Math.floor(k / 4 / wide) / high;
              if (Math.abs(x - 0.5) < 0.02) seen[0]++;
              else if (x > 0.7 && y < 0.3) seen[1]++;
              else seen[2]++;
            }
            return [...seen, high];""")
    rule, words, elsewhere, height = red
    assert rule >= 2 * height, "over the whole height"
    assert words > 30, "below the place that is highest, since the axis runs downwards"
    assert elsewhere == 0


@needs_browser
def test_a_chart_is_used_by_mouse_and_by_keys(stored):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    with opened(page(stored, "slow")) as browser:
        scrolled(browser)
        box = browser.find_element(By.CSS_SELECTOR, "#window .panel")
        read = "return document.querySelector('#window output').textContent"
        assert browser.execute_script(read) == ""
        for _ in range(30):
            box.send_keys(Keys.ARROW_RIGHT)
        value = float(browser.execute_script(read).replace("\u202f", ""))
        assert 1 <= value <= 100
        ticks = "return document.querySelector('#window canvas').toDataURL()"
        whole = browser.execute_script(ticks)
        box.send_keys("+")
        zoomed = browser.execute_script(ticks)
        assert zoomed != whole
        box.send_keys("0")
        assert browser.execute_script(ticks) == whole
        name = browser.find_element(By.CSS_SELECTOR, "#window .series button")
        name.click()
        hidden = browser.execute_script(ticks)
        assert name.get_attribute("aria-pressed") == "false" and hidden != whole
        name.click()
        assert name.get_attribute("aria-pressed") == "true" and browser.execute_script(ticks) == whole
        before = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        browser.find_element(By.ID, "theme").click()
        assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") != before
        # On paper there are the pictures.
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        stills = browser.find_elements(By.CSS_SELECTOR, "img.still")
        assert stills and all(one.is_displayed() and int(one.get_property("naturalWidth")) for one in stills)
        assert not browser.find_element(By.CSS_SELECTOR, ".panel").is_displayed()


@needs_browser
@pytest.mark.parametrize("name", ["slow", "swept"])
def test_tables_fit_on_paper(stored, name):
    """A4 without its margins is 718 px wide. Beside that there is the padding of the page."""
    with opened(page(stored, name), width=718) as browser:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        browser.execute_script("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        sizes = "return [...document.querySelectorAll('table')].map(one => [one.rows[0].cells.length, one.offsetWidth])"
        tables = browser.execute_script(sizes)
        assert max(tables)[0] > 20
        assert all(width <= 718 for _, width in tables), tables
