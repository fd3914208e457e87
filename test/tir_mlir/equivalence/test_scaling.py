"""Smaller sizes for `verify`: which constants keep an axis large, and which do not."""

from __future__ import annotations

from math import lcm, prod

import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule
from tir_mlir.dialect.ir import enter_context, freeze_modules, funcs
from tir_mlir.equivalence.verify_schedule import axes_of, index_constants, scales
from tir_mlir.schedules.products.gemm import gemm
from tir_mlir.target import Target

CUBE = main(
    "A:1024x1024 B:1024x1024 C:1024x1024",
    each("C i:1024 j:1024 k:1024R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0"),
)


def product() -> Schedule:
    return Schedule(parse(CUBE))


def met(sch: Schedule) -> dict[str, int]:
    """The step in which each axis can be made smaller, by loop name."""
    with enter_context(), freeze_modules():
        axes = axes_of(funcs(sch._executor.original)[0])
        assert axes is not None
        constants = index_constants(sch._executor.module, axes)
        return {axes.names[a]: lcm(*found) for a, found in constants.items()}


def test_constants_of_a_cache_belong_to_the_axes_of_its_loops():
    sch = product()
    block = sch.get_block("C")
    _, _, k = sch.get_loops(block)
    sch.cache_read(block, 0, "local")
    _, j = sch.get_loops(sch.get_block("A_local"))
    sch.split(j, [None, 96])
    sch.split(k, [None, 24])
    assert met(sch) == {"i": 1, "j": 1, "k": 96}


def test_constants_of_a_copy_of_a_copy_belong_to_the_axes_of_the_first():
    sch = product()
    block = sch.get_block("C")
    sch.cache_read(block, 0, "local")
    sch.cache_read(sch.get_block("C"), 0, "shared")
    _, k = sch.get_loops(sch.get_block("A_local_shared"))
    sch.split(k, [None, 96])
    assert met(sch) == {"i": 1, "j": 1, "k": 96}


def test_tiles_inside_a_tile_do_not_count():
    sch = product()
    i, _, _ = sch.get_loops(sch.get_block("C"))
    sch.split(i, [None, 10, 6, 4])
    assert met(sch)["i"] == 240


def test_factors_that_make_one_tile_of_an_extent_keep_doing_so():
    sch = product()
    _, j, _ = sch.get_loops(sch.get_block("C"))
    sch.split(j, [None, 32, 32])
    assert sch.verify("scaled")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_large_gemm_is_checked_at_smaller_sizes(threads):
    sch = product()
    gemm(sch, sch.get_block("C"), Target(512, 32, cores=threads), threads=threads)
    with enter_context():
        smaller = next(scales(sch._executor.original, sch._executor.module))
    assert prod(new for _, new in smaller.axes.values()) < 1024**3 / 8
    assert sch.verify("scaled")


def test_what_is_left_of_the_last_tile_stays_the_same():
    sch = product()
    _, _, k = sch.get_loops(sch.get_block("C"))
    sch.split(k, [None, 147])
    with enter_context():
        smaller = next(scales(sch._executor.original, sch._executor.module))
    assert smaller.axes["k"][1] % 147 == 1024 % 147
