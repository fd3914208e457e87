"""Files of ONNX that contradict themselves, refused with the culprit; the order of nodes; names for messages."""

from __future__ import annotations

import graphlib
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.diagnostics import GraphError

if TYPE_CHECKING:
    import onnx

_EXPORT = "\n  fix: export the model again; the file is damaged"


def node_name(node: onnx.NodeProto) -> str:
    """The name of a node for messages: its own, that of its first output, or its operator."""
    return node.name or next(filter(None, node.output), node.op_type)


def check_graph(graph: onnx.GraphProto) -> None:
    """Refuse a graph without outputs, or one that defines a name twice or returns a name that nobody defines."""
    if not graph.output:
        what = "has no graph" if not graph.ByteSize() else "returns nothing"
        raise GraphError(f"from_onnx: the model {what}\n  fix: a file with a graph that has outputs")
    definers: dict[str, str] = {}
    initializers = [x.name for x in graph.initializer] + [x.values.name for x in graph.sparse_initializer]
    for kind, names in (("the inputs", [x.name for x in graph.input]), ("the initializers", initializers)):
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise GraphError(f"from_onnx: {kind} have the name {name} twice{_EXPORT}")
            seen.add(name)
            definers[name] = f"{kind[4:-1]} {name}"
    for node, name in [(maker, result) for maker in graph.node for result in maker.output if result]:
        if name in definers:
            raise GraphError(f"from_onnx: the {definers[name]} and the node {node_name(node)} define {name}{_EXPORT}")
        definers[name] = f"node {node_name(node)}"
    if undefined := [result.name for result in graph.output if result.name not in definers]:
        raise GraphError(
            f"from_onnx: the output {undefined[0]} is not an input, initializer or result of a node\n"
            "  fix: name a result of the graph"
        )


def sorted_nodes(graph: onnx.GraphProto) -> list[onnx.NodeProto]:
    """The nodes, each behind those whose results it takes; in the order of the file where that is such an order.

    Errors: GraphError for nodes that need each other's results.
    """
    nodes = list(graph.node)
    definers = {name: n for n, node in enumerate(nodes) for name in node.output if name}
    needs = {n: {definers[x] for x in _operand_names(node) if x in definers} for n, node in enumerate(nodes)}
    if all(producer < n for n, producers in needs.items() for producer in producers):
        return nodes
    try:
        return [nodes[n] for n in graphlib.TopologicalSorter(needs).static_order()]
    except graphlib.CycleError as error:
        names = [node_name(nodes[n]) for n in error.args[1]]
        cycle = " -> ".join(names if len(names) <= 8 else [*names[:4], "..", *names[-3:]])
        raise GraphError(f"from_onnx: the nodes {cycle} take each other's results{_EXPORT}") from None


