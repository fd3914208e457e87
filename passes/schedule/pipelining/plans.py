"""Which stage each op of the body of a loop is in, and how many planes each buffer gets: made, or refused, at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import ScheduleError, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Iter,
    IterSpec,
    Loop,
    edit,
    freeze_modules,
    is_block,
    is_fragment,
    is_inside,
    walk,
)
from tir_mlir.passes.schedule.edits.block_iters import replace_iters
from tir_mlir.passes.schedule.pipelining.planes import Part, check_numbers, find_part, make_planes
from tir_mlir.passes.schedule.pipelining.stages import (
    PipelineChild,
    check_loop,
    count_planes,
    find_broken_order,
    find_children,
    outermost_blocks,
    run_stages,
    tops_of,
    users_of,
)
from tir_mlir.passes.schedule.registry import DECOMPOSE_REDUCTION, check, check_bounds, refuse


@dataclass(frozen=True)
class Plan:
    """The stages of a loop, and the planes of buffers that live from one stage to a later one."""

    children: tuple[PipelineChild, ...]
    planes: tuple[tuple[Part, int], ...]

    @property
    def is_idle(self) -> bool:
        """Whether it leaves the loop as it is."""
        return not any(child.stage or child.order != child.number for child in self.children)

    def apply(self, loop: Loop) -> None:
        """Rewrite the loop; its prologue becomes a nest of its own."""
        for part, count in self.planes:
            make_planes(part, count, loop)
        run_stages(loop, self.children, prologue=True)


def make_plan(loop: Loop, stages: int | Sequence[int], order: Sequence[int] | None) -> Plan:
    """The plan of a pipeline. stages, order: as of `pipeline`. Raises ScheduleError for one that is wrong, or would
    change what the loop computes."""
    with freeze_modules():
        check_loop(loop)
        check_bounds(loop, "pipeline")
        children = find_children(loop)
        if isinstance(stages, int):
            check(order is None, loop, "order is of the children of a loop, whose stages are then a list, too")
            staged = _copies_first(loop, children, stages)
        else:
            staged = _as_listed(loop, children, stages, order)
        _check_count(loop, staged)
        parts, shared = _find_parts(loop, staged)
        broken = find_broken_order(loop, staged, {part.buffer.value for part in parts})
        if broken is not None:
            buffer, example = broken
            why = shared.get(buffer.value)
            lists = f"stages {[c.stage for c in staged]} and order {[c.order for c in staged]}"
            refuse(
                loop,
                f"with {lists}, what is now first runs second: {example}"
                + (f"; {buffer.name} gets no planes: {why}" if why else ""),
                counterexample=example,
            )
        planes = tuple((part, count_planes(part.buffer, loop, staged)) for part in parts)
    for part, count in planes:
        emit_remark(
            f"in each iteration of `{loop.name}`, what is read of `{part.buffer.name}` was written before; "
            f"{count} at a time are under way, each with a plane of its own"
        )
    return Plan(tuple(staged), planes)


def _as_listed(
    loop: Loop, children: Sequence[PipelineChild], stages: Sequence[int], order: Sequence[int] | None
) -> list[PipelineChild]:
    """The children with stages and positions from lists, the least stage as 0."""
    names = "; ".join(child.names for child in children)
    for what, values in (("stages", stages), ("order", order)):
        if values is not None and len(values) != len(children):
            refuse(
                loop,
                f"{what} has {len(values)} numbers, the body of loop {loop.name} has {len(children)} children: {names}",
            )
    check(all(stage >= 0 for stage in stages), loop, f"a stage is at least 0; stages are {[*stages]}")
    places = list(range(len(children))) if order is None else [*order]
    check(
        sorted(places) == list(range(len(children))),
        loop,
        f"order is {places}; it has each position from 0 to {len(children) - 1} once, for {names}",
    )
    least = min(stages)
    return [replace(c, stage=stages[c.number] - least, order=places[c.number]) for c in children]


def _check_count(loop: Loop, children: Sequence[PipelineChild]) -> None:
    """Refuse more stages than iterations, and a reduction whose beginning would be copied."""
    last, extent = max(child.stage for child in children), loop.const_extent
    if extent is not None and last >= extent:
        refuse(
            loop,
            f"{last + 1} stages need as many iterations, loop {loop.name} has {extent}",
            fix=f"use at most {extent} stages",
        )
    for child in children:
        for number in sorted(child.blocks) if child.stage < last else ():
            block = Block(walk.op_with_id(loop.op, number))
            if block.init is not None and any(i.kind == "R" and loop.var in i.binding.values for i in block.iters):
                refuse(
                    block,
                    f"block {block.name}, whose first iterations become a nest of their own, adds up over loop "
                    f"{loop.name}, and would begin again after them",
                    fix=DECOMPOSE_REDUCTION,
                )


# --- the common case: copies ahead, what computes last ----------------------------------------------------------------


def _copies_first(loop: Loop, children: Sequence[PipelineChild], stages: int) -> list[PipelineChild]:
    """Copies in the first stage, all else in the last one; copies out of registers after it, in the same iteration."""
    check(
        stages >= 2,
        loop,
        f"stages is at least 2, not {stages}" + (": with one, loop " + loop.name + " is as it is") * (stages == 1),
    )
    copies, reason = _leading_copies(loop, children)
    if not copies:
        refuse(
            loop,
            f"the first child of loop {loop.name}, {children[0].names}, is not a copy that could run ahead: {reason}",
            fix="stages=[...] gives each child its stage",
        )
    late = [c for c in copies if _reads_registers(loop, c)]
    rest = [c for c in children if c not in copies]
    places = {c: n for n, c in enumerate([*(c for c in copies if c not in late), *rest, *late])}
    return [replace(c, stage=0 if c in copies else stages - 1, order=places[c]) for c in children]


def _leading_copies(loop: Loop, children: Sequence[PipelineChild]) -> tuple[list[PipelineChild], str]:
    """The first children that fill buffers of their iteration with what the rest of it does not write; and why the next
    one is none."""
    tops, copies, reason = tops_of(loop), list[PipelineChild](), ""
    for child, top in zip(children, tops, strict=True):
        written = dict.fromkeys(a.buffer for a in accesses(top) if a.is_write)
        later = {a.buffer for op in tops[child.number + 1 :] for a in accesses(op) if a.is_write}
        read = {a.buffer for a in accesses(top) if not a.is_write}
        for buffer in map(Buffer, written):
            reason = reason or _no_copy(buffer, loop, top)
        if changed := [Buffer(b).name for b in read if b in later or b in written]:
            reason = reason or f"{changed[0]}, which it reads, is written by it or after it"
        if reason:
            break
        copies.append(child)
    if len(copies) == len(children):
        return [], f"nothing in loop {loop.name} follows"
    return copies, reason


def _no_copy(buffer: Buffer, loop: Loop, top: ir.Operation) -> str:
    """Why a child that writes a buffer is not a copy that runs ahead: iterations share it, or it is registers that
    matrix units take; "" if each has a part of its own."""
    if is_fragment(buffer):
        return f"{buffer.name} is in fragments, whose registers one iteration fills and takes"
    try:
        check_numbers(find_part(buffer, loop, outermost_blocks(top)[0]), loop)
    except ScheduleError as error:
        return error.reason
    return ""


def _reads_registers(loop: Loop, child: PipelineChild) -> bool:
    """Whether a copy reads what another one has loaded into memory of a thread."""
    top = tops_of(loop)[child.number]
    read = [Buffer(a.buffer) for a in accesses(top) if not a.is_write]
    return any(b.scope == "local" and b.op is not None for b in read)


# --- buffers ----------------------------------------------------------------------------------------------------------


def _find_parts(loop: Loop, children: Sequence[PipelineChild]) -> tuple[list[Part], dict[ir.Value, str]]:
    """Buffers that live from one stage to another one, or in one that the prologue has, too, of which each iteration
    has a part of its own; and, for others, why it has none."""
    parts: list[Part] = []
    last = max(child.stage for child in children)
    shared: dict[ir.Value, str] = {}
    for buffer in dict.fromkeys(a.buffer for a in accesses(loop.op) if a.is_write):
        users = users_of(buffer, loop, children)
        stages = {child.stage for child in users}
        if len(stages) > 1 or (len(users) > 1 and min(stages) < last):
            try:
                parts.append(_part(Buffer(buffer), loop, users[0]))
            except ScheduleError as error:
                shared[buffer] = error.reason
    return parts, shared


def _part(buffer: Buffer, loop: Loop, child: PipelineChild) -> Part:
    part = find_part(buffer, loop, Block(walk.op_with_id(loop.op, min(child.blocks))))
    check_numbers(part, loop)
    return part


# --- a body in a block ------------------------------------------------------------------------------------------------


def unwrap_body(loop: Loop) -> None:
    """Take the one block that is the body of a loop away, if it only holds others.

    for k in range(n):                        for k in range(n):
        with T.block("step"):                     S = T.alloc_buffer(...)
            S = T.alloc_buffer(...)    -->        with T.block("copy"): ...
            with T.block("copy"): ...             with T.block("compute"): ...
            with T.block("compute"): ...
    """
    tops = tops_of(loop)
    if len(tops) != 1 or not is_block(tops[0]):
        return
    block = Block(tops[0])
    inner = [op for op in block.body_ops() if outermost_blocks(op)]
    if block.init is not None or len(inner) < 2:
        return
    for number in [b.id for op in inner for b in outermost_blocks(op)]:
        _bind_iters(Block(walk.op_with_id(block.op, number)), block.iters)
    edit.substitute({it.var: it.binding for it in block.iters}, block.op)
    for op in block.body_ops():
        edit.move_before(op, block.op)
    edit.erase(block.op)


def _bind_iters(block: Block, outer: Sequence[Iter]) -> None:
    """Give a block iters of its own for those of the block around it that its body uses."""
    used = [
        it for it in outer if any(is_inside(use.owner.operation, op) for use in it.var.uses for op in block.body_ops())
    ]
    if not used:
        return
    names, old = {i.name for i in block.iters}, [i.var for i in block.iters]
    specs = [IterSpec.like(it, Index.from_value(it.var)) for it in used]
    specs = [replace(s, name=f"{s.name}_outer" if s.name in names else s.name, kind=_kind(s.kind)) for s in specs]
    new = replace_iters(
        block, [*map(IterSpec.like, block.iters), *specs], lambda values: dict(zip(old, values, strict=False))
    )
    values = {it.var: Index.from_value(i.var) for it, i in zip(used, new.iters[len(old) :], strict=True)}
    for op in new.body_ops():
        edit.substitute(values, op)


def _kind(kind: str) -> str:
    """The kind of an iter that a sum over it inherits to a block that does not sum over it alone."""
    return "S" if kind == "S" else "O"
