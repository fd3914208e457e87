"""transform_layout: a buffer changes its layout, everywhere."""

from __future__ import annotations

from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import Counterexample, Element, NotProvable, TirError
from tir_mlir.dialect.index_maps import IndexMap, Padding, check_start, collision_text
from tir_mlir.dialect.ir import Block, Buffer, Func, child_towards, enclosing_block, frozen, func_of, position
from tir_mlir.dialect.presburger import only_where, question
from tir_mlir.passes.schedule.edits import BufferChoice, head_end, pick_either
from tir_mlir.passes.schedule.layout.apply_layout import Mapped, check_extents, check_users, relaid, settle, sizes_known
from tir_mlir.passes.schedule.layout.layout_padding import filling, promise, write_after
from tir_mlir.passes.schedule.layout.padding_producer import fill, sweeps_of
from tir_mlir.passes.schedule.registry import primitive, refuse


@primitive("transform_layout")
def transform_layout(
    block: Block,
    buffer: BufferChoice,
    index_map: IndexMap,
    pad_value: Any = None,
    *,
    assume_injective_transform: bool = False,
) -> None:
    """Change the layout of a buffer: what was at `B[i]` is at `B[index_map(i)]`, everywhere.

        B = T.alloc_buffer((64,))                    B = T.alloc_buffer((4, 16))
        B[vi] = ...                          ->      B[vi // 16, vi % 16] = ...
        ... B[vj_0 * 16 + vj_1] ...                  ... B[vj_0, vj_1] ...

    The new shape is the least box that holds all elements; indices are simplified under the ranges of iters and loops.
    A parameter is transformed as well: its caller passes the array in the new layout. Places that no element goes to
    (14 elements in rows of 4 leave two) hold `pad_value`, a number or a map of the new indices: a block that sweeps the
    buffer row by row sweeps the new shape and writes them by `T.if_then_else`; after another writer a block
    `buffer_<B>_padding` does; of an input that nobody writes, a block `buffer_<B>_assumptions` states them.

    Requires: no two elements go to one place, no index is negative; without `pad_value` no place is left over; the
    buffer is only loaded and stored (no match_buffer, no pointer); the sizes of the function stay known. Bijectivity
    is decided exactly. `assume_injective_transform` leaves undecided what cannot be decided, and the padding open.
    `buffer` is ("read", number), ("write", number) or a name.
    """
    with frozen():
        target = pick_either(block, buffer)[0]
        check_users(target)
        change, padding = _change(block, target, index_map, pad_value is not None, assume_injective_transform)
        check_extents(target, change, block)
        known = sizes_known(target, change)
        if pad_value is None or padding.never:
            value = None
        else:
            value = filling(block, change, target, pad_value, padding)
        writers = [u.owner.operation for u in target.value.uses if "store" in u.owner.operation.name]
        sweeps = sweeps_of(target, writers) if value is not None else None
        home = enclosing_block(target.op) if target.op is not None else func_of(block.op)
        after = _after(home, writers)

    new = relaid(target, change)
    if value is not None and sweeps:
        for sweep in sweeps:
            fill(sweep, value, new)
    elif value is not None and after is not None:
        write_after(value, new, after)
    elif value is not None and new.is_param:
        promise(value, new, head_end(home.body))
    settle(target, new, known)


def _after(home: Block | Func, writers: list[ir.Operation]) -> ir.Operation | None:
    """The op of a body behind all that holds a writer (and behind accesses that stand there); None: no writer."""
    if not writers:
        return None
    last = max(position(child_towards(home.op, w)) for w in writers)
    later = [o.operation for o in home.body.operations][last + 1 :]
    return next(o for o in later if not o.name.startswith(("affine.load", "affine.store", "memref.")))


def _change(block: Block, buffer: Buffer, map_: IndexMap, pads: bool, assumed: bool) -> tuple[Mapped, Padding]:
    """The map over the shape of the buffer, and what it leaves over. Refuses a map that loses elements."""
    try:
        change = Mapped.over(IndexMap.wrap(map_, buffer.rank), buffer.dims, block.op)
        with question(f"where {map_} takes the elements of {buffer.name}"):
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
        text = f"the map {map_} takes two elements of {buffer.name} to one place: {collision_text(map_, found)}"
        refuse(block, text, counterexample=Counterexample(element=Element.of(buffer.name, found.second)))
    if holes.is_empty() or (assumed and not pads):
        return change, Padding([], [], never=True)
    if not pads:
        refuse(
            block,
            f"the map {map_} leaves places of the new {buffer.name} without an element: where {change.holes_text()}; "
            f"give a pad_value for them{only_where(holes, block.op)}",
        )
    return change, change.layout.padding
