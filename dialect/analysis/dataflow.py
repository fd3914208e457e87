"""Value-based dataflow: which write each read sees, by isl's dataflow analysis."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.access_relations import AccessRelation, relation_of, relations_of, structural_key
from tir_mlir.dialect.analysis.accesses import Access, access_domain, accesses, accesses_to
from tir_mlir.dialect.analysis.certainty import require_certain
from tir_mlir.dialect.analysis.regions import footprint
from tir_mlir.dialect.analysis.symbolic_digits import has_digits
from tir_mlir.dialect.diagnostics import Counterexample, NotProvable
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Loop,
    cache_by_structure,
    cache_while_frozen,
    child_towards,
    common_parent,
    data_loop_name,
    direct_ops,
    func_of,
    is_block,
    is_data_loop,
    is_inside,
    is_loop,
    only_reads,
    parents,
)
from tir_mlir.dialect.ir.op_views import AffineLoadOp, isa
from tir_mlir.dialect.presburger import (
    BoxSide,
    Domain,
    ValueRanges,
    dim_type,
    enclosing_box,
    filled_box,
    full_box,
    intervals,
    question,
    smallest_point,
)

# --- reads that plainly follow the writes of their elements -----------------------------------------------------------


def follows_writes(read: AccessRelation, writes: Sequence[AccessRelation], root: ir.Operation) -> bool:
    """Whether every element of a read is written earlier in the same iteration of `root`. False: unknown.

    Looks at writes that are in an earlier op of a body around the read, in which they write all that is read:

        for k_0:             # the common body
            for ax: S[...] =
            for k_1: ... = S[...]
    """
    by_depth: dict[int, list[Access]] = {}
    for write in writes:
        if write.dom.exact and write.access.exact:
            depth = _common_depth(write.access.op, read.access.op, root)
            if depth is not None:
                by_depth.setdefault(depth, []).append(write.access)
    if any(_are_all_of(tuple(by_depth[depth]), read.access, depth) for depth in sorted(by_depth, reverse=True)):
        return True
    loops = [p for p in parents(read.access.op) if is_loop(p) and p != root and is_inside(p, root)]
    return any(_follows_iterations(read, writes, lp, root) for lp in loops if Loop(lp).kind == "serial")


def _all_key(writes: tuple[Access, ...], read: Access, depth: int) -> Hashable | None:
    keys = tuple(structural_key(t) for t in (read, *writes))
    return None if None in keys or any(has_digits(t.op) for t in (read, *writes)) else (keys, depth)


@cache_while_frozen
@cache_by_structure(_all_key)
def _are_all_of(writes: tuple[Access, ...], read: Access, depth: int) -> bool:
    """Whether writes are of all elements of a read, in one iteration of the outermost `depth` loops."""
    if any(is_in_filled_box(write, read, depth) for write in writes):
        return True
    written = relation_of(writes[0]).outer(depth)
    for write in writes[1:]:
        written = written.union(relation_of(write).outer(depth))
    return relation_of(read).outer(depth).is_subset(written)


def _follows_iterations(
    read: AccessRelation, writes: Sequence[AccessRelation], loop: ir.Operation, root: ir.Operation
) -> bool:
    """Whether every element of a read is written before a loop around it, in the same iteration of `root`, or in an
    earlier iteration of the loop. False: unknown.

    S[0, ...] =
    for k:
        S[(k + 1) % 2, ...] =
        ... = S[k % 2, ...]
    """
    certain = [w.access for w in writes if w.dom.exact and w.access.exact]
    inside = tuple(w for w in certain if is_inside(w.op, loop))
    if not inside or any(is_data_loop(p) for p in [root, *parents(read.access.op)]):
        return False
    depths = {w: _common_depth(w.op, loop, root) for w in certain if w not in inside}
    before = {w: depth for w, depth in depths.items() if depth is not None}
    try:
        with question("whether earlier iterations write what is read"):
            return _are_of_iterations(
                (*before,), (*before.values(),), inside, read.access, sum(map(is_loop, parents(loop)))
            )
    except NotProvable:
        return False


def _iterations_key(
    before: tuple[Access, ...], depths: tuple[int, ...], inside: tuple[Access, ...], read: Access, level: int
) -> Hashable | None:
    key = _all_key((*before, *inside), read, level)
    return None if key is None else (key, depths)


@cache_while_frozen
@cache_by_structure(_iterations_key)
def _are_of_iterations(
    before: tuple[Access, ...], depths: tuple[int, ...], inside: tuple[Access, ...], read: Access, level: int
) -> bool:
    """Whether writes are of all elements of a read in an iteration of the outermost `level` loops and the one inside:
    those before it, in one iteration of the outermost `depths` loops, or those in its earlier iterations."""
    first = [
        relation_of(write).outer(depth).insert_dims(dim_type.in_, depth, level + 1 - depth)
        for write, depth in zip(before, depths, strict=True)
    ]
    needed, later = relation_of(read).outer(level + 1), [relation_of(write).outer(level + 1) for write in inside]
    return unwritten_elements(needed, first, later).is_empty()


def unwritten_elements(needed: isl.Map, before: Sequence[isl.Map], inside: Sequence[isl.Map]) -> isl.Map:
    """What iterations need, of maps { [outer loops, loop] -> element }, without what is written before the loop, and by
    what is inside in earlier iterations of it."""
    for written in before:
        needed = needed.subtract(written)
    earlier = isl.Map.universe(needed.get_space().domain().map_from_set())
    level = earlier.dim(dim_type.in_) - 1
    for number in range(level):
        earlier = earlier.equate(dim_type.in_, number, dim_type.out, number)
    earlier = earlier.order_gt(dim_type.in_, level, dim_type.out, level)
    for written in inside:
        needed = needed.subtract(earlier.apply_range(written))
    return needed


def _common_depth(write: ir.Operation, read: ir.Operation, root: ir.Operation) -> int | None:
    """The number of loops around the body in which the op with a write is before that with a read; None if there is
    not a such body in `root`."""
    common = common_parent([write, read])
    enclosing = [common, *parents(common)]
    if root not in enclosing or any(is_data_loop(p) for p in enclosing[: enclosing.index(root) + 1]):
        return None
    first, second = child_towards(common, write), child_towards(common, read)
    if first.block != second.block or first == second or not first.is_before_in_block(second):
        return None
    return sum(is_loop(p) for p in enclosing)


def flow_key(buffer: ir.Value, loop: ir.Operation) -> Hashable | None:
    """A structural key that determines which reads of a buffer in a loop follow writes; None if there is none."""
    parts = []
    for access in accesses(loop):
        if access.buffer == buffer:
            key = structural_key(access)
            if key is None:
                return None
            parts.append((access.kind, access.exact, key, _path(loop, access.op)))
    return sum(is_loop(p) for p in parents(loop)), tuple(parts)


def _path(root: ir.Operation, op: ir.Operation) -> tuple[int, ...]:
    """Where an op is in another one: the position in each body."""
    path: list[int] = []
    current = op
    for parent in parents(op):
        bodies = [o.operation for region in parent.regions for block in region.blocks for o in block.operations]
        path.append(bodies.index(current))
        if parent == root:
            break
        current = parent
    return tuple(path)


# --- the flow of values -----------------------------------------------------------------------------------------------


def times(touch: AccessRelation, root: ir.Operation) -> list[isl.Aff]:
    """The schedule time of an access: body positions and loop variables alternating, from `root` inwards."""
    out: list[isl.Aff] = []
    chain = [touch.access.op, *parents(touch.access.op)]
    upto = chain.index(root)
    for outer, inner in zip(chain[upto:0:-1], chain[upto - 1 :: -1], strict=False):
        if is_loop(outer):
            out.append(touch.dom.env[Loop(outer).var])
        position = _direct_ops(outer).index(inner)
        out.append(touch.dom.zero.add_constant_val(isl.Val(position)))
    return out


@cache_while_frozen
def _direct_ops(op: ir.Operation) -> list[ir.Operation]:
    return direct_ops(op)


class Flow:
    """Accesses as named statements with schedule times, the input of isl's dataflow analysis."""

    def __init__(self) -> None:
        self.reads: isl.UnionMap | None = None
        self.writes: isl.UnionMap | None = None
        self.maybe: isl.UnionMap | None = None
        self.schedule: isl.UnionMap | None = None

    def add(self, name: str, element: str, touch: AccessRelation, relation: isl.Map, when: isl.Map) -> None:
        relation = relation.set_tuple_name(dim_type.in_, name).set_tuple_name(dim_type.out, element)
        when = when.set_tuple_name(dim_type.in_, name)
        self.schedule = join(self.schedule, when)
        if touch.access.is_write:
            if touch.dom.exact and touch.access.exact:
                self.writes = join(self.writes, relation)
            else:
                self.maybe = join(self.maybe, relation)
        else:
            self.reads = join(self.reads, relation)

    def run(self) -> isl.UnionFlow | None:
        if self.reads is None or self.schedule is None:
            return None
        info = isl.UnionAccessInfo.from_sink(self.reads)
        if self.writes is not None:
            info = info.set_must_source(self.writes)
        if self.maybe is not None:
            info = info.set_may_source(self.maybe)
        return info.set_schedule_map(self.schedule).compute_flow()


