"""Candidates of real programs on this machine."""

import os

import pytest
from programs.parsed import parse

from tir_mlir import Schedule, schedules
from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.runtime.cache import running_builds
from tir_mlir.tune.trials import Status, TrialLimits, job_of
from tir_mlir.tune.trials.local_measurer import LocalMeasurer

PRODUCT = """
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((M, 40), "DTYPE"), B: T.Buffer((40, 33), "DTYPE"), C: T.Buffer((M, 33), "SUM")):
        for i, j, k in T.grid(M, 33, 40):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.Cast("SUM", 0)
                C[vi, vj] = C[vi, vj] + T.Cast("SUM", A[vi, vk]) * T.Cast("SUM", B[vk, vj])
"""
SYMBOLIC = """
@I.ir_module
class Module:
    @T.prim_func
    def main(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] * T.float32(2)
"""


def product(m=17, dtype="float32", total="float32"):
    return parse(PRODUCT.replace("M,", f"{m},").replace("DTYPE", dtype).replace("SUM", total))


@pytest.mark.parametrize(("dtype", "total"), [("float32", "float32"), ("int8", "int32"), ("bfloat16", "float32")])
def test_a_schedule_of_a_ragged_product_is_right(pool, dtype, total):
    program = product(dtype=dtype, total=total)
    sch = Schedule(program)
    i, j, k = sch.get_loops("C")
    outer, _ = sch.split(j, [None, 16])
    sch.reorder(k, i, outer)
    found = pool.submit(job_of(sch, reference=pool.reference(job_of(program)))).result(300)
    assert found.status is Status.OK, found
    assert 0 < found.median < 0.01 and "measure.runs" in found.stages


def test_the_library_is_right_on_threads(pool):
    program = product(m=64)
    sch = Schedule(program)
    sch.parallel(sch.get_loops("C")[0])
    job = job_of(sch, reference=pool.reference(job_of(program)), threads=2)
    assert job.parallel and not job_of(program).parallel
    assert pool.submit(job).result(300).status is Status.OK


def test_another_program_is_wrong(pool):
    reference = pool.reference(job_of(product()))
    other = parse(
        PRODUCT.replace("M,", "17,").replace("DTYPE", "float32").replace("SUM", "float32").replace("+ T", "- T")
    )
    found = pool.submit(job_of(other, reference=reference)).result(300)
    assert found.status is Status.WRONG and found.reason.startswith("C[0, 0] is -")
    assert found.reason.endswith("by the unscheduled program; 561 of 561 elements differ")


def test_other_arguments_than_those_of_the_reference_do_not_fit(pool):
    found = pool.submit(job_of(product(18), reference=pool.reference(job_of(product(17))))).result(300)
    assert found.status is Status.BUILD_ERROR and "(18, 40)" in found.reason


def test_what_takes_three_times_the_best_is_slow(pool):
    found = pool.submit(job_of(product(512), best=1e-7)).result(300)
    assert found.status is Status.SLOW and len(found.seconds) == 2
    assert found.reason == "more than three times as long as the best"


def test_symbolic_sizes_are_given(pool):
    reference = pool.reference(job_of(parse(SYMBOLIC), sizes={"n": 1000}))
    found = pool.submit(job_of(parse(SYMBOLIC), sizes={"n": 1000}, reference=reference)).result(300)
    assert found.status is Status.OK


def test_a_missing_size_is_told(pool):
    with pytest.raises(TuneError, match="n has none; fix: pass sizes="):
        pool.reference(job_of(parse(SYMBOLIC)))
    found = pool.submit(job_of(parse(SYMBOLIC))).result(300)
    assert found.status is Status.BUILD_ERROR and "n has none" in found.reason


def test_memory_is_that_of_the_arguments(pool):
    found = pool.submit(job_of(parse(SYMBOLIC), sizes={"n": 1 << 22})).result(300)
    arguments = 2 * 4 << 22  # pages that the worker had free before are not new
    assert arguments // 2 < found.peak_memory < 4 * arguments


@pytest.mark.nightly
def test_arguments_beyond_the_limit_are_out_of_memory(pool):
    found = pool.submit(job_of(parse(SYMBOLIC), sizes={"n": 1 << 26}, limits=TrialLimits(memory=64 << 20))).result(300)
    assert found.status is Status.OUT_OF_MEMORY


def test_the_library_schedule_is_faster_than_the_program(pool):
    program = product(256)
    sch = Schedule(program)
    schedules.auto(sch)
    reference = pool.reference(job_of(program))
    plain, tuned = pool.compare([job_of(each, reference=reference) for each in (program, sch)], rounds=9)
    assert len(plain) == len(tuned) == 9 and min(tuned) < min(plain)


def test_a_build_leaves_no_note_of_a_crash(monkeypatch):
    """As a build with the cache does, for the next build of the program, until it has ended."""
    monkeypatch.setattr(running_builds, "record_build", lambda *_: pytest.fail("a note is kept"))
    assert LocalMeasurer().build(job_of(product())).functions == ["main"]


def test_nothing_else_than_a_program_is_a_job():
    with pytest.raises(TuneError, match="job_of takes a Schedule, an IRModule, a PrimFunc or a module, not str"):
        job_of("program")


def test_the_environment_of_this_process_is_left_alone(pool):
    before = dict(os.environ)
    job = job_of(product(), reference=pool.reference(job_of(product())), threads=2)
    assert pool.submit(job).result(300).status is Status.OK
    assert os.environ == before
