"""Controllers in Python: the bytes of a built-in one, the errors of wrong ones, sweeps and their identity."""

from __future__ import annotations

import importlib
import json
import random
import re
import shutil
import textwrap
from itertools import pairwise
from pathlib import Path

import lasthop as lh
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lasthop.controller import resolve, sources

#: Controllers whose costs are measured (`make bench-controllers`); NewReno is the window of RFC 5681.
MEASURED = Path(__file__).resolve().parents[1] / "benches" / "controllers" / "mine.py"

MODULE = '''
import lasthop


class Mine(lasthop.Controller):
    """Keeps about 20 ms in the queue."""

    def __init__(self, target=0.020):
        self.target = target

    def on_ack(self, m):
        if m.rtt is None:
            return
        step = m.acked * m.segment / self.window
        step = step if m.rtt - m.min_rtt < self.target else -step
        self.window = max(self.window + step, m.segment)
        self.pacing_rate = 1.2 * 8 * self.window / m.srtt

    def on_loss(self, m):
        self.window *= 0.7


class Drawn(lasthop.Controller):
    """A window at random."""

    def on_ack(self, m):
        return self.random.uniform(1, 50) * m.segment


class NoController:
    pass
'''


def scenario(congestion, *, loss=0.002, duration="30 s", **tcp):
    return {
        "duration": duration,
        "link": [
            {
                "name": "radio",
                "between": ["server", "mobile"],
                "rate": "5 Mbit/s",
                "delay": "20 ms",
                "queue": {"droptail": {"limit": "40 kB"}},
                "loss": {"bernoulli": {"p": loss}},
            }
        ],
        "flow": [
            {
                "name": "f",
                "from": "server",
                "to": "mobile",
                "transport": {"tcp": {"recovery": "newreno", "congestion": congestion, **tcp}},
            }
        ],
        "record": {"packets": True},
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the module, in which the test works."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mycc.py").write_text(MODULE)
    shutil.copy(MEASURED, tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("loss", [0.0, 0.002, 0.05])
def test_newreno_in_python_gives_the_bytes_of_the_built_in_one(loss):
    mine = lh.run(scenario({"python": "mine:NewReno"}, loss=loss))
    theirs = lh.run(scenario("reno", loss=loss))
    assert mine.packets.to_arrow().equals(theirs.packets.to_arrow())
    assert theirs.flows["received_packets"][0] > 500
    assert mine.flows["transport"] == ["tcp newreno+NewReno"]


@pytest.mark.usefixtures("folder")
def test_a_delay_target_is_kept():
    """Of a round trip 42.5 ms are propagation and transmission; a full queue takes 64 ms more."""
    found = {
        target: lh.run(
            scenario({"python": {"class": "mycc:Mine", "options": {"target": target}}}, loss=0, duration="9 s")
        ).flows.rows()[0]
        for target in (0.010, 0.030)
    }
    for target, flow in found.items():
        assert 42 < flow["rtt_ms_p50"] < 45 + 1.3e3 * target, flow
        assert flow["goodput_kbps"] > 4_000
    assert found[0.010]["rtt_ms_p50"] < found[0.030]["rtt_ms_p50"]


def test_a_class_of_the_program_itself():
    class Fixed(lh.Controller):
        def start(self, setting):
            self.window = 4 * setting.segment
            assert (setting.flow, setting.seed) == ("f", 7)

        def on_loss(self, m):
            pass

    flow = lh.run(scenario(Fixed, loss=0), seed=7).flows.rows()[0]
    # Four segments of 1460 B in a round trip of 40 ms and the transmission of one of 1500 B.
    assert flow["goodput_kbps"] == pytest.approx(8 * 4 * 1460 / (40 + 2.4 + 0.064), rel=0.02)
    again = lh.load(scenario("reno")).with_({"flow.f.transport.tcp.congestion": Fixed})
    assert lh.run(again, seed=7).flows["transport"] == ["tcp newreno+Fixed"]


def test_what_start_returns_counts_as_what_other_calls_return():
    class Fixed(lh.Controller):
        def start(self, setting):
            return self.first(4 * setting.segment)

        def on_loss(self, m):
            pass

    def goodput(first):
        made = type("Fixed", (Fixed,), {"first": staticmethod(first)})
        return lh.run(scenario(made, loss=0)).flows["goodput_kbps"][0]

    window = 8 * 4 * 1460 / (40 + 2.4 + 0.064)
    assert goodput(lambda window: window) == pytest.approx(window, rel=0.02)
    assert goodput(lambda window: (window, 300e3)) == pytest.approx(300 * 1460 / 1500, rel=0.05)
    with pytest.raises(lh.ControllerError, match="window is 'junk': it must be a number"):
        goodput(lambda _: "junk")


@pytest.mark.parametrize(
    ("every", "calls"), [("ack", 1.0), ("8 acks", 1 / 8), ("10 ms", None), ("rtt", None), ("rtt/4", None)]
)
def test_calls_come_at_the_pace_that_is_asked_for(every, calls):
    seen = []

    class Counting(lh.Controller):
        def start(self, setting):
            self.window = 60 * setting.segment

        def on_ack(self, m):
            seen.append((m.now, m.acked, m.srtt, m.packets_acked))

        def on_loss(self, m):
            pass

    Counting.every = every
    result = lh.run(scenario(Counting, loss=0, duration="10 s", window=25))
    acked = result.flows["acked_bytes"][0]
    assert sum(one[1] for one in seen) == pytest.approx(acked, abs=30 * 1460)
    if calls:
        assert len(seen) == pytest.approx(calls * acked / 1460, rel=0.02)
        return
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(seen[len(seen) // 2 :])]
    wanted = {"10 ms": 0.010, "rtt": seen[-1][2], "rtt/4": seen[-1][2] / 4}[every]
    # The first acknowledgement at or past the boundary; they are 2.4 ms apart.
    assert wanted <= min(gaps) + 1e-9 and max(gaps) < wanted + 0.0025


def test_measurements_mean_what_they_say():
    last = {}

    class Watching(lh.Controller):
        every = "rtt"

        def start(self, setting):
            self.window = 60 * setting.segment

        def on_ack(self, m):
            last.update({name: getattr(m, name) for name in dir(m) if not name.startswith("_")}, shown=repr(m))

        def on_loss(self, m):
            pass

    lh.run(scenario(Watching, loss=0, duration="20 s", window=25))
    # A window of 25 segments fills the link: 1460 of 1500 B are payload; the queue holds what is beyond the path.
    assert last["delivery_rate"] == pytest.approx(5e6 * 1460 / 1500, rel=0.02)
    assert last["send_rate"] == pytest.approx(last["delivery_rate"], rel=0.05)
    assert last["inter_ack"] == pytest.approx(1500 * 8 / 5e6, rel=0.02)
    assert last["rtt"] == pytest.approx(25 * 1500 * 8 / 5e6, rel=0.05)
    assert last["rtt_min"] <= last["rtt"] and last["segment"] == 1460 and last["in_flight"] <= 25 * 1460
    assert last["acked"] == pytest.approx(25 * 1460, rel=0.1) and last["lost"] == last["packets_ce"] == 0
    assert last["pacing_rate"] is None and not last["recovering"] and "srtt=0.0" in last["shown"]


WRONG = {
    "raises": ("raise KeyError('queue')", "KeyError: 'queue'"),
    "not a number": ("self.window = float('nan')", "window is NaN"),
    "infinite": ("self.window = float('inf')", "window is inf"),
    "negative and infinite": ("return float('-inf')", "window is -inf"),
    "text": ("self.window = 'wide'", "window is 'wide': it must be a number"),
    "no rate": ("self.pacing_rate = 0", "pacing_rate is 0: it must be a finite number of bit/s above 0, or None"),
    "a negative rate": ("self.pacing_rate = -8e3", "pacing_rate is -8000"),
    "three values": ("return 1, 2, 3", "3 values were returned"),
    "reads only": ("m.acked = 5", "AttributeError"),
    "deletes": ("del self.window", "AttributeError"),
}


@pytest.mark.parametrize("body", WRONG)
def test_a_wrong_answer_ends_the_run_and_names_place_and_instant(folder, lasthop, body):
    line, says = WRONG[body]
    (folder / "bad.py").write_text(
        f"import lasthop\nclass Bad(lasthop.Controller):\n    def on_ack(self, m):\n        {line}\n"
    )
    with pytest.raises(lh.ControllerError, match=r"on_ack of flow f at 0\.0") as caught:
        lh.run(scenario({"python": "bad:Bad"}))
    assert says in str(caught.value)
    assert caught.value.flow == "f" and caught.value.hook == "on_ack" and 0.04 < caught.value.time_s < 0.1
    assert isinstance(caught.value.__cause__, Exception)
    lasthop.folder = folder
    (folder / "wrong.json").write_text(json.dumps(scenario({"python": "bad:Bad"})))
    done = lasthop("run", "wrong.json", "-o", "out", code=1)
    assert says in done.stderr and "Traceback" not in done.stderr and len(done.stderr.splitlines()) <= 3
    assert not (folder / "out").exists() or not list((folder / "out").iterdir())


def test_a_local_class_of_the_other_kind_is_named():
    class Local(lh.MediaController):
        pass

    with pytest.raises(lh.ScenarioError, match="Local is no class derived from lasthop"):
        lh.run(scenario(Local))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing:Here", "cannot be imported"),
        ("mycc:Nobody", "mycc has no Nobody"),
        ("mycc:NoController", "no class derived from lasthop.Controller"),
        ("mycc", "names no class"),
        ("broken:Any", "SyntaxError"),
        ("json:loads", "no class derived"),
    ],
)
def test_what_is_no_controller_is_refused_before_anything_runs(folder, lasthop, name, says):
    (folder / "broken.py").write_text("def\n")
    lines = textwrap.dedent(
        f"""
        duration = "1 s"
        [[link]]
        name = "l"
        between = ["a", "b"]
        rate = "1 Mbit/s"
        [[flow]]
        from = "a"
        to = "b"
        transport.tcp.congestion.python = "{name}"
        """
    )
    (folder / "s.toml").write_text(lines)
    lasthop.folder = folder
    error = lasthop("check", "s.toml", code=2).stderr
    assert says in error and "s.toml:10" in error, error


@pytest.mark.parametrize(
    ("base", "method", "says"),
    [
        (lh.Controller, "on_acks", "lasthop.Controller never calls: did you mean on_ack?"),
        (lh.Controller, "on_feedback", "lasthop.Controller never calls: lasthop.MediaController does"),
        (lh.MediaController, "on_quiet", "lasthop.MediaController never calls: did you mean on_feedback?"),
    ],
)
def test_a_method_that_is_never_called_is_refused(base, method, says):
    with pytest.raises(TypeError, match=f"Mine has {method}, which {re.escape(says)}"):
        type("Mine", (base,), {method: len})
    mixed = type("Mixed", (), {method: len})
    with pytest.raises(TypeError, match=f"Mine has {method}"):
        type("Mine", (mixed, base), {})
    called = "on_ack" if base is lh.Controller else "on_feedback"
    type("Mine", (type("Mixed", (), {called: len}), base), {"once": len})


@pytest.mark.usefixtures("folder")
def test_options_that_the_class_does_not_take():
    wrong = scenario({"python": {"class": "mycc:Mine", "options": {"aim": 1}}})
    with pytest.raises(lh.ControllerError, match=r"start of flow f at 0 s: TypeError.*aim"):
        lh.run(wrong)


@pytest.mark.parametrize("every", ["", "0 acks", "-1 ms", "rtt/0", "often", "rtt/x"])
def test_a_pace_that_is_none(every):
    kind = type("Odd", (lh.Controller,), {"every": every})
    with pytest.raises(lh.ControllerError, match="every ="):
        lh.run(scenario(kind))


def test_a_call_that_touches_its_own_run():
    box = []

    class Curious(lh.Controller):
        def on_ack(self, m):
            box[0].advance("1 s")

    box.append(lh.Session(scenario(Curious)))
    with pytest.raises(lh.ControllerError, match="inside a call of its controller"):
        box[0].complete()


def test_ctrl_c_in_a_call_ends_the_run():
    class Interrupted(lh.Controller):
        def on_ack(self, m):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lh.run(scenario(Interrupted))


@pytest.mark.parametrize("window", [1, 0, -1304.38, -1e300])
def test_a_window_below_a_segment_counts_as_one(window):
    kept = []

    class Tiny(lh.Controller):
        def on_ack(self, m):
            kept.append((self.window, m.window))
            return window

    result = lh.run({**scenario(Tiny, loss=0, duration="5 s"), "record": {"state": True}})
    raised = result.tables["state"].where(quantity="window_raised")["value"][0]
    # One segment in a round trip of 42.5 ms.
    assert raised > 50 and result.flows["received_packets"][0] == pytest.approx(5 / 0.0425, rel=0.1)
    assert set(kept[1:]) == {(window, 1460)}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("rate", ["100 kbit/s", "1 Mbit/s", "10 Mbit/s"])
def test_a_delay_target_beside_a_flow_that_fills_the_queue(rate):
    """The delay stays above the target, so the window falls as far as it can: to one segment, with a rate above 0."""
    link = {"name": "l", "between": ["a", "b"], "rate": rate, "delay": "20 ms"}
    mine = {"name": "mine", "from": "a", "to": "b", "transport": {"tcp": {"congestion": {"python": "mycc:Mine"}}}}
    other = {"name": "other", "from": "a", "to": "b", "start": "10 s", "transport": "tcp"}
    flows = lh.run({"duration": "60 s", "link": [link], "flow": [mine, other]}).flows
    assert all(goodput > 0 for goodput in flows["goodput_kbps"])


@pytest.mark.usefixtures("folder")
def test_randomness_is_that_of_the_seed():
    drawn = {"python": "mycc:Drawn"}
    one, same, other = (lh.run(scenario(drawn), seed=seed).packets.to_arrow() for seed in (1, 1, 2))
    random.random()
    assert one.equals(same) and not one.equals(other)


def test_spurious_timeouts_put_the_controller_back():
    """The delay steps from 20 to 1500 ms: the timer expires, and Eifel finds that nothing was lost."""
    windows = []

    class Growing(lh.Controller):
        def on_ack(self, m):
            self.window += m.acked / 10

        def on_timeout(self, m):
            self.window = m.segment

        def on_undo(self, m):
            windows.append((self.window, m.flight))

    steps = scenario(Growing, loss=0, spurious="eifel", window=25) | {
        "change": [{"at": "3 s", "link": "radio", "delay": "1500 ms"}]
    }
    result = lh.run(steps)
    assert result.flows["detected_spurious_timeouts"][0] >= 1
    assert windows and all(window > 10 * 1460 and flight > 1460 for window, flight in windows)


def test_sweeps_give_the_same_with_processes_and_know_another_text(folder, lasthop):
    (folder / "s.json").write_text(json.dumps({**scenario({"python": "mycc:Mine"}, duration="3 s"), "name": "s"}))
    vary = {"link.radio.delay": ["10 ms", "40 ms"]}
    one = lh.sweep(folder / "s.json", vary=vary, seeds=2, threads=1)
    lasthop.folder = folder
    words = ("sweep", "s.json", "--vary", "link.radio.delay=10 ms,40 ms", "--seeds", "2", "-o", "swept", "-q")
    lasthop(*words)
    assert lh.Sweep.load(folder / "swept").flows.to_arrow().equals(one.flows.to_arrow())
    (folder / "mycc.py").write_text(MODULE.replace("0.7", "0.5"))
    assert "was begun by" in lasthop(*words, code=2).stderr
    built_in = lh.sweep(folder / "s.json", vary={"flow.f.transport.tcp.congestion": ["cubic", lh.Controller]}, seeds=1)
    assert set(built_in.flows["transport"]) == {"tcp newreno+cubic", "tcp newreno+Controller"}


@pytest.mark.parametrize("name", ["runs with py", "a with b with c"])
def test_a_controller_lies_beside_its_scenario_whatever_the_folder_is_called(folder, name):
    """A sweep calls its points by the file and what is changed: `FOLDER/s.json with KEY = VALUE`."""
    beside = folder / name
    beside.mkdir()
    (folder / "mycc.py").rename(beside / "beside.py")
    (beside / "s.json").write_text(json.dumps({**scenario("reno", duration="3 s"), "name": "s"}))
    mine = {"python": {"class": "beside:Mine", "options": {"target": 0.03}}}
    s = lh.sweep(beside / "s.json", vary={"flow.f.transport.tcp.congestion": ["reno", mine]}, threads=1)
    assert s.flows["transport"].tolist() == ["tcp newreno+reno", "tcp newreno+Mine"]


@pytest.mark.parametrize("value", ["20 ms", "../x with y/z", "/" + "long" * 200 + "/b"])
def test_a_value_that_looks_like_a_path_is_none(folder, value):
    (folder / "a with b").mkdir()
    (folder / "mycc.py").rename(folder / "a with b" / "aside.py")
    mine = {**scenario("reno"), "name": "s"}
    mine["flow"][0]["transport"]["tcp"]["congestion"] = {"python": {"class": "aside:Mine"}}
    (folder / "a with b" / "s.json").write_text(json.dumps(mine))
    made = lh.load(folder / "a with b" / "s.json").changed({"description": value}, called=f"s with key = {value}")
    assert sources(made.to_dict(), made.origin).keys() == {"aside:Mine"}


def test_check_says_what_makes_runs_differ(folder, lasthop):
    (folder / "mycc.py").write_text("import time\n" + MODULE)
    (folder / "s.json").write_text(json.dumps(scenario({"python": "mycc:Mine"})))
    lasthop.folder = folder
    assert "line 1 imports time" in lasthop("check", "s.json").stderr


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.floats(), st.integers(), st.none(), st.text(max_size=3), st.booleans()), max_size=4))
def test_whatever_is_answered_there_is_a_result_or_an_error(answers):
    left = list(answers)

    class Any(lh.Controller):
        every = "ack"

        def on_ack(self, m):
            return left.pop() if left else None

    try:
        result = lh.run(scenario(Any, duration="2 s"))
    except lh.ControllerError as error:
        assert error.hook == "on_ack"
    else:
        assert result.flows["received_packets"][0] > 0


