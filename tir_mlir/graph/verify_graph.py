"""Whether two graphs compute the same: as a whole where they are small, else part by part."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.ir import attrs, entered
from tir_mlir.equivalence import Difference, Result
from tir_mlir.equivalence.compare import QUICK_WORK, compare
from tir_mlir.equivalence.work import work_of
from tir_mlir.graph.compared_parts import ByParts, Side, lowered
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.constants import constants_to_weights
from tir_mlir.graph.transforms.inline_graphs import inlined_calls, inlined_weights
from tir_mlir.graph.whole_program import calls_only, weight_types


def verify_graph(before: Graph, after: Graph, seed: int = 0) -> Result:
    """Whether two graphs compute the same, exactly over a prime field, for all inputs and weights tried.

    Weights are inputs here, with the same values for the same name; those whose arrays differ are a difference. A large
    constant is one input for each value that it has. Truthy if they agree; else it tells the first element that
    differs. Graphs of more than `QUICK_WORK` iterations are compared part by part, cut at values that both have by one
    name. Errors: GraphError for packed functions, and if a weight is rounded in one of them only; NotChecked for what
    has no exact semantics, and for large graphs of which a part differs.
    """
    _refuse_rounded(before, after)
    if (changed := _other_weight(before, after)) is not None:
        return Result(Difference(after.name, {}, f"{after.name}: the array of the weight {changed} is another one"))
    graphs = [_constants_by_value(graph) for graph in (before, after)]
    wanted = {**weight_types(graphs[0]), **weight_types(graphs[1])}
    made = [calls_only(graph, wanted) for graph in graphs]
    with entered():
        ranges = attrs.get(before.func.op, encoding.RANGES, {})
        programs = [lowered(graph, graph.name, ranges) for graph in made]
        if str(programs[0]) == str(programs[1]):
            return Result(notes=["both are the same program"])
        if max(_work(p, g.name) for p, g in zip(programs, made, strict=True)) <= QUICK_WORK:
            return compare(programs[0], programs[1], seed)
        sides = [Side(graph, dict(zip(graph.func.inputs, _keys(graph), strict=True))) for graph in made]
        return ByParts(sides[0], sides[1], seed, ranges).run()


def _keys(graph: Graph) -> list[str]:
    """What inputs are called on both sides: inputs by their number, as their names may differ; weights follow them."""
    return [f"input {number}" for number in range(len(graph.func.inputs))]


def _work(program: ir.Module, name: str) -> int:
    return work_of(ir.SymbolTable(program.operation)[name].operation, {})


def _refuse_rounded(before: Graph, after: Graph) -> None:
    """Raise GraphError if a weight was rounded in one of two graphs only: they compute different functions."""
    with entered():
        one, other = (set(attrs.get(g.func.op, encoding.STORED, {})) for g in (before, after))
    if differing := sorted(one ^ other):
        raise GraphError(
            f"verify compares exactly, and rounded weights are other weights: {', '.join(differing)}; fix: compare "
            "with the graph that quantize_weights returned, or the outputs on given inputs: after.compare(before, x)"
        )


def _other_weight(before: Graph, after: Graph) -> str | None:
    """The first weight that has another array in each of two graphs; constants are compared by what they do."""
    own = {n: a for n, a in before.weights.items() if n not in before.from_text and n not in after.from_text}
    return next((n for n, a in own.items() if n in after.weights and not _equal(a, after.weights[n])), None)


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have the same bytes, type and shape; the same memory is not read."""
    if one is other:
        return True
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    same = one.__array_interface__["data"] == other.__array_interface__["data"] and one.strides == other.strides
    return same or one.tobytes() == other.tobytes()


def _constants_by_value(graph: Graph) -> Graph:
    """The graph with constants as weights whose names are made of their elements, so that equal ones are one input."""
    made = inlined_weights(constants_to_weights(inlined_calls(graph))).clone()
    names = {name: _value_name(made.weights[name]) for name in made.from_text if name in made.weights}
    with entered():
        func = made.func
        facts = attrs.argument_attrs(func.op)
        for number in range(len(func.inputs)):
            if (name := func.weight(number)) in names:
                facts[number] = {**facts[number], encoding.WEIGHT: ir.StringAttr.get(names[str(name)])}
        func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(f) for f in facts])
        _join_equal(made, names)
    made.weights = {names.get(name, name): array for name, array in made.weights.items()}
    made.from_text = frozenset(names.values())
    return made


def _join_equal(graph: Graph, names: Mapping[str, str]) -> None:
    """Let readers of constants of one value read the first of them."""
    first: dict[str, ir.Value] = {}
    func, made = graph.func, set(names.values())
    for number, value in enumerate(func.inputs):
        weight = func.weight(number)
        if weight in made and first.setdefault(str(weight), value) != value:
            value.replace_all_uses_with(first[str(weight)])


def _value_name(array: np.ndarray) -> str:
    digest = hashlib.sha1(np.ascontiguousarray(array).tobytes(), usedforsecurity=False).hexdigest()[:20]
    return f"constant {array.dtype} {array.shape} {digest}"
