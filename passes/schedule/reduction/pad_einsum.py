"""pad_einsum: pad the iters of an einsum to multiples of a tile size."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis import Access
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    Iter,
    IterSpec,
    Loop,
    access_indices,
    attrs,
    create,
    defining_op,
    dtypes,
    freeze_modules,
    is_block,
    is_loop,
    is_where,
    loops_above,
    parents,
    walk,
)
from tir_mlir.dialect.ir.op_traits import OF_ZEROS, PRODUCTS, accessed_memref
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AffineLoadOp,
    ApplyOp,
    ConstantOp,
    IfOp,
    MulIOp,
    SelectOp,
    SIToFPOp,
    YieldOp,
    isa,
)
from tir_mlir.dialect.presburger import dim_factors, question, sets
from tir_mlir.passes.schedule.caching.copy_block import redirect
from tir_mlir.passes.schedule.caching.copy_placement import check_not_written_by_others, check_write_back
from tir_mlir.passes.schedule.edits import alloc_like, guard_blocks, keeps_region_order, set_domain, set_extent
from tir_mlir.passes.schedule.legality import PrivateNest, check_complete_or_reduction, is_child, scope_of, trapping_op
from tir_mlir.passes.schedule.reduction.padded_buffers import has_padding
from tir_mlir.passes.schedule.reduction.reduction_form import updates_of
from tir_mlir.passes.schedule.registry import (
    DECOMPOSE_REDUCTION,
    WRAP_IN_BLOCK,
    check,
    leave_unpadded,
    primitive,
    refuse,
    warn,
)


@primitive("pad_einsum")
@keeps_region_order
def pad_einsum(block: Block, padding: list[int]) -> None:
    """Round the extent of each iter up to a multiple, using buffers padded with zeros.

        for i, k in T.grid(13, 15):                  for i0, i1 in T.grid(16, 16):
            with T.block("C"):                           with T.block("A_pad"):
                vi, vk = remap("SR", [i, k])                 A_pad[v0, v1] = T.if_then_else(v0 < 13 and v1 < 15,
                with T.init(): C[vi] = 0                                                    A[v0, v1], 0)
                C[vi] += A[vi, vk]           ->      for i, k in T.grid(16, 16):
                                                         with T.block("C"): (C_pad and A_pad for C and A)
                                                     for i0 in range(13):
                                                         with T.block("C_pad"): C[v0] = C_pad[v0]

    `padding` has a positive number for each iter. A buffer is copied if an iter in its index is padded, except for one
    that has the padded size, is filled before, and is not a term of a padded sum; the copies are placed directly around
    the nest. The loop of an iter grows, or of several loops without a guard the outermost. An
    iter whose loops neither grow to the new extent nor cover it already is left unpadded, with a `ScheduleWarning`.
    Every element of the results gets the same value as before: padded terms of a sum are 0, and padded results are not
    copied back. In a loop shared with other blocks, the copies are made there, of the part that one iteration accesses;
    if that loop grows, the other blocks are guarded and run in its old iterations alone.

    Requires: every index of every access is an iter or a constant, or a read without padded iters; one index for each
    buffer; the loops that grow contain only blocks and their loops; the block computes a value without integer
    division, and has no T.assume; a padded spatial iter indexes the output, and only sums run over a padded reduce
    iter, of terms that are 0 where their inputs are. No other block writes a sum between its terms.
    """
    with freeze_modules():
        plan = _plan(block, padding)
        if not plan.extents:
            return
        _check_nest(plan)
        check_no_traps(block)
        for it in block.iters:
            if it.kind == "R" and it.var in plan.extents:
                check_zeros_neutral(block, it, {p.value for p in plan.inputs})
    _rewrite(plan)


@dataclass(frozen=True)
class _PadEinsumPlan:
    """The padded iters with their new extents, and the buffers with such an iter in their index."""

    nest: PrivateNest
    extents: dict[ir.Value, Index]
    indices: dict[Buffer, tuple[Index, ...]]
    inputs: list[Buffer]
    outputs: list[Buffer]

    def shape(self, buffer: Buffer) -> list[Index]:
        """The shape of a padded copy."""
        pairs = zip(self.indices[buffer], buffer.dims, strict=True)
        return [self.extents.get(i.is_value(), d) for i, d in pairs]  # type: ignore[arg-type]

    @property
    def block(self) -> Block:
        return self.nest.block

    @property
    def loops(self) -> dict[Loop, Index]:
        """The loops that grow, with their new extents."""
        extents: dict[Loop, Index] = {}
        for it in self.block.iters:
            top = growing_loop(self.block, it) if it.var in self.extents else None
            extent = top.extent_for(self.extents[it.var]) if top else None
            if top is not None and extent is not None:
                extents[top.loop] = extent
        return extents

    def grows_shared(self, it: Iter) -> bool:
        """Whether a padded iter grows with a loop that other blocks share."""
        top = growing_loop(self.block, it)
        return top is not None and top.loop in self.nest.shared and top.loop in self.loops


# --- checks -----------------------------------------------------------------------------------------------------------


def _plan(block: Block, padding: Sequence[int]) -> _PadEinsumPlan:
    check(
        len(padding) == len(block.iters),
        block,
        f'padding has {len(padding)} numbers, block "{block.name}" has {len(block.iters)} iters; give one for each',
    )
    for number in padding:
        check(number > 0, block, f"the padding {number} is not positive; 1 leaves an iter unchanged")
    check(
        is_child(block, scope_of(block)), block, f'block "{block.name}" is in an init region', fix=DECOMPOSE_REDUCTION
    )
    extents: dict[ir.Value, Index] = {}
    sizes = sets.sizes(block.op)
    for it, factor in zip(block.iters, padding, strict=True):
        new = (it.extent.ceildiv(factor) * factor).simplify()
        if new.is_equal_to(it.extent) or sets.holds(sizes, it.extent - new):
            continue
        check(
            it.min.as_constant() == 0,
            block,
            f"iter {it.name} does not start at 0; only the end can be padded",
            fix=leave_unpadded(it.name),
        )
        if _is_run(block, it, new):
            extents[it.var] = new
    nest = PrivateNest.from_block(block)
    if not extents:
        return _PadEinsumPlan(nest, {}, {}, [], [])
    check_complete_or_reduction(block, dominant=False)
    block_accesses = accesses(block.op)
    indices = _indices(block, block_accesses, extents)
    padded = [b for b, index in indices.items() if any(i.is_value() in extents for i in index)]
    written = {a.buffer for a in block_accesses if a.is_write}
    _check_distinct_outputs(block, extents, [index for b, index in indices.items() if b.value in written])
    sums = any(it.kind == "R" and it.var in extents for it in block.iters)
    inputs = [b for b in padded if b.value not in written and (sums or not has_padding(block, b, indices[b], extents))]
    return _PadEinsumPlan(nest, extents, indices, inputs, [b for b in padded if b.value in written])


def _check_distinct_outputs(block: Block, extents: dict[ir.Value, Index], written: Sequence[tuple[Index, ...]]) -> None:
    """Refuse a padded spatial iter that does not index the output: its iterations would write the same element."""
    for it in block.iters:
        apart = all(it.var in {v for i in index if (v := i.is_value()) is not None} for index in written)
        if it.kind == "S" and it.var in extents and not apart:
            refuse(
                block,
                f'spatial iter {it.name} of block "{block.name}" does not index the output; padded, '
                "several iterations would write one element: leave it unpadded (padding 1)",
            )
        if it.kind == "S" and it.var in extents:
            emit_remark(
                f"beyond the old end of `{it.name}`, block `{block.name}` writes elements that are not copied back"
            )


def _indices(
    block: Block, block_accesses: Sequence[Access], padded: Collection[ir.Value]
) -> dict[Buffer, tuple[Index, ...]]:
    """The index at which a block accesses each buffer, in order of appearance, reads first. Buffers that it reads at an
    index without padded iters may have any."""
    iter_vars = {it.var for it in block.iters}
    indices: dict[Buffer, tuple[Index, ...]] = {}
    for access in [*(a for a in block_accesses if not a.is_write), *(a for a in block_accesses if a.is_write)]:
        buffer = Buffer(access.buffer)
        plain = isa(access.op, AffineElementAccessOp) and accessed_memref(access.op) == access.buffer
        for index in access.mins:
            alone = not access.is_write and not set(index.values).intersection(padded)
            plain = plain and (alone or index.as_constant() is not None or index.is_value() in iter_vars)
        if not plain:
            refuse(
                access.op,
                f'block "{block.name}" accesses {buffer.name} at an index other than iters and constants; '
                "it is not an einsum",
                fix=f"reindex makes it access {buffer.name} at its iters alone",
            )
        first = indices.setdefault(buffer, access.mins)
        check(
            all(map(Index.is_equal_to, first, access.mins)),
            access.op,
            f'block "{block.name}" accesses {buffer.name} at two different indices; it is not an einsum',
            fix=f"in the program, let one of the two read a copy of {buffer.name}",
        )
    return indices


def _check_nest(plan: _PadEinsumPlan) -> None:
    """Refuse unless each growing loop drives one iter and contains nothing else."""
    block = plan.block
    for loop in plan.loops:
        check(
            _only_loops(block, loop),
            loop,
            f'block "{block.name}" is under an if in loop {loop.name}, to which the padding would add iterations',
            fix="in the program, put the condition into the body of the block, or guard it by T.where",
        )
        if loop in plan.nest.shared:
            _check_others(plan, loop)
        users = [it for it in block.iters if loop.var in it.binding.values]
        names = ", ".join(it.name for it in users)
        check(
            len(users) == 1,
            loop,
            f"loop {loop.name} drives several iters ({names}); each needs a loop of its own",
            fix=leave_unpadded(names),
        )
        it = users[0]
        from_zero = len(loop.uppers) == len(loop.lowers) == 1 and loop.lower.as_constant() == 0
        check(
            from_zero and (loop.upper.is_equal_to(it.extent) or it.binding.is_value() is None),
            loop,
            f"the range of loop {loop.name} is not the domain of iter {it.name}, so it cannot grow with it",
            fix=f"in the program, let the domain of {it.name} end where the loop does",
        )
    _check_spans(plan)
    for buffer in plan.outputs:
        check_not_written_by_others(plan.nest, buffer)


def _only_loops(block: Block, loop: Loop) -> bool:
    """Whether there are only loops between a loop and a block with its guard."""
    above = parents(block.outermost)
    return all(is_loop(p) for p in above[: above.index(loop.op)])


def _check_others(plan: _PadEinsumPlan, loop: Loop) -> None:
    """Refuse to grow a loop with anything besides blocks, which are guarded, and their loops."""
    for op in walk.ops(loop.op, skip=is_block):
        structural = is_loop(op) or is_block(op) or is_where(op) or isa(op, YieldOp, ApplyOp)
        check(
            structural,
            op,
            f'the padding adds iterations to loop {loop.name}, which block "{plan.block.name}" shares with a statement '
            "outside any block; a guard cannot protect it",
            fix=WRAP_IN_BLOCK,
        )
    emit_remark(f"all other blocks in `{loop.name}` are guarded, and run in its old iterations alone")


def _check_spans(plan: _PadEinsumPlan) -> None:
    """Refuse loops shared with other blocks in one iteration of which an iter takes no interval, or only a part of its
    padded domain though no such loop grows.
    """
    index_values = {
        v for b in [*plan.inputs, *plan.outputs] for i in plan.indices[b] if (v := i.is_value()) is not None
    }
    for it in (i for i in plan.block.iters if i.var in index_values):
        span = plan.nest.span(it)
        whole = it.var not in plan.extents or span == (it.min, it.extent) or plan.grows_shared(it)
        good = span is not None and whole
        if not good:
            outer = plan.nest.shared[-1]
            text = (
                f'loop {outer.name} contains more than block "{plan.block.name}", and one iteration of it runs a part'
            )
            refuse(outer, f"{text} of iter {it.name} that cannot be copied alone", fix=leave_unpadded(it.name))


def _is_run(block: Block, it: Iter, extent: Index) -> bool:
    """Whether the loops of an iter cover its padded domain for all sizes, as they are or grown; warns if not."""
    top = growing_loop(block, it)
    if top is not None and top.extent_for(extent) is not None:
        return True
    last = it.binding - extent + 1
    dom = sets.domain(block.op, extra=[last], guards=False)
    with question(f"whether the loops of {it.name} cover its new extent"):
        reached = dom.set.params().is_subset(dom.set.intersect(sets.constraint_set(dom, Constraint(last))).params())
    if not reached:
        warn(
            f'iter {it.name} of block "{block.name}" is left unpadded: its loops cannot grow to the new extent, so '
            "nothing would run the padding; pad before its loop is split or fused"
        )
    return reached


# --- rewrite ----------------------------------------------------------------------------------------------------------


def _rewrite(plan: _PadEinsumPlan) -> None:
    block, scope, top = plan.block, scope_of(plan.block), plan.nest.top
    next_nest = list(top.block.operations)[walk.position(top) + 1].operation
    longer, runs_all = plan.loops, {block.id}
    pads = {b: alloc_like(b, scope, f"{b.name}_pad", plan.shape(b), b.scope) for b in [*plan.inputs, *plan.outputs]}
    for key in (attrs.READS, attrs.WRITES):
        attrs.put(block.op, key, None)
    for buffer in plan.inputs:
        with block.op.location:
            runs_all.add(_fill(plan, buffer, pads[buffer], top).id)
    for buffer, pad in pads.items():
        redirect(block.op, buffer, pad)
    backs = []
    for buffer in plan.outputs:
        with block.op.location:
            backs.append((pads[buffer], _copy_back(plan, buffer, pads[buffer], next_nest)))
    set_domain(block, [it.min for it in block.iters], [plan.extents.get(it.var, it.extent) for it in block.iters])
    number = block.id
    shared = {loop.id for loop in plan.nest.shared}
    for loop_id, old_end, extent in [(lp.id, lp.upper, extent) for lp, extent in longer.items()]:
        set_extent(Loop(walk.op_with_id(scope.op, loop_id)), extent)
        if loop_id in shared:
            loop = Loop(walk.op_with_id(scope.op, loop_id))
            guard_blocks(loop, old_end - Index.from_value(loop.var) - 1, runs_all)
    for pad, copy in backs:  # no elements that the block does not compute
        check_write_back(scope, pad, Block(walk.op_with_id(scope.op, number)), copy)


@dataclass(frozen=True)
class _CopySpan:
    """A dimension of a copy: its domain [min, min + extent), and the part [low, low + size) that is copied at once."""

    min: Index
    extent: Index
    low: Index
    size: Index

    @staticmethod
    def unpadded_span(low: Index, extent: Index) -> _CopySpan:
        return _CopySpan(low, extent, low, extent)


def _spans(plan: _PadEinsumPlan, buffer: Buffer, full_spans: Sequence[_CopySpan]) -> list[_CopySpan]:
    """The dimensions of a copy: `full_spans`, or what one iteration of the loops shared with other blocks accesses."""
    if not plan.nest.shared:
        return list(full_spans)
    iters = {it.var: it for it in plan.block.iters}
    spans = []
    for span, index in zip(full_spans, plan.indices[buffer], strict=True):
        it = iters.get(index.is_value())  # type: ignore[arg-type]
        if it is None:
            spans.append(_CopySpan.unpadded_span(index, Index.constant(1)))
        elif it.var in plan.extents and not plan.grows_shared(it):
            spans.append(span)
        elif it.var in plan.extents:
            spans.append(_CopySpan(span.min, span.extent, *(plan.nest.span(it) or (span.low, span.size))))
        else:
            spans.append(_CopySpan(it.min, it.extent, *(plan.nest.span(it) or (it.min, it.extent))))
    return spans


def _nest(spans: Sequence[_CopySpan], name: str, anchor: ir.Operation) -> Block:
    """Create loops i0, i1, ... over a box around a block with iters v0, v1, ..."""
    ip = ir.InsertionPoint(anchor)
    specs = []
    for number, span in enumerate(spans):
        with ip:
            loop = create.loop(f"i{number}", 0, span.size)
        ip = create.at_end(loop.body)
        binding = (span.low + Index.from_value(loop.var)).simplify()
        specs.append(IterSpec(f"v{number}", "S", span.min, span.extent, binding))
    with ip:
        return create.block(name, specs)


def _fill(plan: _PadEinsumPlan, buffer: Buffer, pad: Buffer, anchor: ir.Operation) -> Block:
    """Create `pad[v] = buffer[v]` inside the old extents, 0 outside."""
    shape = plan.shape(buffer)
    full_spans = [_CopySpan.unpadded_span(Index.constant(0), extent) for extent in shape]
    pad_block = _nest(_spans(plan, buffer, full_spans), f"{buffer.name}_pad", anchor)
    indices = [Index.from_value(it.var) for it in pad_block.iters]
    ends = [(v, end) for v, ends_of_dim in zip(indices, _old_ends(plan, buffer), strict=True) for end in ends_of_dim]
    with create.at_end(pad_block.body):
        conditions = [Constraint(extent - v - 1) for v, extent in ends]
        choice = create.guard(conditions, results=[buffer.type.element_type], has_else=True)
        for region, make in zip(
            choice.regions, (lambda: create.load(buffer.value, indices), lambda: zero_of(buffer)), strict=True
        ):
            with ir.InsertionPoint(region.blocks[0]):
                ir.Operation.create("affine.yield", operands=[make()])
        create.store(choice.results[0], pad.value, indices)
    return pad_block


def _old_ends(plan: _PadEinsumPlan, buffer: Buffer) -> list[list[Index]]:
    """Where each dimension of a buffer that is padded ends: with the iter, and with the buffer where a condition in the
    block keeps the iter inside.
    """
    old, sizes = {it.var: it.extent for it in plan.block.iters if it.var in plan.extents}, sets.sizes(plan.block.op)
    ends: list[list[Index]] = []
    for index, dim in zip(plan.indices[buffer], buffer.dims, strict=True):
        end = old.get(index.is_value())  # type: ignore[arg-type]
        if end is None:
            ends.append([])
        elif sets.holds(sizes, dim - end):
            ends.append([end])
        else:
            ends.append([dim] if sets.holds(sizes, end - dim) else [end, dim])
    return ends


def _copy_back(plan: _PadEinsumPlan, buffer: Buffer, pad: Buffer, anchor: ir.Operation) -> Block:
    """Create `buffer[v] = pad[v]` where the block wrote before."""
    extents = {it.var: it.extent for it in plan.block.iters}
    starts = {it.var: it.min for it in plan.block.iters}
    unit, indices = Index.constant(1), plan.indices[buffer]
    sizes = [extents.get(i.is_value(), unit) for i in indices]  # type: ignore[arg-type]
    mins = [starts.get(i.is_value(), i) for i in indices]  # type: ignore[arg-type]
    full_spans = [_CopySpan.unpadded_span(low, size) for low, size in zip(mins, sizes, strict=True)]
    copy = _nest(_spans(plan, buffer, full_spans), f"{buffer.name}_pad", anchor)
    iters = [Index.from_value(it.var) for it in copy.iters]
    with create.at_end(copy.body):
        create.store(create.load(pad.value, iters), buffer.value, iters)
    return copy


# --- the loop that grows ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GrowingLoop:
    """The outermost loop of a binding, and how many values of the iter the loops inside it run: 1 if it is alone."""

    loop: Loop
    stride: int

    def extent_for(self, extent: Index) -> Index | None:
        """The extent at which the loops run [0, extent), if it is a whole number of iterations."""
        if self.stride == 1:
            return extent
        size = extent.as_constant()
        return None if size is None or size % self.stride else Index.constant(size // self.stride)


def growing_loop(block: Block, it: Iter) -> GrowingLoop | None:
    """The loop whose extent decides how much of an iter is run: in i_0 * 8 + i_1 with 8 iterations of i_1, loop i_0.

    Loops of one iteration do not count. None for other bindings, and where a guard excludes iterations.
    """
    by_var = {lp.var: lp for lp in loops_above(block.op)}
    units: dict[ir.Value, Index] = {v: lp.lower for v, lp in by_var.items() if lp.const_extent == 1}
    value = it.binding.is_value()
    if value is not None and value in by_var:
        return GrowingLoop(by_var[value], 1)
    binding = it.binding.substitute(units).simplify()
    terms = dim_factors(binding.expr)
    if terms is None or not terms[0] or terms[1] != 0 or not all(v in by_var for v in binding.values):
        return None
    digits = sorted(((f, by_var[binding.values[n]]) for n, f in terms[0].items()), key=lambda d: d[0])
    if len(digits) == 1:
        factor, loop = digits[0]
        return GrowingLoop(loop, 1) if factor == 1 and loop.upper.is_equal_to(it.extent) else None
    return _outermost(it, digits)


def _outermost(it: Iter, digits: list[tuple[int, Loop]]) -> GrowingLoop | None:
    """The loop of the greatest factor, if the loops count through the domain of the iter and no further."""
    width = 1
    for factor, loop in digits:
        if factor != width or loop.const_extent is None or loop.lower.as_constant() != 0:
            return None
        width *= loop.const_extent
    return GrowingLoop(digits[-1][1], digits[-1][0]) if it.extent.as_constant() == width else None


# --- zero padding -----------------------------------------------------------------------------------------------------


def zero_of(buffer: Buffer) -> ir.Value:
    """Emit the zero of a buffer's element type."""
    type_ = buffer.type.element_type
    is_float = dtypes.is_float(buffer.dtype)
    return arith.constant(type_, ir.FloatAttr.get(type_, 0.0) if is_float else ir.IntegerAttr.get(type_, 0))


