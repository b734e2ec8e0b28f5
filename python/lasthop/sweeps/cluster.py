"""The runs of a sweep on a Dask cluster, given its address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from lasthop.errors import RunError, ScenarioError

__all__ = ["cluster"]

#: How long a scheduler may take to answer, and its first worker to come.
PATIENCE_S = 30


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """An executor over the workers of a scheduler such as ``tcp://10.0.0.1:8786``, and how many threads they have."""
    try:
        from distributed import Client
    except ImportError as missing:
        raise ImportError("a Dask cluster needs distributed: pip install 'lasthop[dask]'") from missing
    if not re.fullmatch(r"\w+://.+", address):
        raise ScenarioError(f"{address!r} is no address of a Dask scheduler: write it as tcp://HOST:PORT", path="")
    try:
        client = Client(address, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE_S)
        except TimeoutError:
            raise RunError(f"the Dask scheduler at {address} has no workers after {PATIENCE_S} s") from None
        yield client.get_executor(), sum(client.nthreads().values())
