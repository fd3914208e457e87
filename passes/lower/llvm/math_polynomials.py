"""Lower exp, expm1, log, log1p, tanh, erf, sin and cos to polynomials, the same for scalars and vector lanes.

Maximal error over all floats: for float32 exp and exp2 1.1 ulp, log 1, tanh 1.2, expm1, log1p and erf 1.5, sin and cos
1.6 (next to their zeros at large numbers 3.5); for float64 exp 1.1, log1p 1.5, expm1 2. Argument reduction: Cody and
Waite, Software Manual for the Elementary Functions (1980). Coefficients: S. Moshier, Cephes (logf, tanhf, sinf); those
of exp and erf by the Remez algorithm, for this file.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, log, pi

from mlir import ir

from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ir.lowering_op_views import GPUModuleOp
from tir_mlir.dialect.ir.op_views import UnaryOp, isa
from tir_mlir.passes.lower.llvm.float_builder import FloatBuilder
from tir_mlir.passes.lower.registry import lowering

_EXP_32 = (1.3814584931e-3, 8.36872393155e-3, 4.16683887154e-2, 1.66665205736e-1, 4.99999934439e-1)
_EXP_64 = tuple(1 / factorial(k) for k in range(13, 1, -1))  # Taylor: the remainder is below 2**-57 of the value
_LOG_32 = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
_TANH_32 = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
_HALF_EXPM1_32 = (4.46285978196e-2, 1.33865242635e-1, 3.33330257613e-1, 6.66661721534e-1, 1.00000001238)
_EXP2_32 = (1.32647270652e-3, 9.67151264891e-3, 5.55073374369e-2, 2.40222420852e-1, 6.93146977599e-1, 1.0)
_ERF_32 = (
    -5.72390125402e-4, 4.93820245358e-3, -2.67273068825e-2, 1.12806803768e-1, -3.76123802398e-1, 1.28379131697e-1,
)  # fmt: skip
_SIN_32 = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS_32 = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_FEW_QUARTERS = 2.0**8
_HALF_PI_PARTS = (1.570770263671875, 2.6063062250614166e-05, 6.07710051e-11)
"""They add up to pi / 2. All but the last have 16 bits, so that their products with integers below `_FEW_QUARTERS` are
exact."""
_MOST_QUARTERS = 2.0**16
_FINE_HALF_PI_PARTS = (
    1.5703125, 4.825592041015625e-4, 1.2665987014770508e-6, 9.89530235528946e-10, 2.5633440682570896e-12,
)  # fmt: skip
"""The same with 8 bits, of integers up to `_MOST_QUARTERS`."""
_LOG2_ERFC_32 = (
    -1.69893664126e-3, 2.16345776845e-2, -1.28855239528e-1, -9.42725147353e-1, -1.61324647235, -3.52542356114e-3,
)  # fmt: skip


@lowering("tir-lower-math-polynomials", "Lower exp, exp2, expm1, log, log1p, tanh, erf, sin and cos to polynomials")
def run(module: ir.Module) -> None:
    """Expand math functions that would be one call of the C library for each lane.

        %e = math.exp %x : vector<16xf32>   -->   argument reduction, a polynomial, scaling by the exponent bits

    float32: exp, exp2, expm1, log, log1p, tanh, erf, sin, cos; float64: exp, expm1, and log1p by log. Other functions
    and types are left to the C library, and so are sin and cos of numbers above 100,000, behind a branch, and on GPUs.
    Vectors and scalars give the same value, so a result does not depend on its position in a row.
    """
    for op in walk.ops(module.operation):
        write = _WRITERS.get(op.name, {}).get(_bits(op))
        if write is not None and not (write in (_sin, _cos) and _on_gpu(op)):
            with ir.InsertionPoint(op), op.location:
                expanded = write(FloatBuilder(op.results[0].type), UnaryOp(op).operand)
            op.results[0].replace_all_uses_with(expanded)
            op.erase()


def _on_gpu(op: ir.Operation) -> bool:
    return any(isa(parent, GPUModuleOp) for parent in walk.parents(op))


def _bits(op: ir.Operation) -> int:
    """The width of an op's float result; 0 for others."""
    type_ = op.results[0].type if op.results else None
    element = type_.element_type if isinstance(type_, ir.VectorType) else type_
    return element.width if isinstance(element, ir.F32Type | ir.F64Type) else 0


