"""Producers and consumers over symbolic sizes: needed regions under partial tiles, copies, inlining."""

import numpy as np
from programs.symbolic import Halo, Matmul, Reads, Twice

from tir_mlir import Schedule


def twice_shapes(n):
    return (n, 8), (n, 8)


def twice(a):
    return (a + 1) * 2


def halo_shapes(n):
    return (n + 2, 8), (n, 8)


def halo(a):
    return a[:-2] + a[1:-1] + a[2:] + 3


def test_compute_at_under_a_tail(right_at):
    sch = Schedule(Twice)
    i_0, _ = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.compute_at("B", i_0)
    assert sch.mod.script().count("T.where(i_0 * 16 + ") == 2
    right_at(sch, twice_shapes, twice)


def test_compute_at_needs_no_guard_without_a_partial_tile(right_at):
    sch = Schedule(Twice)
    sch.compute_at("B", sch.get_loops("C")[0])
    assert "T.where" not in sch.mod.script()
    right_at(sch, twice_shapes, twice)


def test_reverse_compute_at_under_a_tail(right_at):
    sch = Schedule(Twice)
    i_0, _ = sch.split(sch.get_loops("B")[0], [None, 16])
    sch.reverse_compute_at("C", i_0)
    assert "T.where(i_0 * 16 + ax0 < n)" in sch.mod.script()
    right_at(sch, twice_shapes, twice)


def test_a_halo_is_computed_again(right_at):
    sch = Schedule(Halo)
    i_0, _ = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.compute_at("B", i_0)
    assert "for ax0, ax1 in T.grid(18, 8):" in sch.mod.script()
    assert "T.where(i_0 * 16 + ax0 <= n + 1)" in sch.mod.script()
    right_at(sch, halo_shapes, halo)


def test_a_consumer_cannot_run_ahead_of_its_halo(refused):
    sch = Schedule(Halo)
    i_0, _ = sch.split(sch.get_loops("B")[0], [None, 16])
    refused(sch, r"reads B\[16, 0\] \(unless n <= 14\)", lambda: sch.reverse_compute_at("C", i_0))


def test_compute_at_for_strided_divided_and_wrapped_reads(right_at):
    def expected(a):
        b, v = a + 1, np.arange((len(a) - 8) // 2)
        return b[v * 2] + b[v // 3] + b[v % 8]

    sch = Schedule(Reads)
    i_0, _ = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.compute_at("B", i_0)
    right_at(sch, lambda n: ((n * 2 + 8,), (n,)), expected)


def test_inlining(right_at):
    for steps in (lambda s: s.compute_inline("B"), lambda s: s.reverse_compute_inline("C")):
        sch = Schedule(Twice)
        sch.split(sch.get_loops("B")[0], [None, 16])
        steps(sch)
        right_at(sch, twice_shapes, twice)


def test_copies_of_tiles(right_at):
    sch = Schedule(Twice)
    read = sch.cache_read("B", 0, "global.x")
    write = sch.cache_write("C", 0, "global.y")
    sch.set_scope("B", 0, "global.z")
    i_0, i_1 = sch.split(sch.get_loops("C")[0], [None, 16])
    sch.reorder(i_0, sch.get_loops("C")[2], i_1)
    sch.reverse_compute_at(write, i_0)
    sch.compute_at("B", i_0)
    sch.compute_at(read, i_0)
    assert sch.mod.script().count("T.where(i_0 * 16 + ") == 4
    right_at(sch, twice_shapes, twice)


def test_a_refused_write_back_states_its_condition(refused):
    sch = Schedule(Matmul)
    refused(sch, r"would also take C_global\[0, 0\] \(unless k >= 1\)", lambda: sch.cache_write("C", 0, "global"))
