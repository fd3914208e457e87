"""transform_layout: change the layout of a buffer."""

from __future__ import annotations

from typing import Any, NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import Counterexample, Element, NotProvable, TirError
from tir_mlir.dialect.index_maps import Collision, IndexMap, Padding, check_start, collision_text
from tir_mlir.dialect.ir import Block, Buffer, Func, child_towards, enclosing_block, frozen, func_of, ops, position
from tir_mlir.dialect.ir.op_traits import AFFINE_ELEMENT_ACCESSES, STORES
from tir_mlir.dialect.presburger import only_where, question
from tir_mlir.dialect.verify.iter_kinds import iter_kinds
from tir_mlir.passes.schedule.edits import BufferChoice, find_accessed_buffer, first_op_after_allocs
from tir_mlir.passes.schedule.layout.apply_layout import (
    LayoutChange,
    apply_layout,
    check_extents,
    check_users,
    finish_layout,
    size_sources,
)
from tir_mlir.passes.schedule.layout.layout_by_sizes import LayoutBySizes, small_collision
from tir_mlir.passes.schedule.layout.layout_padding import add_assumption_block, add_padding_block, padding_value
from tir_mlir.passes.schedule.layout.padding_producer import extend_producer, row_major_producers
from tir_mlir.passes.schedule.registry import primitive, refuse


@primitive("transform_layout")
def transform_layout(
    block: Block,
    buffer: BufferChoice,
    index_map: IndexMap,
    pad_value: IndexMap | Any = None,  # Any: numbers of Python, NumPy and T
    *,
    assume_injective_transform: bool = False,
) -> None:
    """Change the layout of a buffer: the element at `B[i]` moves to `B[index_map(i)]`, in every access.

        B = T.alloc_buffer((64,))                    B = T.alloc_buffer((4, 16))
        B[vi] = ...                          ->      B[vi // 16, vi % 16] = ...
        ... B[vj_0 * 16 + vj_1] ...                  ... B[vj_0, vj_1] ...

    The new shape is the bounding box of the mapped elements; indices are simplified under the ranges of iters and
    loops. A parameter is transformed as well: its caller passes the array in the new layout. Padding (14 elements in
    rows of 4 leave two) gets `pad_value`, a number or a map of the new indices: if the producer writes the buffer in
    row-major order it writes the padding by `T.if_then_else`; after any other producer a block `buffer_<B>_padding`
    does; for an input without a producer a block `buffer_<B>_assumptions` states it.

    Requires: the map is injective and its indices are not negative; without `pad_value` there is no padding; the buffer
    is only loaded and stored (no match_buffer, no pointer); the sizes of the function stay known; spatial iters that
    store through an index from data stay provably independent (not in `B[P[vi] * 64 + vj]`). Bijectivity is decided
    exactly. `assume_injective_transform` accepts a map where it cannot be decided, as where it divides by a size or
    multiplies with one (`lambda i: (i // n, i % n)`), and leaves the padding undefined. `buffer` is ("read", index),
    ("write", index) or a name.
    """
    with frozen():
        target = find_accessed_buffer(block, buffer)[0]
        check_users(target)
        index_map = _map_over(block, target, index_map)
    if not index_map.is_affine:
        _transform_by_sizes(block, target, index_map, pad_value, assume_injective_transform)
        return
    with frozen():
        change, padding = _change(block, target, index_map, pad_value is not None, assume_injective_transform)
        check_extents(target, change, block)
        known = size_sources(target, change)
        if pad_value is None or padding.never:
            value = None
        else:
            value = padding_value(block, change, target, pad_value, padding)
        writers = [u.owner.operation for u in target.value.uses if u.owner.operation.name in STORES]
        sweeps = row_major_producers(target, writers) if value is not None else None
        home = enclosing_block(target.op) if target.op is not None else func_of(block.op)
        after = _after(home, writers)

    new = apply_layout(target, change)
    if value is not None and sweeps:
        for sweep in sweeps:
            extend_producer(sweep, value, new)
    elif value is not None and after is not None:
        add_padding_block(value, new, after)
    elif value is not None and new.is_param:
        add_assumption_block(value, new, first_op_after_allocs(home.body))
    _check_scatters(new)
    finish_layout(target, new, known)


