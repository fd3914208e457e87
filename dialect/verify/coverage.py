"""The coverage rule: every element of an output, and every element read later, is computed. What a user
writes reads nothing that nobody wrote."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import product

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, footprint, surely_unwritten
from tir_mlir.dialect.analysis.access_relations import structural_key
from tir_mlir.dialect.analysis.accesses import accesses, accesses_to
from tir_mlir.dialect.analysis.certainty import doubt
from tir_mlir.dialect.diagnostics import Counterexample, Element, Iteration, NotProvable
from tir_mlir.dialect.incremental import nest_key_in
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Func,
    Iter,
    Loop,
    all_blocks,
    attrs,
    cache_by_structure,
    cache_while_frozen,
    child_towards,
    common_parent,
    fresh_query_cache,
    func_of,
    funcs,
    is_block,
    is_init,
    is_inside,
    is_symbol,
    loops_above,
    ops,
    parent_op,
    parents,
    symbol_name,
    users,
)
from tir_mlir.dialect.ir.op_views import AffineForOp, AffineLoadOp, AffineParallelOp, AllocLikeOp, BodyOp, FuncOp, isa
from tir_mlir.dialect.presburger import (
    Domain,
    constraint_set,
    dim_type,
    domain,
    fills_constant_domain,
    intervals,
    is_full_box,
    only_where,
    over_digits,
    question,
    sizes,
    smallest_point,
    zeros,
)
from tir_mlir.dialect.verify.violation import fail


def cover(
    func: Func, blocks: Sequence[Block], source: bool, old_module: Callable[[], ir.Module | ir.Operation] | None
) -> None:
    """Check that blocks writing a parameter run over their whole domain, and that allocations are written before read.

    A moved producer may compute less than its domain, so for allocations only the elements that are read count. A
    nested block may be restricted by a guard: its domain is a tile, and the last tile may be partial. In user code
    (`source`) any block may be partial if the text shows it: by a guard, a strided binding (`i * 16`), a constant
    binding, or a loop whose bounds use other loops (`for j in range(i)`); and a loop that other blocks have an iter for
    may have no iteration. After a step, every element of a parameter that the function wrote in `old_module` must still
    be written.
    """
    short = [b for b in blocks if b.has_iters and not covers(b)]
    doubtful: dict[ir.Value, Block] = {}
    kept: dict[ir.Value, bool] = {}
    for block in short:
        for access in accesses(block.op):
            if not access.is_write:
                continue
            if not Buffer(access.buffer).is_param:
                doubtful.setdefault(access.buffer, block)
            elif not _missing(block, True, source).is_empty() and not (
                _others_write_skipped(func, block, access) or _as_before(func, block, access.buffer, old_module, kept)
            ):
                _report_uncovered(block, source)
    for buffer, block in doubtful.items():
        _all_reads_written(func, buffer, block)


def _others_write_skipped(func: Func, block: Block, access: Access) -> bool:
    """Whether other blocks write the elements that a block skips: its siblings in a block without iters, or any block
    if it has a guard."""
    groups = [p for p in parents(block.op) if is_block(p) and not Block(p).has_iters]
    if not groups and block.where is None:
        return False
    with question(f"what the segments of {Buffer(access.buffer).name} write together"):
        written = _written_in(access.buffer, groups[-1] if groups else func.op, func.op)
        return written is not None and footprint([access], block.op)[0].range().is_subset(written)


@cache_while_frozen
def _written_in(buffer: ir.Value, scope: ir.Operation, func: ir.Operation) -> isl.Set | None:
    """The elements that an op writes exactly; None if it only scatters: these are unknown."""
    writes = [a for a in accesses_to(buffer, scope, True) if a.exact]
    return footprint(writes, func)[0].range() if writes else None


def _as_before(
    func: Func, block: Block, param: ir.Value, old_module: Callable[[], ir.Module | ir.Operation] | None,
    kept: dict[ir.Value, bool],
) -> bool:  # fmt: skip
    """Whether a step leaves as many elements of a parameter out, or the block as many points, as were before. kept:
    of each parameter, whether all elements that were written are: it is asked once for all blocks."""
    if old_module is None or kept.get(param):
        return old_module is not None
    with fresh_query_cache():
        old_func = next((f for f in funcs(old_module()) if f.name == func.name), None)
        if param not in kept:
            kept[param] = _left_out_before(func, param, old_func)
        return kept[param] or _ran_before(block, old_func) or _added_padding(func, block, param, old_func)


def _left_out_before(func: Func, param: ir.Value, old_func: Func | None) -> bool:
    """Whether a function still writes every element of a parameter that it wrote before a step."""
    if old_func is None or len(func.args) != len(old_func.args):
        return False
    old = next((b for b, a in zip(old_func.args, func.args, strict=True) if a == param), None)
    if old is None or old.type != param.type:
        return False
    groups = [accesses_to(value, f.op, True) for f, value in ((func, param), (old_func, old))]
    if not all(group and all(a.exact for a in group) for group in groups):
        return False
    with question(f"the written elements of {Buffer(param).name}"):
        written_now, was = (
            footprint(group, f.op)[0].range() for group, f in zip(groups, (func, old_func), strict=True)
        )
        return was.is_subset(written_now)


def _ran_before(block: Block, old_func: Func | None) -> bool:
    """Whether a block still runs at every point of its domain at which it ran before a step.

    Decides for a scatter, whose written elements are unknown.
    """
    old = None if old_func is None else next((b for b in all_blocks(old_func.op) if b.id == block.id), None)
    if old is None or _signature(old) != _signature(block):
        return False
    with question(f'the points that block "{block.name}" ran'):
        return _domain_and_image(old)[1].is_subset(_domain_and_image(block)[1])


def _added_padding(func: Func, block: Block, param: ir.Value, old_func: Func | None) -> bool:
    """Whether a step that changed the layout of a parameter added this block, for the elements that its guard selects.

    What was written before is written by other blocks, which are checked themselves.
    """
    if old_func is None or block.where is None or len(func.args) != len(old_func.args):
        return False
    old = next((b for b, a in zip(old_func.args, func.args, strict=True) if a == param), None)
    return old is not None and old.type != param.type and all(b.id != block.id for b in all_blocks(old_func.op))


def _signature(block: Block) -> list[ir.Attribute]:
    """The kinds and domains of the iters of a block."""
    return [block.op.attributes[key] for key in (attrs.ITERS, attrs.MIN, attrs.EXTENT, attrs.SYMS)]


def _domain_key(block: Block) -> Hashable | None:
    nest = nest_key_in(block.body)
    return None if nest is None else nest.number


@cache_while_frozen
def covers(block: Block) -> bool:
    """Whether the bindings cover every point of the domain, whatever the sizes."""
    return _fills_domain(block) or _covers(block)


def _fills_domain(block: Block) -> bool:
    """Whether loops with constant bounds obviously visit every point of a constant domain. Cheaper than its key."""
    bounds = _loop_bounds(parent_op(block.op)) if block.where is None else None
    return bounds is not None and fills_constant_domain(block.op, bounds)


@cache_while_frozen
def _loop_bounds(op: ir.Operation) -> dict[ir.Value, tuple[int, int]] | None:
    """The bounds of an op, if it is a loop, and of the loops around it, up to a block with iters; None if one has no
    constant bounds or no iteration."""
    name = op.name
    if name in FuncOp.names or (name in AffineParallelOp.names and is_block(op) and Block(op).has_iters):
        return {}
    outer = _loop_bounds(parent_op(op))
    if outer is None or name not in AffineForOp.names:
        return outer
    ends = intervals.constant_bounds(op)
    return None if ends is None or ends[0] > ends[1] else outer | {Loop(op).var: ends}


@cache_by_structure(_domain_key)
def _covers(block: Block) -> bool:
    loops = _loops_around(block)
    return (not _may_be_empty(block, loops) and is_full_box(block, loops)) or _missing(block).is_empty()


def _may_be_empty(block: Block, loops: Sequence[Loop]) -> bool:
    """Whether a loop that no iter uses may have no iteration: with one that an iter uses, the domain would be empty."""
    bound_vars = {v for binding in block.bindings for v in binding.values}
    return any(lp.var not in bound_vars and (lp.const_extent or 0) < 1 for lp in loops)


def _loops_around(block: Block) -> list[Loop]:
    """The loops around a block, up to the next enclosing block with iters."""
    loops: list[Loop] = []
    for parent in parents(block.op):
        name = parent.name
        if name in AffineParallelOp.names and is_block(parent) and Block(parent).has_iters:
            break
        if name in AffineForOp.names:
            loops.append(Loop(parent))
    return loops


def _missing(block: Block, ragged: bool = False, anywhere: bool = False) -> isl.Set:
    """Points of the iter domain that no iteration is bound to (in one iteration of the enclosing block).

    `ragged`: ignore points excluded by guards, if there is an enclosing block or with `anywhere`; in the latter case
    also points between the steps of a binding, in domains of iters over loops whose bounds use other loops, and the
    sizes at which a loop of other blocks runs none of them.
    """
    full, image = _domain_and_image(block, ragged, anywhere)
    with question(f'the domain of block "{block.name}"'):
        return full.subtract(image)


def left_out(block: Block) -> str | None:
    """A point of a block's domain for which the parser would reject the program text; None if there is none."""
    if covers(block):
        return None
    func, missing = func_of(block.op), _missing(block, True, True)
    written = [a for a in accesses(block.op) if a.is_write and Buffer(a.buffer).is_param]
    if missing.is_empty() or all(_others_write_skipped(func, block, a) for a in written):
        return None
    return point_text(block, missing)


