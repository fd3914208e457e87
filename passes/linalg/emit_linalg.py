"""Emit a canonical form as linalg ops: `linalg.fill` for the init, `linalg.generic` for the computation, subviews as
needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import linalg, memref

from tir_mlir.dialect.computation import Form, NotRaisable, Operand, OpNode, Tree, TreeEmitter, leaves
from tir_mlir.dialect.ir import Index, create, func_of, is_symbol
from tir_mlir.dialect.ir.lowering_op_views import LinalgIndexOp

_DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class OperandAxis:
    """One dimension of an operand: the accessed range, and the index in it (None: the dimension is dropped)."""

    offset: Index
    size: Index
    stride: int
    expr: ir.AffineExpr | None
    whole: bool


class LinalgEmitter:
    """Emits a form at the insertion point. The constructor makes all checks. Errors: NotRaisable."""

    def __init__(self, form: Form):
        counted = any(n.op in LinalgIndexOp.names for n in _nodes(form.payload))
        for column in reversed(range(len(form.axes) if not counted else 0)):
            if form.axes[column].is_unit and not any(row[column] for o in form.operands for row in o.rows):
                form = form.drop_axis(column)
        if varying := [a.name for a in form.axes if any(not is_symbol(v) for v in a.extent.values)]:
            raise NotRaisable(f"the range of {varying[0]} depends on a loop around it")
        self.form = form
        self.axes = [self._operand(o) for o in form.operands]
        if form.partial_init:
            raise NotRaisable("its init runs only in some iterations of the loops around it")

    def write(self) -> None:
        form = self.form
        views = [self._view(o, axes) for o, axes in zip(form.operands, self.axes, strict=True)]
        output = views[form.output]
        start = form.init if form.init is not None else self._constant()
        if start is not None:
            self._fill(output, start)
        if form.init is None and start is not None:
            return
        sources = dict.fromkeys(n for n in leaves(form.payload) if n != form.output)
        inputs, maps = [views[n] for n in sources], [self._map(n) for n in sources]
        window = self._window([*sources, form.output])
        if window is not None:
            inputs.append(window[0])
            maps.append(window[1])
        op = generic_op(inputs, [output], [*maps, self._map(form.output)], [a.kind for a in form.axes])
        arguments = list(op.regions[0].blocks[0].arguments)
        values = {n: arguments[position] for position, n in enumerate(sources)} | {form.output: arguments[-1]}
        with ir.InsertionPoint(op.regions[0].blocks[0]):
            ir.Operation.create("linalg.yield", operands=[TreeEmitter(values, self._arguments()).value(form.payload)])

    def _constant(self) -> Tree | None:
        """The constant that fills the whole output, or None."""
        form = self.form
        parts = [a.expr for a in self.axes[form.output] if a.expr is not None]
        bare = {e.position for e in parts if isinstance(e, ir.AffineDimExpr)}
        plain = not any(True for _ in leaves(form.payload)) and all(
            n.op not in LinalgIndexOp.names for n in _nodes(form.payload)
        )
        fills = len(bare) == len(parts) == len(form.axes) and plain
        return form.payload if fills else None

    def _fill(self, output: ir.Value, start: Tree) -> None:
        linalg.fill(TreeEmitter({}, self._arguments()).value(start), outs=[output])

    def _arguments(self) -> list[ir.Value]:
        return func_of(ir.InsertionPoint.current.block.owner.operation).args

    # --- operands ----------------------------------------------------------------------------------------------------

    def _operand(self, operand: Operand) -> list[OperandAxis]:
        dims = operand.buffer.dims
        return [self._axis(row, base, dim) for row, base, dim in zip(operand.rows, operand.base, dims, strict=True)]

    def _axis(self, row: Sequence[int], base: Index, dim: Index) -> OperandAxis:
        """A row of factors as offset, size and stride of a subview, and the index in it."""
        extents = [a.extent for a in self.form.axes]
        columns = [n for n, factor in enumerate(row) if factor]
        at_start = base.as_constant() == 0
        if not columns:
            is_full = at_start and dim.as_constant() == 1
            return OperandAxis(base, Index.constant(1), 1, ir.AffineExpr.get_constant(0) if is_full else None, is_full)
        if len(columns) == 1 and row[columns[0]] > 0:
            n, factor = columns[0], row[columns[0]]
            is_full = at_start and factor == 1 and extents[n].is_equal_to(dim)
            return OperandAxis(base, extents[n], factor, ir.AffineExpr.get_dim(n), is_full)
        low, high = Index.constant(0), Index.constant(0)
        expr: ir.AffineExpr = ir.AffineExpr.get_constant(0)
        for n in columns:
            reach = (extents[n] - 1) * row[n]
            low, high = (low, high + reach) if row[n] > 0 else (low + reach, high)
            expr = expr + ir.AffineExpr.get_dim(n) * row[n]
        shift = low.simplify().as_constant()
        if shift is None:
            raise NotRaisable("an index decreases with an iterator of symbolic size")
        is_full = (base + low).simplify().as_constant() == 0
        return OperandAxis((base + low).simplify(), (high - low + 1).simplify(), 1, expr - shift, is_full)

    def _map(self, number: int) -> ir.AffineMap:
        exprs = [a.expr for a in self.axes[number] if a.expr is not None]
        return ir.AffineMap.get(len(self.form.axes), 0, exprs)

    def _view(self, operand: Operand, axes: Sequence[OperandAxis]) -> ir.Value:
        buffer = operand.buffer.value
        return buffer if all(a.whole for a in axes) else _subview(buffer, axes)

    def _window(self, operands: Sequence[int]) -> tuple[ir.Value, ir.AffineMap] | None:
        """An unused operand whose shape gives the extents of iterators that no other operand has alone."""
        bare = {e.position for n in operands for a in self.axes[n] if isinstance(e := a.expr, ir.AffineDimExpr)}
        missing = [n for n in range(len(self.form.axes)) if n not in bare]
        if not missing:
            return None
        sizes = [create.as_size(self.form.axes[n].extent) for n in missing]
        dtype = self.form.operands[self.form.output].buffer.dtype
        map_ = ir.AffineMap.get(len(self.form.axes), 0, [ir.AffineExpr.get_dim(n) for n in missing])
        return create.alloc("window", sizes, dtype), map_


def _nodes(tree: Tree) -> Iterator[OpNode]:
    if isinstance(tree, OpNode):
        yield tree
        for child in tree.children:
            yield from _nodes(child)


# --- ops --------------------------------------------------------------------------------------------------------------


def generic_op(
    inputs: Sequence[ir.Value], outputs: Sequence[ir.Value], maps: Sequence[ir.AffineMap], kinds: Sequence[str]
) -> ir.Operation:
    """A `linalg.generic` with an empty body, on buffers, or on tensors with a result for each output."""
    words = {"S": "parallel", "R": "reduction"}
    types = [ir.Attribute.parse(f"#linalg.iterator_type<{words[k]}>") for k in kinds]
    op = ir.Operation.create(
        "linalg.generic",
        results=[v.type for v in outputs if isinstance(v.type, ir.RankedTensorType)],
        operands=[*inputs, *outputs],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps]),
            "iterator_types": ir.ArrayAttr.get(types),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
        },
        regions=1,
    )
    op.regions[0].blocks.append(*[ir.ShapedType(v.type).element_type for v in (*inputs, *outputs)])
    return op


def _subview(buffer: ir.Value, axes: Sequence[OperandAxis]) -> ir.Value:
    """A subview of the accessed range of a buffer; dimensions without an index are dropped."""
    type_ = ir.MemRefType(buffer.type)
    strides, offset = type_.get_strides_and_offset()
    unknown = ir.ShapedType.get_dynamic_stride_or_offset()
    offsets, sizes = [a.offset.as_constant() for a in axes], [a.size.as_constant() for a in axes]
    for stride, start in zip(strides, offsets, strict=True):
        if start != 0 and offset != unknown:
            offset = unknown if stride == unknown or start is None else offset + stride * start
    dims = [n for n, a in enumerate(axes) if a.expr is not None]
    layout = ir.StridedLayoutAttr.get(
        offset, [unknown if strides[n] == unknown else strides[n] * axes[n].stride for n in dims]
    )
    shape = [_DYNAMIC if (size := sizes[n]) is None else size for n in dims]
    result = ir.MemRefType.get(shape, type_.element_type, layout=layout, memory_space=type_.memory_space)
    starts = [create.apply(a.offset) for a, n in zip(axes, offsets, strict=True) if n is None]
    spans = [create.apply(a.size) for a, n in zip(axes, sizes, strict=True) if n is None]
    static = [[_DYNAMIC if n is None else n for n in numbers] for numbers in (offsets, sizes)]
    steps = [a.stride for a in axes]
    return memref.SubViewOp(result, buffer, starts, spans, [], static[0], static[1], steps).result
