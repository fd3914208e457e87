"""What the tables of torch's operators are written with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.aten.torch_types import TorchSizes, dtype_name
from tir_mlir.graph.fronts.emitter import Emitter


class TorchEmitter(Emitter):
    """An emitter that knows which result torch gives for the node that is translated.

    `shape`, `dtype`: of the result, or of the first of several.
    """

    def __init__(self, builder: Any, sizes: TorchSizes):
        super().__init__(builder)
        self.sizes = sizes
        self.node: Any = None
        self.inputs: list[Any] = []  # those of the graph that are no weights

    def op(self, operator: str, *operands: Any, **attrs: Any) -> Any:
        """One operator, with its result named after the node."""
        hint = {} if self.node is None else {"name_hint": self.node.name}
        return super().op(operator, *operands, **hint, **attrs)

    @property
    def results(self) -> list[Any]:
        """What torch says of the results: tensors without data."""
        value = self.node.meta.get("val", ())
        return list(value) if isinstance(value, (tuple, list)) else [value]

    @property
    def shape(self) -> tuple[int | str, ...]:
        return self.sizes.shape(self.results[0])

    @property
    def dtype(self) -> str:
        return dtype_name(self.results[0].dtype)

    def common_dtype(self) -> str:
        """The type that torch converts the operands of this node to, before it compares them, say."""
        import torch

        values = [a.meta["val"] if isinstance(a, torch.fx.Node) else a for a in self.node.args[:2]]
        return dtype_name(torch.result_type(*values))

    def carriers(self, sizes: Sequence[str]) -> list[Any]:
        """Inputs of the graph that have the names in these sizes among their own."""
        names = dict.fromkeys(name for size in sizes for name in re.findall(r"[A-Za-z_]\w*", size))
        found = {name: next((x for x in self.inputs if name in x.shape), None) for name in names}
        if missing := [name for name, x in found.items() if x is None]:
            raise GraphError(
                f"the size {missing[0]} is no dimension of an input\n  fix: pass it as one, or make it static"
            )
        return [x for n, x in enumerate(found.values()) if all(x is not y for y in list(found.values())[:n])]
