"""The best kernels of both searches and the library's choice, in turns in one process: a row of docs/searches.md each.

PYTHONPATH=.:tools/bench:SITE python -m searches.beside OURS MS NUMBER...

SITE: the folder of packages that has TVM. OURS, MS: folders with those of the searches, by number.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ["TVM_NUM_THREADS"] = "1"

import numpy as np
from mlir import ir

import measure
from searches.ten_programs import TEN, SearchedProgram
from tir_mlir import build
from tir_mlir.dialect.ir import enter_context
from tir_mlir.equivalence.inputs import shape_of
from tir_mlir.runtime.call.signature import BufferParam

ROUNDS = 41


def row(number: int, ours: Path, theirs: Path) -> str:
    """Rates of both, of the library's choice, and their quotient, by the least CPU times of all rounds. A kernel whose
    results are not those of the library's choice is marked as wrong."""
    program = TEN[number]
    calls: dict[str, Callable[[], object]] = {}
    results: dict[str, Any] = {}
    function = build(program.make())["main"]
    arrays = _arguments(function.signature.params)
    for name, file in (("library", ours / "library.mlir"), ("ours", ours / "best.mlir")):
        call, values = _loaded(file), [array.copy() for array in arrays]
        calls[name], results[name] = partial(call, *values), values[-1]
    if (theirs / "best.so").exists():
        tvm = importlib.import_module("tvm")
        main = tvm.runtime.load_module(str(theirs / "best.so"))["main"]
        values = [tvm.runtime.tensor(array) for array in arrays]
        calls["tvm"], results["tvm"] = partial(main, *values), values[-1]
    took = measure.interleaved(calls, rounds=ROUNDS, clock=time.process_time)
    want = results["library"].astype(float)
    marks = {}
    for name, result in results.items():
        got = np.asarray(result if isinstance(result, np.ndarray) else result.numpy(), float)
        marks[name] = "" if np.allclose(got, want, rtol=1e-3, atol=1e-3) else ", wrong"
    return _line(program, {name: stats.least for name, stats in took.items()}, marks, ours, theirs)


def _line(program: SearchedProgram, least: dict[str, float], marks: dict[str, str], ours: Path, theirs: Path) -> str:
    """marks: what is added to the rate of each."""
    found = [json.loads((f / "found.json").read_text()) if (f / "found.json").exists() else {} for f in (ours, theirs)]
    rates = {name: f"{program.rate(seconds):.1f}{marks[name]}" for name, seconds in least.items()}
    gain = f"{least['tvm'] / least['ours']:.2f}" if "tvm" in least else ""
    cells = [program.name, program.unit, rates["library"], rates["ours"], rates.get("tvm", ""), gain]
    cells += [str(f.get("trials", "")) for f in found]
    return f"| {' | '.join(cells)} |"


def _loaded(file: Path) -> Callable[..., object]:
    with enter_context():
        return build(ir.Module.parse(file.read_text()), cache=False)["main"]


def _arguments(params: Any) -> list[np.ndarray]:
    draw = np.random.default_rng(0)
    arrays = []
    for param in params:
        assert isinstance(param, BufferParam)
        kind, shape = np.dtype(param.dtype), shape_of(param, {})
        values = draw.integers(0, 100, shape) if kind.kind in "iu" else draw.standard_normal(shape)
        arrays.append(values.astype(kind))
    return arrays


if __name__ == "__main__":
    for which in sys.argv[3:]:
        print(row(int(which), Path(sys.argv[1]) / which, Path(sys.argv[2]) / f"t{which}"), flush=True)
