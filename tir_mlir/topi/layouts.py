"""Layouts: the order of the axes of images and weights, `NCHW`, `NHWC`, `OIHW`, with blocks of channels `NCHW16c`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tir_mlir import te
from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.topi.operands import describe_tensor, refuse
from tir_mlir.topi.sizes import exact_quotient, simple


@dataclass(frozen=True)
class BlockedPosition:
    """A position as outer * factor + inner."""

    outer: te.Expr
    inner: te.Expr
    factor: int


Position: TypeAlias = te.Size | BlockedPosition


def flat_position(position: Position) -> te.Size:
    """A position as one number."""
    return position.outer * position.factor + position.inner if isinstance(position, BlockedPosition) else position


@dataclass(frozen=True)
class TensorLayout:
    """Axes of a tensor: letters, a lower-case one for a block of that axis, with its size in `factors`."""

    text: str
    axes: tuple[str, ...]
    factors: Mapping[str, int]

    def sizes(self, op: str, name: str, x: te.Tensor) -> dict[str, te.Size]:
        """The size of each letter for a tensor; checks its rank and its blocks."""
        if x.ndim != len(self.axes):
            problem = f"{describe_tensor(name, x)} has {x.ndim} axes"
            raise refuse(op, problem, f"{self.text} has {len(self.axes)}: reshape it, or name its layout")
        by_letter: dict[str, te.Size] = {}
        for axis, size in zip(self.axes, x.shape, strict=True):
            if axis.islower() and size != self.factors[axis.upper()]:
                problem = (
                    f"{describe_tensor(name, x)} in {self.text}: its blocks of {axis.upper()} have {size} elements"
                )
                raise refuse(op, problem, f"name the layout with {size}{axis}")
            if axis.isupper():
                by_letter[axis] = simple(size * self.factors.get(axis, 1))
        return by_letter

    def shape(self, op: str, sizes: Mapping[str, te.Size]) -> tuple[te.Size, ...]:
        """The shape of a tensor with the size of each letter."""
        result: list[te.Size] = []
        for axis in self.axes:
            factor = self.factors.get(axis.upper(), 1)
            outer = sizes[axis.upper()] if factor == 1 else exact_quotient([sizes[axis.upper()]], [factor])
            if outer is None:
                problem = f"{sizes[axis.upper()]} of {axis.upper()} in {self.text}"
                raise refuse(op, problem, f"use blocks that divide them, or a layout without blocks of {axis.upper()}")
            result.append(factor if axis.islower() else outer)
        return tuple(result)

    def index(self, positions: Mapping[str, Position]) -> tuple[te.Size, ...]:
        """The index of the element at a position of each letter: a number, an expression or a `Blocked`."""
        return tuple(self._coordinate(axis, positions[axis.upper()]) for axis in self.axes)

    def _coordinate(self, axis: str, value: Position) -> te.Size:
        factor = self.factors.get(axis.upper())
        if isinstance(value, BlockedPosition):
            if value.factor == factor:
                return value.inner if axis.islower() else value.outer
            value = flat_position(value)
        if factor is None:
            return value
        return value % factor if axis.islower() else value // factor

    def positions(self, index: Sequence[te.Expr]) -> dict[str, Position]:
        """The position of each letter at an index of a tensor."""
        by_axis = dict(zip(self.axes, index, strict=True))
        return {
            a: BlockedPosition(by_axis[a], by_axis[a.lower()], self.factors[a]) if a in self.factors else by_axis[a]
            for a in self.axes
            if a.isupper()
        }

    def axis_numbers(self, letters: str) -> list[int]:
        """The axes of letters."""
        return [self.axes.index(a) for a in letters]


def layout(op: str, name: str, text: str, letters: str, example: str) -> TensorLayout:
    """The layout that a text names; it has to have just these letters."""
    parts = re.findall(r"([A-Z])|(\d+)([a-z])", text) if isinstance(text, str) else []
    axes = tuple(upper or lower for upper, _, lower in parts)
    factors = {lower.upper(): int(number) for _, number, lower in parts if lower}
    plain = [a for a in axes if a.isupper()]
    well_formed = "".join(u or n + x for u, n, x in parts) == text and sorted(plain) == sorted(letters)
    if not well_formed or not set(factors) <= set(plain) or len(set(axes)) < len(axes) or 0 in factors.values():
        raise refuse(
            op, f"{name}={short_repr(text)}", f"name the axes {', '.join(letters)} once each, as in {example!r}"
        )
    return TensorLayout(text, axes, factors)
