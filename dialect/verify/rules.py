"""The verifier rules of the encoding, beyond MLIR's own verifier; the result of every primitive must satisfy them.

Each rule checks one op and raises `VerifyError` with the culprit. Interval arithmetic is the fast path; isl decides the
rest exactly, with the violating point in the message.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from weakref import WeakKeyDictionary

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import (
    Region,
    accessed_regions,
    explicit,
    get_declared_regions,
    hides,
    only_groups,
    unwritten_reads,
)
from tir_mlir.dialect.analysis.accesses import READ, WRITE, accesses_to, touches
from tir_mlir.dialect.diagnostics import Counterexample, Iteration, VerifyError
from tir_mlir.dialect.incremental import ChangedNests, settled_key
from tir_mlir.dialect.ir import (
    ENTRIES,
    Block,
    Buffer,
    Constraint,
    Func,
    Loop,
    all_blocks,
    attrs,
    cache_by_structure,
    freeze_modules,
    funcs,
    is_block,
    is_loop,
    ops,
    over_dims,
    owner_op,
    parents,
)
from tir_mlir.dialect.ir.op_traits import MEMREF_OPERAND
from tir_mlir.dialect.ir.op_views import (
    AffineAccessOp,
    AffineElementAccessOp,
    AffineParallelOp,
    AllocOp,
    ComputedAccessOp,
    isa,
)
from tir_mlir.dialect.presburger import (
    constraint_set,
    domain,
    flatten,
    intervals,
    only_where,
    question,
    region_map,
    smallest_point,
)
from tir_mlir.dialect.verify.body_keys import declared_body_key
from tir_mlir.dialect.verify.bounds import access_shape, arena_view, bindings_in_domain
from tir_mlir.dialect.verify.coverage import cover, written_before_read
from tir_mlir.dialect.verify.iter_kinds import iter_kinds
from tir_mlir.dialect.verify.program_calls import program_call
from tir_mlir.dialect.verify.violation import coordinates_text, fail, fail_undecided, names_of

_SHAPE = (attrs.ITERS, attrs.NAMES, attrs.MIN, attrs.EXTENT, attrs.SYMS, "lowerBoundsMap", "upperBoundsMap")


def shape_key(op: ir.Operation) -> Hashable | None:
    """The key of `block_shape`; None if the block's lower and upper bounds have different operands."""
    operands = list(op.operands)
    half = len(operands) // 2
    if operands[:half] != operands[half:]:
        return None
    attributes = op.attributes
    return (*(attributes.get(k, None) for k in _SHAPE), len(op.regions[0].blocks[0].arguments))


def reduces_upwards(op: ir.Operation) -> bool:
    """Whether the bindings of a block's reduce iters show that its init comes first: they only grow."""
    return _reduces_upwards(attrs.map_of(op.attributes["lowerBoundsMap"]), op.attributes[attrs.ITERS])


@lru_cache(maxsize=ENTRIES)
def _reduces_upwards(low: ir.AffineMap, kinds: ir.Attribute) -> bool:
    bindings = zip(over_dims(low), attrs.from_attr(kinds), strict=False)  # a dummy argument has no kind
    return all(intervals.only_positive(binding) for binding, kind in bindings if kind == "R")


LARGEST = 1 << 62
"""The exclusive upper bound on the number of elements of a buffer."""


def is_huge(shape: Sequence[object]) -> bool:
    """Whether the number of elements of a shape overflows MLIR's counter; a size that is not an int is unknown."""
    return math.prod(n for n in shape if isinstance(n, int)) >= LARGEST


def huge(op: ir.Operation) -> ir.Value | None:
    """The first result or block argument of an op that is a too large buffer, or None."""
    arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
    buffers = [v for v in (*op.results, *arguments) if isinstance(v.type, ir.MemRefType)]
    return next((b for b in buffers if is_huge(Buffer(b).shape)), None)


def sizes(op: ir.Operation) -> None:
    """Check that no buffer defined by an op is too large."""
    buffer = huge(op)
    if buffer is not None:
        shape = " x ".join(str(n or "?") for n in Buffer(buffer).shape)
        fail(op, "sizes", f"{Buffer(buffer).name} of {shape} has more elements than 64 bits can count")


def verify(
    module: ir.Module | ir.Operation,
    source: bool = False,
    old_module: Callable[[], ir.Module | ir.Operation] | None = None,
    changed: ChangedNests | None = None,
    written: bool = False,
) -> None:
    """Raise `VerifyError` for the first violated rule; `source` adds the rules for user declarations, `written` that
    for reads of what nothing wrote, which no step makes.

    Declared iter kinds are not checked after a primitive, as primitives preserve them. `old_module`: the module before
    a step; elements of outputs that a guard skips there may be skipped after the step too. `changed`: what differs from
    it, if it satisfies the rules; only that is checked. A `source` is remembered, see `is_verified`.
    """
    root = module.operation
    for op in [root] if changed is None or changed.declares else changed.nests:
        check_mlir(op)
    if changed is not None:
        _check_order(changed.nests)
    with freeze_modules():
        _verify(root, source, old_module, changed)
        for func in funcs(root) if written else []:
            written_before_read(func)
    if source and isinstance(module, ir.Module):
        _verified[module] = _fingerprint(module)