def check_no_traps(block: Block) -> None:
    """Refuse a computation that may trap on zeros."""
    op = trapping_op(block)
    if op is not None:
        refuse(
            op,
            f'block "{block.name}" computes {op.name}, which may trap on the zeros of the padding',
            fix="split by a factor that does not divide adds a guard instead of zeros",
        )
    emit_remark(f"block `{block.name}` computes nothing that may trap on zeros")


def check_zeros_neutral(block: Block, it: Iter, padded: Set[ir.Value]) -> None:
    """Refuse unless the values combined beyond the old end of a reduce iter have no effect."""
    for name, value in updates_of(block).terms:
        check(
            name in ("sum", "difference", "or", "xor"),
            block,
            f'iter {it.name} of block "{block.name}" is padded, but the 0 that is combined there '
            f"changes a {name} (for {_example(name)}); only a sum can be padded with zeros",
            fix=leave_unpadded(it.name),
        )
        terms = _Zeros(it, padded)
        if not terms.is_zero(value):
            refuse(
                block,
                f'beyond the old end of iter {it.name} of block "{block.name}", the added terms are not '
                f"known to be 0{terms.reason}; only products and sums of padded inputs are",
                fix=leave_unpadded(it.name),
            )
    emit_remark(f"beyond the old end of `{it.name}`, block `{block.name}` adds terms that are 0")


