"""A prediction in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tir_mlir.ptx.prediction.estimate import GpuPrediction

_WORK = {
    "issue": "the schedulers issue instructions",
    "fma": "the units for multiply-adds are busy",
    "alu": "the units for integers and comparisons are busy",
    "fp64": "the units for float64 are busy",
    "sfu": "the units for special functions and conversions are busy",
    "memory": "loads and stores pass through shared memory and the L1 cache",
    "tensor": "the tensor cores are busy",
    "L2": "the L2 cache moves data",
    "DRAM": "DRAM moves data",
    "latency": "blocks wait, and no other block fills the time",
    "launch": "starting the kernel takes longer than its work",
}
_HELP = {
    "issue": "vectorize accesses, unroll, give a thread more results of one load",
    "fma": "tensorize, if tensor cores may compute it",
    "alu": "unroll loops and split them so that sizes are powers of two: indices cost less",
    "fp64": "compute in float32",
    "sfu": "compute functions once for each value that is used",
    "launch": "fuse the kernel with those before and after it",
    "DRAM": "fuse the kernel with those before and after it, or store smaller types",
}


def advice_of(prediction: GpuPrediction) -> str:
    """What would help against the limit."""
    p, limit = prediction, prediction.limit
    if limit == "memory":
        if p.conflicts > 0.05:
            return f"{100 * p.conflicts:.0f} % of the passes are bank conflicts: sch.swizzle, or sch.storage_align"
        return "give a thread a larger tile in registers, so that it reads less; vectorize"
    if limit == "tensor":
        slow = p.tensor != "wgmma" and p.card.wgmma
        return "wgmma has 1.6 times the rate of mma.sync here" if slow else "nothing: this is the rate of the card"
    if limit == "L2" or (limit == "DRAM" and p.wasted > 0.2):
        if p.wasted > 0.05:
            return (
                f"{100 * p.wasted:.0f} % of the sectors are not needed: neighbouring threads at neighbouring elements"
            )
        return "larger tiles of a block, so that each element is fetched by fewer blocks"
    if limit == "latency":
        return _advice_on_latency(p)
    return _HELP[limit]


def _advice_on_latency(p: GpuPrediction) -> str:
    words = []
    if p.waiting > 0.2 * p.alone and p.busy["L2"] > 0.01:
        words.append("more stages of its pipeline" if p.copies else "sch.pipeline: copies run while threads compute")
    if p.waves <= 1:
        words.append("the card could hold more blocks: smaller tiles, or split the sum over blocks")
    else:
        words.append(
            f"more blocks at a time, which need more {p.held_by}" if p.held_by != "blocks" else "larger blocks"
        )
    return "; ".join(words)


def duration_text(seconds: float) -> str:
    """2.9e-3 -> 2.9 ms."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.3g} {unit}"
    return ""


def describe(p: GpuPrediction) -> str:
    """A prediction as text."""
    registers = (
        f"about {p.registers} registers (no ptxas: from the text)" if p.estimated else f"{p.registers} registers"
    )
    rows = sorted(p.busy.items(), key=lambda row: -row[1])
    pipes = ", ".join(f"{name} {100 * part:.0f} %" for name, part in rows if part >= 0.005)
    lines = [
        f"predicted on {p.card.name}: {duration_text(p.seconds)}",
        f"limit: {p.limit}: {_WORK[p.limit]}",
        f"would help: {p.advice}",
        f"busy: {pipes or 'nothing for 1 % of the time'}",
        f"{p.resident} blocks a multiprocessor ({p.held_by} for no more), {registers}, {max(p.waves, 0.01):.2f} waves",
    ]
    if p.waves > 1 and p.waves / -(-p.waves // 1) < 0.85:
        lines.append(f"the last wave fills {100 * (p.waves % 1):.0f} % of the card")
    return "\n".join([*lines, *(f"note: {note}" for note in p.notes)])
