"""Which instructions of a kernel decide where it goes and what it accesses; the rest only computes values."""

from __future__ import annotations

import re
from functools import cache

from tir_mlir.ptx.parser import Kernel, PtxInstruction

_REGISTER = re.compile(r"[%\w$@]+")
_NO_RESULT = frozenset("st red bar barrier bra brx ret exit cp stmatrix fence membar prefetch trap wgmma".split())
_JUMPS = frozenset("bra brx ret exit".split())
ACCESSES = frozenset("ld ldu st atom red cp ldmatrix stmatrix wmma".split())
"""Instructions that access memory at addresses of registers."""


@cache
def _names(operand: str) -> tuple[str, ...]:
    return tuple(_REGISTER.findall(operand))


def results_and_sources(ins: PtxInstruction, kernel: Kernel) -> tuple[list[str], list[str]]:
    """The registers that an instruction writes, and those that it reads, its guard included."""
    name, registers = ins.parts[0], kernel.registers
    has_result = (
        name not in _NO_RESULT
        or ins.parts[:2] == ("wgmma", "mma_async")
        or (name in ("bar", "barrier") and "red" in ins.parts)
    )
    if name == "wmma":
        has_result = "store" not in ins.parts
    if name == "mbarrier" and ins.operands and ins.operands[0].startswith("["):
        has_result = False
    cut = 1 if has_result else 0
    results, sources = (
        [n for operand in part for n in _names(operand) if n in registers]
        for part in (ins.operands[:cut], ins.operands[cut:])
    )
    if ins.parts[:2] == ("wgmma", "mma_async"):
        sources += results
    return results, sources if ins.guard is None else [*sources, ins.guard]


def address_operands(ins: PtxInstruction) -> tuple[str, ...]:
    """The operands of an access that say where and how much, not what."""
    name, operands = ins.parts[0], ins.operands
    if name in ("ld", "ldu", "atom", "ldmatrix"):
        return operands[1:2]
    if name == "wmma":
        return operands[1:] if "load" in ins.parts else (operands[0], *operands[2:]) if "store" in ins.parts else ()
    return operands if name == "cp" else operands[:1]


def needed_positions(kernel: Kernel) -> frozenset[int]:
    """The positions of the instructions whose results reach a branch, a guard of an access or of a branch, an address,
    or another such result."""
    needed: set[int] = set()
    writers: dict[str, list[int]] = {}
    every = [results_and_sources(ins, kernel) for ins in kernel.instructions]
    queue: list[str] = []
    for position, (ins, (results, sources)) in enumerate(zip(kernel.instructions, every, strict=True)):
        for name in results:
            writers.setdefault(name, []).append(position)
        if ins.parts[0] in _JUMPS:
            queue += sources
        elif ins.parts[0] in ACCESSES:
            queue += [n for o in address_operands(ins) for n in _names(o)] + ([ins.guard] if ins.guard else [])
    seen: set[str] = set()
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        for position in writers.get(name, ()):
            if position not in needed:
                needed.add(position)
                ins = kernel.instructions[position]
                queue += every[position][1] if ins.parts[0] not in ACCESSES else [ins.guard] if ins.guard else []
    return frozenset(needed)
