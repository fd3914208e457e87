"""Pure functions of bytes, run side by side by worker processes and this one; their results are cached."""

from tir_mlir.runtime.progress import Done
from tir_mlir.runtime.workers.run import run, start
from tir_mlir.runtime.workers.tasks import Task

__all__ = ["Done", "Task", "run", "start"]
