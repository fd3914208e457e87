"""reverse_compute_inline into a block inside the producer of the scope."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build


def tiles(rows: int = 15, tile: int = 5, guard: str = "", more: str = "", use: str = "T1[vi, vj] * 2.0 + vi"):
    """T1 is computed in tiles of rows, in the block "O"; C reads the first `rows` rows."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((15, 7), "float32"), C: T.Buffer(({rows}, 7), "float32")):
    T1 = T.alloc_buffer((15, 7), "float32")
    for io in range(3):
        with T.block("O"):
            vo = T.axis.spatial(3, io)
            for ii, j in T.grid({tile}, 7):
                with T.block("T1"):
                    vi, vj = T.axis.remap("SS", [ii, j])
                    {guard}
                    T1[vo * {tile} + vi, vj] = A[vo * {tile} + vi, vj] + 1.0
            {more}
    for i, j in T.grid({rows}, 7):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = {use}
""")


CASES = {"whole": {}, "part": {"rows": 12}, "ragged": {"tile": 6, "guard": "T.where(vo * 6 + ii < 15)"}}


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_the_innermost_block_computes_the_result(options):
    program = tiles(**options)
    sch = Schedule(program)
    sch.reverse_compute_inline("C")
    assert "T1 = T.alloc_buffer" not in sch.mod.script() and "T.writes(C[vo * " in sch.mod.script()
    assert sch.verify()
    rows = options.get("rows", 15)
    a, c = np.random.default_rng(0).random((15, 7), dtype=np.float32), np.empty((rows, 7), np.float32)
    build(sch)(a, c)
    np.testing.assert_allclose(c, ((a + 1) * 2 + np.arange(15)[:, None])[:rows], rtol=1e-6)


def test_two_stores_of_a_nested_producer_are_refused(refused):
    more = """for j in range(7):
                with T.block("Z"):
                    vj = T.axis.spatial(7, j)
                    T1[vo * 5, vj] = 0.0"""
    sch = Schedule(tiles(more=more))
    message = 'the body of block "O" is not a single store at an affine index'
    refused(sch, message, lambda: sch.reverse_compute_inline("C"))


ROWS = "vo * 5 + r"


def looped(store: str = f"T1[{ROWS}, c] = A[{ROWS}, c] + 1.0", shape: str = "15, 7", use="T1[vi, vj]", held="15, 7"):
    """T1 is stored in loops inside the block "O"."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((15, 7), "float32"), C: T.Buffer(({shape}), "float32")):
    T1 = T.alloc_buffer(({held}), "float32")
    for io in range(3):
        with T.block("O"):
            vo = T.axis.spatial(3, io)
            for r, c in T.grid(5, 7):
                {store}
    for i, j in T.grid({shape}):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = {use}
""")


LOOPED = {"all": ("15, 7", "T1[vi, vj] * 2.0"), "turned": ("7, 15", "T1[vj, 6 - vi]")}


@pytest.mark.parametrize(("shape", "use"), LOOPED.values(), ids=LOOPED)
def test_the_store_in_loops_stores_the_result(shape, use, same_result):
    program = looped(shape=shape, use=use)
    sch = Schedule(program)
    sch.reverse_compute_inline("C")
    assert "T1 = T.alloc_buffer" not in sch.mod.script()
    same_result(sch, program, ((15, 7), "float32"), (tuple(map(int, shape.split(", "))), "float32"))
    assert sch.verify()


def test_a_part_that_a_guard_on_the_block_selects(same_result):
    program = looped("T1[vo, r * 7 + c] = A[vo * 5 + r, c]", shape="2, 35", held="3, 35")
    sch = Schedule(program)
    sch.reverse_compute_inline("C")
    assert "T.where(io < 2)" in sch.mod.script()
    same_result(sch, program, ((15, 7), "float32"), ((2, 35), "float32"))


@pytest.mark.parametrize("shape", ["15, 6", "11, 7"])
def test_a_part_of_the_loops_inside_is_refused(shape, refused):
    sch = Schedule(looped(shape=shape))
    refused(sch, 'only a part of what the loops in block "O" compute', lambda: sch.reverse_compute_inline("C"))


def test_elements_stored_twice_in_loops_are_refused(refused):
    sch = Schedule(looped(f"T1[{ROWS}, c // 2 * 2] = A[{ROWS}, c]", use="T1[vi, vj // 2 * 2]"))
    refused(sch, "store the same element of T1", lambda: sch.reverse_compute_inline("C"))


def test_a_result_that_the_loops_read_later_is_refused(refused):
    text = looped(f"T1[{ROWS}, c] = A[{ROWS}, 6 - c]").script()
    text = text.replace(', C: T.Buffer((15, 7), "float32")', "").replace("C[vi, vj]", "A[vi, vj]")
    sch = Schedule(parse(text))
    refused(sch, "A, which block .C. writes, is used between", lambda: sch.reverse_compute_inline("C"))
