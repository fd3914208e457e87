"""Bit-exact arithmetic of the interpreter for each type."""

import numpy as np
import pytest
from programs.parsed import parse
from programs.products import summed_product
from programs.short import each, main

from tir_mlir import build, interpret
from tir_mlir.dialect.diagnostics import ArgumentError, NotInterpreted, UnwrittenError

RNG = np.random.default_rng(3)
BINARY = main("A:{n}:{dtype} B:{n}:{dtype} C:{n}:{dtype}", each("C i:{n}", "C[vi] = {expr}"))


def numbers(dtype, n):
    if dtype.startswith("int"):
        info = np.iinfo(dtype)
        return RNG.integers(info.min, info.max, n, dtype, endpoint=True)
    return RNG.standard_normal(n).astype(dtype)


def in_order(a, b, out):
    """A product summed as the program does, rounded at every step."""
    found = np.zeros((a.shape[0], b.shape[1]), out)
    with np.errstate(all="ignore"):
        for k in range(a.shape[1]):
            found += a[:, k : k + 1].astype(out) * b[k : k + 1].astype(out)
    return found


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("size", [1, 15, 17])
def test_a_product_has_the_bits_of_its_type(dtype, size):
    a, b = numbers(dtype, (size, 16)), numbers(dtype, (16, size))
    c = np.zeros((size, size), dtype)
    interpret(summed_product(size, size, 16, dtype), a, b, c)
    np.testing.assert_array_equal(c, in_order(a, b, dtype))


def test_narrow_numbers_are_widened_first():
    a, b, c = numbers("int8", (5, 127)), numbers("int8", (127, 5)), np.zeros((5, 5), np.int32)
    interpret(summed_product(5, 5, 127, "int8", "int32"), a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_bfloat16_is_rounded_after_every_operation():
    def bf16(x):
        bits = np.asarray(x, np.float32).view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)

    def wide(x):
        return (x.astype(np.uint32) << 16).view(np.float32)

    a, b = (bf16(RNG.standard_normal(127)) for _ in range(2))
    c = np.zeros(127, np.uint16)
    interpret(parse(BINARY.format(n=127, dtype="bfloat16", expr="A[vi] * B[vi] + A[vi]")), a, b, c)
    np.testing.assert_array_equal(c, bf16(wide(bf16(wide(a) * wide(b))) + wide(a)))


@pytest.mark.parametrize(
    ("dtype", "expr"),
    [
        ("int8", "T.floordiv(A[vi], T.max(B[vi], T.int8(1))) + T.floormod(A[vi], T.max(B[vi], T.int8(1)))"),
        ("int32", "T.truncdiv(A[vi], T.max(B[vi], 1)) - T.truncmod(A[vi], T.max(B[vi], 1))"),
        ("int16", "(A[vi] & B[vi]) | (A[vi] ^ T.int16(85))"),
        ("int32", "T.Select(A[vi] < B[vi], A[vi], B[vi]) * 3"),
        ("float32", "T.max(A[vi], B[vi]) / T.min(A[vi], B[vi])"),
        ("float64", "T.Select(A[vi] > 0.0, A[vi] / B[vi], -B[vi])"),
        ("float16", "A[vi] / B[vi] - T.abs(A[vi])"),
        ("float32", "T.sqrt(T.abs(A[vi])) + T.floor(B[vi]) * T.ceil(A[vi])"),
        (
            "float32",
            'T.Cast("float32", T.Cast("int32", A[vi] * T.float32(100))) + T.Cast("float32", T.Cast("int8", B[vi]))',
        ),
        ("float32", 'T.Cast("float32", T.Cast("float16", A[vi]))'),
    ],
)
def test_operations_have_the_bits_of_machine_code(dtype, expr):
    program = parse(BINARY.format(n=127, dtype=dtype, expr=expr))
    a, b = numbers(dtype, 127), numbers(dtype, 127)
    mine, theirs = np.zeros(127, dtype), np.zeros(127, dtype)
    interpret(program, a, b, mine)
    build(program)(a, b, theirs)
    np.testing.assert_array_equal(mine, theirs)


