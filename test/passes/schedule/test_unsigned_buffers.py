"""Steps on unsigned programs: what a step creates keeps the type, and the result is NumPy's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main, program

from tir_mlir import Schedule, build, te
from tir_mlir.dialect.ir import Buffer, enter_context, walk

DTYPES = ("uint8", "uint32")
STAGES = main(
    "A:37x20:{dtype} C:37x20:{dtype}; B:37x20:{dtype}",
    each("B:37x20", "B[vi, vj] = A[vi, vj] // 3 + 200"),
    each("C:37x20", "C[vi, vj] = T.max(B[vi, vj], A[vi, vj]) >> 1"),
)
REDUCED = main("A:37x20:{dtype} C:37:{dtype}", each("C i:37 j:20R", "C[vi] = {update}", init="C[vi] = {start}"))


def _allocated(sch: Schedule) -> set[str]:
    with enter_context():
        ops = walk.ops(sch.mod.mlir.operation)
        return {Buffer(o.results[0]).dtype for o in ops if o.name == "memref.alloc"}


def _check(sch: Schedule, dtype: str, expected: Callable, shape: tuple[int, ...]) -> None:
    """The scheduled program is equivalent, prints as it parses, and computes what NumPy does."""
    assert sch.verify()
    text = sch.mod.script()
    assert parse(text).equal(sch.mod)
    assert _allocated(sch) <= {dtype} and f'"int{dtype[4:]}"' not in text
    a = np.random.default_rng(0).integers(0, np.iinfo(dtype).max, (37, 20), dtype, endpoint=True)
    c = np.zeros(shape, dtype)
    build(sch)(a, c)
    np.testing.assert_array_equal(c, expected(a))


def _inline(sch: Schedule) -> None:
    sch.compute_inline(sch.get_block("B"))


def _caches(sch: Schedule) -> None:
    sch.cache_read(sch.get_block("B"), 0, "local")
    sch.cache_write(sch.get_block("C"), 0, "local")


def _placed(sch: Schedule) -> None:
    i, _ = sch.get_loops(sch.get_block("C"))
    outer, _ = sch.split(i, [None, 8])
    sch.compute_at(sch.get_block("B"), outer)


def _reverse(sch: Schedule) -> None:
    sch.reverse_compute_inline(sch.get_block("C"))


def _layout(sch: Schedule) -> None:
    sch.transform_layout(sch.get_block("B"), "B", lambda i, j: (i, j // 8, j % 8), pad_value=255)


def _vectors(sch: Schedule) -> None:
    for name in "BC":
        sch.vectorize(sch.split(sch.get_loops(sch.get_block(name))[1], [None, 16])[1])


def _reindexed(sch: Schedule) -> None:
    sch.reindex(sch.get_block("C"), ("read", 0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("step", [_inline, _caches, _placed, _reverse, _layout, _vectors, _reindexed])
def test_a_step_keeps_the_type(step: Callable, dtype: str) -> None:
    sch = Schedule(parse(STAGES.format(dtype=dtype)))
    step(sch)

    def expected(a: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.maximum(a // a.dtype.type(3) + a.dtype.type(200), a) >> a.dtype.type(1)

    _check(sch, dtype, expected, (37, 20))


REDUCTIONS = {
    "max": ("T.min_value('{d}')", "T.max(C[vi], A[vi, vj])", lambda a: a.max(1)),
    "min": ("T.max_value('{d}')", "T.min(C[vi], A[vi, vj])", lambda a: a.min(1)),
    "sum": ("T.{d}(0)", "C[vi] + A[vi, vj]", lambda a: a.sum(1, dtype=a.dtype)),
    "product": ("T.{d}(1)", "C[vi] * A[vi, vj]", lambda a: a.prod(1, dtype=a.dtype)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_rfactor(name: str, dtype: str) -> None:
    start, update, expected = REDUCTIONS[name]
    sch = Schedule(parse(REDUCED.format(dtype=dtype, start=start.replace("{d}", dtype), update=update)))
    sch.rfactor(sch.split(sch.get_loops(sch.get_block("C"))[1], [None, 4])[1], 1)
    _check(sch, dtype, expected, (37,))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_vectorized_reduction(name: str) -> None:
    start, update, expected = REDUCTIONS[name]
    sch = Schedule(parse(REDUCED.format(dtype="uint8", start=start.replace("{d}", "uint8"), update=update)))
    sch.decompose_reduction(sch.get_block("C"), sch.get_loops(sch.get_block("C"))[1])
    sch.vectorize(sch.get_loops(sch.get_block("C_update"))[1])
    _check(sch, "uint8", expected, (37,))


def test_a_start_of_an_unsigned_maximum_is_unsigned() -> None:
    """-128 as bits is 128 of uint8: each part starts from it, and none below it is the result."""
    sch = Schedule(parse(REDUCED.format(dtype="uint8", start="T.uint8(128)", update="T.max(C[vi], A[vi, vj])")))
    sch.rfactor(sch.split(sch.get_loops(sch.get_block("C"))[1], [None, 4])[1], 1)
    _check(sch, "uint8", lambda a: np.maximum(a.max(axis=1), 128), (37,))


def test_a_type_is_set_between_signs() -> None:
    """uint8 stored as int16: each load is cast back, or widened directly."""
    sch = Schedule(parse(STAGES.format(dtype="uint8")))
    sch.unsafe_set_dtype(sch.get_block("B"), 0, "int16")
    assert _allocated(sch) == {"int16"}
    assert parse(sch.mod.script()).equal(sch.mod)
    a = np.random.default_rng(0).integers(0, 256, (37, 20), "uint8")
    c = np.zeros_like(a)
    build(sch)(a, c)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(c, np.maximum(a // np.uint8(3) + np.uint8(200), a) >> 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensor_expressions(dtype: str) -> None:
    n = 37
    a = te.placeholder((n, 20), dtype, name="A")
    k = te.reduce_axis((0, 20), name="k")
    c = te.compute((n,), lambda i: te.max(a[i, k], axis=k), name="C")
    func = te.create_prim_func([a, c])
    assert c.dtype == dtype and f'"{dtype}"' in func.script()
    x = np.random.default_rng(1).integers(0, np.iinfo(dtype).max, (n, 20), dtype, endpoint=True)
    y = np.zeros(n, dtype)
    build(func)(x, y)
    np.testing.assert_array_equal(y, x.max(1))


def test_a_product_of_uint8_in_int32() -> None:
    n, m, k = 19, 23, 37
    a, b = (te.placeholder(shape, "uint8", name=name) for name, shape in (("A", (n, k)), ("B", (k, m))))
    r = te.reduce_axis((0, k), name="r")
    c = te.compute(
        (n, m), lambda i, j: te.sum(a[i, r].astype("int32") * b[r, j].astype("int32"), axis=r), name="C"
    )  # fmt: skip
    sch = Schedule(te.create_prim_func([a, b, c]))
    block = sch.get_block("C")
    i, _j, _ = sch.get_loops(block)
    sch.decompose_reduction(block, i)
    sch.vectorize(sch.split(sch.get_loops(sch.get_block("C_update"))[1], [None, 16])[1])
    assert sch.verify()
    x, y = (np.random.default_rng(2).integers(0, 256, s, "uint8") for s in ((n, k), (k, m)))
    z = np.zeros((n, m), "int32")
    build(sch)(x, y, z)
    np.testing.assert_array_equal(z, x.astype("int32") @ y.astype("int32"))


@pytest.mark.parametrize(("value", "folded"), [(200, "T.float32(200.0)"), (0, "T.float32(0.0)")])
def test_a_converted_constant_is_folded_by_its_sign(value: int, folded: str) -> None:
    """The bits of 200 of uint8 are those of -56."""
    sch = Schedule(parse(REDUCED.format(dtype="uint8", start=f"T.uint8({value})", update="C[vi] + A[vi, vj]")))
    cache = sch.cache_write(sch.get_block("C"), 0, "local")
    sch.unsafe_set_dtype(sch.get_block("C"), 0, "float32")
    assert sch.get(cache) is not None
    text = sch.mod.script()
    assert folded in text and parse(text).equal(sch.mod)


def test_a_constant_stored_to_a_buffer_that_becomes_unsigned_prints_as_it_reads_back():
    sch = Schedule(program("C:4:int32; Y:4:int32", each("Y:4", "Y[vi] = 3"), each("C:4", "C[vi] = Y[vi]")))
    sch.unsafe_set_dtype("Y", 0, "uint32")
    assert "Y[vi] = T.uint32(3)" in sch.mod.script()
