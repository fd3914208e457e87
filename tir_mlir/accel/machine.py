"""A machine: its memories, units, configuration registers and instructions."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tir_mlir import target
from tir_mlir.accel.instruction import Cycles, MachineInstruction, parse_instruction
from tir_mlir.accel.operands import ExecutionUnit, Field, HostOperand, MemorySpace, Register
from tir_mlir.dialect.diagnostics import IntrinError, short_repr
from tir_mlir.dialect.ir import dtypes
from tir_mlir.target import AnyTarget

_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(eq=False)
class Machine(AnyTarget):
    """An accelerator with memories of its own, and instructions on tiles of them.

        m = Machine("npu")
        pad = m.memory("pad", rows=1024, row=(16, "int8"))
        dma = m.unit("dma")

        @m.instruction(dma, call="npu_load({R.row}, {D})", cycles=16)
        def load(D: m.host("int8"), R: pad):
            for i, j in T.grid(16, 16):
                R[i, j] = D[i, j]

    Its instructions are tensor intrinsics, named `npu.load` for `tensorize`. It is a target: `build(sch, target=m)`
    places the buffers in its memories, sets its registers, and makes a library that runs on a model of the machine; its
    source is C.
    """

    kind = "accelerator"
    noun = "accelerator"

    name: str
    header: str = ""
    """C that declares the functions of the calls: `#include "npu.h"`."""
    cores: int = field(default=1, kw_only=True)
    """Cores that run one program beside each other: `sch.bind(loop, "core")`."""
    spaces: dict[str, MemorySpace] = field(default_factory=dict, init=False)
    units: dict[str, ExecutionUnit] = field(default_factory=dict, init=False)
    registers: dict[str, Register] = field(default_factory=dict, init=False)
    instructions: dict[str, MachineInstruction] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        _check_word(self.name, "machine")
        if not isinstance(self.cores, int) or self.cores < 1:
            raise IntrinError(f"machine {self.name}: cores is a positive number, not {short_repr(self.cores)}")

    def memory(
        self, name: str, *, rows: int, row: tuple[int | str, ...], alignment: int = 1, shared: bool = False
    ) -> MemorySpace:
        """A memory of `rows` rows, each of so many elements of a type: `row=(16, "int8")`, or `row=(16, 16, "int8")`.

        Buffers of the scope `global.NAME` are in it: their last dimensions are a row, and they begin at a multiple of
        `alignment` rows. Each core has a memory of its own, unless it is `shared`. Errors: IntrinError.
        """
        self._check_new(name, "memory")
        *sizes, dtype = row
        shape = tuple(n for n in sizes if isinstance(n, int) and n > 0)
        if not (isinstance(rows, int) and rows > 0 and shape and len(shape) == len(sizes)):
            raise IntrinError(f"memory {name}: rows and their elements are positive numbers")
        dtype = _check_type(dtype, f"memory {name}")
        if alignment < 1:
            raise IntrinError(f"memory {name}: a buffer is aligned to a positive number of rows, not to {alignment}")
        self.spaces[name] = MemorySpace(name, rows, shape, dtype, alignment, shared)
        return self.spaces[name]

    def unit(self, name: str, *, queue: int = 1, shared: bool = False) -> ExecutionUnit:
        """A unit that executes instructions in order; the machine issues up to `queue` of them before it is free.

        Each core has one of its own, unless it is `shared`.
        """
        self._check_new(name, "unit")
        self.units[name] = ExecutionUnit(name, queue, shared)
        return self.units[name]

    def state(self, name: str, **fields: str) -> Register:
        """Configuration registers: fields of a type, which instructions set, and others depend on.

        An instruction sets the fields that its parameters name (`sets=`); a description that says
        `T.assume(D.strides[0] == ld.stride)` depends on one.
        """
        self._check_new(name, "register")
        for key, dtype in fields.items():
            _check_type(dtype, f"register {name}.{key}")
        self.registers[name] = Register(name, {key: Field(name, key, dtype) for key, dtype in fields.items()})
        return self.registers[name]

    def host(self, dtype: str) -> HostOperand:
        """The annotation of an operand in the memory of the CPU: its rows may have any stride."""
        _check_type(dtype, "an operand in the memory of the CPU")
        return HostOperand(dtype)

    def instruction(
        self,
        unit: ExecutionUnit,
        *,
        call: str | Sequence[str],
        cycles: int | Cycles = 1,
        latency: int = 0,
        sets: Register | None = None,
    ) -> Callable[[Callable[..., Any]], MachineInstruction]:
        """Describe an instruction by a function of TVMScript on its operands.

        unit: what executes it. call: the C call, or calls, that issue it: `{D}` is the address of an operand in the
        memory of the CPU, `{R.row}` the row of one in a memory of the machine, `{D.strides[0]}` a stride in elements,
        `{rows}` a number. cycles: for which it occupies its unit, a number or a function of its numbers. latency:
        cycles after these until its result can be used. sets: the register whose fields its parameters set.
        Annotations: a memory, `m.host(dtype)`, `upto(16)` for a number from 0 to 16, or a type. Errors: IntrinError,
        ScriptError.
        """
        frame = sys._getframe(1)
        if unit not in self.units.values():
            raise IntrinError(f"{short_repr(unit)} is not a unit of machine {self.name}; fix: unit = m.unit(name)")

        def decorate(func: Callable[..., Any]) -> MachineInstruction:
            calls = (call,) if isinstance(call, str) else tuple(call)
            made = parse_instruction(self.name, self.registers, func, frame, unit, calls, cycles, latency, sets)
            self._check_new(made.name, "instruction")
            self.instructions[made.name] = made
            return made

        return decorate

    def _check_new(self, name: str, what: str) -> None:
        _check_word(name, what)
        for kind in (self.spaces, self.units, self.registers, self.instructions):
            if name in kind:
                raise IntrinError(f"machine {self.name} has something called {name} already")

    @property
    def chip(self) -> str:
        return self.name

    @property
    def memories(self) -> Mapping[str, target.Memory]:
        return {m.scope: target.Memory(m.bytes, m.row_bytes, "program") for m in self.spaces.values()}

    def memory_of_scope(self, scope: str) -> MemorySpace | None:
        """The memory in which buffers of a scope are; None for that of the CPU."""
        return next((m for m in self.spaces.values() if m.scope == scope), None)

    def __repr__(self) -> str:
        return f'Machine("{self.name}")'


def _check_type(dtype: object, what: str) -> str:
    if not isinstance(dtype, str) or dtype not in dtypes.NAMES:
        raise IntrinError(f"{what}: {short_repr(dtype)} is not a type")
    if dtype == "bfloat16":
        raise IntrinError(f"{what}: the model of a machine has no bfloat16, as NumPy has none")
    return dtype


def _check_word(name: str, what: str) -> None:
    if not isinstance(name, str) or not _WORD.fullmatch(name):
        raise IntrinError(f"the name of a {what} is a word of letters, digits and _, not {short_repr(name)}")