def test_functions_are_within_an_ulp():
    program = parse(BINARY.format(n=17, dtype="float32", expr="T.exp(A[vi]) + T.tanh(B[vi]) * T.log(T.abs(A[vi]))"))
    a, b, c = numbers("float32", 17), numbers("float32", 17), np.zeros(17, np.float32)
    interpret(program, a, b, c)
    wide = a.astype(np.float64)
    np.testing.assert_allclose(
        c, np.exp(wide) + np.tanh(b.astype(np.float64)) * np.log(abs(wide)), rtol=1e-6, atol=1e-6
    )


def test_exact_numbers_are_rounded_for_the_arrays_only():
    a, b, c = np.full((1, 3), 100, np.int8), np.full((3, 1), 100, np.int8), np.zeros((1, 1), np.int8)
    report = interpret(summed_product(1, 1, 3, "int8"), a, b, c, exact=True)
    assert report.results["C"][0, 0] == 30000
    assert c[0, 0] == np.int64(30000).astype(np.int8)


def test_a_size_known_at_run_time_comes_from_the_arrays():
    program = parse(main("A:nx2 B:n", each("B i:n", "B[vi] = A[vi, 0] + A[vi, 1]")))
    for n in (0, 1, 15, 16, 17):
        a, b = numbers("float32", (n, 2)), np.zeros(n, np.float32)
        interpret(program, a, b)
        np.testing.assert_array_equal(b, a[:, 0] + a[:, 1])
    with pytest.raises(ArgumentError, match="n = 3 comes from"):
        interpret(program, np.zeros((3, 2), np.float32), np.zeros(4, np.float32))


def test_text_and_linalg_are_taken():
    text = """
    func.func @main(%A: memref<5x7xf32>, %B: memref<7x6xf32>, %C: memref<5x6xf32>) {
      linalg.matmul ins(%A, %B : memref<5x7xf32>, memref<7x6xf32>) outs(%C : memref<5x6xf32>)
      return
    }"""
    a, b, c = numbers("float32", (5, 7)), numbers("float32", (7, 6)), np.zeros((5, 6), np.float32)
    interpret(text, a, b, c)
    np.testing.assert_array_equal(c, in_order(a, b, np.float32))
    with pytest.raises(NotInterpreted, match=r"a Schedule, an ir.Module or text, not int"):
        interpret(3)


def test_one_array_may_be_two_parameters_but_not_half_of_one():
    text = BINARY.format(n=4, dtype="int32", expr="A[vi] + B[vi]")
    program = parse(text.replace("    for i in", '    T.func_attr({"tir.noalias": False})\n    for i in'))
    x = np.arange(4, dtype=np.int32)
    interpret(program, x, x, x)
    np.testing.assert_array_equal(x, [0, 2, 4, 6])
    y = np.arange(6, dtype=np.int32)
    with pytest.raises(ArgumentError, match="overlap partially in memory"):
        interpret(program, y[:4], y[2:], np.zeros(4, np.int32))


@pytest.mark.parametrize("exact", [False, True])
def test_casts_to_integers_and_shifts(exact):
    text = BINARY.format(n=4, dtype="float32", expr='T.Cast("float32", {0}) + B[vi]')
    shifted = 'T.shift_left(T.shift_right(T.Cast("int32", A[vi] * T.float32(4)), T.int32(1)), T.int32(2))'
    a, c = np.array([1.75, -1.75, 0.3, -0.3], np.float32), np.zeros(4, np.float32)
    interpret(parse(text.replace("{0}", shifted)), a, np.full(4, 0.5, np.float32), c, exact=exact)
    np.testing.assert_array_equal(c, [12.5, -15.5, 0.5, -3.5])


def test_an_exact_cast_of_no_number_to_an_integer_is_uninitialized():
    text = BINARY.format(n=1, dtype="float32", expr='T.Cast("float32", T.Cast("int32", A[vi])) + B[vi]')
    with pytest.raises(UnwrittenError):
        interpret(parse(text), np.full(1, np.inf, np.float32), *(np.zeros(1, np.float32) for _ in range(2)), exact=True)
