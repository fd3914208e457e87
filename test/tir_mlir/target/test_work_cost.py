"""When a work is enough for threads: by what starting them costs, and by what the work costs on a CPU."""

import pytest

from tir_mlir import target
from tir_mlir.target.work_cost import matrix_cycles, multiply_add_rate, product_cycles, region_cycles, worth_threads


def test_starting_more_threads_costs_more_and_one_nothing():
    costs = [region_cycles(threads) for threads in (1, 2, 4, 16, 64)]
    assert costs[0] == 0 and costs == sorted(set(costs))


@pytest.mark.parametrize("threads", [1, 2, 3, 16, 64])
def test_a_work_has_all_threads_or_one(threads):
    found = {worth_threads(cycles, threads) for cycles in range(0, 10**6, 1000)}
    assert found == {1, threads}
    small = next(cycles for cycles in range(0, 10**6, 1000) if worth_threads(cycles, threads) == threads)
    assert small / threads + region_cycles(threads) <= small  # never slower than on one


def test_a_narrower_cpu_has_threads_for_smaller_products():
    work = 100**3
    assert worth_threads(product_cycles(work, "float32", target.AVX512), 2) == 1
    assert worth_threads(product_cycles(work, "float32", target.AVX2), 2) == 2
    assert worth_threads(product_cycles(work, "int8", target.NEON_DOTPROD), 2) == 1


def test_products_of_tiles_have_their_rate():
    assert multiply_add_rate("int8", target.SAPPHIRE_RAPIDS, 1024) == 1024
    assert multiply_add_rate("int8", target.SAPPHIRE_RAPIDS_NO_AMX, 1024) == 128
    assert multiply_add_rate("float64", target.ZEN4, 512) == 8
    assert matrix_cycles(1 << 20) == 1 << 15
