"""Calls in expressions: constructs of `T`, methods of buffers, Python functions on Python values."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Callable
from functools import lru_cache, reduce
from math import isfinite
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith, math

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Index, dtypes
from tir_mlir.dialect.ops import SCALAR_FUNCTIONS
from tir_mlir.script.language import words
from tir_mlir.script.language.markers import Construct, DType, Macro, is_construct
from tir_mlir.script.module import PrimFunc
from tir_mlir.script.parser import arithmetic, conditions, inlined_calls, module_calls, pointers, vector_expressions
from tir_mlir.script.parser.items import (
    Const,
    Expr,
    GlobalFunction,
    ScriptValue,
    UnboundVar,
    as_const,
    describe,
    dtype_of,
    is_expr,
)
from tir_mlir.script.parser.source import ParseError
from tir_mlir.target import chosen

if TYPE_CHECKING:
    from tir_mlir.script.parser.expressions import Evaluator
    from tir_mlir.target import AnyTarget

_FLOAT_FUNCTIONS = {o.name: o.float_op for o in words.FLOAT_FUNCTIONS if o.float_op}
_FLOAT_PREDICATES = {o.name: o.float_op for o in words.FLOAT_PREDICATES if o.float_op}
_INT_FUNCTIONS = {o.name: o.int_op for o in words.INT_FUNCTIONS if o.int_op}
_OPERATORS = {o.name: o.symbol or o.name for o in words.BINARY} | {"floormod": "%"}
_PYTHON_BUILTINS = {"max": "max", "min": "min", "abs": "abs", "pow": "pow"}
_LIMITS = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
_LIMITS["float64"] = 1.7976931348623157e308


_ACCESS_PTR = ("access_mask", "ptr_type", "content_lanes", "offset", "extent")  # in TVM's order
_LAZY = (
    "if_then_else",
    "type_annotation",
    "tvm_access_ptr",
    "address_of",
    "Let",
    *words.MATRIX_CALLS,
)  # take argument nodes


@lru_cache(maxsize=256)
def _signature(word: Construct) -> inspect.Signature:
    return inspect.signature(word.__wrapped__)


def _plain(signature: inspect.Signature) -> inspect.Signature:
    """The signature without annotations, for error messages."""
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return inspect.Signature(bare)


def qualified_name(word: str) -> str:
    """The qualified name of a construct: `T.exp`, `T.axis.spatial`."""
    return f"T.axis.{word}" if word in ("spatial", "reduce", "opaque", "scan", "remap") else f"T.{word}"


def bind(word: object, node: ast.Call) -> dict[str, ast.expr]:
    """Bind the argument nodes of a construct to its parameters. Raises ParseError on a mismatch."""
    assert is_construct(word)
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        raise ParseError(f"T.{word.tir_construct} does not take starred arguments")
    signature = _signature(word)
    keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
    if "dtype" in keywords and "dtype" not in signature.parameters:
        del keywords["dtype"]  # older TVMScript repeats the result type
    try:
        return dict(signature.bind(*node.args, **keywords).arguments)
    except TypeError as error:
        raise ParseError(f"{qualified_name(word.tir_construct)}{_plain(signature)}: {error}") from None


def call(evaluate: Evaluator, node: ast.Call) -> object:
    """Evaluate a call."""
    callee = evaluate(node.func)
    if isinstance(callee, pointers.BufferMethod):
        if callee.name in ("vload", "vstore"):
            return vector_expressions.method(evaluate, callee, node)
        return _method(evaluate, callee, node)
    if isinstance(callee, GlobalFunction):
        return module_calls.call(evaluate, callee.name, node.args, node)
    word = getattr(callee, "tir_construct", None)
    if word == "call":
        return module_calls.named_call(evaluate, node)
    if isinstance(callee, DType):
        return _dtype(evaluate, callee, node)
    if word in ("call_extern", "call_pure_extern"):
        return _call_extern(evaluate, node)
    if word in vector_expressions.DIRECT:
        return vector_expressions.DIRECT[word](evaluate, node)
    if word is not None:
        return _word(evaluate, word, callee, node)
    if not callable(callee):
        raise ParseError(f"{ast.unparse(node.func)} is {describe(callee)} and cannot be called")
    return _python(evaluate, callee, node)


def _word(evaluate: Evaluator, word: str, callee: object, node: ast.Call) -> object:
    if word not in _HANDLERS:
        raise ParseError(f"T.{word} is a statement and has no value")
    args = bind(callee, node)
    if word in _LAZY:
        return _HANDLERS[word](evaluate, node, args)
    items = [evaluate(n) for a in args.values() for n in (a if isinstance(a, tuple) else (a,))]
    with evaluate.state.source.location(node):
        return _HANDLERS[word](word, *items)


def apply(word: str, *items: object) -> object:
    """Apply a scalar construct to items, outside a program."""
    if word not in _HANDLERS or word in _LAZY:
        raise ParseError(
            f"T.{word} is not a scalar function; these are: {', '.join(w for w in _HANDLERS if w not in _LAZY)}"
        )
    return _HANDLERS[word](word, *items)


def _python(evaluate: Evaluator, callee: Callable[..., object], node: ast.Call) -> object:
    """Call a Python function at parse time on Python values; one called with program values is inlined. Python's min,
    max, abs and pow accept program values."""
    args = [evaluate(a) for a in node.args]
    keywords = {k.arg: evaluate(k.value) for k in node.keywords if k.arg}
    odd = [a for a in (*args, *keywords.values()) if is_expr(a) or hasattr(a, "stride_values")]
    name = getattr(callee, "__name__", repr(callee))
    if odd and getattr(callee, "__module__", "") == "builtins" and name in _PYTHON_BUILTINS:
        with evaluate.state.source.location(node):
            return _builtin(name, args)
    if odd or isinstance(callee, Macro):
        if inlined_calls.is_inlinable(callee):
            return inlined_calls.call(evaluate, callee, args, keywords, node)
        if isinstance(callee, PrimFunc):
            text = f"{callee.name} is a function of another module"
            raise ParseError(f"{text}: put both in one class with @I.ir_module, and call Module.{callee.name}(...)")
        way = f"use T.{name}" if name in _HANDLERS else "use a function of T"
        raise ParseError(f"{name} is compiled code and cannot take {describe(odd[0])}; {way}")
    try:
        return callee(*args, **keywords)
    except Exception as error:
        raise ParseError(f"{name}(...) raised {type(error).__name__}: {error}") from None


def _builtin(name: str, args: list[object]) -> object:
    """Python's min, max, abs and pow on program values; min and max are variadic."""
    word = _PYTHON_BUILTINS[name]
    if name in ("min", "max"):
        return reduce(lambda a, b: _HANDLERS[word](word, a, b), args)
    return _HANDLERS[word](word, *args)


