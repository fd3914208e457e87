"""Fixtures and options shared by all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import pytest
from harness.tiers import LEFT_OUT, TIERS, chosen

HERE = Path(__file__).resolve().parent
SLOW = (
    *("bench", "course", "docs", "fuzz", "golden", "project", "targets", "tir_mlir/compat", "tir_mlir/schedules"),
    *("tir_mlir/equivalence", "tir_mlir/opt", "tir_mlir/topi", "tir_mlir/examples", "passes/schedule/fixes"),
    *(f"tir_mlir/graph/{name}" for name in ("fronts", "models", "precision", "transforms", "test_model_calls.py")),
    *(f"tir_mlir/tune/{name}" for name in ("machines", "models", "spaces", "trials")),
    *("tir_mlir/script/test_unsigned.py", "passes/lower/test_nest_functions.py", "passes/linalg/test_named.py"),
    *(f"passes/schedule/{name}.py" for name in ("symbolic/test_symbolic_factors", "placement/test_rolling_buffer")),
    *(f"passes/schedule/{name}.py" for name in ("loops/test_version_loop", "test_vector_accesses")),
    "tir_mlir/graph/memory/test_calls_in_place.py",
    *("tir_mlir/runtime/test_code_cache.py", "tir_mlir/runtime/test_jit_slp.py", "tir_mlir/runtime/test_survival.py"),
    "tir_mlir/runtime/test_workers.py",
    *("passes/linalg/test_to_linalg.py", "passes/lower/loops/test_peel_tails.py"),
    "dialect/incremental/test_versions.py",
    *(
        "tir_mlir/schedule/test_interrupted.py",
        "tir_mlir/tune/trials/test_pool.py",
        "passes/lower/test_random_programs.py",
        "passes/lower/test_chapter.py",
    ),
)
"""Folders and files whose tests are marked slow: they span everything, start processes, draw at random, import torch,
or take seconds."""
NIGHTLY = (
    *(f"tir_mlir/schedules/{name}.py" for name in ("products/test_free_gemm", "convolutions/test_free_conv")),
    *(f"tir_mlir/schedules/{name}.py" for name in ("rows/test_free_rows", "programs/test_free_auto")),
    "tir_mlir/tune/search/machines/test_many_processes.py",
    "bench/test_tuned.py",
    "bench/test_ladder.py",
)
"""Files of tests that build many points of a space, search, or start many processes; other tests do a few of each."""
AUDITED = ("passes/schedule", "tir_mlir/schedule", "dialect", "fuzz")
"""Folders in whose tests each step is audited before a merge, too."""
FEW = {
    "tir_mlir/schedules/products/test_few_rows_dots.py": 1,
    "tir_mlir/schedules/": 1,
    "tir_mlir/tune/spaces/": 1,
    "tir_mlir/topi/": 1,
    "tir_mlir/graph/transforms/": 1,
    "fuzz/test_planted_rules.py": 2,
}
"""Folders and files whose tests build programs for each parameter set: how many sets of a test run before a merge."""
os.environ.setdefault("TIR_WORKERS", "1")  # the tests are on all cores already
signal.signal(signal.SIGINT, signal.default_int_handler)  # a command in the background, and what it starts, ignores it
sys.path.insert(0, str(HERE.parent))  # a checkout's package, installed or not


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "what runs, see test/harness/tiers.py: quick, check (the default), all"
    parser.addoption("--tier", choices=TIERS, default="check", help=about)


@cache
def _is_in(path: Path, names: tuple[str, ...]) -> bool:
    return f"{path.relative_to(HERE).as_posix()}/".startswith(tuple(f"{name}/" for name in names))


@cache
def _few(path: Path) -> int | None:
    """How many parameter sets of each test of a file run before a merge."""
    place = path.relative_to(HERE).as_posix()
    return next((n for start, n in FEW.items() if place.startswith(start)), None)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of which a tier runs nothing are not even imported."""
    left_out = LEFT_OUT[config.getoption("--tier")]
    names = (SLOW if "slow" in left_out else ()) + (NIGHTLY if "nightly" in left_out else ())
    return True if collection_path.is_relative_to(HERE) and _is_in(collection_path, names) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if _is_in(item.path, SLOW):
            item.add_marker(pytest.mark.slow)
        if _is_in(item.path, NIGHTLY):
            item.add_marker(pytest.mark.nightly)
        few = _few(item.path)
        if few is not None and item.get_closest_marker("few") is None:
            item.add_marker(pytest.mark.few(few))
    kept, others = chosen(items, config.getoption("--tier"))
    config.hook.pytest_deselected(items=others)
    items[:] = kept


def pytest_collection_finish() -> None:
    """What the imports left stays to the end: each collection would walk over all of it (a seventh of the time)."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(scope="session")
def tier(request: pytest.FixtureRequest) -> str:
    """Which tests run: quick, check or all."""
    return request.config.getoption("--tier")


@pytest.fixture(scope="module", autouse=True)
def audited_steps(request: pytest.FixtureRequest, tier: str) -> Iterator[None]:
    """Every step leaves alone what it is said to leave alone: nightly in all tests, before in those of steps."""
    from fuzzing.untouched import audited

    with audited() if tier == "all" or _is_in(request.path, AUDITED) else nullcontext():
        yield


@pytest.fixture
def parse():
    """Text of a module -> ir.Module in the process's context."""
    from mlir import ir

    from tir_mlir.dialect.ir import enter_context

    def parse(text: str) -> ir.Module:
        with enter_context():
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
    from tir_mlir.intrin.outer_products import outer_product

    return outer_product(16, 16, 16)


@pytest.fixture
def intrinsic() -> Iterator[Callable[..., str]]:
    """Register intrinsics for one test."""
    from tir_mlir import TensorIntrin
    from tir_mlir.dialect.computation import intrinsics

    names: list[str] = []

    def register(name: str, desc, impl) -> str:
        TensorIntrin.register(name, desc, impl, override=True)
        names.append(name)
        return name

    yield register
    for name in names:
        intrinsics._known.pop(name, None)
