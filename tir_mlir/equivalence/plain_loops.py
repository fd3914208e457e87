"""Convert a TensorIR program to plain affine loops, without blocks, views and kernel calls.

Calls of kernels become the descriptions of their intrinsics, blocks their bodies with iters bound; views are folded.
Independent of `passes/lower` except for `trusted_passes.TRUSTED_PASSES`, so that the check does not repeat its bugs.
"""

from __future__ import annotations

from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect.analysis import kept_dims
from tir_mlir.dialect.calls import callee_of
from tir_mlir.dialect.computation.matrix_functions import expand_matrix_functions
from tir_mlir.dialect.computation.split_lanes import split_lanes
from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.ir import (
    Block,
    Func,
    Index,
    attrs,
    edit,
    emit_map,
    funcs,
    is_apply,
    is_block,
    read_apply,
    symbols_by_name,
    walk,
)
from tir_mlir.dialect.ir.lowering_op_views import AssumeOp, UnrealizedCastOp
from tir_mlir.dialect.ir.op_traits import accessed_memref, is_scalar, names_of, stored_value
from tir_mlir.dialect.ir.op_views import (
    AffineForOp,
    AllocLikeOp,
    AssumeAlignmentOp,
    BodyOp,
    ByteViewOp,
    CallOp,
    ChoiceOp,
    CollapseShapeOp,
    ConditionOp,
    ConstantOp,
    CopyOp,
    CountedLoopOp,
    DataLoopOp,
    DimOp,
    ElementAccessOp,
    ExpandShapeOp,
    FuncOp,
    MappedOp,
    MemrefCastOp,
    NeutralOp,
    PrefetchOp,
    ReinterpretCastOp,
    ReturnOp,
    StoreOp,
    SubviewOp,
    ViewLikeOp,
    isa,
)
from tir_mlir.equivalence.described_kernels import describe_calls
from tir_mlir.equivalence.edits import OpBuilder
from tir_mlir.equivalence.field import exact_rounding, field_functions
from tir_mlir.equivalence.instrument import ARENA, each_element
from tir_mlir.equivalence.typed_arenas import split_arenas
from tir_mlir.passes.lower.memory import bools
from tir_mlir.passes.lower.retype_module import retype

CLEAN = "builtin.module(canonicalize,cse)"

_SUPPORTED_OPS = frozenset(
    names_of(
        ElementAccessOp, AllocLikeOp, NeutralOp, CountedLoopOp, DataLoopOp, ChoiceOp, ConditionOp, BodyOp, CallOp,
        ReturnOp, MappedOp, MemrefCastOp, ByteViewOp, SubviewOp, CollapseShapeOp, ExpandShapeOp, ReinterpretCastOp,
    )
)  # fmt: skip
"""Besides operators of numbers: the ops that the check takes."""


def make_plain(module: ir.Module, build: OpBuilder) -> None:
    """Rewrite a module in place. Raises NotChecked for ops without exact semantics."""
    expand_matrix_functions(module)
    everything = walk.ops(module.operation)
    retype(everything, _drop_memory_space)
    describe_calls(module)
    split_lanes(module)
    for func in funcs(module):
        remove_blocks(func.op)
    bools.run(module)
    for op in walk.ops(module.operation):
        _drop(op)
    expand_copies(module, build)
    fold_views(walk.ops(module.operation), build)
    hide_constants(module.operation, build)
    PassManager.parse(CLEAN).run(module.operation)
    show_constants(module.operation, build)
    for func in funcs(module):
        _drop_assumption(func)
    for op in list(module.body.operations):
        if isa(op.operation, FuncOp) and not len(op.operation.regions[0].blocks):
            op.operation.erase()  # declarations of kernels; remaining calls are rejected by check_known
    split_arenas(module, build)
    exact_rounding.mark(module.operation)
    check_known(module)


def _drop_assumption(func: Func) -> None:
    """Drop what a function assumes of sizes of which one is gone: nothing in it used that size."""
    if attrs.ASSUME in func.op.attributes and set(attrs.get(func.op, attrs.SYMS, [])) - set(symbols_by_name(func.op)):
        del func.op.attributes[attrs.ASSUME]
        del func.op.attributes[attrs.SYMS]


def _drop_memory_space(type_: ir.Type) -> ir.Type:
    memref = ir.MemRefType(type_)
    if memref.memory_space is None:
        return type_
    return ir.MemRefType.get(memref.shape, memref.element_type, memref.layout)