def test_the_class_is_where_people_look():
    assert lh.Controller is importlib.import_module("lasthop.controller").Controller


MEDIA = '''
import lasthop


class Fixed(lasthop.MediaController):
    """One rate, whatever is reported."""

    def __init__(self, rate=400e3):
        self.rate = rate

    def on_feedback(self, m):
        return self.rate


class Watcher(lasthop.MediaController):
    """Keeps what it is told."""

    seen = []

    def start(self, setting):
        Watcher.seen.clear()
        Watcher.setting = setting

    def on_feedback(self, m):
        packets = [(p.number, p.sent_at, p.arrival, p.ecn) for p in m.packets]
        Watcher.seen.append((m.now, m.in_flight, m.rtt, m.link_changed, packets))


class Wrong(lasthop.MediaController):
    def on_feedback(self, m):
        return float("nan")


class Windowed(lasthop.MediaController):
    def __init__(self, window):
        self.window = window

    def on_feedback(self, m):
        pass


class Raises(lasthop.MediaController):
    def on_feedback(self, m):
        raise KeyError("nothing")
'''


def call(congestion, *, duration="10 s", source=None, **media):
    quiet = {"size_deviation": 0, "interval_deviation": 0, "burst": 1}
    return {
        "duration": duration,
        "link": [{"name": "radio", "between": ["server", "mobile"], "rate": "2 Mbit/s", "delay": "50 ms"}],
        "flow": [
            {
                "name": "call",
                "from": "server",
                "to": "mobile",
                "transport": {"media": {"congestion": {"python": congestion}, **media}},
                "source": {"encoder": {**quiet, **(source or {})}},
            }
        ],
    }


