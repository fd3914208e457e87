"""Order of accesses: every element that is read is written before, in the same iteration; program order of ops."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import (
    Access,
    AccessRelation,
    access_boxes,
    access_domain,
    lex_lt,
    relation_of,
    same_element,
    witness,
)
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.analysis.certainty import doubt, require_certain
from tir_mlir.dialect.analysis.dataflow import times, unwritten_example, unwritten_reads
from tir_mlir.dialect.analysis.symbolic_digits import finds_all
from tir_mlir.dialect.diagnostics import Counterexample, Element, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Loop,
    child_towards,
    common_parent,
    enclosing_block,
    is_inside,
    is_loop,
    only_reads,
    owner_op,
    parents,
    position,
)
from tir_mlir.dialect.presburger import Domain, dim_type, flatten, question, region_map, sizes_without, smallest_point
from tir_mlir.passes.schedule.registry import PASS_INNER_LOOP, check, refuse


def loops_around(op: ir.Operation) -> int:
    """How many loops of the function contain `op`, itself included."""
    return len([p for p in [op, *parents(op)] if is_loop(p)])


def common_ancestor(first: ir.Operation, second: ir.Operation) -> tuple[ir.Operation, ir.Operation, ir.Operation]:
    """The innermost op that contains both, and its children on the way to the first and the second."""
    level = common_parent([first, second])
    return level, child_towards(level, first), child_towards(level, second)


def runs_before(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether, in one iteration of their common ancestor, all of `first` runs before any of `second`."""
    _, first_child, second_child = common_ancestor(first, second)
    return first_child.block == second_child.block and position(first_child) < position(second_child)


def check_runs_after(block: Block, earlier: Block, fix: str = "") -> None:
    """Refuse unless a block runs after another one, in each iteration of their common loops."""
    text = f'block "{block.name}" does not run after block "{earlier.name}" in each iteration of their common loops'
    check(runs_before(earlier.op, block.op), block, text, fix)


def ops_between(first: ir.Operation, second: ir.Operation) -> list[ir.Operation]:
    """The ops of the common body from the one that contains `first` to the one that contains `second`, inclusive."""
    _, first_child, last_child = common_ancestor(first, second)
    listed = first_child.block.operations
    return [listed[n].operation for n in range(position(first_child), position(last_child) + 1)]


def first_write(span_ops: Sequence[ir.Operation], buffers: set[ir.Value]) -> Access | None:
    """The first write to one of `buffers` in `span_ops`."""
    for op in span_ops:
        for access in accesses(op):
            if access.is_write and access.buffer in buffers:
                return access
    return None


def compared_elements(store: Access, load: Access, level: ir.Operation, culprit: Block) -> tuple[isl.Map, isl.Map]:
    """The elements that two accesses store and load, both in one iteration of `level`. Refuses what is not exact."""
    stored, stored_in = accessed_elements(store, level)
    loaded, loaded_in = accessed_elements(load, level)
    if not (stored_in.exact and loaded_in.exact):
        refuse(culprit, "a condition around the blocks is too complex to decide", provable=False)
    return stored, loaded


def accessed_elements(access: Access, level: ir.Operation) -> tuple[isl.Map, Domain]:
    """{ loops at and above `level` -> elements } of an access, with all inner loops projected out."""
    dom = access_domain(access)
    return elements_over(dom, access, level), dom


def elements_over(dom: Domain, access: Access, level: ir.Operation) -> isl.Map:
    """The elements of an access over `dom` (all loops around it), as a map from the loops at and above `level`."""
    relation = region_map(dom, access.mins, access.extents)
    dim_count = dom.free + loops_around(level)
    relation = relation.project_out(dim_type.in_, dim_count, len(dom.dims) - dim_count)
    return relation.project_out(dim_type.in_, 0, dom.free)


def _is_box_covered(reads: Sequence[Access], writes: Sequence[Access], level: ir.Operation) -> bool:
    """Fast path: whether the bounding box of the reads lies in that of the writes, and the writes fill theirs."""
    read_box, filled = access_boxes.access_box(reads, level), access_boxes.access_box(writes, level)
    if read_box is None or filled is None or not filled.dense:
        return False
    parts = zip(read_box.mins, read_box.extents, filled.mins, filled.extents, strict=True)
    return all(low.is_equal_to(start) and extent.is_equal_to(size) for low, extent, start, size in parts)


@only_reads
def find_uncovered_element(reads: Sequence[Access], writes: Sequence[Access], level: ir.Operation) -> Uncovered | None:
    """An element that is read beneath `level` but not written before in the same iteration, or None.

    Writes under a condition that isl cannot express, or at a non-affine index, are ignored. Errors: NotProvable, if the
    element is uncertain: such a write may write it, or the read is such an access.
    """
    if reads and writes and _is_box_covered(reads, writes, level):
        _note_covered(reads, level)
        return None
    what = f"whether every element read of {Buffer(reads[0].buffer).name} is written before"
    doubtful: list[Access] = []
    with question(what):
        written: isl.Map | None = None
        for access in writes:
            part, dom = accessed_elements(access, level)
            if access.exact and (dom.exact or finds_all(access.op, level)):
                written = part if written is None else written.union(part)
        for access in reads:
            missing, _ = accessed_elements(access, level)
            if written is not None:
                missing = missing.subtract(written)
            if missing.is_empty():
                continue
            if not any(doubt(a) for a in (access, *writes)):
                return smallest_element(access.buffer, missing)
            doubtful.append(access)
    require_certain((*doubtful, *(writes if doubtful else ())), what)
    _note_covered(reads, level)
    return None


