"""What is known of the value of an expression: of a tensor its shape and element type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.ir import dtypes
from tir_mlir.graph.sizes import Sizes, checked_dtype
from tir_mlir.te import Var
from tir_mlir.te.expr import Expr as TeExpr


class _SharedSizes(Sizes):
    """Sizes of all functions: a name is one size, whatever variable of the user's has it."""

    def _adopt(self, key: str, leaf: Any) -> None:
        if leaf.name not in self.variables and isinstance(leaf, Var):
            self.variables[leaf.name] = leaf
        self._names[key] = leaf.name


SIZES = _SharedSizes()
"""The variables that sizes given as text stand for: one for a name."""


class ShapeExpr(tuple[Any, ...]):
    """A shape: numbers, and te expressions of named sizes."""

    kinds = ("shape_expr",)

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(self)

    @property
    def struct_info(self) -> ShapeStructInfo:
        return ShapeStructInfo(self)


class StructInfo:
    """What is known of a value."""

    def same(self, other: object) -> bool:
        """Whether the other one says the same."""
        return isinstance(other, StructInfo) and str(self) == str(other)

    def could_be(self, other: StructInfo) -> bool:
        """Whether some value is both: of one kind, and equal in what both of them know."""
        return isinstance(self, ObjectStructInfo) or isinstance(other, ObjectStructInfo) or self._agrees(other)

    def _agrees(self, other: StructInfo) -> bool:
        return self.same(other)

    __repr__ = object.__repr__

    def __eq__(self, other: object) -> bool:
        return self.same(other)

    def __hash__(self) -> int:
        return hash(str(self))


class ObjectStructInfo(StructInfo):
    """Nothing is known."""

    def __str__(self) -> str:
        return "R.Object"

    __repr__ = __str__


class ShapeStructInfo(StructInfo):
    """The value is a shape."""

    def __init__(self, values: Sequence[Any] | None = None, ndim: int = -1):
        self.values = None if values is None else shape_of(values)
        self.ndim = ndim if self.values is None else len(self.values)

    def _agrees(self, other: StructInfo) -> bool:
        if not isinstance(other, ShapeStructInfo) or (self.ndim != other.ndim and min(self.ndim, other.ndim) >= 0):
            return False
        return _sizes_agree(self.values, other.values)

    def __str__(self) -> str:
        return f"R.Shape({_sizes(self.values)})" if self.values is not None else f"R.Shape(ndim={self.ndim})"

    __repr__ = __str__


class TensorStructInfo(StructInfo):
    """The value is a tensor: `TensorStructInfo((1, "n"), "float32")`, or only its rank is known: `("float32", ndim=2)`.

    A name of an element type that stands alone is the type, not the size.
    """

    def __init__(self, shape: Any = None, dtype: Any = None, vdevice: Any = None, ndim: int | None = None):
        if isinstance(shape, str) and dtype is None and shape in dtypes.NAMES:
            shape, dtype = None, shape
        _check_device(vdevice)
        self.shape: ShapeExpr | None = None if shape is None else shape_of(shape)
        if self.shape is not None and ndim not in (None, -1, len(self.shape)):
            raise GraphError(f"a tensor of shape {_sizes(self.shape)} has {len(self.shape)} axes, not {ndim}")
        self.ndim = (-1 if ndim is None else ndim) if self.shape is None else len(self.shape)
        self.dtype = (
            "" if dtype is None and self.shape is None else checked_dtype("float32" if dtype is None else dtype)
        )

    def __str__(self) -> str:
        rank = [f"ndim={self.ndim}"] * (self.shape is None and self.ndim >= 0)
        words = [_sizes(self.shape)] * (self.shape is not None) + [f'dtype="{self.dtype}"'] * bool(self.dtype) + rank
        return f"R.Tensor({', '.join(words)})"

    __repr__ = __str__

    def _agrees(self, other: StructInfo) -> bool:
        """Element type and rank are equal, and so are sizes that are numbers."""
        if not isinstance(other, TensorStructInfo):
            return False
        if self.dtype and other.dtype and self.dtype != other.dtype:
            return False
        if self.ndim >= 0 and other.ndim >= 0 and self.ndim != other.ndim:
            return False
        return _sizes_agree(self.shape, other.shape)