# ---- conversions and constants


def _dtype(evaluate: Evaluator, callee: DType, node: ast.Call) -> object:
    """`T.float32(x)`: a cast; `T.int32()`: an unbound variable."""
    if not node.args:
        return UnboundVar("?")
    item = evaluate(node.args[0])
    with evaluate.state.source.location(node):
        return convert(item, callee.dtype)


def convert(item: object, dtype: object) -> Expr:
    """Cast `item` to `dtype`. A constant that fits is converted exactly; an index remains an index as int32."""
    dtype = vector_expressions.dtype_name(dtype)
    if isinstance(item, str) and dtypes.is_float(dtype):
        try:
            return Const(float(item), dtype)
        except ValueError:
            raise ParseError(f'{item!r} is not a float; strings for floats are "inf", "-inf" and "nan"') from None
    item = arithmetic.as_expr(item)
    if isinstance(item, Const) and not dtypes.is_vector(dtype):
        if dtypes.is_float(dtype):
            if isinstance(item.value, int) and int(float(item.value)) != item.value and item.dtype:  # rounded once
                return arithmetic.cast(ScriptValue(arithmetic.constant(item.value, item.dtype), item.dtype), dtype)
            return Const(float(item.value), dtype)
        if dtype == "bool":
            return Const(bool(item.value), dtype)
        if item.dtype and not arithmetic.holds(dtype, item.value):  # out of range: the conversion is left to run time
            return arithmetic.cast(ScriptValue(arithmetic.constant(item.value, item.dtype), item.dtype), dtype)
        if isinstance(item.value, float) and not isfinite(item.value):
            raise ParseError(f"the constant {item.value} does not fit type {dtype}; use an integer or a float type")
        arithmetic.check_range(int(item.value), dtype)
        return Const(int(item.value), dtype)
    if isinstance(item, Index) and dtype == "int32":
        return item
    return arithmetic.cast(item, dtype)


