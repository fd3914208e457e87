"""What becomes of the results of a call: those whose sizes data decide on are cut, checks are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.graph import size_code
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.graph.memory.data_sizes import is_data_dependent

if TYPE_CHECKING:
    from tir_mlir.graph.memory.frames import Array, Runner


def slicing_caller(
    run: Runner,
    plan: ExecutionPlan,
    counts: Mapping[str, int],
    sizes: Mapping[str, int],
    count: int,
) -> Runner:
    """A function of the inputs that returns what `run` does, without the counts at its end, and each result in its own
    shape. counts: the number of the result that has a size, by name; sizes: the values of the others; count: of results
    that are returned. The results are written to memory for the greatest sizes."""
    cut = [is_data_dependent(type_, plan.bounds) for type_ in plan.outputs[:count]]

    def call(args: Sequence[Array]) -> Array | tuple[Array | None, ...]:
        outs = run(args)
        all_sizes = {**sizes, **{name: int(outs[number]) for name, number in counts.items()}}
        results = tuple(
            _cut(out, type_.shape, all_sizes) if is_cut else out
            for out, type_, is_cut in zip(outs, plan.outputs, cut, strict=False)
        )
        return results if len(results) != 1 else results[0]

    return call


def checking_caller(run: Runner, name: str, checks: Sequence[str], count: int) -> Runner:
    """A function of the inputs that returns the first `count` results of `run`, of which the last is a vector of bool.
    It raises ArgumentError with the text of the first one that is false."""

    def call(args: Sequence[Array]) -> Array | tuple[Array | None, ...]:
        outs = run(args)
        *results, vector = outs if isinstance(outs, tuple) else (outs,)
        for held, text in zip(vector, checks, strict=True):
            if not held:
                raise ArgumentError(f"{name}: a check of the model fails for these inputs\n    {text}")
        return tuple(results) if count != 1 else results[0]

    return call


def with_nones(run: Runner, positions: Sequence[int]) -> Runner:
    """A function of the inputs that returns a tuple of what `run` returns, with None at these positions."""

    def call(args: Sequence[Array]) -> Array | tuple[Array | None, ...]:
        outs = run(args)
        results = list(outs) if isinstance(outs, tuple) else [outs]
        for position in positions:
            results.insert(position, None)
        return tuple(results)

    return call


def _cut(out: Array, shape: Sequence[size_code.Size], sizes: Mapping[str, int]) -> Array:
    """The elements that there are, in their shape: a view."""
    extents = [size_code.value(size, sizes) for size in shape]
    return out[: prod(extents)].reshape(extents)
