"""Lower loops of kind `vectorized` to vector operations."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Index, Loop, at_end, attrs, edit, is_loop, walk
from tir_mlir.dialect.ir import loop as make_loop
from tir_mlir.dialect.ir.op_traits import SLOW_FUNCTIONS, is_scalar
from tir_mlir.dialect.ir.op_views import AffineForOp, ApplyOp, IndexCastOp, isa
from tir_mlir.dialect.presburger import intervals, single_minimum
from tir_mlir.passes.lower.outcomes import Key, Outcomes
from tir_mlir.passes.lower.registry import Content, lowering, programs
from tir_mlir.passes.lower.vector.emit import VectorEmitter
from tir_mlir.passes.lower.vector.legality import NotVectorizable, VectorizableLoop, analyse, can_mask
from tir_mlir.passes.lower.vector.reductions import PartialSums, may_hoist, peel_first_iteration

MAX_PIECES = 2
"""Vectors of less than a register that are as fast as a masked one."""
MAX_LANES = 64
"""Lanes of one vector value; longer loops run in chunks."""
REGISTER_BITS = 512
"""Bits of a chunk's vector: one register of a wide machine; LLVM splits it on others."""
MAX_ROWS = 4
"""Chunks of a reduction accumulated independently."""

"""Math functions so slow that a reduction over them is not latency-bound, and that need "
"all registers."""

_SPLIT = "split it by a constant factor and vectorize the inner loop"


@lowering("tir-lower-vectorize", "Lower vectorized loops to vector operations", works_on=Content(kinds={"vectorized"}))
def run(module: ir.Module) -> None:
    """Run all iterations of a `vectorized` loop at once.

        for %j = 0 to 16 {                            %a = affine.vector_load %A[%i, 0] : vector<16xf32>
          %a = affine.load %A[%i, %j]                 %s = vector.broadcast (affine.load %B[%i])
          %s = affine.load %B[%i]              -->    %m = arith.mulf %a, %s : vector<16xf32>
          affine.store (%a * %s), %C[%i, %j]          affine.vector_store %m, %C[%i, 0]
        } {tir.kind = "vectorized"}

    Extents over 64 run in chunks of a 512-bit register. The remainder, and a loop with a non-constant bound, uses a
    masked vector, or, on a CPU without masks, a shorter vector or a loop. Elements at a distance of up to four are
    shuffled out of whole vectors; a row at a loaded position (`A[P[i], j]`) is a vector, other gathers and strided
    stores are scalarized. An update `C[i] = C[i] + a` of a declared reduction accumulates in each lane and is combined
    at the end. A condition that differs between lanes becomes a mask, if what it guards accesses adjacent elements and
    cannot trap. Other loops (other conditions, a call, dependent lanes) become serial, with a LoweringWarning. Requires
    blocks to be removed.
    """
    outcomes = Outcomes()
    for func in programs(module):
        _vectorize_below(func.op, outcomes)
    outcomes.warn()


def _vectorize_below(root: ir.Operation, outcomes: Outcomes) -> None:
    """Vectorize the outermost marked loops under `root`, and those inside loops that remain scalar."""

    def is_vectorized(op: ir.Operation) -> bool:
        return op != root and is_loop(op) and Loop(op).kind == "vectorized"

    # the list ends at marked loops, so no op in it is erased with a replaced loop
    for marked in [o for o in walk.ops(root, skip=is_vectorized) if is_vectorized(o)]:
        op = _with_one_end(marked)
        loop, name = Loop(op), Loop(op).name
        key, *inner = [_key(Loop(o)) for o in walk.ops(op) if is_vectorized(o)]
        reason = vectorize(loop)
        if reason is None:
            outcomes.add(key, "")
            for inner_key in inner:
                outcomes.add(
                    inner_key,
                    f'it is in vectorized loop "{name}", and vectors have one dimension; vectorize one of them',
                )
            continue
        attrs.put(op, attrs.KIND, None)
        if reason:
            outcomes.add_piece(loop, key, reason)
        _vectorize_below(op, outcomes)


def _with_one_end(op: ir.Operation) -> ir.Operation:
    """A loop, whose end is one expression instead of the minimum of two if possible."""
    loop = Loop(op)
    end = single_minimum(loop.uppers, intervals.enclosing_ranges(op))
    return op if end is None else edit.set_bounds(op, loop.lowers, [end])


def _key(loop: Loop) -> Key:
    return Outcomes.key(loop, f'vectorized loop "{loop.name}" runs serially')


def vectorize(loop: Loop) -> str | None:
    """Vectorize one loop; returns None if done, else the reason why it remains scalar: "" if it runs at most once."""
    if loop.const_extent in (0, 1):
        return ""
    if len(loop.lowers) != 1:
        return f"its start is the maximum of several; {_SPLIT}"
    for inner in reversed([o for o in walk.ops(loop.op) if is_loop(o)]):
        peel_first_iteration(Loop(inner))
    try:
        lanes = analyse(loop)
        with ir.InsertionPoint(loop.op), loop.op.location:
            if lanes.sums:
                _sums(lanes)
            elif loop.const_extent is None:
                _dynamic_lanes(lanes)
            else:
                _pieces(lanes, loop.lower, loop.const_extent)
    except NotVectorizable as reason:
        return str(reason)
    loop.op.erase()
    return None


