"""The course's documents, and tir_mlir's tvm while a test here runs."""

from pathlib import Path

import pytest

SEEDS = Path(__file__).resolve().parents[3] / "shared" / "seeds"


@pytest.fixture
def seed():
    """The text of a document by its number; skips where the documents are not beside the checkout."""

    def read(number: str) -> str:
        found = sorted(SEEDS.glob(f"{number}_*.txt"))
        if not found:
            pytest.skip(f"the course document {number} is not at {SEEDS}")
        return found[0].read_text()

    return read


@pytest.fixture
def tvm():
    """tir_mlir's tvm, taken away again afterwards."""
    import tir_mlir.compat

    tir_mlir.compat.install()
    import tvm  # type: ignore[import-not-found]

    yield tvm
    tir_mlir.compat.uninstall()


@pytest.fixture(autouse=True)
def own_intrinsics(monkeypatch):
    """Every test starts without intrinsics, and leaves none behind."""
    from tir_mlir.dialect.computation import intrinsics

    monkeypatch.setattr(intrinsics, "_known", {})
