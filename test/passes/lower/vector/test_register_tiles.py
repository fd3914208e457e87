"""Tiles transposed, and rows interleaved, in registers: the same elements in the same places, in every type."""

import numpy as np
import pytest
from programs.parsed import parse
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


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127, "n"])
@pytest.mark.parametrize(
    ("dtype", "wide", "group"), [("int8", "int16", 2), ("int8", "int8", 4), ("float32", "float64", 2)]
)
def test_panels(n, dtype, wide, group):
    symbolic = "    n = T.int32()\n" if n == "n" else ""
    sch = Schedule(
        parse(f"""
@T.prim_func
def main(a: T.handle, b: T.handle):
{symbolic}    A = T.match_buffer(a, ({3 * group}, {n}), "{dtype}")
    B = T.match_buffer(b, (3, {n}, {group}), "{wide}")
    for k, j in T.grid({3 * group}, {n}):
        with T.block("B"):
            vk, vj = T.axis.remap("SS", [k, j])
            B[vk // {group}, vj, vk % {group}] = T.Cast("{wide}", A[vk, vj])
""")
    )
    k, j = sch.get_loops("B")
    k_0, k_1 = sch.split(k, [None, group])
    j_0, j_1 = sch.split(j, [None, 16])
    sch.reorder(j_0, k_0, k_1, j_1)
    sch.unroll(k_1)
    sch.vectorize(j_1)
    lib = build(sch)
    for size in (n,) if n != "n" else (1, 16, 33):
        a = np.random.default_rng(size).integers(-128, 128, (3 * group, size)).astype(dtype)
        b = np.zeros((3, size, group), wide)
        lib(a, b)
        np.testing.assert_array_equal(b, a.reshape(3, group, size).swapaxes(1, 2))
