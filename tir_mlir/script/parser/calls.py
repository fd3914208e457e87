"""Calls in expressions: the words of the `T` namespace, methods of buffers, Python functions on Python values."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import lru_cache, reduce
from math import isfinite
from typing import TYPE_CHECKING, Any

from mlir import ir
from mlir.dialects import arith, math

from tir_mlir.dialect.ir import Index, dtypes
from tir_mlir.script.language.markers import DType
from tir_mlir.script.parser import arithmetic, expressions, pointers
from tir_mlir.script.parser.items import Const, Expr, Unbound, Value, describe, dtype_of, is_expr
from tir_mlir.script.parser.source import Refused

if TYPE_CHECKING:
    from tir_mlir.script.parser.expressions import Evaluator

_FLOAT_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": math.exp, "exp2": math.exp2, "log": math.log, "log2": math.log2, "log10": math.log10, "log1p": math.log1p,
    "sqrt": math.sqrt, "rsqrt": math.rsqrt, "tanh": math.tanh, "tan": math.tan, "sin": math.sin, "cos": math.cos,
    "atan": math.atan, "asin": math.asin, "acos": math.acos, "sinh": math.sinh, "cosh": math.cosh,
    "asinh": math.asinh, "acosh": math.acosh, "atanh": math.atanh, "erf": math.erf, "floor": math.floor,
    "ceil": math.ceil, "round": math.round, "nearbyint": math.roundeven, "trunc": math.trunc, "pow": math.powf,
    "atan2": math.atan2, "copysign": math.copysign, "fma": math.fma,
}  # fmt: skip
_FLOAT_TESTS = {"isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite}
_INT_FUNCTIONS = {"popcount": math.ctpop, "clz": math.ctlz}
_OPERATORS = {
    "max": "max", "min": "min", "floordiv": "//", "floormod": "%", "truncdiv": "truncdiv", "truncmod": "truncmod",
    "ceildiv": "ceildiv", "divide": "/", "add": "+", "subtract": "-", "multiply": "*", "shift_left": "<<",
    "shift_right": ">>", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
}  # fmt: skip
_COMPARISONS = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}
_PYTHON_WORDS = {"max": "max", "min": "min", "abs": "abs", "pow": "pow"}
_LIMITS = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
_LIMITS["float64"] = 1.7976931348623157e308


_LAZY = ("if_then_else", "type_annotation", "tvm_access_ptr", "address_of", "Let")  # these look at their argument nodes


@lru_cache(maxsize=256)
def _signature(word: Any) -> inspect.Signature:
    return inspect.signature(word.__wrapped__)


def _plain(signature: inspect.Signature) -> inspect.Signature:
    """The signature without types, for errors."""
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return inspect.Signature(bare)


def qualified(word: str) -> str:
    """A word as the program writes it."""
    return f"T.axis.{word}" if word in ("spatial", "reduce", "opaque", "scan", "remap") else f"T.{word}"


def bind(word: Any, node: ast.Call) -> dict[str, ast.expr]:
    """The argument nodes of a word by parameter name; wrong arguments are refused."""
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        raise Refused(f"T.{word.tir_word} takes its arguments one by one, not starred")
    signature = _signature(word)
    keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
    if "dtype" in keywords and "dtype" not in signature.parameters:
        del keywords["dtype"]  # older programs repeat the result type
    try:
        return dict(signature.bind(*node.args, **keywords).arguments)
    except TypeError as error:
        raise Refused(f"{qualified(word.tir_word)}{_plain(signature)}: {error}") from None


def call(evaluate: Evaluator, node: ast.Call) -> Any:
    """The item that a call denotes."""
    callee = evaluate(node.func)
    if isinstance(callee, pointers.Method):
        return _method(evaluate, callee, node)
    word = getattr(callee, "tir_word", None)
    if isinstance(callee, DType):
        return _dtype(evaluate, callee, node)
    if word in ("call_extern", "call_pure_extern"):
        return _call_extern(evaluate, node)
    if word is not None:
        return _word(evaluate, word, callee, node)
    if not callable(callee):
        raise Refused(f"{ast.unparse(node.func)} is {describe(callee)} and cannot be called")
    return _python(evaluate, callee, node)


def _word(evaluate: Evaluator, word: str, callee: Any, node: ast.Call) -> Any:
    if word not in _HANDLERS:
        raise Refused(f"T.{word} is a statement; it gives no value here")
    args = bind(callee, node)
    if word in _LAZY:
        return _HANDLERS[word](evaluate, node, args)
    items = [evaluate(n) for a in args.values() for n in (a if isinstance(a, tuple) else (a,))]
    with evaluate.state.source.location(node):
        return _HANDLERS[word](word, *items)


def apply(word: str, *items: Any) -> Any:
    """A word on items, without a program around: for building by hand."""
    if word not in _HANDLERS or word in _LAZY:
        raise Refused(f"{word} is no word on values; there are {', '.join(w for w in _HANDLERS if w not in _LAZY)}")
    return _HANDLERS[word](word, *items)


def _python(evaluate: Evaluator, callee: Any, node: ast.Call) -> Any:
    """A Python function called on Python values while parsing; min, max, abs and pow also take program values."""
    args = [evaluate(a) for a in node.args]
    keywords = {k.arg: evaluate(k.value) for k in node.keywords if k.arg}
    odd = [a for a in (*args, *keywords.values()) if is_expr(a) or hasattr(a, "stride_values")]
    name = getattr(callee, "__name__", repr(callee))
    if odd and getattr(callee, "__module__", "") == "builtins" and name in _PYTHON_WORDS:
        with evaluate.state.source.location(node):
            return _builtin(name, args)
    if odd:
        raise Refused(f"{name} is a Python function and cannot take {describe(odd[0])}; use a word of T")
    try:
        return callee(*args, **keywords)
    except Exception as error:  # noqa: BLE001  the user's own function failed; say so at the user's line
        raise Refused(f"{name}(...) raised {type(error).__name__}: {error}") from None


def _builtin(name: str, args: list[Any]) -> Any:
    """min and max take any number of arguments, as in Python."""
    word = _PYTHON_WORDS[name]
    if name in ("min", "max"):
        return reduce(lambda a, b: _HANDLERS[word](word, a, b), args)
    return _HANDLERS[word](word, *args)


# ---- conversions and constants


def _dtype(evaluate: Evaluator, callee: DType, node: ast.Call) -> Any:
    """`T.float32(x)`, and `T.int32()` for a variable."""
    if not node.args:
        return Unbound("?")
    item = evaluate(node.args[0])
    with evaluate.state.source.location(node):
        return convert(item, callee.dtype)


def convert(item: Any, dtype: Any) -> Expr:
    """`item` as `dtype`; a constant that fits is converted exactly, an index that is already int32 stays an index."""
    dtype = _named(dtype)
    if isinstance(item, str) and dtypes.is_float(dtype):
        try:
            return Const(float(item), dtype)
        except ValueError:
            raise Refused(f'{item!r} is no float; "inf", "-inf" and "nan" are') from None
    item = arithmetic.need(item)
    if isinstance(item, Const):
        if dtypes.is_float(dtype):
            return Const(float(item.value), dtype)
        if dtype == "bool":
            return Const(bool(item.value), dtype)
        if item.dtype and not arithmetic.holds(dtype, item.value):  # the machine converts it as it does
            return arithmetic.cast(Value(arithmetic.constant(item.value, item.dtype), item.dtype), dtype)
        if isinstance(item.value, float) and not isfinite(item.value):
            raise Refused(f"the constant {item.value} does not fit type {dtype}; use an integer or a float type")
        arithmetic.check_range(int(item.value), dtype)
        return Const(int(item.value), dtype)
    if isinstance(item, Index) and dtype == "int32":
        return item
    return arithmetic.cast(item, dtype)


def _named(dtype: Any) -> str:
    """The name of a type that is given by its name, or as T.float32."""
    dtype = dtype.dtype if isinstance(dtype, DType) else dtype
    if not isinstance(dtype, str) or dtype not in dtypes.NAMES:
        shown = dtype if isinstance(dtype, str) else describe(dtype)
        raise Refused(f"dtype {shown} is not supported; use one of {', '.join(dtypes.NAMES)}")
    return dtype


def _cast(word: str, first: Any, second: Any) -> Expr:
    value, dtype = (second, first) if word == "Cast" else (first, second)
    return convert(value, dtype)


def _limit(word: str, dtype: Any) -> Const:
    dtype = _named(dtype)
    if word == "infinity" and not dtypes.is_float(dtype):
        raise Refused(f"{dtype} has no infinity; the floats have: {', '.join(_LIMITS)}")
    if word == "infinity":
        return Const(float("inf"), dtype)
    if dtype in _LIMITS:
        return Const(_LIMITS[dtype] * (-1 if word == "min_value" else 1), dtype)
    top = 1 if dtype == "bool" else (1 << (dtypes.bits(dtype) - 1)) - 1
    return Const((0 if dtype == "bool" else -top - 1) if word == "min_value" else top, dtype)


# ---- mathematics


def _operands(word: str, items: tuple[Any, ...]) -> tuple[str, list[Expr]]:
    exprs = [arithmetic.need(i) for i in items]
    dtype = dtype_of(exprs[0])
    for left, right in zip(exprs, exprs[1:], strict=False):
        dtype = arithmetic.common(left, right)
    return dtype, exprs


def _float_function(word: str, *items: Any) -> Value:
    dtype, exprs = _operands(word, items)
    if not dtypes.is_float(dtype):
        raise Refused(f'T.{word} takes floats, not {dtype}; convert first: T.Cast("float32", x)')
    return Value(_FLOAT_FUNCTIONS[word](*[arithmetic.to_value(e, dtype) for e in exprs]), dtype)


def _float_test(word: str, item: Any) -> Value:
    dtype, exprs = _operands(word, (item,))
    return Value(_FLOAT_TESTS[word](arithmetic.to_value(exprs[0], dtype)), "bool")


def _int_function(word: str, item: Any) -> Value:
    dtype, exprs = _operands(word, (item,))
    if dtypes.is_float(dtype):
        raise Refused(f"T.{word} takes integers, not {dtype}")
    return Value(_INT_FUNCTIONS[word](arithmetic.to_value(exprs[0], dtype)), dtype)


def _abs(word: str, item: Any) -> Expr:
    dtype, exprs = _operands(word, (item,))
    if isinstance(exprs[0], Const):
        return Const(abs(exprs[0].value), exprs[0].dtype)
    value = arithmetic.to_value(exprs[0], dtype)
    return Value((math.absf if dtypes.is_float(dtype) else math.absi)(value), dtype)


def _sigmoid(word: str, item: Any) -> Expr:
    value = _float_function("exp", arithmetic.negative(item))
    return arithmetic.binary("/", Const(1.0), arithmetic.binary("+", Const(1.0), value))


def _select(word: str, test: Any, then: Any, other: Any) -> Expr:
    """Both sides are computed."""
    test, then, other = arithmetic.condition(test), arithmetic.need(then), arithmetic.need(other)
    if isinstance(test, Const):
        return then if test.value else other
    dtype = arithmetic.common(then, other)
    values = [arithmetic.to_value(e, dtype) for e in (then, other)]
    return Value(arith.select(arithmetic.to_value(test, "bool"), *values), dtype)


def _joined(word: str, op: str, conditions: tuple[Any, ...]) -> Expr:
    if not conditions:
        raise Refused(f"T.{word} joins conditions: T.{word}(i >= 1, i < 9)")
    return reduce(lambda a, b: arithmetic.logical(op, a, b), conditions[1:], arithmetic.condition(conditions[0]))


# ---- pointers


def _method(evaluate: Evaluator, method: pointers.Method, node: ast.Call) -> Any:
    if method.name == "scope":
        return method.buffer.scope
    args = [evaluate(a) for a in node.args]
    keywords = {k.arg: evaluate(k.value) for k in node.keywords}
    mask = keywords.get("access_mask", args[0] if args else None)
    with evaluate.state.source.location(node):
        return pointers.access_ptr(method.buffer, mask, keywords.get("offset", 0))


def _tvm_access_ptr(evaluate: Evaluator, node: ast.Call, args: dict[str, ast.expr]) -> Any:
    """The extent is not looked at: the region is what the block declares."""
    data, offset, mask = (evaluate(args[n]) for n in ("data", "offset", "mask"))
    with evaluate.state.source.location(node):
        return pointers.tvm_access_ptr(data, offset, pointers.plain(mask, "the mask"))


def _address_of(evaluate: Evaluator, node: ast.Call, args: dict[str, ast.expr]) -> Any:
    """A pointer to one element: to the start of its buffer, plus the strides up to the element."""
    element = args["element"]
    region = evaluate.region(element)
    known, _ = ir.MemRefType(region.buffer.ssa.type).get_strides_and_offset()
    if not isinstance(element, ast.Subscript) or any(e.as_constant() != 1 for e in region.extents):
        raise Refused("T.address_of takes one element: T.address_of(A[i, j])")
    if any(s == ir.ShapedType.get_dynamic_stride_or_offset() for s in known):
        raise Refused(f"the strides of {region.buffer.name} are variables: where its elements lie is not known")
    offset = sum((m * s for m, s in zip(region.mins, known, strict=True)), Index.constant(0))
    with evaluate.state.source.location(node):
        return pointers.access_ptr(region.buffer, "rw", offset)


def _let(evaluate: Evaluator, node: ast.Call, args: dict[str, ast.expr]) -> Any:
    """The names stand for their values in the expression only."""
    where = args["where"]
    if not isinstance(where, ast.Dict) or not all(isinstance(k, ast.Name) for k in where.keys):
        raise Refused("T.Let names values: T.Let(x * x, where={x: A[vi]})")
    values = [evaluate(v) for v in where.values]
    with evaluate.state.scope.frame():
        for key, value in zip(where.keys, values, strict=True):
            evaluate.state.scope.define(key.id, value, key, "value")  # type: ignore[union-attr]
        return evaluate(args["expr"])


def _reinterpret(word: str, first: Any, second: Any) -> Value:
    value, dtype = (second, first) if isinstance(first, str | DType) else (first, second)
    dtype = _named(dtype)
    source = dtype_of(arithmetic.need(value))
    if dtypes.bits(source) != dtypes.bits(dtype) or "bool" in (source, dtype):
        raise Refused(f"T.reinterpret keeps the bits: {source} and {dtype} are not of one width")
    return Value(arith.bitcast(dtypes.to_mlir(dtype), arithmetic.to_value(value, source)), dtype)


def _call_extern(evaluate: Evaluator, node: ast.Call) -> Any:
    """Both orders: `("int32", "name", ...)`, and `("name", ..., dtype="int32")`."""
    items = [evaluate(a) for a in node.args]
    keywords = {k.arg: pointers.plain(evaluate(k.value), "dtype") for k in node.keywords}
    dtype = keywords.pop("dtype", None)
    if keywords:
        raise Refused(f"T.call_extern has no argument {next(iter(keywords))}")
    if dtype is None:
        has_type = bool(items) and isinstance(items[0], str) and items[0] in (*dtypes.NAMES, "handle", "void", "")
        dtype = items.pop(0) if has_type else "int32"
    if not items or not isinstance(items[0], str):
        raise Refused('T.call_extern needs the name of a function: T.call_extern("int32", "name", ...)')
    with evaluate.state.source.location(node):
        return pointers.call_extern(evaluate.state.module, items[0], items[1:], dtype)


_HANDLERS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(_FLOAT_FUNCTIONS, _float_function),
    **dict.fromkeys(_FLOAT_TESTS, _float_test),
    **dict.fromkeys(_INT_FUNCTIONS, _int_function),
    **{word: lambda w, a, b: arithmetic.binary(_OPERATORS[w], a, b) for word in _OPERATORS},
    **{word: lambda w, a, b: arithmetic.compare(_COMPARISONS[w], a, b) for word in _COMPARISONS},
    "And": lambda w, a, b: arithmetic.logical("and", a, b),
    "Or": lambda w, a, b: arithmetic.logical("or", a, b),
    "Not": lambda w, a: arithmetic.negation(a),
    "bitwise_not": lambda w, a: arithmetic.binary("^", a, -1),
    "abs": _abs,
    "sigmoid": _sigmoid,
    "Select": _select,
    "Cast": _cast,
    "cast": _cast,
    "min_value": _limit,
    "max_value": _limit,
    "infinity": _limit,
    "likely": lambda w, a: a,
    "meta_var": lambda w, a: a,
    "reinterpret": _reinterpret,
    "all": lambda w, *a: _joined(w, "and", a),
    "any": lambda w, *a: _joined(w, "or", a),
    "Let": _let,
    "if_then_else": lambda e, n, a: expressions.choose(e, a["condition"], a["then_value"], a["else_value"], n),
    "type_annotation": lambda e, n, args: e.python(args["dtype"], "the type"),
    "tvm_access_ptr": _tvm_access_ptr,
    "address_of": _address_of,
}
