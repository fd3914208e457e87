"""The canonical form of a pure tensor computation: iterators, operands with index maps, and a scalar payload.

It is equivalent to one `linalg.generic`: for every point x of a box of iterators,
`out[map(x)] = payload(operands at x)`. The value, and whether it is stored, may depend on affine conditions on x.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mlir import ir

from tir_mlir.dialect.computation.scalar_tree import ScalarArgument, Tree
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Block, Buffer, Func, Index, Loop, same_indices

Top = Block | Loop | Func


class NotRaisable(TirError):
    """A program that is not a pure tensor computation; `culprit` is the op that prevents it."""

    def __init__(self, message: str, culprit: ir.Operation | None = None):
        super().__init__(message)
        self.culprit = culprit


@dataclass(frozen=True)
class Axis:
    """An iterator from 0 to `extent`: S if the written element depends on it, else R."""

    name: str
    kind: str
    extent: Index

    @property
    def size(self) -> str:
        number = self.extent.as_constant()
        return str(number) if number is not None else "symbolic"

    @property
    def is_unit(self) -> bool:
        return self.extent.as_constant() == 1


@dataclass(frozen=True)
class Operand:
    """`buffer[base + rows * iterators]`: one row per dimension, one column per iterator; `base` over outer values."""

    buffer: Buffer
    rows: tuple[tuple[int, ...], ...]
    base: tuple[Index, ...]

    def is_equal_to(self, operand: Operand) -> bool:
        equal = self.buffer.value == operand.buffer.value and self.rows == operand.rows
        return equal and same_indices(self.base, operand.base)

    @property
    def used_rows(self) -> list[int]:
        """Dimensions whose index depends on an iterator."""
        return [d for d, row in enumerate(self.rows) if any(row)]


@dataclass(frozen=True)
class IndexCondition:
    """`row * iterators + base >= 0`, or `== 0` if `is_eq`; `base` over outer values."""

    row: tuple[int, ...]
    base: Index
    is_eq: bool = False

    def is_equal_to(self, condition: IndexCondition) -> bool:
        equal = (self.row, self.is_eq) == (condition.row, condition.is_eq)
        return equal and self.base.is_equal_to(condition.base)


@dataclass(frozen=True)
class SizeParam:
    """An index parameter of a function: its argument, and the least and greatest value that the function assumes."""

    number: int
    name: str
    value: ir.Value
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Form:
    """`operands[output] = payload` at every point of the box of `axes`, preceded by a fill with `init`, if any."""

    axes: tuple[Axis, ...]
    operands: tuple[Operand, ...]
    output: int
    payload: Tree
    init: Tree | None = None
    partial_init: bool = False
    """Whether the init runs only in some iterations of the outer loops."""
    conditions: tuple[IndexCondition, ...] = ()
    """Those of the leaves `Guard` of the payload."""
    sizes: tuple[SizeParam, ...] = ()
    """The index parameters of a described instruction."""
    top: Top | None = field(default=None, compare=False)
    """The raised op."""
    values: Mapping[Tree, ir.Value] = field(default_factory=dict, compare=False, repr=False)
    """What computes the nodes of the payload."""
    keep: object = field(default=None, compare=False, repr=False)
    """Objects that must live as long as the form (values do not keep their module alive)."""

    def drop_axis(self, column: int) -> Form:
        """The form without an iterator of extent 1."""

        def cut(row: tuple[int, ...]) -> tuple[int, ...]:
            return row[:column] + row[column + 1 :]

        return replace(
            self,
            axes=self.axes[:column] + self.axes[column + 1 :],
            operands=tuple(replace(o, rows=tuple(map(cut, o.rows))) for o in self.operands),
            conditions=tuple(replace(c, row=cut(c.row)) for c in self.conditions),
        )

    def split_axis(self, column: int, size: int) -> Form:
        """The form with an iterator of a constant extent as two: its groups, and the `size` places in one. The last
        group of an extent that `size` does not divide is whole, too."""
        extent = self.axes[column].extent.as_constant()
        assert extent is not None
        name, kind = self.axes[column].name, self.axes[column].kind
        parts = (
            Axis(f"{name}_0", kind, Index.constant(-(-extent // size))),
            Axis(f"{name}_1", kind, Index.constant(size)),
        )

        def split(row: tuple[int, ...]) -> tuple[int, ...]:
            return (*row[:column], row[column] * size, *row[column:])

        return replace(
            self,
            axes=(*self.axes[:column], *parts, *self.axes[column + 1 :]),
            operands=tuple(replace(o, rows=tuple(map(split, o.rows))) for o in self.operands),
            conditions=tuple(replace(c, row=split(c.row)) for c in self.conditions),
        )

    @property
    def takes_conditions(self) -> bool:
        """Whether conditions, sizes or numbers of a block can be in it."""
        return bool(self.conditions or self.sizes) or any(isinstance(t, ScalarArgument) for t in self.values)

    @property
    def rows(self) -> list[tuple[int, ...]]:
        """The factors of the iterators in each index and condition."""
        return [row for o in self.operands for row in o.rows] + [c.row for c in self.conditions]

    def canonical(self) -> Form:
        """The form without unit iterators, and with iterators fused that form one linear index everywhere."""
        form = self
        for column in reversed(range(len(form.axes))):
            if form.axes[column].is_unit:
                form = form.drop_axis(column)
        while (pair := _mergeable(form)) is not None:
            form = _merge(form, *pair)
        return form


def _mergeable(form: Form) -> tuple[int, int] | None:
    """Two iterators of the same kind with outer factors = inner factors * inner extent in every index."""
    for inner, axis in enumerate(form.axes):
        size = axis.extent.as_constant()
        if size is None:
            continue
        for outer, outer_axis in enumerate(form.axes):
            if outer == inner or outer_axis.kind != axis.kind:
                continue
            if all(row[outer] == row[inner] * size for row in form.rows):
                return outer, inner
    return None


def _merge(form: Form, outer: int, inner: int) -> Form:
    first, second = form.axes[outer], form.axes[inner]
    axis = Axis(second.name, second.kind, (first.extent * second.extent).simplify())
    axes = tuple(axis if n == inner else a for n, a in enumerate(form.axes))
    return replace(form, axes=axes).drop_axis(outer)
