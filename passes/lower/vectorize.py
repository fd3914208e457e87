"""Loops marked `vectorized` become vector operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mlir import ir
from mlir.dialects import arith, vector

from tir_mlir.dialect import attrs, walk
from tir_mlir.dialect.create import apply, at_end
from tir_mlir.dialect.create import loop as make_loop
from tir_mlir.dialect.index import Index, emit_map, read_map
from tir_mlir.dialect.views import Loop, is_loop
from tir_mlir.passes.lower import align
from tir_mlir.passes.lower.facts import dense, map_of
from tir_mlir.passes.lower.lanes import Lanes, NotVector, analyse, step
from tir_mlir.passes.lower.registry import lowering, programs

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

    Extents over 64 run in chunks of a 512-bit register, with a narrower vector for the rest. Strided and gathered
    elements are loaded and stored one by one. A loop that has no such form (a condition or a call inside, lanes that
    depend on each other, an extent that is not constant) becomes a serial loop. Requires blocks to be removed.
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
    count = loop.const_extent
    if count is None or count < 2:
        return "its extent is not a constant over 1"
    try:
        lanes = analyse(loop)
    except NotVector as reason:
        return str(reason)
    with ir.InsertionPoint(loop.op), loop.op.location:
        if count <= WIDEST:
            Emitter(lanes, loop.lower, count).run()
        else:
            _chunks(lanes, loop, count)
    loop.op.erase()
    return None


def _chunks(lanes: Lanes, loop: Loop, count: int) -> None:
    width = max(2, REGISTER_BITS // _widest_element(loop))
    chunk = make_loop(loop.name, 0, count // width)
    with at_end(chunk.body):
        Emitter(lanes, loop.lower + Index.of(chunk.var) * width, width).run()
    if rest := count % width:
        Emitter(lanes, loop.lower + (count - rest), rest).run()


def _widest_element(loop: Loop) -> int:
    widths = [8]
    for op in walk.ops(loop.op):
        for result in op.results:
            type_ = result.type
            widths.append(64 if isinstance(type_, ir.IndexType) else getattr(type_, "width", 8))
    return max(widths)


class Emitter:
    """Writes the body of a loop for `width` lanes from `base` on, at the insertion point."""

    def __init__(self, lanes: Lanes, base: Index, width: int):
        self.lanes = lanes
        self.base = base
        self.width = width
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
        if self._is_contiguous(memref, indices):
            map_, used = emit_map([self.at(i) for i in indices])
            made = ir.Operation.create("affine.vector_load", [type_], [memref, *used], {"map": _attr(map_)}).results[0]
        else:
            made = vector.from_elements(type_, [self._load_one(memref, indices, k) for k in range(self.width)])
        self.values[op.results[0]] = made

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
        if self._is_contiguous(memref, indices):
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

    def _is_contiguous(self, memref: ir.Value, indices: Sequence[Index]) -> bool:
        strides, _ = ir.MemRefType(memref.type).get_strides_and_offset()
        steps = [self.lanes.step(i) for i in indices]
        if align.padded(memref):
            return align.is_row(memref) and bool(steps) and steps[-1] == 1 and not any(steps[:-1])
        return bool(steps) and strides[-1] == 1 and steps[-1] == 1 and not any(steps[:-1]) and None not in steps

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
