"""A program as plain data: buffers, blocks of one store, and what they compute as expressions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod

from mlir import ir

from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    Loop,
    attrs,
    edit,
    emit_map,
    is_block,
    is_init,
    is_loop,
    walk,
)
from tir_mlir.dialect.ir.op_views import (
    AffineIfOp,
    AffineLoadOp,
    AffineStoreOp,
    AffineYieldOp,
    AllocOp,
    CompareFloatsOp,
    ConstantOp,
    IfOp,
    LoadOp,
    ReturnOp,
    StoreOp,
    YieldOp,
    dyn_cast,
    isa,
    matches,
)
from tir_mlir.passes.lower.direct.text import Affine, NotDirect, read
from tir_mlir.passes.lower.op_attrs import is_row_major

FLOATS = frozenset(
    "arith.addf arith.subf arith.mulf arith.divf arith.maximumf arith.minimumf arith.maxnumf arith.minnumf "
    "arith.negf math.absf math.sqrt math.rsqrt arith.cmpf arith.select".split()
)
"""The operations on floats that are written."""


@dataclass(eq=False)
class ProgramBuffer:
    """A buffer. number: of the parameter, None for one of the program's own."""

    name: str
    shape: tuple[int, ...]
    number: int | None

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True, eq=False)
class ConstantExpr:
    value: float


@dataclass(frozen=True, eq=False)
class LoadExpr:
    memory: ProgramBuffer
    indices: tuple[Affine, ...]


@dataclass(frozen=True, eq=False)
class OperationExpr:
    name: str
    operands: tuple[Expression, ...]
    predicate: int = 0


@dataclass(frozen=True, eq=False)
class BranchExpr:
    """The first expression where all conditions hold (a value, whether it is 0, or else at least 0), or the second."""

    conditions: tuple[tuple[Affine, bool], ...]
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, eq=False)
class PartialExpr:
    """The partial result of a reduction."""


Expression = ConstantExpr | LoadExpr | OperationExpr | BranchExpr | PartialExpr


@dataclass(eq=False)
class ElementNest:
    """A block: for all iters, store[indices] = value.

    sums: of a reduction, the iters over which it is taken.
    start: its first value. Iters that are no sums are each an index of the store, in their order.
    """

    memory: ProgramBuffer
    extents: tuple[int, ...]
    sums: tuple[int, ...]
    value: Expression
    start: float | None

    @property
    def outer(self) -> tuple[int, ...]:
        """The iters that are no sums."""
        return tuple(number for number in range(len(self.extents)) if number not in self.sums)


@dataclass(eq=False)
class DirectProgram:
    """A function: its parameters, its own buffers, its blocks in order."""

    params: list[ProgramBuffer]
    own: list[ProgramBuffer]
    nests: list[ElementNest] = field(default_factory=list)


def read_program(func: Func) -> DirectProgram:
    """A function of blocks without a schedule as plain data. Errors: NotDirect."""
    if not attrs.get(func.op, attrs.ATTRS, {}).get("tir.noalias", False):
        raise NotDirect("parameters that may overlap")
    reader = _ProgramReader()
    params = [reader.buffer(argument, number) for number, argument in enumerate(func.args)]
    program = DirectProgram(params, [])
    for op in func.body_ops():
        if isa(op, AllocOp):
            program.own.append(reader.buffer(op.results[0], None))
        elif is_loop(op) or is_block(op):
            program.nests.append(reader.nest(op))
        elif not isa(op, ReturnOp):
            raise NotDirect(op.name)
    _check_order(program)
    return program


def _check_order(program: DirectProgram) -> None:
    """Each buffer has one block, before those that read it."""
    written = set(program.params) - {nest.memory for nest in program.nests}
    for nest in program.nests:
        if nest.memory in written or not set(loads_of(nest.value)) <= written:
            raise NotDirect("a buffer that is written more than once, or read before")
        written.add(nest.memory)


def loads_of(value: Expression) -> list[ProgramBuffer]:
    """The buffers that an expression reads, once for each read."""
    loads, waiting, seen = [], [value], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, LoadExpr):
            loads.append(part.memory)
        elif isinstance(part, OperationExpr):
            waiting += part.operands
        elif isinstance(part, BranchExpr):
            waiting += (part.then, part.otherwise)
    return loads


