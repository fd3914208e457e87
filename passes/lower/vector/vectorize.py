"""Loops marked `vectorized` become vector operations."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Index, Loop, at_end, attrs, edit, is_loop, walk
from tir_mlir.dialect.ir import loop as make_loop
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.registry import lowering, programs
from tir_mlir.passes.lower.vector.emit import Emitter
from tir_mlir.passes.lower.vector.legality import Lanes, NotVector, analyse, can_mask
from tir_mlir.passes.lower.vector.partial_sums import Parts
from tir_mlir.passes.lower.vector.peel_first import may_start, take_out_starts

MOST_PIECES = 2
"""Vectors of less than a register that are as quick as one that is masked."""
WIDEST = 64
"""Lanes in one vector value; a longer loop runs in chunks."""
REGISTER_BITS = 512
"""Bits in a chunk's vector: one register of a wide machine; LLVM splits it on others."""
MOST_ROWS = 4
"""Chunks of a sum that are added up beside each other."""
LONG = ("math.exp", "math.exp2", "math.log", "math.tanh", "math.erf", "math.powf", "math.sin", "math.cos")
"""Functions that take so long that a sum of them does not wait for its additions, and need all registers."""


@lowering("tir-lower-vectorized", "turn vectorized loops into vector operations where the body allows it")
def run(module: ir.Module) -> None:
    """Run all iterations of a `vectorized` loop at once.

        for %j = 0 to 16 {                            %a = affine.vector_load %A[%i, 0] : vector<16xf32>
          %a = affine.load %A[%i, %j]                 %s = vector.broadcast (affine.load %B[%i])
          %s = affine.load %B[%i]              -->    %m = arith.mulf %a, %s : vector<16xf32>
          affine.store (%a * %s), %C[%i, %j]          affine.vector_store %m, %C[%i, 0]
        } {tir.kind = "vectorized"}

    Extents over 64 run in chunks of a 512-bit register. What is left of a chunk, and a bound that is not constant, is a
    vector of which a mask takes part, or, where a CPU has no masks, a shorter vector or a loop. Elements up to four
    apart are picked out of whole vectors; others, gathered ones, and what is stored apart go one by one. An update
    `C[i] = C[i] + a` of a declared reduction is summed up in each lane, and over the lanes at the end. A loop that has
    no such form (a condition or a call inside, lanes that depend on each other) becomes a serial loop. Requires blocks
    to be removed.
    """
    for func in programs(module):
        _vectorize_below(func.op)


def _vectorize_below(root: ir.Operation) -> None:
    """Vectorise the outermost marked loops beneath `root`; inside those that stay scalar, the next ones."""

    def marked(op: ir.Operation) -> bool:
        return op != root and is_loop(op) and Loop(op).kind == "vectorized"

    # the list ends at marked loops: nothing in it goes away with a loop that is replaced
    for op in [o for o in walk.ops(root, skip=marked) if marked(o)]:
        if vectorize(Loop(op)) is not None:
            attrs.put(op, attrs.KIND, None)
            _vectorize_below(op)


def vectorize(loop: Loop) -> str | None:
    """Vectorise one loop; None when done, else why it stays scalar."""
    if len(loop.lowers) != 1 or loop.const_extent in (0, 1):
        return "it does not run more than once from one start"
    for inner in reversed([o for o in walk.ops(loop.op) if is_loop(o)]):
        take_out_starts(Loop(inner))
    try:
        lanes = analyse(loop)
        with ir.InsertionPoint(loop.op), loop.op.location:
            if lanes.sums:
                _sums(lanes)
            elif loop.const_extent is None:
                _open_end(lanes)
            else:
                _pieces(lanes, loop.lower, loop.const_extent)
    except NotVector as reason:
        return str(reason)
    loop.op.erase()
    return None


