"""The memory of a process that builds: libraries that nobody holds are freed, and many builds do not add up."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest
from harness import ROOT
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import build

TEXT = main("A:8 B:8", each("b", "B[vi] = A[vi] + T.float32({value})"))


@pytest.mark.nightly
@pytest.mark.parametrize("cache", [True, False])
def test_code_is_freed_with_the_last_of_its_functions(cache):
    library = build(parse(TEXT.format(value=1)), cache=cache)
    other = build(parse(TEXT.format(value=1)), cache=cache)
    code, function = weakref.ref(library._driver._code), library["main"]
    del library
    gc.collect()
    assert code() is not None
    result = np.zeros(8, np.float32)
    function(np.ones(8, np.float32), result)
    assert (result == 2).all()
    del function
    gc.collect()
    assert code() is None
    other(result, result := np.zeros(8, np.float32))
    assert (result == 3).all()


def growth(kind: str, count: int, every: int, cache: Path) -> list[float]:
    """The resident MiB of a new process after each `every` of `count` programs."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "harness.memory_growth", kind, str(count), str(every)],
        cwd=ROOT / "test",
        capture_output=True,
        text=True,
        env={**os.environ, "TIR_CACHE_DIR": str(cache)},
    )
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the resident size of a process is read from Linux")
@pytest.mark.nightly
def test_300_kernels(tmp_path):
    sizes = growth("kernels", 300, 10, tmp_path)
    assert sizes[-1] - sizes[0] < 50, sizes


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the resident size of a process is read from Linux")
@pytest.mark.nightly
def test_100_models(tmp_path):
    """From the tenth model to the last: two thirds of a MiB each, of which a quarter is remembered across programs, in
    tables of limited size; the rest are types and attributes, which MLIR keeps."""
    pytest.importorskip("torch")
    sizes = growth("models", 110, 10, tmp_path)
    assert sizes[-1] - sizes[0] < 80, sizes
