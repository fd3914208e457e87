"""The page of LLVM's faults: each row names what avoids the fault, and a test."""

import re
from pathlib import Path

import pytest

from tir_mlir.passes.lower import LOWERINGS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "internals" / "llvm-faults.md").read_text()
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")][1:]


@pytest.mark.parametrize("row", ROWS, ids=[row[0][:40] for row in ROWS])
def test_what_avoids_a_fault_and_its_test_exist(row: list[str]):
    _, _, avoided, tested = row
    passes = re.findall(r"tir-lower-[\w-]+", avoided)
    assert set(passes) <= LOWERINGS.keys()
    files = re.findall(r"`((?:test|tir_mlir)/[^`]+)`", avoided + tested)
    assert (passes or len(files) > 1) and ("the same" in tested or "`test/" in tested)
    assert [file for file in files if not (ROOT / file).exists()] == []