def _pieces(lanes: Lanes, base: Index, count: int) -> None:
    """Vectors of powers of two for a constant number of lanes, the last one in part where that is quicker."""
    width = _register(lanes.loop)
    if count > (width if _is_long(lanes) else WIDEST):
        chunk = make_loop(lanes.loop.name, 0, count // width)
        with at_end(chunk.body):
            Emitter(lanes, base + Index.of(chunk.var) * width, width).run()
        base, count = base + count // width * width, count % width
    while count:
        size = 1 << (count.bit_length() - 1)
        if size < width and count.bit_count() > MOST_PIECES and can_mask(lanes):
            Emitter(lanes, base, size * 2, [Index.constant(count)]).run()
            return
        size = count if size < width and not can_mask(lanes) else size
        Emitter(lanes, base, size).run()
        base, count = base + size, count - size


def _open_end(lanes: Lanes) -> None:
    """A number of lanes that is known when the program runs: whole vectors, and a part of one."""
    loop = lanes.loop
    extents = [(u - loop.lower).simplified() for u in loop.uppers]
    whole = [n for e in extents if (n := e.as_constant()) is not None and n <= WIDEST]
    if whole and can_mask(lanes):
        Emitter(lanes, loop.lower, 1 << (whole[0] - 1).bit_length(), extents).run()
        return
    if len(extents) > 1 or not intervals.at_least_zero(extents[0], intervals.around(loop.op)):
        raise NotVector("its extent is the least of several, or may be negative")
    width = _register(loop)
    chunk = make_loop(loop.name, 0, extents[0] // width)
    with at_end(chunk.body):
        Emitter(lanes, loop.lower + Index.of(chunk.var) * width, width).run()
    done = extents[0] // width * width
    if can_mask(lanes):
        Emitter(lanes, loop.lower + done, width, [extents[0] - done]).run()
    else:
        _one_by_one(loop, loop.lower + done)


def _sums(lanes: Lanes) -> None:
    """Several rows of lanes in turn, so that an addition need not wait for the one before; then rows one by one, and a
    part of a row."""
    loop = lanes.loop
    extents = [(u - loop.lower).simplified() for u in loop.uppers]
    if len(extents) > 1 or not may_start(loop):
        raise NotVector("its extent is the least of several, or it may not run")
    count, width = extents[0].as_constant(), _register(loop)
    if count is not None:
        width = min(width, 1 << ((count - 1).bit_length() if can_mask(lanes) else count.bit_length() - 1))
    rows = _rows(lanes)
    while count is not None and rows > 1 and rows * width > count:
        rows //= 2
    parts = [Parts(s, loop, width, rows) for s in lanes.sums]

    def row(base: Index, number: int, counts: list[Index] | None = None) -> None:
        places = {op: p.place(number) for p in parts for op in (p.sum.load, p.sum.store)}
        Emitter(lanes, loop.lower + base, width, counts or [], places).run()

    def runs(start: Index, end: Index, together: int) -> Index:
        """As many iterations of so many rows as there are between two places; where they end."""
        times = (end - start).simplified() // (width * together)
        if times.as_constant() == 0:
            return start
        body = make_loop(loop.name, 0, times)
        with at_end(body.body):
            for number in range(together):
                row(start + Index.of(body.var) * (width * together) + number * width, number)
        return (start + times * (width * together)).simplified()

    done = runs(Index.constant(0), extents[0], rows)
    if rows > 1:
        done = runs(done, extents[0], 1)
    left = (extents[0] - done).simplified()
    if left.as_constant() != 0:
        if can_mask(lanes):
            row(done, 0, [left])
        else:
            _one_by_one(loop, loop.lower + done)
    for part in parts:
        part.finish()


def _rows(lanes: Lanes) -> int:
    """Rows of lanes that are summed up beside each other: the less there is to do for one, the more hide its wait."""
    names = [op.name for op in walk.ops(lanes.loop.op)[1:]]
    if "affine.for" in names or _is_long(lanes):
        return 1
    return max(1, MOST_ROWS // max(1, sum(n.startswith(("arith.", "math.")) for n in names) // 2))


def _is_long(lanes: Lanes) -> bool:
    """Whether the body takes many registers and much time for each lane."""
    return any(op.name in LONG for op in walk.ops(lanes.loop.op))


def _one_by_one(loop: Loop, start: Index) -> None:
    """What is left, without vectors."""
    rest = edit.set_bounds(edit.clone(loop.op, ir.InsertionPoint.current), [start], loop.uppers)
    attrs.put(rest, attrs.KIND, None)


def _register(loop: Loop) -> int:
    """Lanes in a chunk."""
    return max(2, REGISTER_BITS // _widest_element(loop))


def _widest_element(loop: Loop) -> int:
    widths = [8]
    for op in walk.ops(loop.op):
        for result in op.results:
            type_ = result.type
            widths.append(64 if isinstance(type_, ir.IndexType) else getattr(type_, "width", 8))
    return max(widths)