def half_summed(block: Block, iters: Sequence[Iter]) -> isl.Set | None:
    """Points of the iter domain that do not run although others that differ in `iters` do; None if there are none."""
    names = {i.name for i in iters}
    reduce = [n for n, i in enumerate(block.iters) if i.name in names]
    if not reduce or covers(block):
        return None
    full, image = _domain_and_image(block)
    with question(f'the iterations of the reductions of block "{block.name}"'):
        started = image
        for number in reduce:
            started = started.project_out(dim_type.set, number, 1).insert_dims(dim_type.set, number, 1)
        skipped = full.subtract(image).intersect(started)
        return None if skipped.is_empty() else skipped


def point_text(block: Block, points: isl.Set) -> str:
    """The smallest point of a set in a block's domain, as text: `vi = 0, vk = 1`."""
    return ", ".join(f"{name} = {v}" for name, v in point_of(block, points).values)


def point_of(block: Block, points: isl.Set) -> Iteration:
    """The smallest point of a set in a block's domain."""
    point = (smallest_point(points) or [])[-len(block.iters) :]
    return Iteration.from_point(block.name, [i.name for i in block.iters], point)


def _domain_and_image(block: Block, ragged: bool = False, anywhere: bool = False) -> tuple[isl.Set, isl.Set]:
    """The iter domain, and the subset that runs (see `_missing`)."""
    # skip blocks without iters: blocks in them may be bound to loops around them
    top = next((p for p in parents(block.op) if is_block(p) and Block(p).has_iters), None)
    bindings = [i.binding for i in block.iters]
    # bindings may use the iters of blocks outside `top`
    guarded = not ragged or (top is None and not anywhere)
    dom = domain(block.op, top, bindings, guarded)
    with question(f'the domain of block "{block.name}"'):
        free = _restricted_iters(block, top, dom) if anywhere else set()
        digits = over_digits(block.op, top, bindings, 0) if guarded and not anywhere else None
        image = (digits or dom).map(bindings).range()
        for number in free:
            image = image.project_out(dim_type.set, number, 1).insert_dims(dim_type.set, number, 1)
        space = image.get_space()
        runs = sizes(block.op) if top is None else domain(top)  # a nested block only where the one around it runs
        full = isl.Set.universe(space).intersect_params(runs.set.params())
        local = isl.LocalSpace.from_space(space)
        inner = Domain([], dom.params, full, _symbol_affs(dom, local), isl.Aff.zero_on_domain(local))
        for number, it in enumerate(block.iters):
            var = isl.Aff.var_on_domain(local, dim_type.set, number)
            low, high = inner.aff(it.min), inner.aff(it.min + it.extent - 1)
            full = full.intersect(var.ge_set(low)).intersect(var.le_set(high))
            if anywhere:
                full = _strided_points(full, image, number, it)
        for loop in _repeating_loops(block) if anywhere else []:
            for low, high in product(loop.lowers, loop.uppers):
                full = full.intersect(constraint_set(inner, Constraint(high - low - 1)))
        return full, image


