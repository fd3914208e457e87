"""What the package remembers across programs is bounded: a process that makes many programs does not grow by it."""

from __future__ import annotations

import functools
import gc
import importlib
import pkgutil
from typing import Any

import pytest

from tir_mlir.dialect.ir import ENTRIES, BoundedDict

PARTS = ("dialect", "passes", "script", "runtime")


@pytest.fixture(scope="module", autouse=True)
def all_objects():
    """`gc.get_objects` leaves out what conftest froze."""
    gc.unfreeze()
    yield
    gc.freeze()


@functools.cache
def caches() -> dict[str, Any]:
    """The caches of the functions of the package, by the function's name."""
    for part in PARTS:
        package = importlib.import_module(f"tir_mlir.{part}")
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(info.name)
    wrappers = [o for o in gc.get_objects() if type(o).__name__ == "_lru_cache_wrapper"]
    return {f"{o.__module__}.{o.__qualname__}": o for o in wrappers if (o.__module__ or "").startswith("tir_mlir.")}


def arguments(cached: Any) -> int:
    return cached.__wrapped__.__code__.co_argcount


def test_results_of_functions():
    limits = {name: cached.cache_parameters()["maxsize"] for name, cached in caches().items() if arguments(cached)}
    assert len(limits) > 30
    assert [name for name, limit in limits.items() if limit is not None and limit > ENTRIES] == []


def test_dictionaries():
    caches()
    limits = [d._limit for d in gc.get_objects() if type(d) is BoundedDict]
    assert len(limits) > 5
    assert max(limits) <= 2 * ENTRIES


def test_older_half_is_dropped():
    recent: BoundedDict[int, int] = BoundedDict(8)
    for number in range(1000):
        recent[number] = number
        assert recent[number] == number
        assert len(recent) <= 8
    assert min(recent) > 990
