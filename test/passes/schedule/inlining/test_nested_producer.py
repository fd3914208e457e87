"""reverse_compute_inline into a block inside the producer of the scope."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.script.parser import parse


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