def _type_name(dtype: object) -> str:
    """The name of a type given as a string or as `T.float32`."""
    dtype = dtype.dtype if isinstance(dtype, DType) else dtype
    if not isinstance(dtype, str) or dtype not in dtypes.NAMES:
        name = dtype if isinstance(dtype, str) else describe(dtype)
        raise ParseError(dtypes.refusal(name))
    return dtype


def _cast(word: str, first: object, second: object) -> Expr:
    value, dtype = (second, first) if word == "Cast" else (first, second)
    return convert(value, dtype)


def _limit(word: str, dtype: object) -> Const:
    dtype = _type_name(dtype)
    if word == "infinity" and not dtypes.is_float(dtype):
        raise ParseError(f"{dtype} has no infinity; the floats have: {', '.join(_LIMITS)}")
    if word == "infinity":
        return Const(float("inf"), dtype)
    if dtype in _LIMITS:
        return Const(_LIMITS[dtype] * (-1 if word == "min_value" else 1), dtype)
    return Const(dtypes.limits(dtype)[0 if word == "min_value" else 1], dtype)


# ---- mathematics


def _operands(word: str, items: tuple[object, ...]) -> tuple[str, list[Expr]]:
    exprs = [arithmetic.as_expr(i) for i in items]
    dtype = dtype_of(exprs[0])
    lanes = dtypes.lanes(dtype)
    for lhs, rhs in itertools.pairwise(exprs):
        dtype = arithmetic.common_dtype(lhs, rhs)
        lanes = max(lanes, dtypes.lanes(dtype))
    return dtypes.with_lanes(dtype, lanes), exprs


def _float_function(word: str, *items: object) -> ScriptValue:
    dtype, exprs = _floats(word, *items)
    return ScriptValue(arithmetic.emit(_FLOAT_FUNCTIONS[word], *[arithmetic.to_value(e, dtype) for e in exprs]), dtype)


def _pow(word: str, base: object, exponent: object) -> Expr:
    dtype, exprs = _operands(word, (base, exponent))
    return _float_function(word, *exprs) if dtypes.is_float(dtype) else arithmetic.power(*exprs)


def _float_predicate(word: str, item: object) -> ScriptValue:
    """Whether a number is NaN, infinite or finite: integers are finite."""
    dtype, exprs = _operands(word, (item,))
    answer = dtypes.with_lanes("bool", dtypes.lanes(dtype))
    if not dtypes.is_float(dtype):
        return ScriptValue(arithmetic.to_value(Const(word == "isfinite"), answer), answer)
    return ScriptValue(arithmetic.emit(_FLOAT_PREDICATES[word], arithmetic.to_value(exprs[0], dtype)), answer)


def _int_function(word: str, item: object) -> ScriptValue:
    dtype, exprs = _operands(word, (item,))
    if dtypes.is_float(dtype):
        raise ParseError(f"T.{word} takes integers, not {dtype}")
    return arithmetic.make_value(arithmetic.emit(_INT_FUNCTIONS[word], arithmetic.to_value(exprs[0], dtype)), dtype)