def _map_over(block: Block, buffer: Buffer, map_: IndexMap) -> IndexMap:
    """The map over the dimensions of a buffer."""
    try:
        return IndexMap.wrap(map_, buffer.rank)
    except TirError as error:
        refuse(block, str(error))


def _transform_by_sizes(block: Block, target: Buffer, map_: IndexMap, pad_value: Any, assumed: bool) -> None:
    """Change the layout by a map that divides by sizes, or multiplies with them."""
    by = f"the map {map_} divides by a size, or multiplies with one"
    if not assumed:
        text = f"{by}: that no two elements of {target.name} get one index is not decided"
        refuse(block, text, provable=False, fix="assume_injective_transform=True asserts it")
    if pad_value is not None:
        text = f"{by}: the padding in the new {target.name} is not known"
        refuse(block, text, provable=False, fix="leave out pad_value: the padding is then undefined")
    try:
        change = LayoutBySizes.over(map_, target.dims, block.op)
    except NotProvable:
        raise
    except TirError as error:
        refuse(block, str(error))
    with frozen():
        if (clash := small_collision(map_, target.dims, block.op)) is not None:
            _refuse_collision(block, target, map_, clash)
        check_extents(target, change, block)
        known = size_sources(target, change)
    new = apply_layout(target, change)
    _check_scatters(new)
    finish_layout(target, new, known)


def _refuse_collision(block: Block, buffer: Buffer, map_: IndexMap, clash: Collision) -> NoReturn:
    """Refuse a map that takes two elements to one index."""
    text = f"the map {map_} maps two elements of {buffer.name} to the same index: {collision_text(map_, clash)}"
    refuse(block, text, counterexample=Counterexample(element=Element.of(buffer.name, clash.second)))


def _check_scatters(buffer: Buffer) -> None:
    """Refuse where a store through an index from data no longer shows that spatial iters are independent."""
    homes = (enclosing_block(use.owner.operation) for use in buffer.value.uses)
    for block in dict.fromkeys(home for home in homes if isinstance(home, Block)):
        if any(op.name == "memref.store" for op in ops(block.op)):
            iter_kinds(block)


def _after(home: Block | Func, writers: list[ir.Operation]) -> ir.Operation | None:
    """The op of a body after every op that contains a writer (and accesses next to it); None if there is no writer."""
    if not writers:
        return None
    last = max(position(child_towards(home.op, w)) for w in writers)
    listed = home.body.operations
    after = last + 1
    while (name := listed[after].operation.name) in AFFINE_ELEMENT_ACCESSES or name.startswith("memref."):
        after += 1
    return listed[after].operation


def _change(block: Block, buffer: Buffer, map_: IndexMap, pads: bool, assumed: bool) -> tuple[LayoutChange, Padding]:
    """The map over the shape of the buffer, and its padding. Refuses a map that is not injective."""
    try:
        change = LayoutChange.over(map_, buffer.dims, block.op)
        with question(f"where {map_} maps the elements of {buffer.name}"):
            check_start(map_, change.layout)
            found = change.layout.collision
            holes = change.layout.holes
    except NotProvable:
        if not assumed:
            raise
        return change, Padding([], None, never=True)
    except TirError as error:
        refuse(block, str(error))
    if found is not None:
        _refuse_collision(block, buffer, map_, found)
    if holes.is_empty() or (assumed and not pads):
        return change, Padding([], [], never=True)
    if not pads:
        refuse(
            block,
            f"the map {map_} leaves padding in the new {buffer.name}: where {change.holes_text()}; "
            f"pass a pad_value for it{only_where(holes, block.op)}",
        )
    return change, change.layout.padding
