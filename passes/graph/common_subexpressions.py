"""Compute equal nodes once."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.graph import Node, TensorFunc, encoding


def merge_equal_nodes(func: TensorFunc) -> int:
    """Replace each node that computes what an earlier one did. Returns the number of nodes that were replaced.

        %0 = call @nn.relu(%x)                    %0 = call @nn.relu(%x)
        %1 = call @nn.relu(%x)             ->     linalg.add ins(%0, %0)
        linalg.add ins(%0, %1)

    The replaced nodes are dead. Calls of packed functions are left alone.
    """
    known: dict[Any, Node] = {}
    merged = 0
    for node in func.nodes:
        if node.kind == encoding.PACKED:
            continue
        first = known.setdefault(_key(node), node)
        if first is not node:
            merged += 1
            for old, new in zip(node.results, first.results, strict=True):
                old.replace_all_uses_with(new)
    return merged


def _key(node: Node) -> Any:
    """What a node computes: its op, its callee or value, and its inputs."""
    facts = node.op.attributes
    what = next((facts[name] for name in ("callee", "value", encoding.OP) if name in facts), None)
    return node.op.name, what, tuple(node.inputs), tuple(r.type for r in node.results)
