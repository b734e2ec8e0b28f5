"""Traces of links: what `lasthop trace` says of one, and makes of a series of rates."""

from __future__ import annotations

import json

import lasthop as lh
import numpy as np
import pytest
from lasthop import traces


def written(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def series(path, *rows):
    path.write_text("".join(f"{time},{rate}\n" for time, rate in rows))
    return path


def test_a_constant_rate_is_one_opportunity_a_millisecond(tmp_path):
    """1,504 bytes a millisecond are 12.032 Mbit/s."""
    times = traces.converted(series(tmp_path / "r.csv", (0, 12.032), (1, 12.032)))
    assert times.tolist() == list(range(1, 2001))


def test_nothing_drifts_over_steps_and_gaps(tmp_path):
    """The k-th opportunity is in the millisecond in which the integral passes k times 1,504 bytes: here by steps."""
    rows = [(5.0, 3.7), (5.3, 0.0), (6.1, 0.011), (6.9, 41.0), (7.05, 9.9), (8.0, 0.5)]
    times = traces.converted(series(tmp_path / "r.csv", ("time", "rate"), *rows))
    step, carried, expected = 1e-5, 0.0, []
    ends = [time for time, _ in rows[1:]] + [8.95]
    for (begin, rate), end in zip(rows, ends, strict=True):
        for n in range(round((end - begin) / step)):
            before, carried = carried, carried + rate * 1e6 / 8 / 1504 * step
            expected += [begin + (n + 1) * step - 5.0] * (int(carried) - int(before))
    assert len(times) == len(expected)
    assert np.abs(times / 1e3 - expected).max() <= 1.02e-3
    assert (times / 1e3 >= np.array(expected) - 2 * step).all()


@pytest.mark.parametrize("outage", [[(5, 0), (10, 0)], [(5, 0), (7, 0), (11, 0)], [(5, 0), (10, 1e-4)]])
def test_an_outage_at_the_end_lasts_until_the_end(lasthop, tmp_path, outage):
    """5 s at 8 Mbit/s are 3,324 opportunities. The outage ends with one more, so the next round begins after 15 s."""
    source = series(tmp_path / "r.csv", ("time", "rate"), (0, 8), *outage)
    said = lasthop("trace", "convert", source, "-o", tmp_path / "r.trace").stderr
    assert "r.csv, line 3: nothing is delivered from here to the end at 15 s" in said and "2.67 Mbit/s" in said
    times = traces.read(tmp_path / "r.trace")
    assert (len(times), times[-2], times[-1]) == (3325, 5000, 15000)
    made = traces.about(times)
    assert (made.longest_gap_s, made.longest_gap_at_s) == (10.0, 5.0)
    assert "line" not in lasthop("trace", "convert", source, "-o", tmp_path / "q.trace", "--quiet").stderr


@pytest.mark.parametrize("rate", [0.7 * 12.032, 12.032, 1.1 * 12.032, 1.3 * 12.032])
@pytest.mark.parametrize("begin", [0, 1.7e9])
def test_whole_opportunities_before_an_outage_are_all_before_it(tmp_path, rate, begin):
    rows = [(begin, rate), (begin + 1, 0), (begin + 2, 0), (begin + 3, 0)]
    times = traces.converted(series(tmp_path / "r.csv", *rows))
    assert (len(times), times[-2], times[-1]) == (round(rate / 12.032 * 1000) + 1, 1000, 4000)


@pytest.mark.parametrize("begin", ["0", "5", "1700000000"])
def test_an_opportunity_that_is_whole_as_an_outage_begins_comes_before_it(tmp_path, begin):
    """50 opportunities in a tenth of a second, nothing for a second, and 50 again."""
    rows = [(f"{begin}.0", 6.016), (f"{begin}.1", 0), (f"{int(begin) + 1}.1", 6.016), (f"{int(begin) + 1}.2", 6.016)]
    times = traces.converted(series(tmp_path / "r.csv", *rows))
    assert times.tolist() == [*range(2, 101, 2), *range(1102, 1301, 2)]


@pytest.mark.parametrize("begin", [0, 1_700_000_000])
def test_of_many_short_rows_nothing_is_lost(tmp_path, begin):
    rows = [(f"{begin + n // 10}.{n % 10}", 12.032) for n in range(10_000)]
    assert np.array_equal(traces.converted(series(tmp_path / "r.csv", *rows)), np.arange(1, 1_000_001))


def test_a_series_that_is_carried_to_its_end_gets_no_opportunity_more(tmp_path):
    notes = []
    times = traces.converted(series(tmp_path / "r.csv", (0, 12.032), (1, 0), (2, 12.0)), note=notes.append)
    assert len(times) == 1000 + 997 and notes == []


@pytest.mark.parametrize(
    "before", ["time,mbps\n", "# a drive\ntime,mbps\n", "\n  \n# a, b\n\ntime (s),rate\n", "# 5,1\n"]
)
def test_comments_and_empty_lines_may_stand_before_a_heading(tmp_path, before):
    (tmp_path / "r.csv").write_text(f"{before}0,12.032\n# between\n1,12.032\n")
    assert traces.converted(tmp_path / "r.csv").tolist() == list(range(1, 2001))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,8 Mbit/s\n5,4\n10,4\n", "line 1: expected seconds and Mbit/s, found '0,8 Mbit/s'"),
        ("# a drive\n\nat 0, -8 x\n5,4\n10,4\n", "line 3: expected seconds and Mbit/s"),
        ("t,.5x\n5,4\n10,4\n", "line 1: expected seconds and Mbit/s"),
        ("time,rate\ns,Mbit/s\n5,4\n10,4\n", "line 2: expected seconds and Mbit/s"),
        ("0,1\n", "at least two rows"),
        ("0,1\n0,2\n", "line 2"),
        ("0,1\n1,x\n", "line 2: expected seconds and Mbit/s"),
        ("0,1\n1,-1\n", "line 2"),
        ("0,nan\n1,1\n", "line 1"),
        ("0,0\n1,0\n", "do not carry one packet"),
        ("0,1,2\n1,1,2\n", "expected seconds and Mbit/s"),
        ("0,1e9\n1e6,1\n", "more than 100,000,000"),
        ("0,1e-5\n5e6,1e-5\n", "the series lasts 10000000 s; a trace lasts at most 4294967 s"),
        ("-1e308,0\n1e308,0\n1.1e308,1e308\n", "a trace lasts at most 4294967 s"),
        ("0,1\n" + 200_000 * "x" + "\n1,2\n", "line 2: field larger than"),
        ("1700000000.1,1\n1700000000.05,2\n", "line 2: 1700000000.05 s comes after 1700000000.1 s"),
    ],
)
def test_a_wrong_series_is_refused_with_its_line(lasthop, tmp_path, text, expected):
    (tmp_path / "r.csv").write_text(text)
    assert expected in lasthop("trace", "convert", tmp_path / "r.csv", "-o", tmp_path / "r.trace", code=2).stderr
    assert not (tmp_path / "r.trace").exists()


