"""transform_layout: change the layout of a buffer."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from mlir import ir
from mlir.dialects import affine, arith

from tir_mlir.dialect.diagnostics import (
    Counterexample,
    Element,
    NotProvable,
    TirError,
    emit_assertion,
    emit_remark,
    short_repr,
)
from tir_mlir.dialect.index_maps import Collision, IndexMap, Padding, check_start, collision_text
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Func,
    Index,
    Iter,
    IterSpec,
    Loop,
    access_indices,
    child_towards,
    convert,
    create,
    dtypes,
    edit,
    enclosing_block,
    freeze_modules,
    func_of,
    is_block,
    is_init,
    is_loop,
    ops,
    parent_op,
    position,
    walk,
)
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AffineStoreOp,
    AllocLikeOp,
    BufferOp,
    ChoiceOp,
    MemrefStoreOp,
    StoreOp,
    isa,
)
from tir_mlir.dialect.presburger import dim_factors, only_where, question
from tir_mlir.dialect.symbolic import Constant
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

    Requires: the map is injective and its indices are not negative; without `pad_value` nothing is padded; the buffer
    is only loaded and stored (no match_buffer, no pointer); the sizes of the function remain known; spatial iters that
    store through an index from data remain provably independent (not in `B[P[vi] * 64 + vj]`). Bijectivity is decided
    exactly. `assume_injective_transform` accepts a map where it cannot be decided, as where it divides by a size or
    multiplies with one (`lambda i: (i // n, i % n)`), and leaves the padding undefined. `buffer` is ("read", index),
    ("write", index) or a name.
    """
    with freeze_modules():
        target = find_accessed_buffer(block, buffer)[0]
        check_users(target)
        index_map = _map_over(block, target, index_map)
    if not index_map.is_affine:
        _transform_by_sizes(block, target, index_map, pad_value, assume_injective_transform)
        return
    with freeze_modules():
        change, padding = _change(block, target, index_map, pad_value is not None, assume_injective_transform)
        check_extents(target, change, block)
        sources = size_sources(target, change)
        padded = pad_value is not None and not padding.never
        value = padding_value(block, change, target, pad_value, padding) if padded else None
    new = apply_layout(target, change) if value is None else _apply_padded_layout(block, target, change, value)
    _check_scatters(new)
    finish_layout(target, new, sources)


def _unique(buffer: Buffer, map_: IndexMap) -> str:
    return f"the map {map_} takes no two elements of `{buffer.name}` to one position of the new shape"


def _apply_padded_layout(block: Block, target: Buffer, change: LayoutChange, value: PaddingValue) -> Buffer:
    """The buffer in its new layout, whose padding is written, or stated of an input."""
    with freeze_modules():
        writers = [u.owner.operation for u in target.value.uses if isa(u.owner.operation, StoreOp)]
        sweeps = row_major_producers(target, writers)
        scope = enclosing_block(target.op) if target.op is not None else func_of(block.op)
        anchor = _op_after_writers(scope, writers)
    new = apply_layout(target, change)
    if sweeps:
        for sweep in sweeps:
            extend_producer(sweep, value)
    elif anchor is not None:
        add_padding_block(value, new, anchor)
    elif new.is_param:
        add_assumption_block(value, new, first_op_after_allocs(scope.body))
    return new


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
        change = LayoutBySizes.from_extents(map_, target.dims, block.op)
    except NotProvable:
        raise
    except TirError as error:
        refuse(block, str(error))
    with freeze_modules():
        if (clash := small_collision(map_, target.dims, block.op)) is not None:
            _refuse_collision(block, target, map_, clash)
        check_extents(target, change, block)
        sources = size_sources(target, change)
    emit_assertion(f"{_unique(target, map_)} (at the small sizes that were tried it takes none)")
    new = apply_layout(target, change)
    _check_scatters(new)
    finish_layout(target, new, sources)


