"""Fixes for refusals of tensorize, and of storage_align of what a kernel takes: each is applied."""

import pytest
from harness.fix_rows import Row, each_of, loop
from programs.parsed import parse
from programs.short import each, main, nest, under

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

SUM_OF_TILE = main("A:4x16 C:4", each("C i:4 k:16R", "C[vi] = C[vi] + A[vi, vk]"))
LOOPS_OF_SUM = main("A:4x16 C:4", nest("i:4 k:16", "C[i] = C[i] + A[i, k]"))


def kernel(name: str, stride: str = "", *arguments: str) -> str:
    """A tile by a call, of the strides of its rows that are declared."""
    declared = [f"{size} = T.int32()" for size in "st" if not stride]
    rows = [stride or size for size in "st"]
    views = [f"{b} = T.match_buffer({b.lower()}, (4, 16), strides=[{n}, 1])" for b, n in zip("AB", rows, strict=True)]
    call = ", ".join(('T.call_extern("int32"', f'"{name}"', 'A.access_ptr("r")', 'B.access_ptr("w")', *arguments))
    regions = ["T.reads(A[0:4, 0:16])", "T.writes(B[0:4, 0:16])"]
    body = under('with T.block("root"):', *regions, f"T.evaluate({call}))")
    return "@T.prim_func\n" + under("def main(a: T.handle, b: T.handle):", *declared, *views, body)


KNOWN = {
    "row": (ROW_OF_16, ROW_OF_16),
    "tile": (TILE, TILE_OF_ROWS),
    "sum": (SUM_OF_TILE, LOOPS_OF_SUM),
    "by strides": (TILE, kernel("copy", "", "s", "t")),
    "by half of a stride": (TILE, kernel("copy", "", "s // 2", "t")),
    "in a row": (TILE, kernel("copy", "16")),
    "in a row, by another name": (TILE, kernel("copy_row", "16")),
}
COPY = main("A:8x32 C:8x32", each("C:8x32", "C[vi, vj] = A[vi, vj]"))
TWO_COPIES = main(
    "A:4x16 C:4x16 b:4x16", each("B:4x16", "b[vi, vj] = A[vi, vj]"), each("C:4x16", "C[vi, vj] = b[vi, vj]")
)
FRAGMENT = "@T.prim_func\n" + under(
    'def main(A: T.Buffer((32, 16), "float16")):',
    's = T.alloc_buffer((32, 16), "float16", scope="shared")',
    'f = T.alloc_buffer((32, 16), "float16", scope="wmma.matrix_a")',
    each("S:32x16", "s[vi, vj] = A[vi, vj]"),
    each("L:16x16", "f[vi, vj] = s[vi, vj]"),
    each("H:16x16", "f[vi + 16, vj] = s[vi + 16, vj]"),
)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """The intrinsics of the rows, gone after each test."""
    monkeypatch.setattr(intrinsics, "_known", dict(intrinsics._known))
    for name, (desc, impl) in KNOWN.items():
        TensorIntrin.register(name, parse(desc)["main"], parse(impl)["main"])


def tile_of_sum(s):
    (i, inner_i), (k, inner_k) = (s.split(one, [None, n]) for one, n in zip(s.get_loops("C"), (4, 16), strict=True))
    s.reorder(i, k, inner_i, inner_k)
    s.blockize(inner_i)


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
    Row(
        "tensorize: a buffer that is read in another order",
        main("A:32x8 C:8x32", each("C:8x32", "C[vi, vj] = A[vj, vi]")),
        lambda s: s.tensorize(loop(s, "C", 2), "tile"),
        "explain_tensorize lists each possible match; transform_layout and reindex change how a buffer is indexed",
        lambda s: (s.transform_layout("C", "A", lambda i, j: (j, i)), s.tensorize(loop(s, "C", 2), "tile")),
        before=tile,
    ),
    Row(
        "tensorize: a single point",
        COPY,
        lambda s: s.tensorize("C", "tile"),
        "pass the loop around the tile to tensorize, or a blockized block",
        lambda s: s.tensorize(loop(s, "C", 2), "tile"),
        before=tile,
    ),
    Row(
        "tensorize: other extents",
        COPY,
        lambda s: s.tensorize(loop(s, "C"), "tile"),
        "split the loops by the extents of the intrinsic",
        lambda s: (tile(s), s.tensorize(loop(s, "C", 2), "tile")),
    ),
    Row(
        "tensorize: another computation",
        main("A:8x32 C:8x32", each("C:8x32", "C[vi, vj] = A[vi, vj] * 2.0")),
        lambda s: (tile(s), s.tensorize(loop(s, "C", 2), "tile")),
        "compute what the intrinsic computes, including types and casts",
        instead=COPY,
    ),
    Row(
        "tensorize: an init",
        main("A:8x32 C:8", each("C i:8 k:32R", "C[vi] = C[vi] + A[vi, vk]", init="C[vi] = 0.0")),
        lambda s: s.tensorize("C_o", "sum"),
        "apply decompose_reduction at the outermost loop of the reduction, then tensorize the update",
        lambda s: (s.decompose_reduction("C_o", loop(s, "C_o", 1)), s.tensorize("C_o_update", "sum")),
        before=tile_of_sum,
    ),
    Row(
        "tensorize: a stride that is divided",
        COPY,
        lambda s: s.tensorize(loop(s, "C", 2), "by half of a stride"),
        "pass the stride to the kernel, alone, multiplied by a constant or in a sum",
        lambda s: s.tensorize(loop(s, "C", 2), "by strides"),
        before=tile,
    ),
    Row(
        "tensorize: two functions of one name",
        TWO_COPIES,
        lambda s: s.tensorize(loop(s, "C"), "in a row"),
        "rename one of the two functions",
        lambda s: s.tensorize(loop(s, "C"), "in a row, by another name"),
        before=lambda s: s.tensorize(loop(s, "B"), "by strides"),
    ),
    Row(
        "tensorize: two layouts of one buffer",
        FRAGMENT,
        lambda s: s.tensorize(loop(s, "H"), "wmma_load_16x16x16_f16_a_trans_shared"),
        "load all of a buffer in one layout",
        lambda s: s.tensorize(loop(s, "H"), "wmma_load_16x16x16_f16_a_shared"),
        before=lambda s: s.tensorize(loop(s, "L"), "wmma_load_16x16x16_f16_a_shared"),
    ),
    Row(
        "storage_align: a pointer without strides",
        TWO_COPIES,
        lambda s: s.storage_align("B", 0, 0, 32, 8),
        "in the program, pass the strides along, as C.strides of a T.match_buffer with strides",
        lambda s: (s.tensorize(loop(s, "C"), "by strides"), s.storage_align("B", 0, 0, 32, 8)),
        before=lambda s: s.tensorize(loop(s, "C"), "in a row"),
        again=True,
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
