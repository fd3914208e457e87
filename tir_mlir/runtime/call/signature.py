"""The call signature of a function, read from its func.func; holds no IR. Calls by keyword in its order."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mlir import ir

from tir_mlir.dialect.analysis import has_distinct_buffers
from tir_mlir.dialect.calls import callee_of, effects_of
from tir_mlir.dialect.diagnostics import ArgumentError, BuildError
from tir_mlir.dialect.ir import TENSOR_LEVEL, attrs, dtypes, only_reads, symbol_name
from tir_mlir.dialect.ir.op_traits import WRITTEN_OPERAND
from tir_mlir.dialect.ir.op_views import ApplyOp, DimOp, FuncOp, IntToPtrOp, PointerOp, ReadOp, ViewLikeOp, isa
from tir_mlir.dialect.ir.size_products import evaluate_size, shape_variables, size_source
from tir_mlir.dialect.presburger import constraint_text
from tir_mlir.dialect.presburger.sets import assumptions
from tir_mlir.dialect.symbolic import Symbol, evaluate, from_affine, names_in


@dataclass(frozen=True)
class BufferDim:
    """An extent of a buffer: its text, its shape variables, and its value given theirs."""

    text: str
    symbols: tuple[str, ...]
    value: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class BufferParam:
    """A memref parameter. `strides`: None for row-major, else per dimension a number or None (dynamic)."""

    name: str
    dtype: str
    dims: tuple[BufferDim, ...]
    strides: tuple[int | None, ...] | None
    offset: int
    written: bool

    def __str__(self) -> str:
        shape = ", ".join(d.text for d in self.dims) + "," * (len(self.dims) == 1)
        return f'{self.name}: Buffer[({shape}), "{self.dtype}"]'


@dataclass(frozen=True)
class ScalarParam:
    """A scalar parameter; an `index` parameter binds the shape variable of its name."""

    name: str
    dtype: str
    is_index: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}"


@dataclass(frozen=True)
class SizeAssumption:
    """A `T.assume` condition on shape variables: `value` == 0 for an equality, else `value` >= 0."""

    text: str
    value: BufferDim
    is_eq: bool

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether these sizes satisfy the condition."""
        value = self.value.value(sizes)
        return value == 0 if self.is_eq else value >= 0


@dataclass(frozen=True)
class CallSignature:
    """A function's symbol name, its parameters, whether buffers must be distinct (unless tir.noalias is False), and its
    `T.assume` conditions."""

    name: str
    params: tuple[BufferParam | ScalarParam, ...]
    noalias: bool
    promises: tuple[SizeAssumption, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(str(p) for p in self.params)})"


class ProgramFunction(Protocol):
    """A function of a library. Takes one array or number per parameter, by position or by name."""

    signature: CallSignature

    def __call__(self, /, *args: object, **named: object) -> None: ...


@only_reads
def signatures(module: ir.Module) -> dict[str, CallSignature]:
    """The signatures of all functions with a body that are not private, by symbol name."""
    by_name = {}
    for op in module.body.operations:
        if not isa(op.operation, FuncOp) or not len(op.operation.regions[0].blocks):
            continue
        if attrs.get(op, "sym_visibility") == "private":
            continue
        signature = _signature(op)
        by_name[signature.name] = signature
    return by_name


def _signature(func: ir.OpView) -> CallSignature:
    name = attrs.get(func, "sym_name")
    if TENSOR_LEVEL in func.attributes:
        raise BuildError(f'{name} is a graph; fix: build(mod["{name}"]) compiles it, with the programs that it calls')
    type_ = ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value)
    if type_.results:
        raise BuildError(
            f"function {name!r} returns {', '.join(map(str, type_.results))}; results go to buffer parameters"
        )
    arguments = list(func.operation.regions[0].blocks[0].arguments)
    dicts = list(ir.ArrayAttr(func.attributes["arg_attrs"])) if "arg_attrs" in func.attributes else []
    params = []
    for i, argument in enumerate(arguments):
        arg_attrs = {named.name: attrs.from_attr(named.attr) for named in ir.DictAttr(dicts[i])} if dicts else {}
        params.append(_param(name, argument, arg_attrs, arg_attrs.get(attrs.NAME, f"arg{i}")))
    return CallSignature(name, tuple(params), has_distinct_buffers(func.operation), _promises(func))


def _promises(func: ir.OpView) -> tuple[SizeAssumption, ...]:
    promises = []
    for c in assumptions(func.operation):
        names = tuple(symbol_name(v) for v in c.index.values)
        swap = [ir.AffineExpr.get_symbol(i) for i in range(len(names))]
        expr = c.index.expr.compose(ir.AffineMap.get(0, len(names), swap)).maybe_downcast()
        promises.append(SizeAssumption(constraint_text(c, func.operation), _dim(expr, names), c.is_eq))
    return tuple(promises)


