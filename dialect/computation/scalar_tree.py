"""The scalar computation of one iteration as a tree: leaves are operands, conditions and scalar parameters, nodes are
ops with their inherent attributes.

Two trees are the same computation only if ops, inherent attributes and result types agree. Only `fastmath` is ignored:
a declared reduction allows reassociation and contraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TypeGuard

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir.op_traits import COMMUTATIVE
from tir_mlir.dialect.ir.op_views import CompareFloatsOp, CompareOp, ConstantOp

IGNORED = ("fastmath",)


@dataclass(frozen=True)
class Leaf:
    """The element of operand number `operand`."""

    operand: int


@dataclass(frozen=True)
class Guard:
    """Whether condition number `condition` holds."""

    condition: int


@dataclass(frozen=True)
class ScalarArgument:
    """The function's argument `number`, which is not a buffer."""

    number: int
    type: str


@dataclass(frozen=True)
class OpNode:
    """An op: its name, its inherent attributes, the type of its result and the trees of its operands."""

    op: str
    facts: tuple[tuple[str, str], ...]
    type: str
    children: tuple[Tree, ...]


Tree = Leaf | Guard | ScalarArgument | OpNode
CHOICE, STORE, ALL = "tir.choice", "tir.store", "tir.all"
"""Nodes of computations with conditions: (ALL, value, other value); (ALL, stored value); (Guard, ...)."""


def node(op: ir.Operation, children: tuple[Tree, ...]) -> OpNode:
    """The node of an op with one result; discardable attributes (names with a dot) do not affect the value."""
    names = [n for n in op.attributes if "." not in n and n not in IGNORED]
    facts = tuple((n, str(op.attributes[n])) for n in names)
    return OpNode(op.name, facts, str(op.results[0].type), children)


def constant(value: float, type_text: str) -> OpNode:
    """A number, of a type of MLIR."""
    type_ = ir.Type.parse(type_text)
    is_float = isinstance(type_, ir.FloatType)
    attribute = ir.FloatAttr.get(type_, value) if is_float else ir.IntegerAttr.get(type_, int(value))
    return OpNode("arith.constant", (("value", str(attribute)),), type_text, ())


def replace_scalars(tree: Tree, values: Mapping[int, float]) -> Tree:
    """A tree with numbers for the scalar parameters that are the arguments of these positions."""
    if is_parameter(tree):
        number = scalar_number(tree)
        return constant(values[number], tree.type) if number in values else tree
    if not isinstance(tree, OpNode):
        return tree
    return replace(tree, children=tuple(replace_scalars(child, values) for child in tree.children))


def leaves(tree: Tree) -> Iterator[int]:
    """The operand numbers of the leaves, left to right."""
    if isinstance(tree, Leaf):
        yield tree.operand
    elif isinstance(tree, OpNode):
        for child in tree.children:
            yield from leaves(child)


def scalars_in(tree: Tree) -> list[int]:
    """The arguments that the scalar parameters of a tree are, each once, left to right."""
    if isinstance(tree, ScalarArgument):
        return [tree.number]
    children = tree.children if isinstance(tree, OpNode) else ()
    return list(dict.fromkeys(number for child in children for number in scalars_in(child)))


def conditions_in(tree: Tree) -> list[int]:
    """The numbers of the conditions that a node ALL has."""
    return [c.condition for c in tree.children if isinstance(c, Guard)] if isinstance(tree, OpNode) else []


Pairs = Mapping[Tree, Tree]
"""The leaves of a tree, with what is there in another one."""


def correspondences(first: Tree, second: Tree, bound: Pairs) -> Iterator[dict[Tree, Tree]]:
    """All pairs of leaves that make the trees equal, also by commutativity; any computation may be there for a scalar
    parameter of the first."""
    if is_parameter(first):
        if first in bound:
            yield from [dict(bound)] if bound[first] == second else []
        else:
            yield {**bound, first: second}
    if not isinstance(first, OpNode) or not isinstance(second, OpNode):
        if type(first) is type(second) and not isinstance(first, (ScalarArgument, OpNode)):
            yield from _bind(first, second, bound)
        return
    same = (first.op, first.facts, first.type) == (second.op, second.facts, second.type)
    if not same or len(first.children) != len(second.children):
        return
    orders = [second.children]
    if first.op == ALL:
        orders = [*permutations(second.children)]
    elif first.op in COMMUTATIVE:
        orders.append(second.children[::-1])
    for order in orders:
        yield from _match_children(first.children, order, bound)


def is_parameter(tree: Tree) -> TypeGuard[ScalarArgument | OpNode]:
    """Whether a tree is a scalar parameter; an integer is an index, converted."""
    return isinstance(tree, ScalarArgument) or (
        isinstance(tree, OpNode) and tree.op == "arith.index_cast" and isinstance(tree.children[0], ScalarArgument)
    )


def scalar_number(tree: Tree) -> int:
    """The argument that a scalar parameter is."""
    assert not isinstance(tree, Leaf | Guard)
    return tree.number if isinstance(tree, ScalarArgument) else scalar_number(tree.children[0])


def _bind(first: Tree, second: Tree, bound: Pairs) -> Iterator[dict[Tree, Tree]]:
    if bound.get(first, second) == second and all(k == first for k, v in bound.items() if v == second):
        yield {**bound, first: second}


def _match_children(lefts: tuple[Tree, ...], rights: tuple[Tree, ...], bound: Pairs) -> Iterator[dict[Tree, Tree]]:
    if not lefts:
        yield dict(bound)
        return
    for first in correspondences(lefts[0], rights[0], bound):
        yield from _match_children(lefts[1:], rights[1:], first)


def text(tree: Tree, name: Callable[[Leaf | Guard | ScalarArgument], str], full: bool = False) -> str:
    """`addf(C, mulf(A, B))`; `full` adds the result types and every attribute."""
    if not isinstance(tree, OpNode):
        return name(tree)
    if tree.op in ConstantOp.names:
        value = dict(tree.facts)["value"]
        return value if full else value.split(" : ")[0]
    facts = dict(tree.facts)
    short = tree.op.partition(".")[2]
    if tree.op in CompareOp.names:
        short += f" {_predicate(tree.op, facts.pop('predicate'))}"
    attributes = f"{{{', '.join(f'{k} = {v}' for k, v in facts.items())}}}" if full and facts else ""
    inner = ", ".join(text(c, name, full) for c in tree.children)
    return f"{short}{attributes}({inner}){f' : {tree.type}' if full else ''}"


def _predicate(op: str, attribute: str) -> str:
    number = int(attribute.split(" ")[0])
    return str((arith.CmpFPredicate if op in CompareFloatsOp.names else arith.CmpIPredicate)(number))


def structure_text(tree: Tree, full: bool = True) -> str:
    """The text with operands numbered by first appearance: equal if and only if the structures are."""
    order: dict[int, int] = {}
    for operand in leaves(tree):
        order.setdefault(operand, len(order))
    return text(tree, lambda leaf: f"%{order[leaf.operand]}" if isinstance(leaf, Leaf) else str(leaf), full)
