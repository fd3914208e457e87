"""Math functions of kernels, of which a GPU has no library."""

from __future__ import annotations

from collections.abc import Callable
from math import pi

from mlir import ir
from mlir.dialects import scf

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import dtypes, walk
from tir_mlir.dialect.ir.op_traits import OPS
from tir_mlir.dialect.ir.op_views import Atan2Op, PowFOp, RemFOp, RsqrtOp, dyn_cast, isa
from tir_mlir.passes.lower.llvm import math_polynomials
from tir_mlir.passes.lower.llvm.float_builder import FloatBuilder
from tir_mlir.passes.lower.registry import location_text, lowering

INTRINSICS = {name: f"llvm.{row.llvm.split()[0]}" for name, row in OPS.items() if row.gpu == "instruction"}
"""Functions that are instructions, by the name of LLVM's intrinsic. Upstream's conversion would call a library."""


@lowering("tir-lower-gpu-math", "Lower math functions to instructions of a GPU, or to code in float64")
def run(module: ir.Module) -> None:
    """Lower math functions to arithmetic and to functions that a GPU has as instructions.

        %s = math.sqrt %x    -->   %s = llvm.call_intrinsic "llvm.sqrt"(%x)
        %r = math.rsqrt %x   -->   %s = llvm.call_intrinsic "llvm.sqrt"(%x)
                                   %r = arith.divf 1, %s
        %l = math.sin %x     -->   the sine in float64, rounded

    Runs after `tir-lower-math-polynomials`. Raises LoweringError for a function, or a type of it, without code.
    """
    while pending := [op for op in walk.ops(module.operation) if _is_pending(op)]:
        for op in pending:
            with ir.InsertionPoint(op), op.location:
                value = _lower_op(op)
            op.results[0].replace_all_uses_with(value)
            op.erase()
        math_polynomials.run(module)  # for functions in terms of others


def _is_pending(op: ir.Operation) -> bool:
    left = op.name in OPS and OPS[op.name].gpu == "upstream"
    return isa(op, RemFOp) or (op.name.startswith("math.") and not left)


def _lower_op(op: ir.Operation) -> ir.Value:
    type_ = op.results[0].type
    if op.name in INTRINSICS:
        return intrinsic(INTRINSICS[op.name], list(op.operands))
    f = FloatBuilder(type_)
    if root := dyn_cast(op, RsqrtOp):
        return f.div(f.constant(1.0), ir.Operation.create("math.sqrt", [type_], [root.operand]).results[0])
    if f.bits in (32, 64) and op.name in UNARY:
        return _compute_in_double(op, lambda g, values: UNARY[op.name](g, *values))
    if f.bits == 32 and isa(op, PowFOp):
        return _compute_in_double(op, lambda g, values: power(g, *values))
    if f.bits in (32, 64) and isa(op, Atan2Op):
        return _compute_in_double(op, lambda g, values: atan2(g, *values))
    if isa(op, RemFOp):
        return _compute_in_double(op, lambda g, values: remainder(g, *values))
    name = (op.name in OPS and OPS[op.name].c) or op.name.removeprefix("math.")
    narrow = ", or compute it in float32" if f.bits == 64 else ""
    fix = f"write it with exp, log, sqrt and arithmetic{narrow}"
    raise LoweringError(f"{location_text(op)}: {name} of {dtypes.to_name(type_)} has no code for a GPU; fix: {fix}")


def _compute_in_double(op: ir.Operation, write: Callable[[FloatBuilder, list[ir.Value]], ir.Value]) -> ir.Value:
    """A function computed in float64."""
    double, type_ = ir.F64Type.get(), op.results[0].type
    g = FloatBuilder(double)
    if type_ == double:
        return write(g, list(op.operands))
    wide: list[ir.Value] = [ir.Operation.create("arith.extf", [double], [value]).results[0] for value in op.operands]
    return ir.Operation.create("arith.truncf", [type_], [write(g, wide)]).results[0]


def intrinsic(name: str, operands: list[ir.Value]) -> ir.Value:
    """A call of an intrinsic of LLVM, with a result of the type of its first operand."""
    facts = {
        "intrin": ir.StringAttr.get(name),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
    }
    return ir.Operation.create("llvm.call_intrinsic", [operands[0].type], operands, facts).results[0]


