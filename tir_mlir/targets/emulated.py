"""The back end of an emulated GPU: kernels as loops of a CPU, the threads of a block one after the other."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import cast

from mlir import ir

from tir_mlir.dialect.ir import clone_module, enter_context
from tir_mlir.passes.lower.gpu import emulation
from tir_mlir.runtime.call.signature import signatures
from tir_mlir.runtime.gpu.source import source_of
from tir_mlir.runtime.library import Library
from tir_mlir.target import CUDA, host
from tir_mlir.targets.cpu import back_end as cpu
from tir_mlir.targets.kernels import DEVICE, TO_KERNELS, TO_THREADS, device_options, require_kernels
from tir_mlir.targets.stages import BackEnd, Compilation, Passes, Stage, compile_program

THREADS = "threads"
"""The value that is the program with barriers, in which threads are loops."""
LOOPS = "loops"
"""The value that is the program for a CPU."""
LIBRARY = "library"


def stages(compilation: Compilation) -> list[Stage]:
    """The kernels as a GPU gets them, too: what the GPU cannot run is refused, and `lib.source` prints them."""
    options = device_options(cast(CUDA, compilation.options.compiled_for))
    return [
        Stage("lower", Passes(lambda _: TO_THREADS, options=options), THREADS),
        Stage("lower", Passes(lambda _: TO_KERNELS, THREADS, options), DEVICE),
        Stage("lower", require_kernels, DEVICE),
        Stage("lower", _emulate, LOOPS),
        Stage("", _compile_loops, LIBRARY),
    ]


def _emulate(compilation: Compilation) -> ir.Module:
    program = clone_module(compilation.values[THREADS])
    emulation.run(program)
    if compilation.follow is not None:
        compilation.follow("tir-lower-gpu-emulation", program)
    return program


def _compile_loops(compilation: Compilation) -> Library:
    """Compile the loops for this CPU."""
    program: ir.Module = compilation.values[LOOPS]
    loops = Compilation(
        program=program,
        source=str(program),
        signatures=list(signatures(program).values()),
        options=dataclasses.replace(compilation.options, target=host()),
        timing=compilation.timing,
        follow=compilation.follow,
        origin=compilation.origin,
    )
    library = compile_program(loops, cpu.BACK_END)
    library.mlir, library.kernel_source = compilation.source, partial(_print_kernels, compilation.values[DEVICE])
    return library


def _print_kernels(device: ir.Module) -> str:
    """The kernels in CUDA C."""
    with enter_context():
        return source_of(device)


def load(compilation: Compilation) -> Library:
    return compilation.values[LIBRARY]


BACK_END = BackEnd(stages=stages, load=load)