def join(all_: isl.UnionMap | None, map_: isl.Map) -> isl.UnionMap:
    """The union of maps of any spaces; None is the empty one."""
    return map_.to_union_map() if all_ is None else all_.union(map_.to_union_map())


def _padded_relation(dom: Domain, affs: Sequence[isl.Aff], length: int) -> isl.Map:
    return dom.relation([*affs, *[dom.zero] * (length - len(affs))])


@only_reads
def unwritten_reads(
    buffer: ir.Value, root: ir.Operation, readers: ir.Operation | None = None
) -> tuple[AccessRelation, list[int]] | None:
    """A read of `buffer` under `root` that no write of that element precedes in the same iteration of `root`.

    `root` is a loop (one iteration of it and of its enclosing loops at a time) or a function. None: every read is
    preceded by a write. The point is the read's iteration, as in `AccessRelation.at`. `readers`: consider only reads
    nested in it.
    """
    reads = [a for a in accesses(readers or root) if a.buffer == buffer and not a.is_write]
    doubtful = {a for a in reads if is_inside(a.op, root) and not _follows_init(a, root)}
    if not doubtful:
        return None
    result, relations = _flow_to(doubtful, buffer, root)
    if result is None:
        return None
    return first_in(result.get_must_no_source().union(result.get_may_no_source()), relations)


