"""An exported program in operators that are known."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tir_mlir.graph.operators import OPERATORS, OperatorKind


def in_known_operators(program: Any, known: Collection[str]) -> Any:
    """The program without writes through views and without operators that are not known but can be decomposed.

    add_(x[1:], y) -> slice_scatter; cdist -> sqrt(sum(..)). Operators that are known stay whole.
    """
    import torch

    if not writes_are_simple(program.graph):
        program = program.run_decompositions({})
    table: dict[Any, Any] = {}
    while unknown := {op for op in operators(program) if operator_known(op, known) is None} - {*table}:
        if not table:
            every = dict(torch.export.default_decompositions().items())
        more = {op: every[op] for op in unknown if op in every}
        if not more:
            break
        table |= more
        program = program.run_decompositions(dict(table))
    return program


def operators(program: Any) -> set[Any]:
    """The operators of torch.ops that a program calls."""
    return {n.target for n in program.graph.nodes if n.op == "call_function" and hasattr(n.target, "_schema")}


def operator_known(op: Any, known: Collection[str]) -> str | None:
    """The name an operator is known by: its own, that of all overloads, or that of its form that does not write."""
    name = str(op)
    packet, _, overload = name.rpartition(".")
    forms = [name, packet]
    if packet.endswith("_") and not packet.endswith("__"):
        forms += [f"{packet[:-1]}.{overload}", packet[:-1]]
    return next((form for form in forms if form in known), None)


# Their results share memory with no operand. Torch's schema does not say so of every operator (dropout, pad).
_FRESH = frozenset(
    "linear conv1d conv2d conv3d batch_norm layer_norm group_norm add sub mul div gelu hardtanh leaky_relu elu matmul "
    "mm bmm addmm cat stack max_pool2d avg_pool2d adaptive_avg_pool2d softmax conv_transpose2d embedding sum "
    "mean".split()
)


def _fresh_names() -> frozenset[str]:
    """The operators of torch whose result is memory of its own: those, and all that are elementwise."""
    rows = (row for row in OPERATORS.values() if row.kind is OperatorKind.ELEMENTWISE)
    return _FRESH.union(name.split(".")[0] for row in rows for name in row.torch.split())


def writes_are_simple(graph: Any) -> bool:
    """Whether every write is of an operator `x_` to a value that only operators with fresh results used before: then
    later uses of x are uses of the result, and nothing else sees the write."""
    order, fresh = {node: at for at, node in enumerate(graph.nodes)}, _fresh_names()
    return all(_simple(node, order, fresh) for node in graph.nodes if node.op == "call_function" and _writes(node))


def _writes(node: Any) -> bool:
    """Whether a node writes to an operand, or runs a graph of its own (a region without gradients, say)."""
    schema = getattr(node.target, "_schema", None)
    return schema.is_mutable if schema is not None else node.target.__class__.__module__.startswith("torch")


def _simple(node: Any, order: dict[Any, int], fresh: Collection[str]) -> bool:
    if not _short(node.target)[1] or list(node.args).count(node.args[0]) != 1:
        return False
    operand = node.args[0]
    before = [user for user in operand.users if order[user] < order[node]]
    return all(n.op == "call_function" and _short(n.target)[0] in fresh for n in (operand, *before))


def _short(target: Any) -> tuple[str, bool]:
    """("relu", True) of aten.relu_.default: the name, and whether it is the form that writes."""
    parts = str(target).split(".")
    name = parts[1] if len(parts) == 3 and parts[0] == "aten" else ""
    return (name[:-1], True) if name.endswith("_") and not name.endswith("__") else (name, False)
