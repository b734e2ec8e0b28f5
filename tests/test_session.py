"""Sessions: led in steps they give what a run gives; looks, changes and errors."""

from __future__ import annotations

from random import Random

import lasthop as lh
import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT

LINK = {
    "duration": "10 s",
    "nodes": ["a", "b"],
    "link": [{"name": "l", "between": ["a", "b"], "rate": "1 Mbit/s", "delay": "10 ms"}],
    "flow": [{"name": "f", "from": "a", "to": "b", "transport": {"tcp": {"variant": "newreno"}}}],
    "record": {"series": "500 ms", "variables": True},
}


def written(result: lh.Result) -> dict[str, bytes]:
    """Every table, bit by bit."""
    tables = {}
    for name, table in result.tables.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.to_arrow().schema) as writer:
            writer.write_table(table.to_arrow().combine_chunks())
        tables[name] = sink.getvalue().to_pybytes()
    return tables


def same(one: lh.Result, other: lh.Result) -> bool:
    return written(one) == written(other)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_led_in_random_steps_it_gives_the_tables_of_a_run(path):
    scenario = lh.load(path)
    rng = Random(path.stem)
    session = lh.Session(scenario)
    for _ in range(300):
        session.advance(rng.uniform(0, scenario.duration_s / 300) if rng.random() < 0.7 else 0)
        session.advance_to(session.next_event_s or session.end_s)
        session.names()
    assert same(session.complete(), lh.run(scenario))


def test_a_look_shows_the_sender_the_receiver_and_the_link():
    session = lh.Session(LINK)
    assert session.names() == ["f", "l a>b", "l b>a"]
    session.advance_to("5 s")
    sender, receivers, link = session.flow("f"), session.receivers("f"), session.part("l a>b")
    # The window fills the link: a packet of 1500 B each 12 ms.
    assert 400 <= receivers["b"]["received_packets"] <= 417
    assert sender["cwnd_packets"] > 1 and sender["acked_bytes"] <= receivers["b"]["received_bytes"]
    assert link["rate_bps"] == 1e6 and link["queue_packets"] > 0
    assert session.now_s == 5 and session.end_s == 10 and 5 <= session.next_event_s < 5.1


def test_a_change_happens_now_and_as_in_a_scenario():
    session = lh.Session(LINK)
    session.advance_to(4)
    session.change("l", rate="250 kbit/s", queue="empty")
    assert session.part("l a>b")["rate_bps"] == 250e3
    assert session.part("l a>b")["queue_packets"] == 0
    change = {"at": "4 s", "link": "l", "rate": "250 kbit/s", "queue": "empty"}
    assert same(session.complete(), lh.run({**LINK, "change": [change]}))


def test_trees_and_the_table_of_handovers_follow_a_change():
    def link(name, ends, delay):
        return {"name": name, "between": ends, "rate": "5 Mbit/s", "delay": delay}

    scenario = {
        "duration": "10 s",
        "record": {"handovers": True, "packets": True, "state": True},
        "link": [
            link("up", ["server", "r"], "10 ms"),
            link("near", ["r", "member"], "10 ms"),
            link("far", ["r", "relay"], "30 ms"),
            link("behind", ["relay", "member"], "10 ms"),
        ],
        "group": [{"name": "g", "members": ["member"]}],
        "flow": [
            {"from": "server", "to": "g", "transport": "udp", "source": {"cbr": {"interval": "20 ms", "size": "500 B"}}}
        ],
    }
    down = {"link": "near", "up": False}
    written = lh.run({**scenario, "change": [{"at": "5 s", **down}]})
    session = lh.Session(scenario)
    session.advance_to(5)
    session.change("near", up=False)
    led = session.complete()
    assert written.flows["received_packets"][0] > 490 and len(written.handovers)
    for name in written.tables:
        assert led.tables[name] == written.tables[name], name


def test_a_change_takes_numbers_of_numpy_and_names_what_is_none():
    session = lh.Session(LINK)
    session.advance_to(4)
    with pytest.raises(lh.ScenarioError, match="the change is no plain data: a set is neither text, number"):
        session.change("l", rate={"250 kbit/s"})
    session.change("l", loss={"bernoulli": {"p": np.float32(0.25)}})
    change = {"at": "4 s", "link": "l", "loss": {"bernoulli": {"p": 0.25}}}
    assert same(session.complete(), lh.run({**LINK, "change": [change]}))


def test_what_a_session_changed_is_kept_with_its_result(tmp_path):
    """The scenario in the folder has no such change: a run of it is another one."""
    session = lh.Session(LINK)
    session.advance_to(4)
    session.change("l", rate="250 kbit/s")
    changed = session.complete()
    assert changed.session_changes == ({"at": "4.0 s", "link": "l", "rate": "250 kbit/s"},)
    assert "changed once by a session" in changed.heading() and "session" not in lh.run(LINK).heading()
    changed.save(tmp_path / "led")
    lh.run(LINK).save(tmp_path / "plain")
    assert lh.Result.load(tmp_path / "led").session_changes == [*changed.session_changes]
    said = str(lh.compare(tmp_path / "plain", tmp_path / "led"))
    assert "session_changes" in said and "the same scenario" not in said
    again = lh.run({**LINK, "change": [*changed.session_changes]})
    assert same(changed, again)


def test_what_has_happened_so_far_can_be_had_before_the_end():
    session = lh.Session(LINK)
    session.advance_to("2 s")
    result = session.finish()
    assert result.simulated_s == 2
    assert 0 < result.flows["received_packets"][0] <= 167
    with pytest.raises(RuntimeError, match="finished"):
        session.advance(1)


@pytest.mark.parametrize(
    ("do", "said"),
    [
        (lambda session: session.flow("g"), 'there is nothing called "g"'),
        (lambda session: session.part("l a>"), 'did you mean "l a>b"'),
        (lambda session: session.flow("l a>b"), '"l a>b" is no flow'),
        (lambda session: session.part("f"), '"f" is a flow'),
        (lambda session: session.change("m", up=False), 'there is no link or terminal "m"'),
        (lambda session: session.change("l"), "changes nothing"),
        (lambda session: session.change("l", rate="fast"), "is not a rate"),
        (lambda session: session.change("l", speed="1 Mbit/s"), 'unknown field "speed"'),
        (lambda session: session.change("l", at="3 s", up=False), '"at" of a change that is made now'),
        (lambda session: session.change("l", loss={"bernoulli": {"p": 0.1}}, ramp="1 s"), "a ramp to no new rate"),
        (lambda session: session.advance_to("1 s"), "1 s is past: it is 2 s"),
        (lambda session: session.advance("soon"), "is not a duration"),
        (lambda session: session.advance(-1), "1 s is past: it is 2 s"),
        (lambda session: session.advance_to(float("nan")), "nan s is past"),
    ],
)
def test_errors_say_what_is_wrong_and_leave_the_session_as_it_was(do, said):
    session = lh.Session(LINK)
    session.advance_to(2)
    with pytest.raises(lh.ScenarioError, match=said):
        do(session)
    assert same(session.complete(), lh.run(LINK))
