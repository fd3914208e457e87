"""Cycles of straight-line code on a core, by llvm-mca, corrected where its model of the core is wrong.

llvm-mca simulates dispatch, ports and dependences; all loads hit the first cache, no branch is mispredicted.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tir_mlir.prediction import vector_core
from tir_mlir.prediction.cores import Core
from tir_mlir.prediction.cycles import Cycles, cycles_of
from tir_mlir.prediction.executions import CodePiece
from tir_mlir.runtime.tools import toolchain
from tir_mlir.target import Target

_INSTRUCTIONS = 6000
"""Simulated instructions of the longest piece."""
_FEWEST, _MOST = 8, 100
"""Iterations."""


def simulate(pieces: Sequence[CodePiece], core: Core, cpu: Target) -> list[Cycles]:
    """Cycles of an iteration of each piece, which is repeated."""
    if not core.model:
        return [vector_core.cycles(piece.instructions, core, piece.setting) for piece in pieces]
    if not pieces:
        return []
    texts = [_text(piece, core) for piece in pieces]
    iterations = min(_MOST, max(_FEWEST, _INSTRUCTIONS // max(map(len, texts))))
    found = _run(texts, core, cpu, iterations)
    return [_cycles(found.get(f"piece{number}"), piece.instructions, core) for number, piece in enumerate(pieces)]


def _text(piece: CodePiece, core: Core) -> list[str]:
    """What llvm-mca reads of a piece."""
    return [_replace(code, core) for code in piece.instructions if not _is_removed(code, core)] or ["nop"]


def _is_removed(code: str, core: Core) -> bool:
    return bool(core.removed) and re.match(core.removed, code) is not None


def _replace(code: str, core: Core) -> str:
    for pattern, text in core.replaced.items():
        code = re.sub(pattern, text, code)
    return code


def _run(texts: Sequence[Sequence[str]], core: Core, cpu: Target, iterations: int) -> dict[str, Any]:
    comment = "//" if cpu.arch == "aarch64" else "#"
    lines = []
    for number, text in enumerate(texts):
        lines += [f"{comment} LLVM-MCA-BEGIN piece{number}", *text, f"{comment} LLVM-MCA-END piece{number}"]
    options = [f"-mtriple={cpu.arch}-linux-gnu", f"-mcpu={core.model}", f"-mattr={_features(cpu)}"]
    options += [f"-iterations={iterations}", f"-dispatch={core.dispatch}"]
    options += ["--json", "--skip-unsupported-instructions=any"]
    answer = json.loads(toolchain.run("llvm-mca", options, "\n".join(lines) + "\n"))
    ports = answer["TargetInfo"]["Resources"]
    return {region["Name"]: {**region, "ports": ports} for region in answer["CodeRegions"]}


def _features(cpu: Target) -> str:
    return ",".join(
        f"+{name}" for name in sorted(cpu.features) if re.match("avx|f16c|fma|dotprod|i8mm|bf16|sve|full", name)
    )


def _cycles(region: Mapping[str, Any] | None, piece: Sequence[str], core: Core) -> Cycles:
    occupied: dict[str, float] = defaultdict(float)
    for code in piece:
        for pattern, (unit, cycles) in core.occupies.items():
            if re.search(pattern, code):
                occupied[unit] += cycles
                break
    if region is None:  # llvm-mca knows none of its instructions
        most = max(occupied.values(), default=len(piece) / core.dispatch)
        return cycles_of(most, occupied, occupied)
    summary = region["SummaryView"]
    simulated = summary["TotalCycles"] / summary["Iterations"]
    ports, kinds = _ports(region)
    bounds = {"front end": summary["TotaluOps"] / summary["Iterations"] / summary["DispatchWidth"]}
    for port, busy in ports.items():
        bounds[kinds[port]] = max(bounds.get(kinds[port], 0.0), busy)
    for unit, busy in occupied.items():
        bounds[unit] = max(bounds.get(unit, 0.0), busy)
    return cycles_of(simulated, {**ports, **occupied}, bounds)


def _ports(region: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, str]]:
    """The cycles that ports are busy in an iteration, and the kind of instructions that each is busy with."""
    names, instructions = region["ports"], region["Instructions"]
    busy: dict[str, float] = defaultdict(float)
    by_kind: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in region["ResourcePressureView"]["ResourcePressureInfo"]:
        if row["InstructionIndex"] >= len(instructions):
            continue  # the sum
        usage = float(row["ResourceUsage"])
        info = region["InstructionInfoView"]["InstructionList"][row["InstructionIndex"]]
        port = names[row["ResourceIndex"]].replace("\x00", "0").replace("\x01", "1").replace("\x02", "2")
        busy[port] += usage
        by_kind[port][_kind(port, instructions[row["InstructionIndex"]], info)] += usage
    return dict(busy), {port: max(kinds, key=kinds.__getitem__) for port, kinds in by_kind.items()}


_LOAD_PORT = re.compile(r"load|LSU|AGU|UnitL|Port0?2$|Port0?3$|Port23|Port11|LS", re.IGNORECASE)
_MULTIPLY = re.compile(
    r"^v?p?(f?n?m(add|sub|la|ls|ul|acc)|dp|mull|ud?dot|smmla|ummla|usmmla|bfm|usdot|sdot)|^vfn?m|^vmul|^fml"
)
_MOVE = re.compile(
    r"^v?p?(perm|shuf|unpck|broadcast|insert|extract|align|blend|pack|slide|rgather)|^(zip|uzp|trn|tbl|ext|dup)\d?"
)
_CONVERT = re.compile(r"^v?p?(movzx|movsx|cvt)|^(ushll|sshll|[su]xtl|fcvt|[su]cvtf|sunpk|uunpk)")


def _kind(port: str, code: str, info: Mapping[str, Any]) -> str:
    """What an instruction does on a port, in a word."""
    if info["mayStore"]:
        return "stores"
    mnemonic = code.removeprefix("{vex}").split(None, 1)[0]
    if info["mayLoad"] and (_LOAD_PORT.search(port) or mnemonic.startswith(("vmov", "mov", "ld", "vbroadcast"))):
        return "loads"
    if _MULTIPLY.match(mnemonic):
        return "multiply-adds"
    if _MOVE.match(mnemonic):
        return "shuffles"
    if _CONVERT.match(mnemonic):
        return "conversions"
    if re.search(r"%[xyz]mm|\b[vz]\d+\.", code):
        return "arithmetic"
    return "loads" if info["mayLoad"] else "scalar code"
