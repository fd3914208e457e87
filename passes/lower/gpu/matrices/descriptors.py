"""Operands of `wgmma` in shared memory: the layout of a matrix as the descriptor of it says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import Buffer, Index, Loop, attrs
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.gpu.lane_accesses import element_bytes, evaluate_index, linear_index, sample_points
from tir_mlir.passes.lower.gpu.pipelines import mbarriers
from tir_mlir.passes.lower.memory.strides import SWIZZLE_BYTES

DEPTH_BYTES = 32
"""Of a row of an operand that one instruction takes."""
_SWIZZLES = {128: 1, 64: 2, 32: 3}


@dataclass(frozen=True)
class SharedOperand:
    """A matrix in shared memory, rows x depth of all steps of a product.

    base: the byte at which it starts; steps: from there to the part of each instruction. transposed: elements of a
    column (of one k) are adjacent ("MN-major"). leading, stride: bytes, as the descriptor has them.
    """

    buffer: ir.Value
    base: Index
    steps: tuple[int, ...]
    transposed: bool
    leading: int
    stride: int
    swizzle: int

    def emit(self) -> list[ir.Value]:
        """The descriptors of the parts of all instructions (PTX ISA, "Matrix Descriptor Format"): they differ in the
        address, in units of 16 bytes, which is the lowest part."""
        i64 = ir.IntegerType.get_signless(64)
        address = mbarriers.shared_address(self.buffer, (self.base + self.steps[0]).simplify())
        low = arith.shrui(arith.andi(address, mbarriers.i32(0x3FFFF)), mbarriers.i32(4))
        facts = (self.leading >> 4) << 16 | (self.stride >> 4) << 32 | _SWIZZLES[self.swizzle] << 62
        signed = facts - (1 << 64) if facts >> 63 else facts
        first = arith.ori(arith.extui(i64, low), arith.constant(i64, signed))
        return [arith.addi(first, arith.constant(i64, (step - self.steps[0]) >> 4)) for step in self.steps]


def read_operand(load: ir.Operation, buffer: Buffer, row: Loop, depth: Sequence[Loop]) -> SharedOperand | str:
    """The operand whose element [row, k] a load reads, k the loops of `depth`, outer to inner; or why it is none.

    Decided by comparing the address of each element with that of the descriptor's formula.
    """
    size, span = element_bytes(buffer), attrs.get(buffer.op, SWIZZLE_BYTES, 0) if buffer.op is not None else 0
    if not span:
        return f"{buffer.name} is not filled by the TMA with a swizzle; fix: sch.swizzle of its copy, and tma_pipeline"
    index = linear_index(load, buffer)
    inner = [row.var, *(loop.var for loop in depth)]
    others = [value for value in index.values if value not in inner]
    tables = [_table(index, row, depth, dict(zip(others, p, strict=True))) * size for p in sample_points(others)]
    offsets = tables[0] - tables[0][0, 0]
    if any((table - table[0, 0] != offsets).any() for table in tables):
        return f"the layout of {buffer.name} depends on the iteration"
    base = index.substitute({var: Index.constant(0) for var in inner}).simplify() * size
    terms, constant = intervals.linear_terms(base.expr)
    if any(number % (8 * span) for number in (*terms.values(), constant)):
        return f"the part of {buffer.name} does not start at a multiple of 8 rows of {span} bytes"
    per = DEPTH_BYTES // size
    steps = tuple(int(offsets[0, k]) for k in range(0, offsets.shape[1], per))
    parts = [offsets[:, n * per : n * per + per] - step for n, step in enumerate(steps)]
    for transposed in (False, True):
        found = _strides(parts[0], span, size, transposed)
        formula = _formula(parts[0].shape, span, size, transposed, *found)
        if all((part == formula).all() for part in parts) and _are_inside(steps, span, transposed):
            return SharedOperand(buffer.value, base.simplify(), steps, transposed, *found, span)
    return f"the layout of {buffer.name} is none of wgmma: {_difference(parts[0], span, size)}"


def _table(index: Index, row: Loop, depth: Sequence[Loop], values: Mapping[ir.Value, int]) -> np.ndarray:
    """The element numbers [row, k]."""
    extents = [loop.const_extent or 1 for loop in depth]
    grid = np.unravel_index(np.arange(int(np.prod(extents))), extents) if depth else ()
    env: dict[ir.Value, np.ndarray | int] = dict(values)
    env[row.var] = np.arange(row.const_extent or 1)[:, None]
    env |= {loop.var: part[None] for loop, part in zip(depth, grid, strict=True)}
    shape = (row.const_extent or 1, int(np.prod(extents)))
    return np.broadcast_to(evaluate_index(index, env), shape).astype(np.int64)


def _strides(part: np.ndarray, span: int, size: int, transposed: bool) -> tuple[int, int]:
    """(leading, stride) that a descriptor would need."""
    if not transposed:
        return DEPTH_BYTES // 2, int(part[8, 0]) if part.shape[0] > 8 else 8 * span
    wide = span // size
    leading = int(part[wide, 0]) if part.shape[0] > wide else span
    return leading, int(part[0, 8]) if part.shape[1] > 8 else 8 * span


def _formula(shape: Sequence[int], span: int, size: int, transposed: bool, leading: int, stride: int) -> np.ndarray:
    """The offset of each element [row, k], before the swizzle (PTX ISA, "Strides")."""
    i, k = np.arange(shape[0])[:, None], np.arange(shape[1])[None]
    if not transposed:
        return i // 8 * stride + i % 8 * span + k * size
    wide = span // size
    return i // wide * leading + k // 8 * stride + k % 8 * span + i % wide * size


def _are_inside(steps: Sequence[int], span: int, transposed: bool) -> bool:
    """Whether the swizzle of each part is that of the whole: parts are in one row, or start at its pattern."""
    return all(step % (8 * span) < (1 if transposed else span) for step in steps)


def _difference(part: np.ndarray, span: int, size: int) -> str:
    """The first element that is elsewhere than in the nearest layout."""
    formula = _formula(part.shape, span, size, False, *_strides(part, span, size, False))
    row, k = np.argwhere(part != formula)[0] if (part != formula).any() else (0, 0)
    return f"element [{row}, {k}] is {part[row, k]} bytes behind [0, 0], not {formula[row, k]}"
