"""What methods of controllers in Python may do, and what they get: other runs, threads, instants, amounts, names."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap

import lasthop as lh
import pytest
from lasthop.controller import given

#: What scripts of these tests begin with.
BEGINNING = """
import threading
import time
import lasthop as lh


def scenario(kind, **flow):
    transport = {"tcp": {"congestion": kind}}
    link = lh.Link(name="l", between=["a", "b"], rate="10 Mbit/s", delay="20 ms")
    made = lh.Flow(name="f", from_="a", to="b", transport=transport, **flow)
    return lh.load(duration="20 s", link=[link], flow=[made])


box = []
"""


def scenario(kind, *, duration="5 s", change=(), loss=0.0, source="greedy", start="0 s", **tcp):
    lost = {"bernoulli": {"p": loss}}
    link = {"name": "l", "between": ["a", "b"], "rate": "5 Mbit/s", "delay": "20 ms", "loss": lost}
    flow = {"name": "f", "from": "a", "to": "b", "source": source, "start": start}
    flow["transport"] = {"tcp": {"congestion": kind, **tcp}}
    return {"duration": duration, "link": [link], "flow": [flow], "change": list(change)}


def done(script: str) -> str:
    """What a script prints that may hang."""
    text = BEGINNING + textwrap.dedent(script)
    made = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
    return made.stdout


def fixed(segments):
    """A class whose name says nothing of its window."""

    class Fixed(lh.Controller):
        def start(self, setting):
            self.window = segments * setting.segment

    return Fixed


def test_another_thread_may_look_at_a_session_while_its_controller_is_called():
    script = """
    called, looks = threading.Event(), threading.Event()

    class Slow(lh.Controller):
        every = "ack"

        def on_ack(self, m):
            if not called.is_set():
                called.set()
                looks.wait()
                time.sleep(0.2)

    session, seen = lh.Session(scenario(Slow)), []

    def look():
        called.wait()
        looks.set()
        seen.append(session.now_s)

    thread = threading.Thread(target=look)
    thread.start()
    session.advance_to(2)
    thread.join()
    print(len(seen), session.now_s)
    """
    assert done(script) == "1 2.0\n"


@pytest.mark.parametrize("call", ["box[0].now_s", "box[0].finish()", "box[0].change('l', rate='1 Mbit/s')"])
@pytest.mark.parametrize("method", ["start(self, setting)", "on_ack(self, m)"])
def test_a_call_that_touches_its_own_session_is_refused(call, method):
    script = f"""
    class Curious(lh.Controller):
        def {method}:
            if box:
                {call}

    # A source of files begins a connection for each.
    box.append(lh.Session(scenario(Curious, source={{"files": {{}}}})))
    try:
        box[0].complete()
    except lh.ControllerError as error:
        print(error.hook, "this run is inside a call of its controller" in str(error))
    print(repr(box[0]))
    """
    hook = method.partition("(")[0]
    assert done(script) == f"{hook} True\n<Session of <data>: this run is finished>\n"


def test_a_call_may_make_a_run_of_its_own():
    """As a controller does that plans by a model of its path; afterwards its own run is still out of reach."""
    script = """
    class Inner(lh.Controller):
        pass

    class Planner(lh.Controller):
        def on_ack(self, m):
            print(lh.run(scenario(Inner).with_(duration="1 s")).flows["received_packets"][0] > 100)
            box[0].now_s

    box.append(lh.Session(scenario(Planner)))
    try:
        box[0].complete()
    except lh.ControllerError as error:
        print("inside a call of its controller" in str(error))
    """
    assert done(script) == "True\nTrue\n"


def test_classes_of_one_name_are_told_apart():
    """A function makes classes that differ in what they close over; a scenario holds the one that it was made with."""
    # A window in a round trip of 40 ms, and the transmission of a segment of 1500 B and of an acknowledgement.
    expected = {n: 8 * n * 1460 / (40 + 2.4 + 0.064) for n in (2, 8)}
    scenarios = {n: lh.load(scenario(fixed(n))) for n in expected}
    for n, made in scenarios.items():
        assert lh.run(made).flows["goodput_kbps"][0] == pytest.approx(expected[n], rel=0.03)
    swept = lh.sweep(scenario("reno"), vary={"flow.f.transport.tcp.congestion": [fixed(n) for n in expected]})
    assert swept.flows["goodput_kbps"].tolist() == pytest.approx(list(expected.values()), rel=0.03)
    # One that is defined again, as by a cell of a notebook, keeps its name: a sweep goes on.
    assert lh.load(scenario(fixed(2))).text == scenarios[2].text != scenarios[8].text


def by_keyword(segments):
    class Fixed(lh.Controller):
        def start(self, setting, *, many=segments):
            self.window = many * setting.segment

    return Fixed


def by_globals(segments):
    space = {"lh": lh, "MANY": segments}
    exec("class Fixed(lh.Controller):\n def start(self, setting):\n  self.window = MANY * setting.segment", space)
    return space["Fixed"]


@pytest.mark.parametrize("make", [by_keyword, by_globals])
def test_classes_of_one_name_and_code_are_told_apart(make):
    two, eight = (lh.load(scenario(make(n))) for n in (2, 8))
    assert lh.run(eight).flows["goodput_kbps"][0] > 3 * lh.run(two).flows["goodput_kbps"][0]


@pytest.mark.parametrize("values", [(-1, -2), (-1.0, -2.0), (1, True), (1, 1.0)])
def test_classes_are_told_apart_by_values_of_equal_hash(values):
    names = {given(fixed(value)) for value in values}
    assert len(names) == 2


def test_marks_are_reported_in_each_round_trip():
    """Also where each acknowledgement ends a batch, and each batch is a window."""

    class One(lh.Controller):
        marks = 0

        def start(self, setting):
            self.window = setting.segment

        def on_ecn(self, m):
            One.marks += 1

    class Hundred(fixed(100)):
        def on_ecn(self, m):
            pass

    made = scenario(One, ecn=True)
    # Another flow keeps a queue, which marks all that comes.
    made["link"][0]["queue"] = {"threshold": {"backlog": "5 packets", "limit": "1000 packets"}}
    made["flow"].append({**scenario(Hundred, ecn=True)["flow"][0], "name": "g"})
    sent = lh.run(made).flows["sent_packets"][0]
    assert sent > 20 and One.marks >= 0.8 * sent


def test_a_class_lasts_as_long_as_its_scenario():
    """Another one that is the same, as of a cell of a notebook, may have come and gone."""
    made = lh.load(scenario(fixed(2)))
    before = lh.run(made).flows
    assert lh.run(scenario(fixed(2))).flows == before
    gc.collect()
    assert lh.run(made).flows == before


def test_a_class_that_is_defined_again_keeps_its_name():
    """Also where it holds tuples, as Python 3.13 gives each class one with the names of its attributes."""
    text = """
