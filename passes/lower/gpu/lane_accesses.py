"""The elements of shared buffers that the lanes of warps access, by number: what bank conflicts are counted of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from mlir import ir

from tir_mlir.dialect.analysis.shared_banks import WARP, bank_passes
from tir_mlir.dialect.ir import Buffer, Index, Loop, dtypes, is_loop, read_map, walk
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, WriteOp, isa
from tir_mlir.dialect.symbolic import fold_affine
from tir_mlir.passes.lower.gpu.nests import KernelNest

SAMPLES = 64
"""Iterations of the loops of a thread in which conflicts are counted."""
WARPS = 4
"""Warps of a block in which they are counted, evenly spread."""


class LaneAccess:
    """An access to a shared buffer by the threads of a block."""

    def __init__(self, op: ir.Operation, nest: KernelNest, buffer: Buffer):
        self.op, self.nest, self.buffer = op, nest, buffer
        moved = op.operands[0].type if isa(op, WriteOp) else op.results[0].type
        self.elements = ir.VectorType(moved).shape[0] if isinstance(moved, ir.VectorType) else 1

    @property
    def bytes(self) -> int:
        return self.elements * element_bytes(self.buffer)

    @cached_property
    def index(self) -> Index:
        return linear_index(self.op, self.buffer)

    @cached_property
    def _lanes_and_addresses(self) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of threads in the sampled iterations, those of different ones in different warps, and the
        elements that they access."""
        extents = {axis.var: axis.const_extent or 1 for axis in self.nest.threads}
        total = prod(extents.values())
        warps = -(-total // WARP)
        picked = sorted({round(n * (warps - 1) / max(WARPS - 1, 1)) for n in range(WARPS)})
        threads = np.concatenate([np.arange(w * WARP, min((w + 1) * WARP, total)) for w in picked])
        env: dict[ir.Value, np.ndarray] = {}
        weight = 1
        for axis in self.nest.threads[::-1]:
            env[axis.var] = threads // weight % extents[axis.var]
            weight *= extents[axis.var]
        others = [v for v in self.index.values if v not in env]
        lanes, addresses = [], []
        for number, point in enumerate(sample_points(others)):
            address = evaluate_index(self.index, {**env, **dict(zip(others, point, strict=True))})
            address = np.broadcast_to(address, threads.shape)
            inside = (address >= 0) & (address < self.size)
            lanes.append(threads[inside] + number * warps * WARP)
            addresses.append(address[inside])
        return np.concatenate(lanes), np.concatenate(addresses)

    @property
    def addresses(self) -> np.ndarray:
        """The elements that lanes access in the sampled iterations."""
        return self._lanes_and_addresses[1]

    @cached_property
    def size(self) -> int:
        return prod(n or 1 for n in self.buffer.shape)

    def count(self, address: np.ndarray) -> tuple[int, int]:
        """(passes over the banks, fewest possible) if the elements are at these addresses."""
        lanes = self._lanes_and_addresses[0]
        if not len(lanes):
            return 0, 0
        _, passes, least = bank_passes(lanes, address * element_bytes(self.buffer), self.bytes)
        return passes, least


def element_bytes(buffer: Buffer) -> int:
    return max(dtypes.bits(buffer.dtype) // 8, 1)


def linear_index(op: ir.Operation, buffer: Buffer) -> Index:
    """The number of the first element that an op accesses, in row-major order."""
    if isa(op, AffineElementAccessOp):
        indices = walk.access_indices(op)
    else:
        operands = list(walk.index_operands(op))
        indices = read_map(ir.AffineMap.get_identity(len(operands)), operands)
    linear = Index.constant(0)
    for index, size in zip(indices, buffer.shape, strict=True):
        linear = linear * (size or 1) + index
    return linear.simplify()


def sample_points(values: Sequence[ir.Value]) -> Iterator[tuple[int, ...]]:
    """Points of loops: each alone at the powers of two and its end, then others at random."""
    ranges = [_range(value) for value in values]
    points = list(product(*ranges)) if prod(map(len, ranges)) <= SAMPLES else []
    if not points:
        rng = np.random.default_rng(0)
        points = [tuple(r[0] for r in ranges)]
        points += [tuple(int(rng.choice(r)) for r in ranges) for _ in range(SAMPLES - 1)]
    yield from points


def _range(value: ir.Value) -> list[int]:
    """Values of a loop variable: the first, those that differ from it in a bit, the last."""
    owner = value.owner
    op = owner.owner.operation if isinstance(owner, ir.Block) else None
    if op is None or not is_loop(op) or not (extent := Loop(op).const_extent):
        return [0]
    first = Loop(op).lower.as_constant() or 0
    offsets = {0, extent - 1, *(1 << bit for bit in range(extent.bit_length()) if 1 << bit < extent)}
    return [first + n for n in sorted(offsets)]


def evaluate_index(index: Index, env: dict[ir.Value, np.ndarray | int]) -> np.ndarray:
    """The values of an index, where its variables have arrays of values."""

    def leaf(part: ir.AffineExpr) -> np.ndarray | int:
        if isinstance(part, ir.AffineConstantExpr):
            return part.value
        assert isinstance(part, ir.AffineDimExpr)
        return env[index.values[part.position]]

    ops = {"+": np.add, "*": np.multiply, "//": np.floor_divide, "%": np.mod}
    return np.asarray(fold_affine(index.expr, leaf, lambda symbol, a, b: ops[symbol](a, b)))
