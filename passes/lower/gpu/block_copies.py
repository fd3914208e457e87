"""Proof that one copy of a buffer for all threads of a block, or one for each thread, will do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import AccessRelation, relation_of, same_element
from tir_mlir.dialect.analysis.accesses import accesses, touches
from tir_mlir.dialect.analysis.certainty import doubt
from tir_mlir.dialect.analysis.dataflow import unwritten_elements
from tir_mlir.dialect.diagnostics import Element, LoweringError, NotProvable
from tir_mlir.dialect.ir import Buffer, Func, Loop, is_data_loop, is_loop, only_reads, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AllocOp, AtomicOp, LoadOp, isa
from tir_mlir.dialect.presburger import BUILD_OPERATIONS, dim_type, question, smallest_point
from tir_mlir.passes.lower.gpu.conflicts import both_accesses
from tir_mlir.passes.lower.gpu.nests import BLOCK, DEVICE, THREAD, owner_of
from tir_mlir.passes.lower.gpu.thread_access import ThreadAccess, find_unwritten_read, parallel_flow, serial_flow
from tir_mlir.passes.lower.gpu.thread_tags import in_order, is_axis, kernel_nests
from tir_mlir.passes.lower.registry import location_text, lowering, programs


@lowering(
    "tir-lower-gpu-block-copies", "Prove that one copy of each shared buffer a block keeps the values of all reads"
)
def run(module: ir.Module) -> None:
    """loops over blocks and threads --> the same, if each read of a kernel gets the value of the serial program.

    A buffer allocated in loops has one copy for each of their iterations in TensorIR. On a GPU a `shared` buffer has
    one copy a block, a `local` one a copy a thread, and all threads go on from barrier to barrier: an access is before
    another one if it is textually, or in an earlier iteration of a serial loop. By dataflow, the write that a read
    sees in this order is the write that it sees in the serial order.

        for t in threadIdx.x:                           refused: thread 1 reads what thread 0 wrote
          S = alloc((32,), "shared")
          for k: S[(t + k) % 32] = A[t, k]
          for k: B[t, k] = S[(t + k) % 32]

    Requires blocks to be removed and allocations where their copies are private. Errors: LoweringError with the read,
    both writes and the element; or what could not be shown.
    """
    for func in programs(module):
        check(func)


@only_reads
def check(func: Func) -> None:
    """Check the buffers of one function that blocks share."""
    kernels = [(top, _group_by_buffer(top)) for top in kernel_nests(func)]
    for top, groups in kernels:
        axes = [Loop(o) for o in walk.ops(top) if is_axis(o)]
        _require_no_outer_thread(axes)
        for buffer, group in groups.items():
            if owner_of(Buffer(buffer)) != DEVICE and sum(buffer in other for _, other in kernels) > 1:
                _require_written(group, top)
            if any(t.access.is_write for t in group):
                try:
                    _check_buffer(group, top, axes)
                except NotProvable as error:
                    where = location_text(group[0].access.op)
                    raise LoweringError(f"{where}: {error}{_open_pair(group, top, axes)}") from error


def is_right_in_order(buffer: ir.Value, top: ir.Operation) -> bool:
    """Whether the order of threads and barriers gives each read of a buffer in a kernel the value of the serial
    program. False: it does not, or is not known to."""
    axes = [Loop(o) for o in walk.ops(top) if is_axis(o)]
    try:
        _check_buffer(_group_by_buffer(top)[buffer], top, axes)
    except (NotProvable, LoweringError):
        return False
    return True


def _group_by_buffer(top: ir.Operation) -> dict[ir.Value, list[AccessRelation]]:
    """The accesses of a kernel by buffer, with the loops that tell copies apart."""
    groups: dict[ir.Value, list[AccessRelation]] = {}
    for access in accesses(top):
        groups.setdefault(access.buffer, []).append(relation_of(access))
    return groups


def _require_written(group: Sequence[AccessRelation], top: ir.Operation) -> None:
    """Refuse a read of what an earlier kernel leaves in memory that lasts as long as a kernel."""
    buffer = Buffer(group[0].access.buffer)
    with question(f"whether a kernel writes what it reads of {buffer.name}", BUILD_OPERATIONS):
        missing = find_unwritten_read(group, top)
    if missing is not None:
        touch, point = missing
        raise LoweringError(
            f"{location_text(touch.access.op)}: {buffer.name} of scope {buffer.scope} lasts as long as one kernel, and"
            f" {touch.iteration_at(point)} reads {touch.element(point)}, which an earlier one wrote; fix: use "
            "scope global, or"
            " compute it in the same nest (compute_at)"
        )


# --- one buffer -------------------------------------------------------------------------------------------------------


def _check_buffer(group: Sequence[AccessRelation], top: ir.Operation, axes: Sequence[Loop]) -> None:
    buffer = Buffer(group[0].access.buffer)
    extents = _extents(axes)
    threads = [ThreadAccess(touch, top, extents) for touch in group]
    updates = [t for t in threads if isa(t.touch.access.op, AtomicOp) and t.touch.access.is_write]
    if updates:
        return _check_updated(buffer, updates, [t for t in threads if not isa(t.touch.access.op, AtomicOp)])
    with question(f"whether {_copies(threads[0])} of {buffer.name} will do", BUILD_OPERATIONS):
        if _keeps_values(threads):
            return
    _require_modeled(threads, buffer)
    with question(f"whether {_copies(threads[0])} of {buffer.name} will do", BUILD_OPERATIONS):
        serial, parallel = serial_flow(threads), parallel_flow(threads)
        if serial.is_equal(parallel) and serial.reverse().is_single_valued():
            return
        text = _refusal(threads, serial, parallel)
    raise LoweringError(f"{text}; fix: {_fix(threads)}")


def _check_updated(buffer: Buffer, updates: Sequence[ThreadAccess], others: Sequence[ThreadAccess]) -> None:
    """Check a buffer with atomic updates, which may come in any order: each read, and what remains, has to come after
    the same ones as in the serial program."""
    name, where = buffer.name, location_text(updates[0].touch.access.op)
    text = f"{where}: threads update {name} by atomic instructions, in any order"
    if len({str(u.touch.access.op.attributes["kind"]) for u in updates}) > 1:
        raise LoweringError(f"{text}, and different operators do not commute; fix: a kernel for each of them")
    for update in updates:
        if repeats := update.outer_threads:
            loops = f"{repeats[0].name} and {update.axes[repeats[0].kind].name}"
            raise LoweringError(f"{text}, and loops {loops} are one axis; fix: bind one of them to another axis")
    with question(f"whether atomic updates of {name} will do", BUILD_OPERATIONS):
        late = next((t.touch.access for t in others if not _is_between_updates(t, updates, others)), None)
    if late is not None:
        verb = "write" if late.is_write else "read"
        raise LoweringError(
            f"{text}, and a {verb} of it ({location_text(late.op)}) may come between these; "
            f"fix: {verb} {name} in a nest of its own, which is another kernel"
        )


def _is_between_updates(one: ThreadAccess, updates: Sequence[ThreadAccess], others: Sequence[ThreadAccess]) -> bool:
    """Whether the updates before and after an access are those of the serial program."""
    writes = [t for t in others if t.touch.access.is_write]
    if one.touch.access.is_write and not one.is_live_out:
        return True  # what reads it decides
    alone = all(_shares_only_within_thread(one, t) for t in (*writes, *updates))
    return alone or (not one.touch.access.is_write and _follows_writes(one, writes, updates))


def _open_pair(group: Sequence[AccessRelation], top: ir.Operation, axes: Sequence[Loop]) -> str:
    """The first write, and the first other access, that are not shown to be in one thread, for a message."""
    threads = [ThreadAccess(touch, top, _extents(axes)) for touch in group]
    for a, b in combinations_of(threads):
        first, second = (t.touch.access for t in sorted((a, b), key=lambda t: not t.touch.access.is_write))
        if first.is_write:
            try:
                with question("whether two accesses are in one thread"):
                    alone = _shares_only_within_thread(a, b)
            except NotProvable:
                alone = False
            if not alone:
                return f"; it is between {both_accesses(first, second)}"
    return ""


def _extents(axes: Sequence[Loop]) -> dict[str, int | None]:
    """The extent of each axis of a kernel, in order; None for a symbolic one."""
    return {
        tag: None if None in sizes else max(n for n in sizes if n is not None)
        for tag in in_order(lp.kind for lp in axes)
        for sizes in [[lp.const_extent for lp in axes if lp.kind == tag]]
    }


def _require_modeled(threads: Sequence[ThreadAccess], buffer: Buffer) -> None:
    for thread in threads:
        access = thread.touch.access
        if (over := _data_loop(thread)) is not None:
            raise NotProvable(
                f"{buffer.name} is used by several threads in {walk.data_loop_name(over)},"
                " and what its iterations leave for each other is not modeled"
            )
        if access.is_write and (why := doubt(access)):
            raise NotProvable(f"whether {_copies(thread)} of {buffer.name} will do: undecided, {why}")


def _data_loop(thread: ThreadAccess) -> ir.Operation | None:
    """The innermost loop over data around an access."""
    return next((p for p in walk.parents(thread.touch.access.op) if is_data_loop(p)), None)


# --- plain cases, without dataflow ------------------------------------------------------------------------------------


def _keeps_values(threads: Sequence[ThreadAccess]) -> bool:
    """Whether each read, and what the kernel leaves in memory of the device, plainly has the same value in both orders.
    False: unknown."""
    writes = [t for t in threads if t.touch.access.is_write]
    if threads[0].is_live_out and not all(_shares_only_within_thread(a, b) for a, b in combinations_of(writes)):
        return False
    reads = [t for t in threads if not t.touch.access.is_write]
    return all(
        all(_shares_only_within_thread(r, w) for w in writes)
        or _follows_writes(r, writes)
        or _follows_iterations(r, writes)
        for r in reads
    )


def combinations_of(writes: Sequence[ThreadAccess]) -> Iterator[tuple[ThreadAccess, ThreadAccess]]:
    """All pairs, an access and itself included."""
    return combinations_with_replacement(writes, 2)


def _shares_only_within_thread(a: ThreadAccess, b: ThreadAccess) -> bool:
    """Whether two accesses touch one element only in one thread, in the serial program and on the GPU: a thread runs
    its own part in the serial order. Along an axis that neither has a loop over, all threads are at one step at a time,
    which is that of the serial program; in a loop over data that is so where each has a copy of its own.

        for p in range(2):
          c = alloc((1,), "local"); c[0] = 0            # each thread counts in its own c
          for d in range(8): if c[0] < X[d]: c[0] += 1
    """
    if any(_is_repeated(t) for t in (a, b)):
        return False
    one_copy = a.relation.apply_range(b.relation.reverse())
    private = a.thread_map.reverse().apply_range(same_element(a.touch, b.touch)).apply_range(b.thread_map)
    in_step = len(a.extents) if not any(_data_loop(t) for t in (a, b)) else a.copies
    axes = [n for n in range(len(a.extents)) if n >= in_step or not (n in a.missing and n in b.missing)]
    return all(_same_columns(pairs, axes, axes) for pairs in (one_copy, private))


def _is_repeated(thread: ThreadAccess) -> bool:
    """Whether the serial program repeats an access, on one copy of its buffer, that the GPU makes once."""
    owner = Buffer(thread.touch.access.buffer).op
    return any(owner is None or not walk.is_inside(owner, lp.op) for lp in thread.outer_threads)


def _same_columns(pairs: isl.Map, first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether all pairs agree in some columns."""
    return all(
        order(dim_type.in_, a, dim_type.out, b).is_empty()
        for a, b in zip(first, second, strict=True)
        for order in (pairs.order_lt, pairs.order_gt)
    )


