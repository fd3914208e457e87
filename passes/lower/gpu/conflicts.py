"""Which accesses of two threads meet at one element, one of them writing: what barriers have to separate."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import AccessRelation, access_domain, same_element
from tir_mlir.dialect.analysis.accesses import Access, accesses
from tir_mlir.dialect.analysis.certainty import doubt
from tir_mlir.dialect.analysis.symbolic_digits import has_digits
from tir_mlir.dialect.diagnostics import Element, LoweringError, NotProvable
from tir_mlir.dialect.ir import Buffer, Loop, is_loop, walk
from tir_mlir.dialect.ir.op_views import AtomicOp, LoopLikeOp, isa
from tir_mlir.dialect.presburger import BUILD_OPERATIONS, dim_type, flatten, over_digits, question, smallest_point
from tir_mlir.passes.lower.gpu.nests import BLOCK, DEVICE, THREAD, KernelNest, owner_of
from tir_mlir.passes.lower.gpu.thread_tags import axis_values, is_tma_tile
from tir_mlir.passes.lower.registry import location_text

TEXTUAL = None
"""The carrying loop of a conflict within one iteration of all common loops."""


class SharedAccess(AccessRelation):
    """An access to memory that the threads of a block share: one copy, whatever loop it is allocated in."""

    @cached_property
    def relation(self) -> isl.Map:
        return self.access.elements(self.dom)

    @cached_property
    def count(self) -> int:
        """The dimensions of an iteration: its loops, and the digits of fused ones."""
        return self.dom.set.dim(dim_type.set)

    @staticmethod
    def from_access(access: Access) -> SharedAccess:
        """Over the digits of fused and split loops, if it has them: isl needs no divisions then."""
        dom = access_domain(access)
        if not dom.exact or dom.free or has_digits(access.op):
            return SharedAccess(access, dom)
        return SharedAccess(access, over_digits(access.op, None, access.indices, dom.dims) or dom)


@dataclass(frozen=True)
class SharedConflict:
    """`first` and then `second` touch one element, in two threads of one block; `carrier` is the loop whose iterations
    they differ in, None (`TEXTUAL`) if they are in one iteration of all loops around both. `far`: there is at least one
    iteration of the carrier between."""

    first: SharedAccess
    second: SharedAccess
    carrier: ir.Operation | None
    pairs: isl.Map
    far: bool = False


def shared_accesses(nest: KernelNest) -> list[list[SharedAccess]]:
    """The accesses of a kernel by buffer, for buffers that it writes and that are not private to a thread. Not of tiles
    that the TMA fills: `tir-lower-gpu-channels` orders these, or refuses them."""
    groups: dict[ir.Value, list[SharedAccess]] = {}
    for access in accesses(nest.root):
        if owner_of(Buffer(access.buffer)) != THREAD and not is_tma_tile(access.buffer):
            groups.setdefault(access.buffer, []).append(SharedAccess.from_access(access))
    return [group for group in groups.values() if any(t.access.is_write for t in group)]


def conflicts(nest: KernelNest) -> list[SharedConflict]:
    """All conflicts between two threads of a block that a barrier can separate, each ordered as in the program.

    Errors: LoweringError for two threads that touch one element at one time, and for two blocks that touch one.
    """
    result: list[SharedConflict] = []
    meetings: dict[tuple[Hashable, Hashable], isl.Map | None] = {}  # an unrolled body has many equal accesses
    for group in shared_accesses(nest):
        for a, b in ((a, b) for a in group for b in group if a.access.is_write or b.access.is_write):
            if isa(a.access.op, AtomicOp) and isa(b.access.op, AtomicOp):
                continue  # in any order, as `tir-lower-gpu-block-copies` proves
            key = _key(a), _key(b)
            try:
                with question(f"which threads touch one element of {Buffer(a.access.buffer).name}", BUILD_OPERATIONS):
                    if key not in meetings:
                        meetings[key] = _two_threads(nest, a, b)
                    if (both := meetings[key]) is not None:
                        result += _ordered_conflicts(nest, a, b, both)
            except NotProvable as error:
                raise NotProvable(f"{error}; it is between {both_accesses(a.access, b.access)}") from error
    return result


def _key(touch: SharedAccess) -> Hashable:
    return touch.access.op.block, touch.access.buffer, touch.access.kind, *touch.access.indices


def _two_threads(nest: KernelNest, a: SharedAccess, b: SharedAccess) -> isl.Map | None:
    """{ iteration of a -> iteration of b } in two threads of a block, at one element; None if there are none."""
    both = same_element(a, b)
    if owner_of(Buffer(a.access.buffer)) == DEVICE and nest.blocks:
        _refuse_blocks(nest, a, b, both)
    both = both.intersect(_threads_differ(nest, a, b))
    return None if both.is_empty() else both


def _refuse_blocks(nest: KernelNest, a: SharedAccess, b: SharedAccess, both: isl.Map) -> None:
    apart = both.intersect(_differ(*_counts(a, b), *_columns(nest.blocks, a, b)))
    if not apart.is_empty():
        text = meeting(nest, a, b, apart, "two blocks", "blocks run in any order")
        raise LoweringError(
            f"{text}; fix: bind another loop, or give both nests of their own, which are kernels one after the other"
        )


def _ordered_conflicts(nest: KernelNest, a: SharedAccess, b: SharedAccess, both: isl.Map) -> Iterator[SharedConflict]:
    """The parts of conflicting pairs in which `a` is before `b`."""
    shared = common_loops(nest, a, b)
    for loop in shared:
        if is_loop(loop):
            dim_of_a, dim_of_b = (t.dom.index_of(Loop(loop).var) for t in (a, b))
            carried = both.order_lt(dim_type.in_, dim_of_a, dim_type.out, dim_of_b)
            if not carried.is_empty():
                yield SharedConflict(a, b, loop, carried, _is_far(carried, dim_of_a, dim_of_b))
            both = both.equate(dim_type.in_, dim_of_a, dim_type.out, dim_of_b)
        else:
            yield SharedConflict(a, b, loop, both)  # a loop over data: any of its iterations
    if both.is_empty():
        return
    first, second = branches(a.access.op, b.access.op)
    if first == second:
        raise LoweringError(meeting(nest, a, b, both, "two threads", "no barrier can come between"))
    if first < second:
        yield SharedConflict(a, b, TEXTUAL, both)


def _is_far(carried: isl.Map, before: int, after: int) -> bool:
    """Whether no pair is in consecutive iterations."""
    space = carried.get_space()
    step = isl.Constraint.alloc_equality(isl.LocalSpace.from_space(space))
    step = step.set_coefficient_val(dim_type.in_, before, isl.Val(-1))
    step = step.set_coefficient_val(dim_type.out, after, isl.Val(1)).set_constant_val(isl.Val(-1))
    return carried.add_constraint(step).is_empty()


def common_loops(nest: KernelNest, a: SharedAccess, b: SharedAccess) -> list[ir.Operation]:
    """The serial loops around two accesses in the body of a kernel, outer to inner."""
    common = walk.common_parent([a.access.op, b.access.op])
    chain = [common, *walk.parents(common)]
    return [p for p in chain[: chain.index(nest.root)] if isa(p, LoopLikeOp)][::-1]


def branches(first: ir.Operation, second: ir.Operation) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where two ops are in the innermost op that contains both: the numbers of region and op."""
    if first == second:
        return (0, 0), (0, 0)
    common = walk.common_parent([first, second])
    return _branch(common, first), _branch(common, second)


