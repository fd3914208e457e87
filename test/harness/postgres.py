"""A PostgreSQL server for tests, from the wheel `pgserver`; where they run as root it has a user of its own."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def server() -> Iterator[str]:
    """A server with an empty database: its URL. Skips the test where there is no server, or it does not start."""
    with running_server() as running:
        yield running.get_uri()


def restart(running: Any, seconds: float = 3.0) -> None:
    """Kill a server, and start it again some seconds later."""
    import pgserver

    stop = ["-w", "-m", "immediate", "stop"]
    pgserver.pg_ctl(stop, pgdata=running.pgdata, user=running.system_user)
    time.sleep(seconds)
    start = ["-w", "-o", f'-k {running.pgdata} -h ""', "-l", str(running.pgdata / "restarted.log"), "start"]
    pgserver.pg_ctl(start, pgdata=running.pgdata, user=running.system_user)


@contextmanager
def running_server() -> Iterator[Any]:
    """A server of the wheel, as its package has it."""
    pgserver = pytest.importorskip("pgserver")
    pytest.importorskip("sqlalchemy")
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                running = pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        except Exception as error:  # no right to make a user, no shared memory: whatever the system refuses
            pytest.skip(f"PostgreSQL does not start here: {type(error).__name__}: {error}")
        try:
            yield running
        finally:  # nothing of it is kept: it need not write what it has
            command = ["-w", "-m", "immediate", "stop"]
            pgserver.pg_ctl(command, pgdata=running.pgdata, user=running.system_user)
            running.cleanup()
