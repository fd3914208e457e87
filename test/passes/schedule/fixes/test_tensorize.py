"""Fixes for refusals of tensorize: each is applied."""

import pytest
from harness.fix_rows import Row, each_of, loop
from programs.parsed import parse
from programs.short import each, main, nest

from tir_mlir import TensorIntrin
from tir_mlir.dialect.computation import intrinsics

ROW_OF_16 = main("A:1x16 B:1x16", nest("j:16", "B[0, j] = A[0, j]"))
TILE = main("A:4x16 B:4x16", nest("i:4 j:16", "B[i, j] = A[i, j]"))
TILE_OF_ROWS = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    s = T.int32()
    t = T.int32()
    A = T.match_buffer(a, (4, 16), "float32", strides=[s, 1])
    B = T.match_buffer(b, (4, 16), "float32", strides=[t, 1])
    for i, j in T.grid(4, 16):
        B[i, j] = A[i, j]
"""


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """The intrinsics of the rows, gone after each test."""
    monkeypatch.setattr(intrinsics, "_known", dict(intrinsics._known))
    for name, desc, impl in (("row", ROW_OF_16, ROW_OF_16), ("tile", TILE, TILE_OF_ROWS)):
        TensorIntrin.register(name, parse(desc)["main"], parse(impl)["main"])


def tile(s):
    (i, inner_i), (j, inner_j) = (s.split(one, [None, n]) for one, n in zip(s.get_loops("C"), (4, 16), strict=True))
    s.reorder(i, j, inner_i, inner_j)


def in_front(i, j, k):
    return k, i, j


ROWS = [
    Row(
        "tensorize: strides that the implementation does not take",
        main("A:8x32x2 C:8x32x2", each("C:8x32", "C[vi, vj, 0] = A[vi, vj, 0]")),
        lambda s: s.tensorize(loop(s, "C", 2), "tile"),
        "transform_layout changes the strides",
        lambda s: (
            s.transform_layout("C", "A", in_front),
            s.transform_layout("C", "C", in_front),
            s.tensorize(loop(s, "C", 2), "tile"),
        ),
        before=tile,
    ),
    Row(
        "tensorize: a dimension of one element that is missing",
        main("A:64 C:64", each("C:64", "C[vi] = A[vi]")),
        lambda s: s.tensorize(loop(s, "C", 1), "row"),
        "transform_layout adds one to A",
        lambda s: (
            s.transform_layout("C", "A", lambda i: (i // 16, i % 16)),
            s.transform_layout("C", "C", lambda i: (i // 16, i % 16)),
            s.tensorize(loop(s, "C", 1), "row"),
        ),
        before=lambda s: s.split(loop(s, "C"), [None, 16]),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
