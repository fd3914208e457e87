"""Run a program of a machine instruction by instruction: its results and its faults.

Each instruction does what its description says, compiled for this CPU; the rows that it touches and the registers that
it depends on are followed beside it. `timing` says when each part is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.accel.cores import iterations_by_core
from tir_mlir.accel.operands import Field, MemorySpace, Tile
from tir_mlir.accel.program import (
    Allocate,
    Clipped,
    For,
    HostCode,
    Issue,
    MachineBuffer,
    MachineProgram,
    Node,
    TileAddress,
    Value,
)
from tir_mlir.accel.semantics import compiled_statements, extent_limits, model_arguments, model_of
from tir_mlir.accel.tile_rows import TileRows, tile_view, touched_rows
from tir_mlir.dialect.diagnostics import ArgumentError, MachineError
from tir_mlir.dialect.symbolic import IntExpr, text

if TYPE_CHECKING:
    from tir_mlir.accel.machine import Machine


class _MemoryRows:
    """The rows of a memory: values, and which are set."""

    def __init__(self, memory: MemorySpace):
        self.memory = memory
        self.values = np.zeros((memory.rows, memory.width), memory.dtype)
        self.values.view(np.uint8).fill(0xA5)
        self.is_set = np.zeros(memory.rows, bool)
        self.owner = np.full(memory.rows, -1)
        """The buffer that a row has an element of, as a number."""


class _Core:
    """What a core has: memories and registers; of what is shared, that of the first core."""

    def __init__(self, machine: Machine, number: int, first: _Core | None):
        self.number = number
        self.memories: dict[MemorySpace, _MemoryRows] = {}
        for memory in machine.spaces.values():
            is_first = first is None or not memory.is_shared
            self.memories[memory] = _MemoryRows(memory) if first is None or is_first else first.memories[memory]
        self.registers: dict[Field, int | float] = {}


class Simulator:
    """A machine that runs one program. Errors: MachineError with the instruction, the row, the loops and the line."""

    def __init__(self, program: MachineProgram, rows: Mapping[MachineBuffer, int]):
        self.program, self.rows = program, rows
        self.bodies = iterations_by_core(program)
        self.cores: list[_Core] = []
        for number in range(len(self.bodies)):
            self.cores.append(_Core(program.machine, number, self.cores[0] if number else None))
        self.arrays: dict[MachineBuffer, np.ndarray[Any, Any]] = {}
        self.numbers = {buffer: number for number, buffer in enumerate(rows)}

    def run(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        """Run the program on arrays, which it changes."""
        self._bind(arrays)
        for core, body in zip(self.cores, self.bodies, strict=True):
            writer = _Writer(self, core)
            code = compile(writer.function(body), f"<{self.program.name} on {self.program.machine.name}>", "exec")
            scope = dict(writer.scope)
            exec(code, scope)
            scope["run"]()

    def _bind(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        params = self.program.params
        if len(arrays) != len(params):
            raise ArgumentError(f"{self.program.name} takes {len(params)} arrays, not {len(arrays)}")
        for param, array in zip(params, arrays, strict=True):
            if array.shape != param.shape or array.dtype != np.dtype(param.dtype) or not array.flags.c_contiguous:
                raise ArgumentError(
                    f"{param.name} is a contiguous array of shape {param.shape} and type {param.dtype}, "
                    f"not of {array.shape} and {array.dtype}"
                )
            self.arrays[param] = array.reshape(-1)

    def host_function(self, node: HostCode) -> Callable[..., None]:
        """What runs statements on the CPU, for values of their loop variables."""
        compiled = compiled_statements(node)

        def run(*variables: int) -> None:
            compiled(*(self.arrays[b].reshape(b.shape) for b in node.buffers), *variables)

        return run

    def allocate(self, core: _Core, buffer: MachineBuffer) -> None:
        """Begin the life of a buffer: its rows are not set."""
        if buffer.memory is None:
            self.arrays[buffer] = np.zeros(int(np.prod(buffer.shape)), buffer.dtype)
        elif buffer in self.rows:  # one that no instruction uses has none
            start = self.rows[buffer]
            core.memories[buffer.memory].is_set[start : start + buffer.rows] = False


class _Executor:
    """Executes one instruction of a program, each time with other operands."""

    def __init__(self, simulator: Simulator, core: _Core, issue: Issue):
        self.simulator, self.core, self.issue, self.instruction = simulator, core, issue, issue.instruction
        self.tiles = [(t, issue.tiles[t.name]) for t in issue.instruction.tiles]
        self.strides = {name: [int(str(s)) for s in tile.strides] for name, tile in issue.tiles.items()}
        self.names = [n.name for n in issue.instruction.numbers]
        self.parts: dict[tuple[str | int | float, ...], TileRows] = {}
        self.function = model_of(issue.instruction) if issue.instruction.intrinsic is not None else None
        self.limits = extent_limits(issue.instruction) if issue.instruction.intrinsic is not None else {}

    def __call__(self, loops: tuple[int, ...], offsets: tuple[int, ...], numbers: tuple[int | float, ...]) -> None:
        simulator, instruction = self.simulator, self.instruction
        values = dict(zip(self.names, numbers, strict=True))
        for needed, source in instruction.needs.items():
            self._check_register(needed, self._required_number(source, values), loops)
        arguments: list[Any] = []
        written: list[tuple[_MemoryRows, TileRows, int, int]] = []
        for (tile, address), offset in zip(self.tiles, offsets, strict=True):
            if tile.memory is None:
                arguments.append(self._host_view(tile, address, offset, values, loops))
                continue
            rows, part, first = self._machine_rows(tile, address, offset, values, loops)
            arguments.append(tile_view(rows.values, tile, first, self.strides[tile.name]))
            if "w" in tile.access:
                written.append((rows, part, first, simulator.numbers[address.buffer]))
        for rows, part, first, owner in written:
            part.view_of(rows.is_set, first)[...] = True
            part.view_of(rows.owner, first)[...] = owner
        for target in instruction.sets:
            self.core.registers[target] = values[target.name]
        if self.function is not None:
            self.function(*model_arguments(instruction, arguments, numbers))

    def _required_number(self, source: Any, values: Mapping[str, int | float]) -> int | float:
        needed = self.issue.required_value(source)
        if isinstance(needed, float):
            return needed
        return values[source.name] if hasattr(source, "dtype") else int(str(needed))

    def _check_register(self, needed: Field, value: int | float, loops: tuple[int, ...]) -> None:
        if needed not in self.core.registers:
            raise self._error(f"register {needed} was never set; it needs {value}", loops)
        if (actual := self.core.registers[needed]) != value:
            raise self._error(f"register {needed} is {actual}; it needs {value}", loops)

    def _touched_rows(self, tile: Tile, values: Mapping[str, Any]) -> TileRows:
        """The rows that an operand touches, found once for the same numbers."""
        limits = self.limits.get(tile.name, {})
        key = (tile.name, *(values[name] for name in limits.values()))
        if key not in self.parts:
            self.parts[key] = touched_rows(tile, self.strides[tile.name], limits, values)
        return self.parts[key]

    def _machine_rows(
        self, tile: Tile, address: TileAddress, start: int, values: Mapping[str, Any], loops: tuple[int, ...]
    ) -> tuple[_MemoryRows, TileRows, int]:
        """The rows of a memory that a tile touches, and the first one."""
        memory, buffer = tile.memory, address.buffer
        assert memory is not None
        part = self._touched_rows(tile, values)
        if start < 0 or start + part.span > buffer.rows:
            raise self._error(
                f"operand {tile.name} is rows {start} to {start + part.span - 1} of {buffer.name}, "
                f"which has {buffer.rows}",
                loops,
            )
        first = self.simulator.rows[buffer] + start
        rows = self.core.memories[memory]
        if first + part.span > memory.rows:
            raise self._error(
                f"operand {tile.name} ends at row {first + part.span - 1}; {memory.name} has {memory.rows}", loops
            )
        if "r" not in tile.access:
            return rows, part, first
        if not (is_set := part.view_of(rows.is_set, first)).all():
            raise self._error(
                f"row {part.number(first, ~is_set)} of {memory.name} ({buffer.name}, operand {tile.name}) is read "
                "before it is written",
                loops,
            )
        foreign = part.view_of(rows.owner, first) != self.simulator.numbers[buffer]
        if foreign.any():
            row = part.number(first, foreign)
            other = list(self.simulator.numbers)[rows.owner[row]].name
            raise self._error(
                f"row {row} of {memory.name} has an element of {other}, not of {buffer.name} (operand {tile.name})",
                loops,
            )
        return rows, part, first

    def _host_view(
        self, tile: Tile, address: TileAddress, offset: int, values: Mapping[str, Any], loops: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        array = self.simulator.arrays[address.buffer]
        strides = self.strides[tile.name]
        limits = self.limits.get(tile.name, {})
        sizes = [min(n, int(values[limits[d]])) if d in limits else n for d, n in enumerate(tile.shape)]
        last = sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        if offset < 0 or (min(sizes) > 0 and offset + last >= array.size):
            raise self._error(f"operand {tile.name} ends outside of {address.buffer.name}", loops)
        return np.lib.stride_tricks.as_strided(
            array[offset:], tile.shape, [s * array.itemsize for s in strides], writeable=True
        )

    def _error(self, message: str, loops: tuple[int, ...]) -> MachineError:
        names = ", ".join(f"{n} = {v}" for n, v in zip(self.loops, loops, strict=True))
        at = f" at {names}" if names else ""
        at = f" on core {self.core.number}{at}" if len(self.simulator.cores) > 1 else at
        return MachineError(f"{self.instruction.name}{at}: {message}\n  {self.issue.line}")

    loops: tuple[str, ...] = ()
    """The names of the loops around it."""


class _Writer:
    """Writes the loops of a program in Python."""

    def __init__(self, simulator: Simulator, core: _Core):
        self.simulator, self.core = simulator, core
        self.scope: dict[str, Any] = {"allocate": partial(simulator.allocate, core)}

    def function(self, body: Sequence[Node]) -> str:
        lines = ["def run():", "    pass"]
        self._body(body, "    ", lines, ())
        return "\n".join(lines)

    def _body(self, body: Sequence[Node], indent: str, lines: list[str], loops: tuple[str, ...]) -> None:
        for node in body:
            if isinstance(node, Allocate):
                lines.append(f"{indent}allocate({self._keep(node.buffer)})")
            elif isinstance(node, Issue):
                lines.append(indent + self._issue(node, loops))
            elif isinstance(node, HostCode):
                lines.append(f"{indent}{self._keep(self.simulator.host_function(node))}({_arguments(node)})")
            else:
                inner = loops
                if isinstance(node, For):
                    ends = ", ".join(map(text, node.highs))
                    end = f"min({ends})" if len(node.highs) > 1 else ends
                    lines.append(f"{indent}for {node.var} in range({text(node.low)}, {end}):")
                    inner = (*loops, node.var)
                else:
                    tests = [f"{text(e)} {'==' if is_equality else '>='} 0" for e, is_equality in node.conditions]
                    lines.append(f"{indent}if {' and '.join(tests)}:")
                lines.append(f"{indent}    pass")
                self._body(node.body, indent + "    ", lines, inner)

    def _issue(self, issue: Issue, loops: tuple[str, ...]) -> str:
        executor = _Executor(self.simulator, self.core, issue)
        executor.loops = loops
        offsets = _tuple([text(issue.tiles[t.name].start) for t in issue.instruction.tiles])
        numbers = _tuple([_text(issue.numbers[n.name]) for n in issue.instruction.numbers])
        return f"{self._keep(executor)}({_tuple(loops)}, {offsets}, {numbers})"

    def _keep(self, value: Any) -> str:
        name = f"_{len(self.scope)}"
        self.scope[name] = value
        return name


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _arguments(node: HostCode) -> str:
    return ", ".join(map(text, node.variables))


def _text(value: Value) -> str:
    """A number in Python."""
    if isinstance(value, Clipped):
        inner = text(value.number)
        inner = inner if value.high is None else f"min({inner}, {value.high})"
        return inner if value.low is None else f"max({inner}, {value.low})"
    return text(value) if isinstance(value, IntExpr) else repr(value)
