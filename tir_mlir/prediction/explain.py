"""What limits the speed of a scheduled program on a CPU, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tir_mlir.dialect.ir import held_module
from tir_mlir.prediction.cycles import FRONT_END, LATENCY
from tir_mlir.prediction.executions import ASSUMED_TRIPS
from tir_mlir.prediction.nests import loop_nests, name_of
from tir_mlir.prediction.predict import BALANCE, REGIONS, LoopCost, Prediction, predict
from tir_mlir.prediction.thread_shares import ParallelRegion, share_of_a_thread
from tir_mlir.target import AnyTarget
from tir_mlir.target.work_cost import region_cycles

_HELP = {
    LATENCY: "an instruction waits for one before: sum in more accumulators, by a larger unrolled tile or `rfactor`",
    FRONT_END: "the core takes no more instructions a cycle: wider vectors, an operand used for more results",
    "loads": "each result loads too much: a larger tile of unrolled loops, so that registers are reused",
    "stores": "results are stored too often: sum in registers, by `cache_write` to local and `reverse_compute_at`",
    "multiply-adds": "its units are busy: only fewer operations help, or dot products of shorter types (`tensorize`)",
    "shuffles": "vectors are rearranged in the loop: pack the operand before, by `cache_read` and `transform_layout`",
    "conversions": "values are converted for each use: convert them once, in a copy by `cache_read` at a loop outside",
    "arithmetic": "its units are busy: move what does not change to a loop outside, or compute it in a copy",
    "scalar code": "scalar instructions: vectorize the innermost loop, with constant bounds and no condition in it",
    "tile products": "the unit of tiles is busy: only fewer operations help",
    "L2": "what is reused does not fit in L1: smaller tiles of the inner loops, by `split` and `reorder`",
    "L3": "what is reused does not fit in L2: a block of it at a time, by `split` and `reorder`",
    "DRAM": "data comes from memory: fuse the program with what makes its inputs (`compute_at`), or shorter types",
    BALANCE: "some threads have less to do than others: a parallel loop with more iterations, by `split` or `fuse`",
    REGIONS: "threads have little to do each time that they start: parallelize a loop outside, or use fewer threads",
}
_LEAST_SHARE = 0.02
_WIDTHS = ((512, r"%zmm"), (256, r"%ymm"), (128, r"%xmm"))


@dataclass(frozen=True)
class SpeedReport:
    """prediction: the numbers. names: of each of its loops, the loops of the program that it is. advice: what limits,
    and what would help. reasons: why a ready-made schedule chose its sizes. Printed, it is a table."""

    prediction: Prediction
    names: Sequence[str]
    advice: Sequence[str]
    reasons: Sequence[str] = ()

    def __str__(self) -> str:
        p = self.prediction
        known = "" if p.is_exact else f"; loops of unknown length are taken to run {ASSUMED_TRIPS} times"
        lines = [f"{_cycles(p.cycles)} a call on {_threads(p.threads)} of {p.core.name}{known}", ""]
        lines.append(f"{'share':>5}  {'loop':<28} {'iterations':>10} {'cycles':>7}  {'limit':<14} at least")
        for name, loop in zip(self.names, p.loops, strict=True):
            if loop.share >= _LEAST_SHARE:
                lines.append(_row(name, loop))
        data = [f"{_short(t.bytes)}B from {t.level} in {_cycles(t.cycles)}" for t in p.traffic]
        lines += ["", "data: " + ", ".join(data), *(_region(region, p) for region in p.regions)]
        lines += [f"limit: {p.limit}", *(f"  {text}" for text in self.advice)]
        return "\n".join([*lines, *(["sizes:"] if self.reasons else []), *(f"  {text}" for text in self.reasons)])

    __repr__ = __str__


def explain_speed(program: object, target: str | AnyTarget = "llvm", threads: int = 1) -> SpeedReport:
    """Say what limits a scheduled program, a Schedule, IRModule or PrimFunc, on threads of a CPU, which need not be
    here: its machine code is simulated (llvm-mca), and its traffic between caches is counted. See `predict`.

    Per loop: iterations in a call, cycles of one, what limits it, the least cycles by each limit; of the thread that
    has most of them. Per parallel loop: how many threads it keeps busy. Of a Schedule also why `tir_mlir.schedules`
    chose its tiles. Raises BuildError.
    """
    prediction = predict(program, target, threads)
    module = held_module(program)
    assert module is not None  # predict has one
    nests = loop_nests(share_of_a_thread(module, prediction.threads))
    names = [name_of(loop.code, nests) for loop in prediction.loops]
    reasons = [reason for step in getattr(program, "history", ()) for reason in step.reasons]
    return SpeedReport(prediction, names, _advice(prediction), reasons)


def _threads(number: int) -> str:
    return "one thread" if number == 1 else f"{number} threads"


def _region(region: ParallelRegion, prediction: Prediction) -> str:
    """`parallel: j_0 (10 iterations) keeps 10.0 of 16 threads busy, started once in 8 k cycles`"""
    threads, once = prediction.threads, region_cycles(prediction.threads)
    iterations = f"{region.iterations:,} iterations" if region.iterations else "symbolic"
    busy = f"keeps {region.balance(threads) * threads:.1f} of {threads} threads busy"
    often = "once" if region.entries == 1 else f"{region.entries:,} times"
    return f"parallel: {region.name} ({iterations}) {busy}, started {often}, {_cycles(region.entries * once)}"


def _row(name: str, loop: LoopCost) -> str:
    code, cycles = loop.code, loop.cycles
    least = sorted(cycles.bounds.items(), key=lambda bound: -bound[1])[:4]
    bounds = ", ".join(f"{what} {number:.1f}" for what, number in least if number >= 0.05)
    numbers = f"{code.executions:>10,.0f} {cycles.cycles:>7.1f}"
    return f"{loop.share:>5.0%}  {name:<28} {numbers}  {cycles.limit:<14} {bounds}"


def _advice(prediction: Prediction) -> list[str]:
    """What would help: for the limit of the whole, and for narrow vectors in the most expensive loop."""
    found = [_HELP.get(prediction.limit, "")]
    if prediction.is_uneven and prediction.limit != BALANCE:
        found.append(_HELP[BALANCE])
    if prediction.threads > 1 and not prediction.regions:
        found.append("no loop is parallel: one thread does all of it")
    if prediction.loops and (text := _narrow(prediction)):
        found.append(text)
    codes = [code for loop in prediction.loops[:1] for code in loop.code.instructions]
    if calls := sorted({code.split()[-1] for code in codes if re.match(r"call|bl\b", code)}):
        found.append(f"the loop calls {', '.join(calls)}, whose cycles are not counted")
    return [text for text in found if text]


def _narrow(prediction: Prediction) -> str:
    if prediction.cpu.arch != "x86_64":
        return ""
    code = "\n".join(prediction.loops[0].code.instructions)
    used = next((bits for bits, pattern in _WIDTHS if re.search(pattern, code)), 0)
    if used and used < prediction.cpu.vector_bits and "ss\t" not in code:
        return f"the loop uses {used} of {prediction.cpu.vector_bits} bits of vectors: vectorize more elements"
    return ""


def _short(number: float) -> str:
    """A number and the letter of its unit, for a word behind it: `67.6 M`."""
    units = (("G", 1e9), ("M", 1e6), ("k", 1e3))
    return next((f"{number / size:.3g} {unit}" for unit, size in units if number >= size), f"{number:.0f} ")


def _cycles(number: float) -> str:
    return f"{_short(number).strip()} cycles"
