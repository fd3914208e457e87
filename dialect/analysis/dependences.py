"""Dependences between accesses, by isl: which iterations access the same element, and in which order.

Memory-based answers are exact about storage; on a conflict, `dataflow` may still show that no value flows. An
allocation inside loops counts as one copy per iteration. A self-dependence of a reduction is a conflict only if
iterations would run concurrently, not if they are reordered.

Parameters of a function are distinct buffers, which calls check, except with `tir.noalias = False`: then they may be
the same memory. Allocated buffers are always distinct.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.access_relations import (
    AccessRelation,
    conflicting,
    same_element,
    structural_key,
    written_groups,
)
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.analysis.certainty import require_certain
from tir_mlir.dialect.analysis.dataflow import is_private, same_flow
from tir_mlir.dialect.analysis.reduction_updates import (
    common_block,
    commutative_update,
    is_atomic_update,
    is_one_sum,
    is_reduction_pair,
    update_store,
)
from tir_mlir.dialect.analysis.selections import block_selection, keeps_order
from tir_mlir.dialect.analysis.symbolic_digits import has_digits
from tir_mlir.dialect.diagnostics import Counterexample, NotProvable, emit_remark
from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    Loop,
    attrs,
    cache_by_structure,
    func_of,
    is_inside,
    is_loop,
    only_reads,
    parents,
    to_name,
)
from tir_mlir.dialect.ir.op_views import StoreOp
from tir_mlir.dialect.presburger import dim_type, flatten, question, sizes_without, smallest_point

__all__ = ["lex_lt", "loop_carried_conflict", "reordering_conflict", "witness"]


@only_reads
def loop_carried_conflict(loop: Loop, kind: str | None = None) -> Counterexample | None:
    """A loop-carried conflict (at the same outer iterations); None if the iterations may run concurrently.

    `kind`: the loop kind to check for, default the loop's own. Threads of one block (`threadIdx`) and vector lanes may
    reduce into one element, blocks and threads of a GPU by atomic instructions.

    Buffers allocated inside the loop have one copy per iteration. So has a buffer used nowhere else that every
    iteration writes before reading: lowering moves it inside (see `is_private`). Raises NotProvable if the loop uses
    two parameters that may alias.
    """
    require_no_alias(loop.op)
    depth = len([p for p in parents(loop.op) if is_loop(p)])
    kind = kind or loop.kind
    undecided: NotProvable | None = None
    reasons: dict[str, str] = {}  # by written buffer: why its accesses do not conflict
    for group in written_groups(loop.op):
        buffer = group[0].access.buffer
        name, owner = Buffer(buffer).name, Buffer(buffer).op
        if owner is not None and is_inside(owner, loop.op):
            reasons[name] = _OWN_COPY
            continue
        reasons[name] = _NO_CONFLICT
        for a, b in conflicting(group):
            if _is_combined(a, b, loop, kind, depth):
                reasons[name] = _COMBINED
                continue
            if _is_independent_pair(a, b, loop, depth):
                continue
            if is_private(buffer, loop.op):
                reasons[name] = _PRIVATE
                break  # whatever else touches it
            if kind.startswith(_OF_A_GPU) and is_atomic_update(a, b):
                reasons[name] = _ATOMIC
                continue
            try:
                return witness(a, b, carried_conflicts(a, b, depth))
            except NotProvable as error:
                undecided = undecided or NotProvable(f"{error}{_lacking_instruction(a, b, kind)}")
    if undecided is not None:
        raise undecided
    _report_independence(loop, reasons)
    return None


def _lacking_instruction(a: AccessRelation, b: AccessRelation, kind: str) -> str:
    """Why an update is none that a GPU makes at once, for a message."""
    if not kind.startswith(_OF_A_GPU) or not is_reduction_pair(a, b) or is_atomic_update(a, b):
        return ""
    value = StoreOp(commutative_update(a.access.op) or a.access.op).value
    return f", and no GPU has an atomic instruction for {value.owner.name} of {to_name(value.type)}"


def _is_independent_pair(a: AccessRelation, b: AccessRelation, loop: Loop, depth: int) -> bool:
    with question(f"whether iterations of {loop.name} are independent"):
        return _carries_no_conflict(a, b, depth)


def _report_independence(loop: Loop, reasons: dict[str, str]) -> None:
    """What is proved of a loop, by the buffers that are written under it."""
    if not reasons:
        emit_remark(f"the iterations of `{loop.name}` write nothing")
    for name, why in reasons.items():
        emit_remark(f"the iterations of `{loop.name}` do not conflict in `{name}`: {why}")


def _is_combined(a: AccessRelation, b: AccessRelation, loop: Loop, kind: str, depth: int) -> bool:
    """Whether two accesses are of one reduction, which threads of a block or lanes may compute together."""
    if kind.startswith("threadIdx."):
        return is_one_sum(a, b) or _is_one_selection(a, b, loop)
    if kind != "vectorized":
        return False
    updates = is_one_sum(a, b) or (is_reduction_pair(a, b) and update_store(a.access.op) is not None)
    return updates and _is_invariant(a, depth) and _is_invariant(b, depth)


_NO_CONFLICT = "no two of them access an element that one of them writes"
_OWN_COPY = "each has a copy of its own"
_PRIVATE = "each writes an element before it reads it"
_COMBINED = "what they add up is combined at the end"
_ATOMIC = "each updates it by one atomic instruction, and the order of these decides nothing but how floats are rounded"
_OF_A_GPU = ("blockIdx.", "threadIdx.")


def _is_one_selection(a: AccessRelation, b: AccessRelation, loop: Loop) -> bool:
    """Whether both accesses belong to one reduction that selects, such as argmax, of which the iterations of a loop may
    compute parts that are combined in their order."""
    block = common_block(a, b)
    update = block_selection(block) if block is not None else None
    if block is None or update is None or not {t.access.buffer for t in (a, b)} <= set(update.buffers):
        return False
    laws = update.selection.laws
    return laws.parts_in_any_order or (laws.parts_in_order and keeps_order(block, loop))


def carried_conflicts(a: AccessRelation, b: AccessRelation, depth: int) -> isl.Map:
    """{ iteration of a -> later iteration of b } that touch one element, in one iteration of `depth` outer loops."""
    return _at_depth(same_element(a, b), depth)


def _at_depth(clash: isl.Map, depth: int) -> isl.Map:
    """The pairs of iterations that the loop at a depth separates: it is earlier in the first one."""
    for level in range(depth):
        clash = clash.equate(dim_type.in_, level, dim_type.out, level)
    return clash.order_lt(dim_type.in_, depth, dim_type.out, depth)


def _pair_key(a: AccessRelation, b: AccessRelation, depth: int) -> Hashable | None:
    keys = structural_key(a.access), structural_key(b.access)
    return None if None in keys or has_digits(a.access.op) else (*keys, depth)


@cache_by_structure(_pair_key)
def _carries_no_conflict(a: AccessRelation, b: AccessRelation, depth: int) -> bool:
    """Whether a pair of accesses has no conflict that the loop at a depth carries."""
    if has_digits(a.access.op):
        return carried_conflicts(a, b, depth).is_empty()
    # as part of the element, outer iterations are the same without columns of their own
    first, second = (t.outer(depth + 1).move_dims(dim_type.out, 0, dim_type.in_, 0, depth) for t in (a, b))
    return _never_meet(first, second) or _at_depth(first.apply_range(second.reverse()), 0).is_empty()


def _unordered_pair(first: isl.Map, second: isl.Map) -> Hashable:
    return frozenset((first, second))


@cache_by_structure(_unordered_pair)
def _never_meet(first: isl.Map, second: isl.Map) -> bool:
    """Whether no two different iterations touch one element. Accesses of a block often have equal relations."""
    clash = first.apply_range(second.reverse())
    return all(order(dim_type.in_, 0, dim_type.out, 0).is_empty() for order in (clash.order_lt, clash.order_gt))


def _own_key(touch: AccessRelation, level: int) -> Hashable | None:
    key = structural_key(touch.access)
    return None if key is None or has_digits(touch.access.op) else (key, level)


@cache_by_structure(_own_key)
def _is_invariant(touch: AccessRelation, level: int) -> bool:
    """Whether an access is to one element in all iterations of the loop at a level."""
    return touch.relation.project_out(dim_type.in_, level, 1).is_single_valued()


def witness(a: AccessRelation, b: AccessRelation, clash: isl.Map) -> Counterexample:
    """The smallest pair of conflicting iterations. Raises NotProvable if one of the accesses is uncertain."""
    name = Buffer(a.access.buffer).name
    both = a.label if a.label == b.label else f"{a.label} and {b.label}"
    require_certain((a.access, b.access), f"whether two iterations of {both} access one element of {name}")
    point = smallest_point(flatten(clash)) or []
    shift = len(point) - len(a.dom.dims) - len(b.dom.dims)
    sizes = tuple(zip(a.dom.params, point[:shift], strict=False))
    first, second = point[shift : shift + len(a.dom.dims)], point[shift + len(a.dom.dims) :]
    element = a.element(first, b.image(second))
    return Counterexample(
        (a.iteration_at(first), b.iteration_at(second)), element, sizes, sizes_without(clash, a.access.op)
    )


@only_reads
def reordering_conflict(loops: Sequence[Loop], order: Sequence[int]) -> Counterexample | None:
    """A conflict whose order flips if the perfect nest `loops` is permuted to `order`, or None.

    Memory-based first; on a conflict, value-based: if every read sees the same write and every element has the same
    last writer, the program is unchanged. Raises NotProvable if the nest uses two parameters that may alias.
    """
    require_no_alias(loops[0].op)
    top = loops[0]
    depth = len([p for p in parents(top.op) if is_loop(p)])
    undecided: NotProvable | None = None
    order_names = ", ".join(loops[n].name for n in order)
    for group in written_groups(loops[-1].op):
        why = "no two accesses of one element, one of them a write, change their order"
        for a, b in conflicting(group):
            if is_reduction_pair(a, b):
                why = "the terms of a reduction may come in any order, and nothing else changes its order"
                continue
            with question(f"whether reordering {', '.join(lp.name for lp in loops)} keeps every dependence"):
                clash = _reversed_pairs(a, b, depth, len(loops), order)
                empty = clash.is_empty()
            if not empty and (_either_may_win(a, b) or not same_flow(a.access.buffer, loops, order)):
                try:
                    return _witness_of_flow(a, b, clash, top)
                except NotProvable as error:
                    undecided = undecided or error
            elif not empty:
                why = "every read sees the same write as before, and the last write of each element is the same"
        emit_remark(f"in the order `{order_names}`, `{Buffer(group[0].access.buffer).name}`: {why}")
    if undecided is not None:
        raise undecided
    return None


def _witness_of_flow(a: AccessRelation, b: AccessRelation, clash: isl.Map, loop: Loop) -> Counterexample:
    """The smallest pair of conflicting iterations, where all accesses of the buffer decide which values flow."""
    example = witness(a, b, clash)
    name = Buffer(a.access.buffer).name
    users = [t for t in accesses(func_of(loop.op).op) if t.buffer == a.access.buffer]
    require_certain(users, f"whether the values of {name} flow the same way")
    return example


def _either_may_win(a: AccessRelation, b: AccessRelation) -> bool:
    """Whether two writes decide a value of which one may not happen (a loaded index): the flow ignores their order."""
    exact = all(t.access.exact and t.dom.exact for t in (a, b))
    return a.access.is_write and b.access.is_write and not exact


def _reversed_pairs(a: AccessRelation, b: AccessRelation, depth: int, count: int, order: Sequence[int]) -> isl.Map:
    """Conflicting pairs with a before b in the old order of the nest, b before a in the new one."""
    clash = same_element(a, b)
    for level in range(depth):
        clash = clash.equate(dim_type.in_, level, dim_type.out, level)
    old_order = lex_lt(clash, [depth + i for i in range(count)])
    new_order = lex_lt(clash, [depth + i for i in order], swap=True)
    return clash.intersect(old_order).intersect(new_order)


def lex_lt(like: isl.Map, dims: Sequence[int], swap: bool = False) -> isl.Map:
    """{ x -> y : x[dims] lexicographically before y[dims] } (after, if swapped)."""
    universe = isl.Map.universe(like.get_space())
    result = isl.Map.empty(like.get_space())
    prefix = universe
    for dim in dims:
        order = prefix.order_gt if swap else prefix.order_lt
        result = result.union(order(dim_type.in_, dim, dim_type.out, dim))
        prefix = prefix.equate(dim_type.in_, dim, dim_type.out, dim)
    return result


NOALIAS = "tir.noalias"


def has_distinct_buffers(func: ir.Operation) -> bool:
    """Whether the parameters of a function are distinct buffers: unless it says `tir.noalias = False`."""
    return bool(attrs.get(func, attrs.ATTRS, {}).get(NOALIAS, True))


def aliased_pair(root: ir.Operation) -> tuple[str, str] | None:
    """Names of two parameters accessed under `root` that may be the same memory, one of them written there."""
    if has_distinct_buffers(func_of(root).op):
        return None
    param_accesses = [a for a in accesses(root) if Buffer(a.buffer).is_param]
    for written in (a for a in param_accesses if a.is_write):
        for access in param_accesses:
            if access.buffer != written.buffer:
                first, second = sorted((access.buffer, written.buffer), key=lambda v: ir.BlockArgument(v).arg_number)
                return Buffer(first).name, Buffer(second).name
    return None


def require_no_alias(root: ir.Operation) -> None:
    """Raise NotProvable if the order of accesses under `root` may matter because two parameters alias."""
    pair = aliased_pair(root)
    if pair is not None:
        raise NotProvable(alias_text(root, pair))


def alias_text(root: ir.Operation, pair: tuple[str, str]) -> str:
    """Why two parameters may be the same memory."""
    func: Func = func_of(root)
    return f"{pair[0]} and {pair[1]} may be the same memory, as function {func.name} has tir.noalias = False"
