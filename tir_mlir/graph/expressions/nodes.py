"""Expressions of graphs as Python objects: variables, calls, constants, tuples, and the bindings of variables.

They are what visitors read and rewriters build; `read_graph` and `write_graph` convert from MLIR and to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.expressions.infer_types import infer_operator
from tir_mlir.graph.expressions.struct_info import (
    Annotation,
    DynTensorType,
    ObjectStructInfo,
    ShapeExpr,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    as_struct_info,
)
from tir_mlir.graph.operators import OPERATORS, shown_operands
from tir_mlir.graph.rewrite import Op
from tir_mlir.graph.size_code import checked_dtype
from tir_mlir.script.module import GlobalVar, PrimFunc
from tir_mlir.te import Expr as TeExpr

if TYPE_CHECKING:
    from tir_mlir.graph.operators.attributes import Attribute

Operand: TypeAlias = "Expr | np.ndarray | np.generic | float"
"""An operand of arithmetic: an expression, or what becomes a constant."""
Callee: TypeAlias = "Op | GlobalVar | ExternFunc"
"""What a call calls."""


@runtime_checkable
class SupportsNumpy(Protocol):
    """An array of another library."""

    def numpy(self) -> np.ndarray: ...


class Attrs(dict[str, Any]):
    """The attributes of a call or of a function: `attrs["axis"]`, or `attrs.axis`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no attribute {name}; there are {', '.join(self) or 'none'}") from None


class ExternFunc:
    """A registered function of Python or C."""

    kinds = ("extern_func",)

    def __init__(self, global_symbol: str):
        self.global_symbol = global_symbol

    def __repr__(self) -> str:
        return f'ExternFunc("{self.global_symbol}")'


class Expr:
    """A value of a graph. Arithmetic of two values is a call of an operator."""

    struct_info: Any = ObjectStructInfo()  # a StructInfo; what is read of it depends on the kind
    kinds: tuple[str, ...] = ()
    """What it is, in the words of visitors; that of its class first."""

    @property
    def struct_info_(self) -> StructInfo:
        return self.struct_info

    @property
    def ty(self) -> StructInfo:
        """The newer name of `struct_info`."""
        return self.struct_info

    @property
    def shape(self) -> ShapeExpr:
        """Errors: GraphError for a value whose shape is not known."""
        sizes = getattr(self.struct_info, "shape", None)
        if sizes is None:
            raise GraphError(f"the shape of {self!r} is not known; it is {self.struct_info}")
        return sizes

    shape_ = shape

    @property
    def dtype(self) -> str:
        return self.struct_info.dtype

    @property
    def ndim(self) -> int:
        return self.struct_info.ndim

    @property
    def checked_type(self) -> DynTensorType:
        """The type without the shape, in the spelling of 2022."""
        return DynTensorType(self.ndim, self.dtype)

    _checked_type_ = checked_type

    def same_as(self, other: object) -> bool:
        return self is other

    def __add__(self, rhs: Operand) -> Call:
        return _binary("add", self, rhs)

    def __radd__(self, lhs: Operand) -> Call:
        return _binary("add", lhs, self)

    def __sub__(self, rhs: Operand) -> Call:
        return _binary("subtract", self, rhs)

    def __rsub__(self, lhs: Operand) -> Call:
        return _binary("subtract", lhs, self)

    def __mul__(self, rhs: Operand) -> Call:
        return _binary("multiply", self, rhs)

    def __rmul__(self, lhs: Operand) -> Call:
        return _binary("multiply", lhs, self)

    def __truediv__(self, rhs: Operand) -> Call:
        return _binary("divide", self, rhs)

    def __rtruediv__(self, lhs: Operand) -> Call:
        return _binary("divide", lhs, self)

    def __pow__(self, exponent: Operand) -> Call:
        return _binary("power", self, exponent)

    def __neg__(self) -> Call:
        return Call(Op.get("relax.negative"), [self])

    first_of_tuple = False
    """Whether TVM has a tuple here, of which this is the first value: then `value[0]` is the value itself."""

    def __getitem__(self, index: int) -> Expr:
        return self if self.first_of_tuple and index == 0 else TupleGetItem(self, index)

    def __iter__(self) -> Iterator[Expr]:
        fields = getattr(self.struct_info, "fields", None)
        if fields is None:
            raise GraphError(f"{self!r} is not a tuple; it is {self.struct_info}")
        return (TupleGetItem(self, n) for n in range(len(fields)))