def _q_multiply_shift(word: str, x: object, y: object, q: object, s: object) -> Expr:
    """A fixed-point product, as shifts and a product of int64."""
    dtype, exprs = _operands(word, (x, y))
    if dtype != "int32":
        raise ParseError(f"T.{word} multiplies int32 values, not {dtype}")
    bits, shift = (arithmetic.as_expr(i) for i in (q, s))
    numbers = [as_const(bits), as_const(shift)]
    if None in numbers or not 0 < (numbers[0] or 0) <= 31 or abs(numbers[1] or 0) > 31:
        raise ParseError(f"T.{word} has a constant q of 1 to 31 and a constant s of -31 to 31")
    right_shift = (numbers[0] or 0) + max(-(numbers[1] or 0), 0)
    wide = [arithmetic.cast(e, "int64") for e in exprs]
    shifted = arithmetic.binary("<<", wide[0], max(numbers[1] or 0, 0)) if (numbers[1] or 0) > 0 else wide[0]
    total = arithmetic.binary("+", arithmetic.binary("*", shifted, wide[1]), 1 << (right_shift - 1))
    return arithmetic.cast(arithmetic.binary(">>", total, right_shift), "int32")


def _q_multiply_shift_per_axis(
    word: str, x: object, y: object, ls: object, rs: object, q: object, is_left: object, is_right: object
) -> Expr:
    """A fixed-point product with shifts from data, as shifts and a product of int64."""
    dtype, exprs = _operands(word, (x, y))
    if dtypes.element(dtype) != "int32":
        raise ParseError(f"T.{word} multiplies int32 values, not {dtype}")
    wide = dtypes.with_lanes("int64", dtypes.lanes(dtype))
    first, second, left_shift, right_shift = (arithmetic.cast(e, wide) for e in (*exprs, ls, rs))
    bits, needs_left = as_const(arithmetic.as_expr(q)), arithmetic.as_expr(is_left)
    if bits is None or not 0 < bits <= 31 or not isinstance(needs_left, Const):
        raise ParseError(f"T.{word} has a constant q of 1 to 31, and a constant is_lshift_required")
    shifted = arithmetic.binary("<<", first, left_shift) if needs_left.value else first
    total = arithmetic.binary("+", right_shift, bits)
    half = arithmetic.binary("<<", Const(1, wide), arithmetic.binary("-", total, 1))
    product = arithmetic.binary("+", arithmetic.binary("*", shifted, second), half)
    return arithmetic.cast(arithmetic.binary(">>", product, total), dtype)


def _remainder(a: object, b: object) -> Expr:
    """The remainder of a division rounded towards zero, of integers or floats."""
    floats = dtypes.is_float(_operands("truncmod", (a, b))[0])
    return _float_function("fmod", a, b) if floats else arithmetic.binary(_OPERATORS["truncmod"], a, b)


def _hypot(word: str, x: object, y: object) -> Expr:
    """In a wider type, of which the squares cannot overflow; scaled by a power of two for float64."""
    dtype, exprs = _floats(word, x, y)
    wide = _wider(dtype)
    a, b = (_abs("abs", convert(e, wide)) for e in exprs)
    scale, back = Const(1.0, wide), Const(1.0, wide)
    if dtypes.element(dtype) == "float64":
        greatest = _select("Select", arithmetic.compare(">", a, b), a, b)
        for test, bound, factor in ((">", 500, -600), ("<", -500, 600)):
            beyond = arithmetic.compare(test, greatest, Const(2.0**bound, wide))
            scale = _select("Select", beyond, Const(2.0**factor, wide), scale)
            back = _select("Select", beyond, Const(2.0**-factor, wide), back)
    squares = [arithmetic.binary("*", s, s) for e in (a, b) for s in (arithmetic.binary("*", e, scale),)]
    root = _float_function("sqrt", arithmetic.binary("+", *squares))
    length = convert(arithmetic.binary("*", root, back), dtype)
    either = arithmetic.logical("or", *(_float_predicate("isinf", e) for e in exprs))
    return _select("Select", either, Const(float("inf"), dtype), length)


