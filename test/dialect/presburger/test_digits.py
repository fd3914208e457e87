"""Quotients and remainders of fused loops as digits, against all values of the loops."""

from __future__ import annotations

import itertools
import random

import pytest
from harness.nests import nest
from mlir import ir

from tir_mlir.dialect.ir import Index, enter_context
from tir_mlir.dialect.presburger import boxes_cover, full_box
from tir_mlir.dialect.presburger.digits import in_digits


def read(*texts: str) -> tuple[ir.AffineExpr, ...]:
    text = f"affine_map<(d0, d1, d2) -> ({', '.join(texts)})>"
    return tuple(ir.AffineMapAttr(ir.Attribute.parse(text)).value.results)


def numbers(texts: list[str], counts: list[int]) -> list[list[int]]:
    """The values of expressions at every point of [0, counts), in order."""
    codes = [t.replace("floordiv", "//").replace("mod", "%") for t in texts]
    points = itertools.product(*map(range, counts))
    return [[eval(c, {f"d{n}": v for n, v in enumerate(p)}) for c in codes] for p in points]


def by_digits(texts: list[str], counts: list[int]) -> list[list[int]] | None:
    """The same, computed from the digits, most significant first."""
    with enter_context():
        found = in_digits(read(*texts), tuple((0, c - 1) for c in counts))
        if found is None:
            return None
        values = itertools.product(*(range(d.low, d.high + 1) for d in found.digits))
        return [[s.constant + sum(f * v[n] for n, f in s.factors.items()) for s in found.sums] for v in values]


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        (["d0 floordiv 8", "d0 mod 8"], [64, 1, 1]),
        (["d0 floordiv 32", "d0 floordiv 8 mod 4", "d0 mod 8"], [64, 1, 1]),
        (["(d0 mod 32) floordiv 8", "d0 floordiv 2"], [64, 1, 1]),
        (["d0 floordiv 8 * 128 + d1 floordiv 2 * 64 + d2", "d0 mod 8 * 2 + d1 mod 2"], [16, 4, 8]),
        (["(d0 * 256 + d1 * 4 + d2) floordiv 8", "(d0 * 256 + d1 * 4 + d2) mod 8"], [4, 64, 4]),
        (["(d0 * 8 + d1 + 16) floordiv 8", "(d0 * 8 + d1 + 19) mod 16 - 5 * d2"], [4, 4, 3]),
        (["d0 floordiv 100", "d0 mod 64"], [64, 1, 1]),
        (["(d0 * 8 - d1 * 8 + d2) floordiv 8"], [4, 4, 8]),
    ],
)
def test_digits_give_every_value_in_order(texts, counts):
    assert by_digits(texts, counts) == numbers(texts, counts)


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        (["d0 floordiv 8"], [60, 1, 1]),  # the last digit is partial
        (["d0 floordiv 4", "d0 mod 6"], [24, 1, 1]),  # no common digits
        (["(d0 + d1) floordiv 8"], [8, 8, 1]),  # a carry
        (["(d0 * 8 + d1 + 1) floordiv 8"], [8, 8, 1]),
        (["(d0 - 1) mod 8"], [8, 1, 1]),
        (["d0 ceildiv 8"], [64, 1, 1]),
    ],
)
def test_expressions_without_digits(texts, counts):
    assert by_digits(texts, counts) is None


@pytest.mark.parametrize("seed", range(100))
def test_random_expressions(seed):
    draw = random.Random(seed)
    counts = [draw.choice([1, 2, 3, 4, 6, 8, 12]) for _ in range(3)]

    def some(depth: int) -> str:
        kind = draw.choice(["dim", "dim", "sum", "div", "mod", "times"]) if depth else "dim"
        if kind == "dim":
            return f"d{draw.randrange(3)}"
        if kind == "sum":
            return f"({some(depth - 1)} + {some(depth - 1)} + {draw.randrange(3)})"
        word = {"div": "floordiv", "mod": "mod", "times": "*"}[kind]
        return f"({some(depth - 1)} {word} {draw.choice([2, 3, 4, 8])})"

    texts = [some(3), some(3)]
    found = by_digits(texts, counts)
    assert found is None or found == numbers(texts, counts)


def test_a_range_that_does_not_start_at_zero_has_no_digits():
    with enter_context():
        assert in_digits(read("d0 floordiv 8"), ((8, 71), None, None)) is None
        assert in_digits(read("d0 * 2"), ((8, 71), None, None)) is not None


def test_opaque_dimensions_are_the_rest():
    with enter_context():
        found = in_digits(read("d1 floordiv 8 * 16 + d0 mod 4 + 3"), ((0, 7), None, None))
        assert found is not None
        (total,) = found.sums
        assert (dict(total.factors), total.constant, str(total.rest)) == ({1: 1}, 3, "(d1 floordiv 8) * 16")
        assert in_digits(read("(d1 * 4 + d0) floordiv 8"), ((0, 7), None, None)) is None


FUSED = """
for f in range({f}):
    for g in range({g}):
        for t in range({t}):
            with T.block("B"):
                vi = T.axis.spatial({rows}, f // 2 * 16 + g // 2 * 8 + t // 4)
                vj = T.axis.spatial({columns}, f % 2 * 8 + g % 2 * 4 + t % 4)
                {where}
                B[vi, vj] = 1.0
"""