def _follows_writes(read: ThreadAccess, writes: Sequence[ThreadAccess], updates: Sequence[ThreadAccess] = ()) -> bool:
    """Whether each element that is read has been written in the same iteration of a body around the read, by one thread
    only and nowhere later in that iteration: the last write is the same in both orders. Atomic updates of that
    iteration come all between.

        for k:
          for t in threadIdx.x: S[t] = ...           # the writes in the body, all before the read
          for t in threadIdx.x: ... = S[63 - t]
    """
    if read.owner == THREAD:
        return False
    for body in walk.parents(read.touch.access.op):
        inner_writes = [w for w in writes if walk.is_inside(w.touch.access.op, body)]
        inner_updates = [u for u in updates if walk.is_inside(u.touch.access.op, body)]
        if inner_writes and all(_is_before(w, read, body) for w in (*inner_writes, *inner_updates)):
            if (
                _know_threads_alike([*inner_writes, *inner_updates], body)
                and all(_is_before(w, u, body) for w in inner_writes for u in inner_updates)
                and _covers(read, inner_writes, body)
                and all(_writes_only_within_thread(a, b, body) for a, b in combinations_of(inner_writes))
            ):
                return True
        if body == read.top:
            return False
    return False


def _know_threads_alike(writes: Sequence[ThreadAccess], body: ir.Operation) -> bool:
    """Whether each loop over an axis around a body says for all writes in it, or for none, which thread runs.

    for t in threadIdx.x:
        for u in threadIdx.x: S[u] = 1             # all of S, in each iteration of t
        if t == 5: S[5] = 2                        # in one of them: thread 5 writes last, on a GPU only
    """
    around = [lp for lp in writes[0].loops if is_axis(lp.op) and walk.is_inside(body, lp.op)]
    return all((lp in w.outer_threads) == (lp in writes[0].outer_threads) for lp in around for w in writes)


