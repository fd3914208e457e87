"""Sizes, loops and iters of int64 print as such, and count in a comparison."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.script import parse

SIZED = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.{size}()
    A = T.match_buffer(a, (n, 16), "float32")
    B = T.match_buffer(b, (n, 16), "float32")
    for i, j in T.grid(n, T.{loop}(16)):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            vj = T.axis.spatial(T.{iter}(16), j)
            B[vi, vj] = A[vi, vj] + 1.0
"""
NAMES = ("size", "loop", "iter")


def _program(wide: str):
    return parse(SIZED.format(**{name: "int64" if name in wide.split() else "int32" for name in NAMES}))


@pytest.mark.parametrize("wide", ["", "size", "loop", "iter", "loop iter", "size loop iter"])
def test_the_text_parses_to_the_same_program(wide: str) -> None:
    mod = _program(wide)
    for sugar in (True, False):
        text = mod.script(syntax_sugar=sugar)
        again = parse(text)
        assert again.equal(mod) and again.script(syntax_sugar=sugar) == text


def test_a_size_prints_as_declared() -> None:
    assert "n = T.int64()" in _program("size").script() and "n = T.int32()" in _program("").script()


def test_an_extent_prints_as_declared() -> None:
    text = _program("loop iter").script()
    assert "T.grid(n, T.int64(16))" in text and "T.axis.remap" in text
    text = _program("iter").script(syntax_sugar=False)
    assert "vj = T.axis.spatial(T.int64(16), j)" in text


@pytest.mark.parametrize("wide", ["size", "loop iter"])
def test_int64_counts_in_a_comparison(wide: str) -> None:
    assert not _program(wide).equal(_program(""))


def test_the_loops_of_a_split_have_the_type_of_the_iter() -> None:
    sch = Schedule(_program("size loop iter"))
    i, j = sch.get_loops(sch.get_block("B"))
    sch.split(i, [None, 4])
    sch.split(j, [4, 4])
    text = sch.mod.script(syntax_sugar=False)
    assert text.count("range(T.int64(4))") == 3
    assert parse(text).equal(sch.mod)
    assert sch.verify()


def test_the_type_does_not_change_the_code() -> None:
    a = np.arange(48, dtype="float32").reshape(3, 16)
    b = np.zeros_like(a)
    build(_program("size loop iter"))(a, b)
    np.testing.assert_array_equal(b, a + 1)


WRITTEN = """
@T.prim_func
def main(A: T.Buffer((T.int64(16), T.int64(8)), "float32"), b: T.handle):
    B = T.match_buffer(b, (T.int64(16), T.int64(8)))
    X = T.alloc_buffer((T.int64(16), T.int64(8)))
    for i, j in T.grid(T.int64(16), T.int64(8)):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = A[vi, (vj + T.int64(1)) % T.int64(8)]
    for i, j in T.grid(T.int64(16), T.int64(8)):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i * T.int64(8) + j < T.int64(100))
            B[vi, vj] = X[vi, vj]
"""


@pytest.mark.parametrize("sugar", [True, False])
def test_extents_of_buffers_and_index_arithmetic_print_as_written(sugar: bool) -> None:
    mod = parse(WRITTEN)
    text = mod.script(syntax_sugar=sugar)
    assert text.count("(T.int64(16), T.int64(8))") >= 3
    assert "X[vi, vj] = A[vi, (vj + T.int64(1)) % T.int64(8)]" in text
    assert "T.where(i * T.int64(8) + j < T.int64(100))" in text
    assert parse(text).equal(mod)


@pytest.mark.parametrize("shape", ["A: T.Buffer((", "(b, (", "alloc_buffer(("])
def test_the_type_of_an_extent_counts_in_a_comparison(shape: str) -> None:
    assert not parse(WRITTEN.replace(f"{shape}T.int64(16), T.int64(8)", f"{shape}16, 8")).equal(parse(WRITTEN))


def test_a_schedule_of_a_program_in_int64_prints_and_reads_back() -> None:
    sch = Schedule(parse(WRITTEN))
    sch.split(sch.get_loops("X")[1], [None, 4])
    sch.cache_read("B", 0, "shared")
    sch.compute_at("X", sch.get_loops("X_shared")[0])
    assert parse(sch.mod.script()).equal(sch.mod) and sch.verify()


SUMMED = """
@T.prim_func
def main(A: T.Buffer((T.int64(16), T.int64(8)), "float32"), B: T.Buffer((T.int64(16),), "float32")):
    for i, k in T.grid(T.int64(16), T.int64(8)):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
"""
COPIES = {
    "cache_read": (lambda sch: sch.cache_read("B", 0, "local"), "A_local = T.alloc_buffer((T.int64(16), T.int64(8))"),
    "cache_write": (lambda sch: sch.cache_write("B", 0, "local"), "B_local = T.alloc_buffer((T.int64(16),)"),
    "read_at": (
        lambda sch: sch.read_at(sch.get_loops("B")[0], "B", 0, "local"),
        "A_local = T.alloc_buffer((T.int64(16), T.int64(8))",
    ),
    "reindex": (lambda sch: sch.reindex("B", ("read", 0)), "A_reindex = T.alloc_buffer((T.int64(16), T.int64(8))"),
    "reindex_cache_read": (
        lambda sch: sch.reindex_cache_read("B", 0, "local", lambda i, k: (k, i)),
        "A_local = T.alloc_buffer((T.int64(8), T.int64(16))",
    ),
    "rfactor": (lambda sch: sch.rfactor(sch.get_loops("B")[1], 0), "B_rf = T.alloc_buffer((T.int64(8), T.int64(16))"),
    "pad_einsum": (lambda sch: sch.pad_einsum("B", [5, 1]), "A_pad = T.alloc_buffer((T.int64(20), T.int64(8))"),
}


@pytest.mark.parametrize("step", COPIES)
def test_a_copy_of_a_buffer_has_its_type_of_extents(step: str) -> None:
    apply, declaration = COPIES[step]
    sch = Schedule(parse(SUMMED))
    apply(sch)
    text = sch.mod.script()
    assert declaration in text
    assert parse(text).equal(sch.mod) and sch.verify()


def test_the_copy_that_a_block_updates_has_its_type_of_extents() -> None:
    sch = Schedule(parse(SUMMED.replace('"SR"', '"SO"').replace("with T.init():", "if vk == 0:")))
    sch.cache_inplace("B", 0, "local")
    assert "B_local = T.alloc_buffer((T.int64(16),)" in sch.mod.script() and sch.verify()


def test_a_copy_of_a_buffer_in_int32_is_in_int32() -> None:
    sch = Schedule(parse(SUMMED.replace("T.int64(16)", "16").replace("T.int64(8)", "8")))
    sch.cache_read("B", 0, "local")
    assert "A_local = T.alloc_buffer((16, 8)" in sch.mod.script()
