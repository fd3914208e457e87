"""Dependences between accesses, decided by isl: which iterations touch the same element, and in which order.

Memory-based answers (`carried`, `reordered`) are exact about storage; `flow` follows values instead. An allocation
inside loops counts one copy an iteration. A dependence of a reduction on itself is no conflict when iterations are
reordered, only when they would run at the same time (DESIGN: the floating-point policy of TensorIR's reduce iters).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect import ranges
from tir_mlir.dialect.accesses import Access, access_domain, accesses
from tir_mlir.dialect.index import Index
from tir_mlir.dialect.memo import frozen
from tir_mlir.dialect.regions import relation_beneath
from tir_mlir.dialect.sets import Domain, dim_type, flatten, question, region_map, smallest_point
from tir_mlir.dialect.views import Block, Buffer, Func, Loop, func_of, is_block, is_loop
from tir_mlir.dialect.walk import access_indices, accessed, is_inside, parents

ASSOCIATIVE = (
    "arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.addi",
    "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.andi", "arith.ori", "arith.xori",
)  # fmt: skip


@dataclass(frozen=True)
class Conflict:
    """Two iterations that touch one element, at least one of them writing: the smallest such pair, in loop names."""

    first: str
    second: str
    element: str

    def __str__(self) -> str:
        return f"{self.first} and {self.second} touch {self.element}"


@dataclass
class Touch:
    """An access with its iterations and elements. Elements of a private allocation are led by its loops."""

    access: Access
    dom: Domain
    relation: isl.Map

    @property
    def label(self) -> str:
        for parent in parents(self.access.op):
            if is_block(parent):
                return Block(parent).name or "block"
        return "statement"

    def at(self, point: Sequence[int]) -> str:
        names = loop_names(self.access.op)
        return f"{self.label}({', '.join(f'{n}={v}' for n, v in zip(names, point, strict=True))})"


def loop_names(op: ir.Operation) -> list[str]:
    """Names of the loops around an op, outer to inner, of the whole function."""
    return [Loop(p).name for p in parents(op)[::-1] if is_loop(p)]


@frozen()
def touches(root: ir.Operation, buffer: ir.Value | None = None) -> list[Touch]:
    """The accesses beneath `root` (to one buffer), each distinct one once."""
    seen: dict[tuple, None] = {}
    found: list[Touch] = []
    for access in accesses(root):
        if buffer is not None and access.buffer != buffer:
            continue
        key = (access.op.block, access.buffer, access.kind, access.mins, access.extents)
        if key not in seen:
            seen[key] = None
            found.append(_touch(access))
    return found


def _touch(access: Access) -> Touch:
    dom = access_domain(access)
    relation = region_map(dom, access.mins, access.extents)
    home = Buffer(access.buffer).op
    private = [Index.of(Loop(p).var) for p in parents(home) if is_loop(p)] if home is not None else []
    if private:
        relation = dom.map(private[::-1]).flat_range_product(relation)
    return Touch(access, dom, relation)


def written_groups(root: ir.Operation) -> list[list[Touch]]:
    """Touches beneath `root`, grouped by buffer, only buffers that something there writes."""
    groups: dict[ir.Value, list[Touch]] = {}
    written = {a.buffer for a in accesses(root) if a.is_write}
    for touch in touches(root):
        if touch.access.buffer in written:
            groups.setdefault(touch.access.buffer, []).append(touch)
    return list(groups.values())


def _pairs(group: Sequence[Touch]) -> list[tuple[Touch, Touch]]:
    return [(a, b) for a in group for b in group if a.access.is_write or b.access.is_write]


def same_element(a: Touch, b: Touch) -> isl.Map:
    """{ iteration of a -> iteration of b } where both touch one element."""
    return a.relation.apply_range(b.relation.reverse())


@frozen()
def carried(loop: Loop) -> Conflict | None:
    """A conflict between two iterations of a loop (same outer iterations), or None: then they may run at the same time.

    Buffers allocated inside the loop have one copy an iteration. So has, in effect, a buffer used nowhere else that
    every iteration writes before it reads: lowering places it inside (see `is_private`).
    """
    depth = len([p for p in parents(loop.op) if is_loop(p)])
    for group in written_groups(loop.op):
        buffer = group[0].access.buffer
        home = Buffer(buffer).op
        if home is not None and is_inside(home, loop.op):
            continue
        for a, b in _pairs(group):
            with question(f"whether iterations of {loop.name} are independent"):
                clash = same_element(a, b)
                for level in range(depth):
                    clash = clash.equate(dim_type.in_, level, dim_type.out, level)
                clash = clash.order_lt(dim_type.in_, depth, dim_type.out, depth)
                empty = clash.is_empty()
            if not empty and not is_private(buffer, loop.op):
                return _witness(a, b, clash)
    return None


def _witness(a: Touch, b: Touch, clash: isl.Map) -> Conflict:
    point = smallest_point(flatten(clash)) or []
    shift = len(point) - len(a.dom.dims) - len(b.dom.dims)
    sizes = "".join(f" at {n}={v}" for n, v in zip(a.dom.params, point[:shift], strict=False))
    first, second = point[shift : shift + len(a.dom.dims)], point[shift + len(a.dom.dims) :]
    return Conflict(a.at(first) + sizes, b.at(second), _element(a, b, first, second))


def _element(a: Touch, b: Touch, first: Sequence[int], second: Sequence[int]) -> str:
    common = _image(a, first).intersect(_image(b, second))
    where = smallest_point(common) or []
    rank = Buffer(a.access.buffer).rank
    shown = ", ".join(str(v) for v in where[len(where) - rank :]) if rank else ""
    return f"{Buffer(a.access.buffer).name}[{shown}]"


def _image(touch: Touch, point: Sequence[int]) -> isl.Set:
    relation = touch.relation
    for i, value in enumerate(point):
        relation = relation.fix_val(dim_type.in_, i, isl.Val(value))
    return relation.range()


# --- order ------------------------------------------------------------------------------------------------------------


@frozen()
def reordered(loops: Sequence[Loop], order: Sequence[int]) -> Conflict | None:
    """A conflict that comes out in another order when a perfect nest `loops` is permuted to `order`, or None.

    First by memory; where that clashes, by value: the same reads from the same writes and the same last writers are the
    same program.
    """
    top = loops[0]
    depth = len([p for p in parents(top.op) if is_loop(p)])
    for group in written_groups(loops[-1].op):
        for a, b in _pairs(group):
            if is_reduction_pair(a, b):
                continue
            with question(f"whether reordering {', '.join(lp.name for lp in loops)} keeps every dependence"):
                clash = _flipped(a, b, depth, len(loops), order)
                empty = clash.is_empty()
            if not empty and not _same_flow(a.access.buffer, loops, order):
                return _witness(a, b, clash)
    return None


def _flipped(a: Touch, b: Touch, depth: int, count: int, order: Sequence[int]) -> isl.Map:
    """Pairs that clash and are (a before b) in the old order of the nest, (b before a) in the new one."""
    clash = same_element(a, b)
    for level in range(depth):
        clash = clash.equate(dim_type.in_, level, dim_type.out, level)
    before = _lex_lt(clash, [depth + i for i in range(count)])
    after = _lex_lt(clash, [depth + i for i in order], swap=True)
    return clash.intersect(before).intersect(after)


def _lex_lt(like: isl.Map, dims: Sequence[int], swap: bool = False) -> isl.Map:
    """{ x -> y : x[dims] lexicographically before y[dims] } (after, when swapped)."""
    universe = isl.Map.universe(like.get_space())
    result = isl.Map.empty(like.get_space())
    prefix = universe
    for dim in dims:
        order = prefix.order_gt if swap else prefix.order_lt
        result = result.union(order(dim_type.in_, dim, dim_type.out, dim))
        prefix = prefix.equate(dim_type.in_, dim, dim_type.out, dim)
    return result


def is_reduction_pair(a: Touch, b: Touch) -> bool:
    """Both accesses belong to one reduction update `X[f] = X[f] op value`, in a block that declares a reduce iter."""
    one, other = update_store(a.access.op), update_store(b.access.op)
    return one is not None and other is not None and one == other


def update_store(op: ir.Operation) -> ir.Operation | None:
    """The store of the reduction update that a load or store belongs to, if it does."""
    if op.name == "affine.load":
        candidates = [u.owner for u in op.results[0].uses]
        stores = [u.owner for c in candidates for r in c.operation.results for u in r.uses]
        for store in stores:
            load = _updated_load(store.operation) if store.name == "affine.store" else None
            if load is not None and load == op:
                return store.operation
        return None
    if op.name == "affine.store" and _updated_load(op) is not None:
        return op
    return None


def _updated_load(store: ir.Operation) -> ir.Operation | None:
    """The load of the stored element when the store is `X[f] = X[f] op value` of a declared reduction."""
    value = store.operands[0]
    if isinstance(value.owner, ir.Block) or value.owner.name not in ASSOCIATIVE:
        return None
    if not any(is_block(p) and any(i.kind == "R" for i in Block(p).iters) for p in parents(store)):
        return None
    memref, indices = accessed(store), access_indices(store)
    for side, other in ((0, 1), (1, 0)):
        owner = value.owner.operands[side].owner
        if isinstance(owner, ir.Block):
            continue
        load = owner.operation
        if load.name != "affine.load" or accessed(load) != memref:
            continue
        same = all(x.same(y) for x, y in zip(access_indices(load), indices, strict=True))
        if same and not _reads(value.owner.operands[other], memref):
            return load
    return None


def _reads(value: ir.Value, memref: ir.Value) -> bool:
    """Whether a value is computed from loads of a buffer."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    if "load" in owner.name and accessed(owner.operation) == memref:
        return True
    return any(_reads(v, memref) for v in owner.operands if not isinstance(v.type, ir.MemRefType))