@pytest.fixture
def media(folder):
    (folder / "mymedia.py").write_text(MEDIA)
    return folder


@pytest.mark.usefixtures("media")
@pytest.mark.parametrize(("rate", "kbps"), [(400e3, 400), (1e9, 1500), (1.0, 150)])
def test_an_encoder_follows_a_controller_within_its_bounds(rate, kbps):
    result = lh.run(call({"class": "mymedia:Fixed", "options": {"rate": rate}}, duration="20 s"))
    media = result.media.rows()[0]
    # The target counts RTP's 12 bytes of each 1200.
    assert media["encoder_kbps"] == pytest.approx(max(150, kbps * 1188 / 1200), rel=1e-3)
    # The first frame is encoded at the rate at the start, and the first report comes after a round trip.
    assert result.flows["goodput_kbps"][0] == pytest.approx(media["encoder_kbps"], rel=0.02)
    assert media["freezes"] == media["frames_late"] == media["frames_lost"] == 0
    # Of 30 frames a second all but those under way arrived, 50 ms and their serialisation later.
    assert media["frames"] - media["frames_received"] <= 1 + 30 * media["frame_delay_ms_p95"] / 1e3
    assert 50 < media["frame_delay_ms_p50"] < 50 + 8 * kbps / 30 / 2e3 * 1e3