def _follows_iterations(read: ThreadAccess, writes: Sequence[ThreadAccess]) -> bool:
    """Whether each element that is read in an iteration of a serial loop has been written before the loop, or in an
    earlier iteration, each time by one thread only: the last write is the same in both orders.

        for t in threadIdx.x: S[0, t] = ...
        for k:
          for t in threadIdx.x: S[(k + 1) % 2, t] = ...
          for t in threadIdx.x: ... = S[k % 2, 63 - t]
    """
    if read.owner != BLOCK or any(_data_loop(t) for t in (read, *writes)):
        return False
    for loop in read.serial[::-1]:
        if loop.op == read.top or not walk.is_inside(loop.op, read.top):
            return False
        body = walk.parents(loop.op)[0]
        inside = [w for w in writes if walk.is_inside(w.touch.access.op, loop.op)]
        around = [w for w in writes if walk.is_inside(w.touch.access.op, body)]
        others = [w for w in around if not walk.is_inside(w.touch.access.op, loop.op)]
        if inside and all(_is_in_order(w, read, loop) for w in (*inside, *others)):
            return (
                all(_writes_only_within_thread(a, b, loop.op) for a, b in combinations_of(inside))
                and all(_writes_only_within_thread(a, b, body) for a, b in combinations_of(others))
                and _covers_iterations(read, inside, others, loop)
            )
    return False


