"""Kernels for the same problem side by side: what they execute, and the time that a GPU is predicted to take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tir_mlir.ptx.prediction.advice import duration_text
from tir_mlir.ptx.prediction.cards import Card
from tir_mlir.ptx.prediction.estimate import GpuPrediction
from tir_mlir.ptx.prediction.program import predict_launches
from tir_mlir.ptx.prediction.tracing import TracedLaunch, trace_launch
from tir_mlir.ptx.prediction.walk import is_wait


@dataclass(frozen=True)
class ComparedKernels:
    """What solves a problem: launches, one after the other. usage: registers of a thread and bytes spilled by ptxas,
    by kernel; of others they are estimated."""

    name: str
    launches: Sequence[TracedLaunch]
    card: Card
    usage: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @cached_property
    def counts(self) -> dict[str, float]:
        """What the whole grids execute, from some blocks of each: by name of a row."""
        every = [_counts(launch) for launch in self.launches]
        return {name: sum(counts[name] for counts in every) for name in every[0]}

    @cached_property
    def predictions(self) -> list[GpuPrediction]:
        return predict_launches(self.name, self.launches, self.usage, self.card).launches

    @property
    def seconds(self) -> float:
        return sum(prediction.seconds for prediction in self.predictions)


def _counts(launch: TracedLaunch) -> dict[str, float]:
    trace = trace_launch(launch)
    report, scale = trace.report, launch.blocks / trace.blocks
    products = waits = barriers = 0.0
    for ins, count in zip(launch.kernel.instructions, trace.counts.tolist(), strict=True):
        if ins.parts[0] == "mma" or ins.parts[:2] in (("wmma", "mma"), ("wgmma", "mma_async")):
            products += count
        elif is_wait(ins) and ins.parts[0] in ("bar", "barrier"):
            barriers += count / -(-launch.threads // 32)
        elif is_wait(ins):
            waits += count
    counts = {
        "instructions of warps": sum(report.instructions.values()),
        "products on tensor cores": products,
        "waits for copies and products": waits,
        "barriers of blocks": barriers,
        "shared requests": report.shared_requests,
        "passes by bank conflicts": report.bank_conflicts,
        "global requests": report.global_requests,
        "sectors": report.sectors,
        "sectors that are not needed": report.sectors - report.sectors_least,
    }
    return {name: count * scale for name, count in counts.items()}


def compare(kernels: Sequence[ComparedKernels]) -> str:
    """A table: a column for each of `kernels`, a row for each count of the whole grids, scaled from three blocks.

    Raises PtxError for an instruction that is not known.
    """
    facts: list[tuple[str, Callable[[ComparedKernels], object]]] = [
        ("kernels", lambda k: len(k.launches)),
        ("threads of a block", lambda k: _listing(launch.threads for launch in k.launches)),
        ("blocks", lambda k: _listing(launch.blocks for launch in k.launches)),
        ("registers of a thread", lambda k: _listing(p.registers for p in k.predictions)),
        ("shared memory of a block", lambda k: _listing(n.kernel.shared_bytes + n.shared_bytes for n in k.launches)),
        ("predicted time", lambda k: duration_text(k.seconds)),
        ("limit", lambda k: _listing(p.limit for p in k.predictions)),
    ]
    rows = [["", *(k.name for k in kernels)]]
    rows += [[name, *(f"{k.counts[name]:,.0f}" for k in kernels)] for name in kernels[0].counts]
    rows += [[name, *(str(value(k)) for k in kernels)] for name, value in facts]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in [f"on {kernels[0].card.name}", *lines])


def _listing(values: Iterable[object]) -> str:
    return ", ".join(map(str, values))