@pytest.mark.usefixtures("media")
def test_a_window_of_media_lets_one_packet_out_in_any_case():
    received = [
        lh.run(call({"class": "mymedia:Windowed", "options": {"window": window}})).flows["received_packets"][0]
        for window in (1, 0, -5e3)
    ]
    # A packet is in flight until it is reported, 0.1 s later at the least.
    assert received[0] == received[1] == received[2] and 10 < received[0] <= 100


@pytest.mark.usefixtures("media")
def test_a_controller_of_media_is_told_each_packet_once():
    lh.run(call("mymedia:Watcher", start_rate="600 kbit/s", feedback="40 ms"))
    watcher = resolve("mymedia:Watcher", "call")
    assert (watcher.setting.min_rate, watcher.setting.max_rate, watcher.setting.start_rate) == (150e3, 1.5e6, 600e3)
    packets = [packet for *_, packets in watcher.seen for packet in packets]
    assert [number for number, *_ in packets] == list(range(len(packets)))
    for _, sent, arrival, ecn in packets:
        # 50 ms and at most 1228 bytes at 2 Mbit/s; a frame's packets wait for one another; ATO has steps of 1/1024 s.
        assert 0.050 < arrival - sent < 0.050 + 3 * 1228 * 8 / 2e6 + 1 / 1024 + 1e-4
        assert ecn == 0
    for _, _, rtt, *_ in watcher.seen:
        assert 0.100 < rtt < 0.100 + 3 * 1228 * 8 / 2e6 + 2e-3
    # Reports are 40 ms apart, or more where a frame's packets come later.
    assert min(b - a for (a, *_), (b, *_) in pairwise(watcher.seen)) > 0.039


