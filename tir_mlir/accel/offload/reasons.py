"""Why nodes of a graph stay on the CPU."""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.rewrite import NodeCall


@dataclass(frozen=True)
class Waste:
    """What a convolution in groups costs. together: groups that are computed at once, with zeros for each other;
    cycles: of the machine; on_cpu: of the CPU, counted so, too."""

    groups: int
    together: int
    cycles: int
    on_cpu: float

    @property
    def pays(self) -> bool:
        """Whether the machine is the faster one."""
        return self.cycles <= self.on_cpu

    def __str__(self) -> str:
        zeros = f"{self.together - 1} of {self.together} products with zeros, " if self.together > 1 else ""
        taken = f"{self.together} of {self.groups} groups at once: {zeros}{self.cycles} cycles"
        return f"{taken}, {'fewer' if self.pays else 'more'} than {round(self.on_cpu)} on the CPU"


_NOT_GIVEN = "not a product or a convolution"
_KINDS = {
    OperatorKind.ELEMENTWISE: f"elementwise, {_NOT_GIVEN}",
    OperatorKind.ROWS: f"row-wise, {_NOT_GIVEN}",
    OperatorKind.REDUCTION: f"a reduction, {_NOT_GIVEN}",
    OperatorKind.POOL: f"a pool, {_NOT_GIVEN}",
    OperatorKind.VIEW: "it moves no element",
}
_MOVES = ("permute_dims", "nn.pad", "concat", "strided_slice", "take", "nn.patches", "broadcast_to", "split")


def reason_of(call: NodeCall) -> str:
    """Why a node that is not given to machines stays on the CPU."""
    name = call.op.short
    if name == "nn.attention":
        return "products of floats in one operator; fix: calibrate with symmetric=True, which makes two of integers"
    if name in ("quantize", "round_to"):
        return "it rounds what no layer before it makes"
    if name in ("dequantize", "astype"):
        return "it makes floats of integers"
    return f"it moves elements, {_NOT_GIVEN}" if name in _MOVES else _KINDS.get(kind_of(name), _NOT_GIVEN)
