"""How long the program after each step of a schedule runs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import enter_context, funcs, is_loop, ops
from tir_mlir.equivalence.random_arguments import copy_aligned, random_arguments
from tir_mlir.runtime.progress import Done, follow_build
from tir_mlir.runtime.sampling_runs import clock_of, sample
from tir_mlir.visual import sizes
from tir_mlir.visual.page_step import Measured

if TYPE_CHECKING:
    from tir_mlir.runtime.call.signature import ProgramFunction
    from tir_mlir.target import AnyTarget


def measure_modules(
    modules: Sequence[ir.Module], target: bool | str | AnyTarget, given: Mapping[str, int]
) -> list[Measured]:
    """The seconds of each module, one run of each of its functions; equal modules are built and run once.

    target: as of `build`; True is this machine. given: values of shape variables; missing ones are chosen. A module
    that cannot be built or run has the reason instead.
    """
    times: dict[int, Measured] = {}
    with follow_build("times of steps") as task:
        task.expect(len({id(m) for m in modules}))
        for number, module in enumerate(modules):
            if id(module) not in times:
                times[id(module)] = time = _measure_module(
                    module, "llvm" if isinstance(target, bool) else target, given
                )
                task.note(Done(f"step {number}", time.seconds or 0.0, kind="run"))
    return [times[id(module)] for module in modules]


def _measure_module(module: ir.Module, target: str | AnyTarget, given: Mapping[str, int]) -> Measured:
    with enter_context():
        chosen: dict[str, int] = {}
        for func in funcs(module):
            chosen |= sizes.choose_sizes(func, given)
        parallel = any(is_loop(op) and "tir.kind" in op.attributes for op in ops(module.operation))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            built = build(module, target)
            seconds = sum(_seconds(module, built[name], chosen, parallel) for name in built)
    except (TirError, MemoryError, OSError) as error:
        return Measured(None, str(error).strip().splitlines()[0], tuple(chosen.items()))
    return Measured(seconds, "", tuple(chosen.items()))


def _seconds(module: ir.Module, function: ProgramFunction, given: Mapping[str, int], parallel: bool) -> float:
    """Seconds of one run of a function: the least of a few, with warm caches."""
    arguments = copy_aligned(random_arguments(module, function.signature, given, 0), function.signature)
    function(*arguments)
    clock = clock_of(parallel, getattr(function, "seconds", None) is not None)
    return min(sample(partial(function, *arguments), clock, None)[0])
