"""Loops marked `vectorized` become vector operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mlir import ir
from mlir.dialects import arith, vector

from tir_mlir.dialect import attrs, ranges, walk
from tir_mlir.dialect.create import apply, at_end
from tir_mlir.dialect.create import loop as make_loop
from tir_mlir.dialect.index import Index, emit_map, read_map
from tir_mlir.dialect.views import Buffer, Loop, is_loop
from tir_mlir.passes.lower.facts import dense, map_of, zeros
from tir_mlir.passes.lower.lanes import Lanes, NotVector, analyse, can_mask, contiguous, step
from tir_mlir.passes.lower.registry import lowering, programs

MOST_PIECES = 2
"""Vectors of less than a register that are as quick as one that is masked."""
WIDEST = 64
"""Lanes in one vector value; a longer loop runs in chunks."""
REGISTER_BITS = 512
"""Bits in a chunk's vector: one register of a wide machine; LLVM splits it on others."""


@lowering("tir-lower-vectorized", "turn vectorized loops into vector operations where the body allows it")
def run(module: ir.Module) -> None:
    """Run all iterations of a `vectorized` loop at once.

        for %j = 0 to 16 {                            %a = affine.vector_load %A[%i, 0] : vector<16xf32>
          %a = affine.load %A[%i, %j]                 %s = vector.broadcast (affine.load %B[%i])
          %s = affine.load %B[%i]              -->    %m = arith.mulf %a, %s : vector<16xf32>
          affine.store (%a * %s), %C[%i, %j]          affine.vector_store %m, %C[%i, 0]
        } {tir.kind = "vectorized"}

    Extents over 64 run in chunks of a 512-bit register. What is left of a chunk, and a bound that is not constant, is a
    vector of which a mask takes part. Strided and gathered elements are loaded and stored one by one. A loop that has
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
    try:
        lanes = analyse(loop)
        with ir.InsertionPoint(loop.op), loop.op.location:
            if loop.const_extent is None:
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
    if count > WIDEST:
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
    if not can_mask(lanes):
        raise NotVector("its extent is not a constant, and a part of its vectors cannot be masked")
    extents = [(u - loop.lower).simplified() for u in loop.uppers]
    whole = [n for e in extents if (n := e.as_constant()) is not None and n <= WIDEST]
    if whole:
        Emitter(lanes, loop.lower, 1 << (whole[0] - 1).bit_length(), extents).run()
        return
    if len(extents) > 1 or not ranges.at_least_zero(extents[0], ranges.around(loop.op)):
        raise NotVector("its extent is the least of several, or may be negative")
    width = _register(loop)
    chunk = make_loop(loop.name, 0, extents[0] // width)
    with at_end(chunk.body):
        Emitter(lanes, loop.lower + Index.of(chunk.var) * width, width).run()
    done = extents[0] // width * width
    Emitter(lanes, loop.lower + done, width, [extents[0] - done]).run()


def _mask(loop: Loop, type_: ir.VectorType, counts: Sequence[Index]) -> ir.Value:
    """The first lanes, as many as the least of some counts; made as far out as these are known."""
    place = loop.op
    used = [walk.home(v) for c in counts for v in c.values]
    for parent in walk.parents(loop.op):
        if not is_loop(parent) or any(walk.is_inside(home, parent) for home in used):
            break
        place = parent
    with ir.InsertionPoint(place):
        if len(counts) == 1:
            count = apply(counts[0])
        else:
            map_, values = emit_map(counts)
            count = ir.Operation.create("affine.min", [ir.IndexType.get()], values, {"map": _attr(map_)}).results[0]
        return vector.create_mask(type_, [count])


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


class Emitter:
    """Writes the body of a loop for `width` lanes from `base` on, at the insertion point; `counts`: for the first ones
    only, as many as the least of these."""

    def __init__(self, lanes: Lanes, base: Index, width: int, counts: Sequence[Index] = ()):
        self.lanes = lanes
        self.base = base
        self.width = width
        bits = self._type(ir.IntegerType.get_signless(1))
        self.mask = _mask(lanes.loop, bits, counts) if counts else None
        self.scalars: dict[ir.Value, Index] = {}  # index values that are the same in all lanes
        self.values: dict[ir.Value, ir.Value] = {}  # copies: vectors of varying values, scalars of the others

    def run(self) -> None:
        self.body(self.lanes.loop.body)

    def body(self, block: ir.Block) -> None:
        for op in list(block.operations)[:-1]:
            with op.location:
                self.emit(op.operation)

    def emit(self, op: ir.Operation) -> None:
        if op.name in ("affine.for", "affine.if"):
            self.nested(op)
        elif op.name == "affine.store":
            self.store(op)
        elif not any(r in self.lanes.varying for r in op.results):
            self.uniform(op)
        elif op.name == "affine.load":
            self.load(op)
        elif op.name == "affine.apply":
            index = read_map(map_of(op), list(op.operands))[0]
            self.values[op.results[0]] = self.spread(index)
        elif op.name == "memref.load":
            self.gather(op)
        else:
            operands = [self.vector(v) for v in op.operands]
            made = self._like(op, operands, [self._type(r.type) for r in op.results])
            self.values |= dict(zip(op.results, made.results, strict=True))

    # --- operands ----------------------------------------------------------------------------------------------------

    def at(self, index: Index, lane: int = 0) -> Index:
        """An index expression in one lane."""
        return index.substitute({self.lanes.var: self.base + lane, **self.scalars}).simplified()

    def vector(self, value: ir.Value) -> ir.Value:
        """A value as a vector, broadcast when it is the same in all lanes."""
        if value == self.lanes.var:
            return self.spread(Index.of(value))
        if value in self.lanes.varying:
            return self.values[value]
        return vector.broadcast(self._type(value.type), self.scalar(value))

    def scalar(self, value: ir.Value) -> ir.Value:
        if value in self.scalars:
            return apply(self.scalars[value])
        return self.values.get(value, value)

    def spread(self, index: Index) -> ir.Value:
        """The values of an index expression in the lanes, as a vector of index."""
        type_ = self._type(ir.IndexType.get())
        grows = step(index, self.lanes.var)
        if grows is None:
            return vector.from_elements(type_, [apply(self.at(index, lane)) for lane in range(self.width)])
        numbers = np.arange(self.width, dtype=np.int64) * grows
        steps = arith.constant(type_, dense(numbers, type_))
        return arith.addi(vector.broadcast(type_, apply(self.at(index))), steps)

    # --- ops ---------------------------------------------------------------------------------------------------------

    def uniform(self, op: ir.Operation) -> None:
        if op.name in walk.AFFINE_OPS:
            start = 1 if op.name == "affine.load" else 0
            operands = list(op.operands)
            map_, used = emit_map([self.at(i) for i in read_map(map_of(op), operands[start:])])
            made = self._like(op, operands[:start] + used, [r.type for r in op.results], map_)
        else:
            made = self._like(op, [self.scalar(v) for v in op.operands], [r.type for r in op.results])
        self.values |= dict(zip(op.results, made.results, strict=True))
        if op.name == "affine.apply":
            index = read_map(map_of(op), list(op.operands))[0]
            self.scalars[op.results[0]] = self.at(index)

    def load(self, op: ir.Operation) -> None:
        memref, indices = op.operands[0], walk.access_indices(op)
        type_ = self._type(op.results[0].type)
        if not contiguous(self.lanes, memref, indices):
            made = vector.from_elements(type_, [self._load_one(memref, indices, k) for k in range(self.width)])
        elif self.mask is None or self._may_read_all(memref, indices):
            map_, used = emit_map([self.at(i) for i in indices])
            made = ir.Operation.create("affine.vector_load", [type_], [memref, *used], {"map": _attr(map_)}).results[0]
        else:
            places = [apply(self.at(i)) for i in indices]
            made = vector.maskedload(type_, memref, places, self.mask, zeros(type_))
        self.values[op.results[0]] = made

    def _may_read_all(self, memref: ir.Value, indices: Sequence[Index]) -> bool:
        """Whether lanes that the mask leaves out are elements of the buffer still, and not written here."""
        last = ir.MemRefType(memref.type).shape[-1]
        if last == ir.ShapedType.get_dynamic_size() or Buffer(memref).root.value in self.lanes.stored:
            return False
        box = ranges.within(ir.InsertionPoint.current.block.owner.operation)
        return ranges.at_least_zero(Index.constant(last - self.width) - self.at(indices[-1]), box)

    def _load_one(self, memref: ir.Value, indices: Sequence[Index], lane: int) -> ir.Value:
        map_, used = emit_map([self.at(i, lane) for i in indices])
        element = ir.MemRefType(memref.type).element_type
        return ir.Operation.create("affine.load", [element], [memref, *used], {"map": _attr(map_)}).results[0]

    def gather(self, op: ir.Operation) -> None:
        memref, *indices = list(op.operands)
        columns = [self.vector(i) for i in indices]
        elements = []
        for lane in range(self.width):
            where = [vector.extract(c, [], [lane]) for c in columns]
            elements.append(self._like(op, [memref, *where], [op.results[0].type]).results[0])
        self.values[op.results[0]] = vector.from_elements(self._type(op.results[0].type), elements)

    def store(self, op: ir.Operation) -> None:
        value, memref, indices = self.vector(op.operands[0]), op.operands[1], walk.access_indices(op)
        if self.mask is not None:
            vector.maskedstore(memref, [apply(self.at(i)) for i in indices], self.mask, value)
            return
        if contiguous(self.lanes, memref, indices):
            map_, used = emit_map([self.at(i) for i in indices])
            ir.Operation.create("affine.vector_store", [], [value, memref, *used], {"map": _attr(map_)})
            return
        for lane in range(self.width):
            map_, used = emit_map([self.at(i, lane) for i in indices])
            element = vector.extract(value, [], [lane])
            ir.Operation.create("affine.store", [], [element, memref, *used], {"map": _attr(map_)})

    def nested(self, op: ir.Operation) -> None:
        """A loop or condition that all lanes go through together."""
        shell = op.clone().operation
        for region in shell.regions:
            for block in region.blocks:
                for inner in reversed(list(block.operations)[:-1]):
                    inner.operation.erase()
        mapping = {self.lanes.var: self.base, **self.scalars}
        if any(v in mapping for v in shell.operands):
            shell = walk.rewrite_indices(shell, lambda i: i.substitute(mapping).simplified())
        for old_region, new_region in zip(op.regions, shell.regions, strict=True):
            for old, new in zip(old_region.blocks, new_region.blocks, strict=True):
                self.scalars |= {a: Index.of(b) for a, b in zip(old.arguments, new.arguments, strict=True)}
                with at_end(new):
                    self.body(old)

    # --- making ------------------------------------------------------------------------------------------------------

    def _type(self, element: ir.Type) -> ir.VectorType:
        return ir.VectorType.get([self.width], element)

    def _like(
        self,
        op: ir.Operation,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type],
        map_: ir.AffineMap | None = None,
    ) -> ir.Operation:
        attributes = {n: op.attributes[n] for n in op.attributes}
        if map_ is not None:
            attributes["map"] = _attr(map_)
        return ir.Operation.create(op.name, list(results), list(operands), attributes)


def _attr(map_: ir.AffineMap) -> ir.Attribute:
    return ir.AffineMapAttr.get(map_)