def _ldexp(word: str, x: object, exponent: object) -> Expr:
    """Products with powers of two that do not round before the last one."""
    dtype, (item,) = _floats(word, x)
    count = arithmetic.as_expr(exponent)
    if dtypes.is_float(dtype_of(count)):
        raise ParseError(f"the exponent of T.{word} is an integer, not {dtype_of(count)}")
    wide, integer = _wider(dtype), dtypes.with_lanes("int64", dtypes.lanes(dtype))
    power, value = convert(arithmetic.cast(count, integer), integer), convert(item, wide)
    for _ in range(2 if dtypes.element(dtype) == "float64" else 0):
        high, low = (arithmetic.compare(test, power, bound) for test, bound in ((">", 1023), ("<", -1022)))
        step = _select("Select", high, Const(1023, integer), _select("Select", low, Const(-969, integer), 0))
        value, power = arithmetic.binary("*", value, _power_of_two(step, wide)), arithmetic.binary("-", power, step)
    least, most = {"float64": (-1022, 1023), "float16": (-60, 60)}.get(dtypes.element(dtype), (-450, 450))
    power = arithmetic.binary("max", arithmetic.binary("min", power, most), least)
    return convert(arithmetic.binary("*", value, _power_of_two(power, wide)), dtype)


def _wider(dtype: str) -> str:
    """The float type with all products of two floats of a type, but for float64 itself."""
    return dtypes.with_lanes("float32" if dtypes.element(dtype) == "float16" else "float64", dtypes.lanes(dtype))


def _power_of_two(exponent: Expr, dtype: str) -> Expr:
    """2 to the power of an int64 that is in the range of normal numbers, as a float: its bits."""
    size, bias, mantissa = (32, 127, 23) if dtypes.element(dtype) == "float32" else (64, 1023, 52)
    bits = arithmetic.binary("<<", arithmetic.binary("+", exponent, bias), mantissa)
    return vector_expressions.bits_as(convert(bits, dtypes.with_lanes(f"int{size}", dtypes.lanes(dtype))), dtype)


def _nextafter(word: str, x: object, y: object) -> Expr:
    """By the bits of x: those of floats of one sign are in the order of the floats."""
    dtype, exprs = _floats(word, x, y)
    x, y = (convert(e, dtype) for e in exprs)
    integer = dtypes.with_lanes(f"int{dtypes.bits(dtypes.element(dtype))}", dtypes.lanes(dtype))
    zero, unit = Const(0.0, dtype), Const(1, integer)
    away = arithmetic.compare("==", arithmetic.compare("<", x, y), arithmetic.compare(">", x, zero))
    bits = arithmetic.binary(
        "+", vector_expressions.bits_as(x, integer), _select("Select", away, unit, Const(-1, integer))
    )
    least = _float_function("copysign", vector_expressions.bits_as(unit, dtype), y)
    near = _select("Select", arithmetic.compare("==", x, zero), least, vector_expressions.bits_as(bits, dtype))
    near = _select("Select", arithmetic.compare("==", x, y), y, near)
    unordered = arithmetic.logical("or", *(_float_predicate("isnan", e) for e in (x, y)))
    return _select("Select", unordered, arithmetic.binary("+", x, y), near)


def _floats(word: str, *items: object) -> tuple[str, list[Expr]]:
    """The common type of floats, and the floats."""
    dtype, exprs = _operands(word, items)
    if not dtypes.is_float(dtype):
        raise ParseError(f'T.{word} takes floats, not {dtype}; convert first: T.Cast("float32", x)')
    return dtype, exprs


def _vscale(word: str, target: AnyTarget | str | None) -> Const:
    try:
        resolved = chosen(target)
    except (TirError, ValueError, TypeError) as error:
        raise ParseError(f"T.{word}: {error}") from None
    return Const(resolved.vscale[0] if resolved.vscale else 1, "int32")


def _abs(word: str, item: object) -> Expr:
    dtype, exprs = _operands(word, (item,))
    if isinstance(exprs[0], Const):
        return Const(abs(exprs[0].value), exprs[0].dtype)
    if dtypes.is_unsigned(dtype):
        return exprs[0]
    value = arithmetic.to_value(exprs[0], dtype)
    return ScriptValue((math.absf if dtypes.is_float(dtype) else math.absi)(value), dtype)


@lru_cache(maxsize=256)
def _definition(word: str) -> ast.expr:
    return ast.parse(SCALAR_FUNCTIONS[word].by, mode="eval").body


