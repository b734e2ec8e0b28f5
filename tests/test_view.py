"""Replays: the hops of packets, and the page in a browser."""

from __future__ import annotations

import json
import re

import click
import lasthop as lh
import numpy as np
import pytest
from browser import accessible, needs_browser, opened
from conftest import ROOT
from lasthop import view
from lasthop.cli.view import view as command
from lasthop.files import OutputRefused
from lasthop.view.legs import legs
from lasthop.view.times import seconds

TEMPLATES = ROOT / "python" / "lasthop" / "templates"


def chain(**more):
    """Datagrams of 1,000 B every 10 ms over 10 Mbit/s and 5 ms, then over 1 Mbit/s and 20 ms."""
    return lh.load(
        {
            "duration": "2 s",
            "link": [
                {"name": "fast", "between": ["a", "b"], "rate": "10 Mbit/s", "delay": "5 ms"},
                {
                    "name": "slow",
                    "between": ["b", "c"],
                    "rate": "1 Mbit/s",
                    "delay": "20 ms",
                    "queue": {"droptail": {"limit": "5 packets"}},
                },
            ],
            "flow": [
                {
                    "name": "f",
                    "from": "a",
                    "to": "c",
                    "transport": "udp",
                    "source": {"cbr": {"size": "972 B", "interval": "10 ms"}},
                }
            ],
            **more,
        }
    )


def of(result, **more):
    links = [("a", "b"), ("b", "c")]
    return legs(result.packets, links, more.get("begin", 0.0), more.get("end", 10.0), more.get("most", 10**6))


def between(way, one, other):
    return np.array([way.nodes[way.hops[h][0]] == one and way.nodes[way.hops[h][1]] == other for h in way.hop])


def test_hops_last_as_long_as_links_take():
    result = lh.run(view.recording(chain()))
    way = of(result)
    first, second = between(way, "a", "b"), between(way, "b", "c")
    assert first.sum() == 200
    # 1,000 B at 10 Mbit/s and 5 ms; at 1 Mbit/s and 20 ms. Nothing waits.
    assert np.allclose((way.came - way.left)[first], 0.8e-3 + 5e-3)
    assert np.allclose((way.came - way.left)[second], 8e-3 + 20e-3)
    assert np.allclose(way.flight, way.came - way.left)
    assert not way.dropped.any() and way.data.all()


def test_what_takes_longer_has_waited():
    # Two flows at once: of each pair the second waits for the first to be sent.
    one = chain().to_dict()["flow"][0]
    result = lh.run(view.recording(chain(flow=[one, {**one, "name": "g"}])))
    way = of(result)
    second = between(way, "b", "c")
    waited = (way.came - way.left - way.flight)[second & ~way.dropped]
    assert waited.min() == pytest.approx(0, abs=1e-9)
    assert waited.max() <= 6 * 8e-3
    # 200 packets a second come and 125 go: the others are dropped where they would go on.
    dropped = second & way.dropped
    assert dropped.sum() == result.links["drops"].sum() > 0


@pytest.mark.parametrize("begin", [0.0, 10.0])
def test_what_waits_is_what_the_queue_holds(begin):
    """Also where the queue never empties, and across a change of the link."""
    link = {"name": "radio", "between": ["a", "b"], "rate": "2 Mbit/s", "delay": "40 ms"}
    queue = {"droptail": {"limit": "64 kB"}}
    changes = [{"at": "14 s", "link": "radio", "rate": "1 Mbit/s", "delay": "90 ms"}]
    flow = {"name": "f", "from": "a", "to": "b"}
    result = lh.run(
        view.recording(lh.load(duration="20 s", link=[{**link, "queue": queue}], flow=[flow], change=changes))
    )
    way = legs(result.packets, [("a", "b")], begin, 20.0, 10**6, result.series)
    there = between(way, "a", "b") & ~way.dropped
    lengths = []
    for row in result.series.where(name="radio a>b", quantity="queue_packets"):
        # Those that come after the end of the run are not on it.
        if begin < row["time_s"] < 19.0:
            waiting = there & (way.left <= row["time_s"]) & (way.came - way.flight > row["time_s"])
            assert abs(waiting.sum() - row["value"]) <= 1, row
            lengths.append(row["value"])
    assert np.median(lengths) > 20


