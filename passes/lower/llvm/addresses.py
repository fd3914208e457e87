"""Lower accesses of buffers to loads and stores of addresses that share what they have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mlir import ir

from tir_mlir.dialect.ir.index import over_dims, used_dims
from tir_mlir.dialect.ir.lowering_op_views import GetElementPtrOp
from tir_mlir.dialect.ir.op_traits import ADDRESSED, MEMREF_OPERAND, stored_value
from tir_mlir.dialect.ir.op_views import (
    AffineAccessOp,
    AffineForOp,
    ApplyOp,
    CompareIntegersOp,
    FuncOp,
    ScfIfOp,
    defining_op,
    isa,
    matches,
)
from tir_mlir.passes.lower.op_attrs import is_row_major
from tir_mlir.passes.lower.registry import lowering

_WIDTHS = (8, 16, 32, 64)
_FLOATS = (ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)
_MAX_CONSTANT = 1 << 28
"""Larger constants are no part of a getelementptr."""


@dataclass(frozen=True, eq=False, slots=True)
class _OpPosition:
    """Before the op `ops[index]` of a block. number: later in the function, or deeper in it, is larger."""

    number: int
    ops: Sequence[ir.Operation]
    index: int

    @property
    def next_op(self) -> ir.Operation:
        return self.ops[self.index]


@dataclass(frozen=True, eq=False, slots=True)
class _Word:
    """A number (i64) or pointer, and the position from which on it is known. natural: it is never negative."""

    value: ir.Value
    position: _OpPosition
    natural: bool = False


@lowering("tir-lower-addresses", "Lower accesses of dense buffers to loads and stores of shared addresses")
def run(module: ir.Module) -> None:
    """Compute common parts of addresses once, where their operands are first known.

        affine.for %i {                                    affine.for %i {
          affine.for %j {                                    %a = llvm.mul %i, 64
            affine.load %A[%i, %j]                           affine.for %j {
            affine.load %A[%i, %j + 1]           -->           %p = llvm.getelementptr %A[%a + %j]
          }                                                    llvm.load %p
        }                                                      llvm.load (llvm.getelementptr %p[1])
                                                             } }

    For buffers whose strides are constant; the others go the way of upstream, which computes each address anew.
    """
    templates = _Templates()
    try:
        for op in module.body.operations:
            if isa(op.operation, FuncOp) and len(op.regions[0].blocks):
                _AddressLowering(templates).lower(op.regions[0].blocks[0])
    finally:
        templates.erase_unfinished()


_TEMPLATES = """llvm.func @templates(%p: !llvm.ptr, %i: i64) {
  llvm.mul %i, %i overflow<nsw> : i64
  llvm.mul %i, %i overflow<nsw, nuw> : i64
  llvm.add %i, %i overflow<nsw> : i64
  llvm.add %i, %i overflow<nsw, nuw> : i64
  llvm.getelementptr inbounds|nuw %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.getelementptr inbounds|nuw %p[1] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.return
}"""
_MUL, _MUL_NATURAL, _ADD, _ADD_NATURAL, _ELEMENT, _STEP = range(6)


class _Templates:
    """Ops to copy: the bindings cannot set their flags."""

    def __init__(self) -> None:
        self._module = ir.Module.parse(_TEMPLATES)
        self._body = self._module.body.operations[0].regions[0].blocks[0]
        self._ops = [op.operation for op in self._body.operations]

    def insert(self, number: int, operands: Sequence[ir.Value], before: ir.Operation) -> ir.Operation:
        """A copy, with other operands."""
        op = self._ops[number].clone(ip=ir.InsertionPoint(before)).operation
        op.location = before.location
        for index, operand in enumerate(operands):
            op.operands[index] = operand
        return op

    def erase_unfinished(self) -> None:
        """Erase a copy that an interrupt left with operands of its template, which do not outlive this object."""
        owners = [use.owner.operation for value in self._body.arguments for use in value.uses]
        for op in {op: None for op in owners if op.block != self._body}:
            op.erase()


class _AddressLowering:
    """The words of a function, so far."""

    def __init__(self, templates: _Templates) -> None:
        self._templates = templates
        self._positions: dict[ir.Value, _OpPosition] = {}
        self._words: dict[ir.Value, _Word] = {}
        self._bases: dict[ir.Value, _Word] = {}
        self._made: dict[tuple[object, ...], _Word] = {}
        self._replaced: list[ir.Operation] = []
        self._start: _OpPosition | None = None

    def lower(self, body: ir.Block) -> None:
        """Lower all accesses in the body of a function."""
        self._lower_block(body)
        for op in reversed(self._replaced):
            op.erase()

    def _lower_block(self, block: ir.Block) -> None:
        ops = [op.operation for op in block.operations]
        self._record_positions(block.arguments, _search_body_ops(ops) or ops, 0)
        near: dict[tuple[_Word, int], ir.Value] = {}
        for index, op in enumerate(ops):
            if op.name in ADDRESSED:
                if self._access(op, near):
                    self._replaced.append(op)
                    continue
            else:
                for region in op.regions:
                    for inner in region.blocks:
                        self._lower_block(inner)
            self._record_positions(op.results, ops, index + 1)

    def _record_positions(self, values: Sequence[ir.Value], ops: Sequence[ir.Operation], index: int) -> None:
        if not len(values):
            if self._start is None:
                self._start = _OpPosition(0, ops, index)
            return
        position = _OpPosition(len(self._positions) + 1, ops, index)
        if self._start is None:
            self._start = position
        for value in values:
            self._positions[value] = position

    def _access(self, op: ir.Operation, near: dict[tuple[_Word, int], ir.Value]) -> bool:
        """Whether an access could be lowered; it has no uses then. near: pointers known in its block."""
        position, value, operands = MEMREF_OPERAND[op.name], stored_value(op), list(op.operands)
        type_, moved = operands[position].type, (op.results[0] if value is None else value).type
        attributes = op.attributes
        if (kind := _kind(moved, type_)) is None or "nontemporal" in attributes:
            return False
        strides, facts = kind
        if "alignment" in attributes:
            facts = {"alignment": attributes["alignment"]}
        map_ = ir.AffineMapAttr(attributes["map"]).value if isa(op, AffineAccessOp) else _identity(len(strides))
        if (form := linear(map_, strides)) is None:
            return False
        indices = operands[position + 1 :]
        words = [(self._word(term, map_, indices), term.factor) for term in form.terms]
        pointer = self._address(op, operands[position], words, form.constant, near)
        ip = ir.InsertionPoint(op)
        if value is None:
            load = ir.Operation.create("llvm.load", [moved], [pointer], facts, loc=op.location, ip=ip)
            op.results[0].replace_all_uses_with(load.results[0])
        else:
            ir.Operation.create("llvm.store", [], [value, pointer], facts, loc=op.location, ip=ip)
        return True

    def _address(
        self,
        op: ir.Operation,
        buffer: ir.Value,
        words: list[tuple[_Word, int]],
        constant: int,
        near: dict[tuple[_Word, int], ir.Value],
    ) -> ir.Value:
        """The address of the element with the number `sum(word * factor) + constant`."""
        words.sort(key=lambda each: each[0].position.number)
        whole = None
        for word, factor in words:
            product = self._product(word, factor)
            whole = product if whole is None else self._binary(_ADD, whole, product)
        if whole is not None and constant and not (whole.natural and 0 < constant < _MAX_CONSTANT):
            whole, constant = self._binary(_ADD, whole, self._constant(constant)), 0
        if whole is None and constant >= _MAX_CONSTANT:
            whole, constant = self._constant(constant), 0
        type_ = ir.MemRefType(buffer.type)
        pointer = self._base(buffer, type_)
        if whole is not None:
            pointer = self._pointer(pointer, whole, type_.element_type)
        if not constant:
            return pointer.value
        if (pointer, constant) not in near:
            near[pointer, constant] = self._step(op, pointer.value, constant, type_.element_type)
        return near[pointer, constant]

    def _word(self, term: Term, map_: ir.AffineMap, operands: Sequence[ir.Value]) -> _Word:
        value = self._quotient(term.expr, map_, operands) if term.operand is None else operands[term.operand]
        if value not in self._words:
            position = self._positions[value]
            cast = _insert("arith.index_cast", _i64(), [value], {}, position)
            self._words[value] = _Word(cast, position, _is_natural(value))
        return self._words[value]

    def _quotient(self, expr: ir.AffineExpr, map_: ir.AffineMap, operands: Sequence[ir.Value]) -> ir.Value:
        """An expression that divides, as an affine.apply where its operands are known."""
        over, numbers = of_its_operands(expr, map_.n_dims)
        divided = [operands[number] for number in numbers]
        key = (over, *divided)
        if key not in self._made:
            position = max((self._positions[v] for v in divided), key=lambda each: each.number)
            facts = {"map": ir.AffineMapAttr.get(over)}
            apply = _insert("affine.apply", ir.IndexType.get(), divided, facts, position)
            self._positions[apply] = position
            self._made[key] = _Word(apply, position)
        return self._made[key].value

    def _constant(self, value: int) -> _Word:
        if (value,) not in self._made:
            assert self._start is not None
            facts = {"value": ir.IntegerAttr.get(_i64(), value)}
            constant = _insert("llvm.mlir.constant", _i64(), [], facts, self._start)
            self._made[value,] = _Word(constant, self._start, value >= 0)
        return self._made[value,]

    def _product(self, word: _Word, factor: int) -> _Word:
        return word if factor == 1 else self._binary(_MUL, word, self._constant(factor))

    def _binary(self, template: int, left: _Word, right: _Word) -> _Word:
        key = (template, left, right)
        if key not in self._made:
            position, natural = _later_position(left.position, right.position), left.natural and right.natural
            op = self._templates.insert(template + natural, [left.value, right.value], position.next_op)
            self._made[key] = _Word(op.results[0], position, natural)
        return self._made[key]

    def _base(self, buffer: ir.Value, type_: ir.MemRefType) -> _Word:
        if buffer not in self._bases:
            position = self._positions[buffer]
            descriptor = ir.Type.parse(_descriptor(type_.rank))
            cast = _insert("builtin.unrealized_conversion_cast", descriptor, [buffer], {}, position)
            facts = {"position": ir.DenseI64ArrayAttr.get([1])}
            self._bases[buffer] = _Word(_insert("llvm.extractvalue", _ptr(), [cast], facts, position), position)
        return self._bases[buffer]

    def _pointer(self, base: _Word, index: _Word, element: ir.Type) -> _Word:
        key = (base, index)
        if key not in self._made:
            position = _later_position(base.position, index.position)
            op = self._templates.insert(_ELEMENT, [base.value, index.value], position.next_op)
            op.attributes["elem_type"] = ir.TypeAttr.get(element)
            self._made[key] = _Word(op.results[0], position)
        return self._made[key]

    def _step(self, op: ir.Operation, pointer: ir.Value, constant: int, element: ir.Type) -> ir.Value:
        step = self._templates.insert(_STEP, [pointer], op)
        step.attributes["elem_type"] = ir.TypeAttr.get(element)
        step.attributes["rawConstantIndices"] = ir.DenseI32ArrayAttr.get([constant])
        return step.results[0]


def _search_body_ops(ops: Sequence[ir.Operation]) -> list[ir.Operation]:
    """The ops behind the test of a loop that only searches for a value: `tir-lower-bindings` makes it the value if
    nothing else is in it. Empty for any other body."""
    if len(ops) != 3 or not matches(ops[:2], CompareIntegersOp, ScfIfOp):
        return []
    return [op.operation for op in ops[1].regions[0].blocks[0].operations]


def _insert(
    name: str, type_: ir.Type, operands: Sequence[ir.Value], facts: Mapping[str, ir.Attribute], position: _OpPosition
) -> ir.Value:
    before = position.next_op
    ip = ir.InsertionPoint(before)
    return ir.Operation.create(name, [type_], operands, dict(facts), loc=before.location, ip=ip).results[0]


def _later_position(first: _OpPosition, second: _OpPosition) -> _OpPosition:
    return second if second.number > first.number else first


@lru_cache(maxsize=1024)
def _kind(moved: ir.Type, type_: ir.MemRefType) -> tuple[tuple[int, ...], dict[str, ir.Attribute]] | None:
    """The strides of a buffer, and the attributes of a load of such a value from it; None if it is to remain."""
    element, strides = type_.element_type, strides_of(type_)
    is_vector = isinstance(moved, ir.VectorType)
    if strides is None or (size := _bits(element)) is None or element != (moved.element_type if is_vector else moved):
        return None
    if not is_vector:
        return strides, {}
    return (strides, {"alignment": ir.IntegerAttr.get(_i64(), size // 8)}) if moved.rank == 1 else None


@lru_cache(maxsize=64)
def _identity(rank: int) -> ir.AffineMap:
    return ir.AffineMap.get_identity(rank)


def _bits(element: ir.Type) -> int | None:
    """The size of a number in memory that LLVM has as it is; None for any other type."""
    if isinstance(element, _FLOATS):
        return element.width
    return element.width if isinstance(element, ir.IntegerType) and element.width in _WIDTHS else None


def _is_natural(value: ir.Value) -> bool:
    """Whether a value is surely never negative: the variable of a loop from 0, or a sum of such ones."""
    owner = value.owner
    if not isinstance(owner, ir.Block):
        return isa(owner, ApplyOp) and _are_natural(owner.operation, "map", list(owner.operands))
    loop = owner.owner.operation
    if not isa(loop, AffineForOp) or owner.arguments[0] != value:
        return False
    map_ = ir.AffineMapAttr(loop.attributes["lowerBoundMap"]).value
    return _are_natural(loop, "lowerBoundMap", list(loop.operands)[: map_.n_inputs])


def _are_natural(op: ir.Operation, name: str, operands: Sequence[ir.Value]) -> bool:
    naturals = [_is_natural(v) for v in operands]
    return any(is_natural(expr, naturals) for expr in over_dims(ir.AffineMapAttr(op.attributes[name]).value))


def _i64() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _ptr() -> ir.Type:
    return ir.Type.parse("!llvm.ptr")


@lru_cache(maxsize=64)
def _descriptor(rank: int) -> str:
    """The type of what upstream passes for a buffer."""
    return f"!llvm.struct<(ptr, ptr, i64{f', array<{rank} x i64>' * 2 if rank else ''})>"


def _steps(address: ir.Value) -> list[GetElementPtrOp]:
    """The ops that compute an address from the start of its buffer, the last one first."""
    steps: list[GetElementPtrOp] = []
    while step := defining_op(address, GetElementPtrOp):
        steps.append(step)
        address = step.base
    return steps


def base_of_address(address: ir.Value) -> ir.Value:
    """Where the buffer of an address starts."""
    steps = _steps(address)
    return steps[-1].base if steps else address


def offset_of_address(address: ir.Value) -> tuple[ir.Attribute, ...]:
    """The constants in an address."""
    return tuple([step.op.attributes["rawConstantIndices"] for step in _steps(address)])


def parts_of_address(value: ir.Value) -> list[ir.Value]:
    """The numbers on which an address depends, besides its buffer; of a number, itself."""
    if value.type != _ptr():
        return [value]
    return [operand for step in _steps(value) for operand in step.operands[1:]]


@dataclass(frozen=True, slots=True)
class Term:
    """`factor * operands[operand]`; operand None: `factor * expr`, where `expr` divides."""

    factor: int
    operand: int | None
    expr: ir.AffineExpr


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms and a constant."""

    terms: tuple[Term, ...]
    constant: int