def _repeating_loops(block: Block) -> list[Loop]:
    """Loops that repeat a block for each iteration of others, which have an iter for the loop: where the loop has no
    iteration, the domains of these are empty, and the block has nothing to add to."""
    bound_vars = {v for binding in block.bindings for v in binding.values}
    loops = [lp for lp in _loops_around(block) if lp.var not in bound_vars]
    loops = [lp for lp in loops if any(is_block(use.owner.operation) for use in lp.var.uses)]
    return [lp for lp in loops if all(is_symbol(v) for i in (*lp.lowers, *lp.uppers) for v in i.values)]


def _restricted_iters(block: Block, top: ir.Operation | None, dom: Domain) -> set[int]:
    """The iters that the program text restricts to a part of their domain.

    By a constant binding, a guard that excludes values that the loops reach (`j_0 * 16 + j_1 <= i`), or a loop whose
    bounds use other loops.
    """
    iters, bindings = block.iters, block.bindings
    loose = _relax_dependent_loops(block, dom)
    restricted = {n for n, b in enumerate(bindings) if loose.intersection(b.values)}
    restricted |= {n for n, b in enumerate(bindings) if iters[n].kind == "S" and b.as_constant() is not None}
    if block.where is not None:
        reached, guarded = (domain(block.op, top, bindings, guards=g).map(bindings).range() for g in (False, True))
        restricted |= {
            n for n in range(len(bindings)) if not _project_to_dim(reached, n).is_subset(_project_to_dim(guarded, n))
        }
    return restricted


