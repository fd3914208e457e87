"""Whether two programs compute the same: both run over the prime field, on the same random data, and must agree."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from mlir import ir

from tir_mlir.check.comparison import Comparison, Pair
from tir_mlir.check.report import Difference, Result
from tir_mlir.dialect.context import entered
from tir_mlir.dialect.errors import NotChecked
from tir_mlir.dialect.index_map import IndexMap
from tir_mlir.dialect.views import funcs
from tir_mlir.runtime.signature import signatures

_one_at_a_time = threading.RLock()  # a program that is kept has one state


def equivalent(original: Any, scheduled: Any, *, seed: int = 0) -> Result:
    """Run two modules or functions on the same data and compare every element of every buffer, bit by bit.

    Floats are elements of the prime field p = 2^61 - 1 (sums in any order agree; division is division), `exp` and
    roundings fixed mixing functions, comparisons those of a total order that starts at three places. Allocated memory
    is filled at random, accesses are kept inside their buffers and reported. Functions are paired by name, lone ones
    with each other. Errors: NotChecked names what has no exact meaning.
    """
    with entered():
        return compare(_module(original), _module(scheduled), seed)


def compare(
    original: ir.Module, scheduled: ir.Module, seed: int = 0, moves: Mapping[tuple[str, str], IndexMap] | None = None
) -> Result:
    """The same of two MLIR modules (call inside `entered`). `moves`: parameters that the second takes in another
    layout, {(function, parameter): map}."""
    start = time.perf_counter()
    result = Result()
    with _one_at_a_time:
        for pair in _pairs(original, scheduled, result):
            result.functions += 1
            try:
                result.difference = Comparison(pair, original, scheduled, seed, result, moves or {}).run()
            except MemoryError as error:
                raise NotChecked(f"the arrays of {pair[0].name} do not fit the memory: {error}") from error
            if result.difference is not None:
                break
    result.seconds = time.perf_counter() - start
    return result


def _module(held: Any) -> ir.Module:
    for name in ("alone", "mod", "mlir"):  # alone: a PrimFunc without its neighbours
        held = getattr(held, name, held)
    if not isinstance(held, ir.Module):
        raise TypeError(f"equivalent takes modules, functions or schedules, not {type(held).__name__}")
    return held


def _pairs(original: ir.Module, scheduled: ir.Module, result: Result) -> Iterator[Pair]:
    left, right = signatures(original), signatures(scheduled)
    both = [{f.name: f for f in funcs(m)} for m in (original, scheduled)]
    names = [(n, n) for n in left]
    if len(left) == len(right) == 1:
        names = [(next(iter(left)), next(iter(right)))]
    if missing := [b for _, b in names if b not in right]:
        result.difference = Difference(missing[0], {}, f"the scheduled module has no function {missing[0]}")
        return
    for a, b in names:
        yield both[0][a], both[1][b], left[a], right[b]
