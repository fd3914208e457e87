"""Which write each read of a kernel sees: in the serial program, and on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import AccessRelation
from tir_mlir.dialect.analysis.dataflow import Flow, first_in, join, times
from tir_mlir.dialect.presburger import dim_type
from tir_mlir.passes.lower.gpu.thread_access import ThreadAccess


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
