"""Registers of a thread where NVIDIA's assembler is not installed: from how many values of the text live at a time."""

from __future__ import annotations

from tir_mlir.ptx.parser import Kernel
from tir_mlir.ptx.prediction.slices import results_and_sources
from tir_mlir.ptx.types import size_of

OF_ADDRESSES = 12
"""Registers that ptxas takes besides, for addresses, counters and pairs that have to be aligned."""
MOST = 255


def live_registers(kernel: Kernel) -> int:
    """The most 32-bit registers that hold a value that is still read, and some more; at most 255."""
    size = {name: 0 if type_ == "pred" else -(-size_of(type_) // 4) for name, type_ in kernel.registers.items()}
    code = [results_and_sources(ins, kernel) for ins in kernel.instructions]
    targets = [_targets(kernel, n) for n in range(len(code))]
    live: list[frozenset[str]] = [frozenset()] * (len(code) + 1)
    changed = True
    while changed:
        changed = False
        for n in range(len(code) - 1, -1, -1):
            results, sources = code[n]
            is_sure = kernel.instructions[n].guard is None
            after = frozenset().union(*(live[t] for t in targets[n]))
            before = (after - frozenset(results) if is_sure else after) | frozenset(sources)
            if before != live[n]:
                live[n], changed = before, True
    most = max((sum(size.get(r, 0) for r in alive) for alive in live), default=0)
    return min(MOST, most + OF_ADDRESSES)


def _targets(kernel: Kernel, position: int) -> list[int]:
    """Where a thread may go on after an instruction."""
    ins = kernel.instructions[position]
    if ins.parts[0] == "bra":
        here = [kernel.labels[ins.operands[0]]]
        return here if ins.guard is None else [*here, position + 1]
    if ins.parts[0] == "brx":
        return [kernel.labels[t] for t in kernel.tables.get(ins.operands[1], ())]
    if ins.parts[0] in ("ret", "exit") and ins.guard is None:
        return [len(kernel.instructions)]
    return [position + 1]
