"""Values of expressions during parsing: constants, affine indices, conditions, SSA values, buffers, regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TypeGuard

from mlir import ir

from tir_mlir.dialect.ir import Constraint, Index, dtypes
from tir_mlir.script.language.markers import BufferType, DType


@dataclass(frozen=True)
class Const:
    """A constant. Without a dtype (a Python literal) it takes the type of the other operand."""

    value: bool | int | float
    dtype: str | None = None

    @property
    def natural(self) -> str:
        """The type without context: bool, int32 or float32."""
        if self.dtype:
            return self.dtype
        if isinstance(self.value, bool):
            return "bool"
        return "int32" if isinstance(self.value, int) else "float32"


@dataclass(frozen=True)
class AffineExtremum:
    """The minimum or maximum (`op`: "min", "max") of affine expressions, as a loop bound or a value."""

    op: str
    parts: tuple[Index, ...]


@dataclass(frozen=True)
class ScriptValue:
    """An SSA value. One of type `index` that is not a valid affine operand (a stride in a block) reads as int32."""

    ssa: ir.Value
    dtype: str


@dataclass(frozen=True)
class AffineCondition:
    """A conjunction of affine comparisons `left <op> right`, kept symbolic so that it can become an affine.if."""

    terms: tuple[tuple[str, Index, Index], ...]

    def constraints(self) -> list[Constraint] | None:
        """As affine constraints; None if it contains `!=`."""
        conjuncts = []
        for op, lhs, rhs in self.terms:
            if op == "!=":
                return None
            conjuncts.append(_constraint(op, lhs, rhs))
        return conjuncts


def _constraint(op: str, lhs: Index, rhs: Index) -> Constraint:
    if op == "==":
        return Constraint((lhs - rhs).simplify(), is_eq=True)
    if op in ("<", "<="):
        lhs, rhs, op = rhs, lhs, ">" if op == "<" else ">="
    return Constraint((lhs - rhs - (1 if op == ">" else 0)).simplify())


@dataclass(frozen=True)
class PointerValue:
    """The value of `A.access_ptr("r")`."""

    ssa: ir.Value
    dtype: str = "handle"


@dataclass(frozen=True)
class Slice:
    """`begin:end` in a region; `begin:end:step` in an access of several elements."""

    begin: object
    end: object
    step: object = None


@dataclass(frozen=True)
class Ramp:
    """`T.ramp(base, stride, lanes)`: the index of an access of several elements."""

    base: object
    stride: int
    lanes: int


@dataclass
class BufferRef:
    """A named buffer: its memref, and its extents and strides as expressions."""

    name: str
    ssa: ir.Value
    dtype: str
    shape: list[Index]
    scope: str = "global"
    stride_values: list[ir.Value] = field(default_factory=list)
    metadata: ir.OpView | None = None  # the memref.extract_strided_metadata that binds its stride variables

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass(frozen=True)
class RegionRef:
    """A region of a buffer: one (min, extent) per axis."""

    buffer: BufferRef
    mins: list[Index]
    extents: list[Index]


@dataclass(frozen=True)
class BufferProperty:
    """`A.data`, `A.elem_offset`, `A.strides` or `A.shape`. `value` computes one that is a number."""

    buffer: BufferRef
    what: str
    value: Callable[[], ScriptValue] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class GlobalFunction:
    """A function of the module, `Module.f`."""

    name: str


@dataclass(frozen=True)
class UnboundVar:
    """A shape or stride variable that no buffer has bound yet."""

    name: str


Expr = Const | Index | AffineExtremum | ScriptValue | AffineCondition


def is_expr(item: object) -> TypeGuard[Expr]:
    return isinstance(item, Const | Index | AffineExtremum | ScriptValue | AffineCondition)


def dtype_of(item: Expr) -> str:
    """The element type of an expression."""
    if isinstance(item, Const):
        return item.natural
    if isinstance(item, ScriptValue):
        return item.dtype
    return "bool" if isinstance(item, AffineCondition) else "int32"


def as_index(item: object) -> Index | None:
    """The affine form of an integer expression, if it has one."""
    if isinstance(item, Index):
        return item
    if isinstance(item, bool):
        return None
    if isinstance(item, int):
        return Index.constant(item)
    if isinstance(item, Const) and isinstance(item.value, int) and not isinstance(item.value, bool):
        return Index.constant(item.value)
    if isinstance(item, AffineExtremum) and len(item.parts) == 1:
        return item.parts[0]
    return None


def as_const(item: object) -> int | None:
    """The value of a constant integer expression, else None."""
    index = as_index(item)
    return None if index is None else index.as_constant()


def describe(item: object) -> str:
    """A description of an item for error messages."""
    if isinstance(item, BufferRef):
        return f"buffer {item.name}"
    if isinstance(item, RegionRef):
        return f"a region of buffer {item.buffer.name}"
    if isinstance(item, PointerValue):
        return "a pointer"
    if isinstance(item, BufferProperty):
        return f"{item.buffer.name}.{item.what}"
    if isinstance(item, Slice):
        return "a slice"
    if isinstance(item, Ramp):
        return "a ramp, which is an index: A[T.ramp(0, 1, 4)]"
    if isinstance(item, GlobalFunction):
        return f"the function {item.name} of the module"
    if isinstance(item, UnboundVar):
        return f"the variable {item.name}, which no buffer binds"
    if is_expr(item):
        return f"a value of type {dtype_of(item)}"
    if isinstance(item, DType):
        return f"the type {item!r}"
    if isinstance(item, BufferType):
        return "the type of a buffer"
    if (word := getattr(item, "tir_construct", None)) is not None:
        return f"T.{word}"
    if isinstance(item, ModuleType):
        return f"the module {item.__name__}"
    if isinstance(item, tuple | list) and any(not _has_readable_repr(i) for i in item):
        return f"a {type(item).__name__} of {', '.join(describe(i) for i in item[:3])}{', ...' * (len(item) > 3)}"
    return f"{item!r} ({type(item).__name__})" if _has_readable_repr(item) else f"a {type(item).__name__}"


def _has_readable_repr(item: object) -> bool:
    """Whether `repr` of an item is readable by the user."""
    if isinstance(item, tuple | list | dict):
        return all(map(_has_readable_repr, item.values() if isinstance(item, dict) else item))
    return not is_expr(item) and not isinstance(
        item, BufferRef | RegionRef | BufferProperty | PointerValue | Slice | Ramp | UnboundVar
    )


def mlir_type(dtype: str) -> ir.Type:
    return ir.Type.parse("!llvm.ptr") if dtype == "handle" else dtypes.to_mlir(dtype)


def constants(items: Sequence[object]) -> list[int] | None:
    """All as Python integers, or None."""
    numbers = [as_const(i) for i in items]
    return None if None in numbers else numbers  # type: ignore[return-value]