def _is_in_order(write: ThreadAccess, read: ThreadAccess, loop: Loop) -> bool:
    """Whether a write is before a loop, or in another op of its body than a read, and in each iteration the same for
    all threads around the loop: an inner loop says which thread runs."""
    op = write.touch.access.op
    around = [lp for lp in read.loops if is_axis(lp.op) and not lp.kind.startswith("blockIdx.")]
    if not all(lp in write.outer_threads for lp in around if walk.is_inside(loop.op, lp.op)):
        return False
    if walk.is_inside(op, loop.op):
        return walk.child_towards(loop.op, op) != walk.child_towards(loop.op, read.touch.access.op)
    first = walk.child_towards(walk.parents(loop.op)[0], op)
    return first.block == loop.op.block and first.is_before_in_block(loop.op)


def _covers_iterations(
    read: ThreadAccess, inside: Sequence[ThreadAccess], before: Sequence[ThreadAccess], loop: Loop
) -> bool:
    """Whether what a read touches is written before a loop or in earlier iterations, serially and on the GPU."""
    body, depth = walk.parents(loop.op)[0], sum(map(is_loop, walk.parents(loop.op)))
    parts = [[w for w in part if w.touch.dom.exact and w.touch.access.exact] for part in (before, inside)]
    serial = [w.touch.outer(depth).insert_dims(dim_type.in_, depth, 1) for w in parts[0]]
    if not unwritten_elements(
        read.touch.outer(depth + 1), serial, [w.touch.outer(depth + 1) for w in parts[1]]
    ).is_empty():
        return False
    columns = read.blocks + _serial_depth(read, body)
    first = [_elements_in_body(w, body).insert_dims(dim_type.in_, columns, 1) for w in parts[0]]
    later = [_elements_in_body(w, loop.op) for w in parts[1]]
    return unwritten_elements(_elements_in_body(read, loop.op), first, later).is_empty()


