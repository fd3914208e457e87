"""Branches and loops of torch (`cond`, `while_loop`, `scan`, `map`) as those of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import names_in, parse
from tir_mlir.graph.builder import value_list
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter


class RegionRefused(Exception):
    """A node of a region was refused, which is noted."""


def control_flow(importer: Any, node: Any) -> Any:
    """The results of a node of torch's that runs graphs, None if it is not such a node. Errors: GraphError."""
    name = getattr(node.target, "__name__", "")
    return None if name not in _FORMS else _FORMS[name](importer, node)


def is_control(target: Any) -> bool:
    """Whether a node calls one of torch's operators that run graphs."""
    return getattr(target, "__name__", "") in _FORMS


def subgraphs(module: Any) -> Iterator[Any]:
    """The graphs of a program: its own, and those that its nodes run."""
    yield module.graph
    for node in module.graph.nodes:
        if node.op == "get_attr" and hasattr(inner := getattr(module, node.target, None), "graph"):
            yield from subgraphs(inner)


def _tensors(importer: Any, what: str, operands: Sequence[Any]) -> list[Any]:
    values = [importer.values.get(operand) if hasattr(operand, "meta") else None for operand in operands]
    if any(value is None for value in values):
        raise GraphError(f"{what} has a number among its operands\n  fix: a tensor, torch.tensor(0)")
    return values


def _cond(importer: Any, node: Any) -> Any:
    condition, then, otherwise, operands = node.args[:4]
    value = importer.values.get(condition) if hasattr(condition, "meta") else None
    if value is None:
        raise GraphError("its condition is a number that changes with sizes\n  fix: decide by a tensor")
    given = [importer.values.get(operand) if hasattr(operand, "meta") else operand for operand in operands]

    def side(graph_node: Any) -> Callable[..., Any]:
        return lambda region: _run(importer, _graph(importer, graph_node), region, operands, given)

    counted = _data_dependent_axes(importer, node)
    results = importer.builder.branch(value, side(then), side(otherwise), counted=counted, name_hint=node.name)
    results = tuple(value_list(results))
    importer.emitter.inputs += [results[number] for number in counted]  # they carry their sizes
    return results


def _data_dependent_axes(importer: Any, node: Any) -> dict[int, tuple[int, str]]:
    """The results of a branch that have a size which no tensor before it has: number -> axis, name of the size."""
    known = {name for x in importer.emitter.inputs for size in x.shape for name in names_in(parse(size))}
    counted: dict[int, tuple[int, str]] = {}
    for number, value in enumerate(node.meta.get("val") or ()):
        shape = importer.sizes.shape(value)
        new = [axis for axis, size in enumerate(shape) if names_in(parse(size)) - known]
        if len(new) > 1 or any(not str(shape[axis]).isidentifier() for axis in new):
            raise GraphError(
                f"result {number} of a branch is {list(shape)}, and data decide on the sizes of several axes\n"
                "  fix: return it flat, and reshape it behind the branch"
            )
        counted |= ((number, (axis, str(shape[axis]))) for axis in new)
        known |= {str(shape[axis]) for axis in new}
    return counted


def _while_loop(importer: Any, node: Any) -> Any:
    condition, body, carried, besides = node.args[:4]
    test, step = _graph(importer, condition), _graph(importer, body)
    operands = [*carried, *besides]
    start = _tensors(importer, "while_loop", carried)
    constant = [importer.values.get(operand) if hasattr(operand, "meta") else operand for operand in besides]

    def iteration(region: Any, _: Any, *state: Any) -> Any:
        following = _run(importer, step, region, operands, [*state, *constant])
        return [*_run(importer, test, region, operands, [*following, *constant]), *following]

    (first,) = _run(importer, test, importer.builder, operands, [*start, *constant])
    results = importer.builder.loop(iteration, start, condition=first, name_hint=node.name)
    return tuple(value_list(results))


def _scan(importer: Any, node: Any) -> Any:
    combine, init, scanned, besides = node.args[:4]
    carried, rows = _tensors(importer, "scan", init), _tensors(importer, "scan", scanned)
    return _loop(importer, node, combine, [*init, *scanned, *besides], carried, rows, besides)


def _map(importer: Any, node: Any) -> Any:
    body, scanned, besides = node.args[:3]
    rows = _tensors(importer, "map", scanned)
    return _loop(importer, node, body, [*scanned, *besides], [], rows, besides)


def _loop(
    importer: Any,
    node: Any,
    body: Any,
    operands: Sequence[Any],
    carried: Sequence[Any],
    rows: Sequence[Any],
    besides: Sequence[Any],
) -> Any:
    graph = _graph(importer, body)
    constant = [importer.values.get(operand) if hasattr(operand, "meta") else operand for operand in besides]

    def iteration(region: Any, _: Any, *state: Any) -> Any:
        return _run(importer, graph, region, operands, [*state, *constant])

    results = importer.builder.loop(iteration, carried, rows, name_hint=node.name)
    return tuple(value_list(results))


_FORMS: Mapping[str, Callable[[Any, Any], Any]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "scan": _scan,
    "map": _map,
    "map_impl": _map,
}


def _graph(importer: Any, node: Any) -> Any:
    """The module that a node of a graph names."""
    return getattr(importer.owner, node.target)


def _run(importer: Any, module: Any, region: Any, operands: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """What a graph computes of values, written by a builder. operands: the nodes outside that it is given."""
    with _switch_builder(importer, region, module):
        placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
        for placeholder, value in zip(placeholders, values, strict=False):
            importer.values[placeholder] = value
        importer.translate(module.graph)
        (output,) = (n for n in module.graph.nodes if n.op == "output")
        results = output.args[0] if isinstance(output.args[0], (list, tuple)) else [output.args[0]]
        result_values = [importer.values.get(result) for result in results]
    if any(importer.is_refused(value) for value in result_values):
        raise RegionRefused
    if any(value is None for value in result_values):
        raise GraphError("a graph that it runs returns what is not a tensor\n  fix: tensors only")
    return result_values


@contextmanager
def _switch_builder(importer: Any, builder: Any, module: Any) -> Iterator[None]:
    """Let an importer write the nodes of another graph, with another builder."""
    outer_state = importer.builder, importer.emitter, importer.owner
    importer.builder, importer.owner = builder, module
    importer.emitter = TorchEmitter(builder, importer.sizes)
    importer.emitter.inputs, importer.emitter.random = outer_state[1].inputs, outer_state[1].random
    try:
        yield
    finally:
        importer.builder, importer.emitter, importer.owner = outer_state
