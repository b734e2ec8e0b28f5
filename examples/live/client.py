"""A client to try: waits until the server is up, and says how much it got."""

import sys
import time
import urllib.error
import urllib.request

until = time.monotonic() + 10
while True:
    try:
        with urllib.request.urlopen(sys.argv[1], timeout=60) as answer:
            print(len(answer.read()), "bytes")
        break
    except urllib.error.URLError as error:
        if time.monotonic() > until:
            sys.exit(f"there is no answer: {error.reason}")
        time.sleep(0.1)
