"""Fold memref.subview into the loads and stores through it."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import kept_dims
from tir_mlir.dialect.ir import Index, edit, emit_map, is_apply, read_apply, walk
from tir_mlir.dialect.ir.op_traits import ELEMENT_ACCESSES, STORES, accessed, stored
from tir_mlir.equivalence.edits import OpBuilder

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def fold_views(everything: list[ir.Operation], build: OpBuilder) -> None:
    """Rewrite every load and store of a `memref.subview` to access the source; the views become dead.

        %v = memref.subview %A[%i, 4] [16, 16] [1, 1];  affine.load %v[%j, %k]   -->   affine.load %A[%i + %j, %k + 4]

    Views with steps or non-affine offsets are accessed by memref.load and memref.store.
    """
    for op in everything:
        if op.name in ELEMENT_ACCESSES:
            while (view := _view(op)) is not None:
                op = _through(op, view, build)


def _view(op: ir.Operation) -> ir.Operation | None:
    owner = accessed(op).owner
    return owner.operation if not isinstance(owner, ir.Block) and owner.name == "memref.subview" else None


def _through(op: ir.Operation, view: ir.Operation, build: OpBuilder) -> ir.Operation:
    starts, steps, sizes = _numbers(view)
    shape = list(ir.MemRefType(view.results[0].type).shape)
    kept = kept_dims([_known(n) for n in shape], [_known(n) if isinstance(n, int) else None for n in sizes])
    if kept is None:
        raise ValueError(f"{view} has an unsupported layout")
    affine = op.name.startswith("affine") and all(isinstance(s, int) or _is_affine(s) for s in starts)
    affine = affine and all(isinstance(s, int) for s in steps)
    return _affine(op, view, starts, steps, kept) if affine else _plain(op, view, starts, steps, kept, build)


def _known(size: int) -> int | None:
    return None if size == _DYNAMIC else size


def _numbers(view: ir.Operation) -> list[list[int | ir.Value]]:
    """Offsets, sizes and strides of a view: ints, or values if dynamic."""
    rest = iter(list(view.operands)[1:])
    found: dict[str, list[int | ir.Value]] = {}
    for word in ("offsets", "sizes", "strides"):
        fixed = list(ir.DenseI64ArrayAttr(view.attributes[f"static_{word}"]))
        found[word] = [next(rest) if n == _DYNAMIC else n for n in fixed]
    return [found["offsets"], found["strides"], found["sizes"]]


def _is_affine(value: ir.Value) -> bool:
    """Whether a value may be a dimension of an affine map."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return owner.owner.name == "affine.for" or owner.owner.name == "func.func"
    return is_apply(value) or owner.name == "memref.dim"


def _index(value: int | ir.Value) -> Index:
    if isinstance(value, int):
        return Index.constant(value)
    return read_apply(value) if is_apply(value) else Index.of(value)


def _affine(
    op: ir.Operation, view: ir.Operation, starts: list[int | ir.Value], steps: list[int | ir.Value], kept: list[int]
) -> ir.Operation:
    indices = [_index(s) for s in starts]
    for axis, index in zip(kept, walk.access_indices(op), strict=True):
        step = steps[axis]
        assert isinstance(step, int)
        indices[axis] = (indices[axis] + index * step).simplified()
    map_, used = emit_map(indices)
    value = stored(op)
    first = [*([] if value is None else [value]), view.operands[0]]
    return edit.rebuild(op, [*first, *used], {"map": ir.AffineMapAttr.get(map_)})


def _plain(
    op: ir.Operation,
    view: ir.Operation,
    starts: list[int | ir.Value],
    steps: list[int | ir.Value],
    kept: list[int],
    build: OpBuilder,
) -> ir.Operation:
    with ir.InsertionPoint(op), op.location:
        values = [build.index(s) if isinstance(s, int) else s for s in starts]
        for axis, index in zip(kept, build.indices_of(op), strict=True):
            step = steps[axis]
            scaled = (
                index
                if step == 1
                else build.binary("arith.muli", index, build.index(step) if isinstance(step, int) else step)
            )
            values[axis] = build.plus(values[axis], scaled)
        if op.name in STORES:
            made = ir.Operation.create("memref.store", [], [op.operands[0], view.operands[0], *values])
        else:
            made = ir.Operation.create("memref.load", [op.results[0].type], [view.operands[0], *values])
            op.results[0].replace_all_uses_with(made.results[0])
    op.erase()
    return made