class Var(Expr):
    """A variable: a parameter of a function, or the name of what a binding computes.

    `Var("x", R.Tensor((1, 784), "float32"))`; in that of 2022 `Var("x", (1, 784), DynTensorType(2, "float32"))`.
    """

    kinds = ("var",)

    def __init__(
        self,
        name_hint: str,
        struct_info: Any = None,  # Annotation | ShapeLike | None
        type_annotation: DynTensorType | None = None,
        span: object = None,
    ):
        if not isinstance(name_hint, str):
            raise GraphError(f"the name of a variable is text, not {short_repr(name_hint)}")
        self.name_hint = name_hint
        if isinstance(struct_info, (tuple, list)) and not any(isinstance(s, StructInfo) for s in struct_info):
            struct_info = TensorStructInfo(struct_info, getattr(type_annotation, "dtype", None))
        self.struct_info = ObjectStructInfo() if struct_info is None else as_struct_info(struct_info)

    @property
    def name(self) -> str:
        """The newer name of `name_hint`."""
        return self.name_hint

    def __repr__(self) -> str:
        return self.name_hint


class DataflowVar(Var):
    """A variable that is used inside its dataflow block only."""

    kinds = ("dataflow_var", "var")


class _Data(np.ndarray):
    """The array of a constant, which is also asked for a NumPy array."""

    def numpy(self) -> np.ndarray:
        """A copy as a plain array."""
        return np.array(self, subok=False)

    asnumpy = numpy


class Constant(Expr):
    """A constant array."""

    kinds = ("constant",)

    def __init__(self, data: np.ndarray):
        self.array = np.asarray(data)
        self.struct_info = TensorStructInfo(tuple(int(n) for n in data.shape), str(data.dtype))

    @property
    def data(self) -> _Data:
        """The array; `constant.data.numpy()` is a copy."""
        return self.array.view(_Data)

    def __repr__(self) -> str:
        return f"R.const({self.array.tolist() if self.array.size < 9 else '...'}, {str(self.array.dtype)!r})"


class PrimValue(Constant):
    """A number: as an operand a constant without axes, as an attribute of an operator the number itself.

    Without a dtype it takes the type of the operand beside it, and is int64, float64 or bool alone.
    """

    kinds = ("prim_value", "constant")

    def __init__(self, value: bool | int | float, dtype: str | None = None):
        if isinstance(value, np.generic):
            dtype, value = dtype or value.dtype.name, value.item()
        if not isinstance(value, (bool, int, float)):
            raise GraphError(f"prim_value takes a number, not {short_repr(value)}")
        self.value, self.typed = value, dtype is not None
        super().__init__(np.asarray(value, checked_dtype(dtype or _NUMBERS[type(value)])))


_NUMBERS = {bool: "bool", int: "int64", float: "float64"}
"""The element types of the numbers of Python, as a `prim_value` has them."""


def prim_value(value: PrimValue | TeExpr | float, dtype: str | None = None) -> PrimValue | TeExpr:
    """A number of a graph, `prim_value(2)`; an expression of sizes remains what it is: an attribute."""
    if isinstance(value, (PrimValue, TeExpr)):
        return value
    return PrimValue(getattr(value, "value", value), dtype or getattr(value, "dtype", None))


class Tuple(Expr):
    """A tuple of values."""

    kinds = ("tuple",)

    def __init__(self, fields: Sequence[object]):
        self.fields = [as_expr(f) for f in fields]
        self.struct_info = TupleStructInfo([f.struct_info for f in self.fields])

    def __getitem__(self, index: int) -> Expr:
        return self.fields[index]

    def __iter__(self) -> Iterator[Expr]:
        return iter(self.fields)

    def __len__(self) -> int:
        return len(self.fields)

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self.fields))}{',' * (len(self.fields) == 1)})"