def _is_before(write: ThreadAccess, read: ThreadAccess, body: ir.Operation) -> bool:
    first, second = (walk.child_towards(body, t.touch.access.op) for t in (write, read))
    return first.block == second.block and first != second and first.is_before_in_block(second)


def _covers(read: ThreadAccess, writes: Sequence[ThreadAccess], body: ir.Operation) -> bool:
    """Whether the elements that a read touches in one iteration of a body are written in it, in the serial program and
    on the GPU."""
    certain = [w for w in writes if w.touch.dom.exact and w.touch.access.exact]
    depth = sum(is_loop(p) for p in [body, *walk.parents(body)])
    for region in (lambda t: t.touch.outer(depth), lambda t: _elements_in_body(t, body)):
        written: isl.Map | None = None
        for write in certain:
            written = region(write) if written is None else written.union(region(write))
        if written is None or not region(read).is_subset(written):
            return False
    return True


def _first_columns(relation: isl.Map, count: int) -> isl.Map:
    return relation.project_out(dim_type.in_, count, relation.dim(dim_type.in_) - count)


def _elements_in_body(thread: ThreadAccess, body: ir.Operation) -> isl.Map:
    """{ [blocks, serial loops around the ops of a body] -> element }."""
    axes, count = len(thread.extents), _serial_depth(thread, body)
    by_digits = thread.block_relation(count)
    if by_digits is not None:
        return by_digits
    relation = _first_columns(thread.plain, axes + count)
    return relation.project_out(dim_type.in_, thread.blocks, axes - thread.blocks)


def _serial_depth(thread: ThreadAccess, body: ir.Operation) -> int:
    return sum(walk.is_inside(body, lp.op) for lp in thread.serial)


def _writes_only_within_thread(a: ThreadAccess, b: ThreadAccess, body: ir.Operation) -> bool:
    """Whether two writes touch one element, in one iteration of a body in one block, only in one thread."""
    if a is b and a.is_once(_serial_depth(a, body)):
        return True
    pairs = a.plain.apply_range(b.plain.reverse())
    axes = len(a.extents)
    for column in (*range(a.blocks), *range(axes, axes + _serial_depth(a, body))):
        pairs = pairs.equate(dim_type.in_, column, dim_type.out, column)
    threads = range(a.blocks, axes)
    return _same_columns(pairs, threads, threads)


# --- messages ---------------------------------------------------------------------------------------------------------


def _copies(thread: ThreadAccess) -> str:
    return {THREAD: "one copy a thread", BLOCK: "one copy a block", DEVICE: "the order of threads"}[thread.owner]