def _exp(f: FloatBuilder, x: ir.Value) -> ir.Value:
    """exp(x) = 2**n * exp(r) with r = x - n ln 2, |r| <= ln 2 / 2."""
    low, high = (-176.0, 100.0) if f.bits == 32 else (-1418.0, 720.0)  # of a masked score: 2**n is 0
    shifted, r = _exp_rest(f, f.clamp_below(f.clamp_above(x, high), low), 2)
    return _scale_by_exponent(f, _exp_rise(f, r), shifted)


def _exp_rest(f: FloatBuilder, x: ir.Value, biases: int) -> tuple[ir.Value, ir.Value]:
    """n plus `biases` times the exponent bias in the low bits, and r."""
    high, low = (0.693359375, -2.12194440e-4) if f.bits == 32 else (6.93145751953125e-1, 1.42860682030941723212e-6)
    shifted, n = _round_product(f, x, 1 / log(2), biases)
    return shifted, f.sub(f.sub(x, f.mul(n, high)), f.mul(n, low))


def _expm1(f: FloatBuilder, x: ir.Value) -> ir.Value:
    """exp(x) - 1 = 2 * (h * (exp(r) - 1) + (h - 1 / 2)) with h = 2**(n - 1), which is finite where exp(x) is."""
    low, high, tiny = (-18.0, 89.0, 2.0**-25) if f.bits == 32 else (-40.0, 710.0, 2.0**-54)
    shifted, r = _exp_rest(f, f.clamp_below(f.clamp_above(x, high), low), 1)
    half = _power_of_two(f, f.whole_op("subi", f.to_bits(shifted), 1))
    value = f.mul(f.fma(_exp_rise(f, r), half, f.sub(half, 0.5)), 2.0)
    return f.select(f.compare(f.magnitude(x), "olt", tiny), x, value)  # subnormals, and -0


def _exp2(f: FloatBuilder, x: ir.Value) -> ir.Value:
    x = f.clamp_below(f.clamp_above(x, 140.0), -254.0)
    shifted, n = _round_product(f, x, 1.0, 2)
    return _scale_by_exponent(f, _exp_rise(f, f.mul(f.sub(x, n), log(2))), shifted)


def _exp_rise(f: FloatBuilder, r: ir.Value) -> ir.Value:
    """exp(r) - 1 as r + r**2 * P(r)."""
    inner = f.polynomial(r, _EXP_32 if f.bits == 32 else _EXP_64)
    return f.fma(inner, f.mul(r, r), r)


def _mantissa(f: FloatBuilder) -> tuple[int, int]:
    """The number of mantissa bits, and the exponent bias."""
    return (23, 127) if f.bits == 32 else (52, 1023)


def _round_product(f: FloatBuilder, x: ir.Value, factor: float, biases: int) -> tuple[ir.Value, ir.Value]:
    """The integer n nearest to factor * x: n + biases * bias in the low bits of a float, and as a float.

    Adding 1.5 * 2**mantissa drops the fraction. Unlike a conversion this propagates NaN.
    """
    mantissa, bias = _mantissa(f)
    large = 1.5 * 2**mantissa + biases * bias
    shifted = f.fma(x, factor, large)
    return shifted, f.sub(shifted, large)


def _power_of_two(f: FloatBuilder, n: ir.Value) -> ir.Value:
    """2**n of the bits of n plus the exponent bias."""
    return f.from_bits(f.whole_op("shli", n, _mantissa(f)[0]))


def _scale_by_exponent(f: FloatBuilder, rise: ir.Value, shifted: ir.Value) -> ir.Value:
    """(1 + rise) * 2**n in two steps, so that n may exceed the range of normal exponents; scaling rounds once.

    For the least n that may be, minus twice the bias, both factors are 0: a product with 0 is exact, where one that
    underflows takes some 150 cycles on CPUs of Intel.
    """
    both = f.to_bits(shifted)
    first = f.whole_op("shrui", both, 1)
    scale = _power_of_two(f, first)
    return f.mul(f.fma(rise, scale, scale), _power_of_two(f, f.whole_op("subi", both, first)))


