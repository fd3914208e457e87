"""fmod, hypot, ldexp, nextafter, q_multiply_shift_per_axis, halves of vectors, vscale: values, text, verification."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from programs.short import each, main

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.interpreter import interpret
from tir_mlir.script import parse
from tir_mlir.script.structural_equal import difference
from tir_mlir.target import SVE, host

EDGES = {
    "float16": [6e-8, -6e-8, 6.104e-5, 65504, -65504, 300, 1e-4],
    "float32": [1e-45, -1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38, 3e19, 1e-30],
    "float64": [
        5e-324,
        -5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
        -1.7976931348623157e308,
        1e200,
        1e-200,
    ],
}
COMMON = [0.0, -0.0, 1.0, -1.5, 2.5, 7.25, math.inf, -math.inf, math.nan]
EXPONENTS = [0, 1, -1, 5, -5, 30, -30, 149, -149, 277, -277, 1000, -1000, 1074, -1074, 2100, -2100, 2**31 - 1, -(2**31)]
REFERENCE = {"fmod": np.fmod, "hypot": np.hypot, "nextafter": np.nextafter, "ldexp": np.ldexp}


def program(size: int, expression: str, *dtypes: str):
    names = "ABC"[: len(dtypes) - 1] + "D"
    params = ", ".join(f'{n}: T.Buffer(({size},), "{d}")' for n, d in zip(names, dtypes, strict=True))
    return parse(f"""
@T.prim_func
def main({params}):
    for i in range({size}):
        with T.block("D"):
            vi = T.axis.spatial({size}, i)
            D[vi] = {expression}
""")


def pairs(first: list[float], second: list[float], dtype: str, other: str) -> tuple[np.ndarray, np.ndarray]:
    both = list(itertools.product(first, second))
    return np.array([a for a, _ in both], dtype), np.array([b for _, b in both], other)


def same(found: np.ndarray, wanted: np.ndarray, word: str) -> np.ndarray:
    equal = (found == wanted) & ((found != 0) | (np.signbit(found) == np.signbit(wanted)))
    if word == "hypot":
        facts = np.finfo(found.dtype)
        equal |= np.isclose(found, wanted, rtol=2 * facts.eps, atol=facts.smallest_subnormal)
    return equal | (np.isnan(found) & np.isnan(wanted))


@pytest.mark.parametrize("dtype", EDGES)
@pytest.mark.parametrize("word", REFERENCE)
def test_values_at_the_edges(word: str, dtype: str):
    values, other = [*COMMON, *EDGES[dtype]], "int32" if word == "ldexp" else dtype
    a, b = pairs(values, EXPONENTS if word == "ldexp" else values, dtype, other)
    if word == "nextafter":  # NumPy's, of float16, does not return the second of two zeros
        a, b = (x[(a != 0) | (b != 0)] for x in (a, b))
    module = program(len(a), f"T.{word}(A[vi], B[vi])", dtype, other, dtype)
    with np.errstate(all="ignore"):
        wanted = REFERENCE[word](a, b)
    for run in (build(module), lambda *arrays: interpret(module, *arrays)):
        found = np.zeros(len(a), dtype)
        run(a, b, found)
        wrong = ~same(found, wanted, word)
        assert not wrong.any(), list(zip(a[wrong], b[wrong], found[wrong], wanted[wrong], strict=True))[:3]


@pytest.mark.parametrize("word", REFERENCE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_printed_verified_and_vectorized(word: str, dtype: str):
    module = program(64, f"T.{word}(A[vi], B[vi])", dtype, "int32" if word == "ldexp" else dtype, dtype)
    assert difference(parse(module.script()).mlir, module.mlir) is None
    sch = Schedule(module)
    _outer, inner = sch.split(sch.get_loops("D")[0], [None, 8])
    sch.vectorize(inner)
    assert sch.verify()


def test_fmod_prints_as_itself():
    assert "T.fmod(A[vi], B[vi])" in program(4, "T.fmod(A[vi], B[vi])", "float32", "float32", "float32").script()


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("q", [31, 15, 1])
def test_fixed_point_products_with_shifts_from_data(left: bool, q: int):
    rng = np.random.default_rng(0)
    x = np.array([0, 1, -1, 2**20, -(2**20), 2**31 - 1, -(2**31), *rng.integers(-(2**20), 2**20, 57)], "int32")
    y, ls, rs = (rng.integers(*r, 64).astype("int32") for r in ((2**29, 2**31 - 1), (0, 3), (0, 9)))
    params = ", ".join(f'{n}: T.Buffer((64,), "int32")' for n in "XYLRD")
    module = parse(f"""
