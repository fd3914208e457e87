"""Whether two graphs compute the same: as a whole where they are small, else part by part."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.equivalence import Difference, Result
from tir_mlir.equivalence.compare import QUICK_WORK, compare
from tir_mlir.equivalence.work import work_of
from tir_mlir.extensions import implement
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.bodies import each_body
from tir_mlir.graph.transforms.inline_graphs import inlined_calls, inlined_weights
from tir_mlir.graph.transforms.integers import quotients_first
from tir_mlir.graph.transforms.lift_weights import constants_to_weights, is_number
from tir_mlir.graph.verification.compared_parts import ByParts, ComparedGraph, lower_to_program
from tir_mlir.graph.verification.whole_program import calls_only, weight_types
from tir_mlir.runtime.progress import follow_build, stage


@implement(Graph.verify)
def verify_graph(graph: Graph, before: Graph, seed: int = 0) -> Result:
    """Whether two graphs compute the same, exactly over a prime field, for all inputs and weights tried.

    Weights are inputs here, with the same values for the same name; those whose arrays differ are a difference. A
    constant that is a number is this number, any other one an input for each value that it has. Truthy if they agree;
    else it tells the first element that differs. Graphs of more than `QUICK_WORK` iterations are compared part by part,
    cut at values that both have by one name. In both graphs, divisions by scales of quantised tensors move before
    bounds and maxima by the rules of `quotients_first`; scales that are not constants are taken to be positive.

    Errors: GraphError for packed functions, and if a weight is rounded in one of them only; NotChecked for what has no
    exact semantics, and for large graphs of which a part differs.
    """
    with follow_build(f"verification of {graph.name}"), stage("comparison"):
        return _compare_graphs(before, graph, seed)


def _compare_graphs(original: Graph, transformed: Graph, seed: int) -> Result:
    _refuse_rounded(original, transformed)
    if (changed := _other_weight(original, transformed)) is not None:
        return Result(
            Difference(transformed.name, {}, f"{transformed.name}: the array of the weight {changed} is another one")
        )
    graphs = [_constants_by_value(_divide_before_maxima(graph)) for graph in (original, transformed)]
    input_types = {**weight_types(graphs[0]), **weight_types(graphs[1])}
    legalized = [calls_only(graph, input_types) for graph in graphs]
    with enter_context():
        ranges = _ranges([original, *legalized])
        values = {name: value for graph in graphs for name, value in _numbers(graph).items()}
        named = [{n: graph.func.input_name(n) for n in range(len(graph.func.inputs))} for graph in legalized]
        numbers = [{n: values[name] for n, name in names.items() if name in values} for names in named]
        programs = [lower_to_program(g, g.name, ranges, known) for g, known in zip(legalized, numbers, strict=True)]
        if str(programs[0]) == str(programs[1]):
            return Result(notes=["both are the same program"])
        if max(_work(p, g.name) for p, g in zip(programs, legalized, strict=True)) <= QUICK_WORK:
            return compare(programs[0], programs[1], seed)
        sides = [_side(graph, known) for graph, known in zip(legalized, numbers, strict=True)]
        return ByParts(sides[0], sides[1], seed, ranges).run()


def _divide_before_maxima(graph: Graph) -> Graph:
    """The graph with divisions by scales before maxima: the order of the field is not kept by products."""
    with enter_context():
        inlined = inlined_calls(graph)
        if not any(node.operator == "dequantize" for node in inlined.func.nodes):
            return graph
    return each_body(inlined, quotients_first)


def _side(graph: Graph, numbers: Mapping[int, float | int]) -> ComparedGraph:
    """Inputs are known by their number on both sides, as their names may differ; weights follow them."""
    known = {value: f"input {n}" for n, value in enumerate(graph.func.inputs)}
    return ComparedGraph(graph, known, {f"input {n}": value for n, value in numbers.items()})


def _numbers(graph: Graph) -> dict[str, float | int]:
    """The constants that are numbers, by name."""
    arrays = {name: graph.weights[name] for name in graph.from_text if name in graph.weights}
    return {name: array.item() for name, array in arrays.items() if is_number(array)}


def _ranges(graphs: Sequence[Graph]) -> dict[str, tuple[int, int]]:
    """The values of sizes that all graphs are made for."""
    found: dict[str, tuple[int, int]] = {}
    for ranges in [attrs.get(graph.func.op, encoding.RANGES, {}) for graph in graphs]:
        for name, (least, greatest) in ranges.items():
            known, end = found.get(name, (0, -1))
            found[name] = max(known, least), greatest if end < 0 else end if greatest < 0 else min(end, greatest)
    return found


def _work(program: ir.Module, name: str) -> int:
    return work_of(ir.SymbolTable(program.operation)[name].operation, {})


def _refuse_rounded(original: Graph, transformed: Graph) -> None:
    """Raise GraphError if a weight was rounded in one of two graphs only: they compute different functions."""
    with enter_context():
        lhs, rhs = (set(attrs.get(g.func.op, encoding.STORED, {})) for g in (original, transformed))
    if differing := sorted(lhs ^ rhs):
        raise GraphError(
            f"verify compares exactly, and rounded weights are other weights: {', '.join(differing)}; fix: compare "
            "with the graph that quantize_weights returned, or the outputs on given inputs: after.compare(before, x)"
        )


def _other_weight(original: Graph, transformed: Graph) -> str | None:
    """The first weight that has another array in each of two graphs; constants are compared by what they do."""
    weights = {
        n: a for n, a in original.weights.items() if n not in original.from_text and n not in transformed.from_text
    }
    return next(
        (n for n, a in weights.items() if n in transformed.weights and not _equal(a, transformed.weights[n])), None
    )


def _equal(lhs: np.ndarray, rhs: np.ndarray) -> bool:
    """Whether two arrays have the same bytes, type and shape; the same memory is not read."""
    if lhs is rhs:
        return True
    if lhs.dtype != rhs.dtype or lhs.shape != rhs.shape:
        return False
    same = lhs.__array_interface__["data"] == rhs.__array_interface__["data"] and lhs.strides == rhs.strides
    return same or lhs.tobytes() == rhs.tobytes()


def _constants_by_value(graph: Graph) -> Graph:
    """The graph with constants as weights whose names are made of their elements, so that equal ones are one input."""
    inlined = inlined_weights(constants_to_weights(inlined_calls(graph))).clone()
    names = {name: _value_name(inlined.weights[name]) for name in inlined.from_text if name in inlined.weights}
    with enter_context():
        func = inlined.func
        facts = attrs.argument_attrs(func.op)
        for number in range(len(func.inputs)):
            if (name := func.weight(number)) in names:
                facts[number] = {**facts[number], encoding.WEIGHT: ir.StringAttr.get(names[str(name)])}
        func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(f) for f in facts])
        _join_equal(inlined, names)
    inlined.weights = {names.get(name, name): array for name, array in inlined.weights.items()}
    inlined.from_text = frozenset(names.values())
    return inlined


def _join_equal(graph: Graph, names: Mapping[str, str]) -> None:
    """Let readers of constants of one value read the first of them."""
    first: dict[str, ir.Value] = {}
    func, value_names = graph.func, set(names.values())
    for number, value in enumerate(func.inputs):
        weight = func.weight(number)
        if weight in value_names and first.setdefault(str(weight), value) != value:
            value.replace_all_uses_with(first[str(weight)])


def _value_name(array: np.ndarray) -> str:
    digest = hashlib.sha1(np.ascontiguousarray(array).tobytes(), usedforsecurity=False).hexdigest()[:20]
    return f"constant {array.dtype} {array.shape} {digest}"
