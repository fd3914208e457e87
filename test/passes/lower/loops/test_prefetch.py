"""The annotation `prefetch`: results are unchanged, invalid values are refused."""

import numpy as np
import pytest
from programs.short import each, program

from tir_mlir import Schedule, build
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.script import tir as T

scaled = program("A:nx33 C:nx33", each("C i:n j:33", "C[vi, vj] = A[vi, vj] * T.float32(2)"))


def asked(value):
    sch = Schedule(scaled)
    i, j = sch.get_loops("C")
    _, lanes = sch.split(j, [None, 8])
    sch.vectorize(lanes)
    sch.annotate(i, "prefetch", value)
    return sch


@pytest.mark.parametrize("value", ["A", ["A", "C"], {"A": 3, "C": 0}])
@pytest.mark.parametrize("rows", [1, 2, 17])
def test_the_result_is_the_same(value, rows):
    lib = build(asked(value))
    a = np.random.default_rng(0).random((rows, 33), dtype=np.float32)
    c = np.empty_like(a)
    lib["main"](a, c)
    np.testing.assert_array_equal(c, a * 2)
    assert "prefetch" in lib.assembly


@pytest.mark.parametrize("value", [7, {"A": -1}, {"A": "far"}, [3]])
def test_a_value_of_another_form_is_refused(value):
    with pytest.raises(Exception, match="expected names of buffers, or a dictionary from names"):
        build(asked(value))


def test_a_loop_elsewhere_is_not_around():
    @T.prim_func
    def two(A: T.Buffer((8, 16), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8, 16), "float32")):
        for m in range(8):
            with T.block("B"):
                vm = T.axis.spatial(8, m)
                B[vm] = A[vm, 0]
        for i in T.serial(8, annotations={"prefetch": {"A": "m"}}):
            for j in range(16):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = A[vi, vj]

    with pytest.raises(Exception, match="expected names of buffers, or a dictionary from names"):
        build(two)


def test_an_unknown_buffer_is_refused():
    with pytest.raises(Exception, match='loop i prefetches "B", which the program does not access; it has A, C'):
        build(asked("B"))


def test_too_many_lines_are_left_out_with_a_warning():
    @T.prim_func
    def long(A: T.Buffer((4, 8192), "float32"), C: T.Buffer((4, 8192), "float32")):
        for i in T.serial(4, annotations={"prefetch": "A"}):
            for j in range(8192):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = A[vi, vj]

    with pytest.warns(LoweringWarning, match='loop i does not prefetch "A": 513 lines in an iteration, at most 64'):
        build(long)


def test_a_loop_of_one_iteration_prefetches_too():
    sch = asked("A")
    lib = build(sch)
    fused = Schedule(scaled)
    i, _ = fused.get_loops("C")
    _, unit = fused.split(i, [None, 1])
    fused.annotate(unit, "prefetch", "A")
    assert "prefetch" in lib.assembly and "prefetch" in build(fused).assembly


def test_the_next_iteration_of_a_loop_around_must_read_one_piece():
    sch = Schedule(program("A:8x8 C:8x8", each("C i:8 j:8", "C[vi, vj] = A[vj, vi] * T.float32(2)")))
    i, j = sch.get_loops("C")
    sch.annotate(j, "prefetch", {"A": sch.get(i).loop_var.name})
    with pytest.warns(LoweringWarning, match="what the next iteration of i reads is not one piece of memory; pack it"):
        lib = build(sch)
    a, c = np.arange(64, dtype=np.float32).reshape(8, 8), np.zeros((8, 8), np.float32)
    lib["main"](a, c)
    np.testing.assert_array_equal(c, a.T * 2)
