"""Rounding sums to short integers: what a graph does, and whether an instruction that stores sums does the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.operands import Number, Tile
from tir_mlir.accel.semantics import model_of
from tir_mlir.dialect.ir import enter_context
from tir_mlir.script.module import IRModule


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
    expression: ast.expr
    access: str
    """The text of the sum in it."""
    numbers: tuple[Number, ...]
    """What it depends on but the sum."""

    def text(self, values: Mapping[str, int | float], scales: Collection[str]) -> str:
        """Its expression with these numbers, {} for the sum, and {name} for a scale."""
        text = ast.unparse(_Replace(self.access, values, scales).visit(_copy(self.expression)))
        return re.sub(r"__(\w*)__", r"{\1}", text)

    def compute(self, sums: np.ndarray, values: Mapping[str, int | float]) -> np.ndarray:
        """What it stores of sums, by its compiled description."""
        model, shape = model_of(self.instruction), self.source.shape
        size = int(np.prod(shape))
        padded = np.zeros(-(-len(sums) // size) * size, self.source.dtype)
        padded[: len(sums)] = sums
        made = np.zeros(padded.shape, self.result.dtype)
        for start in range(0, len(padded), size):
            arrays = {
                self.source.name: padded[start : start + size].reshape(shape),
                self.result.name: made[start : start + size].reshape(shape),
            }
            model(*(arrays[o.name] if isinstance(o, Tile) else self._number(o, values) for o in self._operands()))
        return made[: len(sums)]

    def _operands(self) -> tuple[Tile | Number, ...]:
        return self.instruction.operands

    def _number(self, number: Number, values: Mapping[str, int | float]) -> int | float:
        return values.get(number.name, number.high or 0)


def stores_of(machine: Machine, source: str, result: str) -> Iterator[StoredSums]:
    """The instructions that store sums of one type as elements of another."""
    for instruction in machine.instructions.values():
        found = _store(instruction)
        if found is not None and (found.source.dtype, found.result.dtype) == (source, result):
            yield found


def requantizing_store(
    stores: list[StoredSums], wanted: Requantization, least: int, greatest: int
) -> tuple[StoredSums, Mapping[str, int | float]] | None:
    """The first of these stores, with its numbers, that rounds each sum of a range as is wanted; None if none does.

    Both never fall, so that they are equal on the range if they are at all sums where the wanted one grows.
    """
    sums = wanted.steps(least, greatest)
    results = wanted(sums)
    for store in stores:
        for values in _numbers(store, wanted):
            if _Growth(store.access, values).never_falls(store.expression) and np.array_equal(
                store.compute(sums, values), results
            ):
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


def _store(instruction: MachineInstruction) -> StoredSums | None:
    """An instruction as one that stores sums; None for another one."""
    sources = [t for t in instruction.tiles if t.memory is not None and t.access == "r"]
    results = [t for t in instruction.tiles if t.memory is None and t.access == "w"]
    if instruction.intrinsic is None or len(instruction.tiles) != 2 or not sources or not results:
        return None
    with enter_context():
        text = IRModule(instruction.intrinsic.desc_func().module).script()
    tree = _Inline().visit(ast.parse(text))
    assignments = [n for n in ast.walk(tree) if isinstance(n, ast.Assign) and _is_of(n.targets[0], results[0])]
    if len(assignments) != 1 or sources[0].shape != results[0].shape:
        return None
    target, expression = assignments[0].targets[0], assignments[0].value
    reads = {ast.unparse(n) for n in ast.walk(expression) if _is_of(n, sources[0])}
    access = f"{sources[0].name}{ast.unparse(target).removeprefix(results[0].name)}"
    if reads != {access}:
        return None
    used = {n.id for n in ast.walk(expression) if isinstance(n, ast.Name)}
    numbers = tuple(n for n in instruction.numbers if n.name in used)
    return StoredSums(instruction, sources[0], results[0], expression, access, numbers)


def _is_of(node: ast.AST, tile: Tile) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == tile.name


class _Inline(ast.NodeTransformer):
    """Writes the values of local names (`x: T.let[T.float32] = value`) for the names."""

    def __init__(self) -> None:
        self.values: dict[str, ast.expr] = {}

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if isinstance(node.target, ast.Name) and node.value is not None:
            self.values[node.target.id] = self.visit(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node) if isinstance(node.ctx, ast.Load) else node


class _Growth:
    """Whether an expression is known never to fall where the sum grows, with these numbers."""

    def __init__(self, access: str, values: Mapping[str, int | float]):
        self.access, self.values = access, values

    def never_falls(self, node: ast.expr) -> bool:
        match node:
            case ast.Subscript():
                return ast.unparse(node) == self.access
            case ast.Call(ast.Attribute(_, "Cast"), [ast.Constant(str(dtype)), value]):
                return self.never_falls(value) and (not dtype.startswith(("int", "uint")) or self._fits(value, dtype))
            case ast.Call(ast.Attribute(_, "round" | "nearbyint" | "floor" | "ceil" | "trunc"), [value]):
                return self.never_falls(value)
            case ast.Call(ast.Attribute(_, "max" | "min"), [left, right]) | ast.BinOp(left, ast.Add(), right):
                return all(self.never_falls(v) or self._number(v) is not None for v in (left, right))
            case ast.BinOp(left, ast.Sub() | ast.RShift(), right):
                return self.never_falls(left) and self._number(right) is not None
            case ast.BinOp(left, ast.Mult(), right):
                factors = [n for n in map(self._number, (left, right)) if n is not None and n >= 0]
                return len(factors) == 1 and any(map(self.never_falls, (left, right)))
        return False

    def _fits(self, node: ast.expr, dtype: str) -> bool:
        """Whether a value is within the bounds of an integer type, so that a conversion to it never wraps."""
        limits, (low, high) = np.iinfo(dtype), self._bounds(node)
        return low >= limits.min and high <= limits.max

    def _bounds(self, node: ast.expr) -> tuple[float, float]:
        if (number := self._number(node)) is not None:
            return number, number
        match node:
            case ast.Subscript():
                return -(2.0**31), 2.0**31 - 1
            case ast.Call(ast.Attribute(_, "max" | "min" as name), [left, right]):
                choose = max if name == "max" else min
                (low, high), (other_low, other_high) = self._bounds(left), self._bounds(right)
                return choose(low, other_low), choose(high, other_high)
            case ast.Call(ast.Attribute(_, "Cast"), [_, value]):
                return self._bounds(value)
            case ast.Call(ast.Attribute(_, "round" | "nearbyint" | "floor" | "ceil" | "trunc"), [value]):
                low, high = self._bounds(value)
                return np.floor(low), np.ceil(high)
            case ast.BinOp(left, ast.Add(), right):
                (low, high), (other_low, other_high) = self._bounds(left), self._bounds(right)
                return low + other_low, high + other_high
        return -np.inf, np.inf

    def _number(self, node: ast.expr) -> float | None:
        """What a number is that does not depend on the sum."""
        match node:
            case ast.Constant(int() | float() as value):
                return float(value)
            case ast.UnaryOp(ast.USub(), value) if (number := self._number(value)) is not None:
                return -number
            case ast.Name(name) if name in self.values:
                return float(self.values[name])
            case ast.Call(ast.Attribute(_, name), [*_, value]) if name in _CONVERSIONS:
                return self._number(value)
        return None


_CONVERSIONS = ("Cast", "float32", "float64", "int8", "int32", "int64")


def _copy(expression: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(expression), mode="eval").body


class _Replace(ast.NodeTransformer):
    """Writes a sum and numbers for what an expression reads."""

    def __init__(self, access: str, values: Mapping[str, int | float], scales: Collection[str]):
        self.access, self.values, self.scales = access, values, scales

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return ast.Name("____") if ast.unparse(node) == self.access else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.scales:
            return ast.Name(f"__{node.id}__")
        value = self.values.get(node.id)
        if value is None:
            return node
        return ast.parse(repr(value), mode="eval").body
