"""rolling_buffer: a buffer of just the part needed holds every value until it is read, or the step is refused."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock, under

from tir_mlir import Schedule
from tir_mlir.script.structural_equal import difference


def blur(n: int, taps: int = 3):
    total = " + ".join(f"B[vi + {t}]" for t in range(taps))
    return program(
        f"A:{n + taps - 1} C:{n}; B:{n + taps - 1}",
        each(f"B i:{n + taps - 1}", "B[vi] = A[vi] * T.float32(2)"),
        each(f"C i:{n}", f"C[vi] = {total}"),
    )


def shapes(n: int, taps: int = 3):
    return ((n + taps - 1,), "float32"), ((n,), "float32")


IMAGE = main(
    "A:18x14 C:16x12; B:18x14",
    each("B h:18 w:14", "B[vh, vw] = A[vh, vw] + T.float32(1)"),
    each("C h:16 w:12 rh:3R rw:3R", "C[vh, vw] = C[vh, vw] + B[vh + vrh, vw + vrw]", init="C[vh, vw] = T.float32(0)"),
)
IMAGE_SHAPES = ((18, 14), "float32"), ((16, 12), "float32")


def at_consumer(program, loop: int = 0) -> Schedule:
    sch = Schedule(program)
    sch.compute_at("B", sch.get_loops("C")[loop])
    return sch


def test_the_part_needed_at_a_time():
    Expected = program(
        "A:18 C:16; B:3",
        nest(
            "i:16",
            nest(
                "ax0:3",
                sblock(
                    "B",
                    "vi:18O=i + ax0",
                    "T.reads(A[vi])",
                    "T.writes(B[vi % 3])",
                    "B[vi % 3] = A[vi] * T.float32(2)",
                    where="i < 1 or ax0 >= 2",
                ),
            ),
            sblock(
                "C",
                "vi:16O=i",
                "T.reads(B[0:3])",
                "T.writes(C[vi])",
                "C[vi] = B[vi % 3] + B[(vi + 1) % 3] + B[(vi + 2) % 3]",
            ),
        ),
    )
    sch = at_consumer(blur(16))
    sch.rolling_buffer("B", 0)
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
@pytest.mark.parametrize("taps", [2, 3, 5])
def test_any_size(n, taps, same_result, refused):
    sch = at_consumer(blur(n, taps))
    if n == 1:  # the loop does not move
        refused(sch, "there is nothing to keep", lambda: sch.rolling_buffer("B", 0))
        return
    sch.rolling_buffer("B", 0)
    assert f"B = T.alloc_buffer(({taps},))" in sch.mod.script()
    same_result(sch, blur(n, taps), *shapes(n, taps))


@pytest.mark.parametrize("tile", [1, 3, 4, 5, 8, 15])
def test_tiles(tile, same_result):
    """Tiles roll by their size, also where the last one is shorter."""
    sch = Schedule(blur(16))
    outer, _ = sch.split(sch.get_loops("C")[0], [None, tile])
    sch.compute_at("B", outer)
    sch.rolling_buffer("B", 0)
    assert f"B = T.alloc_buffer(({tile + 2},))" in sch.mod.script()
    same_result(sch, blur(16), *shapes(16))


@pytest.mark.parametrize("loop", [0, 1])
def test_two_dimensions(loop, same_result):
    """Beneath rows, lines roll; beneath pixels, lines roll and each keeps what the one before has computed."""
    sch = at_consumer(parse(IMAGE), loop)
    sch.rolling_buffer("B", "B")
    assert "B = T.alloc_buffer((3, 14))" in sch.mod.script()
    same_result(sch, parse(IMAGE), *IMAGE_SHAPES)


def test_stages_that_roll_one_after_the_other(same_result):
    program = parse(
        main(
            "A:20 D:16; B:20 C:18",
            each("B:20", "B[vi] = A[vi] + T.float32(1)"),
            each("C:18", "C[vi] = B[vi] + B[vi + 2]"),
            each("D:16", "D[vi] = C[vi] - C[vi + 2]"),
        )
    )
    sch = Schedule(program)
    loop = sch.get_loops("D")[0]
    sch.compute_at("C", loop)
    sch.compute_at("B", loop)
    sch.rolling_buffer("C", 0)
    sch.rolling_buffer("B", 0)
    assert "B = T.alloc_buffer((5,))" in sch.mod.script() and "C = T.alloc_buffer((3,))" in sch.mod.script()
    same_result(sch, program, ((20,), "float32"), ((16,), "float32"))


def test_refuses_blocks_that_do_not_roll(refused):
    sch = Schedule(blur(16))
    refused(sch, "are not under a common loop; compute_at moves them there", lambda: sch.rolling_buffer("B", 0))
    refused(sch, "writes C, which is visible outside its scope", lambda: sch.rolling_buffer("C", 0))
    refused(sch, "has no buffer number 1 among those it writes", lambda: sch.rolling_buffer("B", 1))
    sch = at_consumer(blur(16, 1))
    refused(sch, "so there is nothing to keep", lambda: sch.rolling_buffer("B", 0))


READ = "C[vi] = B[vi] + B[vi + 2]"
COMPUTED = nest("ax0:3", sblock("B", "vi:18=i + ax0", "B[vi] = A[vi]"))
CONSUMED = sblock("C", "vi:16=i", READ)
REFUSED = {
    "another value later": (
        nest(
            "i:16",
            sblock("E", "vi:16O=i", "E[0] = A[vi]"),
            nest("ax0:3", sblock("B", "vi:18=i + ax0", "B[vi] = A[vi] * E[0]")),
            CONSUMED,
        ),
        "writes an element of E in several iterations, so its value depends on when it is read",
    ),
    "two writers": (
        nest("i:16", COMPUTED, sblock("D", "vi:16O=i", "B[vi] = A[vi + 1]"), CONSUMED),
        'block "D" also uses B, other than to read what block "B" wrote before it',
    ),
    "no consumer": (
        nest("i:18", sblock("B", "vi:18=i", "B[vi] = A[vi]")),
        'block "B" has no consumer; a rolling buffer needs one',
    ),
    "a view": (
        nest(
            "i:16",
            COMPUTED,
            sblock("C", "vi:16=i", "V = T.match_buffer(B[vi:vi + 3], (3,), offset_factor=1)", "C[vi] = V[0] + V[2]"),
        ),
        "B is also used by memref.subview; only plain loads and stores can use a rolling buffer",
    ),
    "a consumer outside": (
        nest(
            "i:16",
            nest(
                "j:1",
                nest("ax0:3", sblock("B", "vi:18=i + j + ax0", "B[vi] = A[vi]")),
                sblock("C", "vi:16=i + j", READ),
            ),
            sblock("D", "vi:16=i", "D[vi] = B[vi] + B[vi + 2]"),
        ),
        'blocks "B" and "C" are not adjacent in the loop around all uses of B',
    ),
    "an input that is updated": (
        nest("i:16", sblock("A", "vi:16O=i", "A[vi] = A[vi] + 1.0"), COMPUTED, CONSUMED),
        "A, which the block reads, is not written by one block that overwrites it; recomputing an element may give",
    ),
    "a condition": (
        nest(
            "i:16",
            nest("ax0:3", sblock("B", "vi:18=i + ax0", under("if A[vi] > T.float32(0):", "B[vi] = A[vi]"))),
            CONSUMED,
        ),
        "a write has a condition or an index that isl cannot express",
    ),
    "a loop from a size on": (
        nest("i:16", nest("ax0:n..n+3", sblock("B", "vi:18=i + ax0 - n", "B[vi] = A[vi]")), CONSUMED),
        'the bounds of the loops of block "B" are not constant, so its guard is not affine',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_other_programs(case, refused):
    body, match = REFUSED[case]
    sch = Schedule(program("A:18 C:16 D:16 M:n; B:18 E:1", body))
    refused(sch, match, lambda: sch.rolling_buffer("B", 0))


def test_refuses_a_symbolic_loop(refused):
    program = parse("""
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n + 2,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    B = T.alloc_buffer((n + 2,), "float32")
    for i in range(n + 2):
        with T.block("B"):
            vi = T.axis.spatial(n + 2, i)
            B[vi] = A[vi]
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = B[vi] + B[vi + 2]
""")
    refused(sch := at_consumer(program), "so there is nothing to keep", lambda: sch.rolling_buffer("B", 0))


# --- regions that move by a quotient, unit loops ----------------------------------------------------------------------


def windows(low: str, width: int, rows: int, size: int):
    """Row i of the consumer reads `width` rows of B from `low` on."""
    terms = " + ".join(f"B[{low} + {k}, vj]" for k in range(width))
    return program(
        f"A:{size}x6 C:{rows}x6; B:{size}x6",
        each(f"B i:{size} j:6", "B[vi, vj] = A[vi, vj] * 2.0"),
        each(f"C i:{rows} j:6", f"C[vi, vj] = {terms}"),
    )


def computed_at_rows(program, loop: int = 0) -> Schedule:
    sch = Schedule(program)
    sch.compute_at("B", sch.get_loops("C")[loop])
    return sch


@pytest.mark.parametrize(
    ("low", "width", "rows", "size", "guard"),
    [
        ("vi // 2", 2, 17, 10, "i < 1 or i % 2 < ax0"),
        ("vi // 2", 3, 17, 11, "i < 1 or i % 2 < ax0 - 1"),
        ("vi // 3 * 2", 3, 17, 13, "i < 1 or"),
        ("vi * 3 // 2", 3, 17, 27, "i < 1 or i % 2 < ax0"),
        ("vi // 2 * 5", 3, 16, 38, "i < 1 or"),  # no overlap every second time, the whole window in between
    ],
)
@pytest.mark.few(2)
def test_a_region_that_moves_by_a_quotient(low, width, rows, size, guard, same_result):
    program = windows(low, width, rows, size)
    sch = computed_at_rows(program)
    sch.rolling_buffer("B", 0)
    assert f"B = T.alloc_buffer(({width}, 6))" in sch.mod.script() and f"T.where({guard}" in sch.mod.script()
    same_result(sch, program, ((size, 6), "float32"), ((rows, 6), "float32"))
    assert sch.verify()


@pytest.mark.parametrize("low", ["vi % 4", "16 - vi", "vi // 2 * 3 - vi + 1"])
def test_a_region_that_also_moves_back_is_refused(low, refused):
    sch = computed_at_rows(windows(low, 3, 16, 26))
    refused(sch, "moves up with one loop", lambda: sch.rolling_buffer("B", 0))


def test_it_rolls_along_the_loop_that_moves():
    sch = Schedule(windows("vi", 3, 16, 18))
    i, j = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [1, 16])
    j_0, j_1 = sch.split(j, [1, 6])
    sch.reorder(i_0, j_0, i_1, j_1)
    sch.compute_at("B", i_1, preserve_unit_loops=True)
    sch.rolling_buffer("B", 0)
    assert "B = T.alloc_buffer((3, 6))" in sch.mod.script()
    assert "T.where(i_1 < 1 or ax0 >= 2)" in sch.mod.script()
    assert sch.verify()
