# pyright: strict, reportMissingTypeStubs=false
"""Typed views of MLIR ops: a class names the operands of the ops that have it; `op_traits.OPS` says which these are.

    store.op.operands[1]  -->  StoreOp(op).memref
    op.name in LOADS      -->  isa(op, LoadOp)
    a cast or None        -->  defining_op(value, CastOp)

The ops that programs are read from and lowered to have theirs in `lowering_op_views`.

A class without an op of its own, such as `AccessOp`, is an interface: its ops have a class that derives from it. A view
lives for one call: create it where it is used, never keep it across a rewrite. What asks most ops of a program, again
and again, asks the set: `op.name in LoadOp.names`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar, overload

from mlir import ir


class Operand:
    """An operand by its position, negative from the end."""

    def __init__(self, number: int):
        self.number = number

    @overload
    def __get__(self, view: None, owner: type[TypedOp]) -> Operand: ...
    @overload
    def __get__(self, view: TypedOp, owner: type[TypedOp]) -> ir.Value: ...
    def __get__(self, view: TypedOp | None, owner: type[TypedOp]) -> ir.Value | Operand:
        return self if view is None else view.op.operands[self.number]

    def __set__(self, view: TypedOp, value: ir.Value) -> None:
        view.op.operands[self.number] = value


class TypedOp:
    """Base class of the views; also the view of an op without a class."""

    names: ClassVar[frozenset[str]] = frozenset()
    """The MLIR ops that have this class, or one that derives from it; filled by the table."""

    def __init__(self, op: ir.Operation):
        self.op = op

    @property
    def operands(self) -> list[ir.Value]:
        return list(self.op.operands)

    @property
    def result(self) -> ir.Value:
        """The only result."""
        return self.op.results[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedOp) and self.op == other.op

    def __hash__(self) -> int:
        return hash(self.op)


V = TypeVar("V", bound=TypedOp)


def isa(op: ir.Operation | ir.OpView, kind: type[TypedOp], *others: type[TypedOp]) -> bool:
    """Whether an op has a class, or one of several."""
    name = op.name  # of MLIR's own view of a function: the name of the function, an attribute
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        name = op.operation.name
    return name in kind.names or (bool(others) and any(name in other.names for other in others))


def dyn_cast(op: ir.Operation, kind: type[V]) -> V | None:
    """The view of an op by its class; None for an op that does not have it."""
    return kind(op) if op.name in kind.names else None


def matches(ops: Sequence[ir.Operation], *kinds: type[TypedOp]) -> bool:
    """Whether ops are one of each class, in order."""
    return len(ops) == len(kinds) and all(op.name in kind.names for op, kind in zip(ops, kinds, strict=True))


# --- the op of a value ----------------------------------------------------------------------------------------------


@overload
def defining_op(value: ir.Value) -> ir.Operation | None: ...
@overload
def defining_op(value: ir.Value, kind: type[V]) -> V | None: ...
def defining_op(value: ir.Value, kind: type[V] | None = None) -> ir.Operation | V | None:
    """The op that a value is a result of, or its view; None for an argument, or an op of another class."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    return owner.operation if kind is None else dyn_cast(owner.operation, kind)


# --- memory ---------------------------------------------------------------------------------------------------------


class AccessOp(TypedOp):
    """Reads or writes elements of a memref, or what a pointer refers to."""

    memref = Operand(0)


class ElementAccessOp(AccessOp):
    """Accesses one element."""


class AffineOp(TypedOp):
    """Has affine maps as indices or bounds, which `edit.rewrite_indices` changes."""


class AffineAccessOp(AccessOp, AffineOp):
    """Accesses an element or a vector at indices that are affine."""


class AffineElementAccessOp(ElementAccessOp, AffineAccessOp):
    pass


class AffineVectorAccessOp(AffineAccessOp):
    pass


class ComputedAccessOp(ElementAccessOp):
    """Accesses one element at any index values."""


class AdjacentAccessOp(AccessOp):
    """Accesses the elements of a vector side by side, from indices that are values."""


