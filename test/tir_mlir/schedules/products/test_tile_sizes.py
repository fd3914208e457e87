"""The model that sizes of tiles come from, and its reasons."""

from __future__ import annotations

import ast

import pytest
from harness import ROOT
from programs.products import product, widened

from tir_mlir import Schedule, explain_speed, schedules
from tir_mlir.schedules.products.packing import rows_held
from tir_mlir.target import NAMES, ZEN1, ZEN4


@pytest.mark.parametrize(
    ("program", "reasons"),
    [
        (product(48, 128, 64), ["tile of 6 x 64: 24 vectors of sums", "panel of 64 steps: 16 KiB, where L2 has room"]),
        (widened(48, 128, 64), ["tile of 4 x 64: 16 vectors of sums", "panel of 64 steps: 4 KiB, where L2 has room"]),
    ],
    ids=["float32", "int8"],
)
def test_reasons_are_shown_with_the_speed(program, reasons):
    sch = Schedule(program)
    schedules.gemm(sch, "C", target=ZEN4, threads=1)
    _, sizes = str(explain_speed(sch, ZEN4)).split("sizes:")
    assert all(f"C: {reason}" in sizes for reason in reasons), sizes


def test_reasons_of_steps_that_are_undone_are_gone():
    sch = Schedule(product(48, 128, 64))
    schedules.gemm(sch, "C", target=ZEN4, threads=1)
    first = next(entry for entry in sch.history if entry.reasons)
    assert first.changed
    sch.undo(len([entry for entry in sch.history if entry.changed]))
    assert not any(entry.reasons for entry in sch.history)


def test_no_schedule_asks_for_the_name_of_a_cpu():
    """Registers, caches, instruction sets and the rates of a core decide, so that new CPUs need no rule."""
    names = {*NAMES, *(target.cpu for target in NAMES.values() if target.cpu)}
    for path in sorted((ROOT / "tir_mlir" / "schedules").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("cpu", "triple"), f"{path.name}:{node.lineno}"
            if isinstance(node, ast.Constant):
                assert node.value not in names, f"{path.name}:{node.lineno}"


@pytest.mark.parametrize(
    ("n", "tile", "steps"),
    [(1024, "4 x 24", 64), (1000, "6 x 16", 256)],
    ids=["rows a page apart", "rows in all sets"],
)
def test_few_rows_read_wide_tiles_of_a_matrix_whose_rows_share_sets(n, tile, steps):
    sch = Schedule(product(16, n, 1024))
    schedules.gemm(sch, "C", target=ZEN1, threads=1)
    reasons = [reason for entry in sch.history for reason in entry.reasons]
    assert reasons[0].startswith(f"C: tile of {tile}") and reasons[1].startswith(f"C: panel of {steps} steps")


def test_rows_that_a_cache_holds():
    assert rows_held(32 << 10, 64) == 512
    assert rows_held(32 << 10, 4096) == 8
    assert rows_held(512 << 10, 4096) == 128
    assert rows_held(512 << 10, 4000) == 8192