def _branch(outer: ir.Operation, op: ir.Operation) -> tuple[int, int]:
    """The numbers of the region and of the op in it that leads from an op to one nested in it."""
    child = walk.child_towards(outer, op)
    region = next(n for n, r in enumerate(outer.regions) if len(r.blocks) and r.blocks[0] == child.block)
    return region, walk.position_of_many(child)


# --- pairs of threads and blocks --------------------------------------------------------------------------------------


def _counts(a: SharedAccess, b: SharedAccess) -> tuple[int, int]:
    return a.count, b.count


def _columns(axes: Sequence[Loop], a: SharedAccess, b: SharedAccess) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(a.dom.index_of(x.var) for x in axes), tuple(b.dom.index_of(x.var) for x in axes)


def _threads_differ(nest: KernelNest, a: SharedAccess, b: SharedAccess) -> isl.Map:
    """{ iteration -> iteration } of two threads of one block."""
    apart = _differ(*_counts(a, b), *_columns(nest.threads, a, b))
    for x, y in zip(*_columns(nest.blocks, a, b), strict=True):
        apart = apart.equate(dim_type.in_, x, dim_type.out, y)
    return apart


@lru_cache(maxsize=256)
def _differ(first: int, second: int, columns: tuple[int, ...], others: tuple[int, ...]) -> isl.Map:
    """{ x -> y } that differ in one of some columns."""
    a, b = [f"a{i}" for i in range(first)], [f"b{i}" for i in range(second)]
    cases = [f"a{i} {order} b{j}" for i, j in zip(columns, others, strict=True) for order in "<>"]
    return isl.Map(f"{{ [{', '.join(a)}] -> [{', '.join(b)}] : {' or '.join(cases) or 'false'} }}")