# Math functions in double precision, for GPUs, which have no library of them.
#
# Algorithms and coefficients of log, sin, cos, atan: fdlibm (Sun Microsystems, 1993). Errors in units of the last
# digit: log 1, sin, cos and tan 1 (for arguments up to 2**50), atan, asin, acos 2, the others 4. Rounded to float32
# they are exact to 0.51.


Value = ir.Value
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LOG = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip
_SIN = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
    -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COS = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
    2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
_ATAN = (
    3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
    9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
    4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02,
)  # fmt: skip
_HALF_PI = (1.57079632679489655800e00, 6.12323399573676603587e-17, -1.49738490485916983e-33)
_ROUND = 1.5 * 2.0**52
"""Adding it rounds to an integer, which is then in the low bits."""
_ROOT_BITS = 0x3FE6A09E667F3BCD  # those of sqrt(1/2)
_FRACTION = (1 << 52) - 1


def _evaluate_polynomial(f: FloatBuilder, x: Value, coefficients: tuple[float, ...]) -> Value:
    return f.horner(x, coefficients[::-1])


def _math(f: FloatBuilder, name: str, *operands: Value) -> Value:
    return ir.Operation.create(f"math.{name}", [f.type], list(operands)).results[0]


def log(f: FloatBuilder, x: Value) -> Value:
    """log(2**k * (1 + r)) = k ln 2 + log(1 + r), with 1 + r in [sqrt(1/2), sqrt(2))."""
    tiny = f.compare(x, "olt", 2.0**-1022)
    above = f.whole_op("subi", f.to_bits(f.select(tiny, f.mul(x, 2.0**54), x)), _ROOT_BITS)
    k = f.from_integer(f.whole_op("shrsi", above, 52))
    k = f.select(tiny, f.sub(k, 54.0), k)
    r = f.sub(f.from_bits(f.whole_op("addi", f.whole_op("andi", above, _FRACTION), _ROOT_BITS)), 1.0)
    s = f.div(r, f.add(r, 2.0))
    square = f.mul(s, s)
    rest = f.mul(square, _evaluate_polynomial(f, square, _LOG))
    half = f.mul(f.mul(r, 0.5), r)
    small = f.fma(s, f.add(half, rest), f.mul(k, _LN2_LOW))
    value = f.sub(f.mul(k, _LN2_HIGH), f.sub(f.sub(half, small), r))
    value = f.select(f.compare(x, "olt", float("inf")), value, x)  # infinity and NaN map to themselves
    value = f.select(f.compare(x, "oeq", 0.0), float("-inf"), value)
    return f.select(f.compare(x, "olt", 0.0), float("nan"), value)


def log2(f: FloatBuilder, x: Value) -> Value:
    return f.mul(log(f, x), 1.4426950408889634)


def log10(f: FloatBuilder, x: Value) -> Value:
    return f.mul(log(f, x), 0.4342944819032518)


def exp2(f: FloatBuilder, x: Value) -> Value:
    """2**n * exp(r ln 2) for x = n + r; the parts of a power of two that is not normal are multiplied one by one."""
    x = f.clamp_below(f.clamp_above(x, 1100.0), -1100.0)
    shifted = f.add(x, _ROUND)
    r = f.sub(x, f.sub(shifted, _ROUND))
    n = f.whole_op("subi", f.to_bits(shifted), f.to_bits(f.constant(_ROUND)))
    half = f.whole_op("shrsi", n, 1)
    value = _math(f, "exp", f.mul(r, 0.6931471805599453))
    for part in (half, f.whole_op("subi", n, half)):
        value = f.mul(value, f.from_bits(f.whole_op("shli", f.whole_op("addi", part, 1023), 52)))
    return f.select(f.compare(x, "uno", x), x, value)


def tanh(f: FloatBuilder, x: Value) -> Value:
    rise = _math(f, "expm1", f.mul(f.clamp_above(_math(f, "absf", x), 30.0), 2.0))
    return _math(f, "copysign", f.div(rise, f.add(rise, 2.0)), x)


def sinh(f: FloatBuilder, x: Value) -> Value:
    rise = _math(f, "expm1", _math(f, "absf", x))
    near = f.mul(f.add(rise, f.div(rise, f.add(rise, 1.0))), 0.5)
    return _math(f, "copysign", f.select(f.compare(rise, "olt", float("inf")), near, _large_exp(f, x)), x)


def cosh(f: FloatBuilder, x: Value) -> Value:
    power = _math(f, "exp", _math(f, "absf", x))
    near = f.mul(f.add(power, f.div(f.constant(1.0), power)), 0.5)
    return f.select(f.compare(power, "olt", float("inf")), near, _large_exp(f, x))


