"""Loaded indices and conditions on data: opaque where they are, exact elsewhere, and never a counterexample."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build
from programs.parsed import parse

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleError, ScriptError

RNG = np.random.default_rng(11)


def program(body: str, sizes: str = "(6, 16)", vi: str = "spatial", vj: str = "opaque") -> str:
    return f"""
@T.prim_func
def main(A: T.Buffer({sizes}, "float32"), I: T.Buffer((16,), "int32"), B: T.Buffer((6, 16), "float32")):
    for i, j in T.grid(6, 16):
        with T.block("B"):
            vi = T.axis.{vi}(6, i)
            vj = T.axis.{vj}(16, j)
            {body}
"""


SCATTER = program("B[vi, I[vj]] = A[vi, vj]")


def schedule(source: str) -> Schedule:
    return Schedule(parse(source))


def data() -> list[np.ndarray]:
    return [RNG.random((6, 16), np.float32), RNG.permutation(16).astype(np.int32), np.zeros((6, 16), np.float32)]


def test_rows_of_a_scatter_run_in_parallel():
    sch = schedule(SCATTER)
    i, j = sch.get_loops("B")
    i_0, i_1 = sch.split(i, [None, 4])
    sch.reorder(i_0, j, i_1)
    sch.parallel(i_0)
    a, index, b = data()
    quick_build(sch)(a, index, b)
    want = np.zeros_like(b)
    want[:, index] = a
    np.testing.assert_array_equal(b, want)
    assert sch.verify()


@pytest.mark.parametrize("step", ["parallel", "vectorize"])
def test_columns_of_a_scatter_are_not_provable(step):
    sch = schedule(SCATTER)
    answer = sch.explain(step, sch.get_loops("B")[1])
    assert answer.verdict == "not provable" and answer.counterexample is None
    assert answer.missing == (
        "whether two iterations of B access one element of B: undecided, an index of B is computed from data"
    )
    assert "not provable" in str(answer) and answer.fix == "use a loop whose iterations access distinct elements"


def test_a_certain_conflict_is_found_behind_an_undecided_one():
    sch = schedule(program("B[vi, I[vj]] = B[0, 0] + A[vi, vj]\n            B[5, 5] = A[vi, vj]", vi="opaque"))
    answer = sch.explain("parallel", sch.get_loops("B")[1])
    assert answer.verdict == "illegal" and "B[5, 5]" in str(answer.counterexample)


def test_reordering_rows_of_one_buffer_is_decided_by_the_rows():
    """Row vi + 1 is read by row vi: in any order of columns, but not the other way round."""
    sch = schedule(program("A[vi, vj] = A[vi + 1, I[vj]]", "(7, 16)", vi="opaque"))
    i, j = sch.get_loops("B")
    assert sch.explain("parallel", j) and sch.explain("vectorize", j)
    answer = sch.explain("reorder", j, i)
    assert answer.verdict == "not provable" and "an index of A is computed from data" in answer.reason


@pytest.mark.parametrize("n", [3, 16])
def test_a_gather_from_another_row_of_one_buffer_is_a_vector(n):
    source = program("A[vi, vj] = A[vi + 1, I[vj]]", "(7, 16)", vi="opaque").replace("(6, 16):", f"(6, {n}):")
    sch = schedule(source.replace("T.axis.opaque(16", f"T.axis.opaque({n}"))
    sch.vectorize(sch.get_loops("B")[1])
    lib = quick_build(sch)
    assert "vector<" in str(lib.lowered)
    a, index = RNG.random((7, 16), np.float32), RNG.permutation(16).astype(np.int32)
    want = a.copy()
    for i in range(6):
        want[i, :n] = want[i + 1, index[:n]]
    lib(a, index, np.zeros((6, 16), np.float32))
    np.testing.assert_array_equal(a, want)


def test_a_condition_on_data_is_no_counterexample():
    sch = schedule(program("if A[vi, vj] > T.float32(0):\n                B[0, 0] = A[vi, vj]", vi="opaque"))
    answer = sch.explain("parallel", sch.get_loops("B")[0])
    assert answer.verdict == "not provable" and answer.counterexample is None
    assert "a condition on data decides whether B is accessed" in answer.reason


def test_an_affine_index_beside_a_loaded_one_stays_inside():
    with pytest.raises(ScriptError, match="A is read at index 6 in dimension 0, which has 6 rows, at i = 5, j = 0"):
        parse(program("B[vi, vj] = A[vi + 1, I[vj]]", vj="spatial"))


def test_a_spatial_iter_of_a_scatter_is_not_provable():
    with pytest.raises(ScriptError) as error:
        parse(program("B[vi, I[vj]] = A[vi, vj]", vj="spatial"))
    assert (
        'iter vj of block "B" is declared spatial, but it is not provable that no two of its iterations touch one'
        in (str(error.value))
    )
    assert "declare vj ordered (T.axis.opaque)" in str(error.value) and "vj = 0" not in str(error.value)


STAGES = """
@T.prim_func
def main(A: T.Buffer((6, 16), "float32"), I: T.Buffer((16,), "int32"), C: T.Buffer((6, 16), "float32")):
    B = T.alloc_buffer((6, 16), "float32")
    for i, j in T.grid(6, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(6, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[{row}, I[vj]]
"""


def test_compute_at_the_row_of_a_gather():
    sch = schedule(STAGES.format(row="vi"))
    i, _j = sch.get_loops("C")
    sch.compute_at("B", i)
    assert "T.reads(B[vi, 0:16], I_[vj])" in sch.mod.script()
    assert [sch.get(loop).extent for loop in sch.get_loops("B")] == [6, 16]
    a, index, c = data()
    quick_build(sch)(a, index, c)
    np.testing.assert_array_equal(c, 2 * a[:, index])
    assert sch.verify()


def test_compute_at_a_column_of_a_gather_computes_the_row():
    sch = schedule(STAGES.format(row="vi"))
    sch.compute_at("B", sch.get_loops("C")[1])
    assert [sch.get(loop).extent for loop in sch.get_loops("B")] == [6, 16, 16]
    assert sch.verify()


def test_reverse_compute_at_of_a_gather_waits_for_the_row():
    sch = schedule(STAGES.format(row="vi"))
    sch.reverse_compute_at("C", sch.get_loops("B")[0])
    assert sch.verify()
    sch = schedule(STAGES.format(row="vi"))
    with pytest.raises(ScheduleError):
        sch.reverse_compute_at("C", sch.get_loops("B")[1])


@pytest.mark.parametrize(
    ("read", "verdict"),
    [
        (
            "B[vi, I[vj]]",
            'it is not provable that the loops around block "B" compute all that is read of B: an index of B is',
        ),
        ("B[vi, I[vj]] + B[vi, vj]", 'B[0, 15] is read, but the loops around block "B" never compute it'),
    ],
)
def test_a_gather_of_what_is_computed_in_part(read, verdict):
    source = STAGES.format(row="vi").replace("T.grid(6, 16)", "T.grid(6, 15)", 1)
    source = source.replace(
        'vi, vj = T.axis.remap("SS", [i, j])', "vi = T.axis.spatial(6, i)\n            vj = T.axis.spatial(16, j)", 1
    )
    with pytest.raises(ScriptError) as error:
        parse(source.replace("B[vi, I[vj]]", read))
    assert verdict in str(error.value)