def _verify(
    root: ir.Operation,
    source: bool,
    old_module: Callable[[], ir.Module | ir.Operation] | None,
    changed: ChangedNests | None,
) -> None:
    for func in funcs(root):
        if changed is None:
            blocks = _check_ops(func.op)
        else:
            blocks = _check_changed(func, changed)
        cover(func, blocks, source, old_module)
        if source:
            for block in blocks:
                iter_kinds(block)


def _check_changed(func: Func, changed: ChangedNests) -> list[Block]:
    """Check the rules of edited ops. Returns the blocks of all affected ones."""
    blocks: list[Block] = []
    for op in changed.affected:
        if op.parent == func.op:
            blocks += _check_ops(op) if op in changed.nests else all_blocks(op)
    return blocks


def _check_ops(root: ir.Operation) -> list[Block]:
    """Check the rules of all ops in an op, and return the blocks."""
    listed, number = ops(root), 0
    while number < len(listed):
        op = listed[number]
        if op.name in AffineParallelOp.names and attrs.declares_accesses(op):
            _check_declared(op)
            number += len(ops(op))
        else:
            _check_op(op)
            number += 1
    return [Block(op) for op in listed if op.name in AffineParallelOp.names]


@cache_by_structure(declared_body_key)
def _check_declared(root: ir.Operation) -> None:
    """Check the rules of all ops in a block that declares what it accesses, in equal nests once."""
    for op in ops(root):
        _check_op(op)


def _check_op(op: ir.Operation) -> None:
    """Check the rules of an op, not of those in it."""
    name = op.name
    if name in AffineParallelOp.names and not is_block(op):
        fail(
            op,
            "block",
            "an affine.parallel without tir.block: in a TensorIR program it represents a block; "
            'write a parallel loop as affine.for {tir.kind = "parallel"}',
        )
    for rule in RULES.get(name, ()):
        rule(op)
    if name in SETTLED and not _is_obvious(op, name):
        _check_settled(op)


def _is_obvious(op: ir.Operation, name: str) -> bool:
    """Whether intervals show that the rules in `SETTLED` hold."""
    if name in AffineElementAccessOp.names:
        return intervals.is_access_in_bounds(op, op.operands[MEMREF_OPERAND[name]], intervals.enclosing_ranges(op))
    if name not in AffineParallelOp.names or not intervals.are_bindings_in_domain(op, intervals.enclosing_ranges(op)):
        return False
    return reduces_upwards(op) or Block(op).init is None


def _check_order(tops: Iterable[ir.Operation]) -> None:
    """Check that ops in the body of a function come after those whose results they use; MLIR checks that only from the
    function."""
    for op in tops:
        for value in op.operands:
            owner = value.owner
            if not isinstance(owner, ir.Block) and not owner.operation.is_before_in_block(op):
                raise VerifyError("operand does not dominate this use", "mlir", op.location)


@cache_by_structure(settled_key)
def _check_settled(op: ir.Operation) -> None:
    """Check the rules that depend only on an op and its nest; a success is cached for equal structure."""
    for rule in SETTLED[op.name]:
        rule(op)


def check_mlir(root: ir.Operation) -> None:
    """Run MLIR's verifier; its errors are raised as VerifyError."""
    try:
        root.verify()
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]  missing in the stubs
        first = error.error_diagnostics[0] if error.error_diagnostics else None
        where = first.location if first else None
        raise VerifyError(first.message if first else str(error), "mlir", where) from error


# --- declared regions cover all accesses of the block -----------------------------------------------------------------


