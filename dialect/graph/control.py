"""Branches and loops of graphs: functions without a body whose regions are graphs of their own.

func.func private @branch(tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
    attributes {graph.kind = "branch", graph.regions = ["then", "otherwise"]}
func.func private @then(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.kind = "region"} {...}
%y = call @branch(%p, %x) {graph.names = ["y"]}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mlir import ir

from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.graph.create import declare_private
from tir_mlir.dialect.graph.views import TensorFunc
from tir_mlir.dialect.ir import attrs


@dataclass(frozen=True)
class LoopFacts:
    """What a loop does, of which these are the inputs and results:

    inputs: [steps,] [condition,] carried..., scanned..., what the body reads besides
    body: (step, carried..., a row of each scanned..., besides...) -> [condition,] carried..., rows...
    results: carried..., stacked rows...

    steps: their number, at most: a number, a size, or None where only the condition or an input tells it. given: that
    the first input is the number of steps. tests: whether a condition is tested before each step; the first value of it
    is an input, the next ones the body returns. carried, scanned: how many. backward: from the last row to the first.
    """

    carried: int
    scanned: int = 0
    steps: int | str | None = None
    given: bool = False
    tests: bool = False
    backward: bool = False

    @property
    def first_carried(self) -> int:
        """The number of inputs before those that are carried."""
        return self.given + self.tests

    @staticmethod
    def from_func(func: TensorFunc) -> LoopFacts:
        """The facts of a loop."""
        facts: dict[str, Any] = dict(attrs.get(func.op, encoding.ATTRS))
        return LoopFacts(**facts)

    def attributes(self) -> dict[str, Any]:
        """The facts that are not as usual, by name."""
        usual = asdict(LoopFacts(0))
        return {"carried": self.carried} | {n: v for n, v in asdict(self).items() if v != usual[n] and n != "carried"}


def control(
    module: ir.Module,
    name: str,
    regions: Sequence[str],
    inputs: Sequence[ir.Type],
    results: Sequence[ir.Type],
    loop: LoopFacts | None = None,
) -> TensorFunc:
    """Declare a branch, or a loop of one region. A name that is taken is numbered."""
    declaration = declare_private(module, name, inputs, results)
    attrs.put(declaration, encoding.KIND, encoding.BRANCH if loop is None else encoding.LOOP)
    attrs.put(declaration, encoding.REGIONS, list(regions))
    if loop is not None:
        attrs.put(declaration, encoding.ATTRS, loop.attributes())
    return TensorFunc(declaration)


def passed_inputs(region: TensorFunc) -> list[int]:
    """The numbers of the inputs of a region that are no weights."""
    return [number for number in range(len(region.inputs)) if region.weight(number) is None]
