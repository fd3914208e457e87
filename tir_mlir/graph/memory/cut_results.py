"""Results whose sizes data decide on: they are written to memory for the greatest sizes, and cut at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from tir_mlir.graph import size_code
from tir_mlir.graph.memory.data_sizes import depends
from tir_mlir.graph.memory.places import Plan


def cutting(
    run: Callable[[Sequence[Any]], Any], plan: Plan, counts: Mapping[str, int], sizes: Mapping[str, int]
) -> Callable[[Sequence[Any]], Any]:
    """A function of the inputs that returns what `run` does, without the counts at its end, and each result in its own
    shape. counts: the number of the result that has a size, by name; sizes: the values of the others."""
    count = len(plan.outputs) - len(counts)
    cut = [depends(type_, plan.bounds) for type_ in plan.outputs[:count]]

    def call(args: Sequence[Any]) -> Any:
        outs = run(args)
        all_sizes = {**sizes, **{name: int(outs[number]) for name, number in counts.items()}}
        results = tuple(
            _cut(out, type_.shape, all_sizes) if is_cut else out
            for out, type_, is_cut in zip(outs, plan.outputs, cut, strict=False)
        )
        return results if len(results) != 1 else results[0]

    return call


def _cut(out: Any, shape: Sequence[size_code.Size], sizes: Mapping[str, int]) -> Any:
    """The elements that there are, in their shape: a view."""
    extents = [size_code.value(size, sizes) for size in shape]
    return out[: prod(extents)].reshape(extents)
