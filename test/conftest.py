"""What all tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a checkout's package, installed or not


@pytest.fixture
def parse():
    """Text of a module -> ir.Module in the process's context."""
    from mlir import ir

    from tir_mlir.dialect.ir import entered

    def parse(text: str) -> ir.Module:
        with entered():
            return ir.Module.parse(text)

    return parse