class ReadOp(AccessOp):
    """Writes nothing."""


class LoadOp(ReadOp):
    """Its result is made of elements of its memref."""


class TransferReadOp(LoadOp):
    pass


class PrefetchOp(ReadOp):
    pass


class WriteOp(AccessOp):
    pass


class StoreOp(WriteOp):
    """Writes its value to elements of its memref, and does nothing else."""

    value = Operand(0)
    memref = Operand(1)


class MaskedStoreOp(StoreOp):
    """Stores the lanes of a vector that a mask selects."""

    memref = Operand(0)
    value = Operand(-1)


class UpdateOp(WriteOp):
    """Reads and writes elements of its memref."""


class AtomicOp(UpdateOp):
    """Combines one element with a value."""

    value = Operand(0)
    memref = Operand(1)


class CopyOp(WriteOp):
    """Writes all elements of its memref."""

    source = Operand(0)
    memref = Operand(1)


class ElementLoadOp(LoadOp, ElementAccessOp):
    pass


class ElementStoreOp(StoreOp, ElementAccessOp):
    pass


class AffineLoadOp(ElementLoadOp, AffineElementAccessOp):
    pass


class AffineStoreOp(ElementStoreOp, AffineElementAccessOp):
    pass


class MemrefLoadOp(ElementLoadOp, ComputedAccessOp):
    pass


class MemrefStoreOp(ElementStoreOp, ComputedAccessOp):
    pass


class AffineVectorLoadOp(LoadOp, AffineVectorAccessOp):
    pass


class AffineVectorStoreOp(StoreOp, AffineVectorAccessOp):
    pass


class VectorLoadOp(LoadOp, AdjacentAccessOp):
    pass


class VectorStoreOp(StoreOp, AdjacentAccessOp):
    pass


class AllocLikeOp(TypedOp):
    """Makes a buffer."""


class AllocOp(AllocLikeOp):
    pass


class AllocaOp(AllocLikeOp):
    pass


class BufferOp(TypedOp):
    """Takes a buffer and accesses no element of it."""

    source = Operand(0)


class ViewLikeOp(BufferOp):
    """Its result is a view of its source."""


class NamedViewOp(ViewLikeOp):
    """A view that a program may name."""


class SubviewOp(NamedViewOp):
    pass


class ByteViewOp(NamedViewOp):
    """A buffer of any type in a buffer of bytes."""

    shift = Operand(1)


class SameIndicesOp(ViewLikeOp):
    """A view whose elements have the indices that they have in its source."""


class MemrefCastOp(SameIndicesOp):
    pass


class AssumeAlignmentOp(SameIndicesOp):
    pass


class CollapseShapeOp(ViewLikeOp):
    pass


class ExpandShapeOp(ViewLikeOp):
    pass


class ReinterpretCastOp(ViewLikeOp):
    pass


class PointerOp(BufferOp):
    """Its results are the pointer, offset, sizes and strides of its source."""


class AlignedPointerOp(PointerOp):
    pass


class StridedMetadataOp(PointerOp):
    pass


class NeutralOp(BufferOp):
    """Neither accesses its source nor has a result that does."""


class DeallocOp(NeutralOp):
    pass


class DimOp(NeutralOp):
    """The extent of a buffer along an axis."""

    axis = Operand(1)


class GlobalOp(TypedOp):
    """A constant of a module, which `GetGlobalOp` reads."""


class GetGlobalOp(TypedOp):
    pass


class IntToPtrOp(TypedOp):
    """A pointer, which may have a declared region, from an address."""

    address = Operand(0)


# --- control flow -----------------------------------------------------------------------------------------------------


class LoopLikeOp(TypedOp):
    pass


class AffineLoopOp(LoopLikeOp, AffineOp):
    pass


class CountedLoopOp(LoopLikeOp):
    """A loop with one variable between bounds, which may carry values."""


class ParallelLoopOp(LoopLikeOp):
    """A loop with variables whose iterations have no order."""


class DataLoopOp(LoopLikeOp):
    """A loop with computed bounds, or with a condition."""


