"""Hoist guards out of the serial loops of a thread."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import is_loop, walk
from tir_mlir.passes.lower.gpu.thread_tags import is_axis
from tir_mlir.passes.lower.loops.hoist_guards import hoist_guard
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-gpu-guards", "Hoist guards of kernels out of loops that they do not depend on")
def run(module: ir.Module) -> None:
    """Hoist what a guard requires out of the loops of a thread that do not change it.

        for %i = 0 to 4 {                          affine.if (%k >= 1) {
          affine.if (%k >= 1, %t + %i < 100) {       for %i = 0 to 4 {
            body                             -->       affine.if (%t + %i < 100) {
                                                         body

    The bounds of loops remain constant, so that they are unrolled and keep their buffers in registers (see
    `tir-lower-hoist-guards`, which converts guards to bounds on a CPU). Requires barriers to be placed.
    """
    for func in programs(module):
        for op in reversed([o for o in walk.ops(func.op) if is_loop(o) and not is_axis(o)]):
            hoist_guard(op, to_bounds=False)
