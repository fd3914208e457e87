"""The canonical form of a pure tensor computation: iterators, operands with index maps, and a scalar payload.

It is equivalent to one `linalg.generic`: for every point x of a box of iterators,
`out[map(x)] = payload(operands at x)`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mlir import ir

from tir_mlir.dialect.computation.scalar_tree import Tree
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
class Form:
    """`operands[output] = payload` at every point of the box of `axes`, preceded by a fill with `init`, if any.

    partial_init: the init runs only in some iterations of the outer loops.
    top: the raised op.
    keep: objects that must live as long as the form (values do not keep their module alive).
    """

    axes: tuple[Axis, ...]
    operands: tuple[Operand, ...]
    output: int
    payload: Tree
    init: Tree | None = None
    partial_init: bool = False
    top: Top | None = field(default=None, compare=False)
    keep: object = field(default=None, compare=False, repr=False)

    def drop_axis(self, column: int) -> Form:
        """The form without an iterator of extent 1."""
        cut = tuple(replace(o, rows=tuple(r[:column] + r[column + 1 :] for r in o.rows)) for o in self.operands)
        return replace(self, axes=self.axes[:column] + self.axes[column + 1 :], operands=cut)

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
            rows = [row for o in form.operands for row in o.rows]
            if all(row[outer] == row[inner] * size for row in rows):
                return outer, inner
    return None


def _merge(form: Form, outer: int, inner: int) -> Form:
    first, second = form.axes[outer], form.axes[inner]
    axis = Axis(second.name, second.kind, (first.extent * second.extent).simplify())
    axes = tuple(axis if n == inner else a for n, a in enumerate(form.axes))
    return replace(form, axes=axes).drop_axis(outer)
