"""The nests of a large function become functions of their own, with distinct buffers as arguments."""

from __future__ import annotations

import re

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build
from tir_mlir.dialect.ir import create, enter_context
from tir_mlir.passes.lower.llvm.nest_functions import MAX_NESTS
from tir_mlir.passes.lower.to_llvm import lower_to_llvm


def sums(count: int, head: str = "", n: str = "16") -> Schedule:
    """B = A + 1 + ... + 1, in `count` nests over two buffers one after the other."""
    lines = ["@T.prim_func", "def main(a: T.handle, b: T.handle, x: T.float32):", head]
    lines += [f"    A = T.match_buffer(a, ({n}, 8))", f"    B = T.match_buffer(b, ({n}, 8))"]
    for number in range(count):
        source, target = ("A", "B") if number == 0 else ("B", "B")
        lines += [
            f"    for i, j in T.grid({n}, 8):",
            f'        with T.block("b{number}"):',
            '            vi, vj = T.axis.remap("SS", [i, j])',
            f"            {target}[vi, vj] = {source}[vi, vj] + x * T.float32({number})",
        ]
    return Schedule(parse("\n".join(lines)))


def lowered(sch: Schedule) -> str:
    with enter_context():
        module = create.clone_module(sch._executor.module)
        lower_to_llvm(module)
        return str(module)


def functions(text: str) -> list[str]:
    return re.findall(r"llvm.func internal @(main\.nest\d+)", text)


def check(sch: Schedule, count: int, rows: int = 16) -> None:
    a, b = np.random.default_rng(0).random((2, rows, 8), dtype=np.float32)
    build(sch)["main"](a, b, 0.5)
    np.testing.assert_allclose(b, a + 0.5 * sum(range(count)), rtol=1e-5)


@pytest.mark.parametrize(("count", "expected"), [(MAX_NESTS, 0), (MAX_NESTS + 1, MAX_NESTS + 1)])
def test_only_functions_of_many_nests_are_split(count, expected):
    sch = sums(count)
    assert len(functions(lowered(sch))) == expected
    check(sch, count)


def test_buffers_of_a_nest_are_distinct_arguments():
    text = lowered(sums(MAX_NESTS + 1))
    head = next(line for line in text.splitlines() if "internal @main.nest0(" in line)
    assert head.count("llvm.noalias") == 2
    assert "no_inline" in head


def test_buffers_that_may_overlap_are_not():
    text = lowered(sums(MAX_NESTS + 1, '    T.func_attr({"tir.noalias": False})'))
    assert len(functions(text)) == MAX_NESTS + 1
    assert "llvm.noalias" not in text


def test_sizes_and_scalars_are_passed():
    sch = sums(MAX_NESTS + 2, "    n = T.int64()", "n")
    assert len(functions(lowered(sch))) == MAX_NESTS + 2
    check(sch, MAX_NESTS + 2, rows=5)


def test_parallel_and_vectorized_nests():
    sch = sums(MAX_NESTS + 1)
    for number in range(MAX_NESTS + 1):
        i, j = sch.get_loops(f"b{number}")
        sch.parallel(i)
        sch.vectorize(j)
    assert len(functions(lowered(sch))) == MAX_NESTS + 1
    check(sch, MAX_NESTS + 1)


def test_nests_of_views_stay():
    lines = ["@T.prim_func", "def main(A: T.Buffer((16, 8)), B: T.Buffer((16, 8))):"]
    for number in range(MAX_NESTS + 1):
        lines += [
            "    for i in range(16):",
            f'        with T.block("b{number}"):',
            "            vi = T.axis.spatial(16, i)",
            "            V = T.match_buffer(B[vi, 0:8], (8,), offset_factor=1)",
            "            for j in range(8):",
            f"                V[j] = A[vi, j] + {number}.0",
        ]
    sch = Schedule(parse("\n".join(lines)))
    a, b = np.random.default_rng(0).random((2, 16, 8), dtype=np.float32)
    build(sch)["main"](a, b)
    np.testing.assert_allclose(b, a + MAX_NESTS, rtol=1e-6)


def test_checked_accesses_are_found_in_nests():
    sch = sums(MAX_NESTS + 1)
    lib = build(sch, checked=True)
    a, b = np.random.default_rng(0).random((2, 16, 8), dtype=np.float32)
    lib["main"](a, b, 0.0)
    np.testing.assert_allclose(b, a)


def chain(count: int, factors: list[str]) -> Schedule:
    """B = A * f + 1, ... over buffers of the program, in `count` nests that take the factors one after the other."""
    lines = ["@T.prim_func", "def main(A: T.Buffer((64, 64)), B: T.Buffer((64, 64))):"]
    lines += [f"    X{number} = T.alloc_buffer((64, 64))" for number in range(count - 1)]
    for number in range(count):
        source, target = ("A" if number == 0 else f"X{number - 1}"), ("B" if number == count - 1 else f"X{number}")
        lines += [
            f"    for i{number}, j{number} in T.grid(64, 64):",
            f'        with T.block("b{number}"):',
            f'            vi, vj = T.axis.remap("SS", [i{number}, j{number}])',
            f"            {target}[vi, vj] = {source}[vi, vj] * {factors[number % len(factors)]} + 1.0",
        ]
    return Schedule(parse("\n".join(lines)))


def test_a_buffer_of_the_program_is_passed():
    sch = chain(MAX_NESTS + 1, [f"{number}.5" for number in range(MAX_NESTS + 1)])
    assert len(functions(lowered(sch))) == MAX_NESTS + 1
    a, b = np.random.default_rng(0).random((2, 64, 64), dtype=np.float32)
    build(sch)["main"](a, b)
    expected = a
    for number in range(MAX_NESTS + 1):
        expected = expected * np.float32(number + 0.5) + np.float32(1)
    np.testing.assert_allclose(b, expected, rtol=1e-4)


@pytest.mark.parametrize(("factors", "expected"), [(["0.5"], 1), (["0.5", "0.25"], 2), (["0.5", "A[0, 0]"], 2)])
def test_equal_nests_share_a_function(factors, expected):
    sch = chain(MAX_NESTS + 3, factors)
    assert len(functions(lowered(sch))) == expected
    a, b = np.random.default_rng(0).random((2, 64, 64), dtype=np.float32)
    build(sch)["main"](a, b)
    values = a
    for number in range(MAX_NESTS + 3):
        factor = factors[number % len(factors)]
        values = values * (a[0, 0] if factor == "A[0, 0]" else np.float32(factor)) + np.float32(1)
    np.testing.assert_allclose(b, values, rtol=1e-4)


def test_nests_that_differ_in_a_loop_annotation_do_not_share():
    sch = chain(MAX_NESTS + 1, ["0.5"])
    sch.parallel(sch.get_loops("b7")[0])
    sch.vectorize(sch.get_loops("b9")[1])
    assert len(functions(lowered(sch))) == 3