def _relax_dependent_loops(block: Block, dom: Domain) -> set[ir.Value]:
    """Relax loops whose bounds use other loops to the union of their ranges. Returns their variables."""
    ranges = intervals.enclosing_ranges(block.op)
    relaxed = set()
    for loop in loops_above(block.op):
        bound_values = [v for bound in (*loop.lowers, *loop.uppers) for v in bound.values]
        low, high = ranges[loop.var]
        if loop.var not in dom.dims or all(is_symbol(v) for v in bound_values):
            continue
        position = dom.dims.index(loop.var)
        free = dom.set.drop_constraints_involving_dims(dim_type.set, position, 1)
        if low is None or high is None:
            leading, trailing = position, free.dim(dim_type.set) - position - 1
            reached = (
                _project_to_dim(dom.set, position)
                .insert_dims(dim_type.set, 1, trailing)
                .insert_dims(dim_type.set, 0, leading)
            )
            dom.set = free.intersect(reached)
        else:
            dom.set = free.lower_bound_val(dim_type.set, position, low).upper_bound_val(dim_type.set, position, high)
        relaxed.add(loop.var)
    return relaxed


def _project_to_dim(points: isl.Set, number: int) -> isl.Set:
    """The projection to one dimension."""
    trailing = points.dim(dim_type.set) - number - 1
    return points.project_out(dim_type.set, number + 1, trailing).project_out(dim_type.set, 0, number)


