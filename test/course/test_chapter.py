"""The chapter's thirteen steps on our own program: numbers after every step, both kernels, both drivers, ragged."""

import subprocess
import sys

import numpy as np
import pytest
from harness import ROOT

from tir_mlir import Schedule, build, create_llvm
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.examples import demo
from tir_mlir.examples.matmul import C_KERNEL, import_kernel, matmul, schedule_matmul, steps
from tir_mlir.script import parse
from tir_mlir.script.structural_equal import difference

RNG = np.random.default_rng(7)
STEPS = 13


def assert_product(mod, shape, driver="jit"):
    """The module computes A @ B.T, whatever was in C."""
    m, n, k = shape
    a, b = (RNG.standard_normal(s, dtype=np.float32) for s in ((m, k), (n, k)))
    c = np.full((m, n), np.nan, np.float32)
    build(mod, driver=driver)["main"](a, b, c)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-4, atol=1e-4)


def assert_same(left, right):
    with enter_context():
        assert difference(left.mlir, right.mlir) is None


@pytest.mark.few(1)
@pytest.mark.parametrize("shape", [(64, 64, 64), (128, 128, 128), (16, 48, 32)])
def test_every_step_computes_the_product(shape):
    sch = Schedule(matmul(*shape))
    assert_product(sch.mod, shape)
    done = list(steps(sch))
    assert len(done) == STEPS
    for step in done:
        assert_product(step.mod, shape)


def test_every_step_prints_as_a_program_that_is_the_same():
    for step in steps(Schedule(matmul(64, 64, 64))):
        assert_same(parse(step.mod.script()), step.mod)


def test_earlier_states_do_not_change_under_later_steps():
    before = [s.mod.script() for s in steps(Schedule(matmul(64, 64, 64)))]
    kept = list(steps(Schedule(matmul(64, 64, 64))))
    assert [s.mod.script() for s in kept] == before


def test_the_trace_replays():
    sch = schedule_matmul(64, 64, 64)
    again = Schedule(matmul(64, 64, 64))
    sch.trace.replay(again)
    assert_same(sch.mod, again.mod)
    written = Schedule(matmul(64, 64, 64))
    space: dict = {"Schedule": Schedule}
    exec(sch.trace.as_python(), space)
    space["apply_trace"](written)
    assert_same(sch.mod, written.mod)


@pytest.mark.few(4)
@pytest.mark.parametrize("driver", ["jit", "tools"])
@pytest.mark.parametrize("kernel", ["C", "MLIR"])
@pytest.mark.parametrize("size", [64, 128])
def test_both_kernels_in_both_drivers(size, kernel, driver):
    text = create_llvm(C_KERNEL) if kernel == "C" else None
    assert_product(schedule_matmul(size, size, size, text).mod, (size, size, size), driver)


@pytest.mark.parametrize("driver", ["jit", "tools"])
def test_the_given_kernel_is_used(driver):
    doubled = create_llvm(C_KERNEL.replace("+= sum", "+= 2 * sum"))
    a, b = (RNG.standard_normal((32, 32), dtype=np.float32) for _ in range(2))
    c = np.empty((32, 32), np.float32)
    build(schedule_matmul(32, 32, 32, doubled).mod, driver=driver)["main"](a, b, c)
    np.testing.assert_allclose(c, 2 * (a @ b.T), rtol=1e-4, atol=1e-4)


def test_caches_are_compacted_to_a_tile():
    done = list(steps(Schedule(matmul(256, 256, 256))))
    assert "65536" in build(done[6].mod).lowered  # cache_read alone: a whole 256 x 256 copy
    assert "65536" not in build(done[-1].mod).lowered


@pytest.mark.nightly
def test_a_size_that_tiles_do_not_divide():
    """50 is not a multiple of 16: every step but the last is taken, with guards; the instruction has no partial
    form."""
    shape = (50, 50, 50)
    sch = Schedule(matmul(*shape))
    taken = []
    with pytest.raises(ScheduleError, match=r"T\.where.*factors that divide, or pad"):
        for step in steps(sch):
            taken.append(step)
    assert len(taken) == STEPS - 1
    assert_same(sch.mod, taken[-1].mod)
    for step in taken:
        assert_product(step.mod, shape)
        assert_same(parse(step.mod.script()), step.mod)
    assert_product(taken[-1].mod, shape, "tools")


@pytest.mark.nightly
def test_a_size_in_one_direction_that_tiles_do_not_divide():
    shape = (64, 50, 32)
    taken = []
    with pytest.raises(ScheduleError, match=r"T\.where"):
        for step in steps(Schedule(matmul(*shape))):
            taken.append(step)
    for step in taken:
        assert_product(step.mod, shape)


def test_the_kernel_can_be_given_late():
    sch = schedule_matmul(32, 32, 32)
    import_kernel(sch, create_llvm(C_KERNEL))
    assert "pragma_import_llvm" in sch.mod.script()
    assert_product(sch.mod, (32, 32, 32))


# ---- the demo


@pytest.fixture
def briefly(monkeypatch):
    """One run of each stage is enough here."""
    monkeypatch.setattr(demo, "SECONDS", 0.0)


def test_the_demo_runs_and_agrees(briefly, capsys):
    assert demo.main(["--size", "64"]) == 0
    out = capsys.readouterr().out
    assert out.count("@I.ir_module") == STEPS + 1
    for stage in ("as written", "scheduled, not tensorized", "kernel in C", "kernel in MLIR", "NumPy"):
        assert stage in out
    assert "All results agree" in out


def test_the_quiet_demo_is_short(briefly, capsys):
    assert demo.main(["--size", "32", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "@I.ir_module" not in out and "tensorize(tile" in out and len(out.splitlines()) < 40


def test_the_demo_refuses_sizes_it_cannot_tile(capsys):
    with pytest.raises(SystemExit) as status:
        demo.main(["--size", "50"])
    assert status.value.code == 2
    assert "multiple of 16" in capsys.readouterr().err


def test_the_demo_reports_a_wrong_result(briefly, monkeypatch, capsys):
    wrong = C_KERNEL.replace("+= sum", "+= 2 * sum")
    monkeypatch.setattr(demo, "C_KERNEL", wrong)
    assert demo.main(["--size", "32", "--quiet"]) == 1
    assert "WRONG RESULT: tensorized, kernel in C" in capsys.readouterr().err


@pytest.mark.nightly
def test_the_demo_script_of_the_checkout():
    script = ROOT / "tools" / "demo.py"
    done = subprocess.run([sys.executable, str(script), "--size", "16", "--quiet"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