def _large_exp(f: FloatBuilder, x: Value) -> Value:
    """exp(|x|) / 2 where exp(|x|) may be infinite."""
    half = _math(f, "exp", f.mul(_math(f, "absf", x), 0.5))
    return f.mul(f.mul(half, 0.5), half)


# --- trigonometry -----------------------------------------------------------------------------------------------------


def sin(f: FloatBuilder, x: Value) -> Value:
    return _of_quadrant(f, x, 0)


def cos(f: FloatBuilder, x: Value) -> Value:
    return _of_quadrant(f, x, 1)


def tan(f: FloatBuilder, x: Value) -> Value:
    return f.div(sin(f, x), cos(f, x))


def _of_quadrant(f: FloatBuilder, x: Value, shift: int) -> Value:
    """sin(x + shift pi/2) from sin(r) or cos(r), for x = n pi/2 + r."""
    shifted = f.add(f.mul(x, 2 / pi), _ROUND)
    n = f.sub(shifted, _ROUND)
    r, back = x, f.mul(n, -1.0)
    for part in _HALF_PI:
        r = _math(f, "fma", back, f.constant(part), r)
    square = f.mul(r, r)
    sine = f.fma(f.mul(square, r), _evaluate_polynomial(f, square, _SIN), r)
    half = f.mul(square, 0.5)
    near = f.sub(1.0, half)
    lost = f.sub(f.sub(1.0, near), half)
    cosine = f.add(near, f.fma(f.mul(square, square), _evaluate_polynomial(f, square, _COS), lost))
    quadrant = f.whole_op("addi", f.to_bits(shifted), shift)
    value = f.select(_bit(f, quadrant, 1), cosine, sine)
    value = f.select(_bit(f, quadrant, 2), f.mul(value, -1.0), value)
    return value if shift else f.select(f.compare(x, "oeq", 0.0), x, value)  # -0


def _bit(f: FloatBuilder, i: Value, mask: int) -> Value:
    i64 = ir.IntegerType.get_signless(64)
    facts = {"predicate": ir.IntegerAttr.get(i64, 1)}
    operands = [f.whole_op("andi", i, mask), f.integer(0)]
    return ir.Operation.create("arith.cmpi", [ir.IntegerType.get_signless(1)], operands, facts).results[0]


def atan(f: FloatBuilder, x: Value) -> Value:
    """Of |x| > 1 by 1 / |x|; then of more than tan(pi/8) by (z - 1) / (z + 1)."""
    size = _math(f, "absf", x)
    large = f.compare(size, "ogt", 1.0)
    z = f.select(large, f.div(f.constant(1.0), size), size)
    middle = f.compare(z, "ogt", 0.41421356237309503)
    z = f.select(middle, f.div(f.sub(z, 1.0), f.add(z, 1.0)), z)
    square = f.mul(z, z)
    value = f.sub(z, f.mul(f.mul(z, square), _evaluate_polynomial(f, square, _ATAN)))
    value = f.select(middle, f.add(value, pi / 4), value)
    value = f.select(large, f.sub(pi / 2, value), value)
    return _math(f, "copysign", value, x)


def atan2(f: FloatBuilder, y: Value, x: Value) -> Value:
    """The angle of (x, y): atan(|y| / |x|), mirrored where x is negative."""
    one, pair = f.constant(1.0), (_math(f, "absf", y), _math(f, "absf", x))
    both = f.compare(pair[0], "oeq", pair[1])  # 0 / 0, infinity / infinity, and pi / 4
    ratio = f.select(both, f.select(f.compare(pair[0], "oeq", 0.0), 0.0, one), f.div(*pair))
    angle = atan(f, ratio)
    is_left = f.compare(_math(f, "copysign", one, x), "olt", 0.0)
    return _math(f, "copysign", f.select(is_left, f.sub(pi, angle), angle), y)


def asin(f: FloatBuilder, x: Value) -> Value:
    root = _math(f, "sqrt", f.mul(f.sub(1.0, x), f.add(x, 1.0)))
    return atan(f, f.div(x, root))


def acos(f: FloatBuilder, x: Value) -> Value:
    """2 atan(sqrt((1 - x) / (1 + x)))."""
    return f.mul(atan(f, _math(f, "sqrt", f.div(f.sub(1.0, x), f.add(x, 1.0)))), 2.0)