class PrimStructInfo(TensorStructInfo):
    """The value is a number: `R.Prim("int64")` is a tensor without axes, `R.Tensor((), "int64")`."""

    def __init__(self, dtype: Any = None, value: Any = None):
        if value is not None or dtype is None:
            raise GraphError(
                f"R.Prim has an element type, not a value ({short_repr(value)}); fix: a number is R.const(2, "
                '"int64"); a size comes with the shape of a tensor, R.Tensor(("n",), "float32")'
            )
        super().__init__((), dtype)


class TupleStructInfo(StructInfo):
    """The value is a tuple."""

    def __init__(self, fields: Iterable[StructInfo]):
        self.fields = [as_struct_info(f) for f in fields]

    def _agrees(self, other: StructInfo) -> bool:
        return (
            isinstance(other, TupleStructInfo)
            and len(self.fields) == len(other.fields)
            and all(a.could_be(b) for a, b in zip(self.fields, other.fields, strict=True))
        )

    def __str__(self) -> str:
        return f"R.Tuple({', '.join(map(str, self.fields))})"

    __repr__ = __str__


class DynTensorType:
    """The type of a tensor without its shape, in the spelling of 2022: `DynTensorType(2, "float32")`."""

    def __init__(self, ndim: int = -1, dtype: str | None = "float32"):
        self.ndim, self.dtype = ndim, dtype

    def __repr__(self) -> str:
        return f'Tensor(ndim={self.ndim}, dtype="{self.dtype}")'


def _check_device(vdevice: Any) -> None:
    """Errors: GraphError for another device than the CPU."""
    kind = str(getattr(vdevice, "target", vdevice)).partition(":")[0].split(" ")[0]
    if vdevice is not None and kind not in ("cpu", "llvm"):
        raise GraphError(f'graphs run on the CPU, not on {short_repr(vdevice)}; fix: vdevice="cpu", or none')


def as_struct_info(given: Any) -> StructInfo:
    """A StructInfo, also of what stands for one without being called, such as `R.Tensor`."""
    if isinstance(given, StructInfo):
        return given
    if given is TensorStructInfo or given is ShapeStructInfo or given is ObjectStructInfo:
        return given()
    if isinstance(given, DynTensorType):
        return TensorStructInfo(None, given.dtype, ndim=given.ndim)
    if getattr(given, "tir_construct", "") == "dtype":  # T.int64
        return PrimStructInfo(given.dtype)
    if isinstance(given, (list, tuple)):
        return TupleStructInfo(given)
    raise GraphError(f'the annotation of a value is R.Tensor((1, 784), "float32"), not {short_repr(given)}')


def shape_of(given: Any) -> ShapeExpr:
    """A shape: numbers stay, text becomes variables. Errors: GraphError."""
    if isinstance(given, (int, str, TeExpr)) or hasattr(given, "__index__"):
        given = (given,)
    if not isinstance(given, (tuple, list)):
        raise GraphError(f"a shape is a tuple of sizes, not {short_repr(given)}")
    return ShapeExpr(_size(size) for size in given)


def _size(given: Any) -> Any:
    if isinstance(given, TeExpr):
        return given
    text = SIZES.text(given)  # checks it
    return SIZES.expression(text) if isinstance(text, str) else text


def _sizes_agree(one: Sequence[Any] | None, other: Sequence[Any] | None) -> bool:
    """Whether sizes that are numbers in both shapes are equal."""
    pairs = zip(one or (), other or (), strict=False)
    return all(a == b for a, b in pairs if isinstance(a, int) and isinstance(b, int))


def sizes_text(shape: Iterable[Any]) -> tuple[str, ...]:
    """A shape as text, for comparison."""
    return tuple(map(str, shape))


def _sizes(shape: Sequence[Any] | None) -> str:
    texts = sizes_text(shape or ())
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
