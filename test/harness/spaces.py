"""Random points of spaces of schedules: every one must be a legal schedule of the same program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from tir_mlir import Schedule, build
from tir_mlir.tune.spaces.deciders import Recording


class AnyPoint:
    """Decides everything at random, all candidates equally likely."""

    def __init__(self, seed: int):
        self.random = Random(seed)

    def choose(self, name: str, candidates: Sequence[int], weights: Sequence[float]) -> int:
        return self.random.randrange(len(candidates))


def check_points(
    program: Any,
    space: Callable[[Schedule], Any],
    inputs: Sequence[np.ndarray],
    expected: np.ndarray,
    points: int = 4,
    rtol: float = 0,
) -> set[str]:
    """Run random points of a space on arrays and compare the last parameter with what is expected.

    Returns the names of the decisions that were met.
    """
    names: set[str] = set()
    for seed in range(points):
        decider = Recording(AnyPoint(seed))
        sch = Schedule(program, decider=decider)
        space(sch)
        out = np.full(expected.shape, 99, expected.dtype)
        name = next(iter(sch.mod.functions))
        build(sch)[name](*(x.copy() for x in inputs), out)
        message = f"seed {seed}: {decider.decisions}"
        if rtol:
            np.testing.assert_allclose(out, expected, rtol=rtol, atol=rtol, err_msg=message)
        else:
            np.testing.assert_array_equal(out, expected, err_msg=message)
        names |= set(decider.decisions)
    return names