def asinh(f: FloatBuilder, x: Value) -> Value:
    size = _math(f, "absf", x)
    root = _math(f, "sqrt", f.fma(size, size, f.constant(1.0)))
    small = _math(f, "log1p", f.add(size, f.div(f.mul(size, size), f.add(root, 1.0))))
    value = f.select(f.compare(size, "ogt", 1e150), f.add(log(f, size), 0.6931471805599453), small)
    return _math(f, "copysign", value, x)


def acosh(f: FloatBuilder, x: Value) -> Value:
    t = f.sub(x, 1.0)
    small = _math(f, "log1p", f.add(t, _math(f, "sqrt", f.fma(t, t, f.mul(t, 2.0)))))
    return f.select(f.compare(x, "ogt", 1e150), f.add(log(f, x), 0.6931471805599453), small)


def atanh(f: FloatBuilder, x: Value) -> Value:
    size = _math(f, "absf", x)
    value = f.mul(_math(f, "log1p", f.div(f.mul(size, 2.0), f.sub(1.0, size))), 0.5)
    return _math(f, "copysign", value, x)


def power(f: FloatBuilder, x: Value, y: Value) -> Value:
    """exp(y log |x|), with the sign of an odd integer y; NaN for x < 0 and y not an integer. As C's pow at 0, 1 and
    infinity."""
    value = _math(f, "exp", f.mul(y, log(f, _math(f, "absf", x))))
    is_integer = f.compare(_math(f, "floor", y), "oeq", y)
    odd = f.select(is_integer, f.sub(y, f.mul(_math(f, "floor", f.mul(y, 0.5)), 2.0)), 0.0)
    signed = f.select(f.compare(odd, "oeq", 1.0), _math(f, "copysign", value, x), value)
    below = f.compare(x, "olt", 0.0)
    finite = f.compare(_math(f, "absf", x), "olt", float("inf"))
    signed = f.select(is_integer, signed, f.select(below, f.select(finite, float("nan"), value), signed))
    signed = f.select(f.compare(y, "oeq", 0.0), 1.0, signed)
    return f.select(f.compare(x, "oeq", 1.0), 1.0, signed)


# --- remainders -------------------------------------------------------------------------------------------------------

_QUOTIENT = 2.0**50
"""Quotients below have no fraction that is lost."""


def remainder(f: FloatBuilder, x: Value, y: Value) -> Value:
    """The exact remainder of |x| / |y|, with the sign of x: what is left when multiples of t = 2**(50 n) |y|, the
    largest below |x|, are taken away again and again. A quotient that is rounded up leaves less than 0, to which t is
    added; each of these results is a multiple of the last digit of t, and so exact."""
    size, by = _math(f, "absf", x), _math(f, "absf", y)
    has_result = _both(f.compare(size, "olt", float("inf")), f.compare(by, "ogt", 0.0))
    left = f.select(has_result, size, 0.0)

    def take_away(a: Value) -> Value:
        t = _repeat(by, lambda t: f.compare(f.div(a, t), "oge", _QUOTIENT), lambda t: f.mul(t, _QUOTIENT))
        rest = _math(f, "fma", f.mul(_math(f, "trunc", f.div(a, t)), -1.0), t, a)
        return f.select(f.compare(rest, "olt", 0.0), f.add(rest, t), rest)

    left = _repeat(left, lambda a: _both(has_result, f.compare(a, "oge", by)), take_away)
    return f.select(has_result, _math(f, "copysign", left, x), float("nan"))


def _both(a: Value, b: Value) -> Value:
    return ir.Operation.create("arith.andi", [a.type], [a, b]).results[0]


def _repeat(start: Value, goes_on: Callable[[Value], Value], change: Callable[[Value], Value]) -> Value:
    """`value = start; while goes_on(value): value = change(value)`."""
    loop = scf.WhileOp([start.type], [start])
    (before, after) = (region.blocks.append(start.type) for region in loop.regions)
    with ir.InsertionPoint(before):
        scf.condition(goes_on(before.arguments[0]), [before.arguments[0]])
    with ir.InsertionPoint(after):
        scf.yield_([change(after.arguments[0])])
    return loop.results[0]


UNARY: dict[str, Callable[[FloatBuilder, Value], Value]] = {
    f"math.{one.__name__}": one
    for one in (
        log, log2, log10, exp2, tanh, sinh, cosh, sin, cos, tan, atan, asin, acos, asinh, acosh, atanh,
    )
}  # fmt: skip
