"""Lower storage_align annotations: strides of allocated buffers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis import buffers, has_fixed_pointer
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Block, Buffer, attrs, is_block, walk
from tir_mlir.dialect.ir.annotation_keys import ALIGN, SWIZZLE
from tir_mlir.dialect.ir.edit import set_attribute
from tir_mlir.dialect.ir.op_views import AccessOp, AllocOp, DeallocOp, NeutralOp, PointerOp, SubviewOp, isa
from tir_mlir.passes.lower.registry import Content, LoweringWarning, location_text, lowering, programs

DIM_ALIGN = "tir.dim_align"
"""On an allocation: [axis, factor, offset], ... Exists only during lowering."""
SWIZZLED = "tir.swizzled"
"""On an allocation whose addresses `tir-lower-gpu-swizzles` permutes. Exists only during lowering."""
SWIZZLE_BYTES = "tir.swizzle_bytes"
"""On an allocation: the bytes of rows whose units of 16 bytes the TMA permutes. Exists only during lowering."""
RoundUp = Callable[[ir.Value, int, int], ir.Value]
Multiply = Callable[[int | ir.Value, int | ir.Value], ir.Value]
DYNAMIC = ir.ShapedType.get_dynamic_size()
DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()


@lowering(
    "tir-lower-strides-align",
    "Copy storage_align and swizzle annotations from blocks to allocations",
    works_on=Content(annotations={ALIGN, SWIZZLE}),
)
def run(module: ir.Module) -> None:
    """Copy the annotations of blocks to the buffers they refer to.

        %b = memref.alloc : ...                       %b = memref.alloc {tir.dim_align = [[0, 32, 8]]} : ...
        ... {tir.block = "b", tir.annotations =   -->
             {buffer_dim_align = [[0, 0, 32, 8]]}}

    Runs before blocks are removed; `tir-lower-strides` and `tir-lower-gpu-swizzles` apply them when shapes are final.
    """
    for func in programs(module):
        blocks = [Block(op) for op in walk.ops(func.op) if is_block(op)]
        for block in blocks:
            if ALIGN in block.annotations:
                _record(block)
        for block in blocks:
            if SWIZZLE in block.annotations:
                _record_swizzle(block)


def _record_swizzle(block: Block) -> None:
    written = [b.root for b in buffers(block)[1]]
    for number in block.annotations[SWIZZLE]:
        alloc = written[number].op if type(number) is int and 0 <= number < len(written) else None
        if alloc is None or not written[number].is_alloc:
            raise LoweringError(
                f'{location_text(block.op)}: block "{block.name}" has {SWIZZLE} entry {number!r}; expected the '
                "position, among the buffers that it writes, of one that the program allocates"
            )
        if DIM_ALIGN in alloc.attributes:
            raise LoweringError(
                f'{location_text(block.op)}: buffer "{written[number].name}" has padded rows and permuted addresses; '
                f'fix: unannotate "{ALIGN}" or "{SWIZZLE}"'
            )
        set_attribute(alloc, SWIZZLED, ir.UnitAttr.get())


def _record(block: Block) -> None:
    written = [b.root for b in buffers(block)[1]]
    for entry in block.annotations[ALIGN]:
        if not isinstance(entry, list) or len(entry) != 4 or any(type(n) is not int for n in entry) or entry[2] <= 0:
            raise LoweringError(
                f'{location_text(block.op)}: block "{block.name}" has {ALIGN} entry {entry!r}; expected [buffer, '
                "axis, factor, offset], integers, with a positive factor"
            )
        number, axis, factor, offset = entry
        buffer = written[number] if 0 <= number < len(written) else None
        fits = buffer is not None and buffer.is_alloc and 0 <= axis < buffer.rank
        if buffer is None or not fits or has_fixed_pointer(buffer, axis):
            # steps after storage_align may have replaced the buffer, changed its dimensions or made the pointer
            warnings.warn(
                f'{location_text(block.op)}: {ALIGN} {entry} of block "{block.name}" is ignored: it needs a buffer '
                "that the block writes and the program allocates, an axis of it, and its strides with each pointer",
                LoweringWarning,
                stacklevel=2,
            )
            continue
        requested = attrs.get(buffer.op, DIM_ALIGN, [])
        attrs.put(buffer.op, DIM_ALIGN, [*(e for e in requested if e[0] != axis), [axis, factor, offset]])


def is_padded(value: ir.Value) -> bool:
    """Whether the memory of a value will get custom strides, so that a row may have gaps."""
    root = Buffer(value).root.op
    return root is not None and DIM_ALIGN in root.attributes


def has_contiguous_rows(value: ir.Value) -> bool:
    """Whether adjacent elements in the last dimension of a padded buffer are contiguous."""
    op = Buffer(value).op
    return op is not None and isa(op, AllocOp) and strides_of(op)[-1] == 1


def strides_of(op: ir.Operation) -> list[int]:
    """The strides of an allocation in elements: row-major, rounded up as requested. DYNAMIC_STRIDE for those of the
    axes before a symbolic size."""
    unknown = op.results[0]  # stands for what is computed at run time
    strides = _strides(op, lambda *_: unknown, lambda *_: unknown)
    return [s if isinstance(s, int) else DYNAMIC_STRIDE for s in strides]


def _strides(op: ir.Operation, round_up: RoundUp, multiply: Multiply) -> list[int | ir.Value]:
    """The strides of an allocation: numbers, and the values of those that depend on a symbolic size, which
    `round_up(step, factor, offset)` and `multiply(step, size)` compute."""
    shape, sizes = ir.MemRefType(op.results[0].type).shape, list(op.operands)
    requested = {axis: (factor, offset) for axis, factor, offset in attrs.get(op, DIM_ALIGN, [])}
    strides: list[int | ir.Value] = []
    step: int | ir.Value = 1
    for axis in reversed(range(len(shape))):
        if axis in requested:
            factor, offset = requested[axis]
            step = step + (offset - step) % factor if isinstance(step, int) else round_up(step, factor, offset)
        strides.insert(0, step)
        size = sizes.pop() if shape[axis] == DYNAMIC else max(shape[axis], 1)
        step = step * size if isinstance(step, int) and isinstance(size, int) else multiply(step, size)
    return strides


def _rounded_up(step: ir.Value, factor: int, offset: int) -> ir.Value:
    """step --> the smallest s >= step with s % factor == offset % factor."""
    missing = arith.subi(_number(offset % factor + factor), arith.remui(step, _number(factor)))
    return arith.addi(step, arith.remui(missing, _number(factor)))


def _product(step: int | ir.Value, size: int | ir.Value) -> ir.Value:
    return arith.muli(*(_number(value) if isinstance(value, int) else value for value in (step, size)))


def _number(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


@lowering(
    "tir-lower-strides",
    "Lower aligned buffers to strided views",
    works_on=Content(annotations={ALIGN}, attributes={DIM_ALIGN}),
)
def apply_strides(module: ir.Module) -> None:
    """Make every aligned buffer a strided view of a longer one-dimensional buffer.

        %b = memref.alloc {tir.dim_align = [[0, 32, 8]]} : memref<16x10xf32>
            -->
        %m = memref.alloc : memref<640xf32>
        %b = memref.reinterpret_cast %m to offset: [0], sizes: [16, 10], strides: [40, 1]

    Strides of symbolic sizes are computed where the buffer is allocated. Views of it follow. Runs when shapes are final
    and vectors exist (`padded` excludes vectors across gaps).
    """
    for func in programs(module):
        for op in [o for o in walk.ops(func.op) if isa(o, AllocOp) and DIM_ALIGN in o.attributes]:
            if strides_of(op) == _row_major(ir.MemRefType(op.results[0].type).shape):
                del op.attributes[DIM_ALIGN]
            else:
                _check_users(op.results[0])
                _apply_strides(op)


def _row_major(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def _apply_strides(op: ir.Operation) -> None:
    type_ = ir.MemRefType(op.results[0].type)
    first, strides = type_.shape[0], strides_of(op)
    is_constant = DYNAMIC not in (first, strides[0])
    layout = ir.StridedLayoutAttr.get(0, strides)
    new_type = ir.MemRefType.get(type_.shape, type_.element_type, layout, type_.memory_space)
    length = max(first, 1) * strides[0] if is_constant else DYNAMIC
    flat = ir.MemRefType.get([length], type_.element_type, memory_space=type_.memory_space)
    facts = {n: op.attributes[n] for n in op.attributes if n not in (DIM_ALIGN, "operandSegmentSizes")}
    with ir.InsertionPoint(op), op.location:
        sizes, values = list(op.operands), _strides(op, _rounded_up, _product)
        total = [] if is_constant else [_product(values[0], sizes[0] if first == DYNAMIC else first)]
        facts["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(total), 0])
        memory = ir.Operation.create("memref.alloc", [flat], total, facts)
        symbolic = [s for s in values if isinstance(s, ir.Value)]
        view = ir.Operation.create(
            "memref.reinterpret_cast",
            [new_type],
            [memory.results[0], *sizes, *symbolic],
            {
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(sizes), len(symbolic)]),
                "static_offsets": ir.DenseI64ArrayAttr.get([0]),
                "static_sizes": ir.DenseI64ArrayAttr.get(list(type_.shape)),
                "static_strides": ir.DenseI64ArrayAttr.get(strides),
            },
        )
    for dealloc in [u.owner.operation for u in op.results[0].uses if isa(u.owner, DeallocOp)]:
        dealloc.erase()
    op.results[0].replace_all_uses_with(view.results[0])
    op.erase()
    _propagate_strides(view.results[0])


# --- views ------------------------------------------------------------------------------------------------------------

_MATRIX_ACCESSES = {"gpu.subgroup_mma_load_matrix", "gpu.subgroup_mma_store_matrix"}
"""Their rows are as far apart as `tir-lower-gpu-fragments` has computed from `strides_of`."""
_STRIDE_AGNOSTIC = AccessOp.names | NeutralOp.names | PointerOp.names | _MATRIX_ACCESSES


def _check_users(value: ir.Value) -> None:
    """Refuse users that fix the layout of a buffer: a cast, or a call that takes the whole buffer."""
    for use in value.uses:
        user = use.owner.operation
        if isa(user, SubviewOp):
            _check_users(user.results[0])
        elif user.name not in _STRIDE_AGNOSTIC:
            name = Buffer(value).root.name
            raise LoweringError(
                f"{location_text(user)}: {name} is aligned by storage_align, but {user.name} needs its row-major "
                "layout; pass an access pointer and strides instead"
            )


def _propagate_strides(value: ir.Value) -> None:
    """Update the strides of the views of a value."""
    for use in value.uses:
        user = use.owner.operation
        if isa(user, SubviewOp):
            old, source = ir.MemRefType(user.results[0].type), ir.MemRefType(value.type)
            layout = _view_layout(user, source, old)
            user.results[0].set_type(ir.MemRefType.get(old.shape, old.element_type, layout, source.memory_space))
            _propagate_strides(user.results[0])


def _view_layout(op: ir.Operation, source: ir.MemRefType, old: ir.MemRefType) -> ir.Attribute:
    """Strides multiply, offsets add up, unknown if any part is; unit dimensions that the view drops are left out."""
    strides, start = source.get_strides_and_offset()
    offsets, sizes, steps = (attrs.integers(op, f"static_{k}") for k in ("offsets", "sizes", "strides"))
    total = start
    for part, stride in zip(offsets, strides, strict=True):
        known = part == 0 or DYNAMIC not in (part, stride)
        total = total + part * stride if known and total != DYNAMIC_STRIDE else DYNAMIC_STRIDE
    drop, view_strides = len(sizes) - old.rank, []
    for stride, step, size in zip(strides, steps, sizes, strict=True):
        if drop and size == 1:
            drop -= 1
        else:
            view_strides.append(DYNAMIC_STRIDE if DYNAMIC in (step, stride) else stride * step)
    return ir.StridedLayoutAttr.get(total, view_strides)