# --- values -----------------------------------------------------------------------------------------------------------


def times(touch: Touch, root: ir.Operation) -> list[isl.Aff]:
    """When an access happens: positions in bodies and loop variables in turn, from `root` inwards."""
    out: list[isl.Aff] = []
    chain = [touch.access.op, *parents(touch.access.op)]
    upto = chain.index(root)
    for outer, inner in zip(chain[upto:0:-1], chain[upto - 1 :: -1], strict=False):
        if is_loop(outer):
            out.append(touch.dom.env[Loop(outer).var])
        place = _place(outer, inner)
        out.append(touch.dom.zero.add_constant_val(isl.Val(place)))
    return out


def _place(outer: ir.Operation, inner: ir.Operation) -> int:
    count = 0
    for region in outer.regions:
        for body in region.blocks:
            for op in body.operations:
                if op.operation == inner:
                    return count
                count += 1
    raise ValueError("not a child")


class _Flow:
    """Accesses as named statements with times, ready for isl's data flow analysis."""

    def __init__(self) -> None:
        self.reads: isl.UnionMap | None = None
        self.writes: isl.UnionMap | None = None
        self.maybe: isl.UnionMap | None = None
        self.schedule: isl.UnionMap | None = None

    def add(self, name: str, element: str, touch: Touch, relation: isl.Map, when: isl.Map) -> None:
        relation = relation.set_tuple_name(dim_type.in_, name).set_tuple_name(dim_type.out, element)
        when = when.set_tuple_name(dim_type.in_, name)
        self.schedule = _join(self.schedule, when)
        if touch.access.is_write:
            if touch.dom.exact and touch.access.exact:
                self.writes = _join(self.writes, relation)
            else:
                self.maybe = _join(self.maybe, relation)
        else:
            self.reads = _join(self.reads, relation)

    def run(self) -> isl.UnionFlow | None:
        if self.reads is None or self.schedule is None:
            return None
        info = isl.UnionAccessInfo.from_sink(self.reads)
        if self.writes is not None:
            info = info.set_must_source(self.writes)
        if self.maybe is not None:
            info = info.set_may_source(self.maybe)
        return info.set_schedule_map(self.schedule).compute_flow()