def _refuse_collision(block: Block, buffer: Buffer, map_: IndexMap, clash: Collision) -> NoReturn:
    """Refuse a map that takes two elements to one index."""
    text = f"the map {map_} maps two elements of {buffer.name} to the same index: {collision_text(map_, clash)}"
    refuse(block, text, counterexample=Counterexample(element=Element.from_indices(buffer.name, clash.second)))


def _check_scatters(buffer: Buffer) -> None:
    """Refuse where a store through an index from data no longer shows that spatial iters are independent."""
    owners = (enclosing_block(use.owner.operation) for use in buffer.value.uses)
    for block in dict.fromkeys(block_of_use for block_of_use in owners if isinstance(block_of_use, Block)):
        if any(isa(op, MemrefStoreOp) for op in ops(block.op)):
            iter_kinds(block)


def _op_after_writers(scope: Block | Func, writers: list[ir.Operation]) -> ir.Operation | None:
    """The op of a body after every op that contains a writer (and accesses next to it); None without a writer."""
    if not writers:
        return None
    last = max(position(child_towards(scope.op, w)) for w in writers)
    listed = scope.body.operations
    position_after = last + 1
    while (name := listed[position_after].operation.name) in AffineElementAccessOp.names or name.startswith("memref."):
        position_after += 1
    return listed[position_after].operation


def _change(block: Block, buffer: Buffer, map_: IndexMap, pads: bool, assumed: bool) -> tuple[LayoutChange, Padding]:
    """The map over the shape of the buffer, and its padding. Refuses a map that is not injective."""
    try:
        change = LayoutChange.from_extents(map_, buffer.dims, block.op)
        with question(f"where {map_} maps the elements of {buffer.name}"):
            check_start(map_, change.layout)
            collision = change.layout.collision
            holes = change.layout.holes
    except NotProvable:
        if not assumed:
            raise
        emit_assertion(_unique(buffer, map_))
        return change, Padding([], None, never=True)
    except TirError as error:
        refuse(block, str(error))
    if collision is not None:
        _refuse_collision(block, buffer, map_, collision)
    full = holes.is_empty()
    if full or (assumed and not pads):
        emit_remark(f"{_unique(buffer, map_)}, {'which they fill' if full else 'whose other elements are undefined'}")
        return change, Padding([], [], never=True)
    if not pads:
        refuse(
            block,
            f"the map {map_} leaves padding in the new {buffer.name}: where {change.holes_text()}; "
            f"pass a pad_value for it{only_where(holes, block.op)}",
        )
    emit_remark(f"{_unique(buffer, map_)}, whose other elements are padding")
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
        scope = parent_op(store)
        while not is_block(scope):
            if not is_init(scope):
                return None
            scope = parent_op(scope)
        if scope not in sweeps:
            sweep = _row_major_producer(buffer, Block(scope), [s for s in stores if walk.is_inside(s, scope)])
            if sweep is None:
                return None
            sweeps[scope] = sweep
    return list(sweeps.values())


def _row_major_producer(buffer: Buffer, block: Block, stores: Sequence[ir.Operation]) -> RowMajorProducer | None:
    if block.where is not None or not buffer.rank or not _is_plain(block, stores):
        return None
    iter_of = {i.var: i for i in block.iters}
    stored_iters: list[list[Iter]] = []
    for store in stores:
        values = [i.is_value() for i in access_indices(store)] if isa(store, AffineStoreOp) else [None]
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
        choice = isa(op, ChoiceOp)
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
        scope = var.owner.owner.operation if var is not None and isinstance(var.owner, ir.Block) else None
        if scope is None or not is_loop(scope):
            return None
        loop = Loop(scope)
        plain = len(loop.lowers) == len(loop.uppers) == 1 and loop.kind == "serial" and not loop.annotations
        from_zero = loop.lower.as_constant() == 0 and it.min.as_constant() == 0
        if not (plain and from_zero and loop.upper.is_equal_to(dim) and it.extent.is_equal_to(dim)):
            return None
        if any(use.owner.operation != block.op for use in loop.var.uses) or _used_twice(block, loop, it):
            return None
        loops.append(loop)
    chain = [lp.op for lp in loops]
    for outer, inner in itertools.pairwise(chain):
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


