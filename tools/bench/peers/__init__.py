"""The libraries that tir_mlir is compared with. Each is optional: `missing` gives the reason why one is left out."""

from __future__ import annotations

from . import llama_cpp, mkl, numpy_blas, numpy_loops, pytorch, tvm_same

__all__ = [
    "ALL",
    "describe",
    "llama_cpp",
    "missing",
    "mkl",
    "numpy_blas",
    "numpy_loops",
    "pytorch",
    "set_threads",
    "tvm_same",
]

ALL = {"numpy": numpy_blas, "mkl": mkl, "torch": pytorch, "tvm": tvm_same, "llama.cpp": llama_cpp}


def missing() -> dict[str, str]:
    """Return the unavailable peers, with the reason."""
    return {name: why for name, peer in ALL.items() if (why := peer.missing()) is not None}


def set_threads(number: int) -> None:
    """Set the thread count of all available peers."""
    for name, peer in ALL.items():
        if name not in missing():
            peer.set_threads(number)


def describe() -> dict[str, str]:
    """Return the name and version of each available peer."""
    gone = missing()
    return {name: gone.get(name) or peer.describe() for name, peer in ALL.items()}
