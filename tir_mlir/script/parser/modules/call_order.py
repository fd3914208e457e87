"""The order in which to parse the functions of a module: those that are called first."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

CLASS_NAMES = ("cls",)
"""Names of the module in its functions, besides that of its class."""


def callees_first(nodes: Mapping[str, ast.FunctionDef], class_names: Collection[str]) -> list[str]:
    """The names of functions so that each comes after those it calls; as given where they call each other.

    class_names: the names of the class, whose attributes are the functions.
    """
    if len(nodes) == 1:
        return list(nodes)
    order: list[str] = []
    entered: set[str] = set()

    def visit(name: str) -> None:
        if name in entered:
            return
        entered.add(name)
        for callee in _called_functions(nodes[name], class_names, nodes):
            visit(callee)
        order.append(name)

    for name in nodes:
        visit(name)
    return order


def _called_functions(node: ast.FunctionDef, class_names: Collection[str], names: Collection[str]) -> Iterator[str]:
    """The functions of the module that a function calls, and maybe others."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and (name := _callee(call, class_names)) in names:
            yield name


def _callee(call: ast.Call, class_names: Collection[str]) -> str:
    func = call.func
    if isinstance(func, ast.Name) and func.id != "call":
        return func.id
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in class_names:
        return func.attr
    return _text(call.args) if getattr(func, "attr", getattr(func, "id", "")) == "call" else ""


def _text(args: Sequence[ast.expr]) -> str:
    first = args[0] if args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
