"""How fast the chapter's program runs, beside its kernels alone, NumPy and the peak of the machine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from machine import fma_peak
from measure import Stats, interleaved
from report import Row
from tir_mlir import Schedule, build, create_llvm
from tir_mlir.examples.matmul import C_KERNEL, scheduled
from tir_mlir.script import tir as T


def rows(n: int, rounds: int) -> list[Row]:
    """Everything in one set of rounds; ratios are of medians."""
    kernel_c = create_llvm(C_KERNEL)
    peak, peak_flops = fma_peak()
    contestants: dict[str, tuple[Callable[[], object], float]] = {
        "fused multiply-adds in registers": (peak, peak_flops),
        **_products(n, kernel_c),
        "MLIR kernel alone, on resident tiles": (_alone(n, None), 2.0 * n**3),
        "C kernel alone, on resident tiles": (_alone(n, kernel_c), 2.0 * n**3),
    }
    took = interleaved({name: call for name, (call, _) in contestants.items()}, rounds)
    rates = {name: took[name].rate(flops / 1e9) for name, (_, flops) in contestants.items()}
    group = f"{n} x {n} x {n}, one thread"
    goals = {"tensorized, MLIR kernel": ">= 40"}
    found = [Row(group, name, "GFLOP/s", rate, goals.get(name)) for name, rate in rates.items()]
    for word, goal in (("MLIR", None), ("C", ">= 0.8")):
        ratio = rates[f"tensorized, {word} kernel"].median / rates[f"{word} kernel alone, on resident tiles"].median
        found.append(Row("ratios", f"tensorized / {word} kernel alone", "", Stats.of([ratio]), goal))
    best = rates["tensorized, MLIR kernel"].median
    for name in ("NumPy", "fused multiply-adds in registers"):
        found.append(Row("ratios", f"tensorized, MLIR kernel / {name}", "", Stats.of([best / rates[name].median])))
    return found


def _products(n: int, kernel_c: str) -> dict[str, tuple[Callable[[], object], float]]:
    """The scheduled program with either kernel and NumPy on the same arrays, checked against each other."""
    rng = np.random.default_rng(0)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    found: dict[str, tuple[Callable[[], object], float]] = {"NumPy": (lambda: a @ b.T, 2.0 * n**3)}
    for word, kernel in (("MLIR", None), ("C", kernel_c)):
        main, c = build(scheduled(n, n, n, kernel))["main"], np.full((n, n), np.nan, np.float32)
        main(a, b, c)
        np.testing.assert_allclose(c, a @ b.T, rtol=1e-4)
        found[f"tensorized, {word} kernel"] = (lambda main=main, c=c: main(a, b, c), 2.0 * n**3)
    return found


def _alone(n: int, kernel: str | None) -> Callable[[], object]:
    """The kernel as often as the program calls it, but always on the same tiles, which stay in the nearest cache."""
    calls = (n // 16) ** 3

    @T.prim_func
    def main(
        A: T.Buffer((16, 16), "float32"),  # type: ignore[valid-type]
        B: T.Buffer((16, 16), "float32"),  # type: ignore[valid-type]
        C: T.Buffer((16, 16), "float32"),  # type: ignore[valid-type]
    ):
        for _ in range(calls):
            with T.block("call"):
                T.reads(A[0:16, 0:16], B[0:16, 0:16], C[0:16, 0:16])
                T.writes(C[0:16, 0:16])
                T.evaluate(
                    T.call_extern(
                        "int32", "tmm16", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r"), 16, 16, 16
                    )
                )

    sch = Schedule(main)  # type: ignore[arg-type]  # the decorator made it a PrimFunc
    if kernel is not None:
        sch.annotate(sch.get_loops("call")[0], "pragma_import_llvm", kernel)
    function = build(sch)["main"]
    a, b, c = (np.full((16, 16), 2.0**-8, np.float32) for _ in range(3))
    return lambda: function(a, b, c)
