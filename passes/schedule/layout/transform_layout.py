"""transform_layout: change the layout of a buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import Counterexample, Element, NotProvable, TirError
from tir_mlir.dialect.index_maps import Collision, IndexMap, Padding, check_start, collision_text
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    Iter,
    IterSpec,
    Loop,
    access_indices,
    child_towards,
    create,
    edit,
    enclosing_block,
    frozen,
    func_of,
    is_block,
    is_init,
    is_loop,
    ops,
    parent_op,
    position,
    walk,
)
from tir_mlir.dialect.ir.op_traits import AFFINE_ELEMENT_ACCESSES, AFFINE_STORE, CHOICES, NO_ACCESS, STORES, is_pure
from tir_mlir.dialect.presburger import only_where, question
from tir_mlir.dialect.verify.iter_kinds import iter_kinds
from tir_mlir.passes.schedule.edits import BufferChoice, find_accessed_buffer, first_op_after_allocs, replace_iters
from tir_mlir.passes.schedule.layout.apply_layout import (
    LayoutChange,
    apply_layout,
    check_extents,
    check_users,
    finish_layout,
    simplify_indices,
    size_sources,
)
from tir_mlir.passes.schedule.layout.layout_by_sizes import LayoutBySizes, small_collision
from tir_mlir.passes.schedule.layout.layout_padding import (
    PaddingValue,
    add_assumption_block,
    add_padding_block,
    padding_value,
)
from tir_mlir.passes.schedule.registry import primitive, refuse


@primitive("transform_layout", moves="in place")
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
        sources = size_sources(target, change)
        if pad_value is None or padding.never:
            value = None
        else:
            value = padding_value(block, change, target, pad_value, padding)
        writers = [u.owner.operation for u in target.value.uses if u.owner.operation.name in STORES]
        sweeps = row_major_producers(target, writers) if value is not None else None
        home = enclosing_block(target.op) if target.op is not None else func_of(block.op)
        anchor = _after(home, writers)

    new = apply_layout(target, change)
    if value is not None and sweeps:
        for sweep in sweeps:
            extend_producer(sweep, value, new)
    elif value is not None and anchor is not None:
        add_padding_block(value, new, anchor)
    elif value is not None and new.is_param:
        add_assumption_block(value, new, first_op_after_allocs(home.body))
    _check_scatters(new)
    finish_layout(target, new, sources)


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
        sources = size_sources(target, change)
    new = apply_layout(target, change)
    _check_scatters(new)
    finish_layout(target, new, sources)


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
    position_after = last + 1
    while (name := listed[position_after].operation.name) in AFFINE_ELEMENT_ACCESSES or name.startswith("memref."):
        position_after += 1
    return listed[position_after].operation


def _change(block: Block, buffer: Buffer, map_: IndexMap, pads: bool, assumed: bool) -> tuple[LayoutChange, Padding]:
    """The map over the shape of the buffer, and its padding. Refuses a map that is not injective."""
    try:
        change = LayoutChange.over(map_, buffer.dims, block.op)
        with question(f"where {map_} maps the elements of {buffer.name}"):
            check_start(map_, change.layout)
            collision = change.layout.collision
            holes = change.layout.holes
    except NotProvable:
        if not assumed:
            raise
        return change, Padding([], None, never=True)
    except TirError as error:
        refuse(block, str(error))
    if collision is not None:
        _refuse_collision(block, buffer, map_, collision)
    if holes.is_empty() or (assumed and not pads):
        return change, Padding([], [], never=True)
    if not pads:
        refuse(
            block,
            f"the map {map_} leaves padding in the new {buffer.name}: where {change.holes_text()}; "
            f"pass a pad_value for it{only_where(holes, block.op)}",
        )
    return change, change.layout.padding


# --- a producer in row-major order also writes the padding ------------------------------------------------------------


@dataclass(frozen=True)
class RowMajorProducer:
    """A block that stores `buffer[iters]`, each iter bound to one of the serial `loops`, in order."""

    block: Block
    iters: list[Iter]
    loops: list[Loop]


def row_major_producers(buffer: Buffer, stores: Sequence[ir.Operation]) -> list[RowMajorProducer] | None:
    """The sweeps that all stores of a buffer belong to; None if a store belongs to none."""
    sweeps: dict[ir.Operation, RowMajorProducer] = {}
    for store in stores:
        home = parent_op(store)
        while not is_block(home):
            if not is_init(home):
                return None
            home = parent_op(home)
        if home not in sweeps:
            sweep = _row_major_producer(buffer, Block(home), [s for s in stores if walk.is_inside(s, home)])
            if sweep is None:
                return None
            sweeps[home] = sweep
    return list(sweeps.values())


def _row_major_producer(buffer: Buffer, block: Block, stores: Sequence[ir.Operation]) -> RowMajorProducer | None:
    if block.where is not None or not buffer.rank or not _is_plain(block, stores):
        return None
    iter_of = {i.var: i for i in block.iters}
    stored_iters: list[list[Iter]] = []
    for store in stores:
        values = [i.is_value() for i in access_indices(store)] if store.name == AFFINE_STORE else [None]
        iters = [iter_of[v] for v in values if v is not None and v in iter_of and iter_of[v].kind == "S"]
        if len(iters) != buffer.rank or len(set(values)) != buffer.rank:
            return None
        stored_iters.append(iters)
    if any(iters_of_store != stored_iters[0] for iters_of_store in stored_iters):
        return None
    loops = _loops(buffer, block, stored_iters[0])
    return None if loops is None else RowMajorProducer(block, stored_iters[0], loops)


def _is_plain(block: Block, stores: Sequence[ir.Operation]) -> bool:
    """Whether a body is side-effect free except for these stores: one at the end, one in the init."""
    body = block.body_ops()
    if not body or body[-1] not in stores or len(stores) > 1 + (block.init is not None):
        return False
    for op in ops(block.op)[1:]:
        choice = op.name in CHOICES
        if op not in stores and not (is_pure(op) or choice):
            return False
    if block.init is None:
        return True
    init_ops = list(block.init.regions[0].blocks[0].operations)
    return init_ops[-2].operation in stores


def _loops(buffer: Buffer, block: Block, iters: Sequence[Iter]) -> list[Loop] | None:
    """The loops that iters are bound to: perfectly nested in order, plain, covering the buffer, otherwise unused."""
    loops = []
    for it, dim in zip(iters, buffer.dims, strict=True):
        var = it.binding.is_value()
        home = var.owner.owner.operation if var is not None and isinstance(var.owner, ir.Block) else None
        if home is None or not is_loop(home):
            return None
        loop = Loop(home)
        plain = len(loop.lowers) == len(loop.uppers) == 1 and loop.kind == "serial" and not loop.annotations
        from_zero = loop.lower.as_constant() == 0 and it.min.as_constant() == 0
        if not (plain and from_zero and loop.upper.same(dim) and it.extent.same(dim)):
            return None
        if any(use.owner.operation != block.op for use in loop.var.uses) or _used_twice(block, loop, it):
            return None
        loops.append(loop)
    chain = [lp.op for lp in loops]
    for outer, inner in zip(chain, chain[1:], strict=False):
        if Loop(outer).body_ops() != [inner]:
            return None
    current = chain[-1]
    while current != block.op:
        body = Loop(current).body_ops()
        if len(body) != 1 or not (is_loop(body[0]) or body[0] == block.op):
            return None
        current = body[0]
    return loops


def _used_twice(block: Block, loop: Loop, it: Iter) -> bool:
    return any(loop.var in iter_.binding.values for iter_ in block.iters if iter_.var != it.var)


# --- rewrite ----------------------------------------------------------------------------------------------------------


def extend_producer(sweep: RowMajorProducer, value: PaddingValue, buffer: Buffer) -> None:
    """Extend loops and iters to the new dimensions, and store the padding value where there is no element."""
    body = sweep.loops[-1].body_ops()
    first = sweep.loops[0].op
    shape = value.change.shape
    with ir.InsertionPoint(first), first.location:
        loops = [create.loop(value.names[0], 0, shape[0])]
        for name, extent in zip(value.names[1:], shape[1:], strict=True):
            with create.at_end(loops[-1].body):
                loops.append(create.loop(name, 0, extent))
    end = list(loops[-1].body.operations)[-1]
    for op in body:
        edit.move_before(op, end)
    block, indices = _replace_iters(sweep, value, loops)
    edit.erase(first)
    if block.init is not None:
        _select_padding(list(block.init.regions[0].blocks[0].operations)[-2].operation, value, indices)
    _select_padding(block.body_ops()[-1], value, indices)
    for op in ops(block.op):
        if op.name in AFFINE_ELEMENT_ACCESSES:
            # in the padding the inverse map is arbitrary: store at the new index itself
            better = iter(indices if op.name == AFFINE_STORE else simplify_indices(op, access_indices(op)))
            edit.rewrite_indices(op, lambda _, better=better: next(better))


def _replace_iters(sweep: RowMajorProducer, value: PaddingValue, loops: Sequence[Loop]) -> tuple[Block, list[Index]]:
    """The block with iters over the new dimensions in place of the old ones, and these iters."""
    replaced = [i.var for i in sweep.iters]
    unreplaced = [i for i in sweep.block.iters if i.var not in replaced]
    start = next(n for n, i in enumerate(sweep.block.iters) if i.var in replaced)
    pairs = zip(loops, value.change.shape, strict=True)
    specs, wide = [IterSpec.like(i) for i in unreplaced], any(i.is_wide for i in sweep.iters)
    specs[start:start] = [IterSpec(f"v_{lp.name}", "S", 0, extent, Index.of(lp.var), wide) for lp, extent in pairs]

    def old(values: Sequence[Index]) -> dict[ir.Value, Index]:
        new_indices = values[start : start + len(loops)]
        mapping = dict(zip(replaced, value.change.back(new_indices), strict=True))
        unchanged = [*values[:start], *values[start + len(loops) :]]
        return mapping | {i.var: v for i, v in zip(unreplaced, unchanged, strict=True)}

    new_block = replace_iters(sweep.block, specs, old)
    return new_block, [Index.of(i.var) for i in new_block.iters[start : start + len(loops)]]


def _select_padding(store: ir.Operation, value: PaddingValue, indices: Sequence[Index]) -> None:
    """`B[at] = x` -> `B[at] = T.if_then_else(padding, pad, x)`; x is computed only where it is used."""
    steps = [o.operation for o in store.block.operations]
    steps = [o for o in steps[: steps.index(store)] if not is_init(o) and o.name not in NO_ACCESS]

    def other() -> ir.Value:
        body = ir.InsertionPoint.current.block
        for step in steps:
            body.append(step)
        return store.operands[0]

    with ir.InsertionPoint(store), store.location:
        edit.set_operand(store, 0, value.chosen(indices, other))
