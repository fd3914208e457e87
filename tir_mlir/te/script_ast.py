"""Builders of TVMScript AST: functions, parameters, loops, blocks."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tir_mlir.te.expr import Expr, Size, Var, rename_keys, t_name

if TYPE_CHECKING:
    from tir_mlir.te.expr import Leaf


class KeyNames:
    """Unique readable names for the keys in an AST."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}
        self._used = {"T"}

    def give(self, key: str, hint: str) -> str:
        """A name for a key."""
        self.of[key] = self.fresh(hint)
        return self.of[key]

    def fresh(self, hint: str) -> str:
        """`hint`, or with the first free suffix `_1`, `_2`, ..."""
        name, number = hint, 0
        while name in self._used:
            number += 1
            name = f"{hint}_{number}"
        self._used.add(name)
        return name

    def forget(self, name: str) -> None:
        """Release a name at the end of its loop or block."""
        self._used.discard(name)


def sizes_of(leaf: Leaf) -> dict[str, Var]:
    """The variables in the shape of a tensor."""
    sizes = () if isinstance(leaf, Var) else [size for size in leaf.shape if isinstance(size, Expr)]
    return {key: var for size in sizes for key, var in size.leaves.items() if isinstance(var, Var)}


def size(value: Size, names: KeyNames) -> ast.expr:
    """An extent: a number or an expression of shape variables."""
    return rename_keys(value.node, names.of) if isinstance(value, Expr) else ast.Constant(value)


def shape(values: Sequence[Size], names: KeyNames) -> ast.expr:
    return ast.Tuple([size(v, names) for v in values], ast.Load())


def parameter(leaf: Leaf, names: KeyNames) -> ast.arg:
    """`A: T.Buffer((n, 16), "float32")` for a tensor, `n: T.int32` for a variable."""
    if isinstance(leaf, Var):
        return ast.arg(names.of[leaf.key], t_name(leaf.dtype))
    return ast.arg(names.of[leaf.key], call("Buffer", shape(leaf.shape, names), ast.Constant(leaf.dtype)))


def call(word: str, *args: ast.expr) -> ast.Call:
    return ast.Call(t_name(word), list(args), [])


def name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def assign(target: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(target, ast.Store())], value)


def loop(variable: str, bounds: Sequence[ast.expr], body: list[ast.stmt]) -> ast.stmt:
    """`for variable in T.serial(bounds)`."""
    return ast.For(ast.Name(variable, ast.Store()), call("serial", *bounds), body, [])


def with_statement(head: ast.Call, body: list[ast.stmt]) -> ast.stmt:
    """`with head:`."""
    return ast.With([ast.withitem(head)], body)


def function(params: list[ast.arg], body: list[ast.stmt], origin: ast.AST) -> ast.FunctionDef:
    arguments = ast.arguments([], params, None, [], [], None, [])
    definition = ast.FunctionDef("main", arguments, body, [])
    copy_location(origin, [definition])
    return definition


def copy_location(origin: ast.AST, nodes: Sequence[ast.AST]) -> None:
    """Copy the location of `origin` to every node without one."""
    marks = ("lineno", "end_lineno", "col_offset", "end_col_offset", "file")
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if "lineno" in node._attributes and "lineno" not in node.__dict__:
            node.__dict__ |= {mark: getattr(origin, mark) for mark in marks}
