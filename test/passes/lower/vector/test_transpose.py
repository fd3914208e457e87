"""Tiles that are transposed in registers: casts on the way, also those of unsigned integers."""

import numpy as np
import pytest
from programs.short import nest, program, sblock

from tir_mlir import Schedule, build


@pytest.mark.parametrize(("source", "target"), [("uint8", "float32"), ("float32", "uint8"), ("int8", "int32")])
def test_a_cast_of_a_transposed_tile(source, target, tmp_path):
    sch = Schedule(
        program(
            f"A:32x32:{source} B:32x32:{target}",
            nest("j:32 i:32", sblock("B", "SS i j", f"B[vj, vi] = T.Cast('{target}', A[vi, vj])")),
        )
    )
    j, i = sch.get_loops("B")
    j_0, j_1 = sch.split(j, [None, 16])
    i_0, i_1 = sch.split(i, [None, 16])
    sch.reorder(j_0, i_0, j_1, i_1)
    sch.unroll(j_1)
    sch.vectorize(i_1)
    a = np.random.default_rng(0).integers(0, 128, (32, 32)).astype(source)
    b = np.zeros((32, 32), target)
    build(sch, dump=tmp_path)(a, b)
    assert (b == a.T).all()
    (transposed,) = tmp_path.glob("*-tir-lower-transpose.mlir")
    assert "vector.shuffle" in transposed.read_text() or "vector.interleave" in transposed.read_text()
