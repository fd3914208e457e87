"""A worker process as its parent sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tir_mlir.processes.child import Child
from tir_mlir.runtime.cache import fingerprint, store

_CODE = "from tir_mlir.runtime.workers.worker import main; main(int(sys.argv[1]), sys.argv[2:])"


class Worker(Child):
    """A process that is sent `TaskRequest`s and answers each, in order, by a `TaskResult`."""

    def __init__(self, functions: Sequence[str], environment: Mapping[str, str]):
        """Start it. functions: are imported before the first request. Raises OSError."""
        super().__init__(_CODE, functions, environment, silent=True)
        self._greeted = False

    def greet(self) -> None:
        """Wait until it has started. Raises EOFError if it has loaded other sources than this process."""
        if not self._greeted:
            if self.receive() != store.digest(fingerprint.package_stamps()):
                raise EOFError
            self._greeted = True
