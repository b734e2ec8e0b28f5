"""Which of two builds of a server brings a file through a handover faster? Pairs of live runs say.

python two_builds.py 'python3 server.py' 'python3 server.py --congestion reno'
"""

import argparse
import sys
import time
from pathlib import Path

import lasthop

HERE = Path(__file__).parent

#: From WLAN to UMTS at an instant that differs from pair to pair.
PATH = """
[[link]]
name = "radio"
between = ["server", "mobile"]
rate = "5 Mbit/s"
delay = "15 ms"
queue.droptail.limit = "64 kB"

[[change]]
at = "{at} ms"
link = "radio"
rate = "384 kbit/s"
delay = "140 ms"
in_flight = "move"
"""


def seconds(build: str, at: int, size: int) -> float:
    """How long a file takes."""
    with lasthop.live(PATH.format(at=at), hosts=["server", "mobile"]) as run:
        run.start("server", build, cwd=HERE)
        client = ["python3", "client.py", "http://server:8000/"]
        run.run("mobile", [*client[:2], client[2] + "1"], cwd=HERE, check=True)
        began = time.monotonic()
        run.run("mobile", [*client[:2], f"{client[2]}{size}"], cwd=HERE, check=True)
        taken = time.monotonic() - began
    if run.verdict != "sound":
        print(f"  {run.verdict}", file=sys.stderr)
    return taken


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("builds", nargs=2, metavar="COMMAND", help="a build, which serves at port 8000")
parser.add_argument("--handovers", type=int, default=20)
parser.add_argument("--size", type=int, default=1_000_000, help="bytes of the file")
asked = parser.parse_args()
differences = []
print("handover at   first    second")
for number in range(asked.handovers):
    at = 1_000 + 50 * number
    first, second = (seconds(build, at, asked.size) for build in asked.builds)
    differences.append(second - first)
    print(f"{at:8d} ms {first:7.2f} s {second:7.2f} s", flush=True)
if len(differences) > 1:
    print(f"the second takes {lasthop.estimate(differences)} s longer")