# --- messages ---------------------------------------------------------------------------------------------------------


def meeting(nest: KernelNest, a: SharedAccess, b: SharedAccess, pairs: isl.Map, who: str, why: str) -> str:
    """`file.py:3: two threads touch S[0], one writing: ...; no barrier can come between`."""
    return f"{location_text(a.access.op)}: {pair_text(nest, a, b, pairs, who)}; {why}"


def pair_text(nest: KernelNest, a: SharedAccess, b: SharedAccess, pairs: isl.Map, who: str) -> str:
    """Both iterations of the smallest pair and their element, or why it is undecided that there is one."""
    buffer = Buffer(a.access.buffer)
    if why := doubt(a.access) or doubt(b.access):
        return f"it is not provable that no {who} touch one element of {buffer.name}: {why}"
    point = smallest_point(flatten(pairs)) or []
    shift = len(point) - sum(_counts(a, b))
    sizes = "".join(f" at {n}={v}" for n, v in zip(a.dom.params, point[:shift], strict=False))
    cut = shift + a.count
    first, second = point[shift : shift + len(a.dom.dims)], point[cut : cut + len(b.dom.dims)]
    element = Element.from_indices(buffer.name, list(a.element(first, b.image(second)).indices))
    return f"{who} touch {element}{sizes}: {_run(nest, a, first)} and {_run(nest, b, second)}"


def both_accesses(a: Access, b: Access) -> str:
    """`the write (file.py:3) and the read (file.py:4)`."""
    first, second = (f"the {'write' if t.is_write else 'read'} ({location_text(t.op)})" for t in (a, b))
    return f"{first} and {'itself' if a.op == b.op and a.kind == b.kind else second}"


def _run(nest: KernelNest, touch: SharedAccess, point: Sequence[int]) -> str:
    """`the store of block (blockIdx.x=0), thread (threadIdx.x=1) at k=0 (file.py:3)`."""
    names = {axis.var: axis.kind for axis in nest.axes}
    values = [(names.get(v, ""), touch.dom.dims[n], point[n]) for n, v in enumerate(touch.dom.dims)]
    numbers = axis_values([k for k, _, _ in values if k], [p for k, _, p in values if k])
    blocks = ", ".join(f"{k}={p}" for k, p in numbers.items() if k.startswith("blockIdx."))
    threads = ", ".join(f"{k}={p}" for k, p in numbers.items() if k.startswith("threadIdx."))
    serial = ", ".join(f"{walk.enclosing_loop_name(v) or 'i'}={p}" for k, v, p in values if not k)
    who = " ".join(part for part in (f"block ({blocks})" * bool(blocks), f"thread ({threads})" * bool(threads)) if part)
    verb = "writes" if touch.access.is_write else "reads"
    at_serial = f" at {serial}" if serial else ""
    return f"{who} {verb} it{at_serial} ({location_text(touch.access.op)})"


__all__ = [
    "BLOCK",
    "TEXTUAL",
    "SharedAccess",
    "SharedConflict",
    "both_accesses",
    "conflicts",
    "pair_text",
    "shared_accesses",
]
