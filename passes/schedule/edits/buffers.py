"""Buffers of a block: find by index or name, allocate, rename in declared regions; change the type, with all views."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from mlir import ir

from tir_mlir.dialect.analysis import Region, buffers, declare, get_declared_regions, kept_dims
from tir_mlir.dialect.diagnostics import BufferNameError, short_repr
from tir_mlir.dialect.incremental import contents_of, is_head, step_journal
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    all_blocks,
    annotation_keys,
    attrs,
    create,
    edit,
    func_of,
    nests_using,
    new_names,
    ops,
    owner_op,
)
from tir_mlir.dialect.ir.op_traits import RETYPED
from tir_mlir.dialect.ir.op_views import AccessOp, BufferOp, NeutralOp, PointerOp, SubviewOp, isa
from tir_mlir.passes.schedule.registry import check, refuse

_SCOPE = re.compile(r"global(\.[\w.]+)?|shared(\.dyn)?|warp|local|w?mma\.\w+|wgmma\.accumulator|m16n8k8\.\w+|amx\.tile")
BufferChoice = str | tuple[Literal["read", "write"], int]


def check_scope_name(block: Block, scope: str) -> None:
    """Refuse an unknown storage scope."""
    if not isinstance(scope, str) or not _SCOPE.fullmatch(scope):
        refuse(
            block,
            f"{short_repr(scope)} is not a storage scope; use global, global.<tag>, "
            "shared, shared.dyn, warp, local, wmma.<fragment>, mma.<fragment>, wgmma.accumulator, m16n8k8.<fragment> "
            "or amx.tile",
        )


def find_buffer(block: Block, which: int | str, key: str) -> Buffer:
    """The buffer with an index (in printed order) or name among those a block reads or writes."""
    accessed = buffers(block)[0 if key == attrs.READS else 1]
    word = "reads" if key == attrs.READS else "writes"
    listed = ", ".join(f"{n}: {b.name}" for n, b in enumerate(accessed)) or "nothing"
    if isinstance(which, str):
        named = [b for b in accessed if b.name == which]
        if len(named) != 1:
            many = len(named) or "no"
            reason = f'block "{block.name}" {word} {many} buffers named {which!r}; it {word} {listed}'
            raise BufferNameError(reason, block.op)
        return named[0]
    check(
        0 <= which < len(accessed),
        block,
        f'block "{block.name}" has no buffer number {which} among those it {word}; it {word} {listed}',
    )
    return accessed[which]


def find_accessed_buffer(block: Block, which: BufferChoice) -> tuple[Buffer, str]:
    """The buffer given by ("read", index), ("write", index) or a name, and whether the block reads it."""
    if isinstance(which, str):
        names = [b.name for b in buffers(block)[0]]
        key = attrs.READS if which in names else attrs.WRITES
        if key == attrs.WRITES and which not in [b.name for b in buffers(block)[1]]:
            accessed = ", ".join(dict.fromkeys([*names, *(b.name for b in buffers(block)[1])])) or "no buffer"
            reason = f'block "{block.name}" neither reads nor writes a buffer {which!r}; it accesses {accessed}'
            raise BufferNameError(reason, block.op)
        return find_buffer(block, which, key), key
    key = attrs.READS if which[0] == "read" else attrs.WRITES
    return find_buffer(block, which[1], key), key


def fresh_name(func: Func, name: str) -> str:
    """`name`, with a number appended if a buffer of the function already has it: declared regions refer to names.

    In a step, also a name that a buffer had before it, or was given for another one, is taken.
    """
    names = {b.name for b in func.params} | new_names()
    contents = contents_of(func.op)
    if contents is None:
        allocations = (o for o in ops(func.op) if o.name.startswith("memref.") and attrs.NAME in o.attributes)
        names |= {attrs.get(o, attrs.NAME) for o in allocations}
    number, result = 0, name
    while result in names or (contents is not None and contents.nests("buffer", result)):
        number += 1
        result = f"{name}_{number}"
    new_names().add(result)
    return result


def first_op_after_allocs(body: ir.Block) -> ir.Operation:
    """The first op of a body that is not an allocation, view, size or constant: the insertion point for allocations."""
    contents = contents_of(body.owner.operation)
    listed = body.operations
    position = 0 if contents is None else min(contents.heads, len(listed) - 1)
    while position and not is_head(listed[position - 1].operation):
        position -= 1
    while is_head(listed[position].operation):
        position += 1
    return listed[position].operation


def alloc_buffer(
    scope: Block | Func, name: str, shape: Sequence[Index], dtype: str, storage_scope: str, wide: bool = False
) -> Buffer:
    """Allocate a buffer at the start of a scope. wide: its extents are of int64."""
    name = fresh_name(func_of(scope.op), name)
    with ir.InsertionPoint(first_op_after_allocs(scope.body)):
        buffer = Buffer(create.alloc(name, list(shape), dtype, storage_scope))
    if wide:
        attrs.put(buffer.value.owner, attrs.EXTENT_DTYPE, attrs.WIDE)
    return buffer


def alloc_like(buffer: Buffer, scope: Block | Func, name: str, shape: Sequence[Index], storage_scope: str) -> Buffer:
    """Allocate a buffer of other shape and storage scope at the start of a scope; int64 extents remain int64."""
    return alloc_buffer(scope, name, shape, buffer.dtype, storage_scope, attrs.EXTENT_DTYPE in buffer.attributes)


def declaring(func: ir.Operation, buffer: Buffer) -> list[ir.Operation]:
    """The ops in the body of a function, or else the function, beneath which regions of a buffer may be declared, or
    annotations may name it.

    A block may declare a region of a buffer that it does not use.
    """
    contents, journal = contents_of(func), step_journal()
    if contents is None or journal is None:
        return [func]
    nests = nests_using([buffer.value])
    names = {buffer.name, *(Buffer(v).name for op in nests for v in op.results)}
    known = [journal.nest(op) for op in nests]
    others = (nest for name in names for nest in contents.nests("declared", name) if nest not in known)
    return [func] if any(True for _ in others) else nests


def rename_in_regions(
    roots: Iterable[ir.Operation],
    old: Buffer,
    name: str,
    shift: Sequence[Index] = (),
    keys: Sequence[str] = (attrs.READS, attrs.WRITES),
) -> None:
    """In the declared regions beneath `roots`, rename a buffer and subtract `shift` from its offsets."""
    for root in roots:
        for block in all_blocks(root):
            for key in keys:
                if key in block.op.attributes:
                    _rename_entries(block, key, old, name, shift)


def follow_in_annotations(buffer: Buffer, name: str | None) -> None:
    """Let annotations that name a buffer name another one, which replaces it; None: none does."""
    for root in declaring(func_of(owner_op(buffer.value)).op, buffer):
        annotation_keys.rename_buffers(root, {buffer.name: name})


def _rename_entries(block: Block, key: str, old: Buffer, name: str, shift: Sequence[Index]) -> None:
    regions = get_declared_regions(block, key, [])
    if shift and any(r.buffer == old for r in regions):
        declare(block, key, [_shift_region(r, shift) if r.buffer == old else r for r in regions])
    entries = list(ir.ArrayAttr(block.op.attributes[key]))
    for number, region in enumerate(regions):
        if region.buffer == old:
            entry = {e.name: e.attr for e in ir.DictAttr(entries[number])}
            entries[number] = ir.DictAttr.get({**entry, "buffer": ir.StringAttr.get(name)})
    edit.set_attribute(block.op, key, ir.ArrayAttr.get(entries))


def _shift_region(region: Region, shift: Sequence[Index]) -> Region:
    mins = tuple((m - s).simplify() for m, s in zip(region.mins, shift, strict=True))
    return Region(region.buffer, mins, region.extents)


def drop_regions(roots: Iterable[ir.Operation], buffer: Buffer) -> None:
    """Beneath `roots`, drop declared regions of a buffer, so that they are computed from the accesses."""
    for root in roots:
        for block in all_blocks(root):
            for key in (attrs.READS, attrs.WRITES):
                if any(r.buffer.root == buffer for r in get_declared_regions(block, key, [])):
                    attrs.put(block.op, key, None)


DYNAMIC = ir.ShapedType.get_dynamic_stride_or_offset()


def check_retypable(users: list[ir.Operation]) -> None:
    """Refuse when a user of a memref fixes its type, such as a call that takes the buffer itself."""
    for user in users:
        if user.name in RETYPED:
            check_retypable([u.owner.operation for u in user.results[0].uses])
        elif not isa(user, AccessOp, NeutralOp, PointerOp):
            what = attrs.get(user, "callee", user.name)
            refuse(
                user,
                f"the whole buffer is passed to {what}, whose signature fixes its scope; pass an access "
                "pointer instead",
            )


def retype(value: ir.Value, type_: ir.MemRefType) -> None:
    """Set the type of a memref and propagate it to all views of it."""
    edit.retype(value, type_)
    for use in list(value.uses):
        propagate_type(use.owner.operation)


def propagate_type(user: ir.Operation) -> None:
    """Update the result type of a view from the type of its source."""
    if user.name not in RETYPED:
        return
    result = user.results[0]
    source, old = ir.MemRefType(BufferOp(user).source.type), ir.MemRefType(result.type)
    layout = _subview_layout(user, source, old) if isa(user, SubviewOp) else old.layout
    retype(result, ir.MemRefType.get(old.shape, old.element_type, layout, source.memory_space))


def with_scope(type_: ir.MemRefType, scope: str) -> ir.MemRefType:
    """The same memref type in another scope."""
    space = None if scope == "global" else ir.StringAttr.get(scope)
    return ir.MemRefType.get(type_.shape, type_.element_type, type_.layout, space)


def _subview_layout(op: ir.Operation, source: ir.MemRefType, old: ir.MemRefType) -> ir.Attribute:
    """The layout MLIR infers for a subview: strides multiply, offsets add up; unknown if any part is unknown."""
    strides, offset = source.get_strides_and_offset()
    offsets, sizes, steps = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"static_{k}"])) for k in ("offsets", "sizes", "strides")
    )
    inner = [DYNAMIC if DYNAMIC in (s, t) else s * t for s, t in zip(strides, steps, strict=True)]
    total = offset
    for part, stride in zip(offsets, strides, strict=True):
        total = (
            DYNAMIC if (DYNAMIC in (total, part, stride) and part != 0) or total == DYNAMIC else total + part * stride
        )
    dims = kept_dims(old.shape, sizes) or []
    return ir.StridedLayoutAttr.get(total, [inner[d] for d in dims])