def extend_producer(sweep: RowMajorProducer, value: PaddingValue) -> None:
    """Extend loops and iters to the new dimensions, and store the padding value where no element is."""
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
        if isa(op, AffineElementAccessOp):
            # in the padding the inverse map is arbitrary: store at the new index itself
            better = iter(indices if isa(op, AffineStoreOp) else simplify_indices(op, access_indices(op)))
            edit.rewrite_indices(op, lambda _, better=better: next(better))


def _replace_iters(sweep: RowMajorProducer, value: PaddingValue, loops: Sequence[Loop]) -> tuple[Block, list[Index]]:
    """The block with iters over the new dimensions instead of the old ones, and these iters."""
    replaced = [i.var for i in sweep.iters]
    unreplaced = [i for i in sweep.block.iters if i.var not in replaced]
    start = next(n for n, i in enumerate(sweep.block.iters) if i.var in replaced)
    pairs = zip(loops, value.change.shape, strict=True)
    specs, wide = [IterSpec.like(i) for i in unreplaced], any(i.is_wide for i in sweep.iters)
    specs[start:start] = [
        IterSpec(f"v_{lp.name}", "S", 0, extent, Index.from_value(lp.var), wide) for lp, extent in pairs
    ]

    def old(values: Sequence[Index]) -> dict[ir.Value, Index]:
        new_indices = values[start : start + len(loops)]
        mapping = dict(zip(replaced, value.change.preimage(new_indices), strict=True))
        unchanged = [*values[:start], *values[start + len(loops) :]]
        return mapping | {i.var: v for i, v in zip(unreplaced, unchanged, strict=True)}

    new_block = replace_iters(sweep.block, specs, old)
    return new_block, [Index.from_value(i.var) for i in new_block.iters[start : start + len(loops)]]


def _select_padding(store: ir.Operation, value: PaddingValue, indices: Sequence[Index]) -> None:
    """`B[at] = x` -> `B[at] = T.if_then_else(padding, pad, x)`; x is computed only where it is used."""
    steps = [o.operation for o in store.block.operations]
    steps = [o for o in steps[: steps.index(store)] if not is_init(o) and not isa(o, BufferOp, AllocLikeOp)]

    def emit_original() -> ir.Value:
        body = ir.InsertionPoint.current.block
        for step in steps:
            body.append(step)
        return StoreOp(store).value

    with ir.InsertionPoint(store), store.location:
        edit.set_operand(store, 0, value.emit_selection(indices, emit_original))


# --- padding ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PaddingValue:
    """The value of the padding as a function of the new indices, and the conditions that hold in the padding."""

    change: LayoutChange
    value: IndexMap
    padding: Padding
    dtype: str

    @property
    def names(self) -> list[str]:
        """Names of the new dimensions, for the loops over them."""
        return self.change.map.result_names()

    def make(self, values: Sequence[Index]) -> ir.Value:
        """Emit the value at the given new indices."""
        type_ = dtypes.to_mlir(self.dtype)
        mapped = self.value.map_indices(values)[0]
        number = mapped.as_constant() if isinstance(mapped, Index) else mapped
        if number is not None:
            if dtypes.is_float(self.dtype):
                return arith.constant(type_, ir.FloatAttr.get(type_, number))
            return arith.constant(type_, ir.IntegerAttr.get(type_, dtypes.as_signed(int(number), self.dtype)))
        integer = arith.index_cast(ir.IntegerType.get_signless(32), create.apply(mapped))
        return convert(integer, self.dtype)

    def emit_selection(self, values: Sequence[Index], otherwise: Callable[[], ir.Value]) -> ir.Value:
        """Emit the padding value where the new indices lie in the padding, else the value of `otherwise`."""
        pieces, unpadded = self.padding.pieces, self.padding.kept
        if len(pieces) == 1:
            return _emit_choice(
                self.change.conditions(pieces[0], values), lambda: self.make(values), otherwise, self.dtype
            )
        if unpadded is not None:
            return _emit_choice(
                self.change.conditions(unpadded, values), otherwise, lambda: self.make(values), self.dtype
            )
        remaining = PaddingValue(self.change, self.value, Padding(pieces[1:], None, never=False), self.dtype)
        in_first = self.change.conditions(pieces[0], values)
        return _emit_choice(
            in_first, lambda: self.make(values), lambda: remaining.emit_selection(values, otherwise), self.dtype
        )