@lru_cache(maxsize=4096)
def linear(map_: ir.AffineMap, strides: tuple[int, ...]) -> Sum | None:
    """The sum of the results of a map, each times its stride. The symbols of the map count after its dimensions. None
    if it divides or multiplies by one of them."""
    factors: dict[ir.AffineExpr, int] = {}
    results = zip(over_dims(map_), strides, strict=True)
    constant = sum(_collect(result, stride, factors) for result, stride in results)
    if not all(map(_is_pure, factors)):
        return None
    terms = [Term(f, e.position if isinstance(e, ir.AffineDimExpr) else None, e) for e, f in factors.items() if f]
    return Sum(tuple(terms), constant)


def _collect(expr: ir.AffineExpr, factor: int, factors: dict[ir.AffineExpr, int]) -> int:
    """Add `factor * expr` to the factors of its terms; the constant in it."""
    if isinstance(expr, ir.AffineConstantExpr):
        return factor * expr.value
    if isinstance(expr, ir.AffineAddExpr):
        return sum(_collect(side.maybe_downcast(), factor, factors) for side in (expr.lhs, expr.rhs))
    if isinstance(expr, ir.AffineMulExpr) and isinstance(scale := expr.rhs.maybe_downcast(), ir.AffineConstantExpr):
        return _collect(expr.lhs.maybe_downcast(), factor * scale.value, factors)
    factors[expr] = factors.get(expr, 0) + factor
    return 0


