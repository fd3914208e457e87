"""What the CPU makes of weights alone is made once, by the export: padded, transposed, rounded weights are weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tir_mlir.accel.addresses import PlacedProgram, place_temporaries
from tir_mlir.accel.firmware.firmware_model import Array, FirmwareCall, FirmwareModel, FirmwareTensor
from tir_mlir.accel.program import Allocate, HostCode, Issue, MachineBuffer, MachineProgram, walk
from tir_mlir.accel.semantics import compiled_statements
from tir_mlir.runtime.drivers.c_entry import identifiers


def fold_constants(
    model: FirmwareModel, functions: Mapping[str, PlacedProgram]
) -> tuple[FirmwareModel, dict[str, PlacedProgram]]:
    """The model and its functions without the statements of the CPU that use weights only.

        void f(const int8_t *W) { W_pad[...] = W[...]; mvin(W_pad); }   f(w)
    ->  void f(const int8_t *W_pad) { mvin(W_pad); }                    f(w_pad), an array of the export
    """
    calls, weights, made = list(model.calls), dict(model.weights), dict(functions)
    for name, placed in functions.items():
        places = [n for n, call in enumerate(calls) if call.function == name]
        operands = [calls[n].operands for n in places]
        known = {p for n, p in enumerate(placed.program.params) if all(o[n].place == "weight" for o in operands)}
        nodes = _foldable(placed.program, known) if operands else []
        if not nodes:
            continue
        made[name], new_params = _drop_statements(placed, nodes, known)
        for place in places:
            calls[place] = _fold_call(calls[place], placed.program, nodes, new_params, weights)
    used = {t.name for call in calls for t in call.operands}
    kept = {name: values for name, values in weights.items() if name in used}
    return replace(model, calls=calls, weights=kept), made


def _foldable(program: MachineProgram, known: set[MachineBuffer]) -> list[HostCode]:
    """The statements outside of loops that make buffers of known ones only, before anything else uses these."""
    top = {id(node): n for n, node in enumerate(program.body)}
    nodes = [n for n in program.body if isinstance(n, HostCode)]
    made = {b for n in nodes for b in n.written if b not in program.params}
    while True:
        folded = [n for n in nodes if n.written <= made and set(n.buffers) <= known | made]
        last = {b: max((top[id(n)] for n in folded if b in n.written), default=-1) for b in made}
        inside = {id(n) for n in folded}
        wrong = set[MachineBuffer]()
        for at, node in enumerate(program.body):
            for inner in walk([node]):
                if id(inner) not in inside and not isinstance(inner, Allocate):
                    used = set(_buffers(inner))
                    wrong |= {b for b in used & made if b in _written(inner) or at < last[b]}
        wrong |= {b for b in made if last[b] < 0}
        if not wrong:
            return folded
        made -= wrong


def _buffers(node: object) -> Sequence[MachineBuffer]:
    if isinstance(node, Issue):
        return [t.buffer for t in node.tiles.values()]
    return node.buffers if isinstance(node, HostCode) else ()


def _written(node: object) -> set[MachineBuffer]:
    if isinstance(node, Issue):
        return {node.tiles[t.name].buffer for t in node.instruction.tiles if "w" in t.access}
    return set(node.written) if isinstance(node, HostCode) else set()


def _drop_statements(
    placed: PlacedProgram, nodes: Sequence[HostCode], known: set[MachineBuffer]
) -> tuple[PlacedProgram, list[MachineBuffer]]:
    """The program without statements, whose results are parameters; and its parameters."""
    program = placed.program
    made = {b for n in nodes for b in n.written}
    body = [n for n in program.body if n not in nodes and not (isinstance(n, Allocate) and n.buffer in made)]
    used = {b for n in walk(body) for b in _buffers(n)}
    params = [p for p in program.params if p in used or p not in known]
    params += [b for b in dict.fromkeys(b for n in nodes for b in n.buffers) if b in made & used]
    left = replace(program, params=params, body=body)
    return replace(placed, program=left, temporaries=place_temporaries(left)), params


def _fold_call(
    call: FirmwareCall,
    program: MachineProgram,
    nodes: Sequence[HostCode],
    params: Sequence[MachineBuffer],
    weights: dict[str, Array],
) -> FirmwareCall:
    """A call with what the statements make of its weights."""
    given = dict(zip(program.params, call.operands, strict=True))
    values: dict[MachineBuffer, Array] = {}
    for node in nodes:
        for buffer in node.buffers:
            if buffer not in values:
                known = weights[given[buffer].name] if buffer in given else np.zeros(buffer.shape, buffer.dtype)
                values[buffer] = np.ascontiguousarray(known)
        compiled_statements(node)(*(values[b] for b in node.buffers))
    operands: list[FirmwareTensor] = []
    for param in params:
        if param in given:
            operands.append(given[param])
            continue
        (name,) = identifiers([f"{given[_first_weight(param, nodes, given)].name}_{param.name}"], weights)
        weights[name] = values[param]
        operands.append(FirmwareTensor(name, param.shape, param.dtype, "weight"))
    return FirmwareCall(call.function, tuple(operands))


def _first_weight(
    buffer: MachineBuffer, nodes: Sequence[HostCode], given: Mapping[MachineBuffer, FirmwareTensor]
) -> MachineBuffer:
    """The first weight that statements make a buffer from, over those that they make in between."""
    sources = {buffer}
    for node in reversed(nodes):
        if node.written & sources:
            sources |= set(node.buffers)
    return next(b for b in given if b in sources)
