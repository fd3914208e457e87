"""The body of a generic inside a block: elements are loaded where they are used, iterators become iters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import memref

from tir_mlir.dialect import create
from tir_mlir.dialect.errors import LinalgError, NotAffine
from tir_mlir.dialect.index import Index, is_symbol
from tir_mlir.passes.linalg import views
from tir_mlir.passes.linalg.sizes import Sizes

if TYPE_CHECKING:
    from tir_mlir.passes.linalg.generic import Generic

Place = tuple[ir.Value, list[Index]]
_SCALAR = ("arith", "math")


class Body:
    """Writes the computation of one generic at the insertion point."""

    def __init__(self, generic: Generic, sizes: Sizes, iters: dict[ir.Value, Index], own: Sequence[Index]):
        self.generic = generic
        self.sizes = sizes
        self.iters = iters
        self.inside = {v for i in (*iters.values(), *own) for v in i.values}
        self.known = {**iters, **_positions(generic, own)}
        self.made: dict[ir.Value, ir.Value] = {}
        self.indices: dict[ir.Value, Index] = {}
        self.loads: dict[ir.Value, Callable[[], ir.Value]] = {}

    def write(self, places: Sequence[Place]) -> None:
        """Load, compute, store: all values are there before the first store."""
        inputs, outputs = self.generic.inputs, self.generic.outputs
        given = iter(places)
        body = self.generic.body
        if body is None:
            source, target = places
            create.store(create.load(*source), *target)
            return
        targets: list[Place] = []
        for value, argument in zip((*inputs, *outputs), body.arguments, strict=True):
            if isinstance(value.type, ir.MemRefType):
                place = next(given)
                self.loads[argument] = lambda place=place: create.load(*place)
                targets.append(place)
            else:
                self.loads[argument] = lambda value=value: self.value(value)
        values = [self.value(v) for v in self.generic.yielded()]
        for value, target in zip(values, targets[len(targets) - len(outputs) :], strict=True):
            create.store(value, *target)

    def value(self, root: ir.Value) -> ir.Value:
        """The value inside the block; its operands come first, left to right, as an expression is evaluated."""
        pending = [root]
        while pending:
            value = pending[-1]
            if value in self.made:
                pending.pop()
                continue
            missing = [v for v in self._needed(value) if v not in self.made]
            if missing:
                pending += reversed(missing)
            else:
                self.made[value] = self._make(value)
                pending.pop()
        return self.made[root]

    def _needed(self, value: ir.Value) -> list[ir.Value]:
        """What must be made before a value."""
        if isinstance(value.owner, ir.Block):
            return []
        op = value.owner.operation
        if self._index(value) is not None or self._is_plain_load(op):
            return []
        return [v for v in op.operands if not isinstance(v.type, ir.MemRefType)]

    def _make(self, value: ir.Value) -> ir.Value:
        if value in self.loads:
            return self.loads[value]()
        index = self._index(value)
        if index is not None:
            return create.apply(index)
        if isinstance(value.owner, ir.Block):
            return self._argument(value)
        op = value.owner.operation
        if op.name in ("memref.load", "affine.load") and self._is_inside(op):
            return self._gather(op)
        if op.name.split(".")[0] not in _SCALAR or len(op.results) != 1 or len(op.regions):
            raise LinalgError(f"{op.name} in the body of {self.generic.name} is no arithmetic on elements", op.location)
        copy = op.clone().operation
        for number, operand in enumerate(op.operands):
            copy.operands[number] = self.made[operand]
        copy.location = op.location
        return copy.results[0]

    def _argument(self, value: ir.Value) -> ir.Value:
        if not is_symbol(value):
            message = f"the body of {self.generic.name} uses a loop variable from outside: use linalg.index"
            raise LinalgError(message, self.generic.op.location)
        return value

    def _is_inside(self, op: ir.Operation) -> bool:
        return op.parent is not None and op.parent.operation == self.generic.op

    def _gather(self, op: ir.Operation) -> ir.Value:
        """A load in the body, at indices that the body computes."""
        if op.name == "affine.load":
            raise LinalgError("affine.load in the body of a generic: use memref.load", op.location)
        buffer, indices = op.operands[0], list(op.operands)[1:]
        if self._is_plain_load(op):
            known = [k for i in indices if (k := self._index(i)) is not None]
            with op.location:
                return create.load(*views.element(buffer, known, self.sizes))
        if views.is_view(buffer):
            raise LinalgError("a view is read at an index that is not affine: read the buffer itself", op.location)
        return memref.load(buffer, [self.made[i] for i in indices])

    def _is_plain_load(self, op: ir.Operation) -> bool:
        return op.name == "memref.load" and all(self._index(i) is not None for i in list(op.operands)[1:])

    # --- indices ------------------------------------------------------------------------------------------------------

    def _index(self, value: ir.Value) -> Index | None:
        """An index as an affine expression of iters and sizes; None for data and for what is not affine."""
        if not isinstance(value.type, ir.IndexType):
            return None
        if value not in self.indices:
            found = self._affine(value)
            if found is None:
                return None
            self.indices[value] = found
        return self.indices[value]

    def _affine(self, value: ir.Value) -> Index | None:
        try:
            found = self.sizes.term(value, self.known)
        except (LinalgError, NotAffine):
            return None
        return found if all(is_symbol(v) or v in self.inside for v in found.values) else None


def _positions(generic: Generic, own: Sequence[Index]) -> dict[ir.Value, Index]:
    """What each `linalg.index` of the body is."""
    body = generic.body.operations if generic.body is not None else ()
    found = [op.operation for op in body if op.operation.name == "linalg.index"]
    return {op.results[0]: own[ir.IntegerAttr(op.attributes["dim"]).value] for op in found}
