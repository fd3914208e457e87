"""Fixes for refusals of transform_layout and transform_block_layout: each is applied."""

from harness.fix_rows import Row, each_of, loop
from programs.short import FROM_ONE, FROM_ZERO, ONE_2D, SUMS, VIEWS, each, main, under

from tir_mlir.compat.constants import const

BYTES = main("A:10:int8 C:10:int8", each("C:10", "C[vi] = A[vi]"))
STRIDED = """
@T.prim_func
def main(a: T.handle, C: T.Buffer((8, 8), "float32")):
    A = T.match_buffer(a, (8, 8), "float32", strides=[16, 1])
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + 1.0
"""


def swapped(i, j):
    return j, i


def fours(i):
    return i // 4, i % 4


def in_a_row(i, j):
    return (i * 4 + j,)


BY_N = "lambda i: (i // n, i % n)"
FLAT = """
@T.prim_func
def main(a: T.handle, c: T.handle, n: T.int64, m: T.int64):
    A = T.match_buffer(a, (m * n,), "float32")
"""
FLAT_COPIES = FLAT + under(
    '    C = T.match_buffer(c, (m * n,), "float32")',
    "B = T.alloc_buffer((m * n,))",
    each("B:m*n", "B[vi] = A[vi]"),
    each("C:m*n", "C[vi] = B[vi]"),
)
SUM_OF_ALL = FLAT + under(
    '    C = T.match_buffer(c, (1,), "float32")', each("C k:m*nR", "C[0] = C[0] + A[vk]", init="C[0] = 0.0")
)

ROWS = [
    Row(
        "transform_layout: padding of another type",
        BYTES,
        lambda s: s.transform_layout("C", "C", fours, pad_value=const(3, "int32")),
        "pass a plain number",
        lambda s: s.transform_layout("C", "C", fours, pad_value=3),
    ),
    Row(
        "transform_layout: a fraction as padding of integers",
        BYTES,
        lambda s: s.transform_layout("C", "C", fours, pad_value=0.5),
        "use an integer",
        lambda s: s.transform_layout("C", "C", fours, pad_value=1),
    ),
    Row(
        "transform_layout: a number too large as padding",
        BYTES,
        lambda s: s.transform_layout("C", "C", fours, pad_value=200),
        "one of -128 to 127",
        lambda s: s.transform_layout("C", "C", fours, pad_value=-128),
    ),
    Row(
        "transform_layout: a number as padding of truths",
        main("A:10:bool C:10:bool", each("C:10", "C[vi] = A[vi]")),
        lambda s: s.transform_layout("C", "C", fours, pad_value=2),
        "True or False",
        lambda s: s.transform_layout("C", "C", fours, pad_value=False),
    ),
    Row(
        "transform_layout: strides of the caller",
        STRIDED,
        lambda s: s.transform_layout("C", "A", swapped),
        "a row-major copy",
        lambda s: (s.cache_read("C", "A", "local"), s.transform_layout("C", "A_local", swapped)),
    ),
    Row(
        "transform_layout: a view",
        VIEWS,
        lambda s: s.transform_layout("C", "A", swapped),
        "leaves only plain accesses to A",
        lambda s: (s.cache_read("C", "A", "local"), s.transform_layout("A_local", "A", swapped)),
    ),
    Row(
        "transform_layout: a view that is written",
        VIEWS,
        lambda s: s.transform_layout("C", "C", swapped),
        "leaves only plain accesses to C",
        lambda s: (s.cache_write("C", "C", "local"), s.transform_layout("C_local", "C", swapped)),
    ),
    Row(
        "transform_block_layout: a guard",
        ONE_2D,
        lambda s: s.transform_block_layout("C", in_a_row),
        "before the split that added the guard",
        lambda s: (s.transform_block_layout("C", in_a_row), s.split(loop(s, "C"), [None, 5])),
        before=lambda s: s.split(loop(s, "C"), [None, 5]),
        again=True,
    ),
    Row(
        "transform_block_layout: loops that were split",
        ONE_2D,
        lambda s: s.transform_block_layout("C", in_a_row),
        "before split or fuse",
        before=lambda s: s.split(loop(s, "C"), [None, 4]),
        again=True,
    ),
    Row(
        "transform_block_layout: a neighbor",
        SUMS,
        lambda s: s.transform_block_layout("C", swapped),
        "before the step that put both under one loop",
        before=lambda s: s.reverse_compute_at("D", loop(s, "C")),
        again=True,
    ),
    Row(
        "transform_block_layout: a loop from 1",
        FROM_ONE,
        lambda s: s.transform_block_layout("C", lambda i: (6 - i,)),
        "run i from 0",
        lambda s: s.split(loop(s, "C"), [None, 4]),
        instead=FROM_ZERO,
    ),
    Row(
        "transform_block_layout: loops that were reordered",
        ONE_2D,
        lambda s: s.transform_block_layout("C", in_a_row),
        "reorder_block_iter_var",
        lambda s: (s.reorder_block_iter_var("C", [1, 0]), s.transform_block_layout("C", lambda j, i: (j * 8 + i,))),
        before=lambda s: s.reorder(loop(s, "C", 1), loop(s, "C", 0)),
    ),
    Row(
        "transform_block_layout: a sum, by a size",
        SUM_OF_ALL,
        lambda s: s.transform_block_layout("C", BY_N),
        "use a map with constants, or spatial iters alone",
        lambda s: s.transform_block_layout("C", lambda k: k),
    ),
    Row(
        "transform_layout: a map by a size",
        FLAT_COPIES,
        lambda s: s.transform_layout("B", "B", BY_N),
        "assume_injective_transform=True asserts it",
        lambda s: s.transform_layout("B", "B", BY_N, assume_injective_transform=True),
    ),
    Row(
        "transform_layout: a map by a size, with padding",
        FLAT_COPIES,
        lambda s: s.transform_layout("B", "B", BY_N, pad_value=0.0, assume_injective_transform=True),
        "leave out pad_value: the padding is then undefined",
        lambda s: s.transform_layout("B", "B", BY_N, assume_injective_transform=True),
    ),
]


@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