def _example(name: str) -> str:
    return {"product": "2 and 3: 6 would become 0", "max": "-1: it would become 0", "min": "1: it would become 0"}.get(
        name, "values on the other side of 0"
    )


class _Zeros:
    """Which values are 0 beyond the old end of an iter."""

    def __init__(self, it: Iter, padded: Set[ir.Value]):
        self.it, self.padded, self.reason = it, padded, ""

    def is_zero(self, value: ir.Value) -> bool:
        op = defining_op(value)
        if op is None:
            return False
        if isa(op, ConstantOp):
            attribute = op.attributes["value"]
            return isinstance(attribute, (ir.FloatAttr, ir.IntegerAttr, ir.BoolAttr)) and attribute.value == 0
        if isa(op, AffineLoadOp):
            variables = [v for i in access_indices(op) if (v := i.is_value()) is not None]
            return self.it.var in variables and accessed_memref(op) in self.padded
        if isa(op, IfOp) and len(op.results) == 1:
            return all(self.is_zero(v) for v in IfOp(op).yielded_values())
        if isa(op, SelectOp):
            chosen = SelectOp(op)
            return self.is_zero(chosen.true_value) and self.is_zero(chosen.false_value)
        if op.name in PRODUCTS:
            return self._is_zero_product(op)
        return op.name in OF_ZEROS and all(self.is_zero(v) for v in op.operands)

    def _is_zero_product(self, op: ir.Operation) -> bool:
        zeros = [self.is_zero(v) for v in op.operands]
        if all(zeros) or not any(zeros):
            return all(zeros)
        factor = op.operands[zeros.index(False)]
        if isa(op, MulIOp) or _is_finite(factor):
            return True
        self.reason = " (a product with 0 is not 0 if the other factor is infinite: it is NaN)"
        return False


def _is_finite(value: ir.Value) -> bool:
    op = defining_op(value)
    if op is not None and isa(op, SIToFPOp):
        return dtypes.to_name(value.type) != "float16"
    if op is None or not isa(op, ConstantOp):
        return False
    number = ir.FloatAttr(op.attributes["value"]).value
    return abs(number) != float("inf") and number == number
