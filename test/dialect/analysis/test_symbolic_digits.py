"""Loops over quotients by sizes and products with sizes: independent exactly where the order of digits shows it."""

from __future__ import annotations

import pytest
from harness import scripts

from tir_mlir.dialect.analysis import dependences
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import all_blocks, enter_context, loops_above

PROGRAM = """
n = T.int32()
m = T.int32()
A = T.match_buffer(a, (n, m), "float32")
B = T.match_buffer(b, (n + m, m + n + 1), "float32")
for {loops}:
    with T.block("B"):
        vi = T.axis.opaque(n, {vi})
        vj = T.axis.opaque({columns}, {vj})
        B[{store}] = B[{load}] + 1.0
"""
FUSED = "f in range(n * m)"
TILED = "a, b in T.grid(4, (n + 3) // 4)"
TILE = "a * ((n + 3) // 4) + b"


def _independent(number: int, **parts: str) -> bool:
    """Whether the iterations of a loop are proved to be independent."""
    module = scripts.function(PROGRAM.format(**parts), "a: T.handle, b: T.handle")
    with enter_context():
        loop = loops_above(all_blocks(module.mlir.operation)[0].op)[number]
        try:
            return dependences.loop_carried_conflict(loop, "parallel") is None
        except NotProvable:
            return False


@pytest.mark.parametrize(
    ("vi", "vj", "element", "expected"),
    [
        ("f // m", "f % m", "vi, vj", True),
        ("f // m", "f % m", "vi, 0", False),
        ("f // m", "f % m", "0, vi + vj", False),  # the sum of digits does not determine the number
        ("f // m", "f % n", "vi, vj", False),  # digits to two bases
        ("(f + 1) // m", "(f + 1) % m", "vi, vj", True),
        ("(f // 2) // m", "(f // 2) % m", "vi, vj", False),
    ],
)
def test_a_fused_loop(vi: str, vj: str, element: str, expected: bool) -> None:
    assert _independent(0, loops=FUSED, columns="m", vi=vi, vj=vj, store=element, load=element) is expected


HALF, QUARTER = "((m + 1) // 2)", "((n + 3) // 4)"


@pytest.mark.parametrize(
    ("vi", "vj", "element", "expected"),
    [
        (f"f // {HALF}", f"f % {HALF}", "vi, vj", True),
        (f"f // {HALF}", f"f % {HALF}", "vi, 0", False),
        (f"f // {HALF}", f"f % {QUARTER}", "vi, vj", False),  # digits to two bases
        (f"f // {HALF} * 4", f"f % {HALF} * 2", "vi, vj", True),
        (f"f // {HALF}", f"f % {HALF}", "0, vi + vj", False),  # the sum of digits does not determine the number
        ("f // ((m - 2) // 4)", "f % ((m - 2) // 4)", "vi, vj", False),  # the base may be 0
    ],
)
def test_a_loop_over_a_product_of_quotients(vi: str, vj: str, element: str, expected: bool) -> None:
    loops = f"f in range({QUARTER} * {HALF})"
    assert _independent(0, loops=loops, columns="m", vi=vi, vj=vj, store=element, load=element) is expected


@pytest.mark.parametrize(
    ("number", "vi", "expected"),
    [
        (0, TILE, True),
        (1, TILE, True),
        (0, f"{TILE} + 1", True),
        (0, f"{TILE} + b", False),  # the low digit exceeds the base
        (0, "a * (n // 4) + b", False),  # tiles overlap
    ],
)
def test_a_tiled_loop(number: int, vi: str, expected: bool) -> None:
    assert _independent(number, loops=TILED, columns="1", vi=vi, vj="0", store="vi, 0", load="vi, 0") is expected


def test_reading_the_element_before() -> None:
    assert not _independent(0, loops=FUSED, columns="m", vi="f // m", vj="f % m", store="vi, vj + 1", load="vi, vj")