@T.prim_func
def main({params}):
    for i in range(64):
        with T.block("D"):
            vi = T.axis.spatial(64, i)
            D[vi] = T.q_multiply_shift_per_axis(X[vi], Y[vi], L[vi], R[vi], {q}, T.bool({left}), T.bool(True))
""")
    a, b, s, r = (v.astype("int64") for v in (x, y, ls, rs))
    with np.errstate(all="ignore"):
        wanted = ((((a << s) if left else a) * b + (np.int64(1) << (q + r - 1))) >> (q + r)).astype("int32")
    for run in (build(module), lambda *arrays: interpret(module, *arrays)):
        found = np.zeros(64, "int32")
        run(x, y, ls, rs, found)
        np.testing.assert_array_equal(found, wanted)
    sch = Schedule(module)
    sch.parallel(sch.get_loops("D")[0])
    assert sch.verify() and difference(parse(module.script()).mlir, module.mlir) is None


def test_halves_of_vectors():
    module = parse(
        main(
            "A:8 B:8",
            each(
                "B:1",
                "low = T.vectorlow('float32x4', A[0:8])",
                "high = T.vectorhigh('float32x4', A[0:8])",
                "B[0:8] = T.vectorcombine('float32x8', high, low)",
            ),
        )
    )
    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    for run in (build(module), lambda *arrays: interpret(module, *arrays)):
        b[:] = 0
        run(a, b)
        np.testing.assert_array_equal(b, [4, 5, 6, 7, 0, 1, 2, 3])
    assert difference(parse(module.script()).mlir, module.mlir) is None


def test_the_length_of_scalable_registers_is_a_constant():
    assert SVE.vscale is not None
    module = parse(
        """
@T.prim_func
def main(A: T.Buffer((T.vscale(SVE) * 4,), "int32")):
    for i in range(T.vscale(SVE) * 4):
        with T.block("A"):
            vi = T.axis.spatial(T.vscale(SVE) * 4, i)
            A[vi] = T.vscale() + vi
""",
        {"SVE": SVE},
    )
    size, own = SVE.vscale[0] * 4, host().vscale[0] if host().vscale else 1  # type: ignore[index]
    a = np.zeros(size, "int32")
    build(module)(a)
    np.testing.assert_array_equal(a, np.arange(size) + own)


@pytest.mark.parametrize(("expression", "message"), [
    ("T.fmod(I[vi], I[vi])", "T.fmod takes floats, not int32"),
    ("T.hypot(I[vi], I[vi])", "T.hypot takes floats, not int32"),
    ("T.ldexp(A[vi], A[vi])", "the exponent of T.ldexp is an integer, not float32"),
    ("T.nextafter(I[vi], I[vi])", "T.nextafter takes floats, not int32"),
    ('T.vectorlow("float32x2", A[vi])', "T.vectorlow takes a vector with an even number of lanes, not float32"),
    ('T.Shuffle([T.vectorhigh("int32x2", A[0:4])], [0])', "T.vectorhigh of this vector is float32x2, not int32x2"),
    ('T.Shuffle([T.vectorcombine("float32x4", A[0:2], A[0:4])], [0])', "T.vectorcombine takes two vectors of one type"),
    ("T.q_multiply_shift_per_axis(I[vi], I[vi], 0, 0, I[vi], T.bool(True), T.bool(True))", "a constant q of 1 to 31"),
    ("T.q_multiply_shift_per_axis(A[vi], A[vi], 0, 0, 31, T.bool(True), T.bool(True))", "multiplies int32 values"),
    ('T.Cast("float32", T.vscale("none such"))', "T.vscale: "),
])  # fmt: skip
def test_refused(expression: str, message: str):
    with pytest.raises(ScriptError, match=message):
        parse(main("A:4 I:4:int32 D:4", each("D:4", f"D[vi] = {expression}")))