def _join(all_: isl.UnionMap | None, one: isl.Map) -> isl.UnionMap:
    return one.to_union_map() if all_ is None else all_.union(one.to_union_map())


def _padded(dom: Domain, affs: Sequence[isl.Aff], length: int) -> isl.Map:
    return dom.relation([*affs, *[dom.zero] * (length - len(affs))])


@frozen()
def unwritten_reads(
    buffer: ir.Value, root: ir.Operation, readers: ir.Operation | None = None
) -> tuple[Touch, list[int]] | None:
    """A read of `buffer` beneath `root` with no write of that element before it in the same iteration of `root`.

    `root` is a loop (one iteration of it and of the loops around it at a time) or a function. None: every read is
    preceded by a write. The point is the read's iteration, as in `Touch.at`. `readers`: only reads beneath it count.
    """
    asked = [a for a in accesses(readers or root) if a.buffer == buffer and not a.is_write]
    doubtful = {a for a in asked if is_inside(a.op, root) and not _initialised(a, root)}
    if not doubtful:
        return None
    found = [t for t in touches(root, buffer) if t.access.is_write or t.access in doubtful]
    flow = _Flow()
    whens = [times(t, root) for t in found]
    length = max((len(w) for w in whens), default=0)
    for number, (touch, when) in enumerate(zip(found, whens, strict=True)):
        outer = [p for p in [root, *parents(root)] if is_loop(p)][::-1]
        relation = touch.relation
        if outer:
            relation = touch.dom.map([Index.of(Loop(p).var) for p in outer]).flat_range_product(relation)
        flow.add(f"a{number}", "e", touch, relation, _padded(touch.dom, when, length))
    result = flow.run()
    if result is None:
        return None
    missing = result.get_must_no_source().union(result.get_may_no_source())
    for number, touch in enumerate(found):
        part = missing.domain().intersect(_named(touch.dom.set, f"a{number}"))
        if not part.is_empty():
            piece = isl.Set.from_union_set(part)
            point = smallest_point(piece.reset_tuple_id()) or []
            return touch, point[len(point) - len(touch.dom.dims) :]
    return None


