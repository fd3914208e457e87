"""What is known of the value of an expression: of a tensor its shape and element type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.ir import dtypes
from tir_mlir.graph.size_code import GraphSizes, checked_dtype
from tir_mlir.te import Var
from tir_mlir.te.expr import Expr as TeExpr

if TYPE_CHECKING:
    import numpy as np

    from tir_mlir.graph.size_code import ShapeLike, SizeLike
    from tir_mlir.te import Tensor

Dim: TypeAlias = int | TeExpr
"""A size of a shape: a number, or a te expression of named sizes."""
Annotation: TypeAlias = "StructInfo | type[StructInfo] | DynTensorType | Sequence[Annotation]"
"""What stands for a StructInfo: `R.Tensor` is one of which nothing else is known."""


class _SharedSizes(GraphSizes):
    """Sizes of all functions: a name is one size, whatever variable of the user's has it."""

    def _adopt(self, key: str, leaf: Var | Tensor) -> None:
        if leaf.name not in self.variables and isinstance(leaf, Var):
            self.variables[leaf.name] = leaf
        self._names[key] = leaf.name


SIZES = _SharedSizes()
"""The variables that sizes given as text stand for: one for a name."""


class ShapeExpr(tuple[Dim, ...]):
    """A shape: numbers, and te expressions of named sizes."""

    kinds = ("shape_expr",)

    @property
    def values(self) -> tuple[Dim, ...]:
        return tuple(self)

    @property
    def struct_info(self) -> ShapeStructInfo:
        return ShapeStructInfo(self)


class StructInfo:
    """What is known of a value."""

    def is_equal_to(self, rhs: object) -> bool:
        """Whether another type has the same kind, shape and element type."""
        return isinstance(rhs, StructInfo) and str(self) == str(rhs)

    def could_be(self, rhs: StructInfo) -> bool:
        """Whether a value can have both types: they agree in kind and in all sizes known of both."""
        return isinstance(self, ObjectStructInfo) or isinstance(rhs, ObjectStructInfo) or self._agrees(rhs)

    def _agrees(self, rhs: StructInfo) -> bool:
        return self.is_equal_to(rhs)

    __repr__ = object.__repr__

    def __eq__(self, rhs: object) -> bool:
        return self.is_equal_to(rhs)

    def __hash__(self) -> int:
        return hash(str(self))


class ObjectStructInfo(StructInfo):
    """Nothing is known."""

    def __str__(self) -> str:
        return "R.Object"

    __repr__ = __str__


class ShapeStructInfo(StructInfo):
    """The value is a shape."""

    def __init__(self, values: ShapeLike | None = None, ndim: int = -1):
        self.values = None if values is None else shape_of(values)
        self.ndim = ndim if self.values is None else len(self.values)

    def _agrees(self, rhs: StructInfo) -> bool:
        if not isinstance(rhs, ShapeStructInfo) or (self.ndim != rhs.ndim and min(self.ndim, rhs.ndim) >= 0):
            return False
        return _sizes_agree(self.values, rhs.values)

    def __str__(self) -> str:
        return f"R.Shape({_sizes(self.values)})" if self.values is not None else f"R.Shape(ndim={self.ndim})"

    __repr__ = __str__


class TensorStructInfo(StructInfo):
    """The value is a tensor: `TensorStructInfo((1, "n"), "float32")`, or only its rank is known: `("float32", ndim=2)`.

    A name of an element type that stands alone is the type, not the size.
    """

    def __init__(
        self,
        shape: ShapeLike | None = None,
        dtype: str | np.dtype | None = None,
        vdevice: object = None,
        ndim: int | None = None,
    ):
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

    def _agrees(self, rhs: StructInfo) -> bool:
        """Element type and rank are equal, and so are sizes that are numbers."""
        if not isinstance(rhs, TensorStructInfo):
            return False
        if self.dtype and rhs.dtype and self.dtype != rhs.dtype:
            return False
        if self.ndim >= 0 and rhs.ndim >= 0 and self.ndim != rhs.ndim:
            return False
        return _sizes_agree(self.shape, rhs.shape)


class PrimStructInfo(TensorStructInfo):
    """The value is a number: `R.Prim("int64")` is a tensor without axes, `R.Tensor((), "int64")`."""

    def __init__(self, dtype: str | None = None, value: object = None):
        if value is not None or dtype is None:
            raise GraphError(
                f"R.Prim has an element type, not a value ({short_repr(value)}); fix: a number is R.const(2, "
                '"int64"); a size comes with the shape of a tensor, R.Tensor(("n",), "float32")'
            )
        super().__init__((), dtype)


class TupleStructInfo(StructInfo):
    """The value is a tuple."""

    def __init__(self, fields: Iterable[Annotation]):
        self.fields = [as_struct_info(f) for f in fields]

    def _agrees(self, rhs: StructInfo) -> bool:
        return (
            isinstance(rhs, TupleStructInfo)
            and len(self.fields) == len(rhs.fields)
            and all(a.could_be(b) for a, b in zip(self.fields, rhs.fields, strict=True))
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


def _check_device(vdevice: object) -> None:
    """Errors: GraphError for another device than the CPU."""
    kind = str(getattr(vdevice, "target", vdevice)).partition(":")[0].split(" ")[0]
    if vdevice is not None and kind not in ("cpu", "llvm"):
        raise GraphError(f'graphs run on the CPU, not on {short_repr(vdevice)}; fix: vdevice="cpu", or none')


def as_struct_info(annotation: object) -> StructInfo:
    """A StructInfo, also of what stands for one without being called, such as `R.Tensor`."""
    if isinstance(annotation, StructInfo):
        return annotation
    if annotation is TensorStructInfo or annotation is ShapeStructInfo or annotation is ObjectStructInfo:
        return annotation()
    if isinstance(annotation, DynTensorType):
        return TensorStructInfo(None, annotation.dtype, ndim=annotation.ndim)
    if getattr(annotation, "tir_construct", "") == "dtype":  # T.int64
        return PrimStructInfo(str(getattr(annotation, "dtype", "")))
    if isinstance(annotation, (list, tuple)):
        return TupleStructInfo(annotation)
    raise GraphError(f'the annotation of a value is R.Tensor((1, 784), "float32"), not {short_repr(annotation)}')


def shape_of(dims: ShapeLike) -> ShapeExpr:
    """A shape: numbers remain, text becomes variables. Errors: GraphError."""
    sizes = (dims,) if isinstance(dims, (SupportsIndex, str, TeExpr)) else dims
    if not isinstance(sizes, (tuple, list)):
        raise GraphError(f"a shape is a tuple of sizes, not {short_repr(dims)}")
    return ShapeExpr(_size(size) for size in sizes)


def _size(dim: SizeLike) -> Dim:
    if isinstance(dim, TeExpr):
        return dim
    text = SIZES.text(dim)  # checks it
    return SIZES.expression(text) if isinstance(text, str) else text


def _sizes_agree(lhs: Sequence[Dim] | None, rhs: Sequence[Dim] | None) -> bool:
    """Whether sizes that are numbers in both shapes are equal."""
    pairs = zip(lhs or (), rhs or (), strict=False)
    return all(a == b for a, b in pairs if isinstance(a, int) and isinstance(b, int))


def sizes_text(shape: Iterable[object]) -> tuple[str, ...]:
    """A shape as text, for comparison."""
    return tuple(map(str, shape))


def _sizes(shape: Sequence[Dim] | None) -> str:
    texts = sizes_text(shape or ())
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
