"""What all tests share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # a checkout's package, installed or not


@pytest.fixture
def parse():
    """Text of a module -> ir.Module in the process's context."""
    from mlir import ir

    from tir_mlir.dialect.context import entered

    def parse(text: str) -> ir.Module:
        with entered():
            return ir.Module.parse(text)

    return parse


@pytest.fixture
def same_result() -> Callable[..., None]:
    """Assert that a schedule computes what its program computes: `same_result(sch, original, (shape, dtype), ...)`."""
    from harness.schedules import same_result

    return same_result


@pytest.fixture
def refused() -> Callable[..., None]:
    """Assert that a step is refused with a message and changes nothing: `refused(sch, match, step)`."""
    from harness.schedules import refused

    return refused


@pytest.fixture(scope="module")
def mm16() -> str:
    """The name of an intrinsic: a product of 16 x 16 x 16."""
    from tir_mlir.intrin.library import outer_product

    return outer_product(16, 16, 16)


@pytest.fixture
def intrinsic() -> Iterator[Callable[..., str]]:
    """Register intrinsics for one test."""
    from tir_mlir import TensorIntrin
    from tir_mlir.dialect import intrinsics

    names: list[str] = []

    def register(name: str, desc, impl) -> str:
        TensorIntrin.register(name, desc, impl, override=True)
        names.append(name)
        return name

    yield register
    for name in names:
        intrinsics._known.pop(name, None)
