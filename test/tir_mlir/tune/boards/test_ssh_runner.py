"""Candidates on a board: through a stand-in for ssh that runs commands here, and a real sshd where there is one."""

import sys
from dataclasses import replace

import pytest
from harness import ssh_stand_in
from harness.emulate import arm
from programs.parsed import parse
from programs.products import product
from programs.short import each, main

from tir_mlir import Schedule, schedules, tune
from tir_mlir.dialect.diagnostics import BuildError, TuneError
from tir_mlir.tune.boards import SshMeasurer, boards_of
from tir_mlir.tune.trials import Status, TrialLimits, TrialPool, job_of
from tir_mlir.tune.trials.worker import measurer_of

pytestmark = pytest.mark.slow
TARGET = "sse2"


@pytest.fixture(scope="module")
def pool():
    with TrialPool(1) as made:
        yield made


def board(folder, emulator=()):
    return SshMeasurer("board", (sys.executable, ssh_stand_in.__file__, str(folder), *emulator, "--"))


def gemm(target=TARGET, m=17, n=35, k=29):
    sch = Schedule(product(m, n, k, "float32"))
    schedules.gemm(sch, "C", target=target, threads=1)
    return sch


def tried(pool, folder, program, reference=True, target=TARGET, emulator=(), **options):
    made = pool.reference(job_of(product(17, 35, 29, "float32"))) if reference is True else reference
    job = job_of(program, target=target, runner=board(folder, emulator), reference=made or None, **options)
    return pool.submit(job).result(300)


@pytest.mark.nightly
def test_a_candidate_runs_and_its_results_are_right(pool, tmp_path):
    found = tried(pool, tmp_path, gemm())
    assert (found.status, found.reason) == (Status.OK, "")
    assert 3 <= len(found.seconds) <= 9 and all(0 < s < 1 for s in found.seconds)


@pytest.mark.nightly
def test_arguments_are_sent_once_and_programs_do_not_stay(pool, tmp_path):
    tried(pool, tmp_path, gemm())
    (folder,) = (tmp_path / ".cache" / "tir_mlir").iterdir()
    before = {p.name: p.stat().st_mtime_ns for p in folder.iterdir()}
    tried(pool, tmp_path, gemm())
    assert {p.name: p.stat().st_mtime_ns for p in folder.iterdir()} == before
    assert set(before) == {"all", "in0", "in1", "in2"}


@arm().missing
@pytest.mark.nightly
def test_an_arm_board(pool, tmp_path):
    emulator = (arm().path, "-cpu", "max")
    found = tried(pool, tmp_path, gemm("neon"), target="neon", emulator=emulator)
    assert (found.status, found.reason) == (Status.OK, "")


WRONG = main("A:17x29 B:29x35 C:17x35", each("C:17x35", "C[vi, vj] = A[vi, 0] * B[0, vj]"))


@pytest.mark.nightly
def test_a_wrong_result_is_told(pool, tmp_path):
    found = tried(pool, tmp_path, parse(WRONG))
    assert found.status is Status.WRONG and "C[0, 0] is" in found.reason


SPIN = """
@T.prim_func
def main(A: T.Buffer((64,), "float32"), n: T.int64):
    for i, j in T.grid(64, 10000000000):
        with T.block("A"):
            vi = T.axis.spatial(64, i)
            vj = T.axis.opaque(10000000000, j)
            A[vi] = A[vi] * T.float32(0.5) + T.float32(1)
"""


@pytest.mark.nightly
def test_a_run_without_end_is_ended(pool, tmp_path):
    found = tried(pool, tmp_path, parse(SPIN), reference=None, limits=TrialLimits(run=1), sizes={"n": 1})
    assert (found.status, found.reason) == (Status.TIMED_OUT, "on board: it runs longer than the limit")


@pytest.mark.nightly
def test_what_is_hopeless_is_given_up(pool, tmp_path):
    found = tried(pool, tmp_path, gemm(), best=1e-9)
    assert found.status is Status.SLOW and len(found.seconds) == 1


@pytest.mark.nightly
def test_candidates_are_timed_in_turns(pool, tmp_path):
    jobs = [job_of(each, target=TARGET, runner=board(tmp_path)) for each in (gemm(), product(17, 35, 29, "float32"))]
    fast, slow = pool.compare(jobs, 4)
    assert len(fast) == len(slow) == 4 and min(fast) > 0


@pytest.mark.nightly
def test_a_board_that_is_gone(pool, tmp_path):
    job = job_of(gemm(), target=TARGET, runner=replace(board(tmp_path), host="gone"))
    found = pool.submit(job).result(300)
    assert found.status is Status.LOST
    assert found.reason.startswith("the board gone cannot be reached: ssh: connect to host gone port 22: No route")


def test_parallel_loops_are_refused(tmp_path):
    sch = Schedule(product(17, 35, 29, "float32"))
    sch.parallel(sch.get_loops("C")[0])
    job = job_of(sch, target=TARGET, runner=board(tmp_path))
    with pytest.raises(BuildError, match="parallel loops, and boards have no OpenMP runtime; fix: threads=1"):
        measurer_of(job).build(job)


def test_this_machine_is_no_target_of_a_board(tmp_path):
    job = job_of(gemm(), runner=board(tmp_path))
    with pytest.raises(BuildError, match='driver="object" needs a target with a triple; fix: target="avx2"'):
        measurer_of(job).build(job)


@pytest.mark.parametrize("hosts", [["a", "a"], [""], ["-oProxyCommand=x"], ["a\0b"], ["a\nb"]])
def test_names_of_boards(hosts):
    with pytest.raises(TuneError, match="ssh is a list of different names"):
        boards_of(hosts)


def test_a_board_has_a_name():
    with pytest.raises(TuneError, match=r"'a\\x00b' is not the name of a machine"):
        SshMeasurer("a\0b")


@pytest.mark.nightly
def test_a_search_on_a_board(tmp_path, monkeypatch):
    """From the first candidate to the finals: the winner is not slower on the board than the library's choice."""
    monkeypatch.setattr("tir_mlir.tune.search.tuner.boards_of", lambda hosts: [board(tmp_path) for _ in hosts])
    best = tune.tune(product(17, 35, 29, "float32"), trials=3, target=TARGET, threads=1, ssh=["pi"], builders=1)
    assert best.seconds <= best.library_seconds and "ok" in best.statuses
    assert (tmp_path / ".cache" / "tir_mlir").is_dir()


def test_boards_need_a_target():
    with pytest.raises(TuneError, match='boards need the target of their CPU; fix: target="neon"'):
        tune.tune(product(17, 35, 29, "float32"), ssh=["pi"])


def test_one_name_is_a_list():
    with pytest.raises(TuneError, match=r"ssh is a list of names of machines, not 'pi'; fix: ssh=\['pi'\]"):
        tune.tune(product(17, 35, 29, "float32"), ssh="pi", target=TARGET)
