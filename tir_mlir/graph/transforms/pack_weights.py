"""Weights in the layout in which products and convolutions read them: packed once, when weights are bound."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from mlir import ir

from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, create, encoding, node_of, replace_node
from tir_mlir.dialect.ir import enter_context, funcs, symbols_kept
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import is_view
from tir_mlir.graph.transforms.bodies import bodies, each_body
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.lift_weights import lift_weights
from tir_mlir.graph.transforms.schedule_functions import SCHEDULE, replace_function
from tir_mlir.graph.units.panels_unit import packed_functions
from tir_mlir.schedules import WeightPanels
from tir_mlir.target import AnyTarget
from tir_mlir.targets.stages import FULL, BuildOptions


def pack_weights(
    graph: Graph,
    target: AnyTarget | str = "llvm",
    threads: int | None = None,
    cache: bool = False,
    optimize: str = FULL,
) -> Graph:
    """Change the TensorIR functions that read weights to read panels, which the graph of the weights computes.

        gv = R.call_tir(cls.dense, (x, w))       ->      lv = R.pack_panels(w, along=0, inner=[1], width=48)
                                                         gv = R.call_tir(cls.dense, (x, lv))

    See `schedules.prepack`, which decides where panels are of use. Functions with a schedule remain as they are, and so
    does a parameter that is not a weight in every call of its function. cache: keep what is decided by the text of the
    function. optimize: "fast" is by `schedules.plain_panels`.
    """
    clone = graph.clone()
    with enter_context(), symbols_kept(clone.module.mlir):
        scheduled = {f.name for f in funcs(clone.module.mlir) if SCHEDULE in f.op.attributes}
        calls = _calls(bodies(clone.func), scheduled)
        positions = {clone.module[callee]: _weight_inputs(nodes) for callee, nodes in calls.items()}
        weights = {function: numbers for function, numbers in positions.items() if numbers}
        values: dict[tuple[ir.Value, WeightPanels], ir.Value] = {}
        options = BuildOptions(target=target, threads=threads, cache=cache, optimize=optimize)
        for function, packed in zip(weights, packed_functions(weights, options), strict=True):
            if packed is not None:
                replace_function(clone.module, function.name, packed.function)
                _pack_calls(clone, function.name, calls[function.name], packed.panels, values)
    return each_body(lift_weights(clone), clean) if values else graph


def _calls(funcs: Sequence[TensorFunc], done: Collection[str]) -> dict[str, list[tuple[TensorFunc, Node]]]:
    """The nodes that call each TensorIR function, except these functions, with the bodies that they are in."""
    calls: dict[str, list[tuple[TensorFunc, Node]]] = defaultdict(list)
    for func in funcs:
        for node in func.nodes:
            callee = node.callee
            if callee is not None and callee.kind == encoding.CALL_TIR and callee.callee not in done:
                calls[callee.callee].append((func, node))
    return calls


def _weight_inputs(calls: Sequence[tuple[TensorFunc, Node]]) -> list[int]:
    """The numbers of the inputs that are weights in every one of the calls."""
    numbers = ({n for n, v in enumerate(call.inputs) if _is_weight(func, v)} for func, call in calls)
    return sorted(set.intersection(*numbers))


def _is_weight(func: TensorFunc, value: ir.Value) -> bool:
    """Whether a value is a weight, perhaps in another shape: such views remain in the graph, as they cost nothing."""
    while (node := node_of(value)) is not None and is_view(node):
        value = node.inputs[0]
    return isinstance(value, ir.BlockArgument) and func.weight(ir.BlockArgument(value).arg_number) is not None


def _pack_calls(
    graph: Graph,
    callee: str,
    calls: Sequence[tuple[TensorFunc, Node]],
    panels: dict[int, WeightPanels],
    packed: dict[tuple[ir.Value, WeightPanels], ir.Value],
) -> None:
    """Give panels to every call of a function, by the number of the input. packed: the panels of weights so far."""
    module = graph.module.mlir
    for func, node in calls:
        inputs = list(node.inputs)
        for number, layout in panels.items():
            key = inputs[number], layout
            if key not in packed:
                packed[key] = _emit_panels(func, module, *key)
            inputs[number] = packed[key]
        with ir.InsertionPoint(node.op):
            call = create.call_tir(module, callee, inputs, node.types, node.names)
        replace_node(node, call.results)


def _emit_panels(func: TensorFunc, module: ir.Module, weight: ir.Value, panels: WeightPanels) -> ir.Value:
    """The panels of a weight, computed at the start of the graph, or right behind the view that the weight is."""
    type_, name = TensorType(panels.shape, panels.dtype), f"{func.name_of(weight)}.panels"
    layout = {"along": panels.along, "inner": list(panels.inner), "width": panels.width, "group": panels.group}
    operator = create.operator(module, "pack_panels", layout, [weight.type], [type_.mlir])
    node = node_of(weight)
    with ir.InsertionPoint.at_block_begin(func.body) if node is None else ir.InsertionPoint.after(node.op):
        return create.call(operator, [weight], [type_], [name]).results[0]