def _log(f: FloatBuilder, x: ir.Value) -> ir.Value:
    """log(m * 2**e) = e ln 2 + log(m), m in [sqrt(1/2), sqrt(2))."""
    tiny = f.compare(x, "olt", 2.0**-126)
    _, e, m = _log_parts(f, f.select(tiny, f.mul(x, 2.0**25), x))
    return _log_ends(f, _log_sum(f, m, f.select(tiny, f.sub(e, 25.0), e)), x)


def _log1p(f: FloatBuilder, x: ir.Value) -> ir.Value:
    """log(u) for u = 1 + x, where what u is rounded by is added to m."""
    u = f.add(x, 1.0)
    rounded = f.sub(x, f.sub(u, 1.0))
    if f.bits == 64:
        y = f.add(f.log(u), f.div(rounded, u))
        return f.select(f.compare(f.magnitude(x), "olt", 2.0**-54), x, _log_ends(f, y, u))
    above, e, m = _log_parts(f, u)
    twice = f.from_bits(f.whole_op("subi", f.integer(128 << 23), f.whole_op("andi", above, ~0x7FFFFF)))  # 2**(1 - e)
    y = _log_sum(f, f.fma(f.mul(rounded, 0.5), twice, m), e)
    return f.select(f.compare(f.magnitude(x), "olt", 2.0**-25), x, _log_ends(f, y, u))  # subnormals, and -0


