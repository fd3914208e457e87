"""What times depend on besides the program: the target with its threads, the versions, the machine."""

from __future__ import annotations

import functools
import platform
from ctypes import byref, c_uint
from dataclasses import replace
from pathlib import Path

from tir_mlir import __version__
from tir_mlir.dialect.diagnostics import TuneError, short_repr
from tir_mlir.runtime.llvm import llvm_c
from tir_mlir.target import AnyTarget, Target, chosen, host, resolved

FORMAT = 2  # of records; a higher one is of a newer version


def target_key(target: AnyTarget | str | None = None, threads: int | None = None) -> str:
    """A target as records name it: architecture, vector registers, threads, and the instruction sets that matter.

        host()  ->  "x86_64 512x32 threads=2 avx avx2 avx512bw ... fma"    CUDA("sm_90a")  ->  "sm_90a"

    threads: default the cores of the target. Caches are left out: they differ between machines that run the same code.
    """
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
        raise TuneError(f"threads is a number >= 1, not {short_repr(threads)}")
    return resolved(target).record_key(threads)


def target_of(target: Target | str | None = None, threads: int | None = None) -> Target:
    """The target with this number of cores, as schedules take it."""
    resolved = chosen(target)
    return resolved if threads is None else replace(resolved, cores=threads)


def versions() -> dict[str, str]:
    """The versions that a scheduled program depends on: this package's, LLVM's."""
    return dict(_versions())


@functools.cache
def _versions() -> tuple[tuple[str, str], ...]:
    numbers = [c_uint() for _ in range(3)]
    llvm_c.llvm().LLVMGetVersion(*map(byref, numbers))
    return ("tir_mlir", __version__), ("llvm", ".".join(str(n.value) for n in numbers))


def same_code(lhs: dict[str, str], rhs: dict[str, str]) -> bool:
    """Whether scheduled programs of one version mean the same in another: equal up to the patch levels."""
    return all(_minor(lhs.get(name, "")) == _minor(rhs.get(name, "")) for name in ("tir_mlir", "llvm"))


def _minor(version: str) -> tuple[str, ...]:
    return tuple(version.split(".")[:2])


@functools.cache
def machine() -> str:
    """This machine in words: `"AMD EPYC 9R14, 2 cores"`."""
    return f"{_cpu_name()}, {host().cores} core{'s' * (host().cores != 1)}"


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
