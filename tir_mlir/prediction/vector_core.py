"""Cycles of code on a core that issues in order and has the vectors of RISC-V, such as the X60 of SpacemiT.

LLVM here has no code generator for RISC-V, and so no llvm-mca. Two instructions a cycle are issued in order, once
their operands are ready; a vector instruction occupies its unit, arithmetic or memory, a cycle for each half of a
register (the data path has half of the register's width). Latencies: LLVM's RISCVSchedSpacemitX60.td.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from tir_mlir.prediction.cores import Core
from tir_mlir.prediction.cycles import FRONT_END, Cycles, cycles_of

_REGISTER = re.compile(r"\b(?:v\d+|f?[ast]\d+|zero|ra|sp|gp|tp|ft\d+)\b")
_SETTING = re.compile(r"^vset\w+\s+.*\be(?P<bits>\d+),\s*m(?P<fraction>f?)(?P<number>\d)")
_VECTOR_MEMORY = re.compile(r"^v(l|s)(e|s|ux|ox|m|\dr)\w*")
_SCALAR_LOAD = re.compile(r"^f?l[bhwd]u?\b")
_SCALAR_STORE = re.compile(r"^f?s[bhwd]\b")
_ITERATIONS = 12
_SCALAR, _LOADED, _VECTOR, _SLOW = 1, 3, 4, 15
_WITHOUT_RESULT = re.compile(r"^(b\w*|j|ret|vs(e|s|ux|ox|m|\dr|set)\w*)$")
_DIVIDES = re.compile(r"^v?f?(div|sqrt|rem)|^vfsqrt|^vfdiv")


def cycles(piece: Sequence[str], core: Core, setting: str) -> Cycles:
    """Cycles of an iteration of a piece, which is repeated. setting: the `vsetvli` before it."""
    ready: dict[str, float] = {}
    unit_free: dict[str, float] = defaultdict(float)
    busy: dict[str, float] = defaultdict(float)
    issued, in_cycle, group = 0.0, 0, _group(setting, 1.0)
    starts: list[float] = []
    for _ in range(_ITERATIONS):
        starts.append(issued)
        for code in piece:
            group = _group(code, group)
            unit, occupied, latency = _costs(code, group)
            sources, results = _registers(code)
            free = unit_free[unit] if unit != "scalar code" else 0.0
            start = max([issued, free, *(ready.get(register, 0.0) for register in sources)])
            in_cycle = in_cycle + 1 if start == issued else 1
            if in_cycle > core.dispatch:
                start, in_cycle = start + 1, 1
            issued = start
            unit_free[unit] = start + occupied
            busy[unit] += occupied
            for result in results:
                ready[result] = start + max(latency, occupied)
    half = _ITERATIONS // 2
    simulated = (starts[-1] - starts[half]) / (_ITERATIONS - 1 - half)
    each = {unit: total / _ITERATIONS for unit, total in busy.items() if unit != "scalar code"}
    return cycles_of(simulated, each, {FRONT_END: len(piece) / core.dispatch, **each})


def _group(code: str, group: float) -> float:
    """Registers in a vector, after an instruction."""
    if (setting := _SETTING.match(code)) is None:
        return group
    number = int(setting["number"])
    return 1 / number if setting["fraction"] else float(number)


def _costs(code: str, group: float) -> tuple[str, float, int]:
    """The unit of an instruction, the cycles that it occupies it, and its latency."""
    passes = max(1.0, 2 * group)
    if code.startswith("v") and not code.startswith("vset"):
        if _VECTOR_MEMORY.match(code):
            return ("stores" if code.startswith("vs") else "loads"), passes, _LOADED
        if _DIVIDES.match(code):
            return "arithmetic", _SLOW * passes, _SLOW
        return ("multiply-adds" if re.match(r"^vw?f?n?m", code) else "arithmetic"), passes, _VECTOR
    if _SCALAR_LOAD.match(code):
        return "loads", 0.5, _LOADED
    if _SCALAR_STORE.match(code):
        return "stores", 0.5, _SCALAR
    return "scalar code", 0.5, _VECTOR if code.startswith("f") else _SCALAR


def _registers(code: str) -> tuple[list[str], list[str]]:
    """The registers that an instruction reads, and those that it writes."""
    mnemonic, _, operands = code.partition("\t") if "\t" in code else code.partition(" ")
    found = _REGISTER.findall(operands)
    if _SCALAR_STORE.match(code) or _WITHOUT_RESULT.match(mnemonic):
        return found, []
    accumulates = re.match(r"^vw?f?n?m(acc|sac|add|sub)|^vw?macc|^vfw?macc", mnemonic)
    return (found if accumulates else found[1:]), found[:1]
