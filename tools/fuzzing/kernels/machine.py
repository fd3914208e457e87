"""Programs for GPUs run on the PTX machine: built as `build` does, with a look at each pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir import ptx
from tir_mlir.dialect.ir import enter_context, held_module
from tir_mlir.passes.lower.to_llvm import Follow
from tir_mlir.ptx.program import run
from tir_mlir.runtime.call.fast_entry import python_function
from tir_mlir.runtime.call.signature import signatures
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.target import CUDA
from tir_mlir.targets.cuda import BACK_END
from tir_mlir.targets.stages import BuildOptions, Compilation, compile_program


def function_of(program: Any, chip: str = "sm_80", follow: Follow | None = None) -> DeviceFunction:
    """The only function of a schedule or program, for a GPU. `follow(name, module)` is called after each pass, and may
    change the module."""
    with enter_context():
        module = held_module(program)
        assert module is not None
        compilation = Compilation(
            program=module,
            source=str(module),
            signatures=[*signatures(module).values()],
            options=BuildOptions(target=CUDA(chip)),
            follow=follow,
        )
        library = compile_program(compilation, BACK_END)
    (function,) = map(python_function, library.values())
    assert isinstance(function, DeviceFunction)
    return function


def on_machine(
    program: Any, arrays: Sequence[Any], chip: str = "sm_80", follow: Follow | None = None
) -> list[ptx.Report]:
    """Build a program with one function for a GPU and run it on the machine. `arrays`: its arguments; arrays are
    changed in place. Returns the report of each launch."""
    return run(function_of(program, chip, follow), arrays).launches
