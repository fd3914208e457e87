"""Group calls of TensorIR functions that are to be one function."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, field

from mlir import ir

from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, encoding, node_of, tensor_func
from tir_mlir.dialect.ir import attrs, enter_context, symbols_kept
from tir_mlir.dialect.symbolic import sources
from tir_mlir.graph import size_code
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import byte_size
from tir_mlir.graph.rewrite import call_group, group_of
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.merge_functions import is_exact
from tir_mlir.graph.units.fusion_unit import FunctionFacts, FunctionKind, facts_of_each
from tir_mlir.schedules.block_queries import LARGE
from tir_mlir.targets.stages import BuildOptions

_NUMBERED = re.compile(r"_\d+$")
"""What makes the names of functions different that compute the same on other types."""
MOST_NODES = 12
"""The maximum number of nodes of a group."""
_TAKES_AFTER = (FunctionKind.PRODUCT, FunctionKind.POINTWISE)
"""Kinds of groups that a pointwise node may join at the end."""
_TAKES_BEFORE = (FunctionKind.ROWS, FunctionKind.POINTWISE)
"""Kinds of nodes that join a pointwise group."""


@dataclass
class _Group:
    """Nodes to be fused, in order. kind: that of the node that decides how the group is scheduled."""

    kind: FunctionKind
    nodes: list[Node] = field(default_factory=list)


def fuse_ops(graph: Graph, cache: bool = False) -> Graph:
    """Group each product, convolution or row-wise operator with the pointwise ones around it.

        lv = R.call_tir(cls.dense, (x, w))                @R.function(private=True)
        lv1 = R.call_tir(cls.add, (lv, b))                def fused_dense_add_relu(x, w, b): ...
        gv = R.call_tir(cls.relu, (lv1,))         ->      gv = cls.fused_dense_add_relu(x, w, b)

    A pointwise node joins the group of an input that it reads element by element and that nothing else uses, as do the
    pointwise groups of its other such inputs; a row-wise node joins a pointwise group so, and a product that of a node
    that widens a weight. An attention takes the
    nodes that compute its keys or values from fewer bytes. Equal groups share a function. Functions that declare
    their regions, that compute something else, or that are for any size and called with known sizes, remain alone.
    cache: keep what is found about a function by its text.
    """
    fused = graph.clone()
    with enter_context(), symbols_kept(fused.module.mlir):
        func = fused.func
        callees = sorted({f.callee for node in func.nodes if (f := node.callee) and f.kind == encoding.CALL_TIR})
        found = facts_of_each([fused.module[name] for name in callees], BuildOptions(cache=cache))
        facts = dict(zip(callees, found, strict=True))
        _widen_for_each(func)
        group_names: dict[Hashable, str] = {}
        for group in _groups(func, facts):
            if len(group.nodes) > 1:
                _outline(fused, func, group.nodes, group_names)
    return clean(fused)


def _groups(func: TensorFunc, facts: dict[str, FunctionFacts]) -> list[_Group]:
    """All nodes in groups, most of one node."""
    groups: list[_Group] = []
    groups_by_node: dict[Node, _Group] = {}
    returned = set(func.outputs)
    for node in func.nodes:
        callee = node.callee
        if callee is None or callee.kind != encoding.CALL_TIR or len(node.results) != 1 or not is_exact(node):
            continue
        mine = facts[callee.callee]
        group = _group_to_join(func, node, mine, groups_by_node, returned)
        if group is None:
            groups.append(group := _Group(mine.kind))
        elif mine.kind in (FunctionKind.ROWS, FunctionKind.PRODUCT):
            group.kind = mine.kind
        if group.kind is FunctionKind.POINTWISE:
            _take_pointwise(group, _groups_before(func, node, mine, groups_by_node, returned), groups, groups_by_node)
        _take_widened(func, node, mine, group, groups, groups_by_node)
        _take_dequantized(func, node, mine, group, groups, groups_by_node)
        group.nodes.append(node)
        groups_by_node[node] = group
    return groups


def _take_pointwise(
    group: _Group, others: list[_Group], groups: list[_Group], groups_by_node: dict[Node, _Group]
) -> None:
    """Let other pointwise groups, whose results one node alone uses, join a group: `a * b + c * d` is one function."""
    for other in others:
        if other is not group and other in groups and len(group.nodes) + len(other.nodes) < MOST_NODES:
            groups.remove(other)
            group.nodes += other.nodes
            groups_by_node |= dict.fromkeys(other.nodes, group)


def _take_widened(
    func: TensorFunc,
    node: Node,
    facts: FunctionFacts,
    group: _Group,
    groups: list[_Group],
    groups_by_node: dict[Node, _Group],
) -> None:
    """Let what widens another operand of a node, element by element and for it alone, join its group: arrays between
    functions are the short ones.

    lv = R.call_tir(cls.dense, (x, w))             def fused(x, w, y_int8): dense, dequantize, add
    lv1 = R.call_tir(cls.dequantize, (y_int8,))
    gv = R.call_tir(cls.add, (lv, lv1))       ->   gv = cls.fused(x, w, y_int8)
    """
    for number in sorted(facts.aligned):
        other = node_of(node.inputs[number])
        before = groups_by_node.get(other) if other is not None else None
        if other is None or before is None or before is group or group.kind is not FunctionKind.PRODUCT:
            continue
        if before.nodes[-1] != other or len(group.nodes) >= MOST_NODES - 1 or not _grows(func, other):
            continue
        before.nodes.remove(other)
        if not before.nodes:
            groups.remove(before)
        group.nodes.append(other)
        groups_by_node[other] = group


def _take_dequantized(
    func: TensorFunc,
    node: Node,
    facts: FunctionFacts,
    group: _Group,
    groups: list[_Group],
    groups_by_node: dict[Node, _Group],
) -> None:
    """Let the nodes that compute the keys or the values of an attention from fewer bytes, and for it alone, join it.

    lv = R.call_tir(cls.astype, (keys_int8,))         def fused(q, keys_int8, scales, ..): astype, multiply, attention
    lv1 = R.call_tir(cls.multiply, (lv, scales))
    gv = R.call_tir(cls.attention, (q, lv1, ..))  ->  gv = cls.fused(q, keys_int8, scales, ..)
    """
    for number in sorted(facts.copied):
        other = node_of(node.inputs[number])
        before = groups_by_node.get(other) if other is not None else None
        if other is None or before is None or before is group or before.nodes[-1] != other:
            continue
        if before.kind is FunctionKind.POINTWISE and _only_for(func, before.nodes, node) and _fewer(func, before.nodes):
            groups.remove(before)
            group.nodes += before.nodes
            groups_by_node |= dict.fromkeys(before.nodes, group)


def _only_for(func: TensorFunc, nodes: list[Node], reader: Node) -> bool:
    """Whether nothing but these nodes and a reader of the last one, once, uses their results."""
    inner_ops = [node.op for node in nodes]
    uses = [use.owner for node in nodes for result in node.results for use in result.uses]
    apart = [owner for owner in uses if owner not in inner_ops]
    outputs = set(func.outputs)
    return apart == [reader.op] and not any(result in outputs for node in nodes for result in node.results)


def _fewer(func: TensorFunc, nodes: list[Node]) -> bool:
    """Whether what nodes read takes fewer bytes than the result of the last one."""
    inner_values = {result for node in nodes for result in node.results}
    read = {v for node in nodes for v in node.inputs if v not in inner_values}
    return sum(_bytes(func.type_of(v)) for v in read) < sum(map(_bytes, nodes[-1].types))


def _bytes(type_: TensorType) -> int:
    """The bytes of a tensor; symbolic sizes count as large ones."""
    size = byte_size(type_)
    return size_code.value(size, dict.fromkeys(size_code.symbols(size), LARGE))


def _widen_for_each(func: TensorFunc) -> None:
    """Give each reader of a widened weight a node of its own, so that each can be fused with it.

    lv = R.call_tir(cls.astype, (w_int8,))              lv = R.call_tir(cls.astype, (w_int8,))
    lv1 = R.call_tir(cls.dense, (x, lv))          ->    lv1 = R.call_tir(cls.dense, (x, lv))
    lv2 = R.call_tir(cls.dense, (y, lv))                lv2_1 = R.call_tir(cls.astype, (w_int8,))
                                                        lv2 = R.call_tir(cls.dense, (y, lv2_1))
    """
    for node in func.nodes:
        if not widens_weights(func, node):
            continue
        for use in list(node.results[0].uses)[1:]:
            reader = use.owner
            with ir.InsertionPoint(reader):
                copy = node.op.clone()
            reader.operands[use.operand_number] = copy.results[0]


def widens_weights(func: TensorFunc, node: Node) -> bool:
    """Whether a node computes more bytes from weights than they have."""
    weights = all(isinstance(v, ir.BlockArgument) and func.weight(ir.BlockArgument(v).arg_number) for v in node.inputs)
    if len(node.results) != 1 or not node.inputs or not weights:
        return False
    sizes = [byte_size(t) for t in (*map(func.type_of, node.inputs), *node.types)]
    return all(isinstance(s, int) for s in sizes) and sum(map(int, sizes[:-1])) < int(sizes[-1])


def _group_to_join(
    func: TensorFunc, node: Node, facts: FunctionFacts, groups_by_node: dict[Node, _Group], returned: set[ir.Value]
) -> _Group | None:
    """The group that a node joins: that of a product among its inputs before others."""
    options = []
    if facts.kind is FunctionKind.PRODUCT:
        defining = [n for v in node.inputs if (n := node_of(v)) is not None and n in groups_by_node]
        return next(
            (
                groups_by_node[n]
                for n in defining
                if widens_weights(func, n) or _spreads(func, n, groups_by_node[n], node)
            ),
            None,
        )
    options = _groups_before(func, node, facts, groups_by_node, returned)
    return min(options, key=lambda g: g.kind is not FunctionKind.PRODUCT, default=None)


def _groups_before(
    func: TensorFunc, node: Node, facts: FunctionFacts, groups_by_node: dict[Node, _Group], returned: set[ir.Value]
) -> list[_Group]:
    """The groups that a node may join: those of inputs that it alone uses, element by element."""
    options = []
    for number in sorted(facts.aligned):
        value = node.inputs[number]
        defining = node_of(value)
        group = groups_by_node.get(defining) if defining is not None else None
        if group is None or value in returned or not _only_here(node, value, facts) or len(group.nodes) >= MOST_NODES:
            continue
        if defining is not None and _names_sizes(func, defining):
            continue
        is_epilogue = facts.kind is FunctionKind.POINTWISE and group.kind in _TAKES_AFTER
        if is_epilogue or (facts.kind in _TAKES_BEFORE and group.kind is FunctionKind.POINTWISE):
            options.append(group)
    return options


def _only_here(node: Node, value: ir.Value, facts: FunctionFacts) -> bool:
    """Whether nothing but a node uses a value, element by element wherever it reads it: `multiply(x, x)`."""
    alone = all(use.owner == node.op for use in value.uses)
    return alone and all(n in facts.aligned for n, other in enumerate(node.inputs) if other == value)


_SUMMED_AS = {"int8": ["int32"], "uint8": ["int32"], **{t: [t, "float32"] for t in ("bfloat16", "float16")}}
"""The types of products of short numbers that are summed in a wider type."""


def _spreads(func: TensorFunc, node: Node, group: _Group, reader: Node) -> bool:
    """Whether a node alone copies short numbers to more positions, as patches of images, for one product of them."""
    (result,) = node.types
    short = reader.types[0].dtype in _SUMMED_AS.get(result.dtype, ()) and len(group.nodes) == 1
    return short and group.kind is FunctionKind.POINTWISE and _grows(func, node)


def _grows(func: TensorFunc, node: Node) -> bool:
    """Whether the only use of a result is one, and it takes more bytes than what it is computed from."""
    sizes = [byte_size(t) for t in (*map(func.type_of, node.inputs), *node.types)]
    once = sum(1 for _ in node.results[0].uses) == 1 and node.results[0] not in func.outputs
    return once and all(isinstance(s, int) for s in sizes) and sum(map(int, sizes[:-1])) < int(sizes[-1])


def _names_sizes(func: TensorFunc, node: Node) -> bool:
    """Whether a function has a size from its result, as `arange(n)`, or (n + 1) -> (n): its result is not a buffer of
    another one."""
    named = sources([*(func.type_of(v).shape for v in node.inputs), *(t.shape for t in node.types)])
    names = {name for t in node.types for size in t.shape for name in size_code.symbols(size)}
    return any(name not in named or named[name].tensor >= len(node.inputs) for name in names)


def _outline(graph: Graph, func: TensorFunc, nodes: list[Node], group_names: dict[Hashable, str]) -> None:
    """Move nodes to a private function, and call it instead of the last one."""
    internal = {r for node in nodes for r in node.results}
    inputs = list(dict.fromkeys(v for node in nodes for v in node.inputs if v not in internal))
    module, key, outputs = graph.module.mlir, _key(func, nodes, inputs), nodes[-1].results
    if key not in group_names:
        callees = [_NUMBERED.sub("", c.callee) for node in nodes if (c := node.callee) is not None]
        names = {value: f"x{number}" for number, value in enumerate(inputs)}
        group = group_of(module, func, "_".join(["fused", *callees])[:80], nodes, names, outputs)
        attrs.put(group.op, attrs.ATTRS, {"Primitive": True})
        group_names[key] = group.name
    call_group(func, tensor_func(module, group_names[key]), nodes, inputs, outputs)


def _key(func: TensorFunc, nodes: list[Node], inputs: list[ir.Value]) -> Hashable:
    """What a group computes: equal for groups that can share a function."""
    slots: dict[ir.Value, tuple[str, int]] = {v: ("input", n) for n, v in enumerate(inputs)}
    slots |= {node.results[0]: ("call", n) for n, node in enumerate(nodes)}
    calls = [(c.name, tuple(slots[v] for v in node.inputs)) for node in nodes if (c := node.callee) is not None]
    return tuple(calls), tuple(func.type_of(v) for v in inputs)
