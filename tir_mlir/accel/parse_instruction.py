"""A function of TVMScript on the operands of an instruction becomes a tensor intrinsic."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Sequence
from math import prod

from tir_mlir.accel.description import Description
from tir_mlir.accel.instruction import Cycles, MachineInstruction, Operand
from tir_mlir.accel.operands import ExecutionUnit, MemorySpace, Number, Register, Tile
from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.diagnostics import IntrinError
from tir_mlir.script import tir
from tir_mlir.script.parser import FunctionSource, build, source_of


def parse_instruction(
    machine: str,
    func: Callable[..., object],
    frame: types.FrameType,
    unit: ExecutionUnit,
    calls: tuple[str, ...],
    cycles: int | Cycles | None,
    latency: int,
    sets: Register | None,
    clears: tuple[MemorySpace, ...] = (),
) -> MachineInstruction:
    """The instruction that a function describes, registered as the intrinsic `machine.name`. Errors: IntrinError,
    ScriptError."""
    if not isinstance(func, types.FunctionType):
        raise IntrinError(f"an instruction is described by a function, not {func!r}")
    program = source_of(func, frame)
    described = Description(program, calls)
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
        described.needs, intrinsic, assumptions=tuple(described.assumptions), clears=clears,
    )  # fmt: skip


def _check_cycles(program: FunctionSource, described: Description, cycles: int | Cycles | None) -> None:
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


def _register(machine: str, program: FunctionSource, described: Description) -> TensorIntrin:
    """Register the intrinsic: its description has the statements, its implementation is one call of all operands."""
    name = f"{machine}.{program.name}"
    operands = list(described.operands.values())
    header = _statements(program, _header(operands))
    tiles = [o for o in operands if isinstance(o, Tile)]
    regions = {a: ", ".join(f"{t.name}[{_box(t)}]" for t in tiles if a in t.access) for a in "rw"}
    passed = [text for o in operands for text in _arguments(o)]
    call = f'T.evaluate(T.call_extern("int32", "{machine}_{program.name}", {", ".join(passed)}))'
    body = f'with T.block("root"):\n    T.reads({regions["r"]})\n    T.writes({regions["w"]})\n    {call}'
    desc = _function(program, operands, [*header, *described.body])
    impl = _function(program, operands, [*header, *_statements(program, body)])
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
    strides: list[str] = []
    for dimension in reversed(range(len(tile.shape))):
        packed = f"{strides[0]} * {tile.shape[dimension + 1]}" if strides else "1"
        strides.insert(0, _stride_name(tile, dimension) if dimension in tile.free else packed)
    return strides


def _header(operands: Sequence[Operand]) -> str:
    """The declarations of the operands."""
    lines: list[str] = []
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
    return "\n".join(lines)


def _function(program: FunctionSource, operands: Sequence[Operand], body: Sequence[ast.stmt]) -> object:
    """The program of a function with these statements."""
    params = [f"{o.name}_handle: T.handle" if isinstance(o, Tile) else f"{o.name}: T.{o.dtype}" for o in operands]
    (node,) = _statements(program, f"def {program.name}({', '.join(params)}): pass")
    assert isinstance(node, ast.FunctionDef)
    node.body = list(body)
    return build([FunctionSource(program.name, node, program.source, {**program.names, "T": tir})])[program.name]


def _statements(program: FunctionSource, text: str) -> list[ast.stmt]:
    """Statements whose errors are told at the line of the description."""
    line, column = program.node.lineno, program.node.col_offset
    place = ast.Pass(lineno=line, col_offset=column, end_lineno=line, end_col_offset=column)
    body = ast.parse(text).body
    for node in (n for statement in body for n in ast.walk(statement)):
        ast.copy_location(node, place)
    return body
