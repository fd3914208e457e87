"""Assertions for schedule tests: the result equals that of the unscheduled program; a refused step changes nothing."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.runtime.drivers import jit
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.llvm import object_code
from tir_mlir.script.module import IRModule
from tir_mlir.script.structural_equal import difference

_results: dict[tuple[str, tuple], list[np.ndarray]] = {}


@contextmanager
def unoptimized() -> Iterator[None]:
    """Build programs with all lowering passes but without LLVM's optimization (-O0).

    Optimized code is tested in test/passes/lower and test/tir_mlir/runtime.
    """
    compile_program = jit.compile_program
    jit.compile_program = functools.partial(compile_program, passes=object_code.NO_PASSES)
    try:
        yield
    finally:
        jit.compile_program = compile_program


def quick_build(mod: Any, **options: Any) -> Library:
    """`build` without LLVM's optimization and without the user's cache."""
    with unoptimized():
        return build(mod, cache=False, **options)


def _arrays(sizes: tuple) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    return [rng.integers(-4, 5, size).astype(dtype) for size, dtype in sizes]


def _result(mod: Any, sizes: tuple) -> list[np.ndarray]:
    arrays = _arrays(sizes)
    quick_build(mod)["main"](*arrays)
    return arrays


def _text(mod: Any) -> str:
    """What a program is, in MLIR's text: it costs a tenth of TVMScript's."""
    with enter_context():
        return str(mod.mlir) if isinstance(mod, IRModule) else mod.script()


def same_result(sch: Schedule, original: Any, *sizes: tuple[tuple[int, ...], str]) -> None:
    """Assert that a schedule preserves the result of its program: `same_result(sch, original, (shape, dtype), ...)`.

    Small integers as floats make sums exact, so reductions may be reordered and equality is bitwise. The result of the
    original is cached for the session and shared by all schedules of a program.
    """
    key = _text(original), tuple((tuple(shape), dtype) for shape, dtype in sizes)
    if key not in _results:
        _results[key] = _result(original, sizes)
    for expected, got in zip(_results[key], _result(sch.mod, sizes), strict=True):
        np.testing.assert_array_equal(got, expected)


def refused(sch: Schedule, match: str, step: Callable[[], object], error: type[Exception] = ScheduleError) -> None:
    """Assert that a step is refused with a message, and leaves module, trace and handles unchanged."""
    before, steps = _text(sch.mod), len(sch.trace)
    with pytest.raises(error) as raised:
        step()
    # the full text also shows the source line of the test, which may match by accident
    reason = getattr(raised.value, "reason", None) or str(raised.value)
    told = "\n".join(filter(None, (reason, getattr(raised.value, "fix", ""))))
    assert re.search(match, reason) or re.search(match, told), f"{match!r} is not in: {told}"
    assert _text(sch.mod) == before
    assert len(sch.trace) >= steps  # a lookup by name may have been recorded as a step


def reads_back(sch: Schedule) -> str:
    """Return the printed program after checking that it parses back to the same program."""
    text = sch.mod.script()
    assert difference(parse(text).mlir, sch.mod.mlir) is None
    return text


def block_order(sch: Schedule) -> list[str]:
    """Return the names of the blocks in the order of the printed program."""
    return re.findall(r'T\.block\("([\w.]+)"\)', "\n".join(x for x in sch.mod.script().split("\n") if "#" not in x))
