"""Kernels for the same problem side by side: what they execute, and the time that a GPU is predicted to take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tir_mlir.ptx.prediction.advice import duration_text
from tir_mlir.ptx.prediction.cards import Card
from tir_mlir.ptx.prediction.estimate import Prediction, predict
from tir_mlir.ptx.prediction.registers import live_registers
from tir_mlir.ptx.prediction.tracing import TracedLaunch, trace_launch
from tir_mlir.ptx.prediction.walk import is_wait


@dataclass(frozen=True)
class ComparedKernel:
    """A kernel and its launch. registers: of a thread by ptxas; None: estimated."""

    name: str
    launch: TracedLaunch
    card: Card
    registers: int | None = None

    @cached_property
    def counts(self) -> dict[str, float]:
        """What the whole grid executes, from some blocks: by name of a row."""
        trace = trace_launch(self.launch)
        report, scale = trace.report, self.launch.blocks / trace.blocks
        executed = zip(self.launch.kernel.instructions, trace.counts.tolist(), strict=True)
        kinds = dict.fromkeys(("products on tensor cores", "waits for copies and products", "barriers of blocks"), 0.0)
        for ins, count in executed:
            if ins.parts[0] == "mma" or ins.parts[:2] in (("wmma", "mma"), ("wgmma", "mma_async")):
                kinds["products on tensor cores"] += count
            elif ins.parts[0] in ("bar", "barrier") and is_wait(ins):
                kinds["barriers of blocks"] += count / -(-self.launch.threads // 32)
            elif is_wait(ins):
                kinds["waits for copies and products"] += count
        return {name: value * scale for name, value in {
            "instructions of warps": sum(report.instructions.values()), **kinds,
            "shared requests": report.shared_requests, "passes by bank conflicts": report.bank_conflicts,
            "global requests": report.global_requests, "sectors": report.sectors,
            "sectors that are not needed": report.sectors - report.sectors_least,
        }.items()}  # fmt: skip

    @cached_property
    def prediction(self) -> Prediction:
        told = self.registers
        return predict(
            self.launch, self.card, live_registers(self.launch.kernel) if told is None else told, told is None
        )


def compare(kernels: Sequence[ComparedKernel]) -> str:
    """A table: a column for each kernel, a row for each count of the whole grid, which is scaled from three blocks.

    Raises PtxError for an instruction that is not known.
    """
    facts: list[tuple[str, Callable[[ComparedKernel], object]]] = [
        ("threads of a block", lambda k: k.launch.threads),
        ("blocks", lambda k: k.launch.blocks),
        ("registers of a thread", lambda k: k.prediction.registers),
        ("shared memory of a block", lambda k: k.launch.kernel.shared_bytes + k.launch.shared_bytes),
        ("predicted time", lambda k: duration_text(k.prediction.seconds)),
        ("limit", lambda k: k.prediction.limit),
    ]
    rows = [["", *(k.name for k in kernels)]]
    rows += [[name, *(f"{k.counts[name]:,.0f}" for k in kernels)] for name in kernels[0].counts]
    rows += [[name, *(str(value(k)) for k in kernels)] for name, value in facts]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
             for row in rows]  # fmt: skip
    return "\n".join(line.rstrip() for line in [f"on {kernels[0].card.name}", "", *lines])