class Mine(Controller):
    __slots__ = ("x",)
    pair = (1, {0!r})

    def start(self, setting, pair=(2, 3)):
        self.x = 1

    @property
    def twice(self):
        return 2 * self.x

    @staticmethod
    def thrice(x):
        return 3 * x
"""
    names = []
    for name in ("a", "a", "b"):
        exec(text.format(name), vars(sys.modules["lasthop.controller"]), space := {})
        names.append(given(space["Mine"]))
    assert names[0] == names[1] != names[2]


def test_packets_acknowledged_are_counted_once():
    """A segment that was SACKed comes once, though a later acknowledgement covers it too."""

    class Counting(lh.Controller):
        counted = delivered = sacked = 0

        def on_ack(self, m):
            Counting.counted += m.packets_acked
            Counting.sacked += m.sacked
            Counting.delivered = m.delivered

    result = lh.run(scenario(Counting, loss=0.02, duration="20 s"))
    assert Counting.sacked > 20 * 1460
    # All segments are full ones.
    assert Counting.counted == Counting.delivered / 1460
    assert Counting.counted == pytest.approx(result.flows["received_packets"][0], abs=50)


def test_short_segments_count_as_packets():
    """A write of 500 B is a segment."""
    counted = []

    class Counting(lh.Controller):
        every = "8 acks"

        def on_ack(self, m):
            counted.append(m.packets_acked)

    made = scenario(Counting, source={"cbr": {"rate": "200 kbit/s", "size": "500 B"}})
    received = lh.run(made).flows["received_packets"][0]
    assert received > 200 and received - 8 <= sum(counted) <= received


@pytest.mark.parametrize("size", ["1460 B", "500 B"])
def test_an_echo_marks_all_that_it_acknowledges(size):
    """Acknowledgements are of two segments, and a queue behind another flow marks all."""
    seen = []

    class Counting(lh.Controller):
        every = "ack"
        last = 0

        def start(self, setting):
            self.window = 20 * setting.segment

        def on_ack(self, m):
            if m.ce:
                seen.append((m.ce, m.packets_ce, m.delivered - self.last, m.packets_acked))
            self.last = m.delivered

        def on_ecn(self, m):
            pass

    made = scenario(Counting, ecn=True, ack={"every": 2}, source={"cbr": {"rate": "1 Mbit/s", "size": size}})
    made["link"][0]["queue"] = {"threshold": {"backlog": "5 packets", "limit": "1000 packets"}}
    made["flow"].append({**scenario(fixed(100))["flow"][0], "name": "g"})
    lh.run(made)
    assert len(seen) > 50 and any(packets == 2 for _, packets, *_ in seen)
    assert all((ce, packets) == (delivered, acked) for ce, packets, delivered, acked in seen), seen[:9]


def test_the_flight_is_that_of_the_call():
    """A loss is found while an acknowledgement is read, of which `on_ack` is told afterwards, at the same instant."""
    losses, timeouts, same = [], [], []

    class Watching(lh.Controller):
        every = "ack"

        def start(self, setting):
            self.window = 20 * setting.segment

        def on_loss(self, m):
            losses.append((m.now, m.in_flight, m.lost, m.recovering))

        def on_timeout(self, m):
            timeouts.append((m.in_flight, m.lost > 0, m.recovering))

        def on_ack(self, m):
            if losses and losses[-1][0] == m.now:
                same.append((m.now, m.in_flight, m.lost, m.recovering))

    lh.run(scenario(Watching, loss=0.05, duration="60 s", recovery="sack"))
    assert len(losses) > 100 and same == losses and all(recovers for *_, recovers in losses)
    # A loss may have been known before its recovery began.
    assert sum(lost > 0 for *_, lost, _ in losses) > 0.5 * len(losses)
    # All segments are taken for lost then.
    assert set(timeouts) == {(0, True, False)}


def test_the_first_packet_after_an_empty_flight_is_in_flight():
    flights = []

    class Watching(lh.Controller):
        def on_idle(self, m):
            flights.append((m.in_flight, m.recovering))

    bursts = {"rate": "1 Mbit/s", "on": "1 s", "off": "1 s", "distribution": "constant", "size": "500 B"}
    lh.run(scenario(Watching, source={"onoff": bursts}))
    assert set(flights) == {(500, False)}


def test_a_controller_that_begins_anew_counts_nothing_again():
    """It knows what its connection has delivered, and counts what comes from then on."""
    started, seen = [], []

    class Counting(lh.Controller):
        every = "ack"

        def start(self, setting):
            started.append(setting)

        def on_ack(self, m):
            seen.append((m.now, m.packets_acked, m.delivered, m.lost))

    change = [{"at": "2 s", "link": "l", "delay": "40 ms"}]
    lh.run(scenario(Counting, loss=0.01, change=change, path_hint="restart", recovery="sack"))
    # Both ends are terminals.
    assert len(started) == 3 and max(packets for _, packets, *_ in seen) < 10
    assert max(lost for *_, lost in seen) < 20 * 1460
    delivered = [bytes_ for _, _, bytes_, _ in seen]
    assert delivered == sorted(delivered)


def test_delays_of_another_path_are_void_after_a_hint():
    seen = []

    class Watching(lh.Controller):
        def on_ack(self, m):
            seen.append((m.now, m.link_changed, m.min_rtt, m.srtt, m.rtt))

        def on_loss(self, m):
            pass

    change = [{"at": "2 s", "link": "l", "delay": "100 ms"}]
    lh.run(scenario(Watching, change=change, path_hint="delays"))
    # Both ends are terminals.
    hinted, _ = [one[0] for one in seen if one[1]]
    after = [delays for now, _, *delays in seen if now >= hinted]
    assert all(delay is None or delay > 0.2 for delays in after for delay in delays)
    assert after[0] == [None] * 3 and None not in after[-1]


def test_errors_name_a_flow_without_a_name_by_its_ends_and_the_instant():
    class Third(lh.Controller):
        begun = 0

        def start(self, setting):
            Third.begun += 1
            if Third.begun > 2:
                raise KeyError(setting.flow)

    made = scenario(Third, source={"files": {"sizes": ["10 kB"], "weights": [1], "pause": "600 ms"}})
    del made["flow"][0]["name"]
    with pytest.raises(lh.ControllerError, match=r"start of flow a>b at [0-9.]+ s: KeyError: 'a>b'") as caught:
        lh.run(made)
    assert caught.value.flow == "a>b" and caught.value.time_s > 0.5


def test_random_numbers_are_those_of_seed_flow_and_connection():
    """Wherever the flow stands in the scenario."""

    def drawn(before=0, name="f", seed=1, cells=()):
        numbers = []

        class Drawing(lh.Controller):
            def start(self, setting):
                numbers.append(self.random.random())

        made = scenario(Drawing, source={"files": {"sizes": ["10 kB"], "weights": [1], "pause": "600 ms"}})
        made["flow"][0]["name"] = name
        others = [{**scenario("reno")["flow"][0], "name": f"other{n}"} for n in range(before)]
        made["flow"] = [*others, *made["flow"]]
        if cells:
            made |= {"duration": "100 ms", "hsdpa": list(cells)}
            made["flow"][0] |= {"from": "n", "to": "cell.ue[*]"}
        lh.run(made, seed=seed)
        return numbers

    first = drawn()
    assert len(first) > 2 and len(set(first)) == len(first)
    assert drawn(before=2)[:2] == first[:2] == drawn()[:2]
    assert not set(drawn(name="g")) & set(first) and not set(drawn(seed=2)) & set(first)
    assert len(set(drawn(cells=[{"name": "cell", "node": "n", "ues": 3, "rings": 0}]))) == 3


@pytest.mark.parametrize("recovery", ["sack", "newreno", "rack"])
def test_the_rate_of_sending_counts_all_segments(recovery):
    """Also those that are sent again, after timeouts too."""
    told = {}

    class Watching(lh.Controller):
        every = "ack"

        def start(self, setting):
            told.update(bytes=0, then=0)

        def on_ack(self, m):
            if m.send_rate is not None:
                told["bytes"] += m.send_rate / 8 * (m.now - told["then"])
            told["then"] = m.now

    result = lh.run(scenario(Watching, loss=0.1, duration="60 s", recovery=recovery))
    flow = result.flows.rows()[0]
    assert flow["timeouts"] >= 3
    # Of those after the last acknowledgement it knows nothing.
    sent = flow["sent_packets"] + flow["retransmitted_packets"]
    assert sent - 10 <= round(told["bytes"] / 1460) <= sent


def test_the_present_is_that_of_the_call():
    """The delay steps to 1.5 s: the timer expires, and Eifel finds out when the first acknowledgement comes."""
    seen = {}

    class Watching(lh.Controller):
        def on_timeout(self, m):
            self.window = m.segment
            seen.setdefault("on_timeout", m.now)

        def on_undo(self, m):
            seen.setdefault("on_undo", m.now)

    change = [{"at": "3 s", "link": "l", "delay": "1500 ms"}]
    lh.run(scenario(Watching, spurious="eifel", window=25, duration="10 s", change=change))
    # A packet that entered the link at 3 s arrives at 4.5 s, and its acknowledgement, 1.5 s later.
    assert 3 < seen["on_timeout"] < 4.5 and 4.5 < seen["on_undo"] < 6.1

    times = []

    class Idle(lh.Controller):
        def start(self, setting):
            self.window = 60 * setting.segment

        def on_limit(self, m):
            times.append((m.now, m.flight))

    bursts = {"rate": "1 Mbit/s", "on": "1 s", "off": "4 s", "distribution": "constant"}
    lh.run(scenario(Idle, source={"onoff": bursts}, duration="12 s"))
    # RFC 5681 §4.1: after an idle time longer than the timeout the window is at most the initial one, of 10 segments.
    assert times == [(pytest.approx(5, abs=0.02), 14600), (pytest.approx(10, abs=0.02), 14600)]


def test_an_undone_timeout_puts_all_of_the_object_back():
    """Also what it holds in slots, and methods that it holds: they are then those of the object that is called."""
    strays = []

    class Bound(lh.Controller):
        __slots__ = ("acked",)

        def start(self, setting):
            self.acked, self.grow = 0, self.more

        def more(self, m):
            self.acked += m.acked
            self.window += m.acked / 10
            self.last = m.now

        def on_ack(self, m):
            self.grow(m)
            if self.last != m.now:
                strays.append(m.now)

    change = [{"at": "3 s", "link": "l", "delay": "1500 ms"}]
    result = lh.run(scenario(Bound, spurious="eifel", window=25, duration="10 s", change=change))
    assert result.flows["detected_spurious_timeouts"][0] >= 1 and not strays


def test_a_method_of_the_object_alone_is_called():
    calls = []

    class Chosen(lh.Controller):
        def start(self, setting):
            self.on_ack = lambda m: calls.append(m.now)

    lh.run(scenario(Chosen))
    assert len(calls) > 100


@pytest.mark.parametrize("every", [0.01, None, 8])
def test_a_pace_that_is_no_text_is_shown(every):
    kind = type("Odd", (lh.Controller,), {"every": every})
    with pytest.raises(lh.ControllerError, match=f'every = "{every}": write "ack", "8 acks"'):
        lh.run(scenario(kind))


def test_each_flow_of_media_has_its_own_random_numbers_and_a_name():
    drawn = {}

    class Media(lh.MediaController):
        def start(self, setting):
            drawn.setdefault(setting.flow, []).append(self.random.random())

        def on_feedback(self, m):
            raise KeyError

    media = {"transport": {"media": {"congestion": Media}}, "source": "encoder"}
    cell = {"name": "cell", "node": "n", "ues": 3, "rings": 0}
    flows = [{"name": "call", "from": "n", "to": "cell.ue[*]", **media}, {"from": "n", "to": "cell.ue[0]", **media}]
    with pytest.raises(lh.ControllerError) as caught:
        lh.run({"duration": "2 s", "hsdpa": [cell], "flow": flows})
    assert caught.value.flow in drawn
    assert {name: len(set(numbers)) for name, numbers in drawn.items()} == {"call": 3, "n>cell.ue[0]": 1}