def test_what_a_trace_says(lasthop, tmp_path):
    """Two opportunities in each of the first 100 ms, one at the end of a second: the gap lasts 900 ms."""
    file = written(tmp_path / "a.trace", [*sorted([*range(1, 101), *range(1, 101)]), 1000])
    said = json.loads(lasthop("trace", "info", file, "--json").stdout)
    assert (said["opportunities"], said["period_s"]) == (201, 1.0)
    assert said["mean_mbps"] == pytest.approx(201 * 1504 * 8 / 1e6)
    assert (said["longest_gap_s"], said["longest_gap_at_s"]) == (0.9, 0.1)
    assert said["over_100ms_mbps"][1] == 0
    assert "longest gap" in lasthop("trace", "info", file, "--plot", tmp_path / "a.png").stdout
    assert (tmp_path / "a.png").stat().st_size > 5_000
    assert "exists" in lasthop("trace", "info", file, "--plot", tmp_path / "a.png", code=2).stderr


@pytest.mark.parametrize("name", ["x.foo", "noext", "x.", ".png"])
def test_a_picture_of_no_known_format_is_refused(lasthop, tmp_path, name):
    lasthop.folder = tmp_path
    written(tmp_path / "a.trace", range(1, 101))
    done = lasthop("trace", "info", "a.trace", "--plot", name, code=2)
    last = done.stderr.splitlines()[-1]
    assert f"{name}: expected the name of a picture, which ends with .png, .svg or .pdf" in last
    assert "Traceback" not in done.stderr and not done.stdout and not (tmp_path / name).exists()


@pytest.mark.parametrize(("name", "begins"), [("x.png", b"\x89PNG"), ("X.PDF", b"%PDF"), ("x.svg", b"<?xml")])
def test_a_picture_has_the_format_that_its_name_says(lasthop, tmp_path, name, begins):
    file = written(tmp_path / "a.trace", range(1, 101))
    assert f"wrote {tmp_path / name}" in lasthop("trace", "info", file, "--plot", tmp_path / name).stderr
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_wrong_trace_is_refused_with_file_and_line(lasthop, tmp_path):
    error = lasthop("trace", "info", written(tmp_path / "a.trace", [1, 5, 4]), code=2).stderr
    assert "a.trace" in error and "line 3" in error
    assert "No such file" in lasthop("trace", "info", tmp_path / "none.trace", code=2).stderr


def test_of_a_trace_without_end_no_more_is_read_than_the_limit(monkeypatch):
    monkeypatch.setattr(traces, "_MOST_BYTES", 1 << 20)
    with pytest.raises(ValueError, match="/dev/zero is larger than 1 MB"):
        traces.read("/dev/zero")


@pytest.mark.parametrize(
    ("text", "expected"), [("", "has no line"), ("1\r5\r", "line 1"), ("1\n\n", "line 2 of the trace: an empty line")]
)
def test_a_trace_is_refused_as_a_run_refuses_it(lasthop, tmp_path, text, expected):
    (tmp_path / "a.trace").write_text(text, newline="")
    assert expected in lasthop("trace", "info", tmp_path / "a.trace", code=2).stderr
    lasthop("new", "trace", "-o", tmp_path / "mine.toml")
    (tmp_path / "cell.trace").write_text(text, newline="")
    assert expected in lasthop("run", tmp_path / "mine.toml", code=2).stderr


def test_a_template_brings_its_trace(lasthop, tmp_path):
    lasthop("new", "trace", "-o", tmp_path / "mine.toml")
    assert (tmp_path / "cell.trace").exists()
    kept = lh.load(tmp_path / "mine.toml")
    moved = kept.with_(duration="2 s")
    (tmp_path / "cell.trace").unlink()
    # What was read holds the trace; the file is not needed any more.
    assert lh.run(moved).links["packets"][0] > 500
    assert lh.load(kept.to_toml()) == kept.with_(name=lh.load(kept.to_toml()).name)
    assert "no such file" in lasthop("run", tmp_path / "mine.toml", code=2).stderr
