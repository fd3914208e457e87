"""Products of sizes: `m * n` as the extent of a loop, an iter, a buffer."""

from __future__ import annotations

import numpy as np
import pytest
from harness import scripts

from tir_mlir import Schedule, build, interpret
from tir_mlir.dialect.diagnostics import ArgumentError, ScheduleError, ScriptError
from tir_mlir.script import IRModule, parse

FLAT = """
m = T.int32()
n = T.int32()
A = T.match_buffer(a, (m, n))
B = T.match_buffer(b, ({extent},))
for f in range({extent}):
    with T.block("b"):
        vf = T.axis.spatial({extent}, f)
        B[vf] = T.Cast("float32", vf) + T.float32(0.5)
"""
PARAMS = "a: T.handle, b: T.handle"
EXTENTS = ["m * n", "n * n", "m * n * 4 + 3", "m * n // 4", "(m + 1) * n", "m * n * m", "(m + 3) // 4 * n"]
EXTENTS += ["(m * n + 3) // 4 * (n % 4)", "(m + 3) // 4 * ((n + 1) // 2 + 1) * 2"]


def _flat(extent: str = "m * n") -> IRModule:
    return scripts.function(FLAT.format(extent=extent), PARAMS)


def _check(module: IRModule, extent: str = "m * n") -> None:
    lib = build(module)
    for m, n in ((1, 1), (3, 5), (16, 17)):
        count = eval(extent, {"m": m, "n": n})
        a, b = np.full((m, n), 0.5, np.float32), np.zeros(count, np.float32)
        lib(a, b)
        np.testing.assert_array_equal(b, np.arange(count, dtype=np.float32) + 0.5)


@pytest.mark.parametrize("extent", EXTENTS)
def test_an_extent_prints_and_runs(extent: str) -> None:
    module = _flat(extent)
    assert "scf" not in module.text()
    assert parse(module.script()).equal(module)
    assert IRModule.from_mlir(module.text()).equal(module)
    _check(module, extent)


@pytest.mark.parametrize("factor", [4, 16])
def test_the_loop_is_split_and_parallel(factor: int) -> None:
    sch = Schedule(_flat())
    outer, inner = sch.split(sch.get_loops("b")[0], [None, factor])
    sch.parallel(outer)
    sch.vectorize(inner)
    assert sch.verify()
    _check(sch.mod)


def test_a_cache_of_such_a_size() -> None:
    sch = Schedule(_flat())
    sch.cache_write("b", 0, "global")
    assert "T.alloc_buffer((m * n,))" in sch.mod.script()
    assert sch.verify()
    _check(sch.mod)


def test_a_grid() -> None:
    text = FLAT.format(extent="m * n").replace("for f in range(m * n)", "for f in T.grid(m * n)")
    assert scripts.function(text, PARAMS).equal(_flat())


def test_products_in_another_order_are_the_same() -> None:
    assert _flat("n * m").equal(_flat()) and not _flat("m * m").equal(_flat())


def test_the_interpreter_agrees() -> None:
    a, b = np.zeros((3, 5), np.float32), np.zeros(15, np.float32)
    interpret(_flat(), a, b)
    np.testing.assert_array_equal(b, np.arange(15) + 0.5)


def test_another_length_is_refused_at_the_call() -> None:
    with pytest.raises(ArgumentError, match=r"\(m \* n\)"):
        build(_flat())(np.zeros((3, 5), np.float32), np.zeros(14, np.float32))


def test_a_product_of_int64_sizes_is_one() -> None:
    text = FLAT.format(extent="m * n").replace("T.int32()", "T.int64()")
    assert "m * n" in scripts.function(text, PARAMS).script()


def test_what_is_out_of_bounds_is_shown_at_sizes_that_multiply() -> None:
    text = FLAT.format(extent="m * n").replace("B[vf]", "B[vf + n]")
    with pytest.raises(ScriptError, match=r"m = 1, m \* n = 1, n = 1") as caught:
        scripts.function(text, PARAMS)
    assert "vf + n" in str(caught.value)


def test_iterations_that_share_an_element_stay_serial() -> None:
    text = FLAT.format(extent="m * n").replace("T.axis.spatial", "T.axis.opaque").replace("B[vf]", "B[vf // 2]")
    sch = Schedule(scripts.function(text, PARAMS))
    with pytest.raises(ScheduleError) as caught:
        sch.parallel(sch.get_loops("b")[0])
    assert caught.value.provable and "B[0]" in str(caught.value)


def test_a_product_covers_its_factors_unless_one_is_zero() -> None:
    text = FLAT.format(extent="m * n").replace("range(m * n)", "range(m)")
    with pytest.raises(ScriptError, match=r"it is bound to 0 at m = 1, m \* n = 0, n = 0"):
        scripts.function(text, PARAMS)
