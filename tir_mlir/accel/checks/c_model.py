"""The C functions of a machine's instructions, and the C arrays of its memories, compiled for this CPU."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.c_source import print_calls
from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import MemorySpace, Number, Tile
from tir_mlir.accel.program import Issue, MachineBuffer, TileAddress
from tir_mlir.accel.semantics import Array
from tir_mlir.dialect.diagnostics import BuildError, ToolError
from tir_mlir.dialect.symbolic import Constant, Dim, IntExpr
from tir_mlir.runtime.drivers.c_entry import C_TYPES
from tir_mlir.runtime.tools import c_tools, files

if TYPE_CHECKING:
    from tir_mlir.accel.machine import Machine

_MOST_CHOICES = 1024
"""Choices of immediate rows for which C has a call each."""
_TRAPS = ("-fsanitize=bounds", "-fsanitize-trap=bounds")
"""An index beyond an array whose size the compiler knows ends the process."""


@dataclass(frozen=True)
class Operands:
    """What one call of an instruction is given."""

    pointers: Mapping[str, int]
    """Addresses of the tiles in the memory of the CPU."""
    strides: Mapping[str, Sequence[int]]
    """Of all tiles: in elements, or in rows of a memory of the machine."""
    rows: Mapping[str, int]
    """First rows of the tiles in the memories of the machine."""
    numbers: Mapping[str, int | float]


@dataclass(frozen=True)
class CompiledModel:
    """A shared library with the instructions and the memories of a machine."""

    machine: Machine
    library: Path
    numbers: Mapping[str, int]
    """Of its instructions, in the names of their functions."""

    def load(self) -> LoadedModel:
        """Load it: its state is that of this process. Errors: BuildError for an array that is not as its memory is, or
        for a function that the C declares only."""
        try:
            code = ctypes.CDLL(str(self.library))
        except OSError as error:
            raise BuildError(f"the C model of the machine cannot be loaded: {error}") from None
        return LoadedModel(self, code)


@dataclass
class LoadedModel:
    """The C of a machine in this process."""

    model: CompiledModel
    code: ctypes.CDLL
    memories: dict[str, Array] = field(default_factory=dict)
    """Its arrays, as rows of elements."""

    def __post_init__(self) -> None:
        for number, memory in enumerate(self.model.machine.spaces.values()):
            self.memories[memory.name] = self._array(number, memory)

    def _array(self, number: int, memory: MemorySpace) -> Array:
        size, address = self.code[f"tir_size_{number}"], self.code[f"tir_state_{number}"]
        size.restype, address.restype = ctypes.c_int64, ctypes.c_void_p
        if (found := size()) < memory.bytes:
            shape = f"{memory.rows} rows of {memory.width} x {memory.dtype}"
            raise BuildError(
                f"memory {memory.name} has {memory.bytes} bytes, {shape}; its array in the C model has {found}; "
                f'fix: check(model, state={{"{memory.name}": "its name"}})'
            )
        data = np.ctypeslib.as_array((ctypes.c_uint8 * memory.bytes).from_address(address()))
        return data.view(memory.dtype).reshape(memory.rows, memory.width)

    def call(self, instruction: MachineInstruction, operands: Operands) -> None:
        """Call the functions of an instruction."""
        whole: list[int] = []
        real: list[float] = []
        pointers: list[int] = []
        for operand in instruction.operands:
            if isinstance(operand, Number):
                value = operands.numbers[operand.name]
                if _is_real(operand.dtype):
                    real.append(value)
                else:
                    whole.append(_as_integer(value, operand.dtype))
            elif operand.memory is None:
                pointers.append(operands.pointers[operand.name])
                whole += operands.strides[operand.name]
            else:
                whole += [operands.rows[operand.name], *operands.strides[operand.name]]
        wrapped = [n - (1 << 64) if n >= 1 << 63 else n for n in whole]
        self.code[f"tir_call_{self.model.numbers[instruction.name]}"](
            (ctypes.c_int64 * (len(whole) + 1))(*wrapped),
            (ctypes.c_double * (len(real) + 1))(*real),
            (ctypes.c_void_p * (len(pointers) + 1))(*pointers),
        )


@contextmanager
def compiled_model(machine: Machine, source: str | Path | None, state: Mapping[str, str]) -> Iterator[CompiledModel]:
    """The C model of a machine, compiled; in a folder that is removed at the end.

    source: C, or the path of a file of it; None: the header of the machine. state: the arrays of memories, by their
    names. Errors: BuildError with the messages of the compiler.
    """
    code, folder = _read_code(machine, source)
    names = {memory.name: state.get(memory.name) or _array_name(memory, code) for memory in machine.spaces.values()}
    if unknown := [name for name in state if name not in names]:
        raise BuildError(f"{machine} has no memory {unknown[0]}; it has {', '.join(names) or 'none'}")
    instructions = [i for i in machine.instructions.values() if i.tokens is None]
    parts = ["#include <stdbool.h>", "#include <stdint.h>", code]
    for number, name in enumerate(names.values()):
        parts.append(f"void *tir_state_{number}(void) {{ return (void *)({name}); }}")
        parts.append(f"int64_t tir_size_{number}(void) {{ return (int64_t)sizeof({name}); }}")
    parts += [_wrapper(machine, number, instruction) for number, instruction in enumerate(instructions)]
    with files.folder() as temporary:
        path = Path(temporary, "model.c")
        path.write_text("\n".join(parts) + "\n")
        library = Path(temporary, "model.so")
        _compile(path, library, [f"-I{folder}"] if folder is not None else [])
        yield CompiledModel(machine, library, {i.name: n for n, i in enumerate(instructions)})


def _read_code(machine: Machine, source: str | Path | None) -> tuple[str, Path | None]:
    """The code of a model, and the folder of its file."""
    if source is None:
        if not machine.header:
            raise BuildError(f"{machine} has no C; fix: check(model), the path of a C file with its instructions")
        return machine.header, None
    text = str(source)
    if "\n" in text or "{" in text:
        return text, None
    if not Path(text).is_file():
        raise BuildError(f"check takes C, or the path of a C file; there is no file {text}")
    return Path(text).read_text(), Path(text).resolve().parent


def _array_name(memory: MemorySpace, code: str) -> str:
    """The array of a memory: of its name, or of that in capitals."""
    for name in (memory.name, memory.name.upper()):
        if re.search(rf"\b{name}\b", code):
            return name
    raise BuildError(
        f"the C model has no array {memory.name} or {memory.name.upper()} for memory {memory.name}; "
        f'fix: check(model, state={{"{memory.name}": "its name"}})'
    )


def _wrapper(machine: Machine, number: int, instruction: MachineInstruction) -> str:
    """A C function that takes the operands of an instruction from arrays, and has its calls."""
    lines: list[str] = []
    tiles: dict[str, TileAddress] = {}
    numbers: dict[str, IntExpr] = {}
    counts = {"whole": 0, "real": 0, "pointers": 0}

    def take(kind: str) -> str:
        counts[kind] += 1
        return f"{kind}[{counts[kind] - 1}]"

    for operand in instruction.operands:
        name = f"tir_{operand.name}"
        if isinstance(operand, Number):
            kind = C_TYPES[operand.dtype]
            lines.append(f"const {kind} {name} = ({kind}){take('real' if _is_real(operand.dtype) else 'whole')};")
            numbers[operand.name] = Dim(name)
        else:
            tiles[operand.name] = _address(operand, name, take, lines)
    calls = _calls(machine, Issue(instruction, tiles, dict(numbers), ""))
    head = f"void tir_call_{number}(const int64_t *whole, const double *real, void *const *pointers)"
    unused = ["(void)whole; (void)real; (void)pointers;"]
    return "\n  ".join([f"{head} {{", *unused, *lines, *calls]) + "\n}"


def _calls(machine: Machine, issue: Issue) -> list[str]:
    """The calls of an instruction; where rows are immediates, those of each choice of them, by a switch."""
    rows = {name: _immediate_rows(issue, name) for name in issue.tiles}
    rows = {name: numbers for name, numbers in rows.items() if numbers}
    if not 0 < prod(map(len, rows.values())) <= _MOST_CHOICES or not rows:
        return print_calls(machine, issue)
    key, lines = "0", list[str]()
    for name, numbers in rows.items():
        key = f"({key}) * {len(numbers)} + {issue.tiles[name].start}"
    for number, choice in enumerate(product(*rows.values())):
        starts = {name: Constant(row) for name, row in zip(rows, choice, strict=True)}
        tiles = {n: replace(t, start=starts.get(n, t.start)) for n, t in issue.tiles.items()}
        calls = [c for c in print_calls(machine, replace(issue, tiles=tiles)) if not c.lstrip().startswith("/*")]
        lines.append(f"case {number}: {' '.join(calls)} break;")
    return [f"switch ({key}) {{", *lines, "}"]


def _immediate_rows(issue: Issue, name: str) -> range:
    """The rows at which a tile may begin, where they are immediates; else none."""
    tile = next(t for t in issue.instruction.tiles if t.name == name)
    if tile.memory is None or not tile.memory.immediate:
        return range(0)
    return range(tile.memory.rows - prod(tile.grid) + 1)


def _address(tile: Tile, name: str, take: Callable[[str], str], lines: list[str]) -> TileAddress:
    buffer = MachineBuffer(name, tile.shape, tile.dtype, tile.memory)
    start: IntExpr = Constant(0)
    if tile.memory is not None:
        lines.append(f"const int32_t {name}_row = (int32_t){take('whole')};")
        start = Dim(f"{name}_row")
    else:
        kind = C_TYPES[tile.dtype]
        lines.append(f"{kind} *const {name} = ({kind} *){take('pointers')};")
    strides: list[IntExpr] = []
    for dimension in range(len(tile.shape)):
        lines.append(f"const int32_t {name}_{dimension} = (int32_t){take('whole')};")
        strides.append(Dim(f"{name}_{dimension}"))
    return TileAddress(buffer, start, tuple(strides))


def _is_real(dtype: str) -> bool:
    return dtype in ("float32", "float64")


def _as_integer(value: float, dtype: str) -> int:
    """A number as C has it: of 16-bit floats, the bits."""
    return int(np.float16(value).view(np.uint16)) if dtype == "float16" else int(value)


def _compile(source: Path, library: Path, options: Sequence[str]) -> None:
    built = str(library.with_suffix(".o"))
    try:
        c_tools.compile_c(source, built, "-w", "-fwrapv", *_TRAPS, *options)
    except ToolError:  # an older compiler, or a wrong model
        try:
            c_tools.compile_c(source, built, "-w", "-fwrapv", *options)
        except ToolError as error:
            raise BuildError(f"the C model of the machine does not compile:\n{error}") from None
    c_tools.link_shared([built], str(library), [])
