"""Checks that forward makes of numbers from data, `torch._check(n.item() > 2)`: they are made after each call."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeGuard

import torch

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.symbolic import names_in, parse
from tir_mlir.graph.builder import Value
from tir_mlir.graph.importers.data_sizes import number_from_data
from tir_mlir.graph.importers.torch_export.export_model import READS
from tir_mlir.graph.importers.torch_export.export_refusals import source_line

if TYPE_CHECKING:
    from tir_mlir.graph.importers.torch_export.from_torch import TorchImporter

_BINARY: dict[Callable[..., object], str] = {
    operator.eq: "equal",
    operator.ne: "not_equal",
    operator.lt: "less",
    operator.le: "less_equal",
    operator.gt: "greater",
    operator.ge: "greater_equal",
    operator.add: "add",
    operator.sub: "subtract",
    operator.mul: "multiply",
    operator.floordiv: "floor_divide",
    operator.mod: "floor_mod",
    operator.and_: "logical_and",
    operator.or_: "logical_or",
}
"""Python's operators of numbers of nodes as operators of graphs."""
_LOGICAL = ("logical_and", "logical_or")


def is_check(node: torch.fx.Node) -> bool:
    """Whether a node raises an error where a condition is false."""
    return str(node.target).split(".")[:2] in (["aten", "_assert_scalar"], ["aten", "_assert_async"])


def is_size(value: object) -> TypeGuard[int | torch.SymInt | torch.SymBool | torch.SymFloat]:
    """Whether what torch says of a node is a number, or a condition of such."""
    return isinstance(value, (int, torch.SymInt, torch.SymBool, torch.SymFloat))


class RunTimeChecks:
    """The checks of one import. values: tensors of one bool by the lines that ask for them.

    Of sizes of inputs alone there are none: these are checked when the model is imported. Warns of a check in a
    branch or a loop, and of one of numbers that a graph does not compute: these are not made.
    """

    def __init__(self, importer: TorchImporter):
        self._importer = importer
        self.values: dict[str, Value] = {}

    def add(self, node: torch.fx.Node) -> None:
        """Note a check of a program."""
        condition, *message = node.args
        text = source_line(node) or str(message[0] if message else node.name)
        if any(self._importer.is_refused(self._importer.values.get(n)) for n in node.all_input_nodes[:1]):
            return
        if node.graph is not self._importer.program.graph_module.graph:
            _warn(text, "it is in a branch or a loop")
            return
        try:
            value = self._condition(condition)
        except TirError as error:
            _warn(text, str(error).partition("\n")[0])
            return
        if value is not None:
            known = self.values.get(text)
            self.values[text] = value if known is None else self._importer.emitter.op("logical_and", known, value)

    def _condition(self, node: object) -> Value | None:
        """A condition as a tensor of one bool; None for one that data have no part in."""
        if isinstance(node, torch.fx.Node) and not is_size(node.meta.get("val")):
            value = self._importer.tensor(node)  # of _assert_async
        else:
            value = self._number(node)
        if not isinstance(value, Value):
            return None
        return self._importer.emitter.reshape(self._importer.emitter.cast(value, "bool"), ())

    def _number(self, node: object) -> Value | float | None:
        """A number or a condition of nodes: a tensor where data decide on it, else a number, or None if it is of sizes
        of inputs. Errors: GraphError."""
        emitter = self._importer.emitter
        if not isinstance(node, torch.fx.Node):
            return node if isinstance(node, int) else None
        if str(node.target) in READS:
            return self._importer.tensor(node.args[0])
        if str(node.target).startswith("aten.sym_size") and isinstance(axis := node.args[1], int):
            return self._size(self._importer.tensor(node.args[0]).shape[axis])
        if node.target in (torch.sym_not, operator.not_):
            return self._emit_binary("equal", self._number(node.args[0]), False)
        if node.target is torch.sym_ite and node.args[1:] == (1, 0):
            return self._number(node.args[0])
        if not isinstance(node.target, str) and node.target in _BINARY:
            left, right = map(self._number, node.args)
            return self._emit_binary(_BINARY[node.target], left, right, node.target)
        value = node.meta.get("val")
        return self._size(emitter.sizes.size(value)) if is_size(value) else None

    def _emit_binary(
        self,
        name: str,
        left: Value | float | None,
        right: Value | float | None,
        function: Callable[..., float] = operator.eq,
    ) -> Value | float | None:
        if left is None or right is None:
            return None
        if not isinstance(left, Value) and not isinstance(right, Value):
            return function(left, right)
        return self._importer.emitter.binary(name, left, right, "bool" if name in _LOGICAL else "int64")

    def _size(self, size: int | str) -> Value | int | None:
        """A size as a tensor where data decide on it."""
        emitter = self._importer.emitter
        if isinstance(size, int):
            return size
        names = names_in(parse(size))
        counted = {str(name) for name in self._importer.builder.counted_sizes()} | set(emitter.numbers)
        return number_from_data(emitter, size, emitter.numbers) if names & counted else None


def _warn(text: str, reason: str) -> None:
    warnings.warn(f"from_torch: a check of the model is not made, as {reason}\n    {text}", stacklevel=2)