def _fix(threads: Sequence[ThreadAccess]) -> str:
    """A way out that works, as far as is known: threads that fill a buffer together, the other scope if the proof
    holds with it, or another loop for the threads."""
    owner, name = threads[0].owner, Buffer(threads[0].touch.access.buffer).name
    if owner == DEVICE:
        return "bind another loop"
    ways = []
    if owner == BLOCK and (fill := _fill(threads)):
        ways.append(f"bind {fill}: the threads then fill {name} together")
    other, why = (THREAD, "each thread has a copy of its own") if owner == BLOCK else (BLOCK, "threads share it")
    if _keeps_values_in(threads, other):
        scope = "local" if other == THREAD else "shared"
        ways.append(f'use scope "{scope}", where {why}')
    if not ways:
        carrying = [lp.name for t in threads for lp in t.loops if t.touch.access.is_write and _is_of_threads(lp)]
        loops = " and ".join(dict.fromkeys(carrying))
        ways.append(f"keep loop {loops} serial, as one iteration needs what another one computes; bind another loop")
    return ", or ".join(ways)


def _is_of_threads(loop: Loop) -> bool:
    return loop.kind.startswith("threadIdx.")


def _fill(threads: Sequence[ThreadAccess]) -> str:
    """`ax0, ax1 to threadIdx.y, threadIdx.x`: the loops of a write that all threads make, where it takes every element;
    "" if a write depends on its thread."""
    axes = [tag for tag in threads[0].extents if tag.startswith("threadIdx.")]
    for thread in threads:
        indexing = {v for index in thread.touch.access.indices for v in index.values}
        by_thread = any(lp.var in indexing for lp in thread.axes.values() if _is_of_threads(lp))
        if by_thread or not thread.touch.access.is_write:
            continue
        loops = [lp.name for lp in thread.serial if lp.kind == "serial" and lp.var in indexing and lp.const_extent]
        chosen = sorted(axes, reverse=True)[-len(loops) :] if loops else []
        if loops and chosen:
            return f"{', '.join(loops[-len(chosen) :])} to {', '.join(chosen)}"
    return ""


def _keeps_values_in(threads: Sequence[ThreadAccess], owner: str) -> bool:
    """Whether the proof holds with another owner of the buffer. False: unknown."""
    others = [ThreadAccess(t.touch, t.top, t.extents) for t in threads]
    for other in others:
        other.owner = owner
    try:
        with question("whether another scope will do", BUILD_OPERATIONS):
            if _keeps_values(others):
                return True
            serial, parallel = serial_flow(others), parallel_flow(others)
            return serial.is_equal(parallel) and serial.reverse().is_single_valued()
    except NotProvable:
        return False


def _refusal(threads: Sequence[ThreadAccess], serial: isl.UnionMap, parallel: isl.UnionMap) -> str:
    """`file.py:9: one copy a block of S will not do: thread 0 reads S[1] as written by ...; on a GPU, by ...`."""
    wrong = serial.subtract(parallel).union(parallel.subtract(serial)).range()
    if wrong.is_empty():
        wrong = _ambiguous(serial).range()  # the write depends on an outer loop over the same axis
    reads = {f"a{n}": t for n, t in enumerate(threads)}
    name, sizes, point = _smallest(wrong, [*reads, "out"])
    rank, buffer = threads[0].rank, Buffer(threads[0].touch.access.buffer)
    element = Element.from_indices(buffer.name, [":"] * buffer.rank if threads[0].touch.access.parts else point[-rank:])
    at_n = "".join(f" at {n}={v}" for n, v in sizes.items())
    read = isl.UnionSet(
        f"[{', '.join(sizes)}] -> {{ [{name}[{_list(point[:-rank])}] -> e[{_list(point[-rank:])}]]"
        f" : {' and '.join(f'{n} = {v}' for n, v in sizes.items()) or 'true'} }}"
    )
    first, second = (_writer(threads, flow.intersect_range(read)) for flow in (serial, parallel))
    if name == "out":
        where = location_text(threads[0].top)
        wants = f"{element} has, after the kernel, the value that {first} writes; on a GPU"
    else:
        where = location_text(reads[name].touch.access.op)
        wants = f"{reads[name].text(point[:-rank])} reads {element} as written by {first}; on a GPU"
    if first == second:
        wants, second = wants.replace("; on a GPU", " and others; on a GPU"), f"only {second}"
    thread = threads[0]
    text = f"{where}: {_copies(thread)} of {buffer.name} will not do: in the program{at_n}, {wants}, as written by"
    return f"{text} {second}"


