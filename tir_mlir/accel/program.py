"""A program of a machine: loops, conditions and instructions, read from a scheduled module."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from mlir import ir

from tir_mlir.accel.host_code import OutlinedCode, allocations, constant_values, has_effect, outline, root_of
from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import Assumption, MemorySpace, Number, Stride
from tir_mlir.dialect.analysis import buffer_strides
from tir_mlir.dialect.analysis.accesses import subview_parts
from tir_mlir.dialect.diagnostics import LoweringError, MachineError
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
from tir_mlir.dialect.ir import (
    walk as walk_ops,
)
from tir_mlir.dialect.ir.index import read_value
from tir_mlir.dialect.ir.op_traits import MAXIMA, MINIMA
from tir_mlir.dialect.ir.op_views import (
    AffineIfOp,
    AllocLikeOp,
    ApplyOp,
    BinaryOp,
    CallOp,
    ConstantOp,
    IndexCastSIOp,
    ReadOp,
    StridedMetadataOp,
    SubviewOp,
    isa,
)
from tir_mlir.dialect.symbolic import (
    Constant,
    Dim,
    IntExpr,
    Symbol,
    as_expr,
    equal,
    evaluate,
    from_affine,
    names_in,
    parse,
)
from tir_mlir.equivalence.described_kernels import KernelMatch, OpenWindow, matches_in, window_start
from tir_mlir.runtime.drivers.c_entry import identifiers
from tir_mlir.runtime.gpu.source.plain_c import C99

if TYPE_CHECKING:
    from tir_mlir.accel.machine import Machine

TO_LOOPS = (
    "tir-lower-ignored-annotations",
    "tir-lower-software-pipelines",
    "tir-lower-blocks",
    "tir-lower-conditions",
    "tir-lower-compact",
)
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
    extents: tuple[int | IntExpr, ...]
    """Its shape, in which sizes may be variables."""
    dtype: str
    memory: MemorySpace | None
    """None: that of the CPU."""
    values: np.ndarray[Any, Any] | None = None
    """Of a constant of the module."""

    @property
    def is_symbolic(self) -> bool:
        """Whether a size is a variable."""
        return any(isinstance(n, IntExpr) for n in self.extents)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Its shape in numbers. Errors: MachineError for a size that is a variable."""
        numbers = tuple(n for n in self.extents if isinstance(n, int))
        if len(numbers) < len(self.extents):
            sizes = sorted({name for n in self.extents if isinstance(n, IntExpr) for name in names_in(n)})
            given = ", ".join(f"{name}=..." for name in sizes)
            raise MachineError(
                f"buffer {self.name} of shape ({', '.join(map(str, self.extents))}) has sizes that a call decides; "
                f"fix: a program for each size; or numbers, for what the model says: at_sizes({given})"
            )
        return numbers

    @cached_property
    def rows(self) -> int:
        """The rows that it takes in a memory of the machine."""
        return -(-prod(self.shape) // self.width)

    @cached_property
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


Conditions = tuple[tuple[IntExpr, bool], ...]
"""Numbers, each of which is at least 0, or 0 where it is marked so."""


@dataclass(frozen=True)
class TokenFlag:
    """A flag of an instruction: it takes a token before it starts, or puts one when it is complete."""

    passes: MachineInstruction
    """What its queue is, and whether it takes or puts."""
    conditions: Conditions
    """When the flag is set."""


@dataclass(eq=False)
class Issue:
    """An instruction, with its operands."""

    instruction: MachineInstruction
    tiles: dict[str, TileAddress]
    numbers: dict[str, Value]
    line: str
    """Of the program's source."""
    flags: list[TokenFlag] = field(default_factory=list)

    def required_value(self, what: Stride | Number | int) -> Value:
        """The value that a field of a register has to have for it."""
        if isinstance(what, int):
            return Constant(what)
        if isinstance(what, Number):
            return self.numbers[what.name]
        stride = self.tiles[what.operand].strides[what.dimension]
        return stride * what.factor if what.factor != 1 else stride


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
    """A condition on loops."""

    conditions: Conditions
    body: list[Node] = field(default_factory=list)


@dataclass(eq=False)
class Allocate:
    """The beginning of the life of a buffer, which ends with the body that this is in."""

    buffer: MachineBuffer


@dataclass(eq=False)
class HostCode:
    """Statements on the CPU, as a function of buffers in its memory and of loop variables."""

    code: OutlinedCode
    buffers: tuple[MachineBuffer, ...]
    variables: tuple[IntExpr, ...]
    written: frozenset[MachineBuffer]
    line: str
    """Of the program's source."""

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.code.name


Node = For | When | Issue | Allocate | HostCode


@dataclass(eq=False)
class MachineProgram:
    """A program of a machine."""

    name: str
    machine: Machine
    params: list[MachineBuffer]
    body: list[Node]
    sizes: dict[str, str] = field(default_factory=dict)
    """The sizes that a call decides: what each is called here, by its name in the source."""

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
    """The program of a function of a module after `TO_LOOPS`: instructions of a machine, and statements on the CPU.

    Errors: LoweringError for a statement on a buffer in a memory of the machine, and for a call of what is not one of
    its instructions.
    """
    with enter_context():
        (func,) = [f for f in funcs(loops) if f.name == name]
        return _Reader(machine, matches_in(loops)).function(func)


_PYTHON = frozenset({"run", "range", "min", "max", "breakpoint"})
"""What the model's text of a program calls."""


def _reserved_words(machine: Machine) -> set[str]:
    """The words of the calls of instructions, and of functions that C and Python define: no buffer or loop is called
    so."""
    calls = [re.sub(r"\{.*?\}", " ", call) for i in machine.instructions.values() for call in i.calls]
    return {word for call in calls for word in re.findall(r"[A-Za-z_]\w*", call)} | set(C99.helpers) | _PYTHON


class _Reader:
    def __init__(self, machine: Machine, matches: Sequence[KernelMatch]):
        self.machine = machine
        by_intrinsic = {i.intrinsic_name: i for i in machine.instructions.values()}
        self.issued = {m.calls[0]: (m, by_intrinsic.get(m.intrinsic.name)) for m in matches}
        self.buffers: dict[ir.Value, MachineBuffer] = {}
        self.names: dict[ir.Value, IntExpr] = {}
        self.single: dict[ir.Value, Index] = {}
        """The value of each loop variable that has one."""
        self.taken: set[str] = {"core"} if machine.cores > 1 else set()
        self.taken |= _reserved_words(machine)
        self.around: set[ir.Operation] = {op for call in self.issued for op in walk_ops.parents(call)}
        """The ops with instructions in them."""
        self.orders: dict[ir.Operation, MachineInstruction] = {}
        """Calls of instructions that wait for others."""

    def function(self, func: Func) -> MachineProgram:
        params: list[MachineBuffer] = []
        if numbers := [func.arg_name(n) for n, a in enumerate(func.args) if not isinstance(a.type, ir.MemRefType)]:
            raise LoweringError(
                f"parameter {numbers[0]} of {func.name} is a number; a program of {self.machine} has arrays only; "
                "fix: make it a constant, or an array of one element"
            )
        sizes: dict[str, IntExpr] = {}
        for name, value in func.symbols.items():
            if not isinstance(value.owner, ir.Block) and isa(value.owner.operation, StridedMetadataOp):
                continue  # of a tile outside of loops
            is_product = not name.isidentifier()
            sizes[name] = evaluate(parse(name), sizes.__getitem__) if is_product else Symbol(self._fresh(name))
            self.names[value] = sizes[name]
        for param in func.params:
            self.buffers[param.value] = self._buffer(param)
            params.append(self.buffers[param.value])
        self.function_name = func.name
        by_kernel = {
            i.kernel: i
            for i in self.machine.instructions.values()
            if i.waits or (i.tokens is not None and not i.tokens.by_flags)
        }
        for call in [op for op in walk_ops.ops(func.op) if by_kernel and isa(op, CallOp)]:
            if (order := by_kernel.get(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)) is not None:
                self.orders[call] = order
                self.around |= {*walk_ops.parents(call)}
        body = self._body(func.body_ops())
        names = {name: size.name for name, size in sizes.items() if isinstance(size, Symbol)}
        return MachineProgram(func.name, self.machine, params, body, names)

    def _buffer(self, buffer: Buffer) -> MachineBuffer:
        memory = self.machine.memory_of_scope(buffer.scope)
        extents = tuple(
            size if size is not None else self._index(dim) for size, dim in zip(buffer.shape, buffer.dims, strict=True)
        )
        if None in buffer.shape and not buffer.is_param:
            shape = ", ".join(map(str, extents))
            where, fix = "the memory of the CPU", "read tiles at edges by masks, upto(n), which need no padded copy"
            if memory is not None:
                where = f"memory {memory.name}"
                fix = "compute_at, or reverse_compute_at, moves it into a loop over parts"
            raise LoweringError(
                f"buffer {buffer.name} of shape ({shape}) is in {where}, and a call decides its size: it has no "
                f"address; fix: {fix}; or a program for each size"
            )
        name = self._fresh(buffer.name)
        return MachineBuffer(name, extents, buffer.dtype, memory)

    def _fresh(self, name: str) -> str:
        """A name as a word of C and Python that nothing else of the program has."""
        (word,) = identifiers([name], self.taken)
        self.taken.add(word)
        return word

    def _body(self, body: Sequence[ir.Operation]) -> list[Node]:
        """Loops and conditions around instructions, instructions, and what is between them."""
        made: list[Node] = []
        between: list[ir.Operation] = []
        for op in body:
            if op in self.issued or op in self.orders or op in self.around:
                made += [*self._host_code(between), self._node(op)]
                between = []
            elif isa(op, AllocLikeOp):
                made.append(self._allocate(op))
            else:
                between.append(op)
        return [*made, *self._host_code(between)]

    def _node(self, op: ir.Operation) -> Node:
        if op in self.issued:
            return self._issue(*self.issued[op])
        if op in self.orders:
            return self._order(op, self.orders[op])
        if is_loop(op):
            loop = Loop(op)
            var = self._fresh(loop.name)
            lows = [self._index(i) for i in loop.lowers]
            if len(lows) != 1:
                raise LoweringError(f"{loop} begins at the maximum of several numbers")
            highs = tuple(self._index(i) for i in loop.uppers)
            node = For(var, lows[0], highs, is_over_cores=loop.kind == "core")
            self.names[loop.var] = Dim(var)
            if loop.const_extent == 1:
                self.single[loop.var] = loop.lowers[0]
            node.body = self._body(loop.body_ops())
            return node
        if isa(op, AffineIfOp) and not op.results and not op.regions[1].blocks:
            conditions = tuple((self._index(c.index), c.is_eq) for c in constraints(op))
            ops = [o.operation for o in op.regions[0].blocks[0].operations][:-1]
            return When(conditions, self._body(ops))
        raise LoweringError(f"instructions of {self.machine} are in {op.name}, which is not a loop, at {op.location}")

    def _order(self, call: ir.Operation, instruction: MachineInstruction) -> Issue:
        """A call of an instruction that waits, in the program of the user."""
        if len(call.operands) != len(instruction.numbers):
            names = ", ".join(n.name for n in instruction.numbers) or "no operand"
            raise LoweringError(
                f"{instruction.kernel} at {call.location} takes {names}, not {len(call.operands)} operands"
            )
        numbers = {n.name: self._value(v) for n, v in zip(instruction.numbers, call.operands, strict=True)}
        return Issue(instruction, {}, numbers, str(call.location))

    def _allocate(self, op: ir.Operation) -> Allocate:
        buffer = self.buffers[op.results[0]] = self._buffer(Buffer(op.results[0]))
        return Allocate(buffer)

    def _host_code(self, group: Sequence[ir.Operation]) -> list[Node]:
        """The statements of a group that change memory, behind the allocations in them."""
        effects = [op for op in group if has_effect(op)]
        nodes: list[Node] = [self._allocate(op) for op in allocations(effects)]
        # alone, statements let the buffers between them share memory; a value that was loaded keeps them together
        is_apart = not any(isa(op, ReadOp) for op in group)
        for part in [[op] for op in effects] if is_apart else [group] * bool(effects):
            nodes.append(self._statements(part, effects[0]))
        return nodes

    def _statements(self, group: Sequence[ir.Operation], first: ir.Operation) -> HostCode:
        self._check_sizes(group, first)
        code = outline(group, f"{self.function_name}_{len(self.taken)}", str(self.machine))
        self.taken.add(code.name)
        buffers = tuple(self._root_buffer(root_of(b)) for b in code.buffers)
        for buffer in buffers:
            self._check_on_cpu(buffer, first)
        written = frozenset(b for b, value in zip(buffers, code.buffers, strict=True) if value in code.written)
        variables = tuple(self.names[v] for v in code.variables)
        return HostCode(code, buffers, variables, written, str(first.location))

    def _check_sizes(self, group: Sequence[ir.Operation], first: ir.Operation) -> None:
        """Check that statements use no buffer whose size a call decides, and no size."""
        values = [v for op in group for inner in walk_ops.ops(op) for v in inner.operands]
        roots = [Buffer(root_of(v)) for v in values if isinstance(v.type, ir.MemRefType)]
        found = [f"{b.name}, whose size a call decides" for b in roots if None in b.shape]
        names = [self.names.get(v) for v in values]
        found += [f"{n}, a size that a call decides" for n in names if isinstance(n, Symbol)]
        if found:
            raise LoweringError(
                f"a statement of the CPU at {first.location} uses {found[0]}; fix: tensorize its block, or a program "
                "for each size"
            )

    def _root_buffer(self, root: ir.Value) -> MachineBuffer:
        """The buffer of a parameter, an allocation, or a constant of the module."""
        if root not in self.buffers:
            op = root.owner.operation
            self.buffers[root] = self._buffer(Buffer(root))
            self.buffers[root].values = constant_values(op)
        return self.buffers[root]

    def _check_on_cpu(self, buffer: MachineBuffer, statement: ir.Operation) -> None:
        if buffer.memory is None:
            return
        users = [i for i in self.machine.instructions.values() if any(t.memory is buffer.memory for t in i.tiles)]
        listed = ", ".join(i.intrinsic_name for i in users) or "none is described"
        raise LoweringError(
            f"a statement at {statement.location} uses {buffer.name}, which is in memory {buffer.memory.name} of "
            f"{self.machine}: only instructions do; fix: tensorize its block by one of them ({listed}), or leave "
            f"{buffer.name} in the memory of the CPU"
        )

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
                tiles[operand.name] = self._address(window.memref, window, dims[operand.name])
            else:
                numbers[operand.name] = self._value(match.arguments.scalars[number])
        issue = Issue(instruction, tiles, numbers, str(match.calls[0].location))
        for assumption in instruction.assumptions:
            _check_assumption(issue, assumption)
        return issue

    def _address(self, memref: ir.Value, window: OpenWindow | None = None, dims: int = 0) -> TileAddress:
        """The address of the first element of a memref, or of a window behind it, of so many dimensions."""
        root, parts = self._root(memref)
        buffer = self.buffers[root]
        if window is not None:
            parts = [*parts, *zip(window_start(window), buffer_strides(Buffer(memref)), strict=True)]
            one = Index.constant(1)
            strides = [window.strides.get(d, one) for d in range(dims)]
        else:
            strides = _strides_of_view(memref, buffer)
        if buffer.memory is None:
            start = as_expr(sum((self._index(i) * self._index(s) for i, s in parts), Constant(0)))
            return TileAddress(buffer, start, tuple(map(self._index, strides)))
        offset = sum((i * s for i, s in parts), Index.constant(0)).simplify()
        width = buffer.width
        row, column = (offset // width).simplify(), (offset.substitute(self.single) % width).simplify()
        if column.as_constant() != 0:
            raise LoweringError(f"a tile of {buffer.name} does not begin at a row of {buffer.memory.name}")
        return TileAddress(buffer, self._index(row), tuple(self._index(s // width) for s in strides))

    def _root(self, memref: ir.Value) -> tuple[ir.Value, list[tuple[Index, Index]]]:
        """The buffer of a view, and the elements before its first one: indices, each with its stride."""
        if memref in self.buffers:
            return memref, []
        op = memref.owner.operation
        if not isa(op, SubviewOp):
            raise LoweringError(f"a tile of {op.name} has no address")
        source = SubviewOp(op).source
        root, parts = self._root(source)
        strides = _strides_of_view(source, self.buffers[root])
        return root, [*parts, *zip(subview_parts(op)[0], strides, strict=True)]

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


def _strides_of_view(memref: ir.Value, buffer: MachineBuffer) -> list[Index]:
    """The strides of a buffer, or of a view of it with as many dimensions. Errors: LoweringError for a view with fewer,
    of which one is a size."""
    strides, _ = ir.MemRefType(memref.type).get_strides_and_offset()
    if ir.ShapedType.get_dynamic_stride_or_offset() not in strides:
        return [Index.constant(s) for s in strides]
    root = Buffer(memref).root
    if root.rank != len(strides):
        raise LoweringError(
            f"a tile of {buffer.name}, of shape ({', '.join(map(str, buffer.extents))}), has fewer dimensions, whose "
            "distance a call decides; fix: an instruction with masks, upto(n), or a program for each size"
        )
    return buffer_strides(root)


COMPARISONS = {"==": operator.eq, "<=": operator.le, ">=": operator.ge}


def _check_assumption(issue: Issue, assumption: Assumption) -> None:
    """Check that an assumption of an instruction holds. Errors: MachineError."""
    sides: list[IntExpr] = []
    for side in (assumption.left, assumption.right):
        values = {name: _named_value(issue, name) for name in names_in(side)}
        if None in values.values():
            raise MachineError(f"{issue.instruction}: {assumption.text} is not provable\n  {issue.line}")
        sides.append(as_expr(evaluate(side, values.__getitem__)))
    left, right = sides
    if isinstance(left, Constant) and isinstance(right, Constant):
        holds = COMPARISONS[assumption.symbol](left.value, right.value)
    else:
        holds = assumption.symbol == "==" and equal(left, right)
    if not holds:
        found = " and ".join(str(s) for s in sides if not (isinstance(s, Constant) and str(s) in assumption.text))
        raise MachineError(f"{issue.instruction} needs {assumption.text}; here it is {found or left}\n  {issue.line}")


def _named_value(issue: Issue, name: str) -> IntExpr | None:
    """A stride or a number of an instruction; None if it is not an index."""
    operand, dot, dimension = name.partition(".strides[")
    value = issue.tiles[operand].strides[int(dimension[:-1])] if dot else issue.numbers[name]
    return value if isinstance(value, IntExpr) else None
