"""Specs of parameters, creation of the function op, and binding of shape and stride variables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Index, attrs, create, dtypes, symbol_name
from tir_mlir.script.parser.function_state import MISSING, AllocationScope, ParserState
from tir_mlir.script.parser.items import BufferRef, ScriptValue, UnboundVar

Dim = int | str | ast.expr  # a number, the name of a variable, or an expression


class Int64(int):
    """An extent that is declared as int64."""


@dataclass
class BufferSpec:
    """A buffer parameter, before the function op is created."""

    name: str
    dims: list[Dim]
    dtype: str = "float32"
    strides: list[int | str] = field(default_factory=list)
    scope: str = "global"
    offset_factor: int = 0
    align: int = 0
    node: ast.AST | None = None

    def type(self) -> ir.MemRefType:
        dynamic = ir.ShapedType.get_dynamic_size()
        sizes = [d if isinstance(d, int) else dynamic for d in self.dims]
        space = None if self.scope == "global" else ir.StringAttr.get(self.scope)
        return ir.MemRefType.get(
            sizes, dtypes.element_type(self.dtype), layout=strided_layout(self.strides), memory_space=space
        )

    def facts(self) -> dict[str, object]:
        attributes: dict[str, object] = {attrs.NAME: self.name}
        if self.offset_factor:
            attributes[attrs.OFFSET_FACTOR] = self.offset_factor
        if self.align not in (0, attrs.DEFAULT_ALIGN):
            attributes[attrs.ALIGN] = self.align
        if any(isinstance(d, Int64) for d in self.dims):
            attributes[attrs.EXTENT_DTYPE] = "int64"
        return attributes | _dtype_attributes(self.dtype)


@dataclass
class ScalarSpec:
    """A scalar parameter. int32 and int64 have type `index` and may be used in shapes, bounds and indices."""

    name: str
    dtype: str
    node: ast.AST | None = None

    def type(self) -> ir.Type:
        return ir.IndexType.get() if self.dtype in ("int32", "int64") else dtypes.element_type(self.dtype)

    def facts(self) -> dict[str, object]:
        wide = {attrs.DTYPE: self.dtype} if self.dtype == "int64" else {}  # both are of type `index`
        return {attrs.NAME: self.name, **wide, **_dtype_attributes(self.dtype)}


def _dtype_attributes(dtype: str) -> dict[str, object]:
    """The attribute of a type that the MLIR type does not show."""
    return {attrs.DTYPE: dtype} if dtypes.is_unsigned(dtype) else {}


Spec = BufferSpec | ScalarSpec


def strided_layout(strides: Sequence[int | str]) -> ir.Attribute | None:
    """The strided layout of declared strides, with dynamic offset; None for row-major."""
    if not strides:
        return None
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    return ir.StridedLayoutAttr.get(dynamic, [s if isinstance(s, int) else dynamic for s in strides])


Buffers = list[tuple[BufferSpec, ir.Value]]
Names = dict[str, BufferRef | Index | ScriptValue]
"""What the names of a function stand for."""


def make_func(
    state: ParserState,
    name: str,
    specs: Sequence[Spec],
    attributes: dict[str, str],
    private: bool,
    solve: Callable[[Buffers, Names], None] | None = None,
) -> Names:
    """Create the function and bind its shape and stride variables. Returns the item of every name it defines.

    solve: binds variables that occur in extents only inside expressions.
    """
    types = [_spec_type(state, spec) for spec in specs]
    with ir.InsertionPoint(state.module.body):
        state.func = create.func(name, types, [s.facts() for s in specs], attributes, private=private)
    owner = AllocationScope(state.func.body)
    state.allocation_scopes.append(owner)
    args = state.func.args
    names: Names = {}
    for spec, arg in zip(specs, args, strict=True):
        if isinstance(spec, ScalarSpec):
            names[spec.name] = (
                Index.from_value(arg) if isinstance(arg.type, ir.IndexType) else ScriptValue(arg, spec.dtype)
            )
    buffers = [(spec, arg) for spec, arg in zip(specs, args, strict=True) if isinstance(spec, BufferSpec)]

    def bind() -> None:
        _bind_sizes(buffers, names)
        if solve is not None:
            solve(buffers, names)
        for spec, arg in buffers:
            buffer = names[spec.name] = BufferRef(spec.name, arg, spec.dtype, [], spec.scope)
            _bind_strides(spec, buffer, names)

    owner.prologue(bind)
    return names


def _spec_type(state: ParserState, spec: Spec) -> ir.Type:
    try:
        return spec.type()
    except TirError as error:
        raise state.error(spec.node, str(error)) from None


def _bind_sizes(buffers: Iterable[tuple[BufferSpec, ir.Value]], names: Names) -> None:
    """Bind a variable that is an extent by itself to `memref.dim` of the first such buffer."""
    for spec, arg in buffers:
        for axis, dim in enumerate(spec.dims):
            if isinstance(dim, str) and dim not in names:
                size = memref.dim(arg, arith.constant(ir.IndexType.get(), axis))
                size.owner.attributes[attrs.NAME] = ir.StringAttr.get(dim)
                names[dim] = Index.from_value(size)


def _bind_strides(spec: BufferSpec, buffer: BufferRef, names: Names) -> None:
    if any(isinstance(s, str) for s in spec.strides):
        bind_strides(buffer, spec.strides)
        for stride, value in zip(spec.strides, buffer.stride_values, strict=True):
            if isinstance(stride, str):
                names.setdefault(stride, Index.from_value(value))


def bind_strides(buffer: BufferRef, strides: Sequence[int | str]) -> None:
    """Create the `memref.extract_strided_metadata` that binds the stride variables of a buffer."""
    op = memref.ExtractStridedMetadataOp(buffer.ssa)
    op.operation.attributes[attrs.STRIDES] = attrs.to_attr([s if isinstance(s, str) else "" for s in strides])
    buffer.metadata = op
    buffer.stride_values = [*list(op.operation.results)[2 + len(strides) :]]


def finish_shapes(state: ParserState, specs: Sequence[Spec], names: Names, extents: dict[str, list[Index]]) -> None:
    """Record symbolic shapes in the argument attributes, once every variable is bound."""
    assert state.func is not None
    facts = []
    for spec in specs:
        entry = spec.facts()
        if isinstance(spec, BufferSpec):
            shape, buffer = extents[spec.name], names[spec.name]
            assert isinstance(buffer, BufferRef)
            buffer.shape = shape
            if any(d.as_constant() is None for d in shape):
                values = list(dict.fromkeys(v for d in shape for v in d.values))
                exprs = [create.over_symbols(d, values) for d in shape]
                entry[attrs.SHAPE] = ir.AffineMapAttr.get(ir.AffineMap.get(0, len(values), exprs))
                entry[attrs.SYMS] = [_name_of(v, names) for v in values]
        facts.append(entry)
    state.func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([attrs.to_attr(f) for f in facts])


def _name_of(value: ir.Value, names: Names) -> str:
    matches = (n for n, item in names.items() if isinstance(item, Index) and item.is_value() == value)
    return next(matches, None) or symbol_name(value)


def size_name(state: ParserState, node: ast.expr) -> str | None:
    """The variable that a name in a shape or in strides denotes, or None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.Name):
        return None
    binding = state.scope.find(node.id)
    if binding is not None:
        return node.id if isinstance(binding.item, UnboundVar | ScalarSpec) else None
    value = state.scope.python_value(node.id)
    return node.id if value is MISSING or type(value).__name__ == "Var" else None
