"""What schedule tests share: a schedule run against its unscheduled program, and refusals that change nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tir_mlir import Schedule, TensorIntrin, build
from tir_mlir.dialect.computation import intrinsics
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.intrin.outer_products import outer_product

sys.path.insert(0, str(Path(__file__).parent))  # programs that several tests share


def _arrays(function, sizes) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    return [rng.integers(-4, 5, size).astype(dtype) for size, dtype in sizes]


@pytest.fixture
def same_result() -> Callable[..., None]:
    """Assert that a schedule computes what its program computes: `same_result(sch, original, (shape, dtype), ...)`.

    Small integers in floats make sums exact, so the order of a reduction does not matter and equality is bit for bit.
    """

    def check(sch: Schedule, original, *sizes) -> None:
        results = []
        for mod in (original, sch.mod):
            arrays = _arrays(None, sizes)
            build(mod)["main"](*arrays)
            results.append(arrays)
        for expected, got in zip(*results, strict=True):
            np.testing.assert_array_equal(got, expected)

    return check


@pytest.fixture
def refused() -> Callable[..., None]:
    """Assert that a step is refused with a message, and leaves module, trace and handles as they were."""

    def check(sch: Schedule, match: str, step: Callable[[], object], error: type[Exception] = ScheduleError) -> None:
        before, steps = sch.mod.script(), len(sch.trace)
        with pytest.raises(error) as raised:
            step()
        # the whole text also shows the line of the test, which may hold the words looked for
        reason = getattr(raised.value, "reason", None) or str(raised.value)
        reason = "\n".join(filter(None, (reason, getattr(raised.value, "fix", ""))))
        assert re.search(match, reason), f"{match!r} is not in: {reason}"
        assert sch.mod.script() == before
        assert len(sch.trace) >= steps  # looking a block up by name may have been a step of its own

    return check


@pytest.fixture(scope="module")
def mm16() -> str:
    """The name of an intrinsic: a product of 16 x 16 x 16."""
    return outer_product(16, 16, 16)


@pytest.fixture
def intrinsic():
    """Register intrinsics for one test."""
    names: list[str] = []

    def register(name: str, desc, impl) -> str:
        TensorIntrin.register(name, desc, impl, override=True)
        names.append(name)
        return name

    yield register
    for name in names:
        intrinsics._known.pop(name, None)