def _initialised(access: Access, root: ir.Operation) -> bool:
    """Whether a read plainly follows the init of a reduction block around it, in the same iteration of `root`."""
    around = {Loop(p).var for p in [root, *parents(root)] if is_loop(p)}
    for parent in parents(access.op):
        if parent == root:
            return False
        if not is_block(parent) or (init := Block(parent).init) is None or is_inside(access.op, init):
            continue
        block = Block(parent)
        if not ranges.is_full_box(block) or any(around & set(i.binding.values) for i in block.iters if i.kind == "R"):
            return False
        filled = [
            a for a in accesses(init) if a.buffer == access.buffer and a.is_write and a.exact and access_domain(a).exact
        ]
        return bool(filled) and _fills(block, filled, access)
    return False


def _fills(block: Block, filled: Sequence[Access], read: Access) -> bool:
    """Whether the init of a block writes all that one read of it can touch, for the same spatial iters."""
    parts = []
    for group, guards in ((filled, True), ([read], False)):
        relation, outer, _ = relation_beneath(group, block.op, guards)
        for it in block.iters:
            if it.kind == "R":
                relation = relation.project_out(dim_type.in_, outer.index(it.var), 1)
                outer = [v for v in outer if v != it.var]
        parts.append((relation, outer))
    return parts[0][1] == parts[1][1] and parts[1][0].is_subset(parts[0][0])


def _named(points: isl.Set, name: str) -> isl.UnionSet:
    return points.set_tuple_name(name).to_union_set()


def is_private(buffer: ir.Value, loop: ir.Operation) -> bool:
    """Whether one copy of an allocation an iteration of `loop` would do: used only inside, written before read."""
    home = Buffer(buffer).op
    if home is None or not Buffer(buffer).is_alloc:
        return False
    func = func_of(loop)
    if any(a.buffer == buffer and not is_inside(a.op, loop) for a in accesses(func.op)):
        return False
    with question(f"whether {Buffer(buffer).name} is written before it is read"):
        return unwritten_reads(buffer, loop) is None


def _same_flow(buffer: ir.Value, loops: Sequence[Loop], order: Sequence[int]) -> bool:
    """Whether a permuted nest gives every read of `buffer` the same writer and every element the same last writer."""
    func = func_of(loops[0].op)
    found = touches(func.op, buffer)
    plain = [times(t, func.op) for t in found]
    swapped = [_permute(t, w, loops, order) for t, w in zip(found, plain, strict=True)]
    with question(f"whether the values of {Buffer(buffer).name} flow the same way"):
        old, new = _dependences(func, found, plain), _dependences(func, found, swapped)
        return old.is_equal(new)


def _permute(touch: Touch, when: list[isl.Aff], loops: Sequence[Loop], order: Sequence[int]) -> list[isl.Aff]:
    variables = [touch.dom.env.get(lp.var) for lp in loops]
    if any(v is None for v in variables):
        return when
    places = [next(i for i, w in enumerate(when) if w.plain_is_equal(v)) for v in variables]  # type: ignore[union-attr]
    result = list(when)
    for slot, source in zip(places, order, strict=True):
        result[slot] = variables[source]  # type: ignore[assignment]
    return result


def _dependences(func: Func, found: Sequence[Touch], whens: Sequence[list[isl.Aff]]) -> isl.UnionMap:
    """Which write each read sees; what a parameter holds at the end counts as one more read."""
    flow = _Flow()
    length = max(len(w) for w in whens) + 1
    for number, (touch, when) in enumerate(zip(found, whens, strict=True)):
        first = touch.dom.zero
        flow.add(f"a{number}", "e", touch, touch.relation, _padded(touch.dom, [first, *when], length))
    writes = [t for t in found if t.access.is_write]
    if writes and Buffer(writes[0].access.buffer).is_param:
        elements = writes[0].relation.range()
        for touch in writes[1:]:
            elements = elements.union(touch.relation.range())
        identity = elements.identity().set_tuple_name(dim_type.in_, "out").set_tuple_name(dim_type.out, "e")
        flow.reads = _join(flow.reads, identity)
        end = isl.Set("{ [" + ",".join(["1"] + ["0"] * (length - 1)) + "] }")
        when = isl.Map.from_domain_and_range(elements.set_tuple_name("out"), end)
        flow.schedule = _join(flow.schedule, when)
    result = flow.run()
    if result is None:
        return isl.UnionMap("{ }")
    return result.get_full_may_dependence() if flow.maybe is not None else result.get_full_must_dependence()
