"""Medians, turns, roofs: the arithmetic of the benchmark."""

import math

import pytest

import machine
import measure
import threads
from measure import Stats, geometric_mean, interleaved, rank_correlation
from roofline import Point, Roofs, settled
from tir_mlir import target


def test_stats_of_rates_swap_least_and_greatest():
    stats = Stats.of([2.0, 4.0, 1.0])
    assert stats == Stats(2.0, 1.0, 4.0, 3)
    assert stats.rate(8.0) == Stats(4.0, 2.0, 8.0, 3)
    assert stats.times(10.0) == Stats(20.0, 10.0, 40.0, 3)


def test_the_geometric_mean_of_a_rate_and_its_inverse_is_one():
    assert geometric_mean([4.0, 0.25]) == pytest.approx(1.0)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless somebody works."""

    class Clock:
        now = 0.0

        def __call__(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(measure.time, "perf_counter", clock)
    return clock


def worker(clock, name, took, log):
    def work():
        log.append(name)
        clock.now += took

    return work


def test_contestants_take_turns(clock):
    log: list[str] = []
    found = interleaved({n: worker(clock, n, took, log) for n, took in (("a", 0.5), ("b", 0.25))}, rounds=3)
    assert log[-6:] == ["a", "b", "a", "b", "a", "b"]
    assert found["a"] == Stats(0.5, 0.5, 0.5, 3) and found["b"].median == 0.25


def test_short_calls_are_timed_many_at_a_time(clock):
    log: list[str] = []
    found = interleaved({"short": worker(clock, "short", 2.0**-15, log)}, rounds=1)
    assert found["short"].median == pytest.approx(2.0**-15)
    assert measure._calls(worker(clock, "", 2.0**-15, log)) * 2.0**-15 >= measure.TURN


def test_a_spent_budget_ends_the_rounds_but_not_before_the_least(clock):
    def runs(budget):
        return interleaved({"slow": worker(clock, "", 1.0, [])}, budget=budget, rounds=100)["slow"].runs

    assert runs(8.5) == 8  # one call before, to warm up
    assert runs(3.5) == measure.LEAST
    assert runs(0.0) == measure.FEWEST


def test_idle_threads_are_woken_before_each_turn(clock):
    log: list[str] = []
    call = worker(clock, "call", 1.0, log)
    interleaved({"x": call}, rounds=2, before=lambda: log.append("before"))
    assert log[1:] == ["before", "call", "call"] * 2


def test_short_calls_warm_up_until_threads_run_apart(clock):
    log: list[float] = []
    call = worker(clock, "call", 2.0**-9, [])
    interleaved({"x": lambda: (call(), log.append(clock.now))}, rounds=1, before=log.clear)
    assert len(log) == math.ceil(measure.WARM * 2.0**9) + 1


def test_the_clock_can_be_replaced():
    ticks = iter(range(100))
    assert measure.seconds(lambda: None, 2, clock=lambda: next(ticks)) == 0.5


def test_rank_correlation():
    assert rank_correlation([1, 2, 3, 9], [10, 20, 21, 22]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 1, 2], [5, 5, 6]) == pytest.approx(1)


ROOFS = Roofs({("float32", 1): 100.0}, {1: [Point(1 << 10, 64.0, 80.0), Point(1 << 20, 4.0, 5.0)]})


def test_bandwidth_lies_between_the_measured_sizes():
    assert ROOFS.bandwidth(1, 1)[1:] == pytest.approx((64.0, 80.0))
    assert ROOFS.bandwidth(1 << 30, 1)[1:] == pytest.approx((4.0, 5.0))
    assert ROOFS.bandwidth(1 << 15, 1)[1:] == pytest.approx((16.0, 20.0))


def test_the_triad_takes_as_long_as_measured_and_reading_too():
    size = 1 << 20
    assert ROOFS.memory_seconds(size * 2 / 3, size / 3, 1) == pytest.approx(size / 4.0)
    assert ROOFS.memory_seconds(size, 0, 1) == pytest.approx(size / 5.0)


def test_the_roof_is_the_lower_of_arithmetic_and_memory():
    assert ROOFS.least_seconds(1e9, 8, 4, "float32", 1) == pytest.approx(1e7)
    assert ROOFS.least_seconds(1, 1 << 20, 0, "float32", 1) == pytest.approx((1 << 20) / 5.0)
    assert ROOFS.peak("bfloat16", 1) == math.inf


def test_bytes_of_both_signs_have_one_peak():
    assert Roofs({("int8", 1): 7.0}, {}).peak("uint8", 1) == 7.0


@pytest.mark.parametrize(("now", "peak"), [(90.0, 100.0), (120.0, 120.0)])
def test_the_peak_beside_a_work_counts_if_it_is_greater(now, peak, monkeypatch):
    monkeypatch.setattr(machine, "_peak_rate", lambda *_: now)
    assert machine.with_peak(ROOFS, "float32", 1).peak("float32", 1) == peak
    assert machine.with_peak(ROOFS, "int4", 1) is ROOFS


def test_tiles_multiply_faster_than_vectors():
    cpu = target.SAPPHIRE_RAPIDS
    assert machine.tile_rate("int8", cpu) == machine.tile_rate("bfloat16", cpu) == 8
    assert machine.tile_rate("float32", cpu) == machine.tile_rate("int8", target.ZEN4) == 1


def test_the_cost_of_writing_is_never_negative():
    roofs = Roofs({}, {1: [Point(1 << 10, 90.0, 50.0)]})  # a noisy measurement: the triad faster than reading
    assert roofs.memory_seconds(50.0, 100.0, 1) == pytest.approx(1.0)


def test_noise_is_removed_from_curves():
    measured = [Point(1, 4.0, 9.0), Point(2, 5.0, 5.0), Point(4, 1.0, 2.0)]
    assert settled(measured) == [Point(1, 5.0, 9.0), Point(2, 5.0, 5.0), Point(4, 1.0, 2.0)]
    assert settled(measured, [Point(4, 3.0, 1.0)])[2] == Point(4, 3.0, 2.0)


def test_thread_counts_begin_with_one():
    assert threads.counts()[0] == 1
