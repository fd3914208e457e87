"""An instruction of a machine: a function of TVMScript on its operands becomes a tensor intrinsic."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from tir_mlir.accel.operands import (
    Assumption,
    Between,
    ExecutionUnit,
    Field,
    HostOperand,
    MemorySpace,
    Number,
    Register,
    RowsOf,
    Stride,
    Tile,
    TokenQueue,
    UpTo,
)
from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.diagnostics import IntrinError, ScriptError
from tir_mlir.dialect.symbolic import Dim, IntExpr, as_expr, from_ast, names_in
from tir_mlir.script.parser import FunctionSource, build, source_of
from tir_mlir.script.parser.source import SourceText

Cycles = Callable[..., int]
Operand = Tile | Number


@dataclass(frozen=True, eq=False)
class MachineInstruction:
    """An instruction: its operands, what it computes, and what issues it."""

    machine: str
    name: str
    unit: ExecutionUnit
    operands: tuple[Operand, ...]
    calls: tuple[str, ...]
    cycles: int | Cycles | None
    latency: int
    sets: tuple[Field, ...]
    """The fields that its numbers of the same name become."""
    needs: Mapping[Field, Stride | Number | int]
    """The fields that it depends on, and what each has to be."""
    intrinsic: TensorIntrin | None
    """What it computes; None for one that sets registers, or orders others, only."""
    waits: tuple[ExecutionUnit, ...] = ()
    """The units for whose instructions it waits, but for the last ones: as many as its number `left` says."""
    tokens: TokenQueue | None = None
    """The queue into which it puts a token, if its unit is the producer, or from which it takes one."""
    assumptions: tuple[Assumption, ...] = ()
    """What has to hold of its strides."""

    @property
    def intrinsic_name(self) -> str:
        """Its name for `tensorize`."""
        return f"{self.machine}.{self.name}"

    @property
    def kernel(self) -> str:
        """The function that a program calls for it."""
        return f"{self.machine}_{self.name}"

    @property
    def tiles(self) -> list[Tile]:
        return [o for o in self.operands if isinstance(o, Tile)]

    @property
    def numbers(self) -> list[Number]:
        return [o for o in self.operands if isinstance(o, Number)]

    def duration(self, numbers: Mapping[str, int | float]) -> int:
        """The cycles for which it occupies its unit."""
        return self.cycles(**numbers) if callable(self.cycles) else self.cycles or 0

    def __repr__(self) -> str:
        return f"{self.intrinsic_name}({', '.join(o.name for o in self.operands)})"


def parse_instruction(
    machine: str,
    registers: Mapping[str, Register],
    func: Callable[..., Any],
    frame: types.FrameType,
    unit: ExecutionUnit,
    calls: tuple[str, ...],
    cycles: int | Cycles | None,
    latency: int,
    sets: Register | None,
) -> MachineInstruction:
    """The instruction that a function describes, registered as the intrinsic `machine.name`. Errors: IntrinError,
    ScriptError."""
    if not isinstance(func, types.FunctionType):
        raise IntrinError(f"an instruction is described by a function, not {func!r}")
    program = source_of(func, frame)
    described = _Description(program, registers, calls)
    fields = tuple(f for f in sets.fields.values() if f.name in described.operands) if sets is not None else ()
    if sets is not None and not fields:
        raise program.source.error(
            program.node, f"no parameter is a field of register {sets.name}: {', '.join(sets.fields)}"
        )
    _check_cycles(program, described, cycles)
    intrinsic = _register(machine, program, described) if described.body else None
    if intrinsic is None and not fields:
        raise program.source.error(program.node, "the instruction computes nothing and sets no register")
    return MachineInstruction(
        machine, func.__name__, unit, tuple(described.operands.values()), calls, cycles, latency, fields,
        described.needs, intrinsic, assumptions=tuple(described.assumptions),
    )  # fmt: skip


def _check_cycles(program: FunctionSource, described: _Description, cycles: int | Cycles | None) -> None:
    """Refuse a function that cannot be called with the numbers of an instruction."""
    if not callable(cycles):
        return
    names = [n for n, operand in described.operands.items() if isinstance(operand, Number)]
    try:
        inspect.signature(cycles).bind(**dict.fromkeys(names, 0))
    except TypeError as error:
        passed = ", ".join(names) or "nothing"
        fix = f"cycles=lambda {', '.join(names)}: ..., or lambda {names[0]}, **_: ..." if names else "a number"
        message = f"cycles is called with the numbers of the instruction, {passed}: {error}; fix: {fix}"
        raise program.source.error(program.node, message) from None
    except ValueError:  # a function of C has no signature
        return


class _Description:
    """The operands and the statements of a description."""

    def __init__(self, program: FunctionSource, registers: Mapping[str, Register], calls: Sequence[str]):
        self.program, self.registers, self.calls = program, registers, calls
        self.kinds = {a.arg: self._annotation(a) for a in program.node.args.args}
        self.needs: dict[Field, Stride | Number | int] = {}
        self.assumptions: list[Assumption] = []
        statements = [s for s in program.node.body if not _is_note(s)]
        self.body = [s for s in statements if not self._takes(s)]
        self.operands: dict[str, Operand] = {name: self._operand(name, kind) for name, kind in self.kinds.items()}
        for field, value in self.needs.items():
            self.needs[field] = self.operands[value] if isinstance(value, str) else value  # type: ignore[index]

    def error(self, node: ast.AST, message: str) -> ScriptError:
        return self.program.source.error(node, message)

    def _value(self, node: ast.expr) -> Any:
        """What an expression of Python is where the instruction is described."""
        names = {
            n.id: self.program.names[n.id]
            for n in ast.walk(node)
            if isinstance(n, ast.Name) and n.id in self.program.names
        }
        try:
            return eval(compile(ast.Expression(node), self.program.source.filename, "eval"), {}, names)
        except Exception as error:
            raise self.error(node, f"this cannot be computed: {error}") from None

    def _annotation(self, arg: ast.arg) -> Any:
        if arg.annotation is None:
            raise self.error(arg, f"operand {arg.arg} needs an annotation: a memory, m.host(dtype), upto(n) or a type")
        node = arg.annotation
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.copy_location(ast.parse(node.value, mode="eval").body, node)
        kind = self._value(node)
        if isinstance(kind, MemorySpace | RowsOf | HostOperand | UpTo | Between):
            return kind
        dtype = getattr(kind, "dtype", None) or getattr(kind, "name", None)
        if not isinstance(dtype, str):
            raise self.error(arg, f"operand {arg.arg} is a memory, m.host(dtype), upto(n) or a type such as T.int32")
        return dtype

    def _takes(self, statement: ast.stmt) -> bool:
        """Whether a statement is `T.assume(operand == register.field)`; the instruction then needs that field."""
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(_, "assume"), [ast.Compare(left, [ast.Eq()], [right])])):
                for one, other in ((left, right), (right, left)):
                    if (field := self._field(one)) is not None:
                        self.needs[field] = self._source(other)  # type: ignore[assignment]
                        return True
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(_, "assume"), [ast.Compare(left, [op], [right]) as compare])):
                if any(isinstance(n, ast.Attribute) and n.attr == "strides" for n in ast.walk(compare)):
                    self._refuse_part(compare)
                    symbol = {ast.Eq: "==", ast.LtE: "<=", ast.GtE: ">="}.get(type(op))
                    if symbol is None:
                        raise self.error(compare, "an assumption on strides is an ==, <= or >= of two numbers")
                    sides = [from_ast(side, self._number_name, self._stride_name) for side in (left, right)]
                    self.assumptions.append(Assumption(ast.unparse(compare), symbol, *sides))
                    return True
                self._refuse_part(compare)
        return False

    def _refuse_part(self, compare: ast.Compare) -> None:
        """Refuse a comparison that has a field in an expression."""
        for node in ast.walk(compare):
            match node:
                case ast.Attribute(ast.Name(name)) if name not in self.kinds and name in self.program.names:
                    if self._field(node) is not None:
                        raise self.error(compare, _fix(ast.unparse(node)))

    def _number_name(self, name: str) -> IntExpr:
        if not isinstance(self.kinds.get(name), UpTo | Between | str):
            raise self.error(self.program.node, f"{name} is not an operand that is a number")
        return Dim(name)

    def _stride_name(self, node: ast.expr) -> IntExpr:
        source = self._source(node)
        return as_expr(source) if isinstance(source, int) else Dim(str(source))

    def _field(self, node: ast.expr) -> Field | None:
        match node:
            case ast.Attribute(ast.Name(), name) if isinstance(register := self._value(node.value), Register):
                if name not in register.fields:
                    raise self.error(
                        node, f"register {register.name} has no field {name}: {', '.join(register.fields)}"
                    )
                return register.fields[name]
        return None

    def _source(self, node: ast.expr) -> Stride | str | int:
        match node:
            case ast.Subscript(ast.Attribute(ast.Name(name), "strides"), ast.Constant(int(dimension))):
                if name in self.kinds:
                    return Stride(name, dimension)
            case ast.BinOp(stride, ast.Mult(), ast.Constant(int(factor))):
                if isinstance(source := self._source(stride), Stride):
                    return replace(source, factor=factor)
            case ast.Name(name) if name in self.kinds:
                return name
            case ast.Constant(int(number)):
                return number
        raise self.error(node, _fix("a field"))

    def _operand(self, name: str, kind: Any) -> Operand:
        if isinstance(kind, UpTo):
            return Number(name, "int32", kind.high)
        if isinstance(kind, Between):
            high = int(kind.high) if kind.dtype == "int32" and kind.low >= 0 and self._is_size(name) else None
            return Number(name, kind.dtype, high, kind)
        if isinstance(kind, str):
            return Number(name, kind)
        accesses = [
            n for s in self.body for n in ast.walk(s) if isinstance(n, ast.Subscript) and _indexed_name(n) == name
        ]
        if not accesses:
            raise self.error(self.program.node, f"the description does not use operand {name}")
        shape = self._shape(name, accesses)
        stores = [
            t for s in self.body for n in ast.walk(s) if isinstance(n, ast.Assign | ast.AugAssign) for t in _targets(n)
        ]
        writes = any(_indexed_name(t) == name for t in stores)
        reads = any(isinstance(n.ctx, ast.Load) for n in accesses) or any(
            isinstance(n, ast.AugAssign) and _indexed_name(n.target) == name for s in self.body for n in ast.walk(s)
        )
        access = ("r" if reads else "") + ("w" if writes else "")
        if isinstance(kind, HostOperand):
            return Tile(name, None, kind.dtype, shape, access, free=tuple(range(len(shape) - 1)))
        memory = kind.memory if isinstance(kind, RowsOf) else kind
        count = len(kind.row)
        if len(shape) < count or any(n > size for n, size in zip(shape[-count:], kind.row, strict=True)):
            columns, row = (" x ".join(map(str, n)) for n in (shape[-count:], kind.row))
            raise self.error(
                self.program.node, f"operand {name} has {columns} columns; a row of {memory.name} has {row}"
            )
        shape = (*shape[:-count], *kind.row)
        free = tuple(d for d in range(len(shape) - count) if self._names_stride(name, d))
        return Tile(name, memory, kind.dtype, shape, access, kind.row, free)

    def _is_size(self, name: str) -> bool:
        """Whether a number limits loops or conditions."""
        tests = [n for s in self.body for n in ast.walk(s) if isinstance(n, ast.Compare)]
        tests += [n.iter for s in self.body for n in ast.walk(s) if isinstance(n, ast.For)]
        return any(isinstance(n, ast.Name) and n.id == name for test in tests for n in ast.walk(test))

    def _names_stride(self, name: str, dimension: int) -> bool:
        """Whether a call or an assumption names a stride of an operand."""
        in_calls = any(f"{{{name}.strides[{dimension}]}}" in call for call in self.calls)
        stride = f"{name}.strides[{dimension}]"
        assumed = any(stride in names_in(side) for a in self.assumptions for side in (a.left, a.right))
        needed = any(
            isinstance(s, Stride) and (s.operand, s.dimension) == (name, dimension) for s in self.needs.values()
        )
        return in_calls or assumed or needed

    def _shape(self, name: str, accesses: Sequence[ast.Subscript]) -> tuple[int, ...]:
        """The greatest index in each dimension, plus one."""
        loops = {v: e for s in self.body for v, e in _loops(s)}
        known = {n: int(k.high) for n, k in self.kinds.items() if isinstance(k, UpTo | Between)}
        sizes: list[int] = []
        for access in accesses:
            indices = access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]
            if sizes and len(indices) != len(sizes):
                raise self.error(access, f"operand {name} is used with {len(sizes)} and with {len(indices)} indices")
            for number, index in enumerate(indices):
                greatest = self._greatest(index, loops, known) + 1
                sizes[number : number + 1] = (
                    [max(greatest, *sizes[number : number + 1])] if number < len(sizes) else [greatest]
                )
        return tuple(sizes)

    def _greatest(self, index: ast.expr, loops: Mapping[str, ast.expr], known: Mapping[str, int]) -> int:
        """The greatest value of an index, at the start or the end of each loop and number."""
        words = {n.id for n in ast.walk(index) if isinstance(n, ast.Name)}
        ends = {word: high for word, high in known.items() if word in words}
        ends |= {word: self._greatest(loops[word], {}, known) - 1 for word in words & loops.keys()}
        code, outer = compile(ast.Expression(index), self.program.source.filename, "eval"), dict(self.program.names)
        corners = product(*((0, end) for end in ends.values()))
        try:
            return max(int(eval(code, {}, {**outer, **dict(zip(ends, c, strict=True))})) for c in corners)
        except Exception as error:
            raise self.error(index, f"the extent of this index is not known: {error}") from None


def _fix(field: str) -> str:
    """What may be assumed of a field."""
    return (
        f"{field} alone is on one side of ==, on the other a number, an operand that is one, A.strides[n] or "
        "A.strides[n] * 2; fix: give the field the value that the operand has, and compute what the register holds in "
        'the call that sets it: call="set_rows({rows} / 8)"'
    )


def _is_note(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, `...` or `pass`."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _indexed_name(node: ast.AST) -> str | None:
    return node.value.id if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) else None


def _targets(node: ast.Assign | ast.AugAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _loops(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The loop variables, and the ends of their ranges."""
    for node in ast.walk(statement):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            variables = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
            ends = node.iter.args if len(variables) > 1 else node.iter.args[-1:]
            yield from ((v.id, e) for v, e in zip(variables, ends, strict=False) if isinstance(v, ast.Name))


