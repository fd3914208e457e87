"""Tiles that are transposed in registers: casts on the way, also those of unsigned integers."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.script.parser import parse


@pytest.mark.parametrize(("source", "target"), [("uint8", "float32"), ("float32", "uint8"), ("int8", "int32")])
def test_a_cast_of_a_transposed_tile(source, target, tmp_path):
    sch = Schedule(
        parse(f"""
@T.prim_func
def main(A: T.Buffer((32, 32), "{source}"), B: T.Buffer((32, 32), "{target}")):
    for j, i in T.grid(32, 32):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vj, vi] = T.Cast("{target}", A[vi, vj])
""")
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
