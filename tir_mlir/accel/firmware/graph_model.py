"""Firmware of a graph: what a machine computes, and the rest as C for the CPU beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

import numpy as np

from tir_mlir.accel.addresses import PlacedProgram, place_buffers
from tir_mlir.accel.firmware.firmware_model import Array, FirmwareCall, FirmwareModel, FirmwareTensor
from tir_mlir.accel.firmware.write import write_firmware
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.program import TO_LOOPS, read_program
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import enter_context, funcs, walk
from tir_mlir.dialect.ir.op_views import CallOp, isa
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory import buffer_assignment
from tir_mlir.graph.memory.buffer_assignment import ARENA, INPUT, OUTPUT, WEIGHT, BufferSlot, ExecutionPlan
from tir_mlir.graph.memory.lower_main import lower_main, output_name, own_symbol
from tir_mlir.graph.model_weights import bound_weights, weight_functions
from tir_mlir.graph.transforms.schedule_functions import replace_function
from tir_mlir.passes.lower.to_llvm import run_named
from tir_mlir.runtime.drivers.c_entry import identifier, identifiers
from tir_mlir.target import Target
from tir_mlir.targets.stages import FAST, BuildOptions

_CPU = Target(64, 32, arch="any", triple="any-none", cpu="generic")
"""What functions are scheduled for: a CPU without vectors, whose instructions C chooses."""


def write_graph(
    directory: str | Path,
    graph: Graph,
    machine: Machine,
    functions: Mapping[str, PlacedProgram],
    name: str | None = None,
) -> list[Path]:
    """Write a graph as firmware, see `write_firmware`. Returns the paths.

    functions: the programs of the machine that packed calls of the graph name. All else is compiled to functions of the
    CPU, in C. name: of the model in C, default that of the folder. Errors: BuildError for a packed call of anything
    else, for branches and loops of the graph, and sizes that are not constant.
    """
    name = name or identifier(Path(directory).resolve().name)
    options = BuildOptions(target=_CPU, threads=1, optimize=FAST, cache=False)
    fused = compile_graph(graph, until="fuse_tir", options=options)
    compiled = compile_graph(fused, resume_after="pack_weights", options=options)
    with enter_context():
        _put_plain_functions(compiled, fused)
        plan = buffer_assignment.plan(compiled.func, donated=buffer_assignment.donations(compiled.func))
        _check(plan, functions)
        reader = _PlanReader(name, plan)
        placed = {reader.functions[callee]: functions[callee] for callee in reader.packed}
        placed |= _cpu_functions(compiled, plan, machine, reader)
    weights = bound_weights(compiled, plan, weight_functions(compiled, BuildOptions()))
    return write_firmware(directory, reader.model(weights), placed)


def _check(plan: ExecutionPlan, functions: Mapping[str, PlacedProgram]) -> None:
    for call in plan.every_call:
        if call.packed and call.callee not in functions:
            raise BuildError(
                f"node {call.name} calls {call.callee}, which is not a program of the machine; fix: write it as "
                "operators, or as a function of TensorIR"
            )
    if control := next((call for call in plan.calls if call.control is not None), None):
        raise BuildError(
            f"node {control.name} is a branch or a loop of the graph, which firmware has not; fix: export what is in "
            "it, and call that from the application"
        )
    if plan.symbols or plan.arena.offsets is None:
        raise BuildError(
            f"the graph has the size {', '.join(plan.symbols)}, which a call decides; firmware has memory of constant "
            "sizes; fix: a graph for one size (from_torch without dynamic shapes)"
        )


def _put_plain_functions(scheduled: Graph, fused: Graph) -> None:
    """Put functions as they were before their schedule, where that uses kernels of this package: C has loops only."""
    known = {f.name for f in funcs(fused.module.mlir)}
    for function in funcs(scheduled.module.mlir):
        if function.name in known and any(isa(op, CallOp) for op in walk.ops(function.op)):
            replace_function(scheduled.module, function.name, fused.module[function.name])


def _cpu_functions(
    graph: Graph, plan: ExecutionPlan, machine: Machine, reader: _PlanReader
) -> dict[str, PlacedProgram]:
    """The functions of the CPU, by their names in C."""
    module = lower_main(graph.module.mlir, {reader.name: plan})
    run_named(module, TO_LOOPS, {})
    return {reader.functions[symbol]: place_buffers(read_program(module, machine, symbol)) for symbol in reader.symbols}


@dataclass
class _PlanReader:
    """Reads the calls of a plan, with a C name for each function and tensor."""

    name: str
    plan: ExecutionPlan
    functions: dict[str, str] = field(init=False)
    """The C names of packed functions, and of the symbols of others."""
    packed: list[str] = field(init=False)
    symbols: list[str] = field(init=False)

    def __post_init__(self) -> None:
        calls = self.plan.calls
        self.packed = list(dict.fromkeys(c.callee for c in calls if c.packed))
        self.symbols = list(dict.fromkeys(own_symbol(c.callee) for c in calls if not c.packed))
        plain = [c.replace("tir.", "").replace(".", "_") for c in (*self.packed, *self.symbols)]
        c_names = identifiers([f"{self.name}_{p}" for p in plain], {f"{self.name}_run"})
        self.functions = dict(zip((*self.packed, *self.symbols), c_names, strict=True))
        self.tensors: dict[BufferSlot, FirmwareTensor] = {}
        self.taken: set[str] = {*c_names, "arena", "i"}
        self.weight_names = {offset: n for n, (offset, _) in reversed(self.plan.weights.items())}

    def model(self, weights: Array) -> FirmwareModel:
        """The model; weights: the bytes of all."""
        plan = self.plan
        arguments = [
            self._tensor(BufferSlot(INPUT, number, type_), input_name)
            for number, (input_name, type_) in enumerate(plan.inputs)
        ]
        arguments += [
            self._tensor(BufferSlot(OUTPUT, number, type_), output_name(number, plan))
            for number, type_ in plan.made_outputs
        ]
        calls: list[FirmwareCall] = []
        for call in plan.calls:
            symbol = call.callee if call.packed else own_symbol(call.callee)
            operands = [self._tensor(slot, call.name) for slot in (*call.inputs, *call.outputs)]
            calls.append(FirmwareCall(self.functions[symbol], tuple(operands)))
        copies = [(self._tensor(a, "copied"), self._tensor(b, "copied")) for a, b in plan.copies]
        used = {slot: t for slot, t in self.tensors.items() if slot.space == WEIGHT}
        values = {t.name: _slice(weights, slot.index, t) for slot, t in used.items()}
        return FirmwareModel(self.name, arguments, calls, values, copies, plan.arena.total)

    def _tensor(self, slot: BufferSlot, wish: str) -> FirmwareTensor:
        """The tensor of a slot, seen as its type; an argument has one name, whatever its shape is taken for."""
        shape = tuple(int(n) for n in slot.type.shape)
        same = next((t for s, t in self.tensors.items() if s.space == slot.space and s.index == slot.index), None)
        if same is not None and same.elements == prod(shape) and same.dtype == slot.type.dtype:
            return same
        if slot.space == WEIGHT:
            wish = f"{self.name}_{self.weight_names.get(slot.index, wish)}"
        (c_name,) = identifiers([wish], self.taken)
        self.taken.add(c_name)
        place = {INPUT: "argument", OUTPUT: "argument", WEIGHT: "weight", ARENA: "arena"}[slot.space]
        offsets = self.plan.arena.offsets or ()
        start = offsets[slot.index] if slot.space == ARENA else 0
        is_written = slot.space in (OUTPUT, ARENA) or (slot.space == INPUT and slot.index in self.plan.donated.values())
        made = FirmwareTensor(c_name, shape, slot.type.dtype, place, start, is_written)
        self.tensors[slot] = made
        return made


def _slice(weights: Array, start: int, tensor: FirmwareTensor) -> Array:
    """The values of a weight; numbers of 16 bits as their bits."""
    dtype = np.dtype({"float16": "uint16", "bfloat16": "uint16"}.get(tensor.dtype, tensor.dtype))
    raw = weights.view(np.uint8).reshape(-1)[start : start + tensor.elements * dtype.itemsize]
    return raw.view(dtype).reshape(tensor.shape)
