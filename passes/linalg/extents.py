"""Symbolic extents of a function of linalg ops: solve the equations that linalg implies; free extents become shape
variables.

Each symbolic extent of a parameter starts as a variable, the `memref.dim` of the parameter. Extents that one iterator
runs over are equal. An equation is solved for a variable if possible; otherwise it must hold.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.diagnostics import LinalgError, NotAffine
from tir_mlir.dialect.ir import Buffer, Func, Index, attrs, constant_integer, create, is_apply, read_apply
from tir_mlir.dialect.ir.lowering_op_views import AssertOp
from tir_mlir.dialect.ir.op_traits import INDEX_ARITH
from tir_mlir.dialect.ir.op_views import (
    AddIOp,
    CompareIntegersOp,
    ConstantOp,
    DimOp,
    FloorDivOp,
    IndexCastSIOp,
    MulIOp,
    SubIOp,
    defining_op,
    dyn_cast,
    isa,
)
from tir_mlir.dialect.presburger import split_linear
from tir_mlir.passes.linalg import reshapes

_NAMES = ["n", "m", "k", "l", "p", "q", *(c for c in string.ascii_lowercase if c not in "nmklpq")]


class ExtentSolver:
    """Extents of every buffer of a function, as expressions of its shape variables."""

    def __init__(self, func: Func):
        self.func = func
        self.dims: dict[ir.Value, list[Index]] = {}
        self.solved: dict[ir.Value, Index] = {}
        self.free: list[ir.Value] = []
        self.head = func.body.operations[0].operation
        for arg in func.args:
            if isinstance(arg.type, ir.MemRefType):
                self.dims[arg] = self._parameter(arg)

    def _parameter(self, arg: ir.Value) -> list[Index]:
        buffer = Buffer(arg)
        if None not in buffer.shape or attrs.SHAPE in buffer.attributes:
            return buffer.dims
        dims = []
        with ir.InsertionPoint(self.head), self.func.op.location:
            for axis, size in enumerate(buffer.shape):
                if size is not None:
                    dims.append(Index.constant(size))
                    continue
                value = memref.dim(arg, arith.constant(ir.IndexType.get(), axis))
                self.free.append(value)
                dims.append(Index.from_value(value))
        return dims

    # --- extents of values -------------------------------------------------------------------------------------------

    def extents_of(self, value: ir.Value) -> list[Index]:
        """The extents of a buffer or view, as far as solved."""
        if value not in self.dims:
            self.dims[value] = reshapes.extents(value, self)
        return [self.substitute_solved(d) for d in self.dims[value]]

    def substitute_solved(self, index: Index) -> Index:
        """The expression with solved variables replaced."""
        while any(v in self.solved for v in index.values):
            index = index.substitute(self.solved)
        return index.simplify()

    def term(self, value: ir.Value, bindings: Mapping[ir.Value, Index] | None = None) -> Index:
        """An index that a function computes, as an expression of shape variables, loop variables and the values of
        `bindings`.

        Errors: LinalgError, NotAffine.
        """
        if bindings is not None and value in bindings:
            return bindings[value]
        if isinstance(value.owner, ir.Block) or value in self.free:
            return self.substitute_solved(Index.from_value(value))
        op = value.owner.operation
        if isa(op, ConstantOp):
            return Index.constant(ir.IntegerAttr(op.attributes["value"]).value)
        if isa(op, DimOp):
            return self._dim(DimOp(op))
        if is_apply(value):
            index = read_apply(value)
            return self.substitute_solved(index.substitute({v: self.term(v, bindings) for v in index.values}))
        cast = dyn_cast(op, IndexCastSIOp)
        if cast is not None and "i64" in (str(cast.source.type), str(value.type)):
            return self.term(cast.source, bindings)
        if op.name in INDEX_ARITH:
            lhs, rhs = (self.term(v, bindings) for v in op.operands)
            return self.substitute_solved(_fold(op, lhs, rhs))
        raise LinalgError(f"the size or offset computed by {op.name} is not an affine expression of sizes", op.location)

    def _dim(self, dim: DimOp) -> Index:
        if attrs.NAME in dim.op.attributes:
            return Index.from_value(dim.result)
        axis, dims = self.term(dim.axis).as_constant(), self.extents_of(dim.source)
        if axis is None or not 0 <= axis < len(dims):
            raise LinalgError("memref.dim of an unknown or missing dimension", dim.op.location)
        return dims[axis]

    # --- equations ---------------------------------------------------------------------------------------------------

    def equal(self, lhs: Index, rhs: Index, op: ir.Operation, what: str) -> None:
        """Add an equation: solve it for a free variable, or check that it holds. Errors: LinalgError."""
        lhs, rhs = self.substitute_solved(lhs), self.substitute_solved(rhs)
        difference = (lhs - rhs).simplify()
        if difference.as_constant() == 0:
            return
        for variable in reversed(self.free):
            split = split_linear(difference, [variable]) if variable in difference.values else None
            if split is not None and abs(split.factors[0]) == 1 and variable not in split.rest.values:
                self.solved[variable] = (split.rest * -split.factors[0]).simplify()
                self.free.remove(variable)
                return
        sizes = f"{self.text(lhs)} and {self.text(rhs)}"
        if difference.as_constant() is not None:
            raise LinalgError(f"{what} has the sizes {sizes}, which differ", op.location)
        raise LinalgError(f"{what} has the sizes {sizes}, which cannot be proved equal", op.location)

    def at_least(self, size: Index, need: Index) -> None:
        """Solve a free extent of which `need` elements are used; others are left to the bounds rule."""
        size, need = self.substitute_solved(size), self.substitute_solved(need)
        variable = size.is_value()
        if variable is not None and variable in self.free and variable not in need.values:
            self.solved[variable] = need
            self.free.remove(variable)

    def assume(self, op: ir.Operation) -> None:
        """Add the equation that a `cf.assert` tells, if it tells one; what else it checks is taken for granted."""
        test = defining_op(AssertOp(op).condition)
        if test is None or not isa(test, CompareIntegersOp):
            return
        if ir.IntegerAttr(test.attributes["predicate"]).value != int(arith.CmpIPredicate.eq):
            return
        try:
            lhs, rhs = (self.term(v) for v in test.operands)
            self.equal(lhs, rhs, op, "the operands of an assertion")
        except (LinalgError, NotAffine):
            return  # it fails, or it is not about sizes

    def text(self, index: Index) -> str:
        """An expression for messages; an unnamed extent is written `A.dim(0)`."""
        return re.sub(r"d(\d+)", lambda m: self._word(index.values[int(m[1])]), str(index.expr))

    def _word(self, value: ir.Value) -> str:
        op = value.owner
        if isinstance(op, ir.Block):
            return self.func.arg_name(ir.BlockArgument(value).arg_number) if op == self.func.body else "a loop variable"
        if attrs.NAME in op.attributes:
            return attrs.get(op, attrs.NAME)
        dim = DimOp(op.operation)
        axis = constant_integer(dim.axis)
        return f"{self.func.arg_name(ir.BlockArgument(dim.source).arg_number)}.dim({axis})"

    # --- writing the shapes ------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Name the remaining variables, and set the shapes of parameters."""
        shapes = {
            a: [self.substitute_solved(d) for d in dims]
            for a, dims in self.dims.items()
            if isinstance(a.owner, ir.Block)
        }
        reserved = {*self.func.symbols, *(self.func.arg_name(n) for n in range(len(self.func.args)))}
        names = (n for n in [*_NAMES, *(f"n{i}" for i in range(1000))] if n not in reserved)
        for value in self.free:
            value.owner.attributes[attrs.NAME] = ir.StringAttr.get(next(names))
        symbol_names = {v: n for n, v in self.func.symbols.items()}
        facts = attrs.get(self.func.op, "arg_attrs")
        for number, arg in enumerate(self.func.args):
            facts[number] = dict(facts[number])
            shape = shapes.get(arg)
            if shape is not None and attrs.SHAPE not in facts[number]:
                self._write(arg, shape, facts[number], symbol_names)
        self.func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([_dictionary(f) for f in facts])

    def _write(
        self, arg: ir.Value, shape: Sequence[Index], facts: dict[str, object], symbol_names: dict[ir.Value, str]
    ) -> None:
        """Set the type, and `tir.shape` if it is symbolic."""
        sizes = [d.as_constant() for d in shape]
        type_ = ir.MemRefType(arg.type)
        dynamic = ir.ShapedType.get_dynamic_size()
        if sizes != Buffer(arg).shape:
            type_sizes = [dynamic if n is None else n for n in sizes]
            layout = None if isinstance(type_.layout, ir.AffineMapAttr) else type_.layout
            arg.set_type(
                ir.MemRefType.get(type_sizes, type_.element_type, layout=layout, memory_space=type_.memory_space)
            )
        if None in sizes:
            values = list(dict.fromkeys(v for d in shape for v in d.values))
            exprs = [create.over_symbols(d, values) for d in shape]
            facts[attrs.SHAPE] = ir.AffineMapAttr.get(ir.AffineMap.get(0, len(values), exprs))
            facts[attrs.SYMS] = [symbol_names[v] for v in values]


