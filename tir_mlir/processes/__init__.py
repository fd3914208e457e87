"""Other processes: every one that this package starts or forks is started, watched, limited and ended here."""

from tir_mlir.processes.commands import (
    NOTHING,
    PIPE,
    Completed,
    Failed,
    Process,
    Python,
    TimeoutExpired,
    death,
    run,
    start,
    status,
)

__all__ = [
    "NOTHING",
    "PIPE",
    "Completed",
    "Failed",
    "Process",
    "Python",
    "TimeoutExpired",
    "death",
    "run",
    "start",
    "status",
]
