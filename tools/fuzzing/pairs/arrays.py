"""Inputs and expected outputs of a program, also after a layout change of its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzzing.steps.choice import Arguments
from tir_mlir import IndexMap, Schedule
from tir_mlir.dialect.ir import Buffer, Index, enter_context, funcs
from tir_mlir.interpreter import is_poison

Arrays = list[np.ndarray]


def same(got: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    """Assert element-wise equality; poison equals nothing."""
    for number, (one, other) in enumerate(zip(got, expected, strict=True)):
        assert one.shape == other.shape, f"parameter {number} has the shape {one.shape}, expected {other.shape}"
        for at in np.ndindex(other.shape):
            if is_poison(one[at]) or one[at] != other[at]:
                raise AssertionError(f"parameter {number} at {list(at)}: {one[at]}, expected {other[at]}")


def transformed(sch: Schedule, name: str, arguments: Arguments) -> str:
    """Return the name of the buffer whose layout a step transforms; "" for none."""
    if name != "transform_layout":
        return ""
    block, which = arguments[0][:2]
    if isinstance(which, str):
        return which
    info: Any = sch.get(block)
    regions = info.reads if which[0] == "read" else info.writes
    return regions[which[1]].buffer.name if 0 <= which[1] < len(regions) else ""


def laid_out(held: Arrays, number: int, arguments: Arguments, sch: Schedule, size: int) -> Arrays:
    """Return the arrays after a step that transformed the layout of parameter `number`."""
    return [*held[:number], moved(held[number], arguments, shape_now(sch, number, size)), *held[number + 1 :]]


def shape_now(sch: Schedule, number: int, size: int) -> list[int]:
    """Return the shape of a parameter for `n` = `size`."""
    with enter_context():
        dims = Buffer(funcs(sch.mod.mlir)[0].args[number]).dims
        known = [d.substitute({v: Index.constant(size) for v in d.values}).simplify().as_constant() for d in dims]
    return [n for n in known if n is not None]


def moved(array: np.ndarray, arguments: Arguments, shape: list[int]) -> np.ndarray:
    """Return an array in the transformed layout; positions without an element get the pad value, else 0."""
    map_, pad = arguments[0][2], arguments[1].get("pad_value", 0)
    result = np.zeros(shape, array.dtype)
    for at in np.ndindex(result.shape):
        value = pad.map_indices(list(at))[0] if isinstance(pad, IndexMap) else pad
        result[at] = np.array(value).astype(array.dtype)
    for at in np.ndindex(array.shape):
        result[tuple(map_.map_indices(list(at)))] = array[at]
    return result
