"""How many runs a program is timed by."""

from functools import partial

import pytest

from tir_mlir.runtime.sampling_runs import Clock, clock_of, repeats, sample, sample_interleaved


class Program:
    """Runs of which each takes as long as the next number says."""

    def __init__(self, *seconds):
        self.left, self.time, self.runs = list(seconds), 0.0, 0

    def __call__(self):
        self.runs += 1
        self.time += self.left.pop(0) if len(self.left) > 1 else self.left[0]

    @property
    def clock(self):
        return Clock(lambda: self.time, 3, 0.03)


def test_a_long_run_is_measured_three_times():
    program = Program(1.0)
    assert sample(program, program.clock, None) == ([1.0] * 3, False)


def test_a_short_run_is_repeated_within_a_sample():
    program = Program(1e-4)
    found, stopped = sample(program, program.clock, None)
    assert found == pytest.approx([1e-4] * 9) and not stopped
    assert program.runs == 1 + 9 * repeats(1e-4) == 1 + 9 * 20


def test_three_times_the_best_is_not_measured_further():
    program = Program(0.4)
    found, stopped = sample(program, program.clock, best=0.1)
    assert stopped and found == pytest.approx([0.4, 0.4])


def test_one_disturbed_run_is_not_hopeless():
    program = Program(0.4, 0.1)
    found, stopped = sample(program, program.clock, best=0.1)
    assert not stopped and sorted(found) == pytest.approx([0.1, 0.1, 0.4])


class Kernels:
    """A function of a GPU whose calls take a millisecond there."""

    def __init__(self):
        self.asked = []

    def __call__(self, *arrays):
        raise AssertionError("timed by a clock of the CPU")

    def seconds(self, arrays, number=1):
        self.asked.append((arrays, number))
        return [1e-3]


def test_kernels_are_timed_by_their_gpu():
    function = Kernels()
    found, stopped = sample(partial(function, "a", "b"), clock_of(False, kernels=True), None)
    assert found == [1e-3] * 9 and not stopped
    assert function.asked == [(("a", "b"), 1)] + [(("a", "b"), 2)] * 9


def test_threads_are_timed_on_the_wall_by_more_runs():
    import time

    one, several = clock_of(False), clock_of(True)
    assert (one.now, several.now) == (time.process_time, time.perf_counter)
    assert several.fewest > 2 * one.fewest


def test_turns_begin_with_another_program_each_round():
    order = []
    clock = Clock(lambda: 1.0 * len(order), 3, 0.03)
    found = sample_interleaved([lambda n=n: order.append(n) for n in range(3)], clock, rounds=3)
    assert found == [[1.0] * 3] * 3
    assert order[3:] == [0, 1, 2, 1, 2, 0, 2, 0, 1]