def _param(function: str, value: ir.Value, arg_attrs: dict, name: str) -> BufferParam | ScalarParam:
    type_ = value.type
    if isinstance(type_, ir.MemRefType):
        strides, offset = type_.get_strides_and_offset()
        plain = isinstance(type_.layout, ir.AffineMapAttr)  # the identity map; a strided layout is another attribute
        static = tuple(None if type_.is_dynamic_stride_or_offset(s) else s for s in strides)
        fixed = 0 if type_.is_dynamic_stride_or_offset(offset) else offset
        dtype = dtypes.with_sign_of(type_.element_type, arg_attrs.get(attrs.DTYPE))
        return BufferParam(name, dtype, _dims(type_, arg_attrs), None if plain else static, fixed, _is_written(value))
    if isinstance(type_, ir.IndexType):
        return ScalarParam(name, "int64", True)
    if isinstance(type_, (ir.IntegerType, ir.F32Type, ir.F64Type)):
        return ScalarParam(name, dtypes.with_sign_of(type_, arg_attrs.get(attrs.DTYPE)), False)
    raise BuildError(f"function {function!r}: parameter {name!r} of type {type_} cannot be passed from Python")


def _dims(type_: ir.MemRefType, arg_attrs: dict) -> tuple[BufferDim, ...]:
    if attrs.SHAPE in arg_attrs:
        symbols = tuple(arg_attrs.get(attrs.SYMS, ()))
        return tuple(_dim(expr, symbols) for expr in arg_attrs[attrs.SHAPE].results)
    return tuple(
        BufferDim("?", (), lambda _: -1) if type_.is_dynamic_dim(i) else _constant(size)
        for i, size in enumerate(type_.shape)
    )


def _constant(size: int) -> BufferDim:
    return BufferDim(str(size), (), lambda _: size)


def _dim(expr: ir.AffineExpr, symbols: tuple[str, ...]) -> BufferDim:
    form = from_affine(expr, (), [Symbol(name) for name in symbols])
    variables = {variable for name in names_in(form) for variable in shape_variables(name)}

    def value(sizes: Mapping[str, int]) -> int:
        return evaluate(form, lambda name: evaluate_size(name, sizes))

    return BufferDim(size_source(form), tuple(sorted(variables)), value)


# ops whose first result is a view of, or a pointer into, their operand
_ALIASES = (ViewLikeOp, PointerOp, ApplyOp)
_CASTS = ("arith.", "llvm.inttoptr", "llvm.ptrtoint", "llvm.getelementptr", "builtin.")


def _is_written(value: ir.Value) -> bool:
    """Whether an op may write through the value; unknown ops count as writes."""
    for use in value.uses:
        op = use.owner.operation
        if op.name in WRITTEN_OPERAND:
            if use.operand_number == WRITTEN_OPERAND[op.name]:
                return True
        elif isa(op, IntToPtrOp) and attrs.get(op, attrs.ACCESS) == "r":
            continue
        elif op.name.startswith("linalg.") and "operandSegmentSizes" in op.attributes:
            if use.operand_number >= ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]:
                return True
        elif isa(op, ReadOp, DimOp):
            continue
        elif (callee := callee_of(op)) is not None:
            if effects_of(callee)[use.operand_number].writes:
                return True
        elif (isa(op, *_ALIASES) or op.name.startswith(_CASTS)) and len(op.results):
            if _is_written(op.results[0]):
                return True
        else:
            return True
    return False


def positional_arguments(signature: CallSignature, args: Sequence[object], named: Mapping[str, object]) -> list[object]:
    """`f(a, C=c, B=b)` -> `[a, b, c]`. Raises ArgumentError for an unknown, repeated or missing name."""
    names = [p.name for p in signature.params]
    for name in named:
        _check_name(signature, names, name, len(args))
    missing = [name for name in names[len(args) :] if name not in named]
    if missing:
        raise ArgumentError(f"{signature.name}: no argument for {', '.join(map(repr, missing))}; it is {signature}")
    return [*args, *(named[name] for name in names[len(args) :])]


def _check_name(signature: CallSignature, names: list[str], name: str, positional: int) -> None:
    if name not in names:
        near = difflib.get_close_matches(name, names, 1) or [n for n in names if n.lower() == name.lower()]
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ArgumentError(f"{signature.name} has no parameter {name!r}{hint}; it is {signature}")
    if names.count(name) > 1:
        raise ArgumentError(
            f"{signature.name}: {names.count(name)} parameters are called {name!r}; pass them by position"
        )
    if names.index(name) < positional:
        raise ArgumentError(
            f"{signature.name}: {name!r} is given twice, as argument {names.index(name)} and by keyword"
        )
