"""Runs of a built program on the machine, and facts of its kernels: `lib.report()`, `interpret(..., target="cuda")`."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, ToolError
from tir_mlir.extensions import implement
from tir_mlir.ptx.machine_driver import MachineDriver
from tir_mlir.ptx.parser import Module, parse
from tir_mlir.ptx.report import Report
from tir_mlir.runtime import library
from tir_mlir.runtime.call.signature import BufferParam, CallSignature
from tir_mlir.runtime.drivers.device_driver import KernelCode
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.runtime.tools import files, toolchain
from tir_mlir.target import CUDA

_REGISTERS = re.compile(r"Compiling entry function '([\w$]+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", re.S)


@dataclass(frozen=True)
class KernelFacts:
    """What a kernel needs: bytes of shared memory that it declares, barriers in its text; registers of a thread and
    bytes that it spills, by NVIDIA's assembler, None where that is not installed or does not know the chip."""

    shared_bytes: int
    barriers: int
    registers: int | None = None
    spilled: int | None = None

    def __str__(self) -> str:
        words = [f"{self.shared_bytes:,} bytes of shared memory", f"{self.barriers} barriers"]
        if self.registers is not None:
            words += [f"{self.registers} registers a thread", f"{self.spilled or 0} bytes spilled"]
        return ", ".join(words)


@dataclass
class ProgramReport:
    """A run of a function on the machine: the report of each launch, in order; the code of its kernels; seconds;
    whether only the first block of each launch ran."""

    name: str
    launches: list[Report]
    code: KernelCode
    seconds: float = 0.0
    one_block: bool = False

    @cached_property
    def kernels(self) -> dict[str, KernelFacts]:
        """The facts of the launched kernels, by name."""
        return facts(self.code.text, self.code.chip, {r.kernel for r in self.launches})

    @property
    def bank_conflicts(self) -> int:
        return sum(r.bank_conflicts for r in self.launches)

    @property
    def sectors(self) -> int:
        """Sectors of 32 bytes of global memory that were moved."""
        return sum(r.sectors for r in self.launches)

    @property
    def sectors_least(self) -> int:
        """Sectors if each were used in full."""
        return sum(r.sectors_least for r in self.launches)

    @property
    def divergent(self) -> int:
        """Branches at which threads of a warp part."""
        return sum(r.divergent for r in self.launches)

    @property
    def barriers(self) -> int:
        return sum(r.barriers for r in self.launches)

    @property
    def instructions(self) -> dict[str, int]:
        """By kind, one for each warp that executes it."""
        totals: dict[str, int] = {}
        for report in self.launches:
            for kind, count in report.instructions.items():
                totals[kind] = totals.get(kind, 0) + count
        return totals

    def __str__(self) -> str:
        if not self.launches:
            return f"{self.name}: no kernel was started"
        head = "the first block of each launch\n\n" if self.one_block else ""
        return head + "\n\n".join(f"{report}\n\nneeds {self._needs(report)}" for report in self.launches)

    def _needs(self, report: Report) -> str:
        kernel = replace(self.kernels[report.kernel], shared_bytes=report.shared_bytes)
        if kernel.registers is None:
            return str(kernel)
        threads = math.prod(report.block)
        blocks, limit = CUDA(self.code.chip).occupancy(threads, kernel.shared_bytes, kernel.registers)
        return f"{kernel}\na multiprocessor holds {blocks} blocks, {blocks * threads:,} threads: it has no more {limit}"

    __repr__ = __str__


def run(function: DeviceFunction, args: Sequence[Any], one_block: bool = False) -> ProgramReport:
    """Run a function of a library on NumPy arrays, which get the results; one_block: only the first of each launch.

    Raises ArgumentError, and PtxError for what the machine finds; the arrays are then unchanged.
    """
    start = time.perf_counter()
    driver = MachineDriver(chip=function.code.code.chip, one_block=one_block)
    function.run(driver, args)
    return ProgramReport(function.name, driver.reports, function.code.code, time.perf_counter() - start, one_block)


def facts(text: str, chip: str, kernels: set[str]) -> dict[str, KernelFacts]:
    """The facts of kernels of a PTX text."""
    module = parse(text)
    assembled = _register_usage(text, chip)
    return {name: _facts_of(module, name, assembled) for name in sorted(kernels)}


def _facts_of(module: Module, name: str, assembled: Mapping[str, tuple[int, int]]) -> KernelFacts:
    kernel = module.kernels[name]
    barriers = sum(i.parts[0] in ("bar", "barrier") and "warp" not in i.parts for i in kernel.instructions)
    registers, spilled = assembled.get(name, (None, None))
    return KernelFacts(kernel.shared_bytes, barriers, registers, spilled)


def _register_usage(text: str, chip: str) -> dict[str, tuple[int, int]]:
    """Registers and spilled bytes by kernel; nothing without the assembler, or for a chip that it does not know."""
    try:
        toolchain.find("ptxas")
        with files.folder() as folder:
            source = Path(folder, "kernels.ptx")
            source.write_text(text)
            options = [f"-arch={chip}", "-v", str(source), "-o", str(Path(folder, "kernels.cubin"))]
            done = toolchain.attempt("ptxas", options)
    except ToolError:
        return {}
    return {name: (int(used), int(spilled)) for name, spilled, used in _REGISTERS.findall(done.stdout + done.stderr)}


def sample_arguments(signature: CallSignature, seed: int = 0) -> list[Any]:
    """Arguments for a run that is only counted: small integers in floats, zeros in integers, which may be indices.

    Raises ArgumentError for a size that only a call knows.
    """
    random = np.random.default_rng(seed)
    args: list[Any] = []
    for param in signature.params:
        if not isinstance(param, BufferParam):
            if param.is_index:
                raise _unknown_size(signature, f"{param.name} is a size")
            args.append(1.0 if param.dtype.startswith("float") else False if param.dtype == "bool" else 1)
            continue
        if any(dim.symbols or dim.text == "?" for dim in param.dims):
            raise _unknown_size(signature, f"{param} has a size")
        args.append(_sample(param, tuple(dim.value({}) for dim in param.dims), random))
    return args


def _unknown_size(signature: CallSignature, what: str) -> ArgumentError:
    return ArgumentError(f"{signature.name}: {what} that only a call knows; fix: pass arrays, lib.report(A, B, ...)")


def _sample(param: BufferParam, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    dtype = "uint16" if param.dtype == "bfloat16" else param.dtype
    strides = param.strides
    values = random.integers(-3, 4, shape).astype(dtype) if dtype.startswith("float") else np.zeros(shape, dtype)
    if strides is None or None in strides:
        return values
    steps = [s or 0 for s in strides]
    memory = np.zeros(1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True)), dtype)
    return np.lib.stride_tricks.as_strided(memory, shape, [s * memory.itemsize for s in steps])


@implement(library.report_kernels)
def report(function: DeviceFunction, args: Sequence[Any]) -> ProgramReport:
    """The report of a function on arrays; without arrays, of the first block of each launch on small numbers."""
    return run(function, args) if args else run(function, sample_arguments(function.signature), one_block=True)
