"""Work in a forked copy: its value, its end, its limits."""

import os
import signal
import time

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.processes.forked import Ending, run_forked
from tir_mlir.processes.watch import Patience, cpu_seconds, resident_bytes

LOTS = 1 << 34


def test_a_value_comes_back():
    end = run_forked(lambda tell: {"a": 1}, 5, LOTS)
    assert (end.how, end.value, end.reason) == (Ending.VALUE, {"a": 1}, "")


def test_what_the_copy_changes_stays_there():
    state = [1]
    assert run_forked(lambda tell: state.append(2), 5, LOTS).how is Ending.VALUE
    assert state == [1]


def test_the_last_report_is_kept():
    def work(tell):
        tell("first")
        tell("second")
        os.kill(os.getpid(), signal.SIGILL)

    end = run_forked(work, 5, LOTS)
    assert (end.how, end.reported, end.reason) == (Ending.CRASHED, "second", "the run was killed by SIGILL")


def test_a_copy_that_exits_is_told():
    end = run_forked(lambda tell: os._exit(3), 5, LOTS)
    assert (end.how, end.reason) == (Ending.CRASHED, "the run ended the process with exit code 3")


def test_an_error_of_ours_is_no_crash():
    def work(tell):
        raise ArgumentError("argument A: too short")

    end = run_forked(work, 5, LOTS)
    assert (end.how, end.reason) == (Ending.REFUSED, "argument A: too short")


def test_an_error_of_python_is_no_crash():
    end = run_forked(lambda tell: {}["size"], 5, LOTS)
    assert (end.how, end.reason) == (Ending.RAISED, "KeyError: 'size'")


def test_memory_that_is_taken_is_told():
    end = run_forked(lambda tell: int(np.ones(1 << 23).sum()), 5, LOTS)
    assert end.value == 1 << 23
    assert 48 << 20 <= (end.peak or 0) < 200 << 20  # 64 MB, less what the system has taken back of the parent's


def test_an_allocation_that_fails_is_out_of_memory():
    end = run_forked(lambda tell: np.empty(1 << 60, np.uint8), 5, LOTS)
    assert end.how is Ending.OUT_OF_MEMORY and "Unable to allocate" in end.reason


def test_a_copy_is_gone_after_its_end():
    found = []

    def work(tell):
        tell(os.getpid())
        time.sleep(60)

    end = run_forked(work, 0.02, LOTS)
    found.append(end.reported)
    assert end.how is Ending.LATE and not os.path.exists(f"/proc/{end.reported}")


def test_a_watcher_that_was_stopped_has_not_waited():
    patience = Patience(os.getppid(), 0.02)
    patience.looked -= 1000
    assert patience.look() <= 4 * 0.02


def test_a_process_that_runs_or_is_stopped_does_not_wait():
    patience = Patience(os.getpid(), 0.02)
    time.sleep(0.05)
    assert patience.look() == 0.0


def test_a_process_that_is_gone_has_taken_nothing():
    assert cpu_seconds(1 << 30) == 0 == resident_bytes(1 << 30)


def test_this_process_has_taken_something():
    assert cpu_seconds(os.getpid()) > 0.1 and resident_bytes(os.getpid()) > 20 << 20