def declared_regions(op: ir.Operation) -> None:
    """Check that declared regions cover the accesses of the block, except regions the user takes responsibility for."""
    block = Block(op)
    if not attrs.declares_accesses(op) or only_groups(block) or _names_whole_buffers(block):
        return
    actuals = accessed_regions(block)
    for key, actual in zip((attrs.READS, attrs.WRITES), actuals, strict=True):
        if key not in op.attributes:
            continue
        declarations = get_declared_regions(block, key, [])
        word = "T.reads" if key == attrs.READS else "T.writes"
        free = {declarations[n].buffer for n in explicit(block, key) if 0 <= n < len(declarations)}
        for need in actual:
            have = [r for r in declarations if r.buffer == need.buffer]
            if need.buffer in free or (not have and hides(block, key)):
                continue
            if not have and key == attrs.READS and _reads_own_values(block, need, actuals[1]):
                continue
            if not have:
                fail(
                    op,
                    "regions",
                    f'block "{block.name}": {word} leaves out {need.buffer.name}, which the block accesses',
                )
            with question(f"{word} of {block.name}"):
                missing = _left_out(block, need, have[0], op)
                if not missing.is_empty() and (not block.iters or any(is_block(p) for p in parents(op))):
                    missing = _left_out(block, need, have[0], None)  # the enclosing iters and loops have domains
                if missing.is_empty() or _covers_each_access(block, need, have[0], key == attrs.WRITES):
                    continue
            fail(
                op,
                "regions",
                f'block "{block.name}": {word} of {need.buffer.name} is smaller than the region that the block accesses'
                f"{_element(need, missing)}{only_where(missing, op)}",
            )


def _names_whole_buffers(block: Block) -> bool:
    """Whether each buffer that a block accesses is declared as a whole, which covers any access inside the buffer."""
    allocated = {op.results[0] for op in ops(block.op) if isa(op, AllocOp)}
    for key, kind in ((attrs.READS, READ), (attrs.WRITES, WRITE)):
        if key not in block.op.attributes:
            continue
        full_buffers = {r.buffer.value for r in get_declared_regions(block, key, []) if _is_whole(r)}
        if not full_buffers.issuperset(
            t.buffer for t in touches(block.op) if t.kind == kind and t.buffer not in allocated
        ):
            return False
    return True


def _is_whole(region: Region) -> bool:
    sizes = zip(region.extents, region.buffer.dims, strict=True)
    return all(i.as_constant() == 0 for i in region.mins) and all(a.is_equal_to(b) for a, b in sizes)


def _element(need: Region, missing: isl.Map) -> str:
    """An element of a region that a declaration leaves out, for messages."""
    point = smallest_point(missing.range()) or []
    axes = len(need.mins)
    return f": it leaves out {need.buffer.name}[{', '.join(map(str, point[-axes:]))}]" if len(point) >= axes > 0 else ""


def _reads_own_values(block: Block, need: Region, writes: Sequence[Region]) -> bool:
    """Whether a block reads a buffer only after it has written the element itself: a reduction with its init inside."""
    if not any(w.buffer == need.buffer for w in writes):
        return False
    with question(f"whether block {block.name} writes {need.buffer.name} before it reads it"):
        return unwritten_reads(need.buffer.value, block.op) is None


def _left_out(block: Block, need: Region, region: Region, top: ir.Operation | None) -> isl.Map:
    """The elements of `need` not in `region`, in the iterations inside `top`."""
    indices = [*need.mins, *need.extents, *region.mins, *region.extents]
    dom = domain(block.body.operations[0].operation, top, indices)
    return region_map(dom, need.mins, need.extents).subtract(region_map(dom, region.mins, region.extents))


def _covers_each_access(block: Block, need: Region, region: Region, writes: bool) -> bool:
    """Whether `region` contains what each access touches; `need`, their box, may be larger than all of them."""
    touched = accesses_to(need.buffer.value, block.op, writes)
    for access in touched:
        dom = domain(access.op, None, [*access.mins, *access.extents, *region.mins, *region.extents])
        elements = region_map(dom, access.mins, access.extents)
        if not elements.is_subset(region_map(dom, region.mins, region.extents)):
            return False
    return bool(touched)


# --- loops and blocks -------------------------------------------------------------------------------------------------


def loop_shape(op: ir.Operation) -> None:
    """Check that a loop has step 1 and as many operands as its bounds need."""
    low, high = attrs.map_of(op.attributes["lowerBoundMap"]), attrs.map_of(op.attributes["upperBoundMap"])
    if ir.IntegerAttr(op.attributes["step"]).value != 1:
        fail(op, "loop", f"loop {Loop(op).name} has a step other than 1; write the step into the index instead")
    if low.n_inputs + high.n_inputs != len(op.operands):
        fail(
            op,
            "loop",
            f"loop {Loop(op).name} has {len(op.operands)} bound operands; its maps need {low.n_inputs + high.n_inputs}",
        )