def _ambiguous(flow: isl.UnionMap) -> isl.UnionMap:
    """The part of a flow in which a read sees more than one write."""
    pairs = flow.apply_range(flow.reverse())  # { write -> write } of one read
    return flow.intersect_domain(pairs.subtract(pairs.domain().identity()).domain())


def _smallest(points: isl.UnionSet, names: Sequence[str]) -> tuple[str, dict[str, int], list[int]]:
    """The smallest read, of the first access that has one: the name of the access, the sizes, iteration and element."""
    for name in names:
        for part in _sets(points):
            if part.unwrap().get_tuple_name(dim_type.in_) == name:
                flat = part.flatten()
                point, count = smallest_point(flat) or [], flat.dim(dim_type.param)
                sizes = [flat.get_dim_name(dim_type.param, n) or "" for n in range(count)]
                return name, dict(zip(sizes, point[:count], strict=False)), point[count:]
    raise AssertionError("a difference of flows without a read")


def _sets(points: isl.UnionSet) -> list[isl.Set]:
    sets = points.get_set_list()
    return [sets.get_at(n) for n in range(sets.n_set())]


def _list(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))


def _writer(threads: Sequence[ThreadAccess], flow: isl.UnionMap) -> str:
    """The smallest write of a flow to one read, in words."""
    for number, thread in enumerate(threads):
        for part in _sets(flow.domain()):
            if part.get_tuple_name() == f"a{number}":
                point = smallest_point(part.reset_tuple_id()) or []
                return thread.text(point[part.dim(dim_type.param) :], without=True)
    return "nothing in the kernel"


def _require_no_outer_thread(axes: Sequence[Loop]) -> None:
    """Raise LoweringError if a loop over an axis depends on the thread of an outer loop over the same axis.

        for t in threadIdx.x:            each thread runs one iteration of u, not all 32 of them: what u does
          for u in threadIdx.x:          must not depend on t
            S[u] = A[t, u]

    `axes`: all loops over axes of a kernel.
    """
    for inner in axes:
        for outer in axes:
            if inner != outer and inner.kind == outer.kind and walk.is_inside(inner.op, outer.op):
                user = _user(inner, outer)
                if user is not None:
                    raise LoweringError(
                        f"{location_text(user)}: loop {inner.name} and loop {outer.name} around it are both bound to"
                        f" {inner.kind}, so its iterations run once, each in its own thread; but this depends on"
                        f" {outer.name} and differs between {outer.name}=0 and {outer.name}=1; fix: bind"
                        f" {inner.name} to another axis, or do not bind it"
                    )


def _user(inner: Loop, outer: Loop) -> ir.Operation | None:
    """An op in, or around, an inner loop that depends on which iteration of the outer one it is in."""
    written = {t.buffer for t in touches(outer.op) if t.is_write}
    enclosing = walk.parents(inner.op)
    for op in [*enclosing[: enclosing.index(outer.op)], *walk.ops(inner.op)]:
        for value in op.operands:
            if _depends(value, inner, outer, written):
                return op
    return None


def _depends(value: ir.Value, inner: Loop, outer: Loop, written: set[ir.Value]) -> bool:
    """Whether a value from outside of the inner loop may differ between iterations of the outer loop."""
    if value == outer.var:
        return True
    owner = value.owner
    op = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
    if op == inner.op or walk.is_inside(op, inner.op) or not walk.is_inside(op, outer.op) or isa(op, AllocOp):
        return False
    if isinstance(owner, ir.Block):
        return any(_depends(v, inner, outer, written) for v in op.operands)  # a loop variable differs if its range does
    if (isa(op, LoadOp) and accessed_memref(op) in written) or len(op.regions):
        return True
    return any(_depends(v, inner, outer, written) for v in op.operands)
