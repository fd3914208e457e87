"""The demo: source -> schedule -> IR -> machine code -> result, on the program of `matmul.py`.

python -m tir_mlir.examples.demo [--size 1024] [--quiet]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tir_mlir import Schedule, build, create_llvm
from tir_mlir.errors import ToolError
from tir_mlir.examples.matmul import C_KERNEL, ScheduleStep, import_kernel, matmul, steps
from tir_mlir.runtime.kernels import built_in_kernel
from tir_mlir.script import IRModule

SECONDS = 0.5  # of run time per stage
NOTES = """
One thread each, except NumPy, which uses all. The kernel in C is a scalar model of the instruction, not meant to be
fast: C fixes the order of its additions. The other stages are reductions, whose order is free, so the compiler
vectorizes them; the kernel in MLIR is written with vectors."""


@dataclass(frozen=True)
class DemoTiming:
    """A row of the table. `error`: the largest difference from NumPy's result, relative to its largest value."""

    stage: str
    prepare: float | None
    run: float
    error: float | None


def main(argv: Sequence[str] | None = None) -> int:
    """Show the schedule, run it, compare with NumPy, time it. Returns 1 if a result is wrong."""
    args = _arguments(argv)
    n = args.size
    say(f"C = A @ B.T, {n} x {n} x {n}, float32, for an instruction that multiplies 16 x 16 tiles", "=")

    start = time.perf_counter()
    sch = Schedule(matmul(n, n, n))
    parsed = time.perf_counter() - start
    written = sch.mod
    done = list(steps(sch))
    took = time.perf_counter() - start - parsed
    show("the program as written", written, args.quiet)
    for number, step in enumerate(done, 1):
        show(f"{number:2}. {step.call}: {step.why}", step.mod, args.quiet)
    print(f"\nparsed in {1e3 * parsed:.0f} ms; {len(done)} steps, proven legal and verified, in {1e3 * took:.0f} ms")

    with built_in_kernel("tmm16"):
        timings = measure(n, written, done, sch)
    report(n, timings)
    wrong = [t.stage for t in timings if t.error is not None and not t.error < 1e-4]
    if wrong:
        print(f"\nWRONG RESULT: {', '.join(wrong)}", file=sys.stderr)
        return 1
    print("\nAll results agree with NumPy's.")
    return 0


def measure(n: int, written: IRModule, done: Sequence[ScheduleStep], sch: Schedule) -> list[DemoTiming]:
    """Build and run the stages on the same arrays, with NumPy as reference."""
    rng = np.random.default_rng(0)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    expected = a @ b.T
    stages = [
        ("as written", written),
        ("scheduled, not tensorized", done[-2].mod),
        *with_kernel_in_c(sch),
        ("tensorized, kernel in MLIR", sch.mod),
    ]
    timings = []
    for stage, mod in stages:
        c = np.full((n, n), np.nan, np.float32)
        start = time.perf_counter()
        main = build(mod, cache=False)["main"]
        prepared = time.perf_counter() - start
        run = best_time(lambda main=main, c=c: main(a, b, c))
        error = float(np.max(np.abs(c - expected)) / np.max(np.abs(expected)))
        timings.append(DemoTiming(stage, prepared, run, error))
    timings.append(DemoTiming("NumPy", None, best_time(lambda: a @ b.T), None))
    return timings


def with_kernel_in_c(sch: Schedule) -> list[tuple[str, IRModule]]:
    """The stage whose kernel a C compiler makes; without one, a line that says so."""
    stage, copied = "tensorized, kernel in C", sch.copy()
    try:
        import_kernel(copied, create_llvm(C_KERNEL))
    except ToolError as error:
        print(f"skipped: {stage}: {str(error).splitlines()[0]}")
        return []
    return [(stage, copied.mod)]


def best_time(call: Callable[[], object]) -> float:
    """Seconds per call: the minimum over the calls that fit in `SECONDS`, at least one."""
    best, spent = float("inf"), 0.0
    while spent <= SECONDS:
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start
        best, spent = min(best, took), spent + took
    return best


def report(n: int, timings: Sequence[DemoTiming]) -> None:
    """The table."""
    print(f"\n{'stage':28}{'lower + compile':>17}{'run':>13}{'GFLOP/s':>10}{'rel. error':>13}")
    for t in timings:
        prepare = "" if t.prepare is None else f"{1e3 * t.prepare:.0f} ms"
        error = "" if t.error is None else f"{t.error:.1e}"
        print(f"{t.stage:28}{prepare:>17}{1e3 * t.run:>10.2f} ms{2 * n**3 / t.run / 1e9:>10.1f}{error:>13}")
    print(NOTES)


def show(title: str, mod: IRModule, quiet: bool) -> None:
    """Print a heading and the program."""
    if quiet:
        print(title)
        return
    say(title)
    mod.show()


def say(title: str, rule: str = "-") -> None:
    print(f"\n{title}\n{rule * min(len(title), 100)}")


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="demo", description="Map a matrix product to a 16 x 16 x 16 instruction.")
    parser.add_argument(
        "--size", type=int, default=1024, help="extent of the matrices, a multiple of 16 (default 1024)"
    )
    parser.add_argument("--quiet", action="store_true", help="do not print the program after each step")
    args = parser.parse_args(argv)
    if args.size < 16 or args.size % 16:
        parser.error(f"--size {args.size}: must be a positive multiple of 16, the extent of the instruction")
    return args


if __name__ == "__main__":
    sys.exit(main())