class TupleGetItem(Expr):
    """One value of a tuple."""

    kinds = ("tuple_getitem",)

    def __init__(self, tuple_value: Expr, index: int):
        fields = getattr(tuple_value.struct_info, "fields", None)
        if fields is None:
            why = "; it is the only value that is computed" if tuple_value.first_of_tuple else ""
            raise GraphError(f"{tuple_value!r} is not a tuple: it has no item {index}{why}")
        if not isinstance(index, int) or not -len(fields) <= index < len(fields):
            raise IndexError(f"{tuple_value!r} has {len(fields)} items: no item {short_repr(index)}")
        self.tuple_value, self.index = tuple_value, index % len(fields)
        self.struct_info = fields[self.index]

    def __repr__(self) -> str:
        return f"{self.tuple_value!r}[{self.index}]"


class Call(Expr):
    """A call of an operator, of a function of the module, or of a registered function.

    `Call(Op.get("relax.nn.softmax"), [x], {"axis": -1})`. Its `struct_info` is inferred.
    """

    kinds = ("call",)

    def __init__(
        self,
        op: Callee | str,
        args: Sequence[object],
        attrs: Mapping[str, object] | None = None,
        sinfo_args: StructInfo | Sequence[Annotation] | None = None,
        span: object = None,
        *,
        ty_args: StructInfo | Sequence[Annotation] | None = None,
        ret_ty: Annotation | None = None,
    ):
        """sinfo_args: the types of the results of a called function; ty_args: its newer name.

        ret_ty: the type of the value, where it is known. Errors: GraphError for one that it cannot be.
        """
        if isinstance(op, str) and not isinstance(op, GlobalVar):
            op = Op.get(op)
        self.op = op
        self.args, self.attrs = _with_shape(op, list(args), Attrs(attrs or {}))
        types = ty_args if sinfo_args is None else sinfo_args
        self.sinfo_args = [as_struct_info(s) for s in ([types] if isinstance(types, StructInfo) else types or [])]
        self._struct_info: StructInfo | None = None
        if ret_ty is not None:
            self._struct_info = checked_type(repr(self), as_struct_info(ret_ty), infer(self))

    @property
    def ty_args(self) -> list[StructInfo]:
        """The newer name of `sinfo_args`."""
        return self.sinfo_args

    @property
    def struct_info(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        if self._struct_info is None:
            self._struct_info = infer(self)
        return self._struct_info

    @struct_info.setter
    def struct_info(self, annotation: Annotation) -> None:
        self._struct_info = as_struct_info(annotation)

    @property
    def first_of_tuple(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return isinstance(self.op, Op) and self.op.short in FIRST_OF_TUPLE

    @property
    def operands(self) -> list[Any]:
        """The arguments without the shape that is one of them."""
        return [a for a in self.args if not isinstance(a, ShapeExpr)]

    @property
    def all_attrs(self) -> dict[str, Attribute]:
        """The attributes, and the shape that is an argument."""
        shapes = [("shape", tuple(a)) for a in self.args if isinstance(a, ShapeExpr)]
        return {**dict(shapes), **self.attrs}

    def __repr__(self) -> str:
        name = self.op.name.replace("relax.", "R.", 1) if isinstance(self.op, Op) else _operand_text(self.op)
        keywords = [f"{k}={v!r}" for k, v in self.attrs.items()]
        operands = shown_operands(name.removeprefix("R."), [_operand_text(a) for a in self.args])
        return f"{name}({', '.join([*operands, *keywords])})"


FIRST_OF_TUPLE = ("nn.batch_norm",)
"""Operators with one result, that is the first of several in TVM; of batch_norm the others are running statistics."""


def _shape_argument(op: Callee) -> int | None:
    """Which argument of a call is the shape, `call.args[1]` of a reshape: it is not an attribute."""
    operator = OPERATORS.get(op.short) if isinstance(op, Op) else None
    if operator is None or "shape" not in operator.attrs:
        return None
    return sum(p.default is p.empty for p in operator.operands)


def _with_shape(op: Callee, args: list[Any], attrs: Attrs) -> tuple[list[Any], Attrs]:
    """Arguments as expressions and attributes: the shape is the argument that relax has it in."""
    shape_index = _shape_argument(op)
    if shape_index is not None and "shape" in attrs:
        args.insert(shape_index, attrs.pop("shape"))
    if shape_index is not None and shape_index < len(args) and isinstance(args[shape_index], (int, tuple, list)):
        args[shape_index] = ShapeExpr([args[shape_index]] if isinstance(args[shape_index], int) else args[shape_index])
    return [as_expr(a) for a in args], attrs


def _operand_text(value: object) -> str:
    """An operand as text; a function of the module is `cls.f`."""
    return f"cls.{value}" if isinstance(value, GlobalVar) else repr(value)


class VarBinding:
    """`var = value`."""

    def __init__(self, var: Var, value: Expr):
        self.var, self.value = var, value

    def __repr__(self) -> str:
        return f"{self.var!r} = {self.value!r}"


class BindingBlock:
    """Bindings in order."""

    def __init__(self, bindings: Sequence[VarBinding]):
        self.bindings = list(bindings)


class DataflowBlock(BindingBlock):
    """Bindings without side effects."""


class SeqExpr(Expr):
    """The body of a function: blocks of bindings, and its value."""

    kinds = ("seq_expr",)

    def __init__(self, blocks: Sequence[BindingBlock], body: Expr):
        self.blocks, self.body = list(blocks), body
        self.struct_info = body.struct_info

    @property
    def bindings(self) -> list[VarBinding]:
        """The bindings of all blocks, in order."""
        return [b for block in self.blocks for b in block.bindings]


def as_expr(expr: object) -> Any:
    """An expression; arrays and numbers are constants, tuples and lists are tuples."""
    if isinstance(expr, (Expr, GlobalVar, ExternFunc, ShapeExpr, Op, PrimFunc)):
        return expr
    if isinstance(expr, (bool, int, float, np.generic, np.ndarray)):
        return const(expr)
    if isinstance(expr, (tuple, list)):
        return Tuple(expr)
    if isinstance(expr, SupportsNumpy):
        return const(expr.numpy())
    if isinstance(expr, TeExpr):
        raise GraphError(
            f"{expr} is a size, not a value of a graph; fix: use it in a shape or in an attribute, or compute with it "
            "in a te function: bb.call_te"
        )
    raise GraphError(f"an operand is a value, a number or an array, not {short_repr(expr)}")


def const(value: object, dtype: str | DynTensorType | TensorStructInfo | None = None) -> Constant:
    """A constant: a number (float32 or int32, unless its type is given), or an array.

    dtype: a name, or a DynTensorType.
    """
    if isinstance(dtype, (DynTensorType, TensorStructInfo)):
        dtype = dtype.dtype or None
    if isinstance(value, SupportsNumpy) and not isinstance(value, np.ndarray):
        value = value.numpy()
    array = np.asarray(value)
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        dtype = {"f": "float32", "i": "int32"}.get(array.dtype.kind)
    return Constant(array if dtype is None else array.astype(dtype))


def _binary(name: str, lhs: Any, rhs: Operand) -> Call:
    """The type of a number is that of the other operand."""
    if isinstance(rhs, Expr) and not isinstance(lhs, Expr):
        lhs = const(lhs, rhs.dtype)
    elif isinstance(lhs, Expr) and not isinstance(rhs, Expr):
        rhs = const(rhs, lhs.dtype)
    return Call(Op.get(f"relax.{name}"), [lhs, rhs])


def checked_type(what: str, declared: StructInfo, inferred: StructInfo) -> StructInfo:
    """The type of a value: what is inferred, or declared where nothing is. Errors: GraphError if both cannot be."""
    if not inferred.could_be(declared):
        raise GraphError(f"{what} is {inferred}, not {declared}")
    return declared if isinstance(inferred, ObjectStructInfo) else inferred


def infer(call: Call) -> StructInfo:
    """What is known of the value of a call; of a function of the module only its module knows more."""
    if call.sinfo_args:
        return call.sinfo_args[0] if len(call.sinfo_args) == 1 else TupleStructInfo(call.sinfo_args)
    if isinstance(call.op, Op) and call.op.short in OPERATORS:
        return infer_operator(call.op.short, [a.struct_info for a in call.operands], call.all_attrs)
    return ObjectStructInfo()
