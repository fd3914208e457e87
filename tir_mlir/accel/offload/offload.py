"""Let a machine compute what it can of a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.accel.firmware.graph_model import write_graph
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.mapping import Mapping as MachineMapping
from tir_mlir.accel.mapping import cheapest_program, map_program
from tir_mlir.accel.offload.forms import LayerForm, forms_of
from tir_mlir.accel.offload.layers import LayerEnd, LayerReader, layers_of, multiplications
from tir_mlir.accel.offload.numbers import with_numbers
from tir_mlir.accel.offload.program_calls import call_program, call_sums
from tir_mlir.accel.offload.programs import Program, Stored, largest_sum
from tir_mlir.accel.offload.reasons import Waste, reason_of
from tir_mlir.accel.offload.report import CpuNode, OffloadedNode, OffloadReport
from tir_mlir.accel.offload.requantization import requantizing_store, stores_of
from tir_mlir.dialect.diagnostics import BuildError, LoweringError, MachineError, TirError, check_type
from tir_mlir.dialect.graph import create, encoding, replace_node
from tir_mlir.dialect.ir import enter_context
from tir_mlir.equivalence import Difference, Result
from tir_mlir.extensions import implement
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.packed_functions import register_packed
from tir_mlir.graph.precision.calibrate import weight_array
from tir_mlir.graph.precision.quantize_weights import with_computed_weights
from tir_mlir.graph.rewrite import NodeCall, Rewriter
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.script.module import copy_function

if TYPE_CHECKING:
    from tir_mlir.graph.model import Model


@implement(Graph.offload)
def offload(graph: Graph, machine: Machine) -> OffloadedGraph:
    """Let a machine compute the products and convolutions of a graph, with what it can do to their sums.

    Each distinct one becomes a program of TensorIR, which `accel.map` maps to the machine; equal ones share it. What
    the machine rounds just as the graph does, for each sum that can occur, it rounds; else it yields the sums. Groups
    of a convolution are computed together, as products with zeros for other groups, where that takes the machine fewer
    cycles than the CPU (`Machine.host_macs`). What stays on the CPU has its reason: of a layer that of `accel.map`.
    Errors: GraphError.
    """
    check_type(graph, Graph, "offload", "graph", "a Graph (from_torch, from_onnx, GraphBuilder make one)")
    check_type(machine, Machine, "offload", "machine", "an accel.Machine")
    prepared = with_computed_weights(compile_graph(graph, until="channels_last"))
    result = prepared.clone()
    with enter_context():
        work = _Offload(result, machine)
        for number, layer in enumerate(list(layers_of(work.rewriter))):
            work.layer(number, layer)
    lowered = clean(result)
    return OffloadedGraph(graph, prepared, lowered, machine, work.programs, work.forms, work.report(lowered))


@dataclass(frozen=True)
class OffloadedProgram:
    """A program that nodes of a graph are. mapping: of it to the machine, or of one that differs in scales only."""

    name: str
    program: Program
    mapping: MachineMapping

    @cached_property
    def function(self) -> MachineFunction:
        """What runs it on the model of the machine."""
        mapped, stored = self.mapping.function, self.program.stored
        if stored is None:
            return mapped
        instruction, numbers = stored.instruction, dict(stored.numbers)
        return mapped.change_programs(lambda program: with_numbers(program, instruction, numbers))


class OffloadedGraph:
    """A graph of which a machine computes some nodes.

    graph: as it was; prepared: in integers, as its layers are read; lowered: with a program of TensorIR for each node
    that the machine computes; programs: these, by name; offloaded: what is where, and why.
    """

    def __init__(
        self,
        graph: Graph,
        prepared: Graph,
        lowered: Graph,
        machine: Machine,
        programs: Mapping[str, OffloadedProgram],
        forms: Mapping[int, int],
        offloaded: OffloadReport,
    ):
        self.graph, self.prepared, self.lowered, self.machine = graph, prepared, lowered, machine
        self.programs, self.offloaded = dict(programs), offloaded
        self._forms = dict(forms)

    @property
    def cycles(self) -> int:
        """Of all nodes on the machine, one after another."""
        return self.offloaded.cycles

    def build(self, *, threads: int | None = None, optimize: str = "full") -> Model:
        """A model whose nodes on the machine run on the model of it, and which else is compiled for this CPU."""
        graph, functions = self._with_calls(f".{next(_BUILDS)}")  # packed functions are of the process
        for name, function in functions.items():
            register_packed(name, function, override=True)
        return graph.build_model(threads=threads, optimize=optimize)

    def verify(self, seed: int = 0) -> Result:
        """Check that it computes what the graph in integers does (`prepared`), exactly over a prime field: the calls of
        programs, up to their sums, by `Graph.verify`; the schedule of each program against the program; and its
        addresses and registers against the schedule. That an instruction rounds as the graph does was decided for each
        sum that can occur. Errors: NotChecked for operations without exact semantics."""
        for mapping in {id(p.mapping): p.mapping for p in self.programs.values()}.values():
            if not (scheduled := mapping.schedule.verify(seed=seed)):
                return scheduled
            if not (proof := mapping.function.verify()):
                return Result(Difference(mapping.function.name, {}, str(proof)))
        return call_sums(self.prepared, self._forms).verify(self.prepared, seed)

    def export(self, folder: str | Path, name: str | None = None, *, bare_metal: bool = True) -> list[Path]:
        """Write the model to a folder as firmware in C: NAME.h, NAME.c with NAME_run, NAME_functions.c, NAME_weights.c,
        and main.c. What stays on the CPU is C, too. name: default that of the folder. Returns the paths. Errors:
        BuildError for what firmware has not: sizes that a call decides, branches and loops of the graph.
        """
        if not bare_metal:
            raise BuildError("a graph on a machine is written for the CPU beside it; fix: bare_metal=True")
        graph, functions = self._with_calls()
        return write_graph(folder, graph, self.machine, {n: f.placed for n, f in functions.items()}, name)

    def _with_calls(self, suffix: str = "") -> tuple[Graph, dict[str, MachineFunction]]:
        """The graph with packed calls of what the machine computes, whose names end so, and what they call."""
        graph = self.lowered.clone()
        module = graph.module.mlir
        functions: dict[str, MachineFunction] = {}
        with enter_context():
            for node in graph.func.nodes:
                callee = node.callee
                if callee is None or callee.kind != encoding.CALL_TIR or callee.callee not in self.programs:
                    continue
                name = f"{self.machine.name}.{callee.callee}{suffix}"
                types = [v.type for v in node.inputs], [t.mlir for t in node.types]
                with ir.InsertionPoint(node.op):
                    call = create.call(create.declare_packed(module, name, *types), node.inputs, node.types, node.names)
                functions[name] = self.programs[callee.callee].function
                replace_node(node, call.results)
        return clean(graph), functions

    def __repr__(self) -> str:
        share = f"{100 * self.offloaded.share:.1f} % of {self.offloaded.all_macs} MACs"
        return f"<{self.graph!r} on {self.machine!r}: {share}>"


_BUILDS = count()
_SCALE = 0.0123
"""Stands for the scales of programs that are mapped together."""


def _share(program: Program) -> Program:
    """The program that stands for all that differ from one in scales only."""
    stored = program.stored
    return program if stored is None else replace(program, stored=stored.with_scales(_SCALE))


class _Offload:
    """A graph whose layers are given to a machine, one by one, in place."""

    def __init__(self, graph: Graph, machine: Machine):
        self.graph, self.machine = graph, machine
        self.rewriter = Rewriter(graph)
        self.reader = LayerReader(graph, self.rewriter)
        self.mapped: dict[Program, MachineMapping | TirError] = {}
        self.names: dict[Program, str] = {}
        self.programs: dict[str, OffloadedProgram] = {}
        self.nodes: list[OffloadedNode] = []
        self.forms: dict[int, int] = {}
        self.cheapest: dict[tuple[Program, ...], int] = {}
        self.reasons: dict[tuple[str, str], str] = {}

    def layer(self, number: int, call: NodeCall) -> None:
        """Give a layer, by its number in the graph, to the machine, with as much behind it as it can do; or note why it
        stays."""
        forms, reason = forms_of(call)
        notes: list[str] = []
        for end in self.reader.ends(call, forms[0].axis) if forms else []:
            for form, program in self._fastest(end, forms):
                mapped = program if isinstance(program, TirError) else self._map_once(program)
                if isinstance(mapped, TirError) or isinstance(program, TirError):
                    reason = str(mapped).splitlines()[0]
                    notes.append(reason)
                elif (waste := self._waste(call, form, mapped)) is not None and not waste.pays:
                    reason = str(waste)
                else:
                    notes += [] if waste is None else [str(waste)]
                    name = self._name(program, mapped)
                    call_program(self.rewriter, end, form, program, name)
                    self.forms[number] = forms.index(form)
                    note, macs = "; ".join(dict.fromkeys(notes)), multiplications(call)
                    self.nodes.append(
                        OffloadedNode(end.value.node.names[0], call.op.name, macs, name, mapped.cycles, note)
                    )
                    return
        self.reasons[call.node.names[0], call.op.name] = reason

    def _fastest(self, end: LayerEnd, forms: Sequence[LayerForm]) -> Iterator[tuple[LayerForm, Program | TirError]]:
        """The forms of a layer up to an end with their programs, in order; of those that take groups together the one
        with the fewest cycles, by the cost of their tiles."""
        programs = [(form, self._program(end, form.program)) for form in forms]
        grouped = [(form, p) for form, p in programs if form.together and not isinstance(p, TirError)]
        if len(grouped) < 2:
            yield from programs
            return
        shared = tuple(_share(program) for _, program in grouped)
        if shared not in self.cheapest:
            self.cheapest[shared] = cheapest_program([program.func("main") for program in shared], self.machine)
        yield grouped[self.cheapest[shared]]

    def _waste(self, call: NodeCall, form: LayerForm, mapping: MachineMapping) -> Waste | None:
        """What products with zeros cost; None for a form without them."""
        if not form.together:
            return None
        groups = int(call.attrs["groups"])
        return Waste(groups, form.together, mapping.cycles, multiplications(call) / self.machine.host_macs)

    def _program(self, end: LayerEnd, program: Program) -> Program | TirError:
        """The program of a layer up to an end; or why no instruction rounds its sums so."""
        program = replace(program, has_bias=bool(end.biases))
        wanted, sums = end.rounding, program.dtypes[2]
        if wanted is None:
            return program
        greatest = largest_sum(program) + sum(self._largest(value) for value, _ in end.biases)
        limits = np.iinfo(sums)
        stores = list(stores_of(self.machine, sums, wanted.dtype))
        found = requantizing_store(stores, wanted, max(limits.min, -greatest), min(limits.max, greatest))
        if found is None:
            return MachineError(f"no instruction of {self.machine} stores {sums} as {wanted}")
        store, numbers = found
        scales = {name: wanted.scale for name, number in numbers.items() if number == wanted.scale}
        payload = store.payload_at({name: number for name, number in numbers.items() if name not in scales})
        return replace(program, stored=Stored(payload, wanted.dtype, store.instruction, tuple(scales.items())))

    def _largest(self, value: ir.Value) -> int:
        """The largest absolute value of a weight; of one that is not known, that of its type."""
        array = weight_array(self.graph, self.rewriter, value)
        if array is None:
            return int(np.iinfo(self.rewriter.type_of(value).dtype).max)
        return int(np.abs(array.astype(np.int64)).max(initial=0))

    def _map_once(self, program: Program) -> MachineMapping | TirError:
        """The mapping of a program, or of one that differs in scales only; or why there is none."""
        shared = _share(program)
        if shared not in self.mapped:
            try:
                mapped = map_program(shared.func("main"), self.machine)
                mapped.build()  # what cannot be placed is not a program of the machine
                self.mapped[shared] = mapped
            except (MachineError, LoweringError) as error:
                self.mapped[shared] = error
        return self.mapped[shared]

    def _name(self, program: Program, mapping: MachineMapping) -> str:
        """The function of a program in the graph."""
        if program not in self.names:
            module = self.graph.module.mlir
            name = self.names[program] = create.fresh_symbol(module, program.title)
            copy_function(module, program.func(name), name)
            self.programs[name] = OffloadedProgram(name, program, mapping)
        return self.names[program]

    def report(self, result: Graph) -> OffloadReport:
        """What is where in the graph that results."""
        on_cpu = list[CpuNode]()
        with enter_context():
            rewriter = Rewriter(result)
            for node in result.func.nodes:
                callee = node.callee
                if node.kind == "constant" or (callee is not None and callee.callee in self.programs):
                    continue
                if all(value in rewriter.weights for value in node.results):
                    continue
                call = rewriter.call(node)
                name = node.names[0]
                reason = self.reasons.get((name, call.op.name)) or reason_of(call)
                on_cpu.append(CpuNode(name, call.op.name, multiplications(call), reason))
        return OffloadReport(tuple(self.nodes), tuple(on_cpu))