def _is_pure(expr: ir.AffineExpr) -> bool:
    """Whether an expression multiplies and divides by constants only."""
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return True
    is_sum = isinstance(expr, ir.AffineAddExpr)
    return _is_pure(expr.lhs) and (
        _is_pure(expr.rhs) if is_sum else isinstance(expr.rhs.maybe_downcast(), ir.AffineConstantExpr)
    )


def strides_of(type_: ir.MemRefType) -> tuple[int, ...] | None:
    """The strides of a buffer that is dense from its first element on; None if they are not constant."""
    unknown, shape = ir.ShapedType.get_dynamic_size(), type_.shape
    if type_.memory_space is not None or not is_row_major(type_) or unknown in shape[1:]:
        return None
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return tuple(strides[: type_.rank])


def is_natural(expr: ir.AffineExpr, naturals: Sequence[bool]) -> bool:
    """Whether an expression over dimensions is surely never negative, given which of them are not."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineConstantExpr):
        return expr.value >= 0
    if isinstance(expr, ir.AffineDimExpr):
        return naturals[expr.position]
    if isinstance(expr, ir.AffineModExpr):
        return True
    assert isinstance(expr, ir.AffineBinaryExpr)  # a sum, product or quotient
    return is_natural(expr.lhs, naturals) and is_natural(expr.rhs, naturals)


@lru_cache(maxsize=4096)
def of_its_operands(expr: ir.AffineExpr, dims: int) -> tuple[ir.AffineMap, tuple[int, ...]]:
    """An expression as a map of the dimensions that it uses, and their numbers. Those from `dims` on are symbols."""
    numbers = sorted(used_dims(expr))
    of_dims = sum(number < dims for number in numbers)
    positions: list[ir.AffineExpr] = [ir.AffineExpr.get_constant(0)] * (max(numbers) + 1)
    for new, old in enumerate(numbers):
        is_dim = new < of_dims
        positions[old] = ir.AffineExpr.get_dim(new) if is_dim else ir.AffineExpr.get_symbol(new - of_dims)
    sizes = of_dims, len(numbers) - of_dims
    return ir.AffineMap.get(*sizes, [expr.compose(ir.AffineMap.get(*sizes, positions))]), tuple(numbers)
