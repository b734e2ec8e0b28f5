"""Pages in a real browser: what they ask of the network, what their scripts say, and what axe-core finds."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

needs_browser = pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")),
    reason="pages are not opened in a browser: chromium or chromedriver is not installed",
)


@contextmanager
def opened(page: Path, *, width: int = 1280, dark: bool = False) -> Iterator[Any]:
    """The page in a browser. At the end nothing was asked of the network, and no script has complained."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in ("--headless", "--no-sandbox", f"--window-size={width},1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(shutil.which("chromedriver"))))
    try:
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
        size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(page.as_uri())
        yield browser
        asked = {
            message["params"]["request"]["url"]
            for entry in browser.get_log("performance")
            if (message := json.loads(entry["message"])["message"])["method"] == "Network.requestWillBeSent"
        }
        assert {url for url in asked if not url.startswith(("data:", "blob:", page.as_uri()))} == set()
        assert browser.get_log("browser") == []
    finally:
        browser.quit()


def accessible(browser: Any) -> list[str]:
    """What axe-core finds: the rule, how bad, and where first."""
    script = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    browser.execute_script(script)
    found = browser.execute_async_script("axe.run(document).then(arguments[arguments.length - 1])")
    first = [(one, one["nodes"][0]) for one in found["violations"]]
    return [f"{one['id']} ({one['impact']}): {node['html'][:200]} {node['any'][:1]}" for one, node in first]


def scrolled(browser: Any) -> None:
    """Shows every part of the page once: figures are drawn when they come into sight."""
    browser.execute_async_script(
        """const done = arguments[0], height = () => document.documentElement.scrollHeight;
        let y = 0;
        const step = () => {
          scrollTo(0, y);
          y += 700;
          if (y < height() + 700) return requestAnimationFrame(() => setTimeout(step, 20));
          scrollTo(0, 0);
          done();
        };
        step();"""
    )
