"""The bodies of a graph: its own, and those of the branches and loops that it runs."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from tir_mlir.dialect.graph import (
    LoopFacts,
    Node,
    TensorFunc,
    TensorType,
    control,
    create,
    encoding,
    graph_bodies,
    replace_node,
    tensor_funcs,
)
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.dialect.ir.op_views import CallOp, isa
from tir_mlir.graph.graph import Graph


def bodies(func: TensorFunc) -> list[TensorFunc]:
    """A graph, then the regions that it runs, each before those that it runs itself."""
    module, all_bodies = func.module, [func]
    controls = {f.name: f for f in tensor_funcs(module) if f.is_control}
    for body in all_bodies if controls else ():
        calls = [node.op for node in body.nodes if isa(node.op, CallOp)]
        names = dict.fromkeys(ir.FlatSymbolRefAttr(op.attributes["callee"]).value for op in calls)
        all_bodies += [region for name in names if name in controls for region in controls[name].regions]
    return all_bodies


def outermost(func: TensorFunc, module: ir.Module) -> TensorFunc:
    """The graph that a region is run by, through whatever regions; a graph is its own."""
    if func.kind != encoding.REGION:
        return func
    graphs_of_user = (f for f in graph_bodies(module) if f.kind == encoding.GRAPH)
    return next((f for f in graphs_of_user if any(body.name == func.name for body in bodies(f))), func)


def each_body(graph: Graph, change: Callable[[Graph], Graph]) -> Graph:
    """Change a graph, then each of its regions, as if it were the graph."""
    changed = change(graph)
    with enter_context():
        names = [body.name for body in bodies(changed.func)[1:]]
    for name in names:
        changed = change(changed.select_function(name)).select_function(graph.name)
    return changed


def passed_weights(graph: Graph) -> Graph:
    """Let branches and loops be given the weights that their regions read: regions then have inputs only.

    y = call @branch(%p, %x)                                 y = call @branch(%p, %x, %w)
    func @then(%x, %w {graph.weight = "w"})        ->        func @then(%x, %w)
    """
    with enter_context():
        if not _with_weights(graph.func):
            return graph
    passed = graph.clone()
    with enter_context():
        while controls := _with_weights(passed.func):
            for callee in controls:
                _pass(passed, callee)
    return passed


def _with_weights(func: TensorFunc) -> list[TensorFunc]:
    """The branches and loops of whose regions one reads weights."""
    run = {body.name for body in bodies(func)[1:]}
    controls = [c for c in tensor_funcs(func.module) if c.is_control] if run else []
    return [c for c in controls if any(region.name in run and weights_of(region) for region in c.regions)]


def weights_of(func: TensorFunc) -> dict[str, tuple[int, TensorType]]:
    """The weights that a graph reads, each with the number of its input and its type."""
    weights = [(func.weight(n), n) for n in range(len(func.inputs))]
    return {name: (n, func.input_type(n)) for name, n in weights if name is not None}


def _pass(graph: Graph, callee: TensorFunc) -> None:
    module, regions = graph.module.mlir, callee.regions
    weights = {name: type_ for region in regions for name, (_, type_) in weights_of(region).items()}
    for region in regions:
        own = weights_of(region)
        for name, type_ in weights.items():
            value = create.add_input(region, name, type_)
            if name in own:
                region.inputs[own[name][0]].replace_all_uses_with(value)
        _drop(region, {n for n, _ in own.values()})
    loop = LoopFacts.from_func(callee) if callee.kind == encoding.LOOP else None
    types = create.known_type(callee)
    inputs = [*types.inputs, *(type_.mlir for type_ in weights.values())]
    control_op = control(module, callee.name, [region.name for region in regions], inputs, types.results, loop)
    for body in [f for f in tensor_funcs(module) if f.is_graph]:
        for node in [n for n in body.nodes if (c := n.callee) is not None and c.op == callee.op]:
            _call(body, node, control_op, weights)
    callee.op.erase()


def _call(body: TensorFunc, node: Node, callee: TensorFunc, weights: dict[str, TensorType]) -> None:
    own = {name: body.inputs[number] for name, (number, _) in weights_of(body).items()}
    values = [own.get(name) or create.add_input(body, name, type_, name) for name, type_ in weights.items()]
    with ir.InsertionPoint(node.op):
        call = create.call(callee, [*node.inputs, *values], node.types, node.names)
    replace_node(node, call.results)


def _drop(func: TensorFunc, numbers: set[int]) -> None:
    """Erase inputs that nothing reads."""
    facts = attrs.argument_attrs(func.op)
    for number in sorted(numbers, reverse=True):
        func.body.erase_argument(number)
        del facts[number]
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(f) for f in facts])
    create.update_type(func)
