"""Parameters packed by the caller: a weight is laid out once, at load time."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from tir_mlir import te
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.runtime.aligned import empty
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info
from tir_mlir.schedules.products.contraction import Contraction, Operand
from tir_mlir.script import PrimFunc


@dataclass(frozen=True)
class Packing:
    """The layout of a packed parameter: panels of `width` along one axis; within a panel, reduction-major.

    `program` copies the parameter `name` of `shape` to `packed_shape`, with zeros after the last column. Calling the
    packing runs it: `packing(b)` returns the packed array, on a boundary of a cache line. adjacent: whether the
    elements of a row of a panel are adjacent in the parameter.
    """

    name: str
    program: PrimFunc
    shape: tuple[int, ...]
    packed_shape: tuple[int, ...]
    dtype: str
    adjacent: bool

    def __call__(self, array: np.ndarray) -> np.ndarray:
        packed = empty(self.packed_shape, self.dtype)
        self._run(array, packed)
        return packed

    @functools.cached_property
    def _run(self) -> Any:
        sch = Schedule(self.program)
        if self.adjacent:
            sch.vectorize(sch.get_loops("packed")[-1])
        return build(sch)


def pack_parameter(sch: Schedule, block: Any, what: Contraction, name: str, rows: int, columns: int) -> Packing:
    """Change the layout of a parameter to panels: `rows` wide if it is the left operand, `columns` wide if the right.

    Raises ScheduleError if it is no parameter that the block reads, or if one of its extents is symbolic.
    """
    operand = _operand(sch, block, what, name)
    shape = tuple(e for e in (what.extent(axis) for axis in operand.axes) if e is not None)
    if len(shape) < len(operand.axes):
        raise ScheduleError(f'packed="{name}": its shape must be constant, as it is packed before the call')
    along, width = (what.n, columns) if operand is what.right else (what.m, rows)
    width = min(width, what.extent(along) or width)
    sch.transform_layout(block, name, _layout(operand, what, along, width), assume_injective_transform=True)
    program, packed_shape = _program(operand, what, along, width, shape)
    return Packing(name, program, shape, packed_shape, operand.dtype, adjacent=operand.axes[-1] == along)


def _operand(sch: Schedule, block: Any, what: Contraction, name: str) -> Operand:
    operand = next((x for x in (what.left, what.right) if x.name == name), None)
    if operand is None:
        raise ScheduleError(f'packed="{name}": the operands are {what.left.name} and {what.right.name}')
    if any(name in map(str, block_info(sch, p).writes) for p in sch.get_producers(block)):
        raise ScheduleError(f'packed="{name}": a block writes it; only a parameter can be packed before the call')
    return operand


def _layout(operand: Operand, what: Contraction, along: str, width: int) -> Any:
    n, k = operand.axes.index(along), operand.axes.index(what.k)
    outer_dims = [d for d in range(len(operand.axes)) if d not in (n, k)]
    return lambda *index: (*(index[d] for d in outer_dims), index[n] // width, index[k], index[n] % width)


def _program(
    operand: Operand, what: Contraction, along: str, width: int, shape: tuple[Any, ...]
) -> tuple[PrimFunc, tuple[int, ...]]:
    """The function that packs an array, and the shape of its result."""
    n, k = operand.axes.index(along), operand.axes.index(what.k)
    outer_dims = [d for d in range(len(shape)) if d not in (n, k)]
    packed_shape = (*(shape[d] for d in outer_dims), -(-shape[n] // width), shape[k], width)
    source = te.placeholder(shape, operand.dtype, name=operand.name)

    def element(*index: Any) -> Any:
        *outer, panel, step, lane = index
        column = panel * width + lane
        by_axis = {**dict(zip(outer_dims, outer, strict=True)), n: column, k: step}
        value = source[tuple(by_axis[d] for d in range(len(shape)))]
        full = shape[n] % width == 0
        return value if full else te.if_then_else(column < shape[n], value, 0.0 if "float" in operand.dtype else 0)

    packed = te.compute(packed_shape, element, name="packed")
    return te.create_prim_func([source, packed]), packed_shape
