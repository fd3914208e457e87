"""Rounding sums to short integers: what a graph does, and whether an instruction that stores sums does the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from mlir import ir

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.mapping.roles import Role, roles_of
from tir_mlir.accel.operands import Number, Tile
from tir_mlir.accel.semantics import model_of
from tir_mlir.dialect.computation import Leaf, OpNode, Tree
from tir_mlir.dialect.computation.scalar_tree import replace_scalars, scalars_in
from tir_mlir.dialect.ir import dtypes, enter_context, same_indices
from tir_mlir.dialect.ir.op_traits import DIFFERENCES, MAXIMA, MINIMA, PRODUCTS, ROUNDINGS, SUMS, UNSIGNED
from tir_mlir.dialect.ir.op_views import CastOp, CompareFloatsOp, ConstantOp, FPToSIOp
from tir_mlir.dialect.presburger.evaluated_indices import Values, evaluate_op


@dataclass(frozen=True)
class Requantization:
    """`clip(round(sum * scale) + zero, low, high)`: the sum and the scale in float32, halves to the even neighbour."""

    scale: float
    zero: int
    low: int
    high: int
    dtype: str

    def __str__(self) -> str:
        zero = f" + {self.zero}" if self.zero else ""
        return f"clip(round(sum * {self.scale:.6g}){zero}, {self.low}, {self.high}) as {self.dtype}"

    def __call__(self, sums: np.ndarray) -> np.ndarray:
        scaled = np.rint(sums.astype(np.float32) * np.float32(self.scale)) + np.float32(self.zero)
        return np.clip(scaled, np.float32(self.low), np.float32(self.high)).astype(self.dtype)

    def steps(self, least: int, greatest: int) -> np.ndarray:
        """The sums of a range at which the result grows, those before them, and both ends; it never falls."""
        codes = np.arange(self.low + 1, self.high + 1)
        below = np.full(codes.shape, least - 1, np.int64)
        above = np.full(codes.shape, greatest + 1, np.int64)
        while (above - below).max(initial=0) > 1:
            middle = (below + above) // 2
            reached = self(np.clip(middle, least, greatest)).astype(np.int64) >= codes
            below, above = np.where(reached, below, middle), np.where(reached, middle, above)
        sums = np.unique(np.concatenate([below, above, [least, greatest]]))
        return sums[(sums >= least) & (sums <= greatest)].astype(np.int64)


@dataclass(frozen=True)
class StoredSums:
    """An instruction that stores sums of a tile, each as one element: `D[i, j] = f(C[i, j])`."""

    instruction: MachineInstruction
    source: Tile
    result: Tile
    payload: Tree
    """f: its leaf is the sum."""

    @property
    def numbers(self) -> tuple[Number, ...]:
        """What it depends on but the sum."""
        operands = [self.instruction.operands[number] for number in scalars_in(self.payload)]
        return tuple(o for o in operands if isinstance(o, Number))

    def payload_at(self, values: Mapping[str, int | float]) -> Tree:
        """Its payload with these numbers (call inside `enter_context`)."""
        names = {o.name: position for position, o in enumerate(self.instruction.operands)}
        return replace_scalars(self.payload, {names[name]: value for name, value in values.items()})

    def compute(self, sums: np.ndarray, values: Mapping[str, int | float]) -> np.ndarray:
        """What it stores of sums, by its compiled description."""
        model, shape = model_of(self.instruction), self.source.shape
        size = prod(shape)
        padded = np.zeros(-(-len(sums) // size) * size, self.source.dtype)
        padded[: len(sums)] = sums
        stored = np.zeros(padded.shape, self.result.dtype)
        for start in range(0, len(padded), size):
            arrays = {
                self.source.name: padded[start : start + size].reshape(shape),
                self.result.name: stored[start : start + size].reshape(shape),
            }
            operands = self.instruction.operands
            model(*(arrays[o.name] if isinstance(o, Tile) else values.get(o.name, o.high or 0) for o in operands))
        return stored[: len(sums)]


def stores_of(machine: Machine, source: str, result: str) -> Iterator[StoredSums]:
    """The instructions that store sums of one type as elements of another."""
    for role in roles_of(machine):
        store = _as_store(role)
        if store is not None and (store.source.dtype, store.result.dtype) == (source, result):
            yield store


def _as_store(role: Role) -> StoredSums | None:
    """An instruction as one that stores sums; None for another one."""
    form = role.form
    if len(form.operands) != 2 or len(role.read) != 1 or role.read != role.sources or form.init is not None:
        return None
    source, result = role.tiles[role.read[0]], role.written
    read, written = (form.operands[n] for n in (role.read[0], form.output))
    at_same_index = read.rows == written.rows and same_indices(read.base, written.base)
    if source.memory is None or result.memory is not None or source.shape != result.shape or not at_same_index:
        return None
    return StoredSums(role.instruction, source, result, form.payload)


def requantizing_store(
    stores: Sequence[StoredSums], wanted: Requantization, least: int, greatest: int
) -> tuple[StoredSums, Mapping[str, int | float]] | None:
    """The first of these stores, with its numbers, that rounds each sum of a range as is wanted; None if none does.

    Both never fall, so that they are equal on the range if they are at all sums where the wanted one grows.
    """
    sums = wanted.steps(least, greatest)
    results = wanted(sums)
    for store in stores:
        for values in _numbers(store, wanted):
            if _never_falls(store, values, least, greatest) and np.array_equal(store.compute(sums, values), results):
                return store, values
    return None


def _numbers(store: StoredSums, wanted: Requantization) -> Iterator[dict[str, int | float]]:
    """The numbers that a store may be given: the scale, the bounds, and 0 and 1 for integers."""
    choices: list[list[int | float]] = []
    for number in store.numbers:
        if number.dtype.startswith("float"):
            choices.append([wanted.scale, *map(float, dict.fromkeys((wanted.low, wanted.high, wanted.zero)))])
        else:
            least = {0, 1, wanted.low, wanted.high, wanted.zero}
            choices.append(sorted(n for n in least if number.high is None or 0 <= n <= number.high))
    for values in product(*choices):
        yield dict(zip((n.name for n in store.numbers), values, strict=True))


def _never_falls(store: StoredSums, values: Mapping[str, int | float], least: int, greatest: int) -> bool:
    """Whether what a store does, with these numbers, is known to grow or to stay where a sum of a range grows."""
    with enter_context():
        return _values_at_ends(store.payload_at(values), np.array([least, greatest])) is not None


def _values_at_ends(tree: Tree, sums: Values) -> Values | None:
    """What a computation is at the least and at the greatest sum; None if it may fall in between, or if a type may not
    hold a value. As it never falls, it is constant where both are equal."""
    if isinstance(tree, Leaf):
        return sums
    if not isinstance(tree, OpNode):
        return None
    if tree.op in ConstantOp.names:
        value = ir.Attribute.parse(dict(tree.facts)["value"])
        return np.array([value.value] * 2) if isinstance(value, ir.IntegerAttr | ir.FloatAttr) else None
    parts: list[Values] = []
    for child in tree.children:
        part = _values_at_ends(child, sums)
        if part is None:
            return None
        parts.append(part)
    if not _rises(tree.op, parts):
        return None
    dtype = dtypes.to_name(ir.Type.parse(tree.type))
    return evaluate_op(tree.op, f"u{dtype}" if tree.op in _TO_UNSIGNED else dtype, parts)


def _rises(op: str, parts: Sequence[Values]) -> bool:
    """Whether the result of an op grows or stays where its operands do, which have these values at both ends."""
    is_constant = [bool(part[0] == part[1]) for part in parts]
    if op in _RISING:
        return True
    if op in _FALLING_IN_SECOND:
        return is_constant[1]
    return op in PRODUCTS and any(c and part[0] >= 0 for c, part in zip(is_constant, parts, strict=True))


_TO_UNSIGNED = frozenset(UNSIGNED[name] for name in FPToSIOp.names)
_OF_UNSIGNED = frozenset(UNSIGNED.values()) - _TO_UNSIGNED
"""Of integers, which are signed here."""
_RISING = (SUMS | MAXIMA | MINIMA | CastOp.names | ROUNDINGS) - CompareFloatsOp.names - _OF_UNSIGNED
_FALLING_IN_SECOND = DIFFERENCES | {"arith.shrsi"}