class AffineForOp(AffineLoopOp, CountedLoopOp):
    pass


class AffineParallelOp(AffineLoopOp, ParallelLoopOp):
    pass


class ScfForOp(CountedLoopOp, DataLoopOp):
    lower = Operand(0)
    upper = Operand(1)
    step = Operand(2)


class ScfParallelOp(ParallelLoopOp):
    pass


class WhileOp(DataLoopOp):
    pass


class ChoiceOp(TypedOp):
    """What an `if` with a value is made of."""


class IfOp(ChoiceOp):
    def yielded_values(self, number: int = 0) -> list[ir.Value]:
        """What its branches give for a result."""
        return [list(region.blocks[0].operations)[-1].operands[number] for region in self.op.regions]


class AffineIfOp(IfOp, AffineOp):
    pass


class ScfIfOp(IfOp):
    condition = Operand(0)


class IndexSwitchOp(TypedOp):
    selector = Operand(0)


class YieldOp(ChoiceOp):
    pass


class AffineYieldOp(YieldOp):
    pass


class ConditionOp(TypedOp):
    """The end of the condition of a `while`."""

    condition = Operand(0)


class BodyOp(TypedOp):
    """Not inside a nest: functions and modules."""


class ModuleOp(BodyOp):
    pass


class FuncOp(BodyOp):
    pass


class ReturnOp(TypedOp):
    pass


class CallOp(TypedOp):
    @property
    def callee(self) -> str:
        """The name of the function."""
        return ir.FlatSymbolRefAttr(self.op.attributes["callee"]).value


# --- numbers --------------------------------------------------------------------------------------------------------


class ConstantOp(TypedOp):
    @property
    def value(self) -> ir.Attribute:
        return self.op.attributes["value"]


class MappedOp(TypedOp):
    """Its result is the value of its affine map, or the largest or least of its values."""


class ApplyOp(MappedOp, AffineOp):
    pass


class AffineMinOp(MappedOp):
    pass


class SelectOp(TypedOp):
    condition = Operand(0)
    true_value = Operand(1)
    false_value = Operand(2)


class UnaryOp(TypedOp):
    operand = Operand(0)


class NegFOp(UnaryOp):
    pass


class RsqrtOp(UnaryOp):
    pass


class IsInfOp(UnaryOp):
    pass


class BinaryOp(TypedOp):
    lhs = Operand(0)
    rhs = Operand(1)


class CompareOp(BinaryOp):
    @property
    def predicate(self) -> int:
        return ir.IntegerAttr(self.op.attributes["predicate"]).value


class CompareIntegersOp(CompareOp):
    pass


class CompareFloatsOp(CompareOp):
    pass


class AddIOp(BinaryOp):
    pass


class SubIOp(BinaryOp):
    pass


class MulIOp(BinaryOp):
    pass


class FloorDivOp(BinaryOp):
    """A signed quotient, rounded down."""


class DivFOp(BinaryOp):
    pass


class RemFOp(BinaryOp):
    pass


class PowFOp(BinaryOp):
    pass


class FPowIOp(BinaryOp):
    """A float to the power of an integer."""


class Atan2Op(BinaryOp):
    pass


class AndIOp(BinaryOp):
    pass


class OrIOp(BinaryOp):
    pass


class XOrIOp(BinaryOp):
    pass


class CastBaseOp(TypedOp):
    """Another type of number for its operand."""

    source = Operand(0)


class CastOp(CastBaseOp):
    """Between types of buffers' elements."""


class ExtFOp(CastOp):
    pass


class TruncFOp(CastOp):
    pass


class ExtSIOp(CastOp):
    pass


class SIToFPOp(CastOp):
    pass


class FPToSIOp(CastOp):
    pass


class IndexCastOp(CastBaseOp):
    """Between an index and another integer."""


class IndexCastSIOp(IndexCastOp):
    pass


class IndexCastUIOp(IndexCastOp):
    pass


class BitcastOp(CastBaseOp):
    """The bits of a number as another number."""
