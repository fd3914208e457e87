"""Run a program of a machine instruction by instruction, on arrays.

The program becomes Python: loops around calls of what the descriptions of instructions compute, compiled for this CPU.
What is wrong with a run is found before it, for all instructions together: see `timing.faults`. `timing` says when each
part is done.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tir_mlir.accel.cores import iterations_by_core
from tir_mlir.accel.operands import MemorySpace, Tile
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
from tir_mlir.accel.semantics import compiled_statements, model_of
from tir_mlir.accel.timing.stream import Stream
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.dialect.symbolic import IntExpr, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tir_mlir.interpreter.codegen import Breakpoint

UNSET = 0xA5
"""Bytes of rows that nothing wrote."""


class Simulator:
    """A machine that runs one program, whose instructions are all right.

    stops: instructions before which it stops, by name: always, or on a condition over loops and numbers.
    """

    def __init__(
        self,
        stream: Stream,
        rows: Mapping[MachineBuffer, int],
        stops: Mapping[str, Breakpoint] = MappingProxyType({}),
    ):
        self.stream, self.program, self.rows, self.stops = stream, stream.program, rows, stops
        self.arrays: dict[MachineBuffer, np.ndarray[Any, Any]] = {}
        self.scope: dict[str, Any] = {}
        """What the Python of the program names: memories, arrays, and functions."""

    def run(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        """Run the program on arrays, which it changes."""
        for _, code in self.write(arrays):
            exec(code, self.scope)

    def write(self, arrays: Sequence[np.ndarray[Any, Any]]) -> Iterator[tuple[str, str]]:
        """The Python of each core, with its name, to be executed in `scope` before the next one is asked for."""
        self._bind(arrays)
        shared: dict[MemorySpace, np.ndarray[Any, Any]] = {}
        bodies = iterations_by_core(self.program)
        for core, body in enumerate(bodies):
            memories = {m: _memory(m) for m in self.program.machine.spaces.values() if m not in shared}
            shared |= {m: a for m, a in memories.items() if m.is_shared}
            writer = _Writer(self, core, memories | shared)
            on_core = f" on core {core}" if len(bodies) > 1 else ""
            yield f"{self.program.name} on {self.program.machine.name}{on_core}", writer.text(body)

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
            self.arrays[param] = array
        for node in self.program.nodes():
            if isinstance(node, Allocate) and node.buffer.memory is None:
                self.arrays[node.buffer] = np.zeros(node.buffer.shape, node.buffer.dtype)
            elif isinstance(node, HostCode):
                self.arrays |= {b: b.values for b in node.buffers if b.values is not None}

    def host_function(self, node: HostCode) -> Callable[..., None]:
        """What runs statements on the CPU, for values of their loop variables."""
        (run,) = compiled_statements(node).values()
        return partial(run, *(self.arrays[b] for b in node.buffers))


def _memory(memory: MemorySpace) -> np.ndarray[Any, Any]:
    values = np.zeros((memory.rows, *memory.row), memory.dtype)
    values.view(np.uint8).fill(UNSET)
    return values


class _Writer:
    """Writes the program of a core in Python."""

    def __init__(self, simulator: Simulator, core: int, memories: Mapping[MemorySpace, np.ndarray[Any, Any]]):
        self.simulator, self.core, self.memories = simulator, core, memories
        self.program: MachineProgram = simulator.program
        self.scope = simulator.scope
        taken = {n.var for n in self.program.nodes() if isinstance(n, For)}
        for memory, values in memories.items():
            self._name(memory.name, values, taken)
        for buffer, array in simulator.arrays.items():
            self._name(buffer.name, array, taken)
        self.taken = taken | self.scope.keys()

    def text(self, body: Sequence[Node]) -> str:
        lines = ["def run():"]
        self._body(body, "    ", lines, ())
        return "\n".join([*lines, "    return", "", "run()", ""])

    def _body(self, body: Sequence[Node], indent: str, lines: list[str], loops: tuple[str, ...]) -> None:
        for node in body:
            if isinstance(node, Allocate):
                if node.buffer.memory is None:
                    lines.append(f"{indent}{node.buffer.name}.fill(0)")
            elif isinstance(node, Issue):
                lines += [f"{indent}{line}" for line in (*self._stop(node, loops), self._issue(node))]
            elif isinstance(node, HostCode):
                function = self._keep(node.name, self.simulator.host_function(node))
                lines.append(f"{indent}{function}({', '.join(map(text, node.variables))})")
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
                count = len(lines)
                self._body(node.body, indent + "    ", lines, inner)
                if len(lines) == count:
                    lines.append(f"{indent}    pass")

    def _stop(self, issue: Issue, loops: tuple[str, ...]) -> list[str]:
        """What stops before an instruction."""
        name = issue.instruction.name
        condition = self.simulator.stops.get(name)
        if not callable(condition):
            return ["breakpoint()"] if condition else []
        values = stop_values(condition, issue, loops)
        if values is None:
            return []
        arguments = ", ".join(f"{n}={v}" for n, v in values.items())
        return [f"if {self._keep(f'stop_{name}', condition)}({arguments}): breakpoint()"]

    def _issue(self, issue: Issue) -> str:
        instruction = issue.instruction
        numbers = {n.name: number_text(issue.numbers[n.name]) for n in instruction.numbers}
        if instruction.intrinsic is None:
            return f"pass  # {instruction.name}({', '.join(f'{n} = {v}' for n, v in numbers.items())})"
        (computes,) = model_of(instruction).values()
        function = self._keep(instruction.name, computes)
        operands = [
            self._tile(issue, o, issue.tiles[o.name]) if isinstance(o, Tile) else numbers[o.name]
            for o in instruction.operands
        ]
        return f"{function}({', '.join(operands)})"

    def _tile(self, issue: Issue, tile: Tile, address: TileAddress) -> str:
        """The array of a tile: a function of its first byte in its memory."""
        if address.buffer.memory is None:
            values, width, first = self.simulator.arrays[address.buffer], np.dtype(tile.dtype).itemsize, 0
            strides = [int(str(s)) * width for s in address.strides]
        else:
            values, width = self.memories[address.buffer.memory], address.buffer.memory.row_bytes
            first = self.simulator.rows[address.buffer]
            rows = [s * width for s in tile.strides_in_rows([int(str(s)) for s in address.strides])]
            strides = [*rows, *_row_strides(tile)]
        starts = [t.starts[tile.name] for t in self.simulator.stream.tables if t.issue is issue]
        low, high = (int(f((f(s) for s in starts if s.size), default=0)) for f in (min, max))
        last = (first + high) * width + sum((n - 1) * s for n, s in zip(tile.shape, strides, strict=True))
        # what masks exclude may be outside of the array
        room = as_strided(values.reshape(-1).view(np.uint8), (max(0, last) + np.dtype(tile.dtype).itemsize,), (1,))
        view = partial(np.ndarray, tile.shape, tile.dtype, room, strides=strides)
        start = address.start + first if first else address.start
        start = text(start * width if width > 1 else start)
        name = self._keep(f"{address.buffer.name}_tile", view)
        return f"{name}({start if low + first >= 0 else f'max(0, {start})'})"

    def _keep(self, name: str, value: object) -> str:
        """A name for a value, like this one."""
        return self._name(name, value, self.taken)

    def _name(self, name: str, value: object, taken: set[str]) -> str:
        number = 0
        made = name
        while made in taken and self.scope.get(made) is not value:
            number += 1
            made = f"{name}_{number}"
        taken.add(made)
        self.scope[made] = value
        return made


def stop_values(condition: Callable[..., bool], issue: Issue, loops: Sequence[str]) -> dict[str, str] | None:
    """The loops around an instruction, and its numbers, that a condition takes, in Python; None if it takes another
    name."""
    known = {loop: loop for loop in loops} | {name: number_text(value) for name, value in issue.numbers.items()}
    parameters = inspect.signature(condition).parameters.values()
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        return known
    values = {p.name: known[p.name] for p in parameters if p.name in known}
    is_complete = all(p.name in known or p.default is not p.empty for p in parameters)
    return values if is_complete else None


def _row_strides(tile: Tile) -> list[int]:
    """The strides of the dimensions of a row, in bytes."""
    return [prod(tile.row[n + 1 :]) * np.dtype(tile.dtype).itemsize for n in range(len(tile.row))]


def number_text(value: Value) -> str:
    """A number in Python."""
    if isinstance(value, Clipped):
        inner = text(value.number)
        inner = inner if value.high is None else f"min({inner}, {value.high})"
        return inner if value.low is None else f"max({inner}, {value.low})"
    return text(value) if isinstance(value, IntExpr) else repr(value)
