"""Size-dependent proofs state the condition."""

from __future__ import annotations

import islpy as isl
import pytest
from programs.short import each, program
from programs.symbolic import Matmul

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.dialect.presburger import sizes_without
from tir_mlir.script import tir as T


@pytest.mark.parametrize(
    ("failing", "text"),
    [
        ("n % 16 != 0", "n % 16 == 0"),
        ("n <= 2", "n >= 3"),
        ("n % 16 != 0 or n <= 15", "n >= 16 and n % 16 == 0"),
        ("n >= 3 and m >= 1", "n <= 2"),  # empty arrays go without saying
        ("n = 17", "n != 17"),
        ("n < m", "n >= m"),
        ("n % 4 != 3", "n % 4 == 3"),
        ("n >= 1", ""),  # wrong at every size
        ("n >= 0", ""),
        ("1 = 0", ""),  # never wrong
    ],
)
def test_conditions_in_plain_words(failing, text):
    sch = Schedule(Matmul)
    with enter_context():
        points = isl.Set(f"[k, m, n] -> {{ [x] : x = n and ({failing}) }}")
        assert sizes_without(points, funcs(sch.executor.module)[0].op) == text


def test_split_by_factors_that_need_not_reach(refused):
    sch = Schedule(Matmul)
    i, _, k = sch.get_loops("C")
    refused(sch, "it holds only where k <= 16; pass None", lambda: sch.split(k, [4, 4]))
    refused(sch, r"a guard is needed \(unless n % 8 == 0\)", lambda: sch.split(i, [None, 8], disable_predication=True))


def test_parallel_reduction(refused):
    sch = Schedule(Matmul)
    refused(sch, r"touch C\[0, 0\], unless k <= 1", lambda: sch.parallel(sch.get_loops("C")[2]))


def test_programs_that_hold_at_some_sizes_only():
    with pytest.raises(ScriptError, match="at n = 0, i = 0; it holds only where n >= 16"):

        @T.prim_func
        def outside(a: T.handle):
            n = T.int32()
            A = T.match_buffer(a, (n,), "float32")
            for i in range(16):
                with T.block("A"):
                    vi = T.axis.spatial(16, i)
                    A[vi] = 0.0

    with pytest.raises(ScriptError, match="no iteration runs vi = 0; it holds only where n % 4 == 0"):

        @T.prim_func
        def uncovered(a: T.handle):
            n = T.int32()
            A = T.match_buffer(a, (n,), "float32")
            for i, j in T.grid(n // 4, 4):
                with T.block("A"):
                    vi = T.axis.spatial(n, i * 4 + j)
                    A[vi] = 0.0


def test_a_constant_program_has_no_condition(refused):
    main = program("A:16", each("A i:15O", "A[vi + 1] = A[vi]"))
    sch = Schedule(main)
    refused(sch, r"touch A\[1\]$", lambda: sch.parallel(sch.get_loops("A")[0]))
