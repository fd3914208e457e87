"""Faults planted in the PTX text of kernels: does the machine find each, by a message or by the numbers?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzzing.kernels.machine import function_of
from tir_mlir import ptx
from tir_mlir.ptx.program import run
from tir_mlir.runtime.drivers.device_driver import KernelCode
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.runtime.gpu.loaded_code import LoadedCode


@dataclass(frozen=True)
class Planted:
    """A text with a fault of a `kind` in a line: `before` -> `after` (empty: dropped)."""

    kind: str
    line: int
    before: str
    after: str
    text: str


def _drop(pattern: str) -> Callable[[str], Iterator[str]]:
    """Drops an instruction."""
    return lambda line: iter([""] if re.match(pattern, line) else [])


def _offset(line: str) -> Iterator[str]:
    """The address of a load or store, off by 4 bytes each way."""
    match = re.match(r"((?:@!?%\w+ )?(?:ld|st)\.(?:shared|global)\S* .*?\[%\w+)(?:\+(-?\d+))?(\].*)", line)
    for step in (4, -4) if match else ():
        yield f"{match.group(1)}+{int(match.group(2) or 0) + step}{match.group(3)}"  # type: ignore[union-attr]


def _register(line: str) -> Iterator[str]:
    """The last register of an instruction, the next one of its kind instead of it."""
    match = re.match(r"(?!ld\.param|bra|\.)(.*, )(%(?:r|rd|f|p))(\d+)(\W*;)$", line)
    if match and int(match.group(3)) > 1:
        yield f"{match.group(1)}{match.group(2)}{int(match.group(3)) - 1}{match.group(4)}"


def _count(line: str) -> Iterator[str]:
    """The immediate of an integer instruction, one more."""
    match = re.match(r"((?:setp|add|shl|shr|and|or|mul|mad)\.\S+ .*, )(\d+)(;)$", line)
    if match:
        yield f"{match.group(1)}{int(match.group(2)) + 1}{match.group(3)}"


def _guard(line: str) -> Iterator[str]:
    """A predicate, negated."""
    match = re.match(r"@(!?)(%\w+ .*)$", line)
    if match:
        yield f"@{'' if match.group(1) else '!'}{match.group(2)}"


_OTHERS = {
    "setp.lt": "setp.le", "setp.gt": "setp.ge", "setp.eq": "setp.ne", "add.rn.f32": "sub.rn.f32", "max.f32": "min.f32",
    "shl.b32": "shr.u32",
}  # fmt: skip


def _operation(line: str) -> Iterator[str]:
    """Another operation or comparison."""
    for old, new in _OTHERS.items():
        if old in line:
            yield line.replace(old, new, 1)


KINDS: dict[str, Callable[[str], Iterator[str]]] = {
    "barrier": _drop(r"bar(rier)?\."),
    "wait": _drop(r"(cp\.async\S*\.wait|wgmma\.wait)"),
    "store": _drop(r"(@!?%\w+ )?st\."),
    "offset": _offset,
    "register": _register,
    "count": _count,
    "guard": _guard,
    "operation": _operation,
}


def planted_faults(text: str) -> list[Planted]:
    """All single faults of all kinds that the text has a line for."""
    lines = text.split("\n")
    faults = []
    for n, line in enumerate(lines):
        plain = " ".join(line.split())
        for kind, change in KINDS.items():
            for after in change(plain):
                changed = "\n".join([*lines[:n], after, *lines[n + 1 :]])
                faults.append(Planted(kind, n + 1, plain, after, changed))
    return faults


class Judge:
    """A program for a GPU, its inputs, and its results without a fault."""

    def __init__(self, program: Any, arrays: Sequence[np.ndarray], chip: str = "sm_80"):
        self.function = function_of(program, chip)
        self.code, self.arrays = self.function.code.code, arrays
        self.text = self.code.text
        self.expected = self._run(self.text)

    def _run(self, text: str) -> list[np.ndarray]:
        copies = [a.copy() for a in self.arrays]
        code = LoadedCode(KernelCode(text, self.code.chip))
        run(DeviceFunction(self.function.signature, self.function.program, code), copies)
        return copies

    def verdict(self, fault: Planted) -> str:
        """The kind of the fault that the machine found, "numbers", or "" where the results are the same bit for bit."""
        try:
            results = self._run(fault.text)
        except ptx.PtxError as error:
            return error.kind
        same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(results, self.expected, strict=True))
        return "" if same else "numbers"