def _log_parts(f: FloatBuilder, normal: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Of m * 2**e: e above the mantissa bits, e as a float, and m - 1."""
    root = 0x3F3504F3  # the bits of sqrt(1/2)
    above = f.whole_op("subi", f.to_bits(normal), root)
    e = f.from_integer(f.whole_op("shrsi", above, 23))
    return above, e, f.sub(f.from_bits(f.whole_op("addi", f.whole_op("andi", above, 0x7FFFFF), root)), 1.0)


def _log_sum(f: FloatBuilder, m: ir.Value, e: ir.Value) -> ir.Value:
    """e ln 2 + log(1 + m)."""
    square = f.mul(m, m)
    y = f.mul(f.mul(f.polynomial(m, _LOG_32), m), square)
    y = f.fma(e, -2.12194440e-4, y)
    y = f.fma(square, -0.5, y)
    return f.fma(e, 0.693359375, f.add(m, y))


def _log_ends(f: FloatBuilder, y: ir.Value, x: ir.Value) -> ir.Value:
    """y, but the logarithm of infinity, NaN, zero and negative numbers."""
    y = f.select(f.compare(x, "olt", float("inf")), y, x)  # infinity and NaN map to themselves
    y = f.select(f.compare(x, "oeq", 0.0), float("-inf"), y)
    return f.select(f.compare(x, "olt", 0.0), float("nan"), y)


def _tanh(f: FloatBuilder, x: ir.Value) -> ir.Value:
    """x + x**3 * P(x**2) near 0; 1 - 2 / (exp(2 |x|) + 1) elsewhere.

    What n ln 2 is rounded by in exp is not subtracted: the quotient makes it less than an ulp.
    """
    size, square = f.magnitude(x), f.mul(x, x)
    near = f.fma(f.mul(f.horner(square, _TANH_32), square), x, x)
    most = f.clamp_above(size, 10.0)
    shifted, n = _round_product(f, most, 2 / log(2), 1)
    scale = _power_of_two(f, f.to_bits(shifted))
    q = f.fma(n, -log(2) / 2, most)
    rise = f.fma(f.polynomial(q, _HALF_EXPM1_32), f.mul(q, q), q)  # (exp(2 q) - 1) / 2
    far = f.sub(1.0, f.div(f.constant(1.0), f.fma(rise, scale, f.fma(scale, 0.5, 0.5))))
    return f.with_sign(f.select(f.compare(size, "olt", 0.625), near, far), x)


def _erf(f: FloatBuilder, x: ir.Value) -> ir.Value:
    """x + x * P(x**2) for |x| < 0.98; else 1 - 2**Q(|x|), where Q is the binary logarithm of erfc."""
    size = f.clamp_above(f.magnitude(x), 4.0)
    near = f.fma(f.horner(f.mul(x, x), _ERF_32), x, x)
    power = f.horner(size, _LOG2_ERFC_32)
    shifted, n = _round_product(f, power, 1.0, 1)
    complement = f.mul(f.horner(f.sub(power, n), _EXP2_32), _power_of_two(f, f.to_bits(shifted)))
    return f.select(f.compare(size, "olt", 0.98), near, f.with_sign(f.sub(1.0, complement), x))


def _sin(f: FloatBuilder, x: ir.Value) -> ir.Value:
    """sin(|x|) with the sign of x, also of -0."""
    sign = f.whole_op("andi", f.to_bits(x), -(1 << 31))
    return f.from_bits(f.whole_op("xori", f.to_bits(_shifted_sine(f, "math.sin", f.magnitude(x), 0)), sign))


def _cos(f: FloatBuilder, x: ir.Value) -> ir.Value:
    return _shifted_sine(f, "math.cos", f.magnitude(x), 1)


def _shifted_sine(f: FloatBuilder, name: str, size: ir.Value, quarters: int) -> ir.Value:
    """sin(size + quarters * pi / 2). The greater the numbers, the more steps: a branch that few vectors take, and in it
    one to the C library, where quarters cannot be counted exactly."""

    def many() -> ir.Value:
        value = _sine_of_rest(f, *_subtract_many_quarters(f, size), quarters)
        return _compute_if_large(
            f, size, _MOST_QUARTERS, value, lambda: ir.Operation.create(name, [f.type], [size]).results[0]
        )

    return _compute_if_large(f, size, _FEW_QUARTERS, _sine_of_rest(f, *_subtract_quarters(f, size), quarters), many)


def _compute_if_large(
    f: FloatBuilder, size: ir.Value, quarters: float, value: ir.Value, make: Callable[[], ir.Value]
) -> ir.Value:
    """A value, but what `make` emits where size has more than these quarters of a turn."""
    is_small = f.compare(size, "olt", quarters * pi / 2 - 1)
    return f.compute_where(f.logical_not(is_small), lambda: f.select(is_small, value, make()), value)


def _subtract_quarters(f: FloatBuilder, x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """n above other bits, and r = x - n * pi / 2, |r| <= pi / 4, for n below `_FEW_QUARTERS`."""
    shifted, n = _round_product(f, x, 2 / pi, 0)
    first, second, rest = (f.mul(n, part) for part in _HALF_PI_PARTS)
    exact = f.sub(x, first)
    near = f.sub(exact, second)
    lost = f.sub(f.sub(exact, near), second)  # by rounding
    return shifted, f.add(near, f.sub(lost, rest))


def _subtract_many_quarters(f: FloatBuilder, x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The same for n up to `_MOST_QUARTERS`."""
    shifted, n = _round_product(f, x, 2 / pi, 0)
    first, second, third, fourth, rest = (f.mul(n, part) for part in _FINE_HALF_PI_PARTS)
    exact = f.sub(f.sub(x, first), second)
    near = f.sub(exact, third)
    nearer = f.sub(near, fourth)
    lost = f.add(f.sub(f.sub(exact, near), third), f.sub(f.sub(near, nearer), fourth))
    return shifted, f.add(nearer, f.sub(lost, rest))


def _sine_of_rest(f: FloatBuilder, shifted: ir.Value, r: ir.Value, quarters: int) -> ir.Value:
    """sin(r + (n + quarters) * pi / 2): the sine or cosine of r, with a sign, by the last two bits of n + quarters."""
    square = f.mul(r, r)
    sine = f.fma(f.mul(f.horner(square, _SIN_32), square), r, r)
    cosine = f.fma(f.mul(f.horner(square, _COS_32), square), square, f.fma(square, -0.5, f.constant(1.0)))
    turns = f.whole_op("addi", f.to_bits(shifted), quarters)
    value = f.select(f.whole_equal(f.whole_op("andi", turns, 1), 0), sine, cosine)
    sign = f.whole_op("shli", f.whole_op("andi", turns, 2), 30)
    return f.from_bits(f.whole_op("xori", f.to_bits(value), sign))


_WRITERS: dict[str, dict[int, Callable[[FloatBuilder, ir.Value], ir.Value]]] = {
    "math.exp": {32: _exp, 64: _exp},
    "math.exp2": {32: _exp2},
    "math.expm1": {32: _expm1, 64: _expm1},
    "math.log": {32: _log},
    "math.log1p": {32: _log1p, 64: _log1p},
    "math.tanh": {32: _tanh},
    "math.erf": {32: _erf},
    "math.sin": {32: _sin},
    "math.cos": {32: _cos},
}
