"""Workers of a search on the machines of a dask cluster, which come and go with them."""

from __future__ import annotations

import importlib
import itertools
import threading
import warnings
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from tir_mlir.dialect.diagnostics import TuneError, TuneWarning, short_repr
from tir_mlir.tune.report.progress import Silent
from tir_mlir.tune.search.candidates import Space
from tir_mlir.tune.search.search_worker import SearchWorker

DASK = "distributed"
"""The package of dask, which is an extra."""
MISSING = 'a cluster needs dask; fix: pip install "tir-mlir[cluster]"'
LOOK = 2.0
"""Seconds between two looks at the cluster."""
IDLE = 2.0
"""Seconds without work after which a worker ends; it is started again while the search runs."""
END = 20.0
"""Seconds in which workers end their last trials."""


class ClusterWorkers:
    """A search worker on each worker of a dask cluster, for as long as the context lasts.

    Workers that join the cluster get one, those that are lost take it with them; a scheduler that restarts at its
    address is connected to again. client: a `distributed.Client`. url: the storage, as the machines reach it.
    spaces: as for `SearchWorker`.
    """

    def __init__(self, client: Any, url: str, spaces: Mapping[str, Space]):  # Any: of dask, an extra
        self._client, self._url, self._spaces = client, url, dict(spaces)
        self._address: str = client.scheduler.address
        self._own: Any = None
        self._tasks: dict[str, Any] = {}
        self._numbers = itertools.count()
        self._told: set[str] = set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="tir_mlir cluster", daemon=True)

    def __enter__(self) -> ClusterWorkers:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        dask = importlib.import_module(DASK)
        self._ended.set()
        self._thread.join()
        with suppress(Exception):  # the cluster may be gone
            with suppress(TimeoutError):
                dask.wait(list(self._tasks.values()), timeout=END)
            self._client.cancel([task for task in self._tasks.values() if not task.done()])
        if self._own is not None:
            self._own.close()

    def _watch(self) -> None:
        while not self._ended.wait(LOOK):
            try:
                if self._client.status == "running":
                    self._start_missing()
                    continue
                reason = f"its client is {self._client.status}"
            except Exception as error:  # of the network, in many packages: the search goes on without the cluster
                reason = str(error)
            self._tell(f"the cluster {self._address} does not answer: {reason}; the search goes on, and tries again")
            if self._client.status == "closed":  # a client connects again by itself for some time
                self._reconnect()

    def _start_missing(self) -> None:
        """Start a search worker on each worker of the cluster that has none that runs."""
        workers: Mapping[str, Mapping[str, Any]] = self._client.scheduler_info(n_workers=-1)["workers"]
        for address in self._tasks.keys() - workers.keys():
            self._tasks.pop(address).cancel()
        for address, facts in workers.items():
            task = self._tasks.get(address)
            if task is not None and not task.done():
                continue
            if task is not None and task.status == "error":
                self._tell(f"the worker {address} ended: {task.exception()}; it is started again")
            self._tasks[address] = self._client.submit(
                work, self._url, self._spaces, facts["nthreads"],
                key=f"tir_mlir-search-{self._address}-{next(self._numbers)}", workers=[address], pure=False, retries=0,
            )  # fmt: skip

    def _reconnect(self) -> None:
        with suppress(Exception):
            if self._own is not None:
                self._own.close(timeout=1)
            self._own = self._client = importlib.import_module(DASK).Client(
                self._address, timeout=LOOK, set_as_default=False
            )
            self._tasks.clear()

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            warnings.warn(text, TuneWarning, stacklevel=2)


def work(url: str, spaces: Mapping[str, Space], builders: int) -> int:
    """Be a worker of the searches in a database until there is nothing to do. Returns how many trials it ran."""
    return SearchWorker(url, spaces, builders, IDLE).work(Silent())


def connect(address: str) -> Any:  # Any: of dask, an extra
    """A client of the cluster whose scheduler is at an address. Raises TuneError."""
    try:
        return importlib.import_module(DASK).Client(address)
    except ImportError:
        raise TuneError(MISSING) from None
    except (OSError, ValueError) as error:
        raise TuneError(f"no scheduler of dask answers at {address}: {error}; fix: dask scheduler there") from None


def storage_of_cluster(cluster: object, storage: object) -> str:
    """The URL by which the workers of a cluster reach the study of a search.

    Raises TuneError if dask is missing, `cluster` is not a client of it, or `storage` is not a URL of PostgreSQL.
    """
    try:
        client = importlib.import_module(DASK).Client
    except ImportError:
        raise TuneError(MISSING) from None
    if not isinstance(cluster, client):
        raise TuneError(f"cluster is a distributed.Client, not {short_repr(cluster)}; fix: Client(address)")
    if not isinstance(storage, str) or not storage.startswith("postgresql"):
        raise TuneError(
            "the workers of a cluster share a study in a database; "
            'fix: storage="postgresql://...", which all machines reach'
        )
    return storage
