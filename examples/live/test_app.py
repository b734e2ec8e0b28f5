"""An application over an HSDPA cell, as a test: pytest test_app.py"""

import subprocess
import time
from pathlib import Path

import lasthop
import pytest

HERE = Path(__file__).parent
PHONE = "hsdpa.ue[0]"


@pytest.fixture
def cell():
    """The cell by the wall clock, with the application's server up."""
    try:
        with lasthop.live(HERE / "hsdpa.toml", seed=1) as run:
            run.start("server", ["python3", str(HERE / "server.py"), "--port", "8000"], stderr=subprocess.DEVNULL)
            yield run
    except lasthop.RunError as error:
        pytest.skip(str(error))
    print(run.verdict)


def test_a_page_of_100_kB_comes_within_ten_seconds(cell):
    began = time.monotonic()
    get = ["python3", str(HERE / "client.py"), "http://server:8000/100000"]
    done = cell.run(PHONE, get, timeout=60, check=True)
    assert done.stdout.strip() == "100000 bytes"
    assert time.monotonic() - began < 10