def _strided_points(full: isl.Set, image: isl.Set, number: int, it: Iter) -> isl.Set:
    """The points that a binding such as `i * 16 + 3` can take; a reduce iter must still start at its minimum."""
    info = image.get_stride_info(number)
    step, start = info.get_stride(), info.get_offset()
    if step <= 1:
        return full
    if it.kind == "R":
        low = it.min.as_constant()
        if low is None or not start.is_cst() or not (isl.Val(low) - start.get_constant_val()).is_divisible_by(step):
            return full
    var = isl.Aff.var_on_domain(isl.LocalSpace.from_space(full.get_space()), dim_type.set, number)
    return full.intersect(zeros(var.sub(start).mod_val(step)))


def _symbol_affs(dom: Domain, local: isl.LocalSpace) -> dict[ir.Value, isl.Aff]:
    affs = {}
    for value in dom.env:
        if is_symbol(value):
            affs[value] = isl.Aff.var_on_domain(local, dim_type.param, dom.params.index(symbol_name(value)))
    return affs


def _report_uncovered(block: Block, source: bool) -> None:
    missing = _missing(block, True, source)
    domains = ", ".join(f"{i.name} in {_domain_text(i)}" for i in block.iters)
    fail(
        block.op,
        "cover",
        f'the loops around block "{block.name}" do not cover its domain ({domains}): no iteration runs '
        f"{point_text(block, missing)}{only_where(missing, block.op)}{_partial_domain(block)}",
        Counterexample((point_of(block, missing),)),
    )


_AXES = {"S": "spatial", "R": "reduce", "O": "opaque"}


def _partial_domain(block: Block) -> str:
    """What to write where a loop over a part of the domain is meant: `T.axis.spatial((3, 19), i)`."""
    loops = {loop.var: loop for loop in loops_above(block.op) if len(loop.lowers) == len(loop.uppers) == 1}
    for it in block.iters:
        loop = None if (value := it.binding.is_value()) is None else loops.get(value)
        low, high = (loop.lower.as_constant(), loop.upper.as_constant()) if loop is not None else (None, None)
        if loop is None or low is None or high is None or high <= low:
            continue
        if (low, high - low) != (it.min.as_constant(), it.extent.as_constant()):
            axis = f"T.axis.{_AXES[it.kind]}(({low}, {high}), {loop.name})"
            return f"; if only a part is meant, declare its range: {it.name} = {axis}"
    return ""


def _domain_text(it: Iter) -> str:
    low, extent = it.min.as_constant(), it.extent.as_constant()
    start = "its start" if low is None else str(low)
    return f"[{start}, {'its end' if extent is None or low is None else low + extent})"


def _unwritten(func: Func, reads: Sequence[Access], writes: Sequence[Access]) -> isl.Set:
    """The elements that are read but never written."""
    with question(f"the read elements of {Buffer(reads[0].buffer).name}"):
        read, _, _ = footprint(reads, func.op)
        written, _, _ = footprint(writes, func.op)
        return read.range().subtract(written.range())


def _flow_key(_func: Func, reads: Sequence[Access], writes: Sequence[Access]) -> Hashable | None:
    """What determines the elements that accesses to one buffer read and write."""
    keys = [frozenset(structural_key(a) for a in group) for group in (reads, writes)]
    return None if any(None in key for key in keys) else (Buffer(reads[0].buffer).rank, *keys)


@cache_by_structure(_flow_key)
def _writes_all(func: Func, reads: Sequence[Access], writes: Sequence[Access]) -> bool:
    """Whether every element that is read is written."""
    return _unwritten(func, reads, writes).is_empty()


