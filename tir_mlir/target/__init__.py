"""Targets, CPUs and GPUs, as seen by schedules and code generation."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

from tir_mlir.target import mac
from tir_mlir.target.any_target import AnyTarget, Memory
from tir_mlir.target.cpu import Target
from tir_mlir.target.gpu import CUDA, GPU, OPENCL, ROCM, OpenCL, host_gpu
from tir_mlir.target.host import architecture, assumed_cpu_name, cores
from tir_mlir.target.host import features as features_of_host
from tir_mlir.target.host import host as registers_of_host
from tir_mlir.target.predefined import (
    ALDER_LAKE,
    APPLE_M1,
    AVX2,
    AVX512,
    AVX512_BF16,
    AVX512_VNNI,
    HASWELL,
    ICELAKE,
    NAMES,
    NEON,
    NEON_DOTPROD,
    NEON_I8MM,
    NEOVERSE_N1,
    NEOVERSE_N2,
    NEOVERSE_V1,
    NEOVERSE_V2,
    RVV,
    RVV_128,
    SAPPHIRE_RAPIDS,
    SAPPHIRE_RAPIDS_NO_AMX,
    SKYLAKE_AVX512,
    SME,
    SPACEMIT_X60,
    SSE2,
    SVE,
    WASM_SIMD,
    ZEN1,
    ZEN2,
    ZEN3,
    ZEN4,
    ZEN5,
    named,
)

__all__ = [
    "ALDER_LAKE",
    "APPLE_M1",
    "AVX2",
    "AVX512",
    "AVX512_BF16",
    "AVX512_VNNI",
    "CUDA",
    "GPU",
    "HASWELL",
    "ICELAKE",
    "NAMES",
    "NEON",
    "NEON_DOTPROD",
    "NEON_I8MM",
    "NEOVERSE_N1",
    "NEOVERSE_N2",
    "NEOVERSE_V1",
    "NEOVERSE_V2",
    "OPENCL",
    "ROCM",
    "RVV",
    "RVV_128",
    "SAPPHIRE_RAPIDS",
    "SAPPHIRE_RAPIDS_NO_AMX",
    "SKYLAKE_AVX512",
    "SME",
    "SPACEMIT_X60",
    "SSE2",
    "SVE",
    "WASM_SIMD",
    "ZEN1",
    "ZEN2",
    "ZEN3",
    "ZEN4",
    "ZEN5",
    "AnyTarget",
    "Memory",
    "OpenCL",
    "Target",
    "assumed_cpu",
    "chosen",
    "host",
    "host_gpu",
    "named",
    "native",
    "ptx_target",
    "resolved",
]  # fmt: skip

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def chosen(target: AnyTarget | str | None) -> Target:
    """A CPU as schedules take it: a Target, the name of a predefined one, None or "llvm" for this machine. Raises
    BuildError for a GPU."""
    return resolved(target).as_cpu()


def resolved(target: AnyTarget | str | None) -> AnyTarget:
    """A target itself, or by its name; None or "llvm" is this machine's CPU."""
    if target is None or (isinstance(target, str) and target == "llvm"):
        return host()
    return target if isinstance(target, AnyTarget) else named(target)


def ptx_target(target: object) -> CUDA | None:
    """The GPU of NVIDIA that a target is, or names: its kernels are PTX. None for others, and for an emulated one."""
    gpu = named(target) if isinstance(target, str) and target != "llvm" else target
    nvidia = gpu.nvidia if isinstance(gpu, AnyTarget) else None
    return None if nvidia is None or nvidia.emulated else nvidia


def assumed_cpu() -> Target | None:
    """The predefined CPU that TIR_HOST names, if this machine runs its code; else None."""
    cpu = None if (name := assumed_cpu_name()) is None else NAMES[name]
    return cpu if cpu is not None and cpu.runs_here else None


@functools.cache
def host() -> Target:
    """The target of this machine, from system information; typical sizes where that is missing.

    With TIR_HOST, the predefined CPU of that name: where this machine has its instruction sets, programs run as on that
    CPU; elsewhere it has a triple, and code for it is generated only.
    """
    if (cpu := assumed_cpu()) is not None:
        return dataclasses.replace(cpu, triple="", cpu="", cores=cores())
    if (name := assumed_cpu_name()) is not None:
        return NAMES[name]
    vectors = registers_of_host()
    sizes = {int(level): size for level, size in _cache_sizes()}
    plain = Target(vectors.vector_bits, vectors.registers)
    return Target(
        vectors.vector_bits,
        vectors.registers,
        sizes.get(1, plain.l1),
        sizes.get(2, plain.l2),
        sizes.get(3, plain.l3),
        cores(),
        architecture(),
        features_of_host(),
    )


def native() -> Target:
    """This machine's CPU as code generation takes it: also where TIR_HOST names one whose code it does not run."""
    return dataclasses.replace(host(), triple="", cpu="")


def _cache_sizes() -> list[tuple[str, int]]:
    """The level and size in bytes of each data cache."""
    if mac_sizes := mac.cache_sizes():
        return mac_sizes
    caches = []
    for folder in sorted(_CACHES.glob("index*")):
        try:
            kind, level, size = ((folder / n).read_text().strip() for n in ("type", "level", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size[:-1].isdigit():
            caches.append((level, int(size[:-1]) << {"K": 10, "M": 20}.get(size[-1], 0)))
    return caches
