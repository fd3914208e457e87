"""Apply an index map to a buffer: its declaration, every access, declared regions, and sizes read from its shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.analysis import Region, accessed_regions, declare, get_declared_regions
from tir_mlir.dialect.calls import caller_of
from tir_mlir.dialect.index_maps import Box, Conjunction, IndexMap, Layout, Predicate
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    access_indices,
    all_blocks,
    attrs,
    create,
    edit,
    func_of,
    is_apply,
    is_size,
    owner_op,
    read_apply,
    symbols_by_name,
    touch,
    trim,
)
from tir_mlir.dialect.ir.op_traits import index_operands
from tir_mlir.dialect.ir.op_views import (
    AffineAccessOp,
    ConstantOp,
    DimOp,
    ElementAccessOp,
    StoreOp,
    SubviewOp,
    defining_op,
    isa,
)
from tir_mlir.dialect.presburger import has_division, intervals, sets, simplify_expr
from tir_mlir.dialect.symbolic import Dim, Operation
from tir_mlir.passes.schedule.edits import declaring, emit_index, is_affine_value
from tir_mlir.passes.schedule.layout.storage_align import follow_axes
from tir_mlir.passes.schedule.registry import ASSUME_SIZES, copy_view, refuse, use_words

AffineExpr = ir.AffineExpr


class ChangedLayout(Protocol):
    """What a change of layout tells: the map, the new extents, and the new indices of an element."""

    @property
    def map(self) -> IndexMap: ...
    @property
    def shape(self) -> list[Index]: ...
    def image(self, indices: Sequence[Index]) -> list[Any]: ...


@dataclass(frozen=True)
class LayoutChange:
    """An index map over a box with symbolic extents; `symbols` are the sizes, in the order of the box."""

    map: IndexMap
    layout: Layout
    symbols: tuple[ir.Value, ...]

    @staticmethod
    def from_extents(map_: IndexMap, extents: Sequence[Index], op: ir.Operation) -> LayoutChange:
        """The map over [0, extent) in each dimension, in the function that contains `op`."""
        dom = sets.sizes(op)
        by_name = symbols_by_name(op)
        symbols = [by_name[name] for name in dom.params]
        exprs = tuple(_expr_over_symbols(e, symbols) for e in extents)
        return LayoutChange(map_, map_.layout(Box(exprs, tuple(dom.params), dom.set.params())), tuple(symbols))

    @property
    def shape(self) -> list[Index]:
        """The new extents."""
        return [trim(e, self.symbols) for e in self.layout.shape]

    def preimage(self, values: Sequence[Index]) -> list[Index]:
        """The old indices of an element, as expressions of its new indices."""
        return [self._evaluate(e, values) for e in self.map.inverse_exprs(self.layout)]

    def image(self, indices: Sequence[Index]) -> list[Any]:
        """The new indices of an element."""
        sizes = {n: Index.from_value(v) for n, v in zip(self.layout.box.params, self.symbols, strict=True)}
        return self.map.map_indices(indices, sizes)

    def holes_text(self) -> str:
        """The indices that no element maps to, as text."""
        return repr(Predicate.from_padding(self.map.result_names(), self.layout.box.params, self.layout.padding))

    def conditions(self, conjunction: Conjunction, values: Sequence[Index]) -> list[Constraint]:
        """Conditions on the new indices, for given values of them."""
        return [Constraint(self._evaluate(e, values), is_eq) for e, is_eq in conjunction]

    def _evaluate(self, expr: ir.AffineExpr, values: Sequence[Index]) -> Index:
        parts = [*values, *map(Index.from_value, self.symbols)]
        unique = list(dict.fromkeys(v for p in parts for v in p.values))
        swaps = []
        for part in parts:
            dims = [AffineExpr.get_dim(unique.index(v)) for v in part.values]
            swaps.append(part.expr.compose(ir.AffineMap.get(len(unique), 0, dims)) if dims else part.expr)
        return trim(expr.compose(ir.AffineMap.get(len(unique), 0, swaps)), unique).simplify()


def _expr_over_symbols(index: Index, symbols: Sequence[ir.Value]) -> ir.AffineExpr:
    """An expression over sizes, with operands in the order of `symbols`."""
    swap = [AffineExpr.get_dim(symbols.index(v)) for v in index.values]
    return index.expr.compose(ir.AffineMap.get(len(symbols), 0, swap)) if swap else index.expr


# --- checks -----------------------------------------------------------------------------------------------------------


def check_users(buffer: Buffer) -> None:
    """Refuse a buffer that is used as a whole: by a view, a pointer or a call; and one that a caller passes."""
    func = func_of(owner_op(buffer.value))
    if buffer.is_param and (caller := caller_of(func)) is not None:
        text = f"{buffer.name} is a parameter of {func.name}, to which {caller} passes a buffer"
        refuse(None, text, fix="cache_read or cache_write makes a copy, whose layout can change")
    if buffer.is_param and "strided" in str(buffer.type.layout):
        text = f"the strides of {buffer.name} are given by its caller; only the layout of row-major buffers can change"
        refuse(None, text, fix="cache_read or cache_write makes a row-major copy, whose layout can change")
    for use in buffer.value.uses:
        user = use.owner.operation
        if isa(user, SubviewOp):
            view = attrs.get(user, attrs.NAME, "a view")
            text = (
                f"{view} is a region of {buffer.name} (T.match_buffer), which would not be contiguous in another layout"
            )
            refuse(user, text, fix=copy_view(buffer.name))
        if not isa(user, ElementAccessOp, DimOp):
            text = f"{buffer.name} is not only loaded and stored: {use_words(user)} depends on its layout"
            refuse(user, text, fix=copy_view(buffer.name))


def check_extents(buffer: Buffer, change: ChangedLayout, block: Block) -> None:
    """Refuse a map that gives a negative extent: 2 * n - 1 is, for a buffer without elements."""
    dom = sets.sizes(block.op)
    for number, extent in enumerate(change.shape):
        if extent.as_constant() is not None:
            continue
        with sets.question(f"whether the extents of the new {buffer.name} may be negative"):
            point = sets.smallest_point(dom.set.subtract(sets.constraint_set(dom, Constraint(extent))))
        if point is not None:
            sizes = ", ".join(f"{name} = {value}" for name, value in zip(dom.params, point, strict=False))
            refuse(
                block,
                f"the map {change.map} gives dimension {number} of the new {buffer.name} a negative extent at {sizes}",
                fix=ASSUME_SIZES,
            )


@dataclass(frozen=True)
class SizeSource:
    """How a size is known after the change: as `value.shape[axis]`, replacing `dim`, or as `size` itself."""

    dim: ir.Operation
    size: ir.Operation
    value: ir.Value
    axis: int
    is_size: bool


def size_sources(buffer: Buffer, change: ChangedLayout) -> list[SizeSource]:
    """How the sizes read from the shape of a buffer are known afterwards. Refuses sizes that no shape determines."""
    users = [use.owner.operation for use in buffer.value.uses]
    return [_size_source(op, buffer, change) for op in users if isa(op, DimOp)]


def _size_source(dim: ir.Operation, buffer: Buffer, change: ChangedLayout) -> SizeSource:
    named = [u.owner.operation for u in dim.results[0].uses if is_size(u.owner.operation)]
    size = dim if is_size(dim) or not named else named[0]
    sources = [(buffer.value, axis, extent) for axis, extent in enumerate(change.shape)]
    if buffer.is_param:
        others = [p for p in func_of(dim).params if p != buffer]
        sources += [(p.value, axis, extent) for p in others for axis, extent in enumerate(p.dims)]
    old_extent = buffer.dims[_number(DimOp(dim).axis)]
    for what, is_itself in ((old_extent, False), (Index.from_value(size.results[0]), True)):
        for value, axis, extent in sources:
            if extent.is_equal_to(what):
                return SizeSource(dim, size, value, axis, is_itself)
    name = attrs.get(size, attrs.NAME, "a size")
    refuse(
        None,
        f"{name} is known from the extent of {buffer.name} alone, and its new extents do not "
        f"determine it; pass {name} in the shape of another parameter, or as a scalar",
    )


def _replace_size(source: SizeSource, old: Buffer, new: Buffer) -> None:
    """Replace a size by its new source."""
    dim, size = source.dim, source.size
    value = new.value if source.value == old.value else source.value
    touch(dim)
    with ir.InsertionPoint(dim), dim.location:
        axis = arith.constant(ir.IndexType.get(), source.axis)
        if not source.is_size:
            edit.set_operand(dim, 0, value)
            edit.set_operand(dim, 1, axis)
            return
        direct = memref.dim(value, axis)
    edit.set_attribute(direct.owner, attrs.NAME, size.attributes[attrs.NAME])
    edit.replace_uses(size.results[0], direct)
    unused = [] if dim == size else [dim]
    edit.drop(size)
    for op in unused:
        if not any(True for _ in op.results[0].uses):
            edit.drop(op)


def _number(value: ir.Value) -> int:
    return ir.IntegerAttr(value.owner.attributes["value"]).value  # type: ignore[union-attr]


# --- rewrite ----------------------------------------------------------------------------------------------------------


def apply_layout(buffer: Buffer, change: ChangedLayout) -> Buffer:
    """Change the layout of a buffer: declaration, accesses, declared regions, alignments. Call `finish_layout`
    afterwards."""
    new = _replace_buffer(buffer, change.shape, {op: _new_indices(op, change) for op in _accesses(buffer)})
    follow_axes(new, [_neighbours_axis(Dim(name), change.map) for name in change.map.names])
    return new


def _neighbours_axis(dim: Dim, map_: IndexMap) -> int | None:
    """The new axis along which neighbours of an old one lie: that of its index, or of the rest of its division."""
    rests = (t.left if isinstance(t, Operation) and t.symbol == "%" else t for t in map_.terms)
    return next((axis for axis, term in enumerate(rests) if term == dim), None)


def add_dimension(buffer: Buffer, extent: int, index: Callable[[ir.Operation], Index]) -> None:
    """Give an allocated buffer a first dimension, along which each access, which is affine, has an index of its own.

    Requires that nothing reads its extents.
    """
    indices = {op: simplify_indices(op, [index(op), *access_indices(op)]) for op in _accesses(buffer)}
    new = _replace_buffer(buffer, [Index.constant(extent), *buffer.dims], indices)
    follow_axes(new, range(1, new.rank))
    finish_layout(buffer, new, [])


def _replace_buffer(buffer: Buffer, shape: Sequence[Index], indices: Mapping[ir.Operation, Sequence[Index]]) -> Buffer:
    regions = _declared_regions(func_of(owner_op(buffer.value)).op, buffer)
    new = _new_declaration(buffer, shape)
    for op, where in indices.items():
        _redirect(op, new, where)
    for block, key, entries in regions:
        _declare_again(block, key, entries, buffer, new)
    return new


def finish_layout(old: Buffer, new: Buffer, sources: Sequence[SizeSource]) -> None:
    """Replace sizes by their new sources and erase the old declaration. Must be last, as it may recreate sizes."""
    for source in sources:
        _replace_size(source, old, new)
    if new.value != old.value and old.op is not None:
        edit.erase(old.op)


def _accesses(buffer: Buffer) -> list[ir.Operation]:
    users = [use.owner.operation for use in buffer.value.uses]
    return [op for op in dict.fromkeys(users) if not isa(op, DimOp)]


def _new_indices(op: ir.Operation, change: ChangedLayout) -> list[Index]:
    """The new indices of a load or store, simplified under the ranges that hold there."""
    with ir.InsertionPoint(op), op.location:
        if not isa(op, AffineAccessOp):
            return change.image([_index_of(v) for v in index_operands(op)])
        indices = [Index.wrap(i) for i in change.image(access_indices(op))]
    return simplify_indices(op, indices)


def _index_of(value: ir.Value) -> Index:
    """An index of type `index` as an expression."""
    if is_apply(value):
        return read_apply(value)
    is_number = defining_op(value, ConstantOp) is not None
    return Index.constant(_number(value)) if is_number else Index.from_value(value)


def simplify_indices(op: ir.Operation, indices: Sequence[Index]) -> list[Index]:
    """Indices at an op, simplified under the domains of iters and the ranges of loops."""
    box = None
    simplified = []
    for index in indices:
        plain = index.simplify()
        if has_division(plain.expr):
            box = intervals.enclosing_ranges(op) if box is None else box
            ranges = tuple(intervals.known_range(v, box) for v in plain.values)
            plain = trim(simplify_expr(plain.expr, ranges), plain.values)
        simplified.append(plain)
    return simplified


def _new_declaration(buffer: Buffer, shape: Sequence[Index]) -> Buffer:
    """The buffer with its new shape: a parameter is retyped in place, an allocation is recreated."""
    sizes = [n if (n := d.as_constant()) is not None else d for d in shape]
    type_ = create.memref_type(sizes, buffer.dtype, buffer.scope)
    if buffer.op is None:
        edit.retype(buffer.value, type_)
        _declare_parameter(buffer, shape)
        return buffer
    old = buffer.op
    touch(old)
    with ir.InsertionPoint(old), old.location:
        operands = [create.apply(n) for n in sizes if isinstance(n, Index)]
        allocated = memref.alloc(type_, operands, [], alignment=old.attributes.get("alignment", None))
    for name in old.attributes:
        if name.startswith("tir."):
            edit.set_attribute(allocated.owner, name, old.attributes[name])
    return Buffer(allocated)


def _declare_parameter(buffer: Buffer, shape: Sequence[Index]) -> None:
    """Update the type of the function, and the symbolic shape in the attributes of the parameter."""
    func = func_of(owner_op(buffer.value))
    type_ = ir.FunctionType.get([a.type for a in func.args], [])
    edit.set_attribute(func.op, "function_type", ir.TypeAttr.get(type_))
    facts = [attrs.from_attr(a) for a in ir.ArrayAttr(func.op.attributes["arg_attrs"])]
    param_facts = facts[ir.BlockArgument(buffer.value).arg_number]
    param_facts.pop(attrs.SHAPE, None)
    param_facts.pop(attrs.SYMS, None)
    size_values = list(dict.fromkeys(v for d in shape for v in d.values))
    if size_values:
        exprs = [create.over_symbols(d, size_values) for d in shape]
        param_facts[attrs.SHAPE] = ir.AffineMapAttr.get(ir.AffineMap.get(0, len(size_values), exprs))
        names = {v: n for n, v in func.symbols.items()}
        param_facts[attrs.SYMS] = [names[v] for v in size_values]
    edit.set_attribute(func.op, "arg_attrs", ir.ArrayAttr.get([attrs.to_attr(_as_attributes(f)) for f in facts]))


def _as_attributes(facts: dict[str, Any]) -> dict[str, Any]:
    """Attribute values unpacked by `attrs.from_attr`, as one attribute again."""
    return {k: ir.AffineMapAttr.get(v) if isinstance(v, ir.AffineMap) else v for k, v in facts.items()}


def _redirect(op: ir.Operation, buffer: Buffer, indices: Sequence[Index]) -> None:
    """Replace a load or store by one of the same buffer at other indices."""
    with ir.InsertionPoint(op), op.location:
        affine = all(is_affine_value(v) for i in indices for v in Index.wrap(i).values)
        emitted = [] if affine else [emit_index(Index.wrap(i)) for i in indices]
        if isa(op, StoreOp) and affine:
            create.store(StoreOp(op).value, buffer.value, indices)
        elif isa(op, StoreOp):
            memref.store(StoreOp(op).value, buffer.value, emitted)
        else:
            value = create.load(buffer.value, indices) if affine else memref.load(buffer.value, emitted)
            _keep_name(op, value)
            edit.replace_uses(op.results[0], value)
    edit.drop(op)


def _keep_name(op: ir.Operation, value: ir.Value) -> None:
    if attrs.NAME in op.attributes:
        edit.set_attribute(value.owner, attrs.NAME, op.attributes[attrs.NAME])


# --- declared regions -------------------------------------------------------------------------------------------------


def _declared_regions(func: ir.Operation, buffer: Buffer) -> list[tuple[Block, str, list[Region]]]:
    """The blocks that declare regions of a buffer."""
    entries = []
    for block in (b for root in declaring(func, buffer) for b in all_blocks(root)):
        for key in (attrs.READS, attrs.WRITES):
            regions = get_declared_regions(block, key, [])
            if any(r.buffer == buffer for r in regions):
                entries.append((block, key, regions))
    return entries


def _declare_again(block: Block, key: str, old_regions: list[Region], old: Buffer, new: Buffer) -> None:
    """Declare the regions of a block again after the change."""
    actual = accessed_regions(Block(block.op))[0 if key == attrs.READS else 1]
    computed_region = next((r for r in actual if r.buffer == new), None)
    new_regions = [computed_region if r.buffer == old else r for r in old_regions]
    declare(block, key, [r for r in new_regions if r is not None])