def _emit_choice(
    conditions: Sequence[Constraint], then: Callable[[], ir.Value], otherwise: Callable[[], ir.Value], dtype: str
) -> ir.Value:
    """`T.if_then_else(conditions, then, other)`."""
    op = create.guard(conditions, results=[dtypes.to_mlir(dtype)], has_else=True)
    for region, make in zip(op.regions, (then, otherwise), strict=True):
        with ir.InsertionPoint(region.blocks[0]):
            affine.yield_([make()])
    return op.results[0]


def padding_value(block: Block, change: LayoutChange, buffer: Buffer, value: Any, padding: Padding) -> PaddingValue:
    """The user's padding value, checked against the type of the buffer."""
    rank = len(change.layout.exprs)
    try:
        map_ = IndexMap.wrap(_constant(value, rank) or value, rank)
    except TypeError:
        refuse(block, f"the padding value is a number or a map of the new indices, not {short_repr(value)}")
    except TirError as error:
        refuse(block, f"the padding value: {error}")
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, str) and dtype != buffer.dtype:
        text = f"{buffer.name} has type {buffer.dtype}; {value} as its padding value has type {dtype}"
        refuse(block, text, fix=f"pass a plain number: it takes the type of {buffer.name}")
    if len(map_.terms) != 1:
        refuse(block, f"the padding value is one expression; {map_} gives {len(map_.terms)}")
    if map_.sizes:
        refuse(block, f"the padding value: {map_.sizes[0]} is not a variable of the map {map_}")
    _check_fits(block, buffer, map_)
    return PaddingValue(change, map_, padding, buffer.dtype)


def _constant(value: Any, rank: int) -> IndexMap | None:
    """A number as a constant map."""
    item = value.item() if isinstance(value, np.generic) else value
    if not isinstance(item, (int, float)):
        return None
    return IndexMap(tuple(f"i{n}" for n in range(rank)), (Constant(int(item) if isinstance(item, bool) else item),))


def _check_fits(block: Block, buffer: Buffer, map_: IndexMap) -> None:
    """Refuse a value that the element type of the buffer cannot represent."""
    term = map_.terms[0]
    number = term.value if isinstance(term, Constant) else None
    if buffer.dtype == "bool" and number not in (0, 1):
        refuse(
            block, f"{buffer.name} has type bool; {map_} as its padding value is not a bool", fix="use True or False"
        )
    if isinstance(number, float) and not dtypes.is_float(buffer.dtype):
        text = f"{buffer.name} has type {buffer.dtype}; {number} as its padding value is a float"
        refuse(block, text, fix="use an integer")
    if isinstance(number, int) and not dtypes.is_float(buffer.dtype) and buffer.dtype != "bool":
        low, high = dtypes.limits(buffer.dtype)
        if not low <= number <= high:
            text = f"{number} as the padding value does not fit {buffer.dtype}, the type of {buffer.name}"
            refuse(block, text, fix=f"use one of {low} to {high}")


# --- padding blocks ---------------------------------------------------------------------------------------------------


