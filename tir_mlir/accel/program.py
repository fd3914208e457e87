"""A program of a machine: loops, conditions and instructions, read from a scheduled module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import MemorySpace, Number, Stride
from tir_mlir.dialect.analysis.accesses import subview_parts
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    Index,
    Loop,
    constant_integer,
    constraints,
    dtypes,
    enter_context,
    funcs,
    is_loop,
)
from tir_mlir.dialect.ir.index import read_value
from tir_mlir.dialect.ir.op_traits import MAXIMA, MINIMA, is_pure
from tir_mlir.dialect.ir.op_views import (
    AffineIfOp,
    AllocLikeOp,
    ApplyOp,
    BinaryOp,
    CallOp,
    ConstantOp,
    DeallocOp,
    IndexCastSIOp,
    IntToPtrOp,
    PointerOp,
    SubviewOp,
    isa,
)
from tir_mlir.dialect.symbolic import Constant, Dim, IntExpr, as_expr, from_affine
from tir_mlir.equivalence.described_kernels import KernelMatch, matches_in
from tir_mlir.runtime.drivers.c_entry import identifiers

if TYPE_CHECKING:
    from tir_mlir.accel.machine import Machine

TO_LOOPS = ("tir-lower-blocks", "tir-lower-conditions", "tir-lower-compact")
"""Our passes from a scheduled program to loops around instructions, with buffers as large as they are used."""


@dataclass(frozen=True)
class Clipped:
    """A number, but at least `low` and at most `high`, where these are given."""

    number: IntExpr
    low: int | None
    high: int | None


Value = IntExpr | Clipped | float
"""What an operand that is a number is."""


@dataclass(eq=False)
class MachineBuffer:
    """A buffer of a program."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    memory: MemorySpace | None
    """None: that of the CPU."""

    @property
    def rows(self) -> int:
        """The rows that it takes in a memory of the machine."""
        return -(-prod(self.shape) // self.width)

    @property
    def width(self) -> int:
        """Elements of a row of its memory; 1 in that of the CPU."""
        return 1 if self.memory is None else self.memory.row_bytes * 8 // dtypes.bits(self.dtype)


@dataclass(frozen=True)
class TileAddress:
    """Where a tile begins in a buffer, and its strides."""

    buffer: MachineBuffer
    start: IntExpr
    """In a memory of the machine, in rows; in that of the CPU, in elements."""
    strides: tuple[IntExpr, ...]
    """As `start`; those inside of a row are 0."""


@dataclass(eq=False)
class Issue:
    """An instruction, with its operands."""

    instruction: MachineInstruction
    tiles: dict[str, TileAddress]
    numbers: dict[str, Value]
    line: str
    """Of the program's source."""

    def required_value(self, what: Stride | Number | int) -> Value:
        """The value that a field of a register has to have for it."""
        if isinstance(what, int):
            return Constant(what)
        if isinstance(what, Number):
            return self.numbers[what.name]
        return self.tiles[what.operand].strides[what.dimension]


@dataclass(eq=False)
class For:
    """A loop from `low` to before the least of `highs`."""

    var: str
    low: IntExpr
    highs: tuple[IntExpr, ...]
    body: list[Node] = field(default_factory=list)
    is_over_cores: bool = False
    """Whether its iterations run beside each other, one on each core."""


@dataclass(eq=False)
class When:
    """A condition: each number is at least 0, or 0 where it is marked so."""

    conditions: tuple[tuple[IntExpr, bool], ...]
    body: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class Allocate:
    """The beginning of the life of a buffer, which ends with the body that this is in."""

    buffer: MachineBuffer


Node = For | When | Issue | Allocate


@dataclass(eq=False)
class MachineProgram:
    """A program of a machine."""

    name: str
    machine: Machine
    params: list[MachineBuffer]
    body: list[Node]

    def nodes(self) -> Iterator[Node]:
        """All nodes, each before those in it."""
        return walk(self.body)

    @property
    def buffers(self) -> list[MachineBuffer]:
        """The buffers in the memories of the machine."""
        return [n.buffer for n in self.nodes() if isinstance(n, Allocate) and n.buffer.memory is not None]


def walk(body: Sequence[Node]) -> Iterator[Node]:
    """All nodes of a body, each before those in it."""
    for node in body:
        yield node
        if isinstance(node, For | When):
            yield from walk(node.body)


def read_program(loops: ir.Module, machine: Machine, name: str) -> MachineProgram:
    """The program of a function of a module after `TO_LOOPS`, which consists of instructions of a machine.

    Errors: LoweringError for a statement that is not an instruction of it.
    """
    with enter_context():
        (func,) = [f for f in funcs(loops) if f.name == name]
        return _Reader(machine, matches_in(loops)).function(func)


class _Reader:
    def __init__(self, machine: Machine, matches: Sequence[KernelMatch]):
        self.machine = machine
        by_intrinsic = {i.intrinsic_name: i for i in machine.instructions.values()}
        self.issued = {m.calls[0]: (m, by_intrinsic.get(m.intrinsic.name)) for m in matches}
        self.buffers: dict[ir.Value, MachineBuffer] = {}
        self.names: dict[ir.Value, IntExpr] = {}
        self.taken: set[str] = {"core"} if machine.cores > 1 else set()

    def function(self, func: Func) -> MachineProgram:
        params = []
        for param in func.params:
            self.buffers[param.value] = self._buffer(param)
            params.append(self.buffers[param.value])
        return MachineProgram(func.name, self.machine, params, self._body(func.body_ops()))

    def _buffer(self, buffer: Buffer) -> MachineBuffer:
        if None in buffer.shape:
            raise LoweringError(f"buffer {buffer.name} has a size that a call decides; a machine's program has numbers")
        memory = self.machine.memory_of_scope(buffer.scope)
        name = self._fresh(buffer.name)
        return MachineBuffer(name, tuple(n or 0 for n in buffer.shape), buffer.dtype, memory)

    def _fresh(self, name: str) -> str:
        """A name as a word of C and Python that nothing else of the program has."""
        (word,) = identifiers([name], self.taken)
        self.taken.add(word)
        return word

    def _body(self, body: Sequence[ir.Operation]) -> list[Node]:
        return [node for op in body if (node := self._node(op)) is not None]

    def _node(self, op: ir.Operation) -> Node | None:
        if is_loop(op):
            loop = Loop(op)
            var = self._fresh(loop.name)
            lows = [self._index(i) for i in loop.lowers]
            if len(lows) != 1:
                raise LoweringError(f"{loop} begins at the maximum of several numbers")
            highs = tuple(self._index(i) for i in loop.uppers)
            node = For(var, lows[0], highs, is_over_cores=loop.kind == "core")
            self.names[loop.var] = Dim(var)
            node.body = self._body(loop.body_ops())
            return node
        if isa(op, AffineIfOp) and not op.results and not op.regions[1].blocks:
            conditions = tuple((self._index(c.index), c.is_eq) for c in constraints(op))
            ops = [o.operation for o in op.regions[0].blocks[0].operations][:-1]
            return When(conditions, self._body(ops))
        if isa(op, AllocLikeOp):
            buffer = self.buffers[op.results[0]] = self._buffer(Buffer(op.results[0]))
            return Allocate(buffer)
        if op in self.issued:
            return self._issue(*self.issued[op])
        if is_pure(op) or isa(op, PointerOp, DeallocOp, IntToPtrOp) or op.name == "affine.yield":
            return None
        what = f"a call of {ir.FlatSymbolRefAttr(op.attributes['callee']).value}" if isa(op, CallOp) else op.name
        raise LoweringError(f"{what} is not an instruction of {self.machine}, at {op.location}")

    def _issue(self, match: KernelMatch, instruction: MachineInstruction | None) -> Issue:
        if instruction is None:
            raise LoweringError(f"{match.intrinsic.name} is not an instruction of {self.machine}")
        tiles: dict[str, TileAddress] = {}
        numbers: dict[str, Value] = {}
        dims = {t.name: len(t.shape) for t in instruction.tiles}
        for number, operand in enumerate(instruction.operands):
            if number in match.arguments.memrefs:
                tiles[operand.name] = self._address(match.arguments.memrefs[number])
            elif number in match.arguments.windows:
                window = match.arguments.windows[number]
                strides = [window.strides.get(d, 1) for d in range(dims[operand.name])]
                tiles[operand.name] = self._address(window.memref, read_value(window.offset), strides)
            else:
                numbers[operand.name] = self._value(match.arguments.scalars[number])
        return Issue(instruction, tiles, numbers, str(match.calls[0].location))

    def _address(self, memref: ir.Value, more: Index | None = None, strides: Sequence[int] = ()) -> TileAddress:
        """The address of the first element of a memref, or of one behind it."""
        root, offset = self._root(memref)
        buffer = self.buffers[root]
        own = ir.MemRefType(memref.type).get_strides_and_offset()[0]
        offset = (offset if more is None else offset + more).simplify()
        width = buffer.width
        row, column = (offset // width).simplify(), (offset % width).simplify()
        if buffer.memory is not None and column.as_constant() != 0:
            raise LoweringError(f"a tile of {buffer.name} does not begin at a row of {buffer.memory.name}")
        numbers = tuple(Constant(s // width) for s in strides or own)
        return TileAddress(buffer, self._index(offset if buffer.memory is None else row), numbers)

    def _root(self, memref: ir.Value) -> tuple[ir.Value, Index]:
        """The buffer of a view, and the elements before its first one."""
        if memref in self.buffers:
            return memref, Index.constant(0)
        op = memref.owner.operation
        if not isa(op, SubviewOp):
            raise LoweringError(f"a tile of {op.name} has no address")
        root, offset = self._root(SubviewOp(op).source)
        strides = ir.MemRefType(SubviewOp(op).source.type).get_strides_and_offset()[0]
        for index, stride in zip(subview_parts(op)[0], strides, strict=True):
            offset = offset + index * stride
        return root, offset

    def _index(self, index: Index) -> IntExpr:
        return as_expr(from_affine(index.expr, [self.names[v] for v in index.values]))

    def _value(self, value: ir.Value) -> Value:
        op = value.owner.operation if not isinstance(value.owner, ir.Block) else None
        if op is not None and isa(op, IndexCastSIOp):
            return self._value(IndexCastSIOp(op).source)
        if op is not None and op.name in MINIMA | MAXIMA:
            limit, inner = constant_integer(BinaryOp(op).rhs), self._value(BinaryOp(op).lhs)
            if limit is None or isinstance(inner, float):
                raise LoweringError(f"an operand of an instruction is computed by {op.name} of variables")
            low, high = (None, limit) if op.name in MINIMA else (limit, None)
            if isinstance(inner, Clipped):
                return Clipped(inner.number, inner.low if low is None else low, inner.high if high is None else high)
            return Clipped(as_expr(inner), low, high)
        if op is not None and isa(op, ConstantOp):
            attribute = op.attributes["value"]
            if isinstance(attribute, ir.FloatAttr):
                return attribute.value
        if op is not None and not isa(op, ApplyOp, ConstantOp):
            raise LoweringError(
                f"an operand of an instruction is computed by {op.name}: only indices and constants are"
            )
        return self._index(read_value(value))
