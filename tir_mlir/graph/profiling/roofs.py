"""What this machine can do at most, measured: multiply-adds a second, and bytes a second by working set."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import numpy as np

from tir_mlir.build import build
from tir_mlir.runtime.aligned import empty
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.script.module import IRModule
from tir_mlir.target import host

CHAINS, TURNS, ROUNDS = 12, 20_000, 12
SIZES = tuple(1 << bits for bits in (15, 18, 21, 24, 26))
"""Bytes that are copied, source and target together."""


@functools.cache
def peak() -> float:
    """Float32 operations a second of one thread: independent chains of multiply-adds in registers."""
    lanes = host().lanes(32)
    with built_as_given():
        run = build(IRModule.from_mlir(_program(lanes)))["fmas"]
    out = empty((lanes,), "float32")
    return 2.0 * lanes * CHAINS * TURNS / _best(lambda: run(out))


@functools.cache
def bandwidths() -> tuple[tuple[int, float], ...]:
    """(bytes, bytes a second) of copies of these sizes by one thread."""
    found = []
    for size in SIZES:
        source, target = np.ones(size // 2, np.uint8), np.ones(size // 2, np.uint8)
        times = max(1, (1 << 21) // size)
        took = _best(lambda s=source, t=target, n=times: [np.copyto(t, s) for _ in range(n)])
        found.append((size, size * times / took))
    return tuple(found)


def bandwidth(size: float) -> float:
    """Bytes a second for a working set of a size."""
    return next((rate for most, rate in bandwidths() if size <= most), bandwidths()[-1][1])


def least_seconds(flops: float, moved: float) -> float:
    """The time that the roofs allow for work on one thread."""
    return max(flops / peak(), moved / bandwidth(moved))


def _best(call: Callable[[], object]) -> float:
    """The shortest of several rounds: other load on the machine only lengthens one."""
    call()
    found = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        found = min(found, time.perf_counter() - start)
    return found


def _program(lanes: int) -> str:
    vector = f"vector<{lanes}xf32>"
    names = [f"%a{n}" for n in range(CHAINS)]
    given = ", ".join(f"{name} = %zero" for name in names)
    types = ", ".join([vector] * CHAINS)
    steps = "\n".join(f"      %b{n} = vector.fma %a{n}, %x, %x : {vector}" for n in range(CHAINS))
    sums, last = [], "%r#0"
    for n in range(1, CHAINS):
        sums.append(f"    %s{n} = arith.addf {last}, %r#{n} : {vector}")
        last = f"%s{n}"
    return f"""
module {{
  func.func @fmas(%out: memref<{lanes}xf32> {{tir.name = "out"}}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant {TURNS} : index
    %zero = arith.constant dense<0.0> : {vector}
    %x = vector.load %out[%c0] : memref<{lanes}xf32>, {vector}
    %r:{CHAINS} = scf.for %i = %c0 to %n step %c1 iter_args({given}) -> ({types}) {{
{steps}
      scf.yield {", ".join(f"%b{n}" for n in range(CHAINS))} : {types}
    }}
{chr(10).join(sums)}
    vector.store {last}, %out[%c0] : memref<{lanes}xf32>, {vector}
    return
  }}
}}
"""
