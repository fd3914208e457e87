"""The machine code of a program for a CPU, as text whose loops have known trip counts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial

from mlir import ir

from tir_mlir.dialect.ir import clone_module, enter_context
from tir_mlir.passes.lower.loops import parallel
from tir_mlir.prediction.trip_counts import Trips, count_trips
from tir_mlir.runtime.llvm import object_code
from tir_mlir.runtime.llvm.llvm_kernels import link_kernels
from tir_mlir.runtime.llvm.object_code import LLVMTarget
from tir_mlir.runtime.tools import clang_codegen, toolchain
from tir_mlir.target import Target
from tir_mlir.targets.cpu.lowering import LOWERED, lowering_stages, named_cpu
from tir_mlir.targets.stages import BuildOptions, Compilation


@dataclass(frozen=True)
class NamedCode:
    """assembly: as LLVM prints it, comments tell the loop and the block of LLVM IR of each label. trips: of the loops
    whose count LLVM knows, or bounds from above."""

    assembly: str
    trips: Trips


def named_code(program: ir.Module, cpu: Target) -> NamedCode:
    """Compile a program for one thread of a CPU, as `build` does. Raises BuildError, LoweringError."""
    with enter_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a build, which the user makes or has made
        serial = clone_module(program)
        parallel.serialize(serial)
        compilation = Compilation(
            program=serial,
            source=str(serial),
            signatures=(),
            options=BuildOptions(target=cpu if cpu.triple else "llvm"),
        )
        compilation.run(lowering_stages())
        lowered = compilation.values[LOWERED]
        link = partial(link_kernels, kernels=lowered.kernels)
        code = named_cpu(cpu) if cpu.triple else object_code.target()
        if object_code.has_generator(code.triple):
            optimized, assembly = object_code.named_assembly(lowered.module, code, link)
        else:
            optimized, assembly = _compile_by_clang(object_code.llvm_ir(lowered.module, link), code)
    return NamedCode(assembly, count_trips(optimized))


def _compile_by_clang(text: str, code: LLVMTarget) -> tuple[str, str]:
    """The optimized LLVM IR and the assembly of LLVM IR, its blocks named."""
    named = toolchain.run("opt", ["-S", "-passes=function(instnamer)"], text)
    words = [word.decode() for word in (code.triple, code.cpu, code.features)]
    make = partial(clang_codegen.compile_ir, named, *words)
    assembly = make(clang_codegen.ASSEMBLY, options=["-fverbose-asm"])
    return make(clang_codegen.IR).decode(), assembly.decode()
