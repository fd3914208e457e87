"""What the tables of torch's operators are written with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tir_mlir.graph.importers.aten.torch_types import TorchSizes, dtype_name
from tir_mlir.graph.importers.emitter import OperatorEmitter
from tir_mlir.graph.importers.random_numbers import RandomState

if TYPE_CHECKING:
    from tir_mlir.graph.builder import GraphBuilder

PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
"""The type of the real and the imaginary part."""


class TorchEmitter(OperatorEmitter):
    """An emitter that knows which result torch gives for the node that is translated.

    `shape`, `dtype`: of the result, or of the first of several. random: what it draws random numbers from. numbers:
    what `item` read.
    """

    def __init__(self, builder: GraphBuilder, sizes: TorchSizes):
        super().__init__(builder)
        self.sizes = sizes
        self.node: Any = None
        self.random: RandomState | None = None
        self.wide: str | None = None  # the type to compute in, where it is not that of the result
        self.numbers: dict[str, Any] = {}  # tensors without axes, by the names that torch gives what `item` reads

    @property
    def name_hint(self) -> str:
        """The name of the node."""
        return "lv" if self.node is None else self.node.name

    @property
    def results(self) -> list[Any]:
        """What torch says of the results: tensors without data."""
        value = self.node.meta.get("val", ())
        return list(value) if isinstance(value, (tuple, list)) else [value]

    def operand(self, position: int) -> Any:
        """What torch says of an operand of the node: a tensor without data."""
        return self.node.args[position].meta["val"]

    @property
    def shape(self) -> tuple[int | str, ...]:
        return self.sizes.shape(self.results[0])

    @property
    def dtype(self) -> str:
        """That of the result; of complex numbers that of their parts. Where `wide` is set, that."""
        if self.wide is not None:
            return self.wide
        return PARTS.get(name := dtype_name(self.results[0].dtype), name)

    def common_dtype(self) -> str:
        """The type that torch converts the operands of this node to, before it compares them, say."""
        import torch

        values = [a.meta["val"] if isinstance(a, torch.fx.Node) else a for a in self.node.args[:2]]
        return dtype_name(torch.result_type(*values))