@cache_by_structure(shape_key)
def block_shape(op: ir.Operation) -> None:
    """Check that a block is a single point (upper bounds = lower bounds + 1) with a name, kind and domain per iter."""
    name = attrs.get(op, attrs.BLOCK)
    for key in (attrs.ITERS, attrs.NAMES, attrs.MIN, attrs.EXTENT):
        if key not in op.attributes:
            fail(op, "block", f'block "{name}" has no attribute {key}')
    kinds, names = attrs.get(op, attrs.ITERS), attrs.get(op, attrs.NAMES)
    arguments = len(op.regions[0].blocks[0].arguments)
    if arguments != max(1, len(kinds)) or len(names) != len(kinds):
        fail(op, "block", f'block "{name}" has {arguments} arguments, {len(kinds)} kinds and {len(names)} names')
    for key in (attrs.MIN, attrs.EXTENT):
        map_ = attrs.get(op, key)
        if len(map_.results) != len(kinds) or map_.n_symbols != len(attrs.get(op, attrs.SYMS, [])):
            fail(op, "block", f'{key} of block "{name}" must have one result per iter, over tir.syms')
    if bad := [k for k in kinds if k not in ("S", "R", "O")]:
        fail(op, "block", f'block "{name}": iter kind "{bad[0]}" must be S, R or O')
    low, high = attrs.map_of(op.attributes["lowerBoundsMap"]), attrs.map_of(op.attributes["upperBoundsMap"])
    points = all(h == e + 1 for e, h in zip(low.results, high.results, strict=True)) and len(low.results) == arguments
    half = len(op.operands) // 2
    if not points or list(op.operands)[:half] != list(op.operands)[half:]:
        fail(op, "block", f'block "{name}" is not a single point: its upper bounds must be its lower bounds + 1')


def isolation(op: ir.Operation) -> None:
    """Check that a block with iters uses no loop variable from outside it."""
    if not Block(op).has_iters:
        return
    outside = intervals.enclosing_ranges(op)
    for user in ops(op)[1:]:
        for value in user.operands:
            if value in outside and is_loop(owner_op(value)):
                inner = next(Block(p) for p in parents(user) if is_block(p) and Block(p).has_iters)
                loop = Loop(owner_op(value)).name
                text = f'block "{inner.name}" uses the loop variable {loop} of a loop around it; bind it to an iter'
                fail(user, "isolation", text)


def init_first(op: ir.Operation) -> None:
    """Check that the init of a block runs before all updates of the same element."""
    block = Block(op)
    if block.init is None:
        return
    reduce = [i for i in block.iters if i.kind == "R"]
    if all(intervals.only_positive(i.binding.expr) for i in reduce):
        return
    dom = domain(op)
    spatial = [i.binding for i in block.iters if i.kind != "R"]
    with question(f'the init of block "{block.name}"'):
        runs = dom.map(spatial) if spatial else dom.relation([dom.zero])
        same = runs.apply_range(runs.reverse())
        start = dom.set
        for it in reduce:
            start = start.intersect(constraint_set(dom, Constraint(it.binding - it.min, is_eq=True)))
        later = same.intersect_range(start).subtract(same.intersect_domain(start))
        early_updates = later.intersect(isl.Map.lex_lt(dom.set.get_space()))
        if early_updates.is_empty():
            return
    if not dom.exact:
        fail_undecided(op, "init", f'the init of block "{block.name}" runs before all updates of the same element')
    point = smallest_point(flatten(early_updates)) or []
    count = len(dom.dims)
    names = names_of(dom, op)
    first, second = point[-2 * count : -count], point[-count:]
    pair = tuple(Iteration.from_point(block.name, names, p) for p in (first, second))
    show = [coordinates_text(i.values) for i in pair]
    fail(
        op,
        "init",
        f'block "{block.name}": at {show[1]} its init would run after the update at {show[0]} of the same element'
        f"{only_where(early_updates, op)}",
        Counterexample(pair),
    )


RULES: dict[str, tuple[Callable[[ir.Operation], None], ...]] = {
    "affine.for": (loop_shape,),
    "affine.parallel": (isolation, block_shape, declared_regions),
    "func.func": (sizes,),
    "func.call": (program_call,),
    "memref.alloc": (sizes,),
    "memref.view": (sizes, arena_view),
} | dict.fromkeys(ComputedAccessOp.names, (access_shape,))

SETTLED: dict[str, tuple[Callable[[ir.Operation], None], ...]] = {
    "affine.parallel": (bindings_in_domain, init_first),
    "llvm.inttoptr": (access_shape,),
} | dict.fromkeys(AffineAccessOp.names, (access_shape,))


# --- programs of users ------------------------------------------------------------------------------------------------

_verified: WeakKeyDictionary[ir.Module, bytes] = WeakKeyDictionary()


def is_verified(module: ir.Module) -> bool:
    """Whether a module was verified as a source and nothing in it changed since: users may edit it, and run passes on
    it."""
    fingerprint = _verified.get(module)
    return fingerprint is not None and fingerprint == _fingerprint(module)


def _fingerprint(module: ir.Module) -> bytes:
    """A digest of all that a module contains."""
    text = io.BytesIO()
    module.operation.write_bytecode(text)
    return hashlib.sha256(text.getbuffer()).digest()
