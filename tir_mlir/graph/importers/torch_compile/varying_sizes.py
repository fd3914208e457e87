"""The sizes of a graph of TorchDynamo that vary, and whether arguments have sizes that a program is made for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch


@dataclass
class VaryingSizes:
    """axes: of each tensor, by position, the axes that vary. read: for each input that is a size, a tensor and an axis
    that have it. may_be_one: whether one program for all sizes has not failed yet."""

    axes: Mapping[int, Sequence[int]]
    read: Mapping[int, tuple[int, int]]
    may_be_one: bool = True

    def dims(self, position: int, tensor: torch.Tensor) -> dict[int, Any]:
        """What torch.export gets to know about a tensor."""
        return {axis: torch.export.Dim.AUTO for axis in self.axes.get(position, ()) if tensor.shape[axis] > 1}

    def check(self, program: Any, positions: Sequence[int]) -> Callable[[Sequence[Any]], bool]:
        """Whether arguments have sizes that a program is made for. positions: of its inputs among the arguments."""
        nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        values = [nodes[name].meta["val"] for name in program.graph_signature.user_inputs]
        sizes = [(n, a, size) for n, value in zip(positions, values, strict=True) for a, size in enumerate(value.shape)]
        exprs = [(n, a, size if isinstance(size, int) else size.node.expr) for n, a, size in sizes]
        fixed = [(n, a, int(expr)) for n, a, expr in exprs if isinstance(expr, int) or expr.is_Integer]
        named = [(n, a, expr) for n, a, expr in exprs if not isinstance(expr, int) and not expr.is_Integer]
        if not all(expr.is_Symbol for _, _, expr in named):
            return lambda _: False
        limits = {s: (int(r.lower), int(r.upper) if r.upper.is_Integer else None) for s, r in _ranges(program)}

        def fits(args: Sequence[Any]) -> bool:
            if any(args[n].shape[a] != size for n, a, size in fixed):
                return False
            values: dict[Any, int] = {}
            if any(values.setdefault(symbol, args[n].shape[a]) != args[n].shape[a] for n, a, symbol in named):
                return False
            pairs = [(limits[symbol], size) for symbol, size in values.items() if symbol in limits]
            return all(least <= size and (end is None or size <= end) for (least, end), size in pairs)

        return fits


def _ranges(program: Any) -> list[tuple[Any, Any]]:
    return [(s, r) for s, r in program.range_constraints.items() if s.is_Symbol and r.lower.is_Integer]


def varying_sizes(traced: Sequence[Any]) -> VaryingSizes | None:
    """The sizes that vary among inputs as TorchDynamo traced them; None if there are none. One that no tensor has
    cannot be read: then graphs are compiled for each combination."""
    axes: dict[int, list[int]] = {}
    first: dict[Any, tuple[int, int]] = {}
    for position, value in enumerate(traced):
        for axis, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            if isinstance(size, torch.SymInt):
                axes.setdefault(position, []).append(axis)
                first.setdefault(size.node.expr, (position, axis))
    numbers = {n: value.node.expr for n, value in enumerate(traced) if isinstance(value, torch.SymInt)}
    if not axes and not numbers:
        return None
    read = {n: first[expr] for n, expr in numbers.items() if expr in first}
    return VaryingSizes(axes, read, len(read) == len(numbers))


@dataclass(frozen=True)
class FloatInput:
    """Instead of a tensor that TorchDynamo made of a float: the graph reads it by `item()`."""

    value: float

    def item(self) -> float:
        return self.value


def numbers_among(graph_module: torch.fx.GraphModule) -> list[int]:
    """The positions of inputs that are floats, passed as tensors that the graph only reads by `item()`."""
    placeholders = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    return [n for n, node in enumerate(placeholders) if node.users and all(map(_reads_number, node.users))]


def _reads_number(user: torch.fx.Node) -> bool:
    value = user.args[0].meta.get("example_value") if isinstance(user.args[0], torch.fx.Node) else None
    is_float = isinstance(value, torch.Tensor) and value.dim() == 0 and value.dtype == torch.float64
    return user.op == "call_method" and user.target == "item" and is_float