def loops_over_layout(filling_: PaddingValue) -> tuple[list[Loop], list[IterSpec]]:
    """Create loops over the new dimensions at the insertion point, and the iters bound to them."""
    loops: list[Loop] = []
    for name, extent in zip(filling_.names, filling_.change.shape, strict=True):
        with create.at_end(loops[-1].body) if loops else ir.InsertionPoint.current:
            loops.append(create.loop(name, 0, extent))
    extents = filling_.change.shape
    specs = [
        IterSpec(f"v_{lp.name}", "S", 0, extent, Index.from_value(lp.var))
        for lp, extent in zip(loops, extents, strict=True)
    ]
    return loops, specs


def add_padding_block(filling_: PaddingValue, buffer: Buffer, anchor: ir.Operation) -> None:
    """Create blocks `buffer_<B>_padding`, `buffer_<B>_padding_1`, ... before an op, one for each piece of the
    padding.
    """
    for number, piece in enumerate(filling_.padding.pieces):
        name = f"buffer_{buffer.name}_padding" + (f"_{number}" if number else "")
        with ir.InsertionPoint(anchor), anchor.location:
            loops, specs = loops_over_layout(filling_)
            with create.at_end(loops[-1].body):
                guard = create.where(filling_.change.conditions(piece, [Index.from_value(lp.var) for lp in loops]))
                with create.at_end(guard.regions[0].blocks[0]):
                    block = create.block(name, specs)
            indices = [Index.from_value(i.var) for i in block.iters]
            with create.at_end(block.body):
                create.store(filling_.make(indices), buffer.value, indices)


def add_assumption_block(filling_: PaddingValue, buffer: Buffer, anchor: ir.Operation) -> None:
    """Create a block `buffer_<A>_assumptions`: the caller has initialized the padding with the value."""
    with ir.InsertionPoint(anchor), anchor.location:
        loops, specs = loops_over_layout(filling_)
        with create.at_end(loops[-1].body):
            block = create.block(f"buffer_{buffer.name}_assumptions", specs)
        indices = [Index.from_value(i.var) for i in block.iters]
        with create.at_end(block.body):
            element, value = create.load(buffer.value, indices), filling_.make(indices)
            floats = dtypes.is_float(buffer.dtype)
            same = arith.cmpf(arith.CmpFPredicate.OEQ, element, value) if floats else _equal(element, value)
            outside = [_emit_negation(filling_.change.conditions(p, indices)) for p in filling_.padding.pieces]
            total = outside[0]
            for condition in outside[1:]:
                total = arith.andi(total, condition)
            create.assume(arith.ori(total, same))


def _equal(lhs: ir.Value, right: ir.Value) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.eq, lhs, right)


def _emit_negation(conditions: Sequence[Constraint]) -> ir.Value:
    """Emit whether a conjunction does not hold."""
    if len(conditions) == 1:
        return _comparison(conditions[0], holds=False)
    total = _comparison(conditions[0])
    for c in conditions[1:]:
        total = arith.andi(total, _comparison(c))
    return arith.xori(total, arith.constant(ir.IntegerType.get_signless(1), 1))


def _comparison(c: Constraint, holds: bool = True) -> ir.Value:
    """Emit a constraint, or its negation, as a comparison of int32 values without subtraction."""
    values = [arith.index_cast(ir.IntegerType.get_signless(32), create.apply(side)) for side in _sides(c.index)]
    kind = arith.CmpIPredicate
    predicate = (kind.eq if holds else kind.ne) if c.is_eq else (kind.sge if holds else kind.slt)
    return arith.cmpi(predicate, *values)


def _sides(index: Index) -> tuple[Index, Index]:
    """`a - b + c` as `a` and `b - c`; in a sum with divisions only the constant moves."""
    zero = index.substitute({v: Index.constant(0) for v in index.values}).simplify().as_constant() or 0
    factors = dim_factors(index.expr)
    if factors is None:
        return (index - zero).simplify(), Index.constant(-zero)
    lhs, right = Index.constant(0), Index.constant(-factors[1])
    for dim, factor in factors[0].items():
        part = Index.from_value(index.values[dim]) * abs(factor)
        lhs, right = (lhs + part, right) if factor > 0 else (lhs, right + part)
    return lhs.simplify(), right.simplify()
