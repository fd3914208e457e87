"""`verify(target=...)`: kernels on the PTX machine against the original, on data that is exact."""

import pytest
from harness.bound_programs import ADD_ONE, add_one, matmul, two_stages
from programs.parsed import parse

from tir_mlir import Schedule
from tir_mlir.errors import LoweringError, NotChecked
from tir_mlir.ptx import program as machine_runs
from tir_mlir.target import CUDA


@pytest.mark.parametrize(("program", "domain"), [
    (lambda: matmul(16, 8), "on small integers, which floats hold exactly, by the kernels for sm_80 on the PTX"),
    (lambda: matmul(16, 8, "float16"), "on small integers, which floats hold exactly, by the kernels"),
    (lambda: matmul(16, 8, "int32"), "1 run on integers of all values, by the kernels for sm_80 on the PTX machine"),
    (lambda: two_stages("T.exp(M[vi])"), "which floats hold exactly, within a tolerance, as it has functions that"),
    (add_one, "checked at n = 1; n = 15; n = 16; n = 17; n = 40: 1 function"),
])  # fmt: skip
def test_equal_programs(program, domain):
    result = program().verify(target=CUDA("sm_80"))
    assert result
    assert domain in str(result)


def test_masks_of_bool_are_arguments():
    sch = Schedule(
        parse("""
@T.prim_func
def main(M: T.Buffer((40,), "bool"), A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")):
    for i in T.thread_binding(40, thread="threadIdx.x"):
        with T.block("B"):
            vi = T.axis.spatial(40, i)
            B[vi] = T.Select(M[vi], A[vi], T.float32(0))
""")
    )
    assert sch.verify(target="sm_80")


def test_large_programs_run_at_smaller_sizes():
    result = matmul(256, 8).verify(target="sm_80")
    assert result
    assert "sizes scaled: i 256 ->" in str(result)


def planted(monkeypatch, old, new):
    """Kernels with a fault: another text than the build has."""

    def with_fault(text, parse=machine_runs.parse):
        assert old in text
        return parse(text.replace(old, new))

    monkeypatch.setattr(machine_runs, "parse", with_fault)


def test_a_wrong_kernel_is_told_with_the_element(monkeypatch):
    planted(monkeypatch, "add.rn.f32", "mul.rn.f32")
    result = add_one().verify(target="sm_80")
    assert not result
    assert str(result.difference).startswith("add_one at n = 1: B[0] differs: the original has ")
    assert (result.difference.buffer, result.difference.index) == ("B", (0,))


def test_a_missing_barrier_is_told_as_the_machine_does(monkeypatch):
    planted(monkeypatch, "bar.sync", "// bar.sync")
    result = matmul(16, 8).verify(target="sm_80")
    assert not result
    assert "matmul_kernel" in str(result.difference)


def test_a_wrong_result_within_the_tolerance_of_a_function_is_not_equal_beyond_it(monkeypatch):
    planted(monkeypatch, "add.rn.f32", "sub.rn.f32")
    assert not two_stages("T.exp(M[vi])").verify(target="sm_80")


def test_what_is_refused():
    with pytest.raises(NotChecked, match=r'verify\(target=...\) runs kernels of a GPU, "cuda" or CUDA'):
        add_one().verify(target="avx2")
    with pytest.raises(LoweringError, match="is not bound to blocks or threads"):
        Schedule(parse(ADD_ONE)).verify(target="sm_80")