def _pieces(lanes: VectorizableLoop, base: Index, count: int) -> None:
    """Power-of-two vectors for a constant number of lanes; the last one is masked if that is faster."""
    width = _chunk_lanes(lanes.loop)
    if count > (width if _is_long(lanes) else MAX_LANES):
        chunk = make_loop(lanes.loop.name, 0, count // width)
        with at_end(chunk.body):
            VectorEmitter(lanes, base + Index.from_value(chunk.var) * width, width).run()
        base, count = base + count // width * width, count % width
    while count:
        size = 1 << (count.bit_length() - 1)
        if size < width and count.bit_count() > MAX_PIECES and can_mask(lanes):
            VectorEmitter(lanes, base, size * 2, [Index.constant(count)]).run()
            return
        size = count if size < width and not can_mask(lanes) else size
        VectorEmitter(lanes, base, size).run()
        base, count = base + size, count - size


def _dynamic_lanes(lanes: VectorizableLoop) -> None:
    """A dynamic number of lanes: whole vectors, and a masked one."""
    loop = lanes.loop
    extents = [(u - loop.lower).simplify() for u in loop.uppers]
    constants = [n for e in extents if (n := e.as_constant()) is not None and n <= MAX_LANES]
    if constants and can_mask(lanes):
        VectorEmitter(lanes, loop.lower, 1 << (constants[0] - 1).bit_length(), extents).run()
        return
    if len(extents) > 1 or not intervals.at_least_zero(extents[0], intervals.enclosing_ranges(loop.op)):
        raise NotVectorizable("its extent is the minimum of several, or may be negative", _SPLIT)
    width = _chunk_lanes(loop)
    chunk = make_loop(loop.name, 0, extents[0] // width)
    with at_end(chunk.body):
        VectorEmitter(lanes, loop.lower + Index.from_value(chunk.var) * width, width).run()
    done = extents[0] // width * width
    if can_mask(lanes):
        VectorEmitter(lanes, loop.lower + done, width, [extents[0] - done]).run()
    else:
        _scalar_remainder(loop, loop.lower + done)


def _sums(lanes: VectorizableLoop) -> None:
    """Accumulate several rows of lanes one after the other to hide the latency of additions; then single rows, and a
    masked row."""
    loop = lanes.loop
    extents = [(u - loop.lower).simplify() for u in loop.uppers]
    if len(extents) > 1 or not may_hoist(loop):
        raise NotVectorizable("its extent is the minimum of several, or it may be empty", _SPLIT)
    count, width = extents[0].as_constant(), _chunk_lanes(loop)
    if count is not None:
        width = min(width, 1 << ((count - 1).bit_length() if can_mask(lanes) else count.bit_length() - 1))
    rows = _rows(lanes)
    while count is not None and rows > 1 and rows * width > count:
        rows //= 2
    parts = [PartialSums(s, loop, width, rows) for s in lanes.sums]

    def row(base: Index, number: int, counts: list[Index] | None = None) -> None:
        accumulators = {op: p.row_accumulator(number) for p in parts for op in (p.sum.load, p.sum.store)}
        VectorEmitter(lanes, loop.lower + base, width, counts or [], accumulators).run()

    def runs(start: Index, end: Index, together: int) -> Index:
        """A loop over groups of `together` rows from `start`; returns where it ends."""
        times = (end - start).simplify() // (width * together)
        if times.as_constant() == 0:
            return start
        body = make_loop(loop.name, 0, times)
        with at_end(body.body):
            for number in range(together):
                row(start + Index.from_value(body.var) * (width * together) + number * width, number)
        return (start + times * (width * together)).simplify()

    done = runs(Index.constant(0), extents[0], rows)
    if rows > 1:
        done = runs(done, extents[0], 1)
    remainder = (extents[0] - done).simplify()
    if remainder.as_constant() != 0:
        if can_mask(lanes):
            row(done, 0, [remainder])
        else:
            _scalar_remainder(loop, loop.lower + done)
    for part in parts:
        part.finish()


def _rows(lanes: VectorizableLoop) -> int:
    """Rows of lanes accumulated in parallel: the cheaper one is, the more are needed to hide the latency."""
    inner = walk.ops(lanes.loop.op)[1:]
    if any(isa(op, AffineForOp) for op in inner) or _is_long(lanes):
        return 1
    return max(1, MAX_ROWS // max(1, -(-_varying_ops(lanes, inner) // 2)))


def _varying_ops(lanes: VectorizableLoop, inner: Sequence[ir.Operation]) -> int:
    """The scalar ops that differ between lanes, equal ones once: LLVM moves the others out of the loop."""
    first: dict[ir.Value, ir.Value] = {}
    seen: dict[tuple[object, ...], ir.Value] = {}
    for op in inner:
        if len(op.results) == 1:
            operands = [first.get(value, value) for value in op.operands]
            first[op.results[0]] = seen.setdefault((op.name, str(op.attributes), *operands), op.results[0])
    return sum(is_scalar(str(name)) and value in lanes.varying for (name, *_), value in seen.items())


def _is_long(lanes: VectorizableLoop) -> bool:
    """Whether the body needs many registers and much time for each lane."""
    return any(op.name in SLOW_FUNCTIONS for op in walk.ops(lanes.loop.op))


def _scalar_remainder(loop: Loop, start: Index) -> None:
    """The remainder as a scalar loop."""
    remainder = edit.set_bounds(edit.clone(loop.op, ir.InsertionPoint.current), [start], loop.uppers)
    attrs.put(remainder, attrs.KIND, None)


def _chunk_lanes(loop: Loop) -> int:
    """The number of lanes of a chunk."""
    return max(2, REGISTER_BITS // _widest_element(loop))


def _widest_element(loop: Loop) -> int:
    widths = [8]
    for op in walk.ops(loop.op):
        is_index = isa(op, ApplyOp, IndexCastOp)  # gathered at positions of 32 bits
        for result in op.results:
            type_ = result.type
            widths.append((32 if is_index else 64) if isinstance(type_, ir.IndexType) else getattr(type_, "width", 8))
    return max(widths)