@only_reads
def surely_unwritten(buffer: ir.Value, root: ir.Operation) -> tuple[AccessRelation, list[int]] | None:
    """A read that certainly runs, of an element that certainly nothing in `root`, a function, writes before it.

    Sizes are at least 1: the sum over a size of 0, for which no init runs, is not reported. Considers affine loads
    only: what a kernel or a gather reads is not known. The point is as in `unwritten_reads`.
    """
    reads = [a for a in accesses(root) if a.buffer == buffer and isa(a.op, AffineLoadOp) and a.exact]
    certain = {a for a in reads if access_domain(a).exact and not _follows_init(a, root)}
    if not certain:
        return None
    result, relations = _flow_to(certain, buffer, root)
    return None if result is None else first_in(_assume_positive_sizes(result.get_must_no_source()), relations)


@only_reads
def reads_written(buffer: ir.Value, root: ir.Operation) -> bool:
    """Whether a read of `buffer` under `root` may see what a write under it leaves, in one iteration of `root`."""
    result = _flow_of([relation_of(a) for a in accesses(root) if a.buffer == buffer], root)
    if result is None:
        return False
    return not all(part.is_empty() for part in (result.get_full_must_dependence(), result.get_full_may_dependence()))


def _assume_positive_sizes(points: isl.UnionMap) -> isl.UnionMap:
    sizes = isl.Set.universe(points.get_space().params())
    for n in range(sizes.dim(dim_type.param)):
        sizes = sizes.lower_bound_val(dim_type.param, n, isl.Val.one(sizes.get_ctx()))
    return points.intersect_params(sizes)


def _flow_to(
    reads: set[Access], buffer: ir.Value, root: ir.Operation
) -> tuple[isl.UnionFlow | None, list[AccessRelation]]:
    """The flow from all writes of a buffer under `root` to these reads; the accesses, by number."""
    relations = [t for t in relations_of(root, buffer) if t.access.is_write or t.access in reads]
    writes = [t for t in relations if t.access.is_write]
    relations = [t for t in relations if t.access.is_write or not follows_writes(t, writes, root)]
    return (None if len(relations) == len(writes) else _flow_of(relations, root)), relations


