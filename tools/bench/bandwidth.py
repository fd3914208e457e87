"""Measure memory bandwidth for working sets of several sizes.

Two kernels: the triad a = b + s * c, and read-only sums, which are faster because a store first reads its cache line.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from external import on_all_threads
from measure import interleaved
from roofline import Point
from tir_mlir.target.host import host

SIZES = tuple(1 << bits for bits in (14, 16, 18, 20, 22, 24, 26, 28))  # total bytes of all arrays
MOVED = 1 << 22  # minimum bytes moved per call, to amortize call overhead
WIDE = 8  # vectors per loop iteration


def curve(threads: int, clock: Callable[[], float] | None = None) -> list[Point]:
    """Return the best rates at each size; other load on the machine can only lower a rate."""
    found = []
    for size in SIZES:
        calls = {"triad": triad(size, threads), "reads": reads(size, threads)}
        took = interleaved({name: call for name, (call, _) in calls.items()}, rounds=15, clock=clock)
        rates = {name: took[name].rate(moved).greatest for name, (_, moved) in calls.items()}
        found.append(Point(size, rates["triad"], rates["reads"]))
    return found


def triad(size: int, threads: int) -> tuple[Callable[[], object], float]:
    """Return a call that runs the triad on `size` bytes, and the bytes it moves; three arrays are counted, as in
    STREAM."""
    return _on(_TRIAD, 3, size, threads)


def reads(size: int, threads: int) -> tuple[Callable[[], object], float]:
    """Return a call that sums `size` bytes, and the bytes it reads."""
    return _on(_READS, 1, size, threads)


def _on(body: str, arrays: int, size: int, threads: int) -> tuple[Callable[[], object], float]:
    """Return the call and the bytes it moves; small working sets are traversed several times per call."""
    step = WIDE * host().vector_bits // 32
    each = max(size // (4 * arrays * threads) // step, 1) * step
    bytes_once = 4 * arrays * threads * each
    turns = max(MOVED // bytes_once, 1)
    operands = [np.ones((threads, each), np.float32) for _ in range(arrays)]
    result = np.zeros((threads, 16), np.float32)  # 64 bytes hold any vector
    call = on_all_threads("moves", code(body, arrays), [*operands, result], [each, turns])
    return call, float(bytes_once * turns)


_TRIAD = """
  %x{u} = load {v}, ptr %p1.{u}, align 4
  %y{u} = load {v}, ptr %p2.{u}, align 4
  %b{u} = call {v} @llvm.fma.v{lanes}f32({v} %s, {v} %y{u}, {v} %x{u})
  store {v} %b{u}, ptr %p0.{u}, align 4"""
_READS = """
  %x{u} = load {v}, ptr %p0.{u}, align 4
  %b{u} = fadd {v} %a{u}, %x{u}"""


def code(body: str, arrays: int) -> str:
    """Return LLVM IR of `moves(arrays..., result, int n, int turns)`.

    `n` is a multiple of WIDE vectors; the triad's factor is the number of the turn.
    """
    lanes = host().vector_bits // 32
    v = f"<{lanes} x float>"
    pointers = "".join(f"ptr noalias %q{a}, " for a in range(arrays))
    lines = [
        f"declare {v} @llvm.fma.v{lanes}f32({v}, {v}, {v})",
        f"define i32 @moves({pointers}ptr noalias %result, i32 %n, i32 %turns) {{",
        "entry:\n  %end = sext i32 %n to i64\n  br label %turn",
        "turn:\n  %t = phi i32 [ 0, %entry ], [ %t1, %again ]\n  %f = sitofp i32 %t to float",
        f"  %s0 = insertelement {v} poison, float %f, i64 0",
        f"  %s = shufflevector {v} %s0, {v} poison, <{lanes} x i32> zeroinitializer",
        "  br label %body\nbody:\n  %i = phi i64 [ 0, %turn ], [ %i1, %body ]",
        *(f"  %a{u} = phi {v} [ %s, %turn ], [ %b{u}, %body ]" for u in range(WIDE)),
    ]
    for u in range(WIDE):
        lines.append(f"  %o{u} = add i64 %i, {u * lanes}")
        lines += [f"  %p{a}.{u} = getelementptr float, ptr %q{a}, i64 %o{u}" for a in range(arrays)]
        lines.append(body.format(u=u, v=v, lanes=lanes))
    lines += [f"  %i1 = add i64 %i, {WIDE * lanes}", "  %more = icmp slt i64 %i1, %end"]
    lines += ["  br i1 %more, label %body, label %again", "again:"]
    lines += [f"  store volatile {v} %b{u}, ptr %result, align 4" for u in range(WIDE)]
    lines += ["  %t1 = add i32 %t, 1", "  %last = icmp slt i32 %t1, %turns"]
    return "\n".join([*lines, "  br i1 %last, label %turn, label %out", "out:", "  ret i32 0", "}"])
