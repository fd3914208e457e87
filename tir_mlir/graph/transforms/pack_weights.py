"""Weights in the layout in which products and convolutions read them: packed once, when weights are bound."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from mlir import ir

from tir_mlir import te
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, create, encoding, replace_node
from tir_mlir.dialect.ir import attrs, by_structure, entered, funcs
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.lift_weights import lift_weights
from tir_mlir.graph.transforms.schedule_functions import SCHEDULE, replace_function
from tir_mlir.runtime.scheduled_programs import AS_GIVEN
from tir_mlir.schedule import Schedule
from tir_mlir.schedules import WeightPanels, prepack
from tir_mlir.script.module import PrimFunc, copy_function
from tir_mlir.target import Target


def pack_weights(graph: Graph, target: Target | str = "llvm", threads: int | None = None) -> Graph:
    """Change the TensorIR functions that read weights to read panels, which the graph of the weights computes.

        gv = R.call_tir(cls.dense, (x, w))       ->      lv = R.call_tir(cls.pack_panels, (w,))
                                                         gv = R.call_tir(cls.dense, (x, lv))

    See `schedules.prepack`, which decides where panels are of use. Functions with a schedule stay as they are, and so
    does a parameter that is not a weight in every call of its function.
    """
    clone = graph.clone()
    with entered():
        scheduled = {f.name for f in funcs(clone.module.mlir) if SCHEDULE in f.op.attributes}
        calls = _calls(clone.func, scheduled)
    chosen = None if target == "llvm" else target
    packers: dict[WeightPanels, str] = {}
    for callee, nodes in calls.items():
        with entered():
            positions = _weight_inputs(clone.func, nodes)
        if not positions:
            continue
        sch = Schedule(clone.module[callee].alone)
        with entered():
            func = clone.module[callee].func
            names = {func.arg_name(n): n for n in positions}
        panels = prepack(sch, callee, list(names), chosen, threads)
        if panels:
            replace_function(clone.module, callee, sch.mod[callee])
            with entered():
                unnamed = {names[name]: replace(layout, name="") for name, layout in panels.items()}
                _pack_calls(clone, callee, nodes, unnamed, packers)
    return clean(lift_weights(clone)) if packers else graph


def _calls(func: TensorFunc, done: Collection[str]) -> dict[str, list[Node]]:
    """The nodes that call each TensorIR function of a graph, except these functions."""
    calls: dict[str, list[Node]] = defaultdict(list)
    for node in func.nodes:
        callee = node.callee
        if callee is not None and callee.kind == encoding.CALL_TIR and callee.callee not in done:
            calls[callee.callee].append(node)
    return calls


def _weight_inputs(func: TensorFunc, nodes: Sequence[Node]) -> list[int]:
    """The numbers of the inputs that are weights in every one of the calls."""
    return sorted(set.intersection(*({n for n, v in enumerate(c.inputs) if _is_weight(func, v)} for c in nodes)))


def _is_weight(func: TensorFunc, value: ir.Value) -> bool:
    return isinstance(value, ir.BlockArgument) and func.weight(ir.BlockArgument(value).arg_number) is not None


def _pack_calls(
    graph: Graph,
    callee: str,
    nodes: Sequence[Node],
    panels: dict[int, WeightPanels],
    packers: dict[WeightPanels, str],
) -> None:
    """Give panels to every call of a function, by the number of the input. packers: the functions for them so far."""
    func, module = graph.func, graph.module.mlir
    for layout in panels.values():
        if layout not in packers:
            packers[layout] = _packer(graph, layout)
    packed_values: dict[tuple[ir.Value, str], ir.Value] = {}
    for node in nodes:
        inputs = list(node.inputs)
        for number, layout in panels.items():
            key = inputs[number], packers[layout]
            if key not in packed_values:
                packed_values[key] = _packed(func, module, *key, layout)
            inputs[number] = packed_values[key]
        with ir.InsertionPoint(node.op):
            call = create.call_tir(module, callee, inputs, node.types, node.names)
        replace_node(node, call.results)


def _packed(func: TensorFunc, module: ir.Module, weight: ir.Value, packer: str, panels: WeightPanels) -> ir.Value:
    """The panels of a weight, computed at the start of the graph."""
    type_, name = TensorType(panels.shape, panels.dtype), f"{func.name_of(weight)}.panels"
    with ir.InsertionPoint.at_block_begin(func.body):
        return create.call_tir(module, packer, [weight], [type_], [name]).results[0]


def _packer(graph: Graph, panels: WeightPanels) -> str:
    """A TensorIR function that packs a weight, added to the module. Returns its name."""
    symbol = create.fresh_symbol(graph.module.mlir, "pack_panels")
    copy_function(graph.module.mlir, panels_function(panels), symbol)
    if panels.source[panels.along] % panels.width:  # its guard could not be vectorized
        attrs.put(graph.module[symbol].func.op, SCHEDULE, AS_GIVEN)
    return symbol


def _of_groups(weight: Any, panels: WeightPanels) -> Any:
    """P[p, k, l, t] = W[p * width + l, k * group + t], or of its transpose."""

    def element(p: Any, k: Any, lane: Any, term: Any) -> Any:
        row, column = p * panels.width + lane, k * panels.group + term
        return weight[row, column] if panels.along == 0 else weight[column, row]

    return element


@by_structure(lambda panels: panels)
def panels_function(panels: WeightPanels) -> PrimFunc:
    """P[p, inner..., l] = W[..., p * width + l at `along`, ...], and 0 after the last row."""
    weight = te.placeholder(panels.source, panels.dtype, name="W")
    rows, width = panels.source[panels.along], panels.width
    if panels.group > 1:
        return te.create_prim_func([weight, te.compute(panels.shape, _of_groups(weight, panels), name="P")])

    def element(*axes: Any) -> Any:
        row, indices = axes[0] * width + axes[-1], dict(zip(panels.inner, axes[1:-1], strict=True))
        value = weight[tuple(row if d == panels.along else indices[d] for d in range(len(panels.source)))]
        return value if rows % width == 0 else te.if_then_else(row < rows, value, te.cast(0, panels.dtype))

    return te.create_prim_func([weight, te.compute(panels.shape, element, name="P")])