def _flow_of(relations: Sequence[AccessRelation], root: ir.Operation) -> isl.UnionFlow | None:
    """The flow among accesses under `root` in one iteration of it; None if none of them reads."""
    flow = Flow()
    whens = [times(t, root) for t in relations]
    length = max((len(w) for w in whens), default=0)
    outer = [p for p in [root, *parents(root)] if is_loop(p)][::-1]
    for number, (touch, when) in enumerate(zip(relations, whens, strict=True)):
        relation = touch.relation
        if outer:
            relation = touch.dom.map([Index.from_value(Loop(p).var) for p in outer]).flat_range_product(relation)
        flow.add(f"a{number}", "e", touch, relation, _padded_relation(touch.dom, when, length))
    return flow.run()


def first_in(missing: isl.UnionMap, relations: Sequence[AccessRelation]) -> tuple[AccessRelation, list[int]] | None:
    """The first access with iterations in `missing`, and the smallest of them."""
    for number, touch in enumerate(relations):
        part = missing.domain().intersect(_tuple_set(touch.dom.set, f"a{number}"))
        if not part.is_empty():
            piece = isl.Set.from_union_set(part)
            point = smallest_point(piece.reset_tuple_id()) or []
            return touch, point[len(point) - len(touch.dom.dims) :]
    return None


def unwritten_example(unwritten: tuple[AccessRelation, list[int]], root: ir.Operation) -> Counterexample:
    """The answer of `unwritten_reads` as a counterexample. Raises NotProvable if the read, or a write, is uncertain."""
    touch, point = unwritten
    buffer = touch.access.buffer
    writes = accesses_to(buffer, root, True)
    require_certain([touch.access, *writes], f"whether {Buffer(buffer).name} is written before it is read")
    return touch.example(point)


def _follows_init(access: Access, root: ir.Operation) -> bool:
    """Fast path: whether a read follows the init of its enclosing reduction block in the same iteration of `root`."""
    outer_vars = {Loop(p).var for p in [root, *parents(root)] if is_loop(p)}
    for parent in parents(access.op):
        if parent == root:
            return False
        if not is_block(parent) or (init := Block(parent).init) is None or is_inside(access.op, init):
            continue
        block = Block(parent)
        if not full_box.is_full_box(block) or any(
            outer_vars & set(i.binding.values) for i in block.iters if i.kind == "R"
        ):
            return False
        filled = [
            a for a in accesses(init) if a.buffer == access.buffer and a.is_write and a.exact and access_domain(a).exact
        ]
        return bool(filled) and _fills(block, filled, access)
    return False


def _fills(block: Block, filled: Sequence[Access], read: Access) -> bool:
    """Whether the init of a block writes all elements that one of its reads can access, for the same spatial iters."""
    parts = []
    for group, guards in ((filled, True), ([read], False)):
        relation, outer, _ = footprint(group, block.op, guards)
        for it in block.iters:
            if it.kind == "R":
                relation = relation.project_out(dim_type.in_, outer.index(it.var), 1)
                outer = [v for v in outer if v != it.var]
        parts.append((relation, outer))
    return parts[0][1] == parts[1][1] and parts[1][0].is_subset(parts[0][0])


def _tuple_set(points: isl.Set, name: str) -> isl.UnionSet:
    return points.set_tuple_name(name).to_union_set()


def is_private(buffer: ir.Value, loop: ir.Operation) -> bool:
    """Whether an allocation could be privatized per iteration of `loop`: used only inside, written before read."""
    owner = Buffer(buffer).op
    if owner is None or not Buffer(buffer).is_alloc:
        return False
    func = func_of(loop)
    if any(not is_inside(a.op, loop) for a in accesses_to(buffer, func.op)):
        return False
    return _written_before_read(buffer, loop)


@cache_while_frozen
@cache_by_structure(flow_key)
def _written_before_read(buffer: ir.Value, loop: ir.Operation) -> bool:
    with question(f"whether {Buffer(buffer).name} is written before it is read"):
        return unwritten_reads(buffer, loop) is None