class _ProgramReader:
    def __init__(self) -> None:
        self._buffers: dict[ir.Value, ProgramBuffer] = {}

    def buffer(self, value: ir.Value, number: int | None) -> ProgramBuffer:
        buffer = Buffer(value) if isinstance(value.type, ir.MemRefType) else None
        if (
            buffer is None
            or buffer.dtype != "float32"
            or None in buffer.shape
            or buffer.type.memory_space is not None
            or not is_row_major(buffer.type)
        ):
            raise NotDirect(f"the type {value.type}")
        memory = ProgramBuffer(
            f"%b{len(self._buffers)}", tuple(size for size in buffer.shape if size is not None), number
        )
        self._buffers[value] = memory
        return memory

    def nest(self, op: ir.Operation) -> ElementNest:
        """A nest of loops, each around one op, with a block in it."""
        variables: dict[ir.Value, int] = {}
        while is_loop(op):
            loop = Loop(op)
            extent, inner = loop.const_extent, loop.body_ops()
            inner = [o for o in inner if not isa(o, AffineYieldOp)]
            if (
                extent is None
                or extent < 1
                or loop.lower.as_constant() != 0
                or loop.kind != "serial"
                or len(inner) != 1
            ):
                raise NotDirect("a loop that is not plain")
            variables[loop.var] = extent
            op = inner[0]
        if not is_block(op):
            raise NotDirect(op.name)
        block = Block(op)
        bindings = [binding.is_value() for binding in block.bindings]
        if block.where is not None or [b for b in bindings if b is not None] != list(variables) or not block.has_iters:
            raise NotDirect("bindings that are no loops")
        iters = block.iters
        extents = list(variables.values())
        if [it.extent.as_constant() for it in iters] != extents or any(it.min.as_constant() for it in iters):
            raise NotDirect("iters of other ranges than their loops")
        if any(it.kind not in ("S", "R") for it in iters):
            raise NotDirect("iters of other kinds")
        return _BlockReader(self._buffers, block).nest(extents)


class _BlockReader:
    """Reads the body of a block."""

    def __init__(self, buffers: dict[ir.Value, ProgramBuffer], block: Block):
        self._buffers, self._block = buffers, block
        self._iters = {it.var: Affine(0, ((number, 1),)) for number, it in enumerate(block.iters)}
        self._values: dict[ir.Value, Expression] = {}
        self._stores: list[ir.Operation] = []

    def nest(self, extents: Sequence[int]) -> ElementNest:
        block, init = self._block, self._block.init
        sums = tuple(number for number, it in enumerate(block.iters) if it.kind == "R")
        if bool(sums) != (init is not None):
            raise NotDirect("a reduction without a first value")
        start, ops = None, [op for op in block.body_ops() if not is_init(op)]
        stores = [AffineStoreOp(op) for op in ops if isa(op, AffineStoreOp)]
        if len(stores) != 1:
            raise NotDirect("a block of several stores, or of none")
        store = stores[0]
        memory, indices = self._accessed_element(store.memref, store.op)
        expected = tuple(Affine(0, ((number, 1),)) for number in range(len(extents)) if number not in sums)
        if indices != expected or memory.shape != tuple(n for k, n in enumerate(extents) if k not in sums):
            raise NotDirect("a store that is not to each element in order")
        if init is not None:
            start = self._start(init, memory, indices)
            self._partial = memory, indices
        for op in ops:
            self._read(op)
        value = self._values[store.value]
        if start is None and memory in loads_of(value):
            raise NotDirect("a block that reads what it writes")
        return ElementNest(memory, tuple(extents), sums, value, start)

    _partial: tuple[ProgramBuffer, tuple[Affine, ...]] | None = None

    def _start(self, init: ir.Operation, memory: ProgramBuffer, indices: tuple[Affine, ...]) -> float:
        ops = [op.operation for op in init.regions[0].blocks[0].operations]
        if not matches(ops, ConstantOp, AffineStoreOp, AffineYieldOp):
            raise NotDirect("a first value that is computed")
        if self._accessed_element(StoreOp(ops[1]).memref, ops[1]) != (memory, indices):
            raise NotDirect("a first value that is stored elsewhere")
        return ir.FloatAttr(ops[0].attributes["value"]).value

    def _accessed_element(self, buffer: ir.Value, op: ir.Operation) -> tuple[ProgramBuffer, tuple[Affine, ...]]:
        """The element that an op accesses."""
        memory = self._buffers.get(buffer)
        if memory is None:
            raise NotDirect("a view")
        return memory, tuple(self._index(index) for index in walk.access_indices(op))

    def _index(self, index: Index) -> Affine:
        operands = [self._iters.get(value) for value in index.values]
        if None in operands:
            raise NotDirect("an index that depends on more than iters")
        return read(index.expr, [operand for operand in operands if operand is not None])

    def _read(self, op: ir.Operation) -> None:
        """Note the value of an op."""
        if isa(op, AffineStoreOp, YieldOp):
            return
        if len(op.results) != 1:
            raise NotDirect(op.name)
        self._values[op.results[0]] = self._expression(op)

    def _expression(self, op: ir.Operation) -> Expression:
        if isa(op, ConstantOp) and isinstance(op.attributes["value"], ir.FloatAttr):
            return ConstantExpr(ir.FloatAttr(op.attributes["value"]).value)
        if isa(op, AffineLoadOp):
            memory = self._accessed_element(LoadOp(op).memref, op)
            return PartialExpr() if memory == self._partial else LoadExpr(*memory)
        if isa(op, AffineIfOp) and len(op.regions[1].blocks):
            conditions = tuple((self._index(c.index), c.is_eq) for c in walk.constraints(op))
            return BranchExpr(conditions, self._branch(op, 0), self._branch(op, 1))
        if op.name in FLOATS:
            types = {str(operand.type) for operand in op.operands} - {"f32", "i1"}
            if not types:
                comparison = dyn_cast(op, CompareFloatsOp)
                predicate = comparison.predicate if comparison is not None else 0
                return OperationExpr(op.name, tuple(self._values[operand] for operand in op.operands), predicate)
        raise NotDirect(op.name)

    def _branch(self, op: ir.Operation, number: int) -> Expression:
        inner = [o.operation for o in op.regions[number].blocks[0].operations][:-1]
        for part in inner:
            self._read(part)
        return self._values[IfOp(op).yielded_values()[number]]


