"""GPUs as TVM names them, on machines with and without one."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import warn_at_user
from tir_mlir.target import CUDA, OpenCL, host_gpu
from tir_mlir.target import named as _named

_ARCH = re.compile(r"(?:^|\s)--?arch[= ](\S+)")
_warned_keys: set[str] = set()
"""What was said: each thing once a process."""


def gpu_of(text: str) -> CUDA | OpenCL | None:
    """The GPU of a target's text: "cuda", "cuda -arch=sm_86", "nvidia/tesla-p100", "opencl"; None for another kind.
    Raises BuildError for a GPU that is not known."""
    kind = (text.split() or [""])[0]
    if kind not in ("cuda", "opencl", "cuda-emulated") and not kind.startswith(("nvidia/", "sm_")):
        return None
    arch = _ARCH.search(text)
    gpu = _named(arch[1] if arch is not None and kind == "cuda" else kind)
    return gpu if isinstance(gpu, (CUDA, OpenCL)) else None


def runnable_target(gpu: CUDA | OpenCL) -> CUDA | OpenCL:
    """The same target if this machine can run its code, else the kernels on the CPU, which is said once."""
    if isinstance(gpu, OpenCL):
        if importlib.util.find_spec("pyopencl") is not None:
            return gpu
        _warn_once(
            "opencl", "pyopencl is not installed: kernels run on the CPU, the threads of a block one after the other"
        )
        return CUDA(emulated=True)
    if gpu.emulated or has_gpu():
        return gpu
    _warn_once(
        "cuda",
        f"this machine has no NVIDIA GPU: kernels for {gpu.chip} run on the CPU, the threads of a block one after "
        "the other; the results are those of a GPU, the times say nothing about one",
    )
    return replace(gpu, emulated=True)


def has_gpu() -> bool:
    """Whether this machine has an NVIDIA GPU."""
    try:
        host_gpu()
    except BuildError:
        return False
    return True


def _warn_once(key: str, text: str) -> None:
    if key in _warned_keys:
        return
    _warned_keys.add(key)
    warn_at_user(text, UserWarning)