def live_nodes(graph: onnx.GraphProto, nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """The nodes that results of the graph need. nodes: those of the graph, each behind those that it takes from."""
    needed, live = {result.name for result in graph.output}, []
    for node in reversed(nodes):
        if needed & set(node.output) or not any(node.output):
            needed |= _operand_names(node)
            live.append(node)
    return live[::-1]


def used_names(graph: onnx.GraphProto, nodes: Sequence[onnx.NodeProto] | None = None) -> set[str]:
    """The values that a node, or the body of one, takes or the graph returns. nodes: those that count, default all."""
    counted = graph.node if nodes is None else nodes
    return {name for node in counted for name in _operand_names(node)} | {result.name for result in graph.output}


def _operand_names(node: onnx.NodeProto) -> set[str]:
    """The values that a node takes, with those that its branches and bodies see."""
    names, graphs = set(node.input), [g for a in node.attribute for g in _graphs_of(a)]
    while graphs:
        graph = graphs.pop()
        names |= {result.name for result in graph.output}
        for inner in graph.node:
            names |= set(inner.input)
            graphs += [g for a in inner.attribute for g in _graphs_of(a)]
    return names - {""}


def _graphs_of(attribute: onnx.AttributeProto) -> list[onnx.GraphProto]:
    return [attribute.g] if attribute.HasField("g") else list(attribute.graphs)


def check_node(node: onnx.NodeProto, version: int, taken: Collection[str] = ()) -> None:
    """Refuse a node whose numbers of inputs and outputs, or whose attributes, are not those of its operator.

    version: of ONNX's operators; taken: attributes of other versions that its translation knows. Errors: GraphError; an
    operator that ONNX does not define is let through.
    """
    import onnx

    if stray := [a.name for a in node.attribute if a.ref_attr_name]:
        raise GraphError(f"its attribute {stray[0]} is that of a function, and it is in none{_EXPORT}")
    if node.domain or not onnx.defs.has(node.op_type, version, ""):
        return
    schema = onnx.defs.get_schema(node.op_type, version, "")
    known = {*schema.attributes, *taken, *_WITHOUT_MEANING}
    if unknown := [a.name for a in node.attribute if a.name not in known]:
        raise GraphError(
            f"its attribute {unknown[0]} is not one of {node.op_type} of opset {version}"
            "\n  fix: the opset that the operator is of, or leave the attribute out"
        )
    for what, count, least, most in (
        ("inputs", len(node.input), schema.min_input, schema.max_input),
        ("outputs", len(node.output), schema.min_output, schema.max_output),
    ):
        if not least <= count <= most:
            numbers = str(least) if least == most else f"{least} to {most}" if most < 2**31 - 1 else f"{least} or more"
            raise GraphError(f"the number of its {what} is {count}, and {numbers} is needed{_EXPORT}")
    _check_attributes(node, schema)


_WITHOUT_MEANING = ("consumed_inputs",)
"""Attributes of old exporters that change no result."""


def _check_attributes(node: onnx.NodeProto, schema: Any) -> None:
    import onnx

    types = {a.name: a.type for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in types:
            if attribute.required:
                raise GraphError(f"it lacks the attribute {name}{_EXPORT}")
        elif types[name] not in (onnx.AttributeProto.UNDEFINED, attribute.type.value):
            kind = onnx.AttributeProto.AttributeType.Name(types[name]).lower()
            raise GraphError(f"its attribute {name} is {kind}, not {attribute.type.name.lower()}{_EXPORT}")


def result_name(node: onnx.NodeProto, number: int, version: int) -> str:
    """An output of a node for messages: its name in the file, and the one that ONNX gives it."""
    import onnx

    if node.domain or not onnx.defs.has(node.op_type, version, ""):
        return node.output[number]
    results = onnx.defs.get_schema(node.op_type, version, "").outputs
    return f"{node.output[number]} ({results[min(number, len(results) - 1)].name})"


MOST_INLINED = 1 << 16
"""The most nodes of a model with those of its functions, each as often as it is called."""


def function_key(node: onnx.NodeProto) -> tuple[str, str, str]:
    """The function that a node calls, if the model has it."""
    return node.domain, node.op_type, node.overload


def check_functions(proto: onnx.ModelProto) -> None:
    """Refuse functions that call themselves, and those that stand for too many nodes. Errors: GraphError."""
    functions = {(f.domain, f.name, f.overload): f for f in proto.functions}
    if len(functions) < len(proto.functions):
        counts_of = Counter((f.domain, f.name, f.overload) for f in proto.functions)
        raise GraphError(f"from_onnx: the function {counts_of.most_common(1)[0][0][1]} is defined twice{_EXPORT}")
    calls = {k: [n for n in f.node if function_key(n) in functions] for k, f in functions.items()}
    needs = {key: {function_key(n) for n in nodes} for key, nodes in calls.items()}
    try:
        order = list(graphlib.TopologicalSorter(needs).static_order())
    except graphlib.CycleError as error:
        names = [name for _, name, _ in error.args[1]]
        cycle = " -> ".join(names if len(names) <= 8 else [*names[:4], "..", *names[-3:]])
        raise GraphError(f"from_onnx: the functions {cycle} call each other{_EXPORT}") from None
    counts: dict[tuple[str, str, str], int] = {}
    for key in order:
        inner = sum(counts[function_key(n)] for n in calls[key])
        counts[key] = min(len(functions[key].node) + inner, MOST_INLINED + 1)
    total = sum(counts.get(function_key(node), 1) for node in proto.graph.node)
    if proto.functions and total > MOST_INLINED:
        raise GraphError(
            f"from_onnx: the functions of the model stand for more than {MOST_INLINED} nodes\n  fix: export fewer calls"
        )