def _register(machine: str, program: FunctionSource, described: _Description) -> TensorIntrin:
    """Register the intrinsic: its description has the statements, its implementation is one call of all operands."""
    name = f"{machine}.{program.name}"
    operands = list(described.operands.values())
    header = _header(operands)
    tiles = [o for o in operands if isinstance(o, Tile)]
    regions = {a: ", ".join(f"{t.name}[{_box(t)}]" for t in tiles if a in t.access) for a in "rw"}
    passed = [text for o in operands for text in _arguments(o)]
    call = f'T.evaluate(T.call_extern("int32", "{machine}_{program.name}", {", ".join(passed)}))'
    body = f'with T.block("root"):\n    T.reads({regions["r"]})\n    T.writes({regions["w"]})\n    {call}'
    desc = _function(program, operands, [*header, *described.body])
    impl = _function(program, operands, [*header, *ast.parse(body).body])
    TensorIntrin.register(name, desc, impl, override=True)
    intrinsic = TensorIntrin.get(name)
    assert intrinsic is not None
    return intrinsic


def _box(tile: Tile) -> str:
    return ", ".join(f"0:{n}" for n in tile.shape)


def _arguments(operand: Operand) -> list[str]:
    """What a call passes for an operand: of a tile its address, and its strides where they vary."""
    if isinstance(operand, Number):
        return [operand.name]
    return [f'{operand.name}.access_ptr("{operand.access}")', *_stride_names(operand)]


