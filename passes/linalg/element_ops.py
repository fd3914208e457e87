"""What a block computes for one point, as the body of a `linalg.generic` on tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mlir import ir
from mlir.dialects import arith, tensor

from tir_mlir.dialect.computation import NotRaisable
from tir_mlir.dialect.ir import Block, Buffer, Index, Iter, access_indices, constraints, create, read_apply
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, AFFINE_STORE, ELEMENT_LOADS, IFS
from tir_mlir.dialect.presburger import dim_factors


class Sizes(Protocol):
    """What the function around has: the new values of sizes and numbers, and the tensor that a buffer is."""

    known: dict[ir.Value, ir.Value]

    def index(self, index: Index) -> Index: ...
    def value_of(self, buffer: ir.Value) -> ir.Value | None: ...


class Operands:
    """The operands of a generic: `buffers` with `maps`, which `loads` read, and what is written, with `out_maps`."""

    def __init__(self, block: Block, axes: Sequence[Iter], stores: Sequence[ir.Operation]):
        self.block, self.axes, self.stores = block, list(axes), list(stores)
        self.places = {it.var: n for n, it in enumerate(axes)}
        self.buffers: list[ir.Value] = []
        self.maps: list[ir.AffineMap] = []
        self.loads: dict[ir.Operation, int] = {}
        self.out_maps = [self._output(op) for op in stores]
        self.outputs = [op.operands[1] for op in stores]
        for op in block.body_ops():
            if op.name == AFFINE_LOAD and op.operands[0] not in self.outputs:
                self._load(op)

    def _output(self, store: ir.Operation) -> ir.AffineMap:
        exprs, indexed = [], set()
        for index, size in zip(access_indices(store), Buffer(store.operands[1]).dims, strict=True):
            var = index.is_value()
            dim = self.places.get(var) if var is not None else None
            if dim is None or dim in indexed or self.axes[dim].kind != "S" or not self._is_all(dim, size):
                raise NotRaisable(f'block "{self.block.name}" does not write each element once, in a box', store)
            indexed.add(dim)
            exprs.append(ir.AffineExpr.get_dim(dim))
        if len(indexed) != sum(1 for it in self.axes if it.kind == "S"):
            raise NotRaisable(f'a spatial iter of block "{self.block.name}" indexes nothing that it writes', store)
        return ir.AffineMap.get(len(self.axes), 0, exprs)

    def _is_all(self, dim: int, size: Index) -> bool:
        """Whether an iterator runs over a whole dimension."""
        it = self.axes[dim]
        return it.min.as_constant() == 0 and it.extent.same(size)

    def _load(self, op: ir.Operation) -> None:
        map_ = self._map(op)
        if map_ is None:
            return
        matches = [n for n, b in enumerate(self.buffers) if b == op.operands[0] and self.maps[n] == map_]
        if not matches:
            matches = [len(self.buffers)]
            self.buffers.append(op.operands[0])
            self.maps.append(map_)
        self.loads[op] = matches[0]

    def _map(self, op: ir.Operation) -> ir.AffineMap | None:
        """The indexing map of a load; None if its indices are not sums of iterators that linalg takes."""
        exprs = []
        for index, size in zip(access_indices(op), Buffer(op.operands[0]).dims, strict=True):
            if any(v not in self.places for v in index.values):
                return None
            iterators = [self.places[v] for v in index.values]
            dims = [ir.AffineExpr.get_dim(n) + int(self.axes[n].min.as_constant() or 0) for n in iterators]
            expr = index.expr.compose(ir.AffineMap.get(len(self.axes), 0, dims)) if dims else index.expr
            expr = expr.maybe_downcast()
            if isinstance(expr, ir.AffineDimExpr):
                if not self._is_all(expr.position, size):
                    return None
            elif not _is_sum(expr):
                return None
            exprs.append(expr)
        return ir.AffineMap.get(len(self.axes), 0, exprs)

    def without_extent(self) -> list[int]:
        """The iterators that no operand has alone: their extent is to be told by one more operand."""
        bare = {
            e.position
            for map_ in (*self.maps, *self.out_maps)
            for e in (expr.maybe_downcast() for expr in map_.results)
            if isinstance(e, ir.AffineDimExpr)
        }
        return [n for n in range(len(self.axes)) if n not in bare]


def _is_sum(expr: ir.AffineExpr) -> bool:
    """Whether an expression is a constant, or a sum of dimensions with positive factors."""
    linear = dim_factors(expr)
    return linear is not None and linear.constant >= 0 and all(f > 0 for f in linear.factors.values())


class ElementOps:
    """Writes the body of a generic at the insertion point. arguments: of its region; dropped: iters of one value."""

    def __init__(
        self, operands: Operands, arguments: Sequence[ir.Value], dropped: Mapping[ir.Value, Index], sizes: Sizes
    ):
        self.operands, self.around = operands, sizes
        count = len(operands.outputs)
        self.inputs, self.running = list(arguments[: len(arguments) - count]), list(arguments[len(arguments) - count :])
        self.made: dict[ir.Value, ir.Value] = dict(sizes.known)
        self.positions: list[ir.Operation] = []
        for number, it in enumerate(operands.axes):
            dim = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
            op = ir.Operation.create("linalg.index", results=[ir.IndexType.get()], attributes={"dim": dim})
            self.positions.append(op)
            low = it.min.as_constant() or 0
            if low:
                self.positions.append(create.apply(Index.of(op.results[0]) + low).owner.operation)
            self.made[it.var] = self.positions[-1].results[0]
        for var, value in dropped.items():
            self.made[var] = create.apply(sizes.index(value))
            self.positions.append(self.made[var].owner.operation)

    def values(self, body: Sequence[ir.Operation]) -> list[ir.Value]:
        """Write the ops of a block; returns what it stores, in the order of the outputs."""
        for op in body:
            if op.name != AFFINE_STORE:
                self._op(op, True)
        return [self.made[s.operands[0]] for s in self.operands.stores]

    def erase_unused(self) -> None:
        for op in reversed(self.positions):
            if not any(True for _ in op.results[0].uses):
                op.erase()

    def _op(self, op: ir.Operation, always: bool) -> None:
        if op.name in ELEMENT_LOADS:
            self.made[op.results[0]] = self._loaded(op, always)
        elif op.name == "affine.apply":
            self.made[op.results[0]] = create.apply(self._index(read_apply(op.results[0])))
        elif op.name in IFS and len(op.results):
            self._branch(op)
        elif len(op.regions) or op.name.split(".")[0] not in ("arith", "math"):
            raise NotRaisable(f'block "{self.operands.block.name}" has {op.name} in it', op)
        else:
            copy = op.clone()
            for number, operand in enumerate(op.operands):
                copy.operands[number] = self.made[operand]
            self.made |= dict(zip(op.results, copy.results, strict=True))

    def _loaded(self, op: ir.Operation, always: bool) -> ir.Value:
        buffer = op.operands[0]
        if buffer in self.operands.outputs:
            number = self.operands.outputs.index(buffer)
            same = op.name == AFFINE_LOAD and _same(access_indices(op), access_indices(self.operands.stores[number]))
            if not same:
                raise NotRaisable(f'block "{self.operands.block.name}" reads what other points write', op)
            return self.running[number]
        if always and op in self.operands.loads:
            return self.inputs[self.operands.loads[op]]
        value = self.around.value_of(buffer)
        if value is None:
            raise NotRaisable(
                f'block "{self.operands.block.name}" reads {Buffer(buffer).name} before it is written', op
            )
        if op.name == "memref.load":
            indices = [self.made[v] for v in list(op.operands)[1:]]
        else:
            indices = [create.apply(self._index(i)) for i in access_indices(op)]
        return tensor.extract(value, indices)

    def _index(self, index: Index) -> Index:
        return index.substitute({v: Index.of(self.made[v]) for v in index.values})

    def _branch(self, op: ir.Operation) -> None:
        test = self.made[op.operands[0]] if op.name == "scf.if" else self._condition(op)
        branch = ir.Operation.create("scf.if", results=[r.type for r in op.results], operands=[test], regions=2)
        for old, new in zip(op.regions, branch.regions, strict=True):
            ops = [o.operation for o in old.blocks[0].operations]
            with ir.InsertionPoint(new.blocks.append()):
                for inner in ops[:-1]:
                    self._op(inner, False)
                ir.Operation.create("scf.yield", operands=[self.made[v] for v in ops[-1].operands])
        self.made |= dict(zip(op.results, branch.results, strict=True))

    def _condition(self, op: ir.Operation) -> ir.Value:
        """The condition of an `affine.if` as arithmetic."""
        conjunction: Any = None
        zero = arith.constant(ir.IndexType.get(), 0)
        for constraint in constraints(op):
            kind = arith.CmpIPredicate.eq if constraint.is_eq else arith.CmpIPredicate.sge
            test = arith.cmpi(kind, create.apply(self._index(constraint.index)), zero)
            conjunction = test if conjunction is None else arith.andi(conjunction, test)
        return conjunction


def _same(lhs: Sequence[Index], rhs: Sequence[Index]) -> bool:
    return all(a.same(b) for a, b in zip(lhs, rhs, strict=True))
