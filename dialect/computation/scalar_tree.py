"""The scalar computation of one iteration as a tree: leaves are operands, nodes are ops with their inherent attributes.

Two trees are the same computation only if ops, inherent attributes and result types agree. Only `fastmath` is ignored:
a declared reduction allows reassociation and contraction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

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
class OpNode:
    """An op: its name, its inherent attributes, the type of its result and the trees of its operands."""

    op: str
    facts: tuple[tuple[str, str], ...]
    type: str
    children: tuple[Tree, ...]


Tree = Leaf | OpNode


def node(op: ir.Operation, children: tuple[Tree, ...]) -> OpNode:
    """The node of an op with one result; discardable attributes (names with a dot) do not affect the value."""
    names = [n for n in op.attributes if "." not in n and n not in IGNORED]
    facts = tuple((n, str(op.attributes[n])) for n in names)
    return OpNode(op.name, facts, str(op.results[0].type), children)


def leaves(tree: Tree) -> Iterator[int]:
    """The operand numbers of the leaves, left to right."""
    if isinstance(tree, Leaf):
        yield tree.operand
    else:
        for child in tree.children:
            yield from leaves(child)


def relabel(tree: Tree, change: Mapping[int, int]) -> Tree:
    """The tree with operands renumbered."""
    if isinstance(tree, Leaf):
        return Leaf(change[tree.operand])
    return OpNode(tree.op, tree.facts, tree.type, tuple(relabel(c, change) for c in tree.children))


def correspondences(first: Tree, second: Tree, bound: Mapping[int, int]) -> Iterator[dict[int, int]]:
    """All maps {operand of left: operand of right} that make the trees equal, also by commutativity."""
    if isinstance(first, Leaf) or isinstance(second, Leaf):
        if isinstance(first, Leaf) and isinstance(second, Leaf):
            yield from _bind(first.operand, second.operand, bound)
        return
    same = (first.op, first.facts, first.type) == (second.op, second.facts, second.type)
    if not same or len(first.children) != len(second.children):
        return
    orders = [second.children]
    if first.op in COMMUTATIVE:
        orders.append(second.children[::-1])
    for order in orders:
        yield from _match_children(first.children, order, bound)


def _bind(first: int, second: int, bound: Mapping[int, int]) -> Iterator[dict[int, int]]:
    if bound.get(first, second) == second and all(k == first for k, v in bound.items() if v == second):
        yield {**bound, first: second}


def _match_children(
    lefts: tuple[Tree, ...], rights: tuple[Tree, ...], bound: Mapping[int, int]
) -> Iterator[dict[int, int]]:
    if not lefts:
        yield dict(bound)
        return
    for first in correspondences(lefts[0], rights[0], bound):
        yield from _match_children(lefts[1:], rights[1:], first)


def text(tree: Tree, name: Callable[[int], str], full: bool = False) -> str:
    """`addf(C, mulf(A, B))`; `full` adds the result types and every attribute."""
    if isinstance(tree, Leaf):
        return name(tree.operand)
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
    return text(tree, lambda n: f"%{order[n]}", full)
