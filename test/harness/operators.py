"""Operators of `topi` built and run on arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tir_mlir import Schedule, build, schedules, te

Shape = Sequence[Any]


def random(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """Normal floats, or integers from -5 to 5 (0 to 1 for bool, 0 to 5 without sign)."""
    rng = np.random.default_rng(seed + sum(shape))
    if "float" in dtype:
        return rng.standard_normal(shape).astype(dtype)
    low, high = (0, 2) if dtype == "bool" else (0, 6) if dtype.startswith("u") else (-5, 6)
    return rng.integers(low, high, shape).astype(dtype)


def placeholders(arrays: Sequence[np.ndarray], shapes: Sequence[Shape | None] | None = None) -> list[te.Tensor]:
    """A te tensor for each array; a str in `shapes` is the size of that name."""
    sizes: dict[str, te.Var] = {}
    given = shapes or [None] * len(arrays)
    made = []
    for number, (array, shape) in enumerate(zip(arrays, given, strict=True)):
        known = [sizes.setdefault(s, te.var(s)) if isinstance(s, str) else s for s in shape or array.shape]
        made.append(te.placeholder(tuple(known), str(array.dtype), name=f"x{number}"))
    return made


def run(
    function: Callable[..., Any],
    *arrays: np.ndarray,
    shapes: Sequence[Shape | None] | None = None,
    like: Any = None,
    scheduled: bool = True,
    **attrs: Any,
) -> Any:
    """The result of an operator, scheduled by `schedules.auto` (a warning is an error), as an array or several.

    shapes: of the operands with names of sizes; like: arrays of the shapes of the results, if these are symbolic;
    scheduled: whether to schedule it at all.
    """
    inputs = placeholders(arrays, shapes)
    made = function(*inputs, **attrs)
    several = isinstance(made, (list, tuple))
    wanted = None if like is None else like if several else [like]
    outs = build_and_run(inputs, list(made) if several else [made], arrays, wanted, scheduled)
    return outs if several else outs[0]


def build_and_run(
    inputs: list[te.Tensor],
    results: list[te.Tensor],
    arrays: Sequence[np.ndarray],
    like: Sequence[Any] | None = None,
    scheduled: bool = True,
) -> list[np.ndarray]:
    """The arrays of results, of the shapes of `like` if theirs are symbolic."""
    sch = Schedule(te.create_prim_func([*inputs, *results]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if scheduled:
            schedules.auto(sch, threads=1)
    shapes = [t.shape for t in results] if like is None else [np.shape(w) for w in like]
    outs = [np.full(shape, 1, t.dtype) for shape, t in zip(shapes, results, strict=True)]
    build(sch)(*arrays, *outs)
    return outs


def picked(function: Callable[..., Any], *shapes: Shape, dtype: str = "float32", **attrs: Any) -> list[str | None]:
    """The schedules that `auto` picks for the blocks of an operator, in order."""
    sizes: dict[str, te.Var] = {}
    inputs = [
        te.placeholder(tuple(sizes.setdefault(s, te.var(s)) if isinstance(s, str) else s for s in shape), dtype)
        for shape in shapes
    ]
    made = function(*inputs, **attrs)
    results = list(made) if isinstance(made, (list, tuple)) else [made]
    sch = Schedule(te.create_prim_func([*inputs, *results]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return list(schedules.auto(sch, threads=1).values())
