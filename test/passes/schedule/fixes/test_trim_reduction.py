"""Fixes for refusals of trim_reduction: each is applied."""

from __future__ import annotations

from harness.fix_rows import Row, each_of, loop
from programs.short import main, nest, sblock


def sums(term: str, start: str = "0.0") -> str:
    return main("A:8x8 C:8", nest("i:8 k:8", sblock("C", "vi:8=i vk:8R=k", term, init=f"C[vi] = {start}")))


UP_TO = "C[vi] = C[vi] + T.if_then_else(vk <= vi, A[vi, vk], T.float32(0))"
BEFORE = UP_TO.replace("<=", "<")
ROWS = [
    Row(
        "trim_reduction: a loop elsewhere",
        main("A:8x8 B:8 C:8", nest("i:8", sblock("B", "vi:8=i", "B[vi] = 0.0")),
             nest("i:8 k:8", sblock("C", "vi:8=i vk:8R=k", UP_TO, init="C[vi] = 0.0"))),
        lambda s: s.trim_reduction("C", loop(s, "B")),
        "pass one of its own loops",
        lambda s: s.trim_reduction("C", loop(s, "C")),
    ),
    Row(
        "trim_reduction: terms that all count",
        sums("C[vi] = C[vi] + A[vi, vk]"),
        lambda s: s.trim_reduction("C", loop(s, "C")),
        "store T.if_then_else(condition, value, 0)",
        instead=sums(UP_TO),
    ),
    Row(
        "trim_reduction: an iteration without terms that count",
        sums(BEFORE),
        lambda s: s.trim_reduction("C", loop(s, "C")),
        "decompose_reduction",
        lambda s: (s.decompose_reduction("C", loop(s, "C", 1)), s.trim_reduction("C_update", loop(s, "C_update"))),
    ),
]  # fmt: skip


@each_of(ROWS)
def test_fix(row):
    row.follow()
