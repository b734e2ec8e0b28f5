"""The study `handover`: its documents, its tables, its report."""

from __future__ import annotations

import json
import shutil

import pytest
from conftest import Lasthop
from lasthop.results import read_table
from lasthop.stats import Estimate
from lasthop.studies import claims
from lasthop.studies.handover.grades import GRADES


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("handover")
    done = Lasthop(folder)("reproduce", "handover", "--json")
    return folder / "out" / "handover", json.loads(done.stdout)


def test_the_document_has_its_form(reproduced):
    _, document = reproduced
    assert document["study"] == "handover"
    assert document["seed_document"] == "001_de5361d7d9d3ec21.txt"
    assert document["mode"] == "quick"
    assert [claim["id"] for claim in document["claims"]] == [f"A{n}" for n in range(1, 21)]
    for claim in document["claims"]:
        assert {
            "section",
            "statement",
            "paper",
            "ours",
            "interval",
            "tolerance",
            "verdict",
            "by_variant",
            "reason",
        } <= set(claim)
        assert claim["verdict"] in claims.VERDICTS
    verdicts = [claim["verdict"] for claim in document["claims"]]
    assert claims.NOT_YET_RUN not in verdicts
    held = (claims.REPRODUCED, claims.CONSISTENT)
    assert all(claim["reason"] for claim in document["claims"] if claim["verdict"] not in held)
    # What a parameter was fitted to is consistent at best.
    assert all(claim["verdict"] != claims.REPRODUCED for claim in document["claims"] if claim["id"] in ("A1", "A2"))


def test_claims_are_judged_at_the_other_delays(reproduced):
    _, document = reproduced
    for claim in document["claims"]:
        assert list(claim["by_variant"]) == ["20/40 ms", "50/100 ms", "90/180 ms"]


def test_the_files_are_there(reproduced):
    folder, document = reproduced
    assert [figure["id"] for figure in document["figures"]] == [
        "figure-3a",
        "figure-3b",
        *(f"figure-4{part}" for part in "abcde"),
        "figure-grades",
        "figure-notification",
        "figure-capacity",
        "figure-state",
    ]
    for part in document["figures"] + document["tables"]:
        for file in part["files"]:
            assert (folder.parents[1] / file).stat().st_size > 0
    assert (folder / "report.html").stat().st_size < 2_000_000


def test_studies_tells_the_last_verdicts(reproduced):
    folder, document = reproduced
    listed = json.loads(Lasthop(folder.parents[1])("studies", "--json").stdout)
    assert sum(listed[0]["verdicts"].values()) == len(document["claims"])


def test_a_fitted_claim_is_consistent_at_best():
    good = claims.Judgement(claims.REPRODUCED, "1", {"x": Estimate(1.0, 0.1, 5)})
    claim = claims.Claim("Z1", "I", "x", "1", "1", "", judge=lambda _: good, fitted=True)
    assert claims.judge(claim, "a", {"a": None}).verdict == claims.CONSISTENT
    unbuilt = claims.Claim("Z2", "I", "x", "1", "1", "", missing="not built")
    assert claims.judge(unbuilt, "a", {"a": None}).verdict == claims.NOT_YET_RUN


def test_what_is_said_of_claims_at_several_parameters():
    def judged(id, *held):
        verdicts = {name: claims.REPRODUCED if name in held else claims.NOT_REPRODUCED for name in "abc"}
        made = {name: claims.Judgement(verdict) for name, verdict in verdicts.items()}
        rest = {name: made[name] for name in "bc"}
        return claims.Judged(claims.Claim(id, "I", "x", "1", "1", ""), made["a"], rest, default="a")

    said = claims.summary([judged("Z1", "a", "b"), judged("Z2", "b", "c"), judged("Z3")], "abc", "letter")
    assert said == [
        "Claims that hold: 1 at a, 2 at b, 1 at c.",
        "No letter satisfies Z3.",
        "All that hold anywhere hold at b.",
    ]
    said = claims.summary([judged("Z1", "a"), judged("Z2", "b"), judged("Z3", "a", "b", "c")], "abc", "letter")
    assert said[-1] == "No letter satisfies all of the others at once: Z1, Z2 hold at some and not at others."


def test_table_1_has_the_papers_seven_rows_and_more(reproduced):
    folder, _ = reproduced
    table = read_table(folder / "table-1.csv")
    assert table["mechanism"].tolist()[:7] == ["IntServ", "DiffServ", "SWAN", "XCP", "EWA", "TFRC", "TCP"]
    assert table["mechanism"].tolist()[-1].startswith("best effort, links × ")
    words = {*GRADES, "–"}
    for column in table.columns:
        if column.startswith(("media", "dynamic", "scalability")):
            assert set(table[column].tolist()) <= words, column
    # The paper's own column of scalability follows from what each mechanism puts where, but for state that grows.
    counters = {row["mechanism"]: row for row in read_table(folder / "counters.csv").rows()}
    assert counters["TCP"]["hosts change"] == counters["TCP"]["bottleneck router changes"] == "no"
    assert counters["TFRC"]["hosts change"] == "yes" and counters["TFRC"]["other routers change"] == "no"
    assert counters["EWA"]["hosts change"] == "no" and counters["EWA"]["bottleneck router changes"] == "yes"
    assert counters["IntServ"]["state of each flow in the core"] == "yes"
    assert counters["XCP"]["more for each flow (B)"] == pytest.approx(0, abs=1e-6)


def test_the_report_begins_with_claims_at_each_pair_of_delays(reproduced):
    folder, document = reproduced
    page = (folder / "report.html").read_text(encoding="utf-8")
    first = page[page.index("<table") : page.index("</table>")]
    assert 'class="across"' in first
    for name in ("20/40 ms", "50/100 ms", "70/140 ms (default)", "90/180 ms"):
        assert f"<th>{name}</th>" in first
    assert first.count("<tr>") == 1 + len(document["claims"])
    assert "Claims that hold:" in page[page.index("</table>") :]


needs_browser = pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")),
    reason="the report is not opened in a browser: chromium or chromedriver is not installed",
)


@needs_browser
@pytest.mark.parametrize("width", [360, 1200])
def test_the_report_opens_offline(reproduced, width):
    from selenium import webdriver
    from selenium.webdriver.common.by import By

    folder, document = reproduced
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless", "--no-sandbox", f"--window-size={width},1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        page = (folder / "report.html").as_uri()
        browser.get(page)
        assert "handover" in browser.title
        images = browser.find_elements(By.TAG_NAME, "img")
        assert len(images) == len(document["figures"])
        for image in images:
            assert int(image.get_property("naturalWidth")) > 0
            assert image.get_attribute("alt")
        for claim in document["claims"]:
            assert browser.find_element(By.ID, claim["id"]).is_displayed()
        for link in browser.find_elements(By.CSS_SELECTOR, "a[href^='#']"):
            assert browser.find_element(By.ID, link.get_attribute("href").rpartition("#")[2])
        asked = {
            message["params"]["request"]["url"]
            for entry in browser.get_log("performance")
            if (message := json.loads(entry["message"])["message"])["method"] == "Network.requestWillBeSent"
        }
        assert {url for url in asked if not url.startswith(("data:", page))} == set()
        assert browser.get_log("browser") == []
        # Nothing is wider than the page, tables apart, which scroll by themselves.
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    finally:
        browser.quit()
