"""Accesses of a kernel as the threads of a grid make them, and which write each read sees: serially, and on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import AccessRelation
from tir_mlir.dialect.analysis.dataflow import Flow, first_in, join, times
from tir_mlir.dialect.ir import Buffer, Index, Loop, is_loop, walk
from tir_mlir.dialect.presburger import dim_type, over_digits
from tir_mlir.passes.lower.gpu.nests import BLOCK, DEVICE, THREAD, owner_of
from tir_mlir.passes.lower.gpu.thread_tags import axis_values, is_axis_kind
from tir_mlir.passes.lower.registry import location_text


@dataclass
class ThreadAccess:
    """An access over [blocks and threads, serial loops]: what each thread of a grid does.

    Where loops over one axis are nested, the inner one says which thread runs. Without a loop over an axis every thread
    along it runs, or the first one if memory is written that they share.
    """

    touch: AccessRelation
    top: ir.Operation
    extents: dict[str, int | None]

    @cached_property
    def owner(self) -> str:
        return owner_of(Buffer(self.touch.access.buffer))

    @cached_property
    def is_live_out(self) -> bool:
        """Whether the buffer still has a value after the kernel."""
        owner = Buffer(self.touch.access.buffer).op
        return self.owner == DEVICE and (owner is None or not walk.is_inside(owner, self.top))

    @cached_property
    def loops(self) -> list[Loop]:
        return [Loop(p) for p in walk.parents(self.touch.access.op)[::-1] if is_loop(p)]

    @cached_property
    def axes(self) -> dict[str, Loop]:
        """The innermost loop over each axis."""
        return {lp.kind: lp for lp in self.loops if is_axis_kind(lp.kind)}

    @property
    def missing(self) -> list[int]:
        """The numbers of the axes without a loop around the access."""
        return [n for n, tag in enumerate(self.extents) if tag not in self.axes]

    @property
    def serial(self) -> list[Loop]:
        return [lp for lp in self.loops if not is_axis_kind(lp.kind)]

    @cached_property
    def thread_map(self) -> isl.Map:
        """{ iteration of all loops -> [axes, serial loops] }."""
        dom = self.touch.dom
        thread_indices = [
            Index.from_value(lp.var) - lp.lower for tag in self.extents if (lp := self.axes.get(tag)) is not None
        ]
        threads = dom.map([*thread_indices, *(Index.from_value(lp.var) for lp in self.serial)])
        for number in self.missing:
            threads = threads.insert_dims(dim_type.out, number, 1)
            threads = threads.lower_bound_val(dim_type.out, number, isl.Val(0))
            last = self._last_thread(number)
            if last is not None:
                threads = threads.upper_bound_val(dim_type.out, number, isl.Val(last))
        return threads

    def _last_thread(self, number: int) -> int | None:
        tag = list(self.extents)[number]
        alone = self.touch.access.is_write and (
            self.owner == DEVICE or (self.owner == BLOCK and tag.startswith("threadIdx."))
        )
        extent = self.extents[tag]
        return 0 if alone else None if extent is None else extent - 1

    @property
    def copies(self) -> int:
        """How many of the axes tell copies of the buffer apart."""
        return {THREAD: len(self.extents), BLOCK: self.blocks, DEVICE: 0}[self.owner]

    @cached_property
    def relation(self) -> isl.Map:
        """{ [axes, serial loops] -> [copy, element] }."""
        elements = self.plain
        if not self.copies:
            return elements
        count = elements.dim(dim_type.in_)
        copy = isl.Map.identity(elements.domain().get_space().map_from_set())
        copy = copy.project_out(dim_type.out, self.copies, count - self.copies)
        return copy.intersect_domain(elements.domain()).flat_range_product(elements)

    def time_map(self, length: int) -> isl.Map:
        """{ [axes, serial loops] -> time }, the time of the serial program without that of axes."""
        dom = self.touch.dom
        axes = {lp.var for lp in self.loops if is_axis_kind(lp.kind)}
        affs = times(self.touch, self.top)
        values = [dom.env[v] for v in axes]
        steps = [a for a in affs if not any(a.plain_is_equal(v) for v in values)]
        steps += [dom.zero] * (length - len(steps))
        return self.thread_map.reverse().apply_range(dom.relation(steps))

    @cached_property
    def rank(self) -> int:
        return self.touch.access.elements(self.touch.dom).dim(dim_type.out)

    @cached_property
    def plain(self) -> isl.Map:
        """{ [axes, serial loops] -> element }."""
        return self.thread_map.reverse().apply_range(self.touch.access.elements(self.touch.dom))

    def block_relation(self, count: int) -> isl.Map | None:
        """{ [axes of blocks, `count` serial loops] -> element }, through digits of fused loops; None without them."""
        if any(n < self.blocks for n in self.missing) or not self.touch.dom.exact:
            return None
        blocks = self._loops_of("blockIdx.")
        loops = [*blocks, *self.serial[:count]]
        access, loop_vars = self.touch.access, [lp.var for lp in loops]
        columns = [Index.from_value(lp.var) - lp.lower if lp in blocks else Index.from_value(lp.var) for lp in loops]
        dom = over_digits(access.op, None, [*access.indices, *columns], loop_vars)
        return None if dom is None else dom.map(columns).reverse().apply_range(access.elements(dom))

    def is_once(self, count: int) -> bool:
        """Whether digits of fused loops show that each element is accessed in one iteration, and by one thread, in an
        iteration of the blocks and `count` serial loops. False: unknown."""
        if self.missing or not self.touch.dom.exact:
            return False
        outer, access = [*self._loops_of("blockIdx."), *self.serial[:count]], self.touch.access
        dom = over_digits(access.op, None, access.indices, [lp.var for lp in outer])
        if dom is None or not all(lp.var in dom.determined for lp in self._loops_of("threadIdx.")):
            return False
        relation = access.elements(dom)
        pairs = relation.apply_range(relation.reverse())
        for column in range(len(outer)):
            pairs = pairs.equate(dim_type.in_, column, dim_type.out, column)
        inner = range(len(outer), relation.dim(dim_type.in_))
        return all(pairs.order_lt(dim_type.in_, n, dim_type.out, n).is_empty() for n in inner)

    def _loops_of(self, axes: str) -> list[Loop]:
        return [lp for tag in self.extents if tag.startswith(axes) and (lp := self.axes.get(tag)) is not None]

    @property
    def blocks(self) -> int:
        """How many of the axes are of blocks."""
        return sum(tag.startswith("blockIdx.") for tag in self.extents)

    @cached_property
    def outer_threads(self) -> list[Loop]:
        """The loops over axes that do not say which thread runs, as they have an inner loop over the same axis."""
        return [lp for lp in self.loops if is_axis_kind(lp.kind) and self.axes[lp.kind] != lp]

    def text(self, point: list[int], without: bool = False) -> str:
        """`thread (threadIdx.x=1) at k=0 (file.py:3)`, of a point over [axes, serial loops]. `without`: over the axes
        with a loop around the access only."""
        tags = [tag for n, tag in enumerate(self.extents) if not (without and n in self.missing)]
        values = axis_values(tags, point[: len(tags)])
        serial = [f"{lp.name}={v}" for lp, v in zip(self.serial, point[len(tags) :], strict=False)]
        parts = []
        for kind in ("block", "thread"):
            named = [f"{tag}={v}" for tag, v in values.items() if tag.startswith(kind)]
            parts += [f"{kind} ({', '.join(named)})"] if named else []
        who = " ".join(parts) or "the kernel"
        return f"{who}{' at ' + ', '.join(serial) if serial else ''} ({location_text(self.touch.access.op)})"


def serial_flow(threads: Sequence[ThreadAccess]) -> isl.UnionMap:
    """{ write -> [read by a thread -> element] } of the serial program, where each iteration of the loops around an
    allocation has its own copy."""
    flow = Flow()
    whens = [times(t.touch, t.top) for t in threads]
    length = max(len(w) for w in whens) + 1
    reads, writes = _RenamedAccesses(), _RenamedAccesses()
    for number, (thread, when) in enumerate(zip(threads, whens, strict=True)):
        dom, relation, name = thread.touch.dom, thread.touch.relation, f"a{number}"
        steps = [dom.zero, *when]
        flow.add(name, "e", thread.touch, relation, dom.relation(steps + [dom.zero] * (length - len(steps))))
        reads.add(thread.thread_map, name, name)
        writes.add(_drop_columns(thread.thread_map, thread.missing), name, name)
        reads.elements(relation.range(), thread.rank)
    _add_final(flow, threads, [t.touch.relation for t in threads], length, reads)
    return _compute_dependences(flow, reads, writes)


def find_unwritten_read(
    touches: Sequence[AccessRelation], top: ir.Operation
) -> tuple[AccessRelation, list[int]] | None:
    """A read that no write in the kernel precedes in the serial program, and the smallest iteration in which it is."""
    flow = Flow()
    whens = [times(t, top) for t in touches]
    length = max(len(w) for w in whens)
    for number, (touch, when) in enumerate(zip(touches, whens, strict=True)):
        steps = [*when, *[touch.dom.zero] * (length - len(when))]
        flow.add(f"a{number}", "e", touch, touch.relation, touch.dom.relation(steps))
    result = flow.run()
    return None if result is None else first_in(result.get_may_no_source(), touches)


def parallel_flow(threads: Sequence[ThreadAccess]) -> isl.UnionMap:
    """The same where all threads of a grid are in the same step at one time, with one copy a block or thread."""
    flow = Flow()
    length = max(len(times(t.touch, t.top)) for t in threads) + 1
    reads, writes = _RenamedAccesses(), _RenamedAccesses()
    for number, thread in enumerate(threads):
        name, relation, when = f"a{number}", thread.relation, thread.time_map(length - 1)
        when = when.insert_dims(dim_type.out, 0, 1).fix_val(dim_type.out, 0, isl.Val(0))
        flow.add(name, "e", thread.touch, relation, when)
        same = isl.Map.identity(relation.domain().get_space().map_from_set()).intersect_domain(relation.domain())
        reads.add(same, name, name)
        writes.add(_drop_columns(same, thread.missing), name, name)
        reads.elements(relation.range(), thread.rank)
    _add_final(flow, threads, [t.relation for t in threads], length, reads)
    return _compute_dependences(flow, reads, writes)


def _add_final(
    flow: Flow, threads: Sequence[ThreadAccess], relations: Sequence[isl.Map], length: int, reads: _RenamedAccesses
) -> None:
    """The contents of memory of the device after the kernel count as one more read."""
    if not threads[0].is_live_out:
        return
    written = [r.range() for t, r in zip(threads, relations, strict=True) if t.touch.access.is_write]
    elements = written[0]
    for part in written[1:]:
        elements = elements.union(part)
    same = elements.identity().set_tuple_name(dim_type.in_, "out").set_tuple_name(dim_type.out, "e")
    flow.reads = join(flow.reads, same)
    end = isl.Set("{ [" + ",".join(["1"] + ["0"] * (length - 1)) + "] }")
    flow.schedule = join(flow.schedule, isl.Map.from_domain_and_range(elements.set_tuple_name("out"), end))
    plain = _last_dims(elements, threads[0].rank)
    reads.add(plain, "out", "out")


class _RenamedAccesses:
    """Iterations and elements of one flow in the terms that both flows have in common."""

    def __init__(self) -> None:
        self.iterations: isl.UnionMap | None = None
        self.of_elements: isl.UnionMap | None = None

    def add(self, map_: isl.Map, source: str, target: str) -> None:
        map_ = map_.set_tuple_name(dim_type.in_, source).set_tuple_name(dim_type.out, target)
        self.iterations = join(self.iterations, map_)

    def elements(self, points: isl.Set, rank: int) -> None:
        plain = _last_dims(points, rank).set_tuple_name(dim_type.in_, "e").set_tuple_name(dim_type.out, "e")
        self.of_elements = join(self.of_elements, plain)


def _last_dims(points: isl.Set, rank: int) -> isl.Map:
    """{ [copy, element] -> element }."""
    return points.identity().project_out(dim_type.out, 0, points.dim(dim_type.set) - rank)


def _drop_columns(relation: isl.Map, columns: Sequence[int]) -> isl.Map:
    for column in sorted(columns, reverse=True):
        relation = relation.project_out(dim_type.out, column, 1)
    return relation


def _compute_dependences(flow: Flow, reads: _RenamedAccesses, writes: _RenamedAccesses) -> isl.UnionMap:
    result = flow.run()
    if result is None or reads.iterations is None or reads.of_elements is None or writes.iterations is None:
        return isl.UnionMap("{ }")
    full = result.get_full_may_dependence() if flow.maybe is not None else result.get_full_must_dependence()
    full = full.apply_range(reads.iterations.product(reads.of_elements))
    return full.apply_domain(writes.iterations)