def _call_definition(word: str, *items: object) -> Expr:
    """A function that other functions make, as its record says."""
    values = dict(zip(SCALAR_FUNCTIONS[word].params, _floats(word, *items)[1], strict=True))

    def evaluate(node: ast.expr) -> Expr:
        if isinstance(node, ast.Name):
            return values[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return arithmetic.negative(evaluate(node.operand))
        if isinstance(node, ast.BinOp):
            return arithmetic.binary(arithmetic.BINARY[type(node.op)], evaluate(node.left), evaluate(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return arithmetic.as_expr(apply(node.func.attr, *map(evaluate, node.args)))
        return Const(ast.literal_eval(node))

    return evaluate(_definition(word))


def _select(word: str, test: object, then: object, otherwise: object) -> Expr:
    """`arith.select`; folds a constant condition."""
    test, then, otherwise = arithmetic.condition(test), arithmetic.as_expr(then), arithmetic.as_expr(otherwise)
    if isinstance(test, Const):
        return then if test.value else otherwise
    lanes = dtypes.lanes(arithmetic.common_dtype(test, then)), dtypes.lanes(arithmetic.common_dtype(test, otherwise))
    dtype = dtypes.with_lanes(arithmetic.common_dtype(then, otherwise), max(lanes))
    values = [arithmetic.to_value(e, dtype) for e in (then, otherwise)]
    chosen = arithmetic.to_value(test, dtypes.with_lanes("bool", max(lanes)))
    return arithmetic.make_value(arith.select(chosen, *values), dtype)


def _join_conditions(word: str, op: str, conditions: tuple[object, ...]) -> Expr:
    if not conditions:
        raise ParseError(f"T.{word} needs at least one condition: T.{word}(i >= 1, i < 9)")
    return reduce(lambda a, b: arithmetic.logical(op, a, b), conditions[1:], arithmetic.condition(conditions[0]))


# ---- pointers


def _method(evaluate: Evaluator, method: pointers.BufferMethod, node: ast.Call) -> object:
    if method.name == "scope":
        return method.buffer.scope
    passed = dict(zip(_ACCESS_PTR, (evaluate(a) for a in node.args), strict=False))
    passed |= {k.arg: evaluate(k.value) for k in node.keywords}
    if unknown := [str(k) for k in passed if k not in _ACCESS_PTR]:
        raise ParseError(f"access_ptr has no argument {unknown[0]}; it has {', '.join(_ACCESS_PTR)}")
    if pointers.python_value(passed.get("content_lanes", 1), "content_lanes") != 1:
        raise ParseError("an access pointer points to scalars: content_lanes is 1")
    with evaluate.state.source.location(node):
        return pointers.access_ptr(
            method.buffer, passed.get("access_mask"), passed.get("offset", 0), passed.get("extent")
        )


def _tvm_access_ptr(evaluate: Evaluator, node: ast.Call, args: dict[str, ast.expr]) -> object:
    """The extent is ignored: the declared regions of the block describe the access."""
    data, offset, mask = (evaluate(args[n]) for n in ("data", "offset", "mask"))
    with evaluate.state.source.location(node):
        return pointers.tvm_access_ptr(data, offset, pointers.python_value(mask, "the mask"))


def _address_of(evaluate: Evaluator, node: ast.Call, args: dict[str, ast.expr]) -> object:
    """A pointer to one element: the start of the buffer plus the element's linear offset."""
    element = args["element"]
    region = evaluate.region(element)
    strides, _ = ir.MemRefType(region.buffer.ssa.type).get_strides_and_offset()
    if not isinstance(element, ast.Subscript) or any(e.as_constant() != 1 for e in region.extents):
        raise ParseError("T.address_of takes one element: T.address_of(A[i, j])")
    if any(s == ir.ShapedType.get_dynamic_stride_or_offset() for s in strides):
        raise ParseError(f"T.address_of needs constant strides; those of {region.buffer.name} are variables")
    offset = sum((m * s for m, s in zip(region.mins, strides, strict=True)), Index.constant(0))
    with evaluate.state.source.location(node):
        return pointers.access_ptr(region.buffer, "rw", offset)


def _matrix_call(evaluate: Evaluator, node: ast.Call, args: dict[str, ast.expr]) -> None:
    word = evaluate(node.func)
    assert is_construct(word)
    items = {key: evaluate(value) for key, value in args.items()}
    with evaluate.state.source.location(node):
        pointers.matrix_call(evaluate.state.module, word.tir_construct, items)


def _let(evaluate: Evaluator, node: ast.Call, args: dict[str, ast.expr]) -> object:
    """`T.Let`: bind names while evaluating one expression."""
    where = args["where"]
    if not isinstance(where, ast.Dict) or not all(isinstance(k, ast.Name) for k in where.keys):
        raise ParseError("T.Let names values: T.Let(x * x, where={x: A[vi]})")
    values = [evaluate(v) for v in where.values]
    with evaluate.state.scope.frame():
        for key, value in zip(where.keys, values, strict=True):
            evaluate.state.scope.define(key.id, value, key, "value")  # type: ignore[union-attr]
        return evaluate(args["expr"])


def _call_extern(evaluate: Evaluator, node: ast.Call) -> object:
    """`T.call_extern` in both argument orders: `("int32", "name", ...)` and `("name", ..., dtype="int32")`."""
    items = [evaluate(a) for a in node.args]
    keywords = {k.arg: pointers.python_value(evaluate(k.value), "dtype") for k in node.keywords}
    dtype = keywords.pop("dtype", None)
    if keywords:
        raise ParseError(f"T.call_extern has no argument {next(iter(keywords))}")
    if dtype is None:
        has_type = bool(items) and isinstance(items[0], str) and items[0] in (*dtypes.NAMES, "handle", "void", "")
        dtype = items.pop(0) if has_type else "int32"
    if not items or not isinstance(items[0], str):
        raise ParseError('T.call_extern needs the name of a function: T.call_extern("int32", "name", ...)')
    if items[0] in words.MATRIX_CALLS:
        raise ParseError(f"{items[0]} is a matrix function, not a C function; fix: T.{items[0]}(...)")
    with evaluate.state.source.location(node):
        return pointers.call_extern(evaluate.state.module, items[0], items[1:], str(dtype))


_HANDLERS: dict[str, Callable[..., object]] = {
    **dict.fromkeys(_FLOAT_FUNCTIONS, _float_function),
    "pow": _pow,
    **dict.fromkeys((one.name for one in SCALAR_FUNCTIONS.values() if one.by), _call_definition),
    **dict.fromkeys(_FLOAT_PREDICATES, _float_predicate),
    **dict.fromkeys(_INT_FUNCTIONS, _int_function),
    **{word: lambda w, a, b: arithmetic.binary(_OPERATORS[w], a, b) for word in _OPERATORS},
    **{word: lambda w, a, b: arithmetic.compare(words.COMPARISONS[w], a, b) for word in words.COMPARISONS},
    "truncmod": lambda w, a, b: _remainder(a, b),
    "And": lambda w, a, b: arithmetic.logical("and", a, b),
    "Or": lambda w, a, b: arithmetic.logical("or", a, b),
    "Not": lambda w, a: arithmetic.negation(a),
    "bitwise_not": lambda w, a: arithmetic.invert_bits(a),
    "abs": _abs,
    "q_multiply_shift": _q_multiply_shift,
    "q_multiply_shift_per_axis": _q_multiply_shift_per_axis,
    "hypot": _hypot,
    "ldexp": _ldexp,
    "nextafter": _nextafter,
    "vscale": lambda w, target=None: _vscale(w, target),
    "Select": _select,
    "Cast": _cast,
    "cast": _cast,
    **vector_expressions.HANDLERS,
    "min_value": _limit,
    "max_value": _limit,
    "infinity": _limit,
    "likely": lambda w, a: a,
    "meta_var": lambda w, a: a,
    "all": lambda w, *a: _join_conditions(w, "and", a),
    "any": lambda w, *a: _join_conditions(w, "or", a),
    "Let": _let,
    "if_then_else": lambda e, n, a: conditions.conditional(e, a["condition"], a["then_value"], a["else_value"], n),
    "type_annotation": lambda e, n, args: e.python(args["dtype"], "the type"),
    "tvm_access_ptr": _tvm_access_ptr,
    "address_of": _address_of,
    **dict.fromkeys(words.MATRIX_CALLS, _matrix_call),
}
