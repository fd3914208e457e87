"""GPUs as TVM names them, on machines with and without one."""

from __future__ import annotations

import re

from tir_mlir.dialect.ir import warn_at_user
from tir_mlir.target import CUDA, GPU
from tir_mlir.target import named as _named

_ARCH = re.compile(r"(?:^|\s)--?arch[= ](\S+)")
_warned_keys: set[str] = set()
"""What was said: each thing once a process."""


def gpu_of(text: str) -> GPU | None:
    """The GPU of a target's text: "cuda", "cuda -arch=sm_86", "nvidia/tesla-p100", "opencl"; None for another kind.
    Raises BuildError for a GPU that is not known."""
    kind = (text.split() or [""])[0]
    if kind not in ("cuda", "opencl", "cuda-emulated") and not kind.startswith(("nvidia/", "sm_")):
        return None
    arch = _ARCH.search(text)
    gpu = _named(arch[1] if arch is not None and kind == "cuda" else kind).as_gpu()
    return gpu if gpu is not None and gpu.kind != "rocm" else None


def runnable_target(gpu: GPU) -> GPU:
    """The same target if this machine can run its code, else the kernels on the CPU, which is said once."""
    if gpu.hindrance is None:
        return gpu
    which = f" for {gpu.chip}" if gpu.nvidia else ""
    text = f"{gpu.hindrance}: kernels{which} run on the CPU, the threads of a block one after the other"
    note = "; the results are those of a GPU, the times say nothing about one" if gpu.nvidia else ""
    _warn_once(gpu.kind, f"{text}{note}")
    return gpu.emulation


def has_gpu() -> bool:
    """Whether this machine has an NVIDIA GPU."""
    return CUDA().runs_here


def _warn_once(key: str, text: str) -> None:
    if key in _warned_keys:
        return
    _warned_keys.add(key)
    warn_at_user(text, UserWarning)