def same_flow(buffer: ir.Value, loops: Sequence[Loop], order: Sequence[int]) -> bool:
    """Whether a permuted nest gives every read of `buffer` the same writer and every element the same last writer."""
    func = func_of(loops[0].op)
    if over := next((p for p in parents(loops[0].op) if is_data_loop(p)), None):
        raise NotProvable(
            f"the nest is in {data_loop_name(over)}, and what its iterations leave for each other is not modeled"
        )
    relations = relations_of(func.op, buffer)
    plain = [times(t, func.op) for t in relations]
    swapped = [_permute(t, w, loops, order) for t, w in zip(relations, plain, strict=True)]
    with question(f"whether the values of {Buffer(buffer).name} flow the same way"):
        old, new = _dependences(relations, plain), _dependences(relations, swapped)
        return old.is_equal(new)


def _permute(touch: AccessRelation, when: list[isl.Aff], loops: Sequence[Loop], order: Sequence[int]) -> list[isl.Aff]:
    variables = [touch.dom.env.get(lp.var) for lp in loops]
    if any(v is None for v in variables):
        return when
    slots_of = [next(i for i, w in enumerate(when) if w.plain_is_equal(v)) for v in variables]  # type: ignore[union-attr]
    result = list(when)
    for slot, source in zip(slots_of, order, strict=True):
        result[slot] = variables[source]  # type: ignore[assignment]
    return result


def _dependences(relations: Sequence[AccessRelation], whens: Sequence[list[isl.Aff]]) -> isl.UnionMap:
    """The write that each read sees; the final contents of a parameter count as one more read."""
    flow = Flow()
    length = max(len(w) for w in whens) + 1
    for number, (touch, when) in enumerate(zip(relations, whens, strict=True)):
        first = touch.dom.zero
        flow.add(f"a{number}", "e", touch, touch.relation, _padded_relation(touch.dom, [first, *when], length))
    writes = [t for t in relations if t.access.is_write]
    if writes and Buffer(writes[0].access.buffer).is_param:
        elements = writes[0].relation.range()
        for touch in writes[1:]:
            elements = elements.union(touch.relation.range())
        identity = elements.identity().set_tuple_name(dim_type.in_, "out").set_tuple_name(dim_type.out, "e")
        flow.reads = join(flow.reads, identity)
        end = isl.Set("{ [" + ",".join(["1"] + ["0"] * (length - 1)) + "] }")
        when = isl.Map.from_domain_and_range(elements.set_tuple_name("out"), end)
        flow.schedule = join(flow.schedule, when)
    result = flow.run()
    if result is None:
        return isl.UnionMap("{ }")
    return result.get_full_may_dependence() if flow.maybe is not None else result.get_full_must_dependence()


# Whether a write is of all elements that a read reads, by the digits of their loops: no isl.
#
# for ax in range(200):                                    X_shared: h * 8 + [0, 10), at most 17
#     where h * 8 + ax % 100 // 10 < 18:             ->
#     X_shared[h * 8 + ax % 100 // 10] = ...
# for i, r in T.grid(8, 3): ... X_shared[h * 8 + i + r]  X_shared: h * 8 + [0, 10), and at most 17 by the iters' domains


def is_in_filled_box(write: Access, read: Access, depth: int) -> bool:
    """Whether a write fills a box that contains what a read reads, by digits and intervals; False means unknown."""
    if not (write.is_point and read.is_point) or write.parts or read.parts:
        return False
    outer = [Loop(p).var for p in parents(read.op)[::-1] if is_loop(p)][:depth]
    written, needed = filled_box(write.op, write.mins, outer), enclosing_box(read.op, read.mins, outer)
    if written is None or needed is None:
        return False
    ranges = intervals.enclosing_ranges(read.op)
    sides = zip(needed, written, read.mins, strict=True)
    return all(_is_in_side(inner, side, index, ranges) for inner, side, index in sides)


def _is_in_side(inner: BoxSide, side: BoxSide, index: Index, ranges: ValueRanges) -> bool:
    """Whether an index, which is in one side of a box, is in another one, in each iteration."""
    ends = intervals.interval(index, ranges)
    apart = intervals.interval((inner.rest - side.rest).simplify(), ranges)
    low, high = intervals.add_bounds(apart[0], inner.low), intervals.add_bounds(apart[1], inner.high)
    if side.rest.is_equal_to(0):
        low = max((b for b in (low, ends[0]) if b is not None), default=None)
        high = min((b for b in (high, ends[1]) if b is not None), default=None)
    if low is None or high is None or low < side.low or high > side.high:
        return False
    if side.least is not None and (ends[0] is None or ends[0] < side.least):
        return False
    return side.most is None or (ends[1] is not None and ends[1] <= side.most)
