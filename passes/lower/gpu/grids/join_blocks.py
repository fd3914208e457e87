"""Axes of blocks that are digits of one, as that one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlir import ir

from tir_mlir.dialect.ir import Index, Loop, create, edit
from tir_mlir.passes.lower.gpu.nests import perfect_nests
from tir_mlir.passes.lower.gpu.thread_tags import axis_of, digit_weight
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-gpu-join-blocks", "Make the digits of a loop over blocks one loop again")
def run(module: ir.Module) -> None:
    """Undo `tir-lower-gpu-cut-blocks`.

        for %y = 0 to 6 {             (blockIdx.x/4)         for %b = 0 to 24 {                       (blockIdx.x)
          for %x = 0 to 4 {           (blockIdx.x/1)   -->     ..%b floordiv 4..%b mod 4..
            ..%y..%x..                                       }
        }}

    Requires the form after `tir-lower-gpu-axes`.
    """
    for func in programs(module):
        for nest in perfect_nests(func):
            digits: dict[str, list[Loop]] = {}
            for loop in nest.blocks:
                if digit_weight(loop.kind) is not None:
                    digits.setdefault(axis_of(loop.kind), []).append(loop)
            for axis, loops in digits.items():
                _join(loops, axis)


def _join(digits: Sequence[Loop], axis: str) -> None:
    """`digits`: loops directly in each other, outer to inner."""
    counts = [loop.const_extent or 0 for loop in digits]
    with ir.InsertionPoint(digits[0].op), digits[0].op.location:
        joined = create.loop(digits[0].name.rpartition("_")[0], 0, prod(counts), axis)
    end = list(joined.body.operations)[-1].operation
    values: dict[ir.Value, Index] = {}
    for number, (loop, count) in enumerate(zip(digits, counts, strict=True)):
        value = Index.from_value(joined.var) // (digit_weight(loop.kind) or 1)
        values[loop.var] = value % count if number else value
        for op in loop.body_ops():
            if number + 1 == len(digits) or op != digits[number + 1].op:
                edit.move_before(op, end)
    edit.substitute(values)
    edit.drop(digits[0].op)