def test_what_stands_in_front_of_a_radio_waits():
    """An up-link of 1.5 Mbit/s to satellites is never idle here: a packet or two are on it, all others wait."""
    scenario = view.recording(lh.load(TEMPLATES / "satellite.toml").with_({"duration": "25 s"}))
    result = lh.run(scenario)
    way = legs(result.packets, [], 20.0, 25.0, 10**6, result.series)
    queues = result.series.where(kind="link", quantity="queue_packets")
    busy = [row for row in queues if 20.5 < row["time_s"] < 24.5 and row["value"] > 20]
    assert busy
    for row in busy:
        node = row["name"].removesuffix(" up")
        here = np.array([way.nodes[way.hops[hop][0]] == node for hop in way.hop]) & ~way.dropped
        there = here & (way.left <= row["time_s"]) & (way.came > row["time_s"])
        waiting = there & (way.came - way.flight > row["time_s"])
        assert abs(waiting.sum() - row["value"]) <= 3, row


def test_means_are_drawn_over_their_intervals():
    result = lh.run(view.recording(chain()).with_({"record.series": "0.5 s"}))
    curves = {curve["label"]: curve for curve in view._curves(result, 0.6, 1.2)}
    throughput = curves["throughput (kbit/s)"]
    # Up to 1 s, and up to 1.5 s, within which the end lies.
    assert (throughput["step"], throughput["lines"][0]["x"]) == (-1, [0.4, 0.9])
    assert all(curve["step"] == 1 for label, curve in curves.items() if not label.startswith("throughput"))


def test_a_run_in_which_nothing_was_sent_is_told(tmp_path):
    link = {"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s"}
    with pytest.raises(ValueError, match="no packet was sent"):
        view.write_view(lh.run(view.recording(lh.load(duration="1 s", link=[link]))), tmp_path / "view.html")


def test_a_part_of_the_run_and_the_first_hops_of_many():
    result = lh.run(view.recording(chain()))
    way = of(result, begin=1.0, end=1.5)
    assert way.came.min() >= 1.0 and way.left.max() <= 1.5
    assert way.left.min() < 1.0, "some were under way"
    assert len(of(result, most=17).left) == 17


def test_packets_to_a_group_go_to_each_receiver():
    result = lh.run(view.recording(lh.load(TEMPLATES / "mbms.toml")).with_({"duration": "5 s"}))
    way = legs(result.packets, [("server", "rnc")], 0, 5, 10**6)
    pairs = {(way.nodes[one], way.nodes[other]) for one, other in way.hops}
    assert {("server", "rnc"), *(("rnc", f"{cell}.ue[{n}]") for cell in ("near", "far") for n in range(3))} <= pairs
    assert not any(one.startswith(("near", "far")) and other.startswith(("near", "far")) for one, other in pairs)


def test_recorded_hops_are_the_nodes_of_the_way():
    packets = lh.run(view.recording(chain())).packets
    assert [(row["event"], row["place"]) for row in packets.rows() if row["number"] == 1 and row["kind"] == "data"] == [
        ("sent", "a"),
        ("forwarded", "a"),
        ("forwarded", "b"),
        ("received", "c"),
    ]