def _stride_names(tile: Tile) -> list[str]:
    return [_stride_name(tile, d) for d in tile.free]


def _stride_name(tile: Tile, dimension: int) -> str:
    return f"{tile.name}_stride{dimension}"


def _strides(tile: Tile) -> list[str]:
    """The strides of an operand in elements: names of those that are free."""
    made: list[str] = []
    for dimension in reversed(range(len(tile.shape))):
        packed = f"{made[0]} * {tile.shape[dimension + 1]}" if made else "1"
        made.insert(0, _stride_name(tile, dimension) if dimension in tile.free else packed)
    return made


def _header(operands: Sequence[Operand]) -> list[ast.stmt]:
    """The declarations of the operands."""
    lines = []
    for operand in operands:
        if isinstance(operand, Number):
            if operand.high is not None:
                low = 0 if operand.limits is None else int(operand.limits.low)
                lines.append(f"T.assume({low} <= {operand.name} and {operand.name} <= {operand.high})")
            continue
        names = _stride_names(operand)
        lines += [f"{name} = T.int32()" for name in names]
        strides = f", strides=[{', '.join(_strides(operand))}]" if names else ""
        factor, scope = (1, "global") if operand.memory is None else (prod(operand.row), operand.memory.scope)
        lines.append(
            f"{operand.name} = T.match_buffer({operand.name}_handle, {operand.shape}, {operand.dtype!r}, "
            f"offset_factor={factor}, scope={scope!r}{strides})"
        )
    return ast.parse("\n".join(lines)).body


def _function(program: FunctionSource, operands: Sequence[Operand], body: Sequence[ast.stmt]) -> Any:
    """The program of a function with these statements, whose errors are told at the lines of the description."""
    params = [f"{o.name}_handle: T.handle" if isinstance(o, Tile) else f"{o.name}: T.{o.dtype}" for o in operands]
    node = ast.parse(f"def {program.name}({', '.join(params)}): pass").body[0]
    assert isinstance(node, ast.FunctionDef)
    node.body = list(body)
    for made in ast.walk(node):
        if "lineno" not in vars(made) or made.lineno < program.node.lineno:  # type: ignore[attr-defined]
            made.lineno = made.end_lineno = program.node.lineno  # type: ignore[attr-defined]
            made.col_offset = made.end_col_offset = program.node.col_offset  # type: ignore[attr-defined]
    from tir_mlir.script import tir

    names = {**program.names, "T": tir}
    source: SourceText = program.source
    return build([FunctionSource(program.name, node, source, names)])[program.name]
