"""A machine: its memories, units, configuration registers and instructions."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tir_mlir import target
from tir_mlir.accel.instruction import Cycles, MachineInstruction
from tir_mlir.accel.operands import (
    FLAGS,
    Between,
    ExecutionUnit,
    Field,
    HostOperand,
    MemorySpace,
    Number,
    Register,
    TokenQueue,
)
from tir_mlir.accel.parse_instruction import parse_instruction
from tir_mlir.dialect.diagnostics import IntrinError, short_repr
from tir_mlir.dialect.ir import dtypes
from tir_mlir.extensions import extension_point
from tir_mlir.target import AnyTarget

if TYPE_CHECKING:
    from mlir import ir

    from tir_mlir.accel.checks.check_instructions import MachineCheck
    from tir_mlir.accel.interpreted_run import MachineReport
    from tir_mlir.interpreter.codegen import Breakpoint
    from tir_mlir.runtime.call.signature import CallSignature

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
    dispatch: int = field(default=1, kw_only=True)
    """Cycles from the issue of an instruction to that of the next one."""
    bandwidth: float = field(default=0, kw_only=True)
    """Bytes that the memory of the CPU gives or takes in a cycle; 0: any number."""
    host_macs: float = field(default=1, kw_only=True)
    """Products that the CPU beside it adds up in a cycle: `Graph.offload` leaves it what it does in fewer."""
    attributes: str = field(default="", kw_only=True)
    """C before the definition of a function of a program: `__attribute__((...))`."""
    spaces: dict[str, MemorySpace] = field(default_factory=dict, init=False)
    units: dict[str, ExecutionUnit] = field(default_factory=dict, init=False)
    registers: dict[str, Register] = field(default_factory=dict, init=False)
    instructions: dict[str, MachineInstruction] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        _check_word(self.name, "machine")
        if not isinstance(self.cores, int) or self.cores < 1:
            raise IntrinError(f"machine {self.name}: cores is a positive number, not {short_repr(self.cores)}")
        if not isinstance(self.host_macs, int | float) or not self.host_macs > 0:
            raise IntrinError(f"machine {self.name}: host_macs is a positive number, not {short_repr(self.host_macs)}")

    def copy(self) -> Machine:
        """A machine of the same description, to which more may be added. Its intrinsics are those of their names
        again: another machine of this name may have registered others."""
        duplicate = replace(self)
        for mine, others in zip(duplicate._parts(), self._parts(), strict=True):
            mine.update(others)
        for instruction in self.instructions.values():
            if instruction.intrinsic is not None:
                instruction.intrinsic.register_again()
        return duplicate

    def _parts(self) -> tuple[dict[str, Any], ...]:
        return self.spaces, self.units, self.registers, self.instructions

    def memory(
        self,
        name: str,
        *,
        rows: int,
        row: tuple[int | str, ...],
        alignment: int = 1,
        shared: bool = False,
        banks: int = 1,
        ports: int | None = None,
        interleaved: bool = False,
        conflicts: str = "wait",
        immediate: bool = False,
        renamed: bool = False,
        declared: str = "",
    ) -> MemorySpace:
        """A memory of `rows` rows, each of so many elements of a type: `row=(16, "int8")`, or `row=(16, 16, "int8")`.

        Buffers of the scope `global.NAME` are in it: their last dimensions are a row, and they begin at a multiple of
        `alignment` rows. Each core has a memory of its own, unless it is `shared`.

        It has `banks`: each has rows that follow each other, or, if it is `interleaved`, every n-th row. A bank serves
        `ports` operands at once: any number of them where it is one bank, one where there are several. An instruction
        that finds no port waits, or, where `conflicts` is "refuse", must not come at that time.

        immediate: the number of a row is part of an instruction's code, as that of a register: loops over rows are
        unrolled, and calls have numbers. renamed: hardware gives what is written another place, so that it waits for
        none that still uses the row. declared: C that declares a row as a variable, `"vector z{row}"`. Errors:
        IntrinError.
        """
        self._check_new(name, "memory")
        *sizes, dtype = row
        shape = tuple(n for n in sizes if isinstance(n, int) and n > 0)
        if not (isinstance(rows, int) and rows > 0 and shape and len(shape) == len(sizes)):
            raise IntrinError(f"memory {name}: rows and their elements are positive numbers")
        dtype = _check_type(dtype, f"memory {name}")
        if alignment < 1:
            raise IntrinError(f"memory {name}: a buffer is aligned to a positive number of rows, not to {alignment}")
        if banks < 1 or rows % banks:
            raise IntrinError(f"memory {name}: {rows} rows cannot be divided into {banks} banks")
        if conflicts not in ("wait", "refuse"):
            raise IntrinError(f'memory {name}: conflicts is "wait" or "refuse", not {short_repr(conflicts)}')
        if ports is not None and ports < 1:
            raise IntrinError(f"memory {name}: a bank has a positive number of ports, not {ports}")
        if declared and not (immediate and "{row}" in declared):
            raise IntrinError(
                f"memory {name}: rows that are variables have numbers in their names; fix: immediate=True, and "
                f'"{{row}}" in declared={short_repr(declared)}'
            )
        each = ports if ports is not None else int(banks > 1)
        self.spaces[name] = MemorySpace(
            name, rows, shape, dtype, alignment, shared, banks, interleaved, each, conflicts == "refuse", immediate,
            renamed, declared,
        )  # fmt: skip
        return self.spaces[name]

    def unit(
        self,
        name: str,
        *,
        queue: int = 1,
        shared: bool = False,
        interlocks: str = "all",
        bandwidth: float = 0,
        overflow: str = "wait",
    ) -> ExecutionUnit:
        """A unit that executes instructions in order; the machine issues up to `queue` of them before it is free.

        Each core has one of its own, unless it is `shared`. A call starts an instruction. Other units wait by
        `interlocks` in hardware until what it does with rows is done: those of "all" memories, of the "memories" of the
        machine but not that of the CPU, or of "none"; what hardware does not order, a program has to: see `wait` and
        `tokens`. bandwidth: bytes that it moves in a cycle, for instructions without `cycles`. overflow: "refuse" if an
        instruction is lost that is issued while the queue is full. Errors: IntrinError.
        """
        self._check_new(name, "unit")
        if not isinstance(queue, int) or queue < 1:
            raise IntrinError(f"unit {name}: a queue holds a positive number of instructions, not {short_repr(queue)}")
        if interlocks not in ("all", "memories", "none"):
            raise IntrinError(f'unit {name}: interlocks is "all", "memories" or "none", not {short_repr(interlocks)}')
        if overflow not in ("wait", "refuse"):
            raise IntrinError(f'unit {name}: overflow is "wait" or "refuse", not {short_repr(overflow)}')
        self.units[name] = ExecutionUnit(name, queue, shared, interlocks, bandwidth, overflow == "refuse")
        return self.units[name]

    def wait(
        self, unit: ExecutionUnit, *others: ExecutionUnit, call: str | Sequence[str], most: int = 0, name: str = ""
    ) -> MachineInstruction:
        """Describe what the CPU calls to wait for the instructions of units.

        The call returns when all of them are complete but the last `{left}`, a number from 0 to `most`. A program gets
        the calls that it needs; a block may also call it by its name, `T.call_extern("int32", "npu_wait_dma", 2)`.
        name: default `wait_UNIT`. Errors: IntrinError.
        """
        units = (unit, *others)
        for one in units:
            self._check_unit(one)
        name = name or f"wait_{unit.name}"
        self._check_new(name, "instruction")
        calls = (call,) if isinstance(call, str) else tuple(call)
        numbers = (Number("left", "int32", most),)
        self.instructions[name] = MachineInstruction(
            self.name, name, unit, numbers, calls, 0, 0, (), {}, None, waits=units
        )
        return self.instructions[name]

    def tokens(
        self,
        producer: ExecutionUnit,
        consumer: ExecutionUnit,
        *,
        put: str,
        take: str,
        depth: int,
        by_flags: bool = False,
    ) -> tuple[MachineInstruction, MachineInstruction]:
        """Describe a queue of tokens by which one unit waits for another one.

        put: the call that lets the producer put a token into it when its earlier instructions are complete, and wait
        while it holds `depth` of them. take: the call that lets the consumer wait for a token and remove it. A program
        gets the calls that it needs.

        by_flags: instructions of both units have flags instead, whose names in C are put and take: it takes a token
        before it starts, and puts one when it is complete. Their calls have `{flags}` for all flags that are set, as
        `VTA_POP_PREV | VTA_PUSH_NEXT`, or 0. Returns both instructions. Errors: IntrinError.
        """
        self._check_unit(producer)
        self._check_unit(consumer)
        if producer == consumer:
            raise IntrinError(f"unit {producer.name} executes in order: it needs no tokens of its own")
        if not isinstance(depth, int) or depth < 1:
            raise IntrinError(f"a queue of tokens holds a positive number of them, not {short_repr(depth)}")
        for instruction in [i for i in self.instructions.values() if by_flags and i.unit in (producer, consumer)]:
            _check_flags(instruction)
        queue = TokenQueue(producer, consumer, depth, by_flags)
        made: list[MachineInstruction] = []
        for verb, unit, call in (("put", producer, put), ("take", consumer, take)):
            name = f"{verb}_{queue.name}"
            self._check_new(name, "instruction")
            self.instructions[name] = MachineInstruction(
                self.name, name, unit, (), (call,), 0, 0, (), {}, None, tokens=queue
            )
            made.append(self.instructions[name])
        return made[0], made[1]

    def state(self, name: str, **fields: str | Between) -> Register:
        """Configuration registers: fields of a type, or of numbers `between(low, high)`, which instructions set, and
        others depend on.

        An instruction sets the fields that its parameters name (`sets=`); a description that says
        `T.assume(D.strides[0] == ld.stride)` depends on one.
        """
        self._check_new(name, "register")
        made: dict[str, Field] = {}
        for key, kind in fields.items():
            limits = kind if isinstance(kind, Between) else None
            dtype = _check_type(limits.dtype if limits is not None else kind, f"register {name}.{key}")
            made[key] = Field(name, key, dtype, limits)
        self.registers[name] = Register(name, made)
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
        cycles: int | Cycles | None = None,
        latency: int = 0,
        sets: Register | None = None,
        clears: Sequence[MemorySpace] = (),
    ) -> Callable[[Callable[..., object]], MachineInstruction]:
        """Describe an instruction by a function of TVMScript on its operands.

        unit: what executes it. call: the C call, or calls, that issue it: `{D}` is the address of an operand in the
        memory of the CPU, `{R.row}` the row of one in a memory of the machine, `{D.strides[0]}` a stride in elements,
        `{rows}` a number. cycles: for which it occupies its unit, a number or a function of its numbers; default: as
        long as its unit moves its bytes, or 1. latency: cycles after these until its result can be used. sets: the
        register whose fields its parameters set. clears: the memories whose contents it loses. Annotations: a memory,
        `m.host(dtype)`, `upto(16)` for a number from 0 to 16, or a type. Errors: IntrinError, ScriptError.
        """
        frame = sys._getframe(1)
        self._check_unit(unit)

        def decorate(func: Callable[..., object]) -> MachineInstruction:
            calls = (call,) if isinstance(call, str) else tuple(call)
            made = parse_instruction(self.name, func, frame, unit, calls, cycles, latency, sets, tuple(clears))
            self._check_new(made.name, "instruction")
            if self.passes_tokens_by_flags(unit):
                _check_flags(made)
            self.instructions[made.name] = made
            return made

        return decorate

    def passes_tokens_by_flags(self, unit: ExecutionUnit) -> bool:
        """Whether instructions of a unit have flags that put and take tokens."""
        queues = [i.tokens for i in self.instructions.values() if i.tokens is not None]
        return any(q.by_flags and unit in (q.producer, q.consumer) for q in queues)

    def _check_unit(self, unit: ExecutionUnit) -> None:
        if unit not in self.units.values():
            named = f"unit {unit.name}" if isinstance(unit, ExecutionUnit) else short_repr(unit)
            known = ", ".join(self.units) or "none"
            raise IntrinError(
                f"{named} is not a unit of machine {self.name}, whose units are {known}; fix: unit = m.unit(name)"
            )

    @extension_point
    def check(
        self,
        source: str | Path | None = None,
        *,
        state: Mapping[str, str] | None = None,
        only: Sequence[str] = (),
        seed: int = 0,
    ) -> MachineCheck:
        """Compare the C of each instruction, the functions that its call names, with its description.

        source: C that defines these functions and the memories of the machine as arrays, or the path of a file of it;
        by default the header of the machine. state: the array of a memory, by its name, where that is another one
        than of the same name, or this in capitals: {"acc": "chip.accumulator"}. only: the names of instructions; by
        default all, and sequences of them.

        Each instruction is called at random rows of a memory that is random all over, with strides that differ, all
        sizes, and data at the ends of types, at ties, and at the constants of the description, after the instructions
        that set the registers it needs and all others to something else; then in sequences. After each call the whole
        state is compared. Operands in the memory of the CPU end, or begin, where a process may not go. It runs in a
        process of its own.

        The result is true if all agree; its text names instruction, operands, row, column and both values. Errors:
        BuildError for C that does not compile or lacks a memory, MachineError for a register that nothing sets.
        """
        ...

    @extension_point
    def interpret(
        self,
        module: ir.Module,
        signature: CallSignature,
        arrays: Sequence[object],
        breakpoints: Mapping[str, Breakpoint],
    ) -> MachineReport:
        """Run a function of a module on arrays, instruction by instruction: `tir_mlir.interpret(..., machine=m)`."""
        ...

    def _check_new(self, name: str, what: str) -> None:
        _check_word(name, what)
        for kind in self._parts():
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


def _check_flags(instruction: MachineInstruction) -> None:
    """Check that an instruction on tiles has one place for the flags that pass tokens."""
    count = sum(call.count(FLAGS) for call in instruction.calls)
    if instruction.intrinsic is not None and count != 1:
        raise IntrinError(
            f"the calls of {instruction} have {FLAGS} {count} times; instructions of unit {instruction.unit.name} pass "
            f'tokens by flags: fix: one {FLAGS} in one of them, call="f({FLAGS}, ...)"'
        )


def _check_type(dtype: object, what: str) -> str:
    if not isinstance(dtype, str) or dtype not in dtypes.NAMES:
        raise IntrinError(f"{what}: {short_repr(dtype)} is not a type")
    if dtype == "bfloat16":
        raise IntrinError(f"{what}: the model of a machine has no bfloat16, as NumPy has none")
    return dtype


def _check_word(name: str, what: str) -> None:
    if not isinstance(name, str) or not _WORD.fullmatch(name):
        raise IntrinError(f"the name of a {what} is a word of letters, digits and _, not {short_repr(name)}")
