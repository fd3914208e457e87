"""Functions on tensors that compute what TensorIR functions do: a `linalg.generic` for each block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, bufferization, func, linalg, memref, tensor

from tir_mlir.dialect.computation import NotRaisable
from tir_mlir.dialect.ir import Block, Buffer, Func, Index, Loop, attrs, create, is_block, is_init, is_loop
from tir_mlir.dialect.ir.op_traits import AFFINE_STORE
from tir_mlir.passes.linalg.element_ops import ElementOps, Operands
from tir_mlir.passes.linalg.emit_linalg import generic_op
from tir_mlir.passes.linalg.tensor_reshapes import reshaped

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
        reshape = reshaped(body.arguments[0], ir.RankedTensorType(results[0]), [])
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


def _write(target: ir.Operation, program: Func, write: Callable[[_Writer], None]) -> None:
    """Put a copy with a body in the place of a declaration."""
    with ir.InsertionPoint(target):
        copy = target.clone().operation
    try:
        writer = _Writer(copy, program)
        with ir.InsertionPoint(writer.body), copy.location:
            write(writer)
    except NotRaisable:
        copy.erase()
        raise
    target.erase()


class _Writer:
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
            elif op.name != "memref.alloc":
                self._beside(op)
        results = self.program.args[len(self.body.arguments) :]
        ir.Operation.create("func.return", operands=[self.tensors[r] for r in results])

    def call(self) -> None:
        for op in self.program.body_ops():
            if op.name == "memref.dim" and attrs.NAME in op.attributes:
                self._beside(op)
        count = len(self.body.arguments)
        inputs = [bufferization.to_buffer(_buffer(v.type), v, read_only=True) for v in self.body.arguments]
        outputs = [memref.alloc(p.type, self._dynamic(Buffer(p).dims), []) for p in self.program.args[count:]]
        passed = [_cast(v, p.type) for v, p in zip([*inputs, *outputs], self.program.args, strict=True)]
        func.CallOp([], ir.FlatSymbolRefAttr.get(self.program.name), passed)
        pairs = zip(self.results, outputs, strict=True)
        out = [bufferization.to_tensor(t, _cast(m, _buffer(t)), restrict=True, writable=True) for t, m in pairs]
        ir.Operation.create("func.return", operands=out)

    # --- sizes --------------------------------------------------------------------------------------------------------

    def _beside(self, op: ir.Operation) -> None:
        """What is beside the nests: sizes, and numbers."""
        if op.name == "memref.dim":
            if op.operands[0] not in self.tensors:
                raise NotRaisable(f"the size {attrs.get(op, attrs.NAME, '?')} is that of no operand", op)
            axis = ir.IntegerAttr(op.operands[1].owner.attributes["value"]).value
            axis_value = arith.constant(ir.IndexType.get(), axis)
            self.known[op.results[0]] = tensor.dim(self.tensors[op.operands[0]], axis_value)
        elif op.name.startswith(_PURE):
            copy = op.clone()
            for number, operand in enumerate(op.operands):
                copy.operands[number] = self.known[operand]
            self.known |= dict(zip(op.results, copy.results, strict=True))
        else:
            raise NotRaisable(f"it has {op.name} beside its loops", op)

    def index(self, index: Index) -> Index:
        """An expression of old sizes as one of new sizes."""
        missing = [v for v in index.values if v not in self.known]
        if missing:
            raise NotRaisable("a size is that of no operand")
        return index.substitute({v: Index.of(self.known[v]) for v in index.values})

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
        axes = _Axes(block, loops)
        body = [op for op in block.body_ops() if not is_init(op)]
        stores = [op for op in body if op.name == AFFINE_STORE]
        if any(op.name == "memref.store" for op in body) or not stores:
            raise NotRaisable(f'block "{block.name}" stores at indices from data', block.op)
        operands = Operands(block, axes.kept, stores)
        missing = operands.without_extent()
        starts = [self._start(block, op) for op in stores]
        inputs = [self._value(b, block) for b in operands.buffers]
        maps = [*operands.maps]
        if missing:
            shape = [axes.kept[d].extent for d in missing]
            inputs.append(self._empty(shape, Buffer(stores[0].operands[1]).type.element_type))
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
            self.tensors[op.operands[1]] = result

    def _value(self, buffer: ir.Value, block: Block) -> ir.Value:
        if buffer not in self.tensors:
            raise NotRaisable(f'block "{block.name}" reads {Buffer(buffer).name} before anything is written', block.op)
        return self.tensors[buffer]

    def value_of(self, buffer: ir.Value) -> ir.Value | None:
        """The tensor that a buffer is at this place."""
        return self.tensors.get(buffer)

    def _start(self, block: Block, store: ir.Operation) -> ir.Value:
        """What a block updates: the value of its init everywhere, the tensor so far, or nothing."""
        buffer = Buffer(store.operands[1])
        if block.init is None:
            current = self.tensors.get(buffer.value)
            return self._empty(buffer.dims, buffer.type.element_type) if current is None else current
        inner = block.init.regions[0].blocks[0].operations
        first = next((op for op in inner if op.name == AFFINE_STORE and op.operands[1] == buffer.value), None)
        owner = None if first is None else first.operands[0].owner
        if owner is None or isinstance(owner, ir.Block) or owner.name != "arith.constant":
            raise NotRaisable(f'the init of block "{block.name}" is no constant', block.op)
        value = owner.operation.clone().results[0]
        with ir.Location.name("fill", store.location):
            filled = linalg.fill(value, outs=[self._empty(buffer.dims, buffer.type.element_type)])
        return filled if isinstance(filled, ir.Value) else filled.results[0]


class _Axes:
    """The iters of a block as iterators: `kept` in order; those of one value are `dropped`, with that value."""

    def __init__(self, block: Block, loops: Sequence[Loop]):
        free = {loop.var: loop for loop in loops}
        indexed = {v for op in block.body_ops() if op.name == AFFINE_STORE for v in list(op.operands)[2:]}
        self.kept, self.dropped = [], {}
        for it in block.iters:
            if it.extent.as_constant() == 1 and it.var not in indexed:
                self.dropped[it.var] = it.min
                continue
            var = it.binding.is_value()
            loop = free.pop(var, None) if var is not None else None
            is_full = loop is not None and loop.lower.same(it.min) and loop.extent.same(it.extent)
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
