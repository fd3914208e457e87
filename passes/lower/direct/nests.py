"""Blocks as nests of loops: adjacent loops are one where accesses allow it, the last axis of the result is computed by
vectors, and a reduction keeps a tile of its results in registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tir_mlir.dialect.ir.op_traits import OPS
from tir_mlir.dialect.ir.op_views import CompareFloatsOp, NegFOp, RsqrtOp, SelectOp
from tir_mlir.passes.lower.direct.program import (
    BranchExpr,
    ConstantExpr,
    ElementNest,
    Expression,
    LoadExpr,
    OperationExpr,
    PartialExpr,
)
from tir_mlir.passes.lower.direct.text import Affine, FunctionText, NotDirect, flat, iters_of, number

_BINARY = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_PREDICATES = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()

Value = tuple[str, bool]
"""A value of LLVM IR, and whether it is a vector."""
LARGE_SCALAR = 1 << 22
"""Steps of a reduction that is not worth it without vectors."""
MOST_VECTORS = 8
"""Vectors side by side of a tile."""


@dataclass(frozen=True)
class VectorRegisters:
    """Elements of a vector register, and how many registers hold results."""

    lanes: int
    results: int

    @staticmethod
    def from_vector_registers(vector_bits: int, count: int) -> VectorRegisters:
        """Of a CPU with so many vector registers, of which half hold results."""
        return VectorRegisters(max(1, vector_bits // 32), count // 2)

    @property
    def rows(self) -> int:
        """The most rows of a tile, of two vectors each."""
        return self.results // 2


@dataclass(frozen=True)
class Piece:
    """Elements of the last axis, from first to end, in blocks of `vectors` vectors of `width` elements."""

    first: int
    end: int
    width: int
    vectors: int

    @property
    def step(self) -> int:
        return self.width * self.vectors

    @property
    def blocks(self) -> int:
        return (self.end - self.first) // self.step


def merge_adjacent_loops(nest: ElementNest) -> ElementNest:
    """The nest with one loop for adjacent ones that go through all buffers alike."""
    nest = ElementNest(nest.memory, nest.extents, nest.sums, _flat(nest.value, {}), nest.start)
    number = len(nest.extents) - 2
    while number >= 0:
        if (number in nest.sums) == (number + 1 in nest.sums) and _can_join(
            nest.value, number, nest.extents[number + 1]
        ):
            nest = _join(nest, number)
        number -= 1
    return nest


def _flat(value: Expression, done: dict[int, Expression]) -> Expression:
    """The same with the numbers of elements for indices."""
    if id(value) not in done:
        result: Expression = value
        if isinstance(value, LoadExpr):
            result = LoadExpr(value.memory, (address_of(value),))
        elif isinstance(value, OperationExpr):
            result = OperationExpr(value.name, tuple(_flat(part, done) for part in value.operands), value.predicate)
        elif isinstance(value, BranchExpr):
            result = BranchExpr(value.conditions, _flat(value.then, done), _flat(value.otherwise, done))
        done[id(value)] = result
    return done[id(value)]


def _affines(value: Expression) -> list[tuple[Affine, bool]]:
    """The expressions of iters in it, and whether each is an address."""
    if isinstance(value, LoadExpr):
        return [(value.indices[0], True)]
    if isinstance(value, OperationExpr):
        return [found for part in value.operands for found in _affines(part)]
    if isinstance(value, BranchExpr):
        return [*((c, False) for c, _ in value.conditions), *_affines(value.then), *_affines(value.otherwise)]
    return []


def _can_join(value: Expression, outer: int, extent: int) -> bool:
    """Whether a loop around one of this extent continues it in all buffers."""
    for affine, is_address in _affines(value):
        if any(part.value.uses(outer) or part.value.uses(outer + 1) for part, _ in affine.parts):
            return False
        factors = dict(affine.iters)
        if factors.get(outer, 0) != extent * factors.get(outer + 1, 0) or not (
            is_address or not factors.get(outer + 1)
        ):
            return False
    return True


def _join(nest: ElementNest, outer: int) -> ElementNest:
    """The nest in which an iter and the next one are one."""
    extents = list(nest.extents)
    extents[outer : outer + 2] = [extents[outer] * extents[outer + 1]]
    moved = [Affine(0, ((n if n <= outer else n - 1, 1),)) for n in range(len(nest.extents))]
    moved[outer] = Affine()  # its factor is in that of the next one
    sums = tuple(sorted({n if n <= outer else n - 1 for n in nest.sums}))
    return ElementNest(nest.memory, tuple(extents), sums, _substitute_iters(nest.value, moved), nest.start)


def _substitute_iters(value: Expression, iters: Sequence[Affine]) -> Expression:
    if isinstance(value, LoadExpr):
        return LoadExpr(value.memory, (value.indices[0].substitute(iters),))
    if isinstance(value, OperationExpr):
        return OperationExpr(
            value.name, tuple(_substitute_iters(part, iters) for part in value.operands), value.predicate
        )
    if isinstance(value, BranchExpr):
        conditions = tuple((c.substitute(iters), is_zero) for c, is_zero in value.conditions)
        return BranchExpr(conditions, _substitute_iters(value.then, iters), _substitute_iters(value.otherwise, iters))
    return value


class NestWriter:
    """Writes one nest, as pieces: `pieces` tells them, `steps` how many iterations of its loop one has, `write` writes
    one iteration."""

    def __init__(self, nest: ElementNest, registers: VectorRegisters):
        self.nest = nest = merge_adjacent_loops(nest)
        self._registers, outer = registers, nest.outer
        self._lane = outer[-1] if outer else None
        self._row = outer[-2] if nest.sums and len(outer) > 1 else None
        self._rows = 1 if self._row is None else _divisor(nest.extents[self._row], registers.rows)
        self._others = [n for n in outer if n not in (self._lane, self._row)]
        self.pieces = self._pieces()
        if nest.sums and prod(nest.extents) > LARGE_SCALAR and self.pieces[0].width == 1:
            raise NotDirect("a large reduction without vectors")

    def _pieces(self) -> list[Piece]:
        if self._lane is None:
            return [Piece(0, 1, 1, 1)]
        extent, width = self.nest.extents[self._lane], self._registers.lanes
        while width > 1 and not fits(self.nest.value, self._lane, width):
            width //= 2
        most = min(MOST_VECTORS, max(1, self._registers.results // self._rows)) if self.nest.sums else 1
        pieces, first = [], 0
        while first < extent:
            while width > extent - first:
                width //= 2
            vectors = min(most, (extent - first) // width)
            pieces.append(Piece(first, first + (extent - first) // (width * vectors) * width * vectors, width, vectors))
            first = pieces[-1].end
        return pieces

    def steps(self, piece: Piece) -> int:
        """The iterations of the loop of a piece."""
        others = prod(self.nest.extents[n] for n in self._others)
        if not self.nest.sums:
            return others
        return piece.blocks * others * (self._row_tiles)

    @property
    def _row_tiles(self) -> int:
        return 1 if self._row is None else self.nest.extents[self._row] // self._rows

    def write(self, text: FunctionText, piece: Piece, step: str) -> None:
        """Write an iteration of the loop of a piece."""
        iters = ["0"] * len(self.nest.extents)
        if not self.nest.sums:
            self._digits(text, step, [(n, self.nest.extents[n], 1) for n in self._others], iters)
            self._elements(text, piece, iters)
            return
        digits = [(n, self.nest.extents[n], 1) for n in self._others]
        if self._row is not None:
            digits.append((self._row, self._row_tiles, self._rows))
        if self._lane is not None:
            digits.insert(0, (self._lane, piece.blocks, piece.step))
        self._digits(text, step, digits, iters)
        if self._lane is not None and piece.first:
            iters[self._lane] = text.value(f"add nsw i64 {iters[self._lane]}, {piece.first}")
        self._tile(text, piece, iters)

    @staticmethod
    def _digits(text: FunctionText, step: str, digits: Sequence[tuple[int, int, int]], iters: list[str]) -> None:
        """Values of iters, (iter, extent, factor), of the number of an iteration."""
        stride = step
        for position, (number_, extent, factor) in reversed(list(enumerate(digits))):
            if extent == 1:
                continue
            is_first = all(other == 1 for _, other, _ in digits[:position])
            digit = stride if is_first else text.value(f"urem i64 {stride}, {extent}")
            stride = stride if is_first else text.value(f"udiv i64 {stride}, {extent}")
            iters[number_] = digit if factor == 1 else text.value(f"mul nsw i64 {digit}, {factor}")

    def _elements(self, text: FunctionText, piece: Piece, iters: list[str]) -> None:
        """Compute the elements of a piece, in a loop along the lane."""
        if self._lane is None:
            self._element(text, piece, iters)
            return
        with text.loop(str(piece.first), str(piece.end), piece.width) as lane:
            self._element(text, piece, [lane if n == self._lane else value for n, value in enumerate(iters)])

    def _element(self, text: FunctionText, piece: Piece, iters: list[str]) -> None:
        writer = ExpressionWriter(text, iters, self._element_iters(0, 0), self._lane, piece.width)
        result = writer.widen(writer.write(self.nest.value))
        self._store(text, writer, result)

    def _store(self, text: FunctionText, writer: ExpressionWriter, result: str) -> None:
        pointer = writer.pointer(self.nest.memory.name, self._target())
        text.do(f"store {writer.type} {result}, ptr {pointer}, align 4")

    def _target(self) -> Affine:
        """The number of the element that is stored."""
        factors, factor = {}, 1
        for n in reversed(self.nest.outer):
            factors[n] = factor
            factor *= self.nest.extents[n]
        return iters_of(factors)

    def _element_iters(self, row: int, lane: int) -> list[Affine]:
        """The iters of an element of a tile."""
        shifts = {self._row: row, self._lane: lane}
        return [Affine(shifts.get(n, 0), ((n, 1),)) for n in range(len(self.nest.extents))]

    def _tile(self, text: FunctionText, piece: Piece, iters: list[str]) -> None:
        """Compute a tile of a reduction: results in registers, sums innermost."""
        nest, type_ = self.nest, f"<{piece.width} x float>" if piece.width > 1 else "float"
        start = number(nest.start or 0.0)
        first = f"<{', '.join([f'float {start}'] * piece.width)}>" if piece.width > 1 else start
        tile = [(row, vector * piece.width) for row in range(self._rows) for vector in range(piece.vectors)]
        slots = {cell: text.slot(type_) for cell in tile}
        for slot in slots.values():
            text.do(f"store {type_} {first}, ptr {slot}")
        self._sum(text, piece, iters, list(nest.sums), slots)
        for cell, slot in slots.items():
            writer = ExpressionWriter(text, iters, self._element_iters(*cell), self._lane, piece.width)
            self._store(text, writer, text.value(f"load {type_}, ptr {slot}"))

    def _sum(
        self, text: FunctionText, piece: Piece, iters: list[str], sums: list[int], slots: dict[tuple[int, int], str]
    ) -> None:
        if sums:
            with text.loop("0", str(self.nest.extents[sums[0]]), 1) as variable:
                inner = [variable if n == sums[0] else value for n, value in enumerate(iters)]
                self._sum(text, piece, inner, sums[1:], slots)
            return
        for cell, slot in slots.items():
            type_ = f"<{piece.width} x float>" if piece.width > 1 else "float"
            partial = text.value(f"load {type_}, ptr {slot}"), piece.width > 1
            writer = ExpressionWriter(
                text, iters, self._element_iters(*cell), self._lane, piece.width, partial, "contract "
            )
            text.do(f"store {type_} {writer.widen(writer.write(self.nest.value))}, ptr {slot}")


def _divisor(extent: int, most: int) -> int:
    """The largest divisor of an extent up to `most`."""
    return max(size for size in range(1, min(extent, most) + 1) if extent % size == 0)


class ExpressionWriter:
    """Writes expressions. width: elements of a vector, 1 for single elements. lane: the iter along which they are.
    iters: the values of iters, of the lane that of the first element. moved: what each iter is, of these. partial: what
    a reduction has so far. flags: of operations on floats."""

    def __init__(
        self,
        text: FunctionText,
        iters: Sequence[str],
        moved: Sequence[Affine],
        lane: int | None,
        width: int,
        partial: Value | None = None,
        flags: str = "",
    ):
        self._text, self._iters, self._moved = text, iters, moved
        self._lane, self._width, self._partial, self._flags = lane, width, partial, flags
        self._done: dict[int, Value] = {}

    @property
    def type(self) -> str:
        """The type of what is written."""
        return f"<{self._width} x float>" if self._width > 1 else "float"

    def widen(self, value: Value) -> str:
        """A value as a vector, if elements are written by vectors."""
        return self._splat(value, "float") if self._width > 1 else value[0]

    def write(self, value: Expression) -> Value:
        """The value of an expression."""
        if id(value) not in self._done:
            self._done[id(value)] = self._emit_value(value)
        return self._done[id(value)]

    def pointer(self, base: str, address: Affine) -> str:
        """The address of an element of a buffer."""
        return self._text.pointer(base, address.substitute(self._moved), self._iters)

    def _emit_value(self, value: Expression) -> Value:
        if isinstance(value, ConstantExpr):
            return number(value.value), False
        if isinstance(value, PartialExpr):
            assert self._partial is not None
            return self._partial
        if isinstance(value, LoadExpr):
            return self._emit_load(value)
        if isinstance(value, BranchExpr):
            return self._emit_branch(value)
        return self._emit_operation(value)

    def _emit_load(self, load: LoadExpr) -> Value:
        address = address_of(load)
        is_vector = self._width > 1 and self._lane is not None and bool(address.step(self._lane, self._width))
        type_ = self.type if is_vector else "float"
        pointer = self.pointer(load.memory.name, address)
        return self._text.emit_once(("load", type_, pointer), f"load {type_}, ptr {pointer}, align 4"), is_vector

    def _emit_branch(self, choice: BranchExpr) -> Value:
        """A branch: what is not chosen may read outside of buffers."""
        text, labels = self._text, [self._text.label() for _ in range(3)]
        holds = "true"
        for condition, is_zero in choice.conditions:
            what = text.index(condition.substitute(self._moved), self._iters)
            one = text.value(f"icmp {'eq' if is_zero else 'sge'} i64 {what}, 0")
            holds = one if holds == "true" else text.value(f"and i1 {holds}, {one}")
        text.do(f"br i1 {holds}, label %{labels[0]}, label %{labels[1]}")
        ends = []
        for label, side in zip(labels[:2], (choice.then, choice.otherwise), strict=True):
            text.start(label)
            outer_values, self._done = self._done, dict(self._done)
            with text.scope():
                result = self.widen(self.write(side))
            self._done = outer_values
            ends.append(f"[ {result}, %{text.block} ]")
            text.do(f"br label %{labels[2]}")
        text.start(labels[2])
        return text.value(f"phi {self.type} {', '.join(ends)}"), self._width > 1

    def _emit_operation(self, operation: OperationExpr) -> Value:
        operands = [self.write(part) for part in operation.operands]
        is_vector = any(vector for _, vector in operands)
        if operation.name in SelectOp.names:
            return self._emit_select(operands, is_vector)
        names = [self._splat(operand, "float") if is_vector else operand[0] for operand in operands]
        type_ = f"<{self._width} x float>" if is_vector else "float"
        if operation.name in CompareFloatsOp.names:
            predicate = _PREDICATES[operation.predicate]
            return self._text.value(f"fcmp {predicate} {type_} {names[0]}, {names[1]}"), is_vector
        if operation.name in NegFOp.names:
            return self._text.value(f"fneg {type_} {names[0]}"), is_vector
        if (name := _BINARY.get(OPS[operation.name].c)) is not None:
            return self._text.value(f"{name} {self._flags}{type_} {names[0]}, {names[1]}"), is_vector
        suffix = f"v{self._width}f32" if is_vector else "f32"
        arguments = ", ".join(f"{type_} {name}" for name in names)
        root = operation.name in RsqrtOp.names
        name = "sqrt" if root else OPS[operation.name].llvm.split()[0]
        result = self._text.value(f"call {type_} @llvm.{name}.{suffix}({arguments})")
        if root:
            one = self._splat((number(1.0), False), "float") if is_vector else number(1.0)
            result = self._text.value(f"fdiv {type_} {one}, {result}")
        return result, is_vector

    def _emit_select(self, operands: Sequence[Value], is_vector: bool) -> Value:
        (condition, of_vectors), *sides = operands
        names = [self._splat(side, "float") if is_vector else side[0] for side in sides]
        type_ = f"<{self._width} x float>" if is_vector else "float"
        of_type = f"<{self._width} x i1>" if of_vectors else "i1"
        return self._text.value(f"select {of_type} {condition}, {type_} {names[0]}, {type_} {names[1]}"), is_vector

    def _splat(self, value: Value, element: str) -> str:
        name, is_vector = value
        if is_vector:
            return name
        width = self._width
        if not name.startswith("%"):
            return f"<{', '.join([f'{element} {name}'] * width)}>"
        first = self._text.emit_once(
            ("first", name, width), f"insertelement <{width} x {element}> poison, {element} {name}, i64 0"
        )
        vector = f"<{width} x {element}>"
        shuffled = f"shufflevector {vector} {first}, {vector} poison, <{width} x i32> zeroinitializer"
        return self._text.emit_once(("splat", name, width), shuffled)


def address_of(load: LoadExpr) -> Affine:
    """The number of the element that is loaded."""
    return load.indices[0] if len(load.indices) == 1 else flat(load.indices, load.memory.shape)


def fits(value: Expression, lane: int, width: int) -> bool:
    """Whether vectors along an iter, from multiples of their width on, can be computed: each load is of adjacent
    elements, or of one, and conditions are the same for all."""
    if isinstance(value, LoadExpr):
        return address_of(value).step(lane, width) in (0, 1)
    if isinstance(value, OperationExpr):
        return all(fits(part, lane, width) for part in value.operands)
    if isinstance(value, BranchExpr):
        alike = not any(condition.uses(lane) for condition, _ in value.conditions)
        return alike and fits(value.then, lane, width) and fits(value.otherwise, lane, width)
    return True