# Which parameters a product or a convolution reads along the last axis of its result, and the change to panels.


def dimensions_along(func: Func, numbers: Iterable[int]) -> dict[int, int]:
    """Of those of these parameters that one reduction reads, at one position, the dimension whose index is the last
    axis of its result. Errors: NotDirect."""
    program, dimensions = read_program(func), {}
    for number in numbers:
        memory = program.params[number]
        readers = [(nest, load) for nest in program.nests for load in _loads(nest.value, memory)]
        if len(readers) == 1 and (outer := readers[0][0].outer) and readers[0][0].sums:
            lane = Affine(0, ((outer[-1], 1),))
            along = [n for n, index in enumerate(readers[0][1].indices) if index.uses(outer[-1])]
            if len(along) == 1 and readers[0][1].indices[along[0]] == lane:
                dimensions[number] = along[0]
    return dimensions


def _loads(value: Expression, memory: ProgramBuffer) -> list[LoadExpr]:
    if isinstance(value, LoadExpr):
        return [value] if value.memory is memory else []
    parts = value.operands if isinstance(value, OperationExpr) else ()
    if isinstance(value, BranchExpr):
        parts = (value.then, value.otherwise)
    return [load for part in parts for load in _loads(part, memory)]


def read_in_panels(func: Func, number: int, along: int, inner: Sequence[int], shape: Sequence[int]) -> None:
    """Change a parameter to panels of this shape, whose last size is their width.

    W[j, k]   ->   W[j // 32, k, j % 32]        along = 0, inner = (1,)
    """
    argument, width = func.args[number], shape[-1]
    edit.retype(argument, ir.MemRefType.get(shape, ir.MemRefType(argument.type).element_type))
    types = ir.FunctionType(ir.TypeAttr(func.op.attributes["function_type"]).value)
    inputs = [value.type for value in func.args]
    func.op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, types.results))
    for op in walk.ops(func.op):
        if isa(op, AffineLoadOp) and LoadOp(op).memref == argument:
            indices = walk.access_indices(op)
            new = [indices[along] // width, *(indices[n] for n in inner), indices[along] % width]
            map_, operands = emit_map(new)
            edit.rebuild(op, [argument, *operands], {"map": ir.AffineMapAttr.get(map_)})
