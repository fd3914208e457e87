"""Operators that write to their operand, where nothing else shares its memory."""

from __future__ import annotations

from typing import Any

# Their results share memory with no operand. Torch's schema does not say so of every operator (dropout, pad).
_FRESH = frozenset(
    "linear conv1d conv2d conv3d batch_norm layer_norm group_norm add sub mul div relu gelu silu hardtanh hardswish "
    "hardsigmoid sigmoid tanh leaky_relu elu matmul mm bmm addmm cat stack max_pool2d avg_pool2d adaptive_avg_pool2d "
    "softmax exp sqrt rsqrt neg conv_transpose2d embedding sum mean".split()
)


def writes_are_simple(graph: Any) -> bool:
    """Whether every write is of an operator `x_` to a value that only operators with fresh results used before: then
    later uses of x are uses of the result, and nothing else sees the write."""
    order = {node: at for at, node in enumerate(graph.nodes)}
    return all(_simple(node, order) for node in graph.nodes if node.op == "call_function" and _writes(node))


def _writes(node: Any) -> bool:
    """Whether a node writes to an operand, or runs a graph of its own (a region without gradients, say)."""
    schema = getattr(node.target, "_schema", None)
    return schema.is_mutable if schema is not None else node.target.__class__.__module__.startswith("torch")


def _simple(node: Any, order: dict[Any, int]) -> bool:
    if not _short(node.target)[1] or list(node.args).count(node.args[0]) != 1:
        return False
    operand = node.args[0]
    before = [user for user in operand.users if order[user] < order[node]]
    return _fresh(operand) and all(map(_fresh, before))


def _fresh(node: Any) -> bool:
    return node.op == "call_function" and _short(node.target)[0] in _FRESH


def _short(target: Any) -> tuple[str, bool]:
    """("relu", True) of aten.relu_.default: the name, and whether it is the form that writes."""
    parts = str(target).split(".")
    name = parts[1] if len(parts) == 3 and parts[0] == "aten" else ""
    return (name[:-1], True) if name.endswith("_") and not name.endswith("__") else (name, False)