def _all_reads_written(func: Func, buffer: ir.Value, block: Block) -> None:
    buffer_accesses = accesses_to(buffer, func.op)
    reads, writes = [a for a in buffer_accesses if not a.is_write], [a for a in buffer_accesses if a.is_write]
    if not reads or not all(a.exact for a in writes):
        return
    if _writes_all(func, reads, writes):
        return
    name = Buffer(buffer).name
    certain = [a for a in reads if not doubt(a)]
    missing = _unwritten(func, certain, writes) if certain else None
    if missing is None or missing.is_empty():
        why = next(why for a in reads if (why := doubt(a)))
        text = f'it is not provable that the loops around block "{block.name}" compute all that is read of {name}'
        fail(block.op, "cover", f"{text}: {why}", provable=False)
    found_at = (smallest_point(missing) or [])[-Buffer(buffer).rank :]  # sizes come first
    point = ", ".join(map(str, found_at))
    way = only_where(missing, block.op)
    text = f'{name}[{point}] is read, but the loops around block "{block.name}" never compute it{way}'
    fail(block.op, "cover", text, Counterexample(element=Element.from_indices(name, found_at)))


# --- what nobody wrote is not read, in programs that users write ------------------------------------------------------


def written_before_read(func: Func) -> None:
    """Check that no element of an allocation is read that certainly nothing wrote before.

    What cannot be decided is accepted: writes at indices from data, or under conditions on data.
    """
    for op in ops(func.op):
        if isa(op, AllocLikeOp):
            buffer = op.results[0]
            buffer_accesses = [a for top in users(buffer) for a in accesses(top) if a.buffer == buffer]
            reads = [a for a in buffer_accesses if not a.is_write and isa(a.op, AffineLoadOp)]
            if reads and not _filled_before(reads, [a for a in buffer_accesses if a.is_write]):
                _check_flow(func, buffer, any(a.is_write for a in buffer_accesses))


def _check_flow(func: Func, buffer: ir.Value, is_written: bool) -> None:
    try:
        missing = surely_unwritten(buffer, func.op)
    except NotProvable:
        return
    if missing is None:
        return
    touch, point = missing
    element, iteration, name = touch.element(point), touch.iteration_at(point), Buffer(buffer).name
    block = next((p for p in parents(touch.access.op) if is_block(p)), touch.access.op)
    why = "writes it before" if is_written else f"writes {name}"
    text = f"{element} is read at {iteration}, but nothing {why}; write it in a block before, or in T.init()"
    fail(block, "cover", text, Counterexample((iteration,), element))


def _filled_before(reads: list[Access], writes: list[Access]) -> bool:
    """Fast path: whether one block fills the whole buffer, before all reads."""
    return any(
        (block := _filling_block(write)) is not None
        and all(_is_after_init(block, write, read) or _runs_before(block.op, read.op) for read in reads)
        for write in writes
    )


def _filling_block(write: Access) -> Block | None:
    """The block of a write that stores every element of the buffer; None if it is not obvious."""
    enclosing = parents(write.op)
    blocks_and_loops = enclosing[1:] if is_init(enclosing[0]) else enclosing
    if not is_block(blocks_and_loops[0]) or any(is_block(p) and Block(p).iters for p in blocks_and_loops[1:]):
        return None
    block, dims = Block(blocks_and_loops[0]), Buffer(write.buffer).dims
    if not write.exact or not write.is_point or block.where is not None or len(write.mins) != len(dims):
        return None
    free = {i.var: i for i in block.iters}
    for index, size in zip(write.mins, dims, strict=True):
        value = index.is_value()
        it = None if value is None else free.pop(value, None)
        if it is None or it.min.as_constant() != 0 or not it.extent.is_equal_to(size):
            return None
    return block if covers(block) else None


def _is_after_init(block: Block, write: Access, read: Access) -> bool:
    """Whether a block reads the element that its init has written."""
    init = block.init
    if init is None or not is_inside(write.op, init) or is_inside(read.op, init) or not is_inside(read.op, block.op):
        return False
    return all(w.is_equal_to(r) for w, r in zip(write.mins, read.mins, strict=True))


def _runs_before(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether all of an op runs before another."""
    level = common_parent([first, second])
    if level == first or any(not isa(p, BodyOp) and not _is_root(p) for p in [level, *parents(level)]):
        return False
    return child_towards(level, first).is_before_in_block(child_towards(level, second))


def _is_root(op: ir.Operation) -> bool:
    return is_block(op) and not Block(op).iters