def _note_covered(reads: Sequence[Access], level: ir.Operation) -> None:
    if reads:
        where = f", in the same iteration of `{Loop(level).name}`" if is_loop(level) else ""
        emit_remark(f"every element read of `{Buffer(reads[0].buffer).name}` is written before{where}")


class Uncovered(Counterexample):
    """An element that is read before it is written."""

    def __str__(self) -> str:
        return f"{self.element} (unless {self.unless})" if self.unless else str(self.element)


def smallest_element(buffer: ir.Value, missing: isl.Map) -> Uncovered:
    """The lexicographically smallest element of a relation, and the sizes at which there is none."""
    rank = Buffer(buffer).rank
    point = smallest_point(flatten(missing)) or []
    element = Element.from_indices(Buffer(buffer).name, point[len(point) - rank :])
    return Uncovered(element=element, unless=sizes_without(missing, owner_op(buffer)))


def check_read_after(block: Block, loop: Loop, buffer: Buffer, what: str) -> None:
    """Refuse to write what `block` writes of a buffer before `loop` already, if something else in it would see that.

    Each read by another op must follow a write of its element in the same iteration of `loop`. `what` is written.
    """
    others = [a for a in accesses(loop.op) if a.buffer == buffer.value and not is_inside(a.op, block.op)]
    if (write := next((a for a in others if a.is_write), None)) is not None:
        refuse(write.op, f"{buffer.name} is also written by another block in loop {loop.name}", fix=PASS_INNER_LOOP)
    if not others:
        return
    for reader in dict.fromkeys(_op_or_block(a.op, loop) for a in others):
        with question(f"whether {buffer.name} is read only after block {block.name} writes it"):
            unwritten = unwritten_reads(buffer.value, loop.op, reader)
        if unwritten is None:
            continue
        touch, point = unwritten
        example = unwritten_example(unwritten, loop.op)
        refuse(
            touch.access.op,
            f"at {touch.iteration_at(point)} an element of {buffer.name} is read that no iteration of loop "
            f'{loop.name} has written yet, but {what} of block "{block.name}" would be written before it',
            counterexample=example,
            fix=PASS_INNER_LOOP,
        )
    emit_remark(f"under `{loop.name}`, `{buffer.name}` is read only after block `{block.name}` has written the element")


def _op_or_block(op: ir.Operation, loop: Loop) -> ir.Operation:
    """The block around an op, if it is under `loop`."""
    block = enclosing_block(op).op
    return block if is_inside(block, loop.op) else op


def written_after_read(
    reads: Sequence[Access], between: Sequence[ir.Operation], level: ir.Operation
) -> tuple[Access, Counterexample] | None:
    """A write under the ops `between` of an element that one of `reads` has read before; see `in_order`."""
    writes = [a for op in between for a in accesses(op) if a.is_write]
    conflict = in_order(reads, writes, level)
    return None if conflict is None else (conflict[1], conflict[2])


def in_order(
    first: Sequence[Access], second: Sequence[Access], level: ir.Operation
) -> tuple[Access, Access, Counterexample] | None:
    """An access of `first` and a later one of `second` to one element, in the same iteration of the loops at and above
    `level`, an op around all of them; with the two iterations. Raises NotProvable if undecided.
    """
    for earlier in first:
        for later in (a for a in second if a.buffer == earlier.buffer):
            with question(f"in which order elements of {Buffer(earlier.buffer).name} are accessed"):
                a, b = relation_of(earlier), relation_of(later)
                clash = _later_iterations(a, b, level)
                if not clash.is_empty():
                    return earlier, later, witness(a, b, clash)
    return None


def _later_iterations(a: AccessRelation, b: AccessRelation, level: ir.Operation) -> isl.Map:
    """{ iteration of a -> later iteration of b with the same element }, in one iteration of `level`."""
    pairs = same_element(a, b)
    for depth in range(loops_around(level)):
        pairs = pairs.equate(dim_type.in_, depth, dim_type.out, depth)
    whens = [times(t, level) for t in (a, b)]
    length = max(map(len, whens))
    clocks = [
        t.dom.relation([*when, *[t.dom.zero] * (length - len(when))]) for t, when in zip((a, b), whens, strict=True)
    ]
    later = lex_lt(isl.Map.from_domain_and_range(clocks[0].range(), clocks[1].range()), list(range(length)))
    return pairs.intersect(clocks[0].apply_range(later).apply_range(clocks[1].reverse()))