def told_by(path):
    (told,) = re.findall(r'<script[^>]*id="told"[^>]*>(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(told)


def test_changes_stand_in_the_order_of_their_times(tmp_path):
    """The page names the last one that has been: of changes that repeat they alternate."""
    repeat = {"link": "slow", "repeat": {"every": "600 ms", "times": 2}}
    changes = [
        {"at": "300 ms", "rate": "2 Mbit/s", **repeat},
        {"at": "600 ms", "rate": "1 Mbit/s", **repeat},
        {"at": "100 ms", "link": "fast", "delay": "9 ms"},
    ]
    path = view.write_view(lh.run(view.recording(chain(change=changes))), tmp_path / "view.html", begin=0.2)
    events = told_by(path)["events"]
    assert [event["at"] for event in events] == pytest.approx([0.1, 0.4, 0.7, 1.0])
    assert [event["said"].split(", ")[1] for event in events] == ["rate 2 Mbit/s", "rate 1 Mbit/s"] * 2


def test_what_a_session_changed_stands_among_the_changes(tmp_path):
    session = lh.Session(view.recording(chain(change=[{"at": "1 s", "link": "slow", "rate": "3 Mbit/s"}])))
    for at, rate in (("500 ms", "2 Mbit/s"), ("1 s", "4 Mbit/s"), ("1.5 s", "1 Mbit/s")):
        session.advance_to(at)
        session.change("slow", rate=rate, loss=None)
    session.complete().save(tmp_path / "run")
    path = view.write_view(lh.Result.load(tmp_path / "run"), tmp_path / "view.html", begin=0.2)
    events = told_by(path)["events"]
    assert [event["at"] for event in events] == pytest.approx([0.3, 0.8, 0.8, 1.3])
    by = "changed by the caller: link slow, rate "
    assert [event["said"] for event in events if event["said"].startswith("changed")] == [
        by + rate for rate in ("2 Mbit/s", "4 Mbit/s", "1 Mbit/s")
    ]
    # The scenario's change comes behind that of the session, as it did in the run.
    assert events[2]["said"].startswith("link slow, rate 3 Mbit/s")


def test_flows_keep_their_places_and_lines_left_out_are_counted(tmp_path):
    """Flows come in the scenario's order, also in a part of the run that begins with another one."""
    one = chain().to_dict()["flow"][0]
    late = {**one, "name": "late", "start": "1 s"}
    more = [{"name": f"t{n}", "from": "a", "to": "c"} for n in range(9)]
    result = lh.run(view.recording(chain(flow=[late, one, *more])))
    told = told_by(view.write_view(result, tmp_path / "view.html", end=0.5))
    assert told["flows"] == ["late", "f", *(flow["name"] for flow in more)]
    (windows,) = [curve for curve in told["curves"] if curve["label"].startswith("congestion")]
    assert (len(windows["lines"]), windows["of"]) == (8, 9)


def test_times_of_scenarios_are_read():
    for text, value in {"30 s": 30, "1.5 ms": 1.5e-3, "2 min": 120, "7 ns": 7e-9, "1 h": 3600, "3 us": 3e-6}.items():
        assert seconds(text) == pytest.approx(value)


def test_the_command(lasthop, tmp_path):
    assert lasthop("view", TEMPLATES / "two-flows.toml", "--to", "3", "-q").stderr == ""
    page = tmp_path / "out" / "two-flows" / "view.html"
    assert page.stat().st_size < 3e6
    lh.run(chain()).save(tmp_path / "bare")
    assert "record.hops = true" in lasthop("view", "bare", code=2).stderr
    lh.run(view.recording(chain())).save(tmp_path / "kept")
    for words in (("--from", "5"), ("--from", "1", "--to", "1"), ("--from", "-1")):
        assert "the run has 2 s" in lasthop("view", "kept", *words, code=2).stderr
    assert lasthop("view", "kept").stderr == "wrote kept/view.html\n"
    assert "--force" in lasthop("view", "kept", "-o", "kept/view.html", code=2).stderr


def test_a_folder_with_a_replay_alone_takes_results(lasthop, busy):
    lasthop("view", busy, "--to", "1", "-q")
    lasthop("run", busy, "-o", "out/busy")
    assert (lasthop.folder / "out" / "busy" / "view.html").exists()
    assert lh.Result.load(lasthop.folder / "out" / "busy").name == "busy"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "there.html"], "there.html exists"),
        (["--from", "10"], "the run has 10 s"),
        (["--from", "2", "--to", "1"], "nothing to show from 2 s to 1 s"),
    ],
)
def test_what_makes_no_page_is_said_before_the_run(busy, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.html").touch()
    monkeypatch.setattr("lasthop.runs.run", lambda *_, **__: pytest.fail("it ran"))
    with pytest.raises((click.UsageError, OutputRefused), match=said):
        command.main([str(busy), *words], standalone_mode=False)


@needs_browser
@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("template", ["two-flows", "umts-cell", "hsdpa", "satellite"])
def test_a_replay_in_a_browser(tmp_path, template, width):
    result = lh.run(view.recording(lh.load(TEMPLATES / f"{template}.toml")))
    path = view.write_view(result, tmp_path / "view.html", end=40.0)
    with opened(path, width=width, dark=width < 500) as browser:
        # A finger on the map moves the page, but on a globe, which it turns; along the curves it seeks.
        touch = "return getComputedStyle(document.querySelector(arguments[0])).touchAction"
        assert browser.execute_script(touch, "#map") == ("none" if template == "satellite" else "auto")
        assert browser.execute_script(touch, "#curves .u-over") == "pan-y"
        drawn = """const map = document.querySelector('#map'), seen = new Set();
            const at = map.getContext('2d').getImageData(0, 0, map.width, map.height).data;
            for (let k = 0; k < at.length; k += 4) if (at[k + 3]) seen.add(at[k] << 16 | at[k + 1] << 8 | at[k + 2]);
            return seen.size"""
        browser.execute_script("replay.seek(replay.total / 2)")
        assert browser.execute_script(drawn) > 10
        state = "return document.querySelector('#state').textContent"
        middle = browser.execute_script(state)
        assert "packets fly" in middle
        if template == "hsdpa":
            assert "served: hsdpa.ue[" in middle
        browser.execute_script("replay.seek(0)")
        assert browser.execute_script(state) != middle
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
        assert browser.execute_script("return document.querySelectorAll('#curves canvas').length") >= 2
        assert accessible(browser) == []


@needs_browser
def test_names_on_the_map_are_not_cut(tmp_path):
    link = {"name": "radio", "between": ["server", "terminal-in-the-cell"], "rate": "1 Mbit/s"}
    flow = {"from": "server", "to": "terminal-in-the-cell"}
    result = lh.run(view.recording(lh.load(duration="2 s", link=[link], flow=[flow])))
    with opened(view.write_view(result, tmp_path / "view.html")) as browser:
        browser.execute_script("""window.right = 0;
            const before = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
              if (this.canvas.id === "map") window.right = Math.max(window.right, x + this.measureText(text).width);
              before.call(this, text, x, y);
            }""")
        browser.execute_script("replay.seek(1)")
        assert browser.execute_script("return right > 0 && right <= document.querySelector('#map').clientWidth")


@needs_browser
def test_a_replay_plays_and_seeks(tmp_path):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    result = lh.run(view.recording(lh.load(TEMPLATES / "two-flows.toml")))
    path = view.write_view(result, tmp_path / "view.html")
    with opened(path) as browser:
        time = "return Number(document.querySelector('#time').value)"
        play = browser.find_element(By.ID, "play")
        play.click()
        assert play.text == "Pause"
        WebDriverWait(browser, 30).until(lambda _: browser.execute_script(time) > 0.5)
        play.click()
        stood = browser.execute_script(time)
        assert browser.execute_script(time) == stood and play.text == "Play"
        browser.find_element(By.ID, "map").send_keys(Keys.ARROW_RIGHT)
        assert browser.execute_script(time) > stood
        # A press in the curves seeks.
        from selenium.webdriver import ActionChains

        over = browser.find_element(By.CSS_SELECTOR, "#curves .u-over")
        ActionChains(browser).move_to_element(over).click().perform()
        assert browser.execute_script(time) == pytest.approx(30.0, abs=0.5)
        # Each of a hundred instants is drawn.
        frames = "return replay.frames()"
        before = browser.execute_script(frames)
        browser.execute_script("for (let k = 0; k < 100; k++) replay.seek(replay.total * k / 100)")
        assert browser.execute_script(frames) == before + 100
