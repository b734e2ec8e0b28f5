"""The study `handover`: its documents, its report, its measures."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from conftest import Lasthop
from lasthop.stats import Estimate
from lasthop.studies import claims
from lasthop.studies.handover.measures import Trace


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
    verdicts = {claim["id"]: claim["verdict"] for claim in document["claims"]}
    assert {verdicts[id] for id in ("A4", "A8", "A11")} <= {claims.REPRODUCED, claims.NOT_REPRODUCED}
    assert {verdicts[id] for id in ("A3", "A5", "A6", "A7")} == {claims.NOT_COMPARABLE}
    assert all(claim["reason"] for claim in document["claims"] if claim["verdict"] != claims.REPRODUCED)


def test_claims_are_judged_at_the_other_delays(reproduced):
    _, document = reproduced
    for claim in document["claims"]:
        if claim["verdict"] != claims.NOT_YET_RUN:
            assert list(claim["by_variant"]) == ["20/40 ms", "50/100 ms", "90/180 ms"]


def test_the_files_are_there(reproduced):
    folder, document = reproduced
    assert [figure["id"] for figure in document["figures"]] == ["figure-3a", "figure-3b", "figure-4b"]
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


def _trace(received):
    return Trace(0.0, np.asarray(received), np.array([]), np.array([], dtype=bool))


def test_time_to_adapt_of_known_arrivals():
    # 48 packets per second from 10 s on, after silence: a window of 1.5 s is full at 11.2 s to 80 %.
    steady = _trace(np.arange(10, 20, 1 / 48))
    assert steady.adaptation(10.0, 0.3, 48.0) == pytest.approx(1.2, abs=0.03)
    # Half the rate never is within 20 %.
    assert np.isnan(_trace(np.arange(10, 20, 1 / 24)).adaptation(10.0, 0.3, 48.0))


def test_spread_of_known_intervals():
    # On UMTS every fifth interval is five times as long.
    steps = np.tile([0.02] * 4 + [0.1], 60)
    assert _trace(12 + np.cumsum(steps)).spread(fast=False) == pytest.approx(5)


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