def remove_blocks(func: ir.Operation) -> None:
    """Inline each block: iters become `affine.apply` of their bindings. The location of inlined ops is the block's
    name."""
    for op in [o for o in walk.ops(func) if is_block(o)]:
        name = Block(op).name
        map_ = attrs.map_of(op.attributes["lowerBoundsMap"])
        operands = list(op.operands)[: map_.n_inputs]
        with ir.InsertionPoint(op), op.location:
            for number, argument in enumerate(op.regions[0].blocks[0].arguments):
                binding = ir.AffineMapAttr.get(map_.get_submap([number]))
                apply = ir.Operation.create("affine.apply", [ir.IndexType.get()], operands, {"map": binding})
                argument.replace_all_uses_with(apply.results[0])
        for inner in list(op.regions[0].blocks[0].operations)[:-1]:
            if not is_block(inner.operation):
                _name(inner.operation, name)
            inner.operation.move_before(op)
        op.erase()


def _name(root: ir.Operation, name: str) -> None:
    for op in walk.ops(root, skip=is_block):
        if not is_block(op):
            op.location = ir.Location.name(name)


def _drop(op: ir.Operation) -> None:
    """Erase hints."""
    if isa(op, PrefetchOp):
        op.erase()
    elif isa(op, AssumeAlignmentOp):
        for result in op.results:
            result.replace_all_uses_with(AssumeAlignmentOp(op).source)
        op.erase()


def _is_check_function(op: ir.Operation) -> bool:
    """Whether a call is one of the check's own functions."""
    return ir.FlatSymbolRefAttr(op.attributes["callee"]).value.startswith(field_functions.PREFIX)


def check_known(module: ir.Module) -> None:
    """Raise NotChecked for unsupported ops. Those of arith and math are checked by the conversion."""
    everything = walk.ops(module.operation)
    for op in sorted(everything, key=lambda o: not isa(o, CallOp)):  # report the call before the ops of its operands
        name = op.name
        if isa(op, CallOp) and callee_of(op) is None and not _is_check_function(op):
            callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
            raise NotChecked(
                f'the call of "{callee}" has no exact semantics: it is not the call of the implementation of a'
                " registered intrinsic (TensorIntrin.register gives a kernel a description)"
            )
        if isa(op, AssumeOp):
            raise NotChecked("T.assume on data: the check runs on arbitrary data")
        if name not in _SUPPORTED_OPS and not is_scalar(name):
            raise NotChecked(f"{name} has no exact semantics")
        if name.startswith("arith.scaling_"):
            raise NotChecked(f"{name} depends on the bits of a float: it has no exact semantics")
        if any(isinstance(r.type, ir.VectorType) for r in op.results):
            raise NotChecked(f"{name} is a vector op: the check runs programs before vectorization")


# --- fold memref.subview into the loads and stores through it ---------------------------------------------------------


_DYNAMIC = ir.ShapedType.get_dynamic_size()


def fold_views(everything: list[ir.Operation], build: OpBuilder) -> None:
    """Rewrite every load and store of a `memref.subview` to access the source; the views become dead.

        %v = memref.subview %A[%i, 4] [16, 16] [1, 1];  affine.load %v[%j, %k]   -->   affine.load %A[%i + %j, %k + 4]

    Views with steps or non-affine offsets are accessed by memref.load and memref.store.
    """
    for op in everything:
        if isa(op, ElementAccessOp):
            while (view := _view(op)) is not None:
                op = _fold_access(op, view, build)


def _view(op: ir.Operation) -> ir.Operation | None:
    owner = accessed_memref(op).owner
    return owner.operation if not isinstance(owner, ir.Block) and isa(owner, SubviewOp) else None


def _fold_access(op: ir.Operation, view: ir.Operation, build: OpBuilder) -> ir.Operation:
    starts, steps, sizes = _numbers(view)
    shape = list(ir.MemRefType(view.results[0].type).shape)
    axes = kept_dims([_static_size(n) for n in shape], [_static_size(n) if isinstance(n, int) else None for n in sizes])
    if axes is None:
        raise ValueError(f"{view} has an unsupported layout")
    affine = op.name.startswith("affine") and all(isinstance(s, int) or _is_affine(s) for s in starts)
    affine = affine and all(isinstance(s, int) for s in steps)
    return _affine(op, view, starts, steps, axes) if affine else _plain(op, view, starts, steps, axes, build)


def _static_size(size: int) -> int | None:
    return None if size == _DYNAMIC else size


