"""Calls as Python functions: of operators, `op.nn.softmax(x, axis=-1)`, of programs and of registered functions."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.expressions.infer_types import signature, split_arguments
from tir_mlir.graph.expressions.nodes import Call, Expr, ExternFunc, Op, Operand, PrimValue, Tuple, as_expr
from tir_mlir.graph.expressions.read_graph import BRANCH, CALL_DPS_PACKED, CALL_TIR, LOOP
from tir_mlir.graph.expressions.struct_info import SIZES, StructInfo, TensorStructInfo, as_struct_info
from tir_mlir.graph.operators import OPERATORS

if TYPE_CHECKING:
    from tir_mlir.graph.size_code import ShapeLike, SizeLike
    from tir_mlir.script.module import GlobalVar, PrimFunc

Arguments: TypeAlias = "Tuple | Operand | Sequence[Operand]"
"""What a function is called with: several values, or one."""
ResultInfo: TypeAlias = "StructInfo | ShapeLike | Sequence[StructInfo] | Sequence[ShapeLike]"
"""What results are: types, or shapes."""


class OperatorSpace:
    """The operators whose names begin with a prefix, as attributes: `R.add`, `R.nn.relu`."""

    def __init__(self, prefix: str = "", word: str = "R"):
        self._prefix, self._word = prefix, word

    def __getattr__(self, name: str) -> Callable[..., Call] | OperatorSpace:
        if name.startswith("__"):
            raise AttributeError(name)
        function = find(self._prefix + name, self._word)
        self.__dict__[name] = function
        return function

    def __dir__(self) -> Iterator[str]:  # type: ignore[override]
        return iter({n[len(self._prefix) :].split(".")[0] for n in OPERATORS if n.startswith(self._prefix)})

    def __repr__(self) -> str:
        return f"<the operators {self._word}.{self._prefix}*>"


def find(name: str, word: str = "R") -> Callable[..., Call] | OperatorSpace:
    """The function that calls an operator, or the space of operators below a name. Errors: NoSuchOperator."""
    if name in _COMPOSED:
        return _COMPOSED[name]
    name = _ALIASES.get(name, name)
    if name in OPERATORS:
        return operator_function(name)
    if any(operator.startswith(f"{name}.") for operator in OPERATORS):
        return OperatorSpace(f"{name}.", word)
    if name in _REFUSED:
        raise NoSuchOperator(f"{word}.{name} is not supported: {_REFUSED[name]}")
    raise NoSuchOperator(f"no operator {word}.{name}{_suggestion(name)}")


class NoSuchOperator(GraphError, AttributeError):
    """An operator that the table does not have."""


def _suggestion(name: str) -> str:
    near = difflib.get_close_matches(name, OPERATORS, n=3, cutoff=0.6)
    way = f"; near: {', '.join(near)}" if near else ""
    return f"{way}; fix: call_te with a te function of your own, or T.prim_func with R.call_tir"


def operator_function(name: str) -> Callable[..., Call]:
    """The Python function that makes a call of an operator of the table."""
    operator = OPERATORS[name]

    def function(*args: object, **keywords: object) -> Call:
        operands, attrs = split_arguments(operator, args, keywords)
        return Call(Op.get(f"relax.{name}"), typed_operands(operands), {k: _attribute(v) for k, v in attrs.items()})

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = operator.te.__doc__
    function.__signature__ = signature(operator)  # type: ignore[attr-defined]
    return function


def typed_operands(operands: Sequence[object]) -> list[Expr]:
    """Operands as expressions; a number without a type of its own has that of the first value."""
    numbers = [o.value if isinstance(o, PrimValue) and not o.typed else o for o in operands]
    dtype = next((getattr(o.struct_info, "dtype", None) for o in numbers if isinstance(o, Expr)), None)
    if not dtype:
        return [as_expr(o) for o in operands]
    return [as_expr(np.asarray(n, dtype) if isinstance(n, (bool, int, float)) else n) for n in numbers]


def _attribute(value: object, nested: bool = False) -> object:
    """An attribute as the te function of an operator takes it; text in a sequence is a size."""
    if isinstance(value, (tuple, list)):
        return tuple(_attribute(v, True) for v in value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PrimValue):
        return value.value
    return SIZES.expression(value) if nested and isinstance(value, str) else value


def call_tir(
    func: GlobalVar | PrimFunc | str,
    args: Arguments,
    out_sinfo: ResultInfo | None = None,
    tir_vars: object = None,
    *,
    out_ty: ResultInfo | None = None,
    shape: ResultInfo | None = None,
    dtype: str | Sequence[str] | None = None,
) -> Call:
    """A call of a TensorIR function, whose last parameters are its results.

    `call_tir(cls.f, (x, w), out_sinfo=R.Tensor((1, 128), "float32"))`; out_ty is its newer name; in the spelling of
    2022 `call_tir(f, (x, w), (1, 128), dtype="float32")`. A list of R.Tensor is several results. Text instead of a
    function is the name of a registered one. Errors: GraphError for tir_vars: sizes are taken from shapes.
    """
    if tir_vars is not None:
        raise GraphError(
            f"call_tir does not take tir_vars={short_repr(tir_vars)}; fix: sizes are taken from the shapes of tensors"
        )
    infos = _results(_single_result_type(out_sinfo, out_ty, shape), dtype)
    if type(func) is str:  # a GlobalVar is a function of the module
        return Call(CALL_DPS_PACKED, [ExternFunc(func), _inputs(args)], sinfo_args=infos)
    return Call(CALL_TIR, [func, _inputs(args)], sinfo_args=infos)


def branch(condition: Expr, then: GlobalVar, otherwise: GlobalVar, args: Arguments, *, out_sinfo: ResultInfo) -> Call:
    """What one of two regions computes, functions with the attribute `region`: `branch(p, cls.f, cls.g, (x,), ...)`."""
    return Call(BRANCH, [condition, then, otherwise, _inputs(args)], sinfo_args=_results(out_sinfo, None))


def loop(body: GlobalVar, args: Arguments, *, out_sinfo: ResultInfo, **facts: SizeLike | None) -> Call:
    """Steps of a region, see `GraphBuilder.loop`: `loop(cls.body, (n, x), carried=1, given=True, ...)`."""
    facts = {name: SIZES.text(v) if name == "steps" and v is not None else v for name, v in facts.items()}
    return Call(LOOP, [body, _inputs(args)], facts, sinfo_args=_results(out_sinfo, None))


def call_dps_packed(
    func: ExternFunc | str,
    args: Arguments,
    out_sinfo: ResultInfo | None = None,
    *,
    out_ty: ResultInfo | None = None,
    shape: ResultInfo | None = None,
    dtype: str | Sequence[str] | None = None,
) -> Call:
    """A call of a registered function, which writes into the arrays that it is given last. Results as of `call_tir`."""
    infos = _results(_single_result_type(out_sinfo, out_ty, shape), dtype)
    callee = func if isinstance(func, ExternFunc) else ExternFunc(_name(func))
    return Call(CALL_DPS_PACKED, [callee, _inputs(args)], sinfo_args=infos)


def _single_result_type(*candidates: ResultInfo | None) -> ResultInfo | None:
    """The one that is given, None if none is. Errors: GraphError for several."""
    types = [g for g in candidates if g is not None]
    if len(types) > 1:
        raise GraphError("a call has its result types once; fix: out_sinfo, or out_ty, which is its newer name")
    return types[0] if types else None


def _name(symbol: object) -> str:
    if not isinstance(symbol, str):
        raise GraphError(f'call_dps_packed takes the name of a registered function, "env.f", not {short_repr(symbol)}')
    return str(symbol)


def _inputs(args: Arguments) -> Tuple:
    return args if isinstance(args, Tuple) else Tuple(args if isinstance(args, (tuple, list)) else [args])


def _results(out_sinfo: ResultInfo | None, dtype: Any) -> Sequence[StructInfo]:
    """The types of results: one, several, or a shape with its type beside it."""
    if out_sinfo is None:
        raise GraphError('a call needs the type of its result; fix: out_sinfo=R.Tensor((1, 128), "float32")')
    if isinstance(out_sinfo, StructInfo):
        return list(getattr(out_sinfo, "fields", [out_sinfo]))
    items: list[Any] = list(out_sinfo) if isinstance(out_sinfo, (tuple, list)) else [out_sinfo]
    if items and all(isinstance(i, StructInfo) for i in items):
        return [as_struct_info(i) for i in items]
    if items and all(isinstance(i, (tuple, list)) for i in items):  # shapes
        names = dtype if isinstance(dtype, (tuple, list)) else [dtype] * len(items)
        return [TensorStructInfo(i, d) for i, d in zip(items, names, strict=True)]
    return [TensorStructInfo(items, dtype)]


def linear(data: Operand, weight: Operand, bias: Operand | None = None, out_dtype: str | None = None) -> Call:
    """`data @ weight.T + bias`, of three operators."""
    product = operator_function("matmul")(data, operator_function("permute_dims")(weight), out_dtype)
    return product if bias is None else operator_function("add")(product, bias)


def full(*args: Any, shape: ShapeLike | None = None, fill_value: Operand | None = None, dtype: str = "float32") -> Call:
    """A tensor of one number: `full((2, 3), 1.0)`; or of one element, `full((2, 3), value, "float16")`."""
    positional = list(args)
    shape = positional.pop(0) if shape is None and positional else shape
    value = positional.pop(0) if positional else fill_value
    dtype = positional.pop(0) if positional else dtype
    if positional or shape is None:
        raise GraphError("full takes a shape, a number or a tensor of one element, and a type")
    operands, attrs = ([], {"fill_value": value}) if isinstance(value, (bool, int, float)) else ([value], {})
    return Call(Op.get("relax.full"), typed_operands(operands), {"shape": _attribute(shape), "dtype": dtype, **attrs})


_BATCH_NORM = ("axis", "epsilon", "center", "scale", "momentum", "training")


def batch_norm(*args: object, momentum: float | None = None, training: bool = False, **attrs: object) -> Call:
    """The normalized value, by the running mean and variance: `batch_norm(x, gamma, beta, mean, var, axis=1)`.

    momentum is without effect. Errors: GraphError for training=True.
    """
    tensors, options = args[:5], dict(zip(_BATCH_NORM, args[5:], strict=False))
    if options.pop("training", training):
        raise GraphError(
            "nn.batch_norm with training=True normalizes by the data itself; fix: training=False, or operators of your "
            "own: R.mean, R.variance"
        )
    options.pop("momentum", momentum)
    return operator_function("nn.batch_norm")(*tensors, **options, **attrs)


_COMPOSED: dict[str, Callable[..., Call]] = {"full": full, "linear": linear, "nn.batch_norm": batch_norm}
"""Functions with arguments of their own, that call operators of the table."""

_ALIASES = {"dense": "nn.dense", "relu": "nn.relu"}
"""Operators that are also found by another name."""

_PACKED = 'R.call_dps_packed("env.f", (x,), out_sinfo=R.Tensor(...)) calls a registered function, the result last'
_VALUES = "functions are members of the module, and are called by cls.f(x)"
_REFUSED = {
    **dict.fromkeys(("call_packed", "call_pure_packed", "call_inplace_packed", "call_py_func"), _PACKED),
    "call_tir_inplace": "R.call_tir, whose result is written over an operand where that is the last use of it",
    "call_tir_with_grad": "graphs are run, not differentiated; R.call_tir",
    **dict.fromkeys(("Callable", "make_closure", "invoke_closure", "invoke_pure_closure"), _VALUES),
    **dict.fromkeys(("print", "assert_op"), "a graph has no side effects; return the value, and test it in Python"),
    **dict.fromkeys(("shape_to_tensor", "tensor_to_shape", "size"), "sizes are those of shapes, not values"),
    **dict.fromkeys(("nonzero", "unique"), "the sizes of results are known before a graph is run"),
}
"""Names of TVM's `R` that are not of operators, and what to write instead."""