@pytest.mark.usefixtures("media")
def test_a_path_change_is_told_if_the_flow_asks_for_it():
    # Both ends stand at the link that changes: the sender knows it at once, and hears it from the receiver.
    for hint, expected in (("off", 0), ("delays", 2)):
        scenario = call("mymedia:Watcher", path_hint=hint)
        scenario["change"] = [{"at": "5 s", "link": "radio", "delay": "120 ms"}]
        lh.run(scenario)
        seen = resolve("mymedia:Watcher", "call").seen
        assert sum(changed for _, _, _, changed, _ in seen) == expected


@pytest.mark.usefixtures("media")
@pytest.mark.parametrize(("kind", "said"), [("Wrong", "target_bitrate is NaN"), ("Raises", "KeyError")])
def test_errors_of_a_controller_of_media_name_flow_and_instant(kind, said):
    with pytest.raises(lh.ControllerError, match=said) as caught:
        lh.run(call(f"mymedia:{kind}"))
    assert (caught.value.flow, caught.value.hook) == ("call", "on_feedback")
    assert 0.1 < caught.value.time_s < 0.2
    assert "in_flight=" in caught.value.told


@pytest.mark.usefixtures("media")
def test_the_kind_of_controller_has_to_fit_the_transport():
    with pytest.raises(lh.ScenarioError, match=r"derived from lasthop\.MediaController"):
        lh.load(call("mycc:Mine"))
    with pytest.raises(lh.ScenarioError, match=r"derived from lasthop\.Controller"):
        lh.load(scenario({"python": "mymedia:Fixed"}))
