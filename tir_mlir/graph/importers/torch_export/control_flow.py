"""Branches and loops of torch (`cond`, `while_loop`, `scan`, `map`) as those of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import torch

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import names_in, parse
from tir_mlir.graph.builder import GraphBuilder, Value, value_list
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter

if TYPE_CHECKING:
    from torch.fx.node import Argument

    from tir_mlir.graph.importers.torch_export.from_torch import Imported, TorchImporter


class RegionRefused(Exception):
    """A node of a region was refused, which is noted."""


def control_flow(importer: TorchImporter, node: torch.fx.Node) -> list[Value] | None:
    """The results of a node of torch's that runs graphs, None if it is not such a node. Errors: GraphError."""
    name = getattr(node.target, "__name__", "")
    return None if name not in _FORMS else _FORMS[name](importer, node)


def is_control(target: object) -> bool:
    """Whether a node calls one of torch's operators that run graphs."""
    return getattr(target, "__name__", "") in _FORMS


def subgraphs(module: torch.fx.GraphModule) -> Iterator[torch.fx.Graph]:
    """The graphs of a program: its own, and those that its nodes run."""
    yield module.graph
    for node in module.graph.nodes:
        if node.op == "get_attr" and isinstance(inner := getattr(module, str(node.target), None), torch.fx.GraphModule):
            yield from subgraphs(inner)


def _operands(importer: TorchImporter, arguments: Argument) -> list[Imported]:
    """What the operands of a node are; None for numbers."""
    assert isinstance(arguments, (tuple, list))
    return [importer.values.get(x) if isinstance(x, torch.fx.Node) else None for x in arguments]


def _tensors(importer: TorchImporter, what: str, arguments: Argument) -> list[Value]:
    operands = _operands(importer, arguments)
    values = [value for value in operands if isinstance(value, Value)]
    if len(values) < len(operands):
        raise GraphError(f"{what} has a number among its operands\n  fix: a tensor, torch.tensor(0)")
    return values


def _cond(importer: TorchImporter, node: torch.fx.Node) -> list[Value]:
    condition, then, otherwise, arguments = node.args[:4]
    value = importer.values.get(condition) if isinstance(condition, torch.fx.Node) else None
    if not isinstance(value, Value):
        raise GraphError("its condition is a number that changes with sizes\n  fix: decide by a tensor")
    operands = _operands(importer, arguments)
    side, other = (partial(_run, importer, _graph(importer, graph), values=operands) for graph in (then, otherwise))
    counted = _data_dependent_axes(importer, node)
    results = value_list(importer.builder.branch(value, side, other, counted=counted, name_hint=node.name))
    importer.emitter.inputs += [results[number] for number in counted]  # they carry their sizes
    return results


def _data_dependent_axes(importer: TorchImporter, node: torch.fx.Node) -> dict[int, tuple[int, str]]:
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


def _while_loop(importer: TorchImporter, node: torch.fx.Node) -> list[Value]:
    condition, body, carried, besides = node.args[:4]
    test, step = _graph(importer, condition), _graph(importer, body)
    start, constant = _tensors(importer, "while_loop", carried), _operands(importer, besides)

    def iteration(region: GraphBuilder, _: Value, *state: Value) -> list[Value]:
        following = _run(importer, step, region, [*state, *constant])
        return [*_run(importer, test, region, [*following, *constant]), *following]

    (first,) = _run(importer, test, importer.builder, [*start, *constant])
    return value_list(importer.builder.loop(iteration, start, condition=first, name_hint=node.name))


def _scan(importer: TorchImporter, node: torch.fx.Node) -> list[Value]:
    combine, init, scanned, besides = node.args[:4]
    return _loop(importer, node, combine, _tensors(importer, "scan", init), scanned, besides)


def _map(importer: TorchImporter, node: torch.fx.Node) -> list[Value]:
    body, scanned, besides = node.args[:3]
    return _loop(importer, node, body, [], scanned, besides)


def _loop(
    importer: TorchImporter,
    node: torch.fx.Node,
    body: Argument,
    carried: Sequence[Value],
    scanned: Argument,
    besides: Argument,
) -> list[Value]:
    graph, constant = _graph(importer, body), _operands(importer, besides)
    rows = _tensors(importer, "scan" if carried else "map", scanned)

    def iteration(region: GraphBuilder, _: Value, *state: Value) -> list[Value]:
        return _run(importer, graph, region, [*state, *constant])

    return value_list(importer.builder.loop(iteration, carried, rows, name_hint=node.name))


_FORMS: Mapping[str, Callable[[TorchImporter, torch.fx.Node], list[Value]]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "scan": _scan,
    "map": _map,
    "map_impl": _map,
}


def _graph(importer: TorchImporter, node: Argument) -> torch.fx.GraphModule:
    """The module that a node of a graph names."""
    assert isinstance(node, torch.fx.Node)
    return getattr(importer.owner, str(node.target))


def _run(
    importer: TorchImporter, module: torch.fx.GraphModule, region: GraphBuilder, values: Sequence[Imported]
) -> list[Value]:
    """What a graph computes of values, written by a builder."""
    with _switch_builder(importer, region, module):
        placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
        for placeholder, value in zip(placeholders, values, strict=False):
            importer.values[placeholder] = value
        importer.translate(module.graph)
        (output,) = (n for n in module.graph.nodes if n.op == "output")
        results = output.args[0] if isinstance(output.args[0], (list, tuple)) else [output.args[0]]
        computed = [importer.values.get(result) for result in results]
    if any(importer.is_refused(value) for value in computed):
        raise RegionRefused
    tensors = [value for value in computed if isinstance(value, Value)]
    if len(tensors) < len(computed):
        raise GraphError("a graph that it runs returns what is not a tensor\n  fix: tensors only")
    return tensors


@contextmanager
def _switch_builder(importer: TorchImporter, builder: GraphBuilder, module: torch.fx.GraphModule) -> Iterator[None]:
    """Let an importer write the nodes of another graph, with another builder."""
    outer_state = importer.builder, importer.emitter, importer.owner
    importer.builder, importer.owner = builder, module
    importer.emitter = TorchEmitter(builder, importer.sizes)
    importer.emitter.inputs, importer.emitter.random = outer_state[1].inputs, outer_state[1].random
    try:
        yield
    finally:
        importer.builder, importer.emitter, importer.owner = outer_state
