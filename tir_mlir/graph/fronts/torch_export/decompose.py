"""An exported program in operators that are known."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tir_mlir.graph.fronts.torch_export.in_place import writes_are_simple


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