def fused(f: int = 4, g: int = 4, t: int = 32, rows: int = 32, columns: int = 16, where: str = "pass") -> str:
    return FUSED.format(f=f, g=g, t=t, rows=rows, columns=columns, where=where)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (fused(), True),
        (fused(rows=30, where="T.where(f // 2 * 16 + g // 2 * 8 + t // 4 < 30)"), True),
        (fused(t=28), False),  # a row of each tile is missing
        (fused(g=2), False),  # half of the columns is missing
        (fused(f=8, rows=32), False),  # beyond the domain
        (fused().replace("t % 4", "t % 8"), False),  # two iters share a digit
        (fused().replace("+ t % 4", ""), False),  # twice each
        (fused().replace("g % 2 * 4", "g % 2 * 5"), False),  # a hole
    ],
)
def test_blocks_of_fused_loops(text, answer):
    with nest("B: T.Buffer((64, 64))", text, check=False) as n:
        assert full_box.is_full_box(n.blocks["B"]) is answer


@pytest.mark.parametrize(
    ("rows", "extent", "size", "answer"),
    [(32, 4, 32, True), (32, 4, 31, True), (32, 3, 32, False), (32, 4, 33, False), (32, 5, 32, True), (0, 4, 1, False)],
)
def test_boxes_of_fused_loops(rows, extent, size, answer):
    text = f"for f in range({rows}):\n    for g in range(2):\n        B[f, g] = 1.0"
    with nest("B: T.Buffer((64, 64))", text, check=False) as n:
        mins = [n.index("f") // 4 * 4, n.index("f") % 4 * 2 + n.index("g")]
        loops = [n.loops["f"], n.loops["g"]]
        one = Index.constant(1)
        boxes, wanted = (mins, [Index.constant(extent), one]), ([0, 0], [size, 8])
        domain = tuple([Index.constant(v) for v in part] for part in wanted)
        assert boxes_cover(boxes, domain, loops) is answer


def values_of_guarded(
    texts: list[str], counts: list[int], guard: str
) -> tuple[list[list[int]] | None, list[list[int]]]:
    """The values by digits, and at the points of [0, counts) at which a guard is not negative; each sorted."""
    with enter_context():
        split = in_digits(read(*texts), tuple((0, c - 1) for c in counts), read(guard))
        rows = None
        if split is not None:
            points = itertools.product(*(range(d.low, d.high + 1) for d in split.digits))
            rows = sorted(
                [s.constant + sum(f * p[n] for n, f in s.factors.items()) for s in split.sums] for p in points
            )
    expected = numbers([*texts, guard], counts)
    return rows, sorted(row[:-1] for row in expected if row[-1] >= 0)


LINEAR = "d0 * 64 + d1 * 8 + d2"


@pytest.mark.parametrize(
    ("texts", "counts", "guard"),
    [
        ([f"({LINEAR}) floordiv 100", f"({LINEAR}) mod 100 floordiv 10", f"({LINEAR}) mod 10"], [7, 8, 8], "399"),
        ([f"({LINEAR}) floordiv 9", f"({LINEAR}) mod 9 floordiv 3", "(d0 + d2 - d1) mod 3"], [5, 8, 8], "269"),
        (["(d0 * 16 + d1 * 2 + d2 floordiv 4) floordiv 5"], [3, 8, 8], "159"),  # folded: the number over 20
        (["((d0 * 16 + d1 * 2 + d2 floordiv 4) mod 5 * 4 + d2 mod 4) floordiv 10"], [3, 8, 8], "159"),
        (["d0 * 64 + d1 * 8 + d2 + 3"], [3, 8, 8], "150"),  # a whole number of any range
        ([f"(-({LINEAR}) - 1) floordiv 50 + 1", f"(-({LINEAR}) - 1) mod 25"], [3, 8, 8], "149"),
    ],
)
def test_guarded_sums_are_one_number(texts, counts, guard):
    rows, expected = values_of_guarded(texts, counts, f"{guard} - ({LINEAR})")
    assert rows == expected


@pytest.mark.parametrize(
    "texts",
    [
        ["d0", f"({LINEAR}) mod 10"],  # a loop of its own
        [f"({LINEAR}) mod 7"],  # 7 does not divide 150
        [f"({LINEAR}) mod 10", f"({LINEAR}) mod 25"],  # no common digits
        ["(d0 * 64 + d1 * 8 + d2 * 2) floordiv 10"],
    ],
)
def test_guarded_sums_without_digits(texts):
    assert values_of_guarded(texts, [3, 8, 8], f"149 - ({LINEAR})")[0] is None


def test_loops_that_divide_differently_than_they_split():
    texts = ["(d0 * 20 + d1 * 5 + d2) floordiv 50", "(d0 * 20 + d1 * 5 + d2) mod 50 floordiv 10"]
    assert sorted(by_digits(texts, [5, 4, 5]) or []) == sorted(numbers(texts, [5, 4, 5]))


@pytest.mark.parametrize("seed", range(60))
def test_random_splits_of_fused_loops(seed):
    draw = random.Random(seed)
    extents = [draw.randint(1, 6) for _ in range(3)]
    parts = [draw.choice([2, 3, 4, 8]) for _ in range(2)]
    total, inner = extents[0] * extents[1] * extents[2], parts[0] * parts[1]
    linear, below = f"(d0 * {inner} + d1 * {parts[1]} + d2)", extents[1] * extents[2]
    texts = [f"{linear} floordiv {below}", f"{linear} mod {below} floordiv {extents[2]}", f"{linear} mod {extents[2]}"]
    rows, expected = values_of_guarded(texts, [-(-total // inner), *parts], f"{total - 1} - {linear}")
    assert rows == expected
