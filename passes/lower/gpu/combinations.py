"""How threads combine what each has reduced: by an operator, or by a selection such as argmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis import Selection, commutative_update, selected_update, selection
from tir_mlir.dialect.ir import Loop, defining_op
from tir_mlir.dialect.ir.op_traits import ASSOCIATIVE, ORDERED_REDUCERS
from tir_mlir.dialect.ir.op_views import AffineStoreOp, ConstantOp, StoreOp, isa
from tir_mlir.passes.lower.vector.reductions import identity


class Combination(Protocol):
    """`combine(a, b)` of as many values each. `new`: those of an iteration."""

    @property
    def new(self) -> tuple[ir.Value, ...]: ...

    @property
    def commutes(self) -> bool:
        """Whether the order does not matter; else `a` comes before `b`."""
        ...

    def combine(self, a: Sequence[ir.Value], b: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit the combination at the insertion point."""
        ...

    def starts(self) -> list[ir.Value] | None:
        """Emit the values that change nothing, if they are known."""
        ...

    def is_start(self, values: Sequence[ir.Value]) -> bool:
        """Whether values change nothing."""
        ...


@dataclass(frozen=True)
class OperatorCombination:
    """One op, such as an addition."""

    op: ir.Operation
    new: tuple[ir.Value, ...]
    commutes: bool = True

    def combine(self, a: Sequence[ir.Value], b: Sequence[ir.Value]) -> list[ir.Value]:
        facts = {key: self.op.attributes[key] for key in self.op.attributes}
        return [ir.Operation.create(self.op.name, [a[0].type], [a[0], b[0]], facts).results[0]]

    def starts(self) -> list[ir.Value] | None:
        element = self.op.results[0].type
        return [arith.constant(element, identity(self.op.name, element))]

    def is_start(self, values: Sequence[ir.Value]) -> bool:
        op = defining_op(values[0])
        constant = op is not None and isa(op, ConstantOp)
        return constant and op.attributes["value"] == identity(self.op.name, values[0].type)  # type: ignore[union-attr]

    @property
    def may_reorder(self) -> bool:
        """Whether it may be computed in another order: floats only where the program declares it."""
        if self.op.name not in ORDERED_REDUCERS:
            return True
        return "fastmath" in self.op.attributes and "reassoc" in str(self.op.attributes["fastmath"])


@dataclass(frozen=True)
class SelectionCombination:
    """A selection. Parts of it start from the start value each, so that this changes nothing (see `Laws`)."""

    selection: Selection

    @property
    def new(self) -> tuple[ir.Value, ...]:
        return self.selection.new

    @property
    def commutes(self) -> bool:
        return self.selection.laws.parts_in_any_order

    def combine(self, a: Sequence[ir.Value], b: Sequence[ir.Value]) -> list[ir.Value]:
        x, y = ([lambda v=v: v for v in side] for side in (a, b))
        return self.selection.emit(x, y)

    def starts(self) -> list[ir.Value] | None:
        return None

    def is_start(self, values: Sequence[ir.Value]) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Update:
    """The stores and loads of `X[f] = combine(X[f], new)`."""

    stores: list[ir.Operation]
    loads: list[ir.Operation]
    combination: Combination


def update_of(store: ir.Operation) -> Update | None:
    """The update that a store belongs to, of which parts may be combined; None if there is none."""
    if commutative_update(store) is not None:
        op = StoreOp(store).value.owner.operation  # type: ignore[union-attr]
        owners = [defining_op(v) for v in op.operands]
        load = next(o for o in owners if o is not None and (u := commutative_update(o)) is not None and u == store)
        operator = OperatorCombination(op, (op.operands[1 - [o == load for o in owners].index(True)],))
        return Update([store], [load], operator) if operator.may_reorder else None
    update = selected_update(store) if isa(store, AffineStoreOp) else None
    if update is None or store != update.stores[0] or not update.selection.laws.parts_in_order:
        return None
    return Update(update.stores, update.loads, SelectionCombination(update.selection))


def carried_combination(loop: Loop) -> Combination | None:
    """How a loop combines the values that it carries with those of an iteration; None if it is not a reduction."""
    results = list(list(loop.body.operations)[-1].operands)
    old: list[ir.Value] = [*list(loop.body.arguments)[1:]]
    op = defining_op(results[0])
    if len(results) == 1 and op is not None and op.name in ASSOCIATIVE and old[0] in list(op.operands):
        lhs, rhs = op.operands
        return OperatorCombination(op, (lhs if rhs == old[0] else rhs,))
    chosen = selection(results, lambda value: old.index(value) if value in old else None)
    return None if chosen is None or not chosen.laws.parts_in_order else SelectionCombination(chosen)
