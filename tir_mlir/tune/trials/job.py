"""A candidate as data: what a worker process needs to build, run and check it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mlir import ir

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.dialect.ir import enter_context, held_module, visit
from tir_mlir.dialect.ir.op_views import CallOp, isa
from tir_mlir.runtime.drivers.link_kernels import kernel_text
from tir_mlir.runtime.kernels.registry import find_kernel, needed_by
from tir_mlir.target import AnyTarget, ptx_target
from tir_mlir.tune.trials.outcome import Outcome

if TYPE_CHECKING:
    from tir_mlir.tune.records.program_identity import Program
    from tir_mlir.tune.trials.reference import Reference


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError):
        return 4 << 30


@dataclass(frozen=True)
class TrialLimits:
    """What a trial may take.

    build: CPU seconds of its build.
    run: CPU seconds per thread of all its runs. Five times as many seconds of waiting end a trial.
    memory: bytes that building or running it takes.
    """

    build: float = 30.0
    run: float = 10.0
    memory: int = field(default_factory=_half_of_memory)


@dataclass(frozen=True)
class RegisteredKernel:
    """A registered kernel as data: its symbol, its MLIR text, the CPU features that it needs."""

    symbol: str
    text: str
    needs: tuple[str, ...] = ()


class Measurer(Protocol):
    """Runs built candidates: on this machine (`LocalRunner`), or on another, by code that travels there.

    An instance is pickled and sent to the worker with the job, so its class is one that the worker can import. Jobs of
    the same `lane` are measured one at a time.
    """

    @property
    def lane(self) -> str:
        """What is measured on: the name of a machine or a device."""
        ...

    def build(self, job: Job) -> Any:
        """Build the program of a job for what it runs on; the result has a `timing`. Raises TirError."""
        ...

    def measure(self, built: Any, job: Job) -> Outcome:
        """Run, check, and time. Raises TirError, MachineLost; a fault of the candidate is an outcome."""
        ...

    def compare(self, built: Sequence[Any], jobs: Sequence[Job], rounds: int) -> list[list[float]]:
        """Time candidates in turns. Seconds by job and round; none for a job that fails."""
        ...


@dataclass(frozen=True)
class Job:
    """A candidate: data only, so that any process can build and run it.

    text: the scheduled program as module text.
    target: "llvm", or what `build` takes.
    kernels: code of the registered kernels that it calls.
    libs: paths of shared libraries that it calls.
    function: its name, "" for the only one.
    sizes: values of its shape variables.
    seed: of its arguments, if it has no reference.
    best: seconds of the best so far: what takes three times as long is given up.
    reference: arguments and results of the unscheduled program; None: results are not compared.
    threads: how many parallel loops may use.
    runner: None for this machine.
    """

    text: str
    target: str | AnyTarget = "llvm"
    kernels: tuple[RegisteredKernel, ...] = ()
    libs: tuple[str, ...] = ()
    function: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    seed: int = 0
    limits: TrialLimits = field(default_factory=TrialLimits)
    best: float | None = None
    reference: Reference | None = None
    threads: int | None = None
    runner: Measurer | None = None

    @property
    def parallel(self) -> bool:
        """Whether it has parallel loops, so that wall time counts."""
        return 'tir.kind = "parallel"' in self.text

    @property
    def on_gpu(self) -> bool:
        """Whether it runs as kernels, whose time a GPU tells."""
        return ptx_target(self.target) is not None


def job_of(
    program: Program, *, libs: Sequence[str | Path] = (), sizes: Mapping[str, int] | None = None, **options: Any
) -> Job:
    """The job of a Schedule, an IRModule, a PrimFunc or an MLIR module, with the kernels of this process that it calls.

    sizes: values of its shape variables, by name. options: other fields of Job. Raises TuneError for anything else,
    BuildError for a kernel that does not verify.
    """
    module = held_module(program)
    if module is None:
        raise TuneError(f"job_of takes a Schedule, an IRModule, a PrimFunc or a module, not {type(program).__name__}")
    with enter_context():
        kernels = [
            RegisteredKernel(symbol, kernel_text(build, symbol), needed_by(symbol))
            for symbol, build in _called_kernels(module)
        ]
        text = str(module)
    variables = tuple(sorted((sizes or {}).items()))
    return Job(text, kernels=tuple(kernels), libs=tuple(map(str, libs)), sizes=variables, **options)


def _called_kernels(module: ir.Module) -> list[tuple[str, Callable[[], None]]]:
    """The registered kernels that a module calls, with their builders."""
    builders: dict[str, Callable[[], None]] = {}

    def look(op: ir.Operation) -> ir.WalkResult:
        if isa(op, CallOp):
            symbol = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
            if (builder := find_kernel(symbol)) is not None:
                builders[symbol] = builder
        return ir.WalkResult.ADVANCE

    visit(module.operation, look)
    return list(builders.items())
