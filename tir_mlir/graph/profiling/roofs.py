"""What this machine can do at most, measured: multiply-adds a second, and bytes a second by working set."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

from tir_mlir.build import build
from tir_mlir.runtime.aligned import empty
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.script.module import IRModule
from tir_mlir.target import host

CHAINS, TURNS, ROUNDS = 12, 20_000, 12
SIZES = tuple(1 << bits for bits in (15, 18, 21, 24, 26))
"""Bytes that are read."""


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
    """(bytes, bytes a second) of one thread that reads these sizes again and again."""
    with built_as_given():
        run = build(IRModule.from_mlir(_reader(host().lanes(32))))["reads"]
    out, found = empty((host().lanes(32),), "float32"), []
    for size in SIZES:
        source, times = empty((size // 4,), "float32"), max(1, (1 << 21) // size)
        source[:] = 1
        took = _best(lambda s=source, n=times: [run(s, out) for _ in range(n)])
        found.append((size, size * times / took))
    return tuple(found)


def bandwidth(size: float) -> float:
    """Bytes a second for a working set: of the largest size measured that is no larger, so that it is a bound."""
    return next((rate for most, rate in reversed(bandwidths()) if most <= size), bandwidths()[0][1])


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


def _reader(lanes: int) -> str:
    """Sums of a buffer, in eight chains of vectors."""
    vector = f"vector<{lanes}xf32>"
    given = ", ".join(f"%a{n} = %zero" for n in range(_READS))
    types = ", ".join([vector] * _READS)
    steps, sums, last = [], [], "%r#0"
    for n in range(_READS):
        steps.append(f"      %o{n} = arith.constant {n * lanes} : index")
        steps.append(f"      %i{n} = arith.addi %i, %o{n} : index")
        steps.append(f"      %v{n} = vector.load %in[%i{n}] : memref<?xf32>, {vector}")
        steps.append(f"      %b{n} = arith.addf %a{n}, %v{n} : {vector}")
        if n:
            sums.append(f"    %s{n} = arith.addf {last}, %r#{n} : {vector}")
            last = f"%s{n}"
    return f"""
module {{
  func.func @reads(%in: memref<?xf32> {{{_SYMBOLIC}}}, %out: memref<{lanes}xf32> {{tir.name = "out"}}) {{
    %c0 = arith.constant 0 : index
    %step = arith.constant {_READS * lanes} : index
    %n = memref.dim {{tir.name = "n"}} %in, %c0 : memref<?xf32>
    %zero = arith.constant dense<0.0> : {vector}
    %r:{_READS} = scf.for %i = %c0 to %n step %step iter_args({given}) -> ({types}) {{
{chr(10).join(steps)}
      scf.yield {", ".join(f"%b{n}" for n in range(_READS))} : {types}
    }}
{chr(10).join(sums)}
    vector.store {last}, %out[%c0] : memref<{lanes}xf32>, {vector}
    return
  }}
}}
"""


_READS = 8
_SYMBOLIC = 'tir.name = "in", tir.shape = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]'