def _dictionary(facts: dict[str, object]) -> ir.Attribute:
    plain = {k: ir.AffineMapAttr.get(v) if isinstance(v, ir.AffineMap) else attrs.to_attr(v) for k, v in facts.items()}
    return ir.DictAttr.get(plain)


def _fold(op: ir.Operation, lhs: Index, rhs: Index) -> Index:
    """Sum, difference, product or quotient of two affine indices. Errors: NotAffine."""
    if isa(op, AddIOp):
        return lhs + rhs
    if isa(op, SubIOp):
        return lhs - rhs
    if isa(op, MulIOp):
        return lhs * rhs
    return lhs // rhs if isa(op, FloorDivOp) else lhs.ceildiv(rhs)


def restore_shape_variables(func: Func) -> None:
    """Recreate the shape variables that upstream passes erased as unused: shapes of parameters still name them."""
    symbols, facts = set(func.symbols), attrs.get(func.op, "arg_attrs", [])
    head = func.body.operations[0].operation
    for arg, entry in zip(func.args, facts, strict=False):
        shape = entry.get(attrs.SHAPE)
        for axis, expr in enumerate(shape.results if shape is not None else ()):
            expr = expr.maybe_downcast()
            if not isinstance(expr, ir.AffineSymbolExpr) or entry[attrs.SYMS][expr.position] in symbols:
                continue
            with ir.InsertionPoint(head), func.op.location:
                value = memref.dim(arg, arith.constant(ir.IndexType.get(), axis))
            value.owner.attributes[attrs.NAME] = ir.StringAttr.get(entry[attrs.SYMS][expr.position])
            symbols.add(entry[attrs.SYMS][expr.position])
    updated = [f if symbols.issuperset(f.get(attrs.SYMS, ())) else _drop_shape(f) for f in facts]
    if updated != facts:
        func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([_dictionary(f) for f in updated])


def _drop_shape(facts: dict[str, object]) -> dict[str, object]:
    return {k: v for k, v in facts.items() if k not in (attrs.SHAPE, attrs.SYMS)}