def _numbers(view: ir.Operation) -> list[list[int | ir.Value]]:
    """Offsets, sizes and strides of a view: ints, or values if dynamic."""
    dynamic = iter(list(view.operands)[1:])
    numbers: dict[str, list[int | ir.Value]] = {}
    for word in ("offsets", "sizes", "strides"):
        fixed = list(ir.DenseI64ArrayAttr(view.attributes[f"static_{word}"]))
        numbers[word] = [next(dynamic) if n == _DYNAMIC else n for n in fixed]
    return [numbers["offsets"], numbers["strides"], numbers["sizes"]]


def _is_affine(value: ir.Value) -> bool:
    """Whether a value may be a dimension of an affine map."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return isa(owner.owner, AffineForOp, FuncOp)
    return is_apply(value) or isa(owner, DimOp)


def _index(value: int | ir.Value) -> Index:
    if isinstance(value, int):
        return Index.constant(value)
    return read_apply(value) if is_apply(value) else Index.from_value(value)


def _affine(
    op: ir.Operation, view: ir.Operation, starts: list[int | ir.Value], steps: list[int | ir.Value], axes: list[int]
) -> ir.Operation:
    indices = [_index(s) for s in starts]
    for axis, index in zip(axes, walk.access_indices(op), strict=True):
        step = steps[axis]
        assert isinstance(step, int)
        indices[axis] = (indices[axis] + index * step).simplify()
    map_, operands = emit_map(indices)
    value = stored_value(op)
    first = [*([] if value is None else [value]), ViewLikeOp(view).source]
    return edit.rebuild(op, [*first, *operands], {"map": ir.AffineMapAttr.get(map_)})


def _plain(
    op: ir.Operation,
    view: ir.Operation,
    starts: list[int | ir.Value],
    steps: list[int | ir.Value],
    axes: list[int],
    build: OpBuilder,
) -> ir.Operation:
    with ir.InsertionPoint(op), op.location:
        values = [build.index(s) if isinstance(s, int) else s for s in starts]
        for axis, index in zip(axes, build.indices_of(op), strict=True):
            step = steps[axis]
            scaled = (
                index
                if step == 1
                else build.binary("arith.muli", index, build.index(step) if isinstance(step, int) else step)
            )
            values[axis] = build.plus(values[axis], scaled)
        if isa(op, StoreOp):
            access = ir.Operation.create("memref.store", [], [StoreOp(op).value, ViewLikeOp(view).source, *values])
        else:
            access = ir.Operation.create("memref.load", [op.results[0].type], [ViewLikeOp(view).source, *values])
            op.results[0].replace_all_uses_with(access.results[0])
    op.erase()
    return access


# --- copies of buffers as loops ---------------------------------------------------------------------------------------


def expand_copies(module: ir.Module, build: OpBuilder) -> None:
    """Rewrite each `memref.copy %a, %b` as loops that load and store each element."""
    for op in walk.ops(module.operation):
        if isa(op, CopyOp):
            with ir.InsertionPoint(op), op.location:
                _copy(CopyOp(op).source, CopyOp(op).memref, build)
            op.erase()


def _copy(source: ir.Value, target: ir.Value, build: OpBuilder) -> None:
    with each_element(source, build, ARENA) as variables:
        element = ir.MemRefType(source.type).element_type
        value = ir.Operation.create("memref.load", [element], [source, *variables]).results[0]
        ir.Operation.create("memref.store", [], [value, target, *variables])


# --- float constants, hidden from the folding of MLIR -----------------------------------------------------------------


_CAST = "builtin.unrealized_conversion_cast"
_NUMBER = "tir.number"


def hide_constants(root: ir.Operation, build: OpBuilder) -> None:
    """Replace float constants by values that no fold knows: `exp(0.5)`, folded, is not an exact arithmetic of the
    field."""
    for op in walk.ops(root):
        if isa(op, ConstantOp) and isinstance(op.attributes["value"], ir.FloatAttr):
            with ir.InsertionPoint(op), op.location:
                hidden = ir.Operation.create(_CAST, [op.results[0].type], [build.number(0)])
            hidden.attributes[_NUMBER] = op.attributes["value"]
            op.results[0].replace_all_uses_with(hidden.results[0])
            op.erase()


def show_constants(root: ir.Operation, build: OpBuilder) -> None:
    """Make hidden constants constants again."""
    for op in walk.ops(root):
        if isa(op, UnrealizedCastOp) and _NUMBER in op.attributes:
            with ir.InsertionPoint(op), op.location:
                constant = build.constant(ir.FloatAttr(op.attributes[_NUMBER]))
            op.results[0].replace_all_uses_with(constant)
            op.erase()
