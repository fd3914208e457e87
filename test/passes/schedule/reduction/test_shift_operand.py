"""shift_operand: a product of signed integers by an unsigned operand, exact modulo 2^32, or the step is refused."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse
from programs.products import widened

from tir_mlir import Schedule, build

RNG = np.random.default_rng(3)


def nest(update: str, init: str = "0", loops: str = "i, j, k in T.grid(5, 6, 7)", k: str = "k") -> Schedule:
    """C of 5 x 6 from A of 5 x 7 and B of 7 x 6."""
    return Schedule(
        parse(f"""
@T.prim_func
def main(
    A: T.Buffer((5, 7), "int8"), B: T.Buffer((7, 6), "int8"), D: T.Buffer((5, 7), "int16"), C: T.Buffer((5, 6), "int32")
):
    for {loops}:
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(7, {k})
            with T.init():
                C[vi, vj] = {init}
            C[vi, vj] = C[vi, vj] + {update}
""")
    )


WIDE_A, WIDE_B = 'T.Cast("int32", A[vi, vk])', 'T.Cast("int32", B[vk, vj])'


def run(sch: Schedule) -> tuple[np.ndarray, ...]:
    a, b, d = (RNG.integers(np.iinfo(t).min, np.iinfo(t).max + 1, s).astype(t)
               for t, s in (("int8", (5, 7)), ("int8", (7, 6)), ("int16", (5, 7))))  # fmt: skip
    a[0], b[:, 0] = -128, -128
    c = np.full((5, 6), 9, "int32")
    build(sch)(a, b, d, c)
    return a, b, d, c


@pytest.mark.parametrize("operand", ["A", "B"])
def test_either_operand(operand):
    sch = nest(f"{WIDE_A} * {WIDE_B}")
    sch.shift_operand("C", operand)
    a, b, _, c = run(sch)
    np.testing.assert_array_equal(c, a.astype("int32") @ b.astype("int32"))
    assert sch.verify()


def test_int16_wraps_as_before():
    sch = nest(f'T.Cast("int32", D[vi, vk]) * ({WIDE_B} * 16777259)')
    sch.shift_operand("C", "D")
    _, b, d, c = run(sch)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(c, d.astype("int32") @ (b.astype("int32") * np.int32(16777259)))
    assert sch.verify()


def test_a_factor_without_spatial_iters():
    sch = nest(f'{WIDE_A} * T.Cast("int32", B[vk, 0])')
    _, sums = sch.shift_operand("C", "A")
    assert len(sch.get_loops(sums)) == 1
    a, b, _, c = run(sch)
    np.testing.assert_array_equal(c, np.repeat(a.astype("int32") @ b[:, :1].astype("int32"), 6, 1))


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 5, 2)])
def test_sizes_known_when_it_runs(sizes):
    m, n, k = sizes
    sch = Schedule(widened("m", "n", "k"))
    sch.shift_operand("C", "A")
    a, b = (RNG.integers(-128, 128, s).astype("int8") for s in ((m, k), (k, n)))
    c = np.empty((m, n), "int32")
    build(sch)(a, b, c)
    np.testing.assert_array_equal(c, a.astype("int32") @ b.astype("int32"))
    assert sch.verify()


def test_a_computed_operand():
    """The operand may be padded first: its padding is shifted with it."""
    sch = Schedule(widened(5, 6, 7))
    sch.pad_einsum("C", [1, 1, 4])
    sch.shift_operand("C", "A_pad")
    assert sch.verify()


NOT_A_PRODUCT = 'block "C" does not add a product of integers with a widened element of A as a factor'


@pytest.mark.parametrize(
    ("update", "init", "text"),
    [
        (f"({WIDE_A} * {WIDE_B}) * 2", "0", NOT_A_PRODUCT),
        (WIDE_A, "0", NOT_A_PRODUCT),
        (f'T.Cast("int32", A[vi, vk] * T.Cast("int8", 3)) * {WIDE_B}', "0", NOT_A_PRODUCT),
        (f"{WIDE_A} * {WIDE_A}", "0", 'block "C" reads A at several positions'),
        (f"{WIDE_A} * {WIDE_B}", "1", "the init of C is 1, which is not the identity of sum"),
    ],
)
def test_other_updates(refused, update, init, text):
    sch = nest(update, init)
    refused(sch, text, lambda: sch.shift_operand("C", "A"))


@pytest.mark.parametrize("operand", ["A", "B"])
def test_an_unsigned_operand_is_read_as_signed(operand):
    sch = Schedule(widened(5, 6, 7, "uint8"))
    copied, _ = sch.shift_operand("C", operand)
    assert sch.get(copied).writes[0].buffer.dtype == "int8" and sch.verify()
    a, b = (RNG.integers(0, 256, s).astype("uint8") for s in ((5, 7), (7, 6)))
    a[0], b[:, 0], c = 255, 0, np.empty((5, 6), "int32")
    build(sch)(a, b, c)
    np.testing.assert_array_equal(c, a.astype("int32") @ b.astype("int32"))


WHOLE = 'the loops of block "C" are not one for each iter, over its whole domain, with nothing else'


def test_the_loops(refused):
    product = f"{WIDE_A} * {WIDE_B}"
    sch = nest(product)
    sch.split(sch.get_loops("C")[2], [None, 7])
    refused(sch, WHOLE, lambda: sch.shift_operand("C", "A"))
    sch = nest(product)
    sch.reorder(*sch.get_loops("C")[::-1])
    sch.shift_operand("C", "A")
    assert sch.verify()


def test_a_repeated_sum(refused):
    """A loop that drives no iter repeats the terms: the sums of the other factor would miss them."""
    sch = nest(f"{WIDE_A} * {WIDE_B}", loops="i, j, k, again in T.grid(5, 6, 7, 2)")
    refused(sch, WHOLE, lambda: sch.shift_operand("C", "A"))
