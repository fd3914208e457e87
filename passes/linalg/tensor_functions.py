"""Functions on tensors that compute what TensorIR functions do: a `linalg.generic` for each block, whose body computes
what the block does for one point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mlir import ir
from mlir.dialects import arith, bufferization, func, linalg, memref, tensor

from tir_mlir.dialect.computation import NotRaisable
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    Iter,
    Loop,
    access_indices,
    attrs,
    constant_integer,
    constraints,
    create,
    is_block,
    is_init,
    is_loop,
    read_apply,
    same_indices,
)
from tir_mlir.dialect.ir.op_views import (
    AffineLoadOp,
    AffineStoreOp,
    AllocOp,
    ApplyOp,
    ConstantOp,
    DimOp,
    ElementLoadOp,
    IfOp,
    LoadOp,
    MemrefLoadOp,
    MemrefStoreOp,
    ScfIfOp,
    StoreOp,
    dyn_cast,
    isa,
)
from tir_mlir.dialect.presburger import dim_factors
from tir_mlir.passes.linalg.emit_linalg import generic_op
from tir_mlir.passes.linalg.prepare import emit_reshape

_DYNAMIC = ir.ShapedType.get_dynamic_size()
_PURE = ("arith.", "affine.apply")


def write_body(target: ir.Operation, program: Func) -> None:
    """Give a declaration on tensors a body that computes what a TensorIR function does, whose last parameters are the
    results.

        for i, k in T.grid(4, 8):                              %e = tensor.empty() : tensor<4xf32>
            with T.block("sum"):                               %f = linalg.fill ins(%zero) outs(%e)
                with T.init(): Y[vi] = 0               -->     %y = linalg.generic {parallel, reduction}
                Y[vi] = Y[vi] + X[vi, vk]                              ins(%x) outs(%f) { addf }
                                                               return %y

    An operand that is read at linear indices is one of the generic; what is read under a condition, or at other
    indices, is a `tensor.extract` in it. Errors: NotRaisable, and the declaration is as it was, for a program that
    stores at indices from data, updates in order, loops in a block, or has a size that no operand has.
    """
    _write(target, program, lambda writer: writer.generics())


def write_call(target: ir.Operation, program: Func) -> None:
    """Give a declaration on tensors a body that calls a TensorIR function of the module on buffers.

        %0 = bufferization.to_buffer %x; %1 = memref.alloc(); call @f(%0, %1); return bufferization.to_tensor %1

    Errors: NotRaisable, and the declaration is as it was, for a size that no operand has.
    """
    _write(target, program, lambda writer: writer.call())


def write_reshape(target: ir.Operation) -> None:
    """Give a declaration on tensors of known shapes a body that returns its argument in the shape of its result."""
    body, results = _body(target)
    with ir.InsertionPoint(body), target.location:
        reshape = emit_reshape(body.arguments[0], ir.RankedTensorType(results[0]), [])
        ir.Operation.create("func.return", operands=[reshape])


def write_return(target: ir.Operation, numbers: Sequence[int]) -> None:
    """Give a declaration on tensors a body that returns arguments, by their numbers."""
    body, _ = _body(target)
    with ir.InsertionPoint(body), target.location:
        ir.Operation.create("func.return", operands=[body.arguments[n] for n in numbers])


def _body(target: ir.Operation) -> tuple[ir.Block, list[ir.Type]]:
    """An empty body for a declaration, and the types of its results."""
    types = ir.FunctionType(ir.TypeAttr(target.attributes["function_type"]).value)
    return target.regions[0].blocks.append(*types.inputs), list(types.results)


def _write(target: ir.Operation, program: Func, write: Callable[[_BodyWriter], None]) -> None:
    """Replace a declaration by a copy with a body."""
    with ir.InsertionPoint(target):
        copy = target.clone().operation
    try:
        writer = _BodyWriter(copy, program)
        with ir.InsertionPoint(writer.body), copy.location:
            write(writer)
    except NotRaisable:
        copy.erase()
        raise
    target.erase()


class _BodyWriter:
    """The state of writing one body. tensors: the value of each buffer so far; known: new values of old ones."""

    def __init__(self, target: ir.Operation, program: Func):
        self.program = program
        self.body, self.results = _body(target)
        self.tensors: dict[ir.Value, ir.Value] = dict(zip(program.args, self.body.arguments, strict=False))
        self.known: dict[ir.Value, ir.Value] = {}

    # --- the two kinds of bodies --------------------------------------------------------------------------------------

    def generics(self) -> None:
        for op in self.program.body_ops():
            if is_loop(op) or is_block(op):
                self._nest(op)
            elif not isa(op, AllocOp):
                self._write_scalar_op(op)
        results = self.program.args[len(self.body.arguments) :]
        ir.Operation.create("func.return", operands=[self.tensors[r] for r in results])

    def call(self) -> None:
        for op in self.program.body_ops():
            if isa(op, DimOp) and attrs.NAME in op.attributes:
                self._write_scalar_op(op)
        count = len(self.body.arguments)
        inputs = [bufferization.to_buffer(_buffer(v.type), v, read_only=True) for v in self.body.arguments]
        outputs = [memref.alloc(p.type, self._dynamic(Buffer(p).dims), []) for p in self.program.args[count:]]
        passed = [_cast(v, p.type) for v, p in zip([*inputs, *outputs], self.program.args, strict=True)]
        func.CallOp([], ir.FlatSymbolRefAttr.get(self.program.name), passed)
        pairs = zip(self.results, outputs, strict=True)
        out = [bufferization.to_tensor(t, _cast(m, _buffer(t)), restrict=True, writable=True) for t, m in pairs]
        ir.Operation.create("func.return", operands=out)

    # --- sizes --------------------------------------------------------------------------------------------------------

    def _write_scalar_op(self, op: ir.Operation) -> None:
        """What is outside the nests: sizes, and numbers."""
        if dim := dyn_cast(op, DimOp):
            if dim.source not in self.tensors:
                raise NotRaisable(f"the size {attrs.get(op, attrs.NAME, '?')} is that of no operand", op)
            axis_value = arith.constant(ir.IndexType.get(), constant_integer(dim.axis) or 0)
            self.known[dim.result] = tensor.dim(self.tensors[dim.source], axis_value)
        elif op.name.startswith(_PURE):
            copy = op.clone()
            for number, operand in enumerate(op.operands):
                copy.operands[number] = self.known[operand]
            self.known |= dict(zip(op.results, copy.results, strict=True))
        else:
            raise NotRaisable(f"it has {op.name} next to its loops", op)

    def index(self, index: Index) -> Index:
        """An expression of old sizes as one of new sizes."""
        missing = [v for v in index.values if v not in self.known]
        if missing:
            raise NotRaisable("a size is that of no operand")
        return index.substitute({v: Index.from_value(self.known[v]) for v in index.values})

    def _dynamic(self, dims: Sequence[Index]) -> list[ir.Value]:
        """The values of the symbolic ones of some sizes."""
        return [create.apply(self.index(d)) for d in dims if d.as_constant() is None]

    def _empty(self, dims: Sequence[Index], element: ir.Type) -> ir.Value:
        sizes = [d.as_constant() for d in dims]
        type_ = ir.RankedTensorType.get([_DYNAMIC if n is None else n for n in sizes], element)
        return ir.Operation.create("tensor.empty", results=[type_], operands=self._dynamic(dims)).results[0]

    # --- nests --------------------------------------------------------------------------------------------------------

    def _nest(self, op: ir.Operation) -> None:
        loops: list[Loop] = []
        while is_loop(op):
            loops.append(Loop(op))
            inner = loops[-1].body_ops()
            if len(inner) != 1 or not is_loop(inner[0]):
                break
            op = inner[0]
        blocks = [op] if is_block(op) else loops[-1].body_ops()
        for block_op in blocks:
            if not is_block(block_op):
                raise NotRaisable(f"{block_op.name} is around a block", block_op)
            self._block(Block(block_op), loops)

    def _block(self, block: Block, loops: Sequence[Loop]) -> None:
        axes = _IterAxes(block, loops)
        body = [op for op in block.body_ops() if not is_init(op)]
        stores = [op for op in body if isa(op, AffineStoreOp)]
        if any(isa(op, MemrefStoreOp) for op in body) or not stores:
            raise NotRaisable(f'block "{block.name}" stores at indices from data', block.op)
        operands = Operands(block, axes.kept, stores)
        missing = operands.without_extent()
        starts = [self._start(block, op) for op in stores]
        inputs = [self._value(b, block) for b in operands.buffers]
        maps = [*operands.maps]
        if missing:
            shape = [axes.kept[d].extent for d in missing]
            inputs.append(self._empty(shape, Buffer(StoreOp(stores[0]).memref).type.element_type))
            maps.append(ir.AffineMap.get(len(axes.kept), 0, [ir.AffineExpr.get_dim(d) for d in missing]))
        kinds = [it.kind for it in axes.kept]
        with ir.Location.name(block.name or "generic", block.op.location):
            generic = generic_op(inputs, starts, [*maps, *operands.out_maps], kinds)
        payload = generic.regions[0].blocks[0]
        with ir.InsertionPoint(payload):
            writer = ElementOps(operands, list(payload.arguments), axes.dropped, self)
            ir.Operation.create("linalg.yield", operands=writer.values(body))
        writer.erase_unused()
        for op, result in zip(stores, generic.results, strict=True):
            self.tensors[StoreOp(op).memref] = result

    def _value(self, buffer: ir.Value, block: Block) -> ir.Value:
        if buffer not in self.tensors:
            raise NotRaisable(f'block "{block.name}" reads {Buffer(buffer).name} before anything is written', block.op)
        return self.tensors[buffer]

    def value_of(self, buffer: ir.Value) -> ir.Value | None:
        """The tensor that a buffer is at this position."""
        return self.tensors.get(buffer)

    def _start(self, block: Block, store: ir.Operation) -> ir.Value:
        """What a block updates: the value of its init everywhere, the tensor so far, or nothing."""
        buffer = Buffer(StoreOp(store).memref)
        if block.init is None:
            current = self.tensors.get(buffer.value)
            return self._empty(buffer.dims, buffer.type.element_type) if current is None else current
        inner = block.init.regions[0].blocks[0].operations
        stores = [AffineStoreOp(op.operation) for op in inner if isa(op, AffineStoreOp)]
        first = next((store for store in stores if store.memref == buffer.value), None)
        owner = None if first is None else first.value.owner
        if owner is None or isinstance(owner, ir.Block) or not isa(owner, ConstantOp):
            raise NotRaisable(f'the init of block "{block.name}" is not a constant', block.op)
        value = owner.operation.clone().results[0]
        with ir.Location.name("fill", store.location):
            filled = linalg.fill(value, outs=[self._empty(buffer.dims, buffer.type.element_type)])
        return filled if isinstance(filled, ir.Value) else filled.results[0]


class _IterAxes:
    """The iters of a block as iterators: `kept` in order; those of one value are `dropped`, with that value."""

    def __init__(self, block: Block, loops: Sequence[Loop]):
        free = {loop.var: loop for loop in loops}
        indexed = {v for op in block.body_ops() if isa(op, AffineStoreOp) for v in list(op.operands)[2:]}
        self.kept, self.dropped = [], {}
        for it in block.iters:
            if it.extent.as_constant() == 1 and it.var not in indexed:
                self.dropped[it.var] = it.min
                continue
            var = it.binding.is_value()
            loop = free.pop(var, None) if var is not None else None
            is_full = loop is not None and loop.lower.is_equal_to(it.min) and loop.extent.is_equal_to(it.extent)
            if it.kind == "O" or not is_full or it.min.as_constant() is None:
                raise NotRaisable(
                    f'iter {it.name} of block "{block.name}" does not run over a loop of its own', block.op
                )
            self.kept.append(it)
        if any(loop.const_extent != 1 for loop in free.values()):
            raise NotRaisable(f'a loop around block "{block.name}" is bound to no iter', block.op)


def _buffer(type_: ir.Type) -> ir.MemRefType:
    """The row-major buffer of a tensor."""
    ranked = ir.RankedTensorType(type_)
    return ir.MemRefType.get(ranked.shape, ranked.element_type)


def _cast(value: ir.Value, type_: ir.Type) -> ir.Value:
    return value if value.type == type_ else memref.cast(type_, value)


# --- what a block computes for one point ------------------------------------------------------------------------------


class SizeValues(Protocol):
    """What the function around has: the new values of sizes and numbers, and the tensor that a buffer is."""

    known: dict[ir.Value, ir.Value]

    def index(self, index: Index) -> Index: ...
    def value_of(self, buffer: ir.Value) -> ir.Value | None: ...


class Operands:
    """The operands of a generic: `buffers` with `maps`, which `loads` read, and what is written, with `out_maps`."""

    def __init__(self, block: Block, axes: Sequence[Iter], stores: Sequence[ir.Operation]):
        self.block, self.axes, self.stores = block, list(axes), list(stores)
        self.dims = {it.var: n for n, it in enumerate(axes)}
        self.buffers: list[ir.Value] = []
        self.maps: list[ir.AffineMap] = []
        self.loads: dict[ir.Operation, int] = {}
        self.out_maps = [self._output(op) for op in stores]
        self.outputs = [StoreOp(op).memref for op in stores]
        for op in block.body_ops():
            if isa(op, AffineLoadOp) and LoadOp(op).memref not in self.outputs:
                self._load(op)

    def _output(self, store: ir.Operation) -> ir.AffineMap:
        exprs, indexed = [], set()
        for index, size in zip(access_indices(store), Buffer(StoreOp(store).memref).dims, strict=True):
            var = index.is_value()
            dim = self.dims.get(var) if var is not None else None
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
        return it.min.as_constant() == 0 and it.extent.is_equal_to(size)

    def _load(self, op: ir.Operation) -> None:
        map_ = self._map(op)
        if map_ is None:
            return
        buffer = LoadOp(op).memref
        matches = [n for n, b in enumerate(self.buffers) if b == buffer and self.maps[n] == map_]
        if not matches:
            matches = [len(self.buffers)]
            self.buffers.append(buffer)
            self.maps.append(map_)
        self.loads[op] = matches[0]

    def _map(self, op: ir.Operation) -> ir.AffineMap | None:
        """The indexing map of a load; None if its indices are not sums of iterators that linalg takes."""
        exprs = []
        for index, size in zip(access_indices(op), Buffer(LoadOp(op).memref).dims, strict=True):
            if any(v not in self.dims for v in index.values):
                return None
            iterators = [self.dims[v] for v in index.values]
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
        """The iterators that no operand has alone: their extent needs one more operand."""
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
        self, operands: Operands, arguments: Sequence[ir.Value], dropped: Mapping[ir.Value, Index], sizes: SizeValues
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
                self.positions.append(create.apply(Index.from_value(op.results[0]) + low).owner.operation)
            self.made[it.var] = self.positions[-1].results[0]
        for var, value in dropped.items():
            self.made[var] = create.apply(sizes.index(value))
            self.positions.append(self.made[var].owner.operation)

    def values(self, body: Sequence[ir.Operation]) -> list[ir.Value]:
        """Write the ops of a block; returns what it stores, in the order of the outputs."""
        for op in body:
            if not isa(op, AffineStoreOp):
                self._op(op, True)
        return [self.made[StoreOp(s).value] for s in self.operands.stores]

    def erase_unused(self) -> None:
        for op in reversed(self.positions):
            if not any(True for _ in op.results[0].uses):
                op.erase()

    def _op(self, op: ir.Operation, always: bool) -> None:
        if isa(op, ElementLoadOp):
            self.made[op.results[0]] = self._read_element(op, always)
        elif isa(op, ApplyOp):
            self.made[op.results[0]] = create.apply(self._index(read_apply(op.results[0])))
        elif isa(op, IfOp) and len(op.results):
            self._branch(op)
        elif len(op.regions) or op.name.split(".")[0] not in ("arith", "math"):
            raise NotRaisable(f'block "{self.operands.block.name}" has {op.name} in it', op)
        else:
            copy = op.clone()
            for number, operand in enumerate(op.operands):
                copy.operands[number] = self.made[operand]
            self.made |= dict(zip(op.results, copy.results, strict=True))

    def _read_element(self, op: ir.Operation, always: bool) -> ir.Value:
        buffer = LoadOp(op).memref
        if buffer in self.operands.outputs:
            number = self.operands.outputs.index(buffer)
            same = isa(op, AffineLoadOp) and same_indices(
                access_indices(op), access_indices(self.operands.stores[number])
            )
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
        if isa(op, MemrefLoadOp):
            indices = [self.made[v] for v in list(op.operands)[1:]]
        else:
            indices = [create.apply(self._index(i)) for i in access_indices(op)]
        return tensor.extract(value, indices)

    def _index(self, index: Index) -> Index:
        return index.substitute({v: Index.from_value(self.made[v]) for v in index.values})

    def _branch(self, op: ir.Operation) -> None:
        test = self.made[ScfIfOp(op).condition] if isa(op, ScfIfOp) else self._condition(op)
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
