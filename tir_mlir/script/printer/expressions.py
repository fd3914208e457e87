"""Printing of scalar expressions: the expression tree of an SSA value as one Python expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.analysis import address, base_of, declared_count, extra_offset
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Buffer, Constraint, Index, attrs, dtypes, read_apply, read_map, signs, walk
from tir_mlir.dialect.ir.lowering_op_views import BroadcastOp
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, UNSIGNED, accessed_memref, index_operands
from tir_mlir.dialect.ir.op_views import (
    ApplyOp,
    BinaryOp,
    BitcastOp,
    CastOp,
    CompareOp,
    ConstantOp,
    DimOp,
    IfOp,
    IndexCastOp,
    IndexCastSIOp,
    LoadOp,
    NegFOp,
    ScfIfOp,
    StridedMetadataOp,
    XOrIOp,
    defining_op,
    isa,
)
from tir_mlir.dialect.presburger import disjunction, enclosing_ranges, has_division, intervals, sides
from tir_mlir.script.language import words
from tir_mlir.script.printer import vector_values
from tir_mlir.script.printer.buffers import stride_names
from tir_mlir.script.printer.expression_text import (
    ADD,
    AND,
    COMPARE,
    MUL,
    NOT,
    OR,
    UNARY,
    ExprText,
    binary,
    call,
    constant,
    quote,
)
from tir_mlir.script.printer.index_exprs import IndexPrinter
from tir_mlir.script.printer.value_names import ValueNames

if TYPE_CHECKING:
    from tir_mlir.script.printer.expressions import ValuePrinter


_PRECEDENCE = {"+": ADD, "-": ADD, "*": MUL, "/": MUL, "//": MUL}
OPERATORS = {op: (o.symbol, _PRECEDENCE[o.symbol]) for o in words.OPERATIONS if o.infix for op in o.ops}
CALLS = {op: f"T.{o.name}" for o in words.OPERATIONS if not o.infix for op in o.ops}
CALLS["math.ipowi"] = "T.pow"  # for reading: the parser has no integer power
LOGICAL = {
    "arith.andi": ("and", AND, "T.bitwise_and"),
    "arith.ori": ("or", OR, "T.bitwise_or"),
    "arith.xori": ("!=", COMPARE, "T.bitwise_xor"),
}
"""Ops that print as an operator on bools and as a call on integers."""

OPERATORS |= {"arith.divui": OPERATORS["arith.floordivsi"], "arith.remui": ("%", MUL)}
CALLS |= {UNSIGNED[op]: text for op, text in CALLS.items() if op in UNSIGNED and "div" not in op}
CALLS["arith.ceildivui"] = CALLS["arith.ceildivsi"]
_CMPI = {number: symbol for symbol, number in words.CMPI.items()}
_CMPF = {number: symbol for symbol, number in words.CMPF.items()}
_UNORDERED = {9: "<=", 10: "<", 11: ">=", 12: ">"}  # true when the ordered comparison here is false


class ValuePrinter:
    """Prints the expression of an SSA value; a value bound to a name prints as the name."""

    def __init__(self, names: ValueNames):
        self.names = names
        self.indices = IndexPrinter(self.text, names.rank)
        self._known: dict[ir.Value, ExprText] = {}
        self._handlers: dict[str, Callable[[ir.Operation, ir.Value], ExprText]] = {
            "affine.apply": lambda op, value: self.index(read_apply(value)),
            "affine.min": lambda op, value: self._extremum(op, "T.min"),
            "affine.max": lambda op, value: self._extremum(op, "T.max"),
            AFFINE_LOAD: lambda op, value: self.affine_access(op),
            "memref.load": lambda op, value: self.access(LoadOp(op).memref, index_operands(op)),
            "arith.index_cast": lambda op, value: self._index_cast(op, value),
            "arith.index_castui": lambda op, value: self._index_cast(op, value),
            "arith.cmpi": lambda op, value: self._compare_ints(op),
            "arith.cmpf": lambda op, value: self._compare_floats(op),
            "arith.negf": lambda op, value: ExprText(f"-{self.text(NegFOp(op).operand).parenthesize(UNARY)}", UNARY),
            "arith.bitcast": self._bitcast,
            "func.call": lambda op, value: self.call_extern(op),
            "memref.dim": self._dim,
            "memref.extract_strided_metadata": self._metadata,
            "llvm.inttoptr": lambda op, value: access_ptr(self, op),
            **vector_values.handlers(self),
        }

    def text(self, value: ir.Value) -> ExprText:
        """The expression of a value."""
        name = self.names.get(value)
        if name is not None:
            return ExprText(name)
        cached = self._known.get(value)
        if cached is None:
            cached = self._known[value] = self._make(value, None)
        return cached

    def alias(self, variable: ir.Value, value: ir.Value) -> None:
        """Print a variable as the expression of a value."""
        self._known[variable] = self.text(value)

    def typed_text(self, value: ir.Value, dtype: str | None) -> ExprText:
        """The expression of a value as an operand of an integer type: int8 as uint8 and back is a cast, and a constant
        takes the type."""
        if dtype is None or not signs.is_integer(value.type):
            return self.text(value)
        value_dtype = signs.dtype_of(value)
        dtype = dtypes.with_lanes(dtype, dtypes.lanes(dtypes.to_name(value.type)))
        if value_dtype == dtype or (value_dtype is None and not dtypes.is_unsigned(dtype)):
            return self.text(value)
        return self._make(value, dtype) if value_dtype is None else call("T.Cast", quote(dtype), self.text(value))

    def index(self, index: Index) -> ExprText:
        """An affine index expression."""
        return self.indices.text(index)

    def subscript(self, buffer: ir.Value, parts: list[str]) -> ExprText:
        """`A[i, j]`; a buffer without dimensions is `A[()]`."""
        return ExprText(f"{self.text(buffer).text}[{', '.join(parts) or '()'}]")

    def access(self, buffer: ir.Value, indices: list[ir.Value]) -> ExprText:
        """A buffer at indices that are values."""
        return self.subscript(buffer, [self.text(i).text for i in indices])

    def affine_access(self, op: ir.Operation) -> ExprText:
        """The buffer element that an affine load or store accesses."""
        return self.subscript(accessed_memref(op), [self.index(i).text for i in walk.access_indices(op)])

    def call_extern(self, op: ir.Operation) -> ExprText:
        """`func.call @f(...)` -> `T.call_extern("int32", "f", ...)`."""
        results = list(op.results)
        dtype = _dtype_name(results[0]) if results else "void"
        callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        if callee in words.MATRIX_CALLS:
            layout = [quote(attrs.get(op, attrs.LAYOUT))] if attrs.LAYOUT in op.attributes else []
            return call(f"T.{callee}", *[self.text(a) for a in op.operands], *layout)
        return call("T.call_extern", quote(dtype), quote(callee), *[self.text(a) for a in op.operands])

    def condition(self, op: ir.Operation) -> ExprText:
        """The condition of an `affine.if` or `scf.if`."""
        if isa(op, ScfIfOp):
            return self.text(ScfIfOp(op).condition)
        parts = [self._part(c, op) for c in walk.constraints(op)]
        result = parts[0]
        for part in parts[1:]:
            result = binary(result, "and", part, AND)
        return result

    def always_holds(self, guard: ir.Operation) -> bool:
        """Whether the ranges of loops and iters imply a guard."""
        if isa(guard, ScfIfOp):
            return False
        box = enclosing_ranges(guard)
        return all(not c.is_eq and intervals.at_least_zero(c.index, box) for c in walk.constraints(guard))

    def _part(self, condition: Constraint, op: ir.Operation) -> ExprText:
        """One condition of a conjunction; one built by `either` prints as a disjunction."""
        box = enclosing_ranges(op)
        if has_division(condition.index.expr) and (disjuncts := sides(condition, box)) is not None:
            rebuilt = disjunction(*disjuncts, box)  # as the parser reads it
            if rebuilt is not None and rebuilt.index.is_equal_to(condition.index):
                return binary(self.indices.constraint(disjuncts[0]), "or", self.indices.constraint(disjuncts[1]), OR)
        return self.indices.constraint(condition)

    def _make(self, value: ir.Value, dtype: str | None) -> ExprText:
        """The expression of the op of a value; `dtype`: the type of constants, if nothing else says."""
        op = value.owner
        if isinstance(op, ir.Block):
            raise TirError(f"{value} is the argument of an op that is neither a loop nor a block")
        op = op.operation
        name = op.name
        if name in ConstantOp.names and isinstance(value.type, ir.VectorType):
            return vector_values.dense(op.attributes["value"], value.type, dtype)
        if name in ConstantOp.names:
            return constant(op.attributes["value"], value.type, dtype)
        if name in self._handlers:
            return self._handlers[name](op, value)
        operands, operand_dtype = list(op.operands), signs.operand_dtype(op) or dtype
        if name in IfOp.names:
            return self._if_then_else(op, value, signs.dtype_of(value) or dtype)
        if "tir.op" in op.attributes and attrs.get(op, attrs.OP) == "floormod":
            lhs, rhs = self._sides([operands[0], self._divisor(op)], operand_dtype)
            return binary(lhs, "%", rhs, MUL)
        if name in LOGICAL:
            return self._logical(op, operand_dtype)
        if name in OPERATORS:
            symbol, precedence = OPERATORS[name]
            lhs, rhs = self._sides(operands, operand_dtype)
            return binary(lhs, symbol, rhs, precedence)
        if name in CALLS:
            return call(CALLS[name], *self._sides(operands, operand_dtype))
        if name in CastOp.names:
            return self._cast(value, operands[0], operand_dtype)
        raise TirError(f"{name} has no TVMScript form ({op.location}); print this module as MLIR (`.text()`)")

    def _cast(self, value: ir.Value, operand: ir.Value, dtype: str | None) -> ExprText:
        if (literal := _constant_cast(operand, _dtype_name(value))) is not None:
            return literal
        return call(
            "T.Cast", _dtype(value), _explicit_int32(operand, _dtype_name(value)) or self.typed_text(operand, dtype)
        )

    def _bitcast(self, op: ir.Operation, value: ir.Value) -> ExprText:
        """Between floats and integers of one width; between a signed and an unsigned integer it is a cast."""
        operand = BitcastOp(op).source
        if signs.is_integer(value.type) and signs.is_integer(operand.type):
            return self._cast(value, operand, None)
        return call("T.reinterpret", _dtype(value), self.text(operand))

    def _sides(self, operands: list[ir.Value], dtype: str | None) -> list[ExprText]:
        """Operands of an op; if one is an index of an int64, the other indices are cast, as in the parser."""
        wide = [_is_wide(v) for v in operands]
        if not any(wide):
            return [self.typed_text(v, dtype) for v in operands]
        return [
            self.text(v) if is_wide else _constant_cast(v, "int64") or call("T.Cast", quote("int64"), self.text(v))
            for v, is_wide in zip(operands, wide, strict=True)
        ]

    @staticmethod
    def _divisor(op: ir.Operation) -> ir.Value:
        """b of `a - floordivsi(a, b) * b`."""
        product = defining_op(BinaryOp(op).rhs, BinaryOp)
        assert product is not None
        return product.rhs

    def _extremum(self, op: ir.Operation, function: str) -> ExprText:
        parts = [self.index(i) for i in read_map(ir.AffineMapAttr(op.attributes["map"]).value, list(op.operands))]
        result = parts[0]
        for part in parts[1:]:
            result = call(function, result, part)
        return result

    def _index_cast(self, op: ir.Operation, value: ir.Value) -> ExprText:
        if _dtype_name(value) not in ("index", "int32"):
            return self._cast(value, IndexCastOp(op).source, None)
        return self.typed_text(IndexCastOp(op).source, signs.operand_dtype(op))

    def _compare_ints(self, op: ir.Operation) -> ExprText:
        predicate, _ = signs.signed_predicate(ir.IntegerAttr(op.attributes["predicate"]).value)
        lhs, rhs = self._sides(list(op.operands), signs.operand_dtype(op))
        return binary(lhs, _CMPI[predicate], rhs, COMPARE)

    def _compare_floats(self, op: ir.Operation) -> ExprText:
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value
        lhs, rhs = (self.text(v) for v in op.operands)
        if predicate in _CMPF:
            return binary(lhs, _CMPF[predicate], rhs, COMPARE)
        if predicate in _UNORDERED:
            return _not(binary(lhs, _UNORDERED[predicate], rhs, COMPARE))
        if predicate == 14 and CompareOp(op).lhs == CompareOp(op).rhs:
            return call("T.isnan", lhs)
        raise TirError(f"this float comparison has no TVMScript form ({op.location})")

    def _logical(self, op: ir.Operation, dtype: str | None) -> ExprText:
        word, precedence, function = LOGICAL[op.name]
        lhs, rhs = op.operands
        if dtypes.element(_dtype_name(op.results[0])) != "bool":
            return call(function, self.typed_text(lhs, dtype), self.typed_text(rhs, dtype))
        if isa(op, XOrIOp) and _is_true(rhs):
            return _not(self.text(lhs))
        return binary(self.text(lhs), word, self.text(rhs), precedence)

    def _if_then_else(self, op: ir.Operation, value: ir.Value, dtype: str | None) -> ExprText:
        sides = [list(region.blocks[0].operations)[-1].operands[_number(value)] for region in op.regions]
        return call("T.if_then_else", self.condition(op), *[self.typed_text(v, dtype) for v in sides])

    def _dim(self, op: ir.Operation, value: ir.Value) -> ExprText:
        return ExprText(f"{self.text(DimOp(op).source).text}.shape[{self.text(DimOp(op).axis).text}]")

    def _metadata(self, op: ir.Operation, value: ir.Value) -> ExprText:
        buffer = StridedMetadataOp(op).source
        rank, number = Buffer(buffer).rank, _number(value)
        name = self.text(buffer).text
        if number == 1:
            return ExprText(f"{name}.elem_offset")
        axis = number - 2
        return ExprText(f"{name}.shape[{axis}]" if axis < rank else f"{name}.strides[{axis - rank}]")


def _not(text: ExprText) -> ExprText:
    return ExprText(f"not {text.parenthesize(NOT)}", NOT)


def _number(value: ir.Value) -> int:
    return ir.OpResult(value).result_number


def _dtype_name(value: ir.Value) -> str:
    if isinstance(value.type, ir.IndexType):
        return "index"
    return signs.dtype_of(value) or dtypes.to_name(value.type)


def _is_wide(value: ir.Value) -> bool:
    """Whether an index is computed from an int64, so that its text is an int64 expression."""
    if not isinstance(value.type, ir.IndexType) or isinstance(value.owner, ir.Block):
        return False
    name, operands = value.owner.name, list(value.owner.operands)
    if name in IndexCastSIOp.names:
        return _dtype_name(operands[0]) == "int64"
    return name.startswith("arith.") and any(_is_wide(v) for v in operands)


def _dtype(value: ir.Value) -> str:
    return quote(_dtype_name(value))


def _constant_cast(value: ir.Value, dtype: str) -> ExprText | None:
    """A cast of a constant index, or of a typed integer to a float, folded as the parser does."""
    typed = None if defining_op(value, ConstantOp) is None else value.owner
    if typed is not None and isinstance(value.type, ir.IntegerType) and dtypes.is_float(dtype):
        number = ir.IntegerAttr(typed.attributes["value"]).value
        is_exact = value.type.width > 1 and not dtypes.is_unsigned(_dtype_name(value)) and int(float(number)) == number
        return constant(ir.FloatAttr.get(type_ := dtypes.to_mlir(dtype), number), type_) if is_exact else None
    while cast := defining_op(value, IndexCastSIOp):
        value = cast.source
    if not isinstance(value.type, ir.IndexType) or isinstance(value.owner, ir.Block):
        return None
    if isa(value.owner, ConstantOp):
        number: int | None = ir.IntegerAttr(value.owner.attributes["value"]).value
    else:
        number = read_apply(value).simplify().as_constant() if isa(value.owner, ApplyOp) else None
    if number is None:
        return None
    type_ = dtypes.to_mlir(dtype)
    if dtypes.is_float(dtype):
        return constant(ir.FloatAttr.get(type_, number), type_)
    if not dtypes.fits(number, dtype):
        return None
    return constant(ir.IntegerAttr.get(type_, dtypes.as_signed(number, dtype)), type_, dtype)


def _explicit_int32(value: ir.Value, dtype: str) -> ExprText | None:
    """An int32 constant printed with its type, because the type of the cast cannot hold it."""
    owner = value.owner
    if isinstance(owner, ir.Block) or not isa(owner, ConstantOp) or _dtype_name(value) != "int32":
        return None
    number = ir.IntegerAttr(owner.attributes["value"]).value
    if dtypes.is_float(dtype) or dtypes.fits(number, dtype):
        return None
    return ExprText(f"T.int32({number})")


def _is_true(value: ir.Value) -> bool:
    op = value.owner
    if splat := defining_op(value, BroadcastOp):
        return _is_true(splat.source)
    if isinstance(op, ir.Block) or not isa(op, ConstantOp) or isinstance(value.type, ir.VectorType):
        return False
    return bool(ir.BoolAttr(op.attributes["value"]).value)


_MASKS = {mode: number for number, mode in words.ACCESS_MASKS.items()}


def access_ptr(values: ValuePrinter, op: ir.Operation) -> ExprText:
    """`llvm.inttoptr` over base + start * bytes -> `T.tvm_access_ptr(type, A.data, start, extent, mask)`.

    The base itself prints as `A.data`. A pointer further into the buffer, or with an extent, prints as
    `A.access_ptr("r", offset=..., extent=...)`.
    """
    if (base := base_of(op)) is not None:
        return ExprText(f"{values.text(base).text}.data")
    target = address(op)
    if target is None:
        raise TirError(f"a pointer that is not base + start * bytes of a buffer has no TVMScript form ({op.location})")
    buffer, start = target
    name = values.text(buffer.value).text
    access = attrs.get(op, attrs.ACCESS, "rw")
    extra, count = extra_offset(start, buffer), declared_count(op)
    if extra is not None or count is not None:
        keywords = [] if extra is None else [f"offset={values.text(extra).text}"]
        keywords += [] if count is None else [f"extent={count}"]
        return call(f"{name}.access_ptr", quote(access), *keywords)
    kind, size = call("T.type_annotation", quote(buffer.dtype)), _extent(values, buffer)
    return call("T.tvm_access_ptr", kind, f"{name}.data", values.text(start), size, str(_MASKS[access]))


def _extent(values: ValuePrinter, buffer: Buffer) -> ExprText:
    """The number of elements spanned by the buffer: rows times the row stride."""
    if buffer.rank == 0:
        return ExprText("1")
    rows = values.index(buffer.dims[0])
    names = stride_names(buffer)
    strides, _ = buffer.type.get_strides_and_offset()
    if names and names[0]:
        return binary(ExprText(f"{values.text(buffer.value).text}.strides[0]"), "*", rows, MUL)
    if strides[0] == ir.ShapedType.get_dynamic_stride_or_offset():
        for dim in buffer.dims[1:]:
            rows = binary(rows, "*", values.index(dim), MUL)
        return rows
    number = buffer.dims[0].as_constant()
    return (
        ExprText(str(number * strides[0])) if number is not None else binary(rows, "*", ExprText(str(strides[0])), MUL)
    )
