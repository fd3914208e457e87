"""The loop that grows when the domain of an iter is padded."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import Block, Index, Iter, Loop, loops_above
from tir_mlir.dialect.presburger import dim_factors


@dataclass(frozen=True)
class GrowingLoop:
    """The outermost loop of a binding, and how many values of the iter the loops inside it run: 1 if it is alone."""

    loop: Loop
    stride: int

    def extent_for(self, extent: Index) -> Index | None:
        """The extent at which the loops run [0, extent), if it is a whole number of iterations."""
        if self.stride == 1:
            return extent
        size = extent.as_constant()
        return None if size is None or size % self.stride else Index.constant(size // self.stride)


def growing_loop(block: Block, it: Iter) -> GrowingLoop | None:
    """The loop whose extent decides how much of an iter is run: in i_0 * 8 + i_1 with 8 iterations of i_1, loop i_0.

    Loops of one iteration do not count. None for other bindings, and where a guard excludes iterations.
    """
    by_var = {lp.var: lp for lp in loops_above(block.op)}
    units: dict[ir.Value, Index] = {v: lp.lower for v, lp in by_var.items() if lp.const_extent == 1}
    value = it.binding.is_value()
    if value in by_var:
        return GrowingLoop(by_var[value], 1)
    binding = it.binding.substitute(units).simplified()
    terms = dim_factors(binding.expr)
    if terms is None or not terms[0] or terms[1] != 0 or not all(v in by_var for v in binding.values):
        return None
    digits = sorted(((f, by_var[binding.values[n]]) for n, f in terms[0].items()), key=lambda d: d[0])
    if len(digits) == 1:
        factor, loop = digits[0]
        return GrowingLoop(loop, 1) if factor == 1 and loop.upper.same(it.extent) else None
    return _outermost(it, digits)


def _outermost(it: Iter, digits: list[tuple[int, Loop]]) -> GrowingLoop | None:
    """The loop of the greatest factor, if the loops count through the domain of the iter and no further."""
    width = 1
    for factor, loop in digits:
        if factor != width or loop.const_extent is None or loop.lower.as_constant() != 0:
            return None
        width *= loop.const_extent
    return GrowingLoop(digits[-1][1], digits[-1][0]) if it.extent.as_constant() == width else None
