"""The libraries ours is measured against. Each is optional: `missing` says why it takes no part."""

from __future__ import annotations

from . import mkl, numpy_blas, pytorch, tvm_same

ALL = {"numpy": numpy_blas, "mkl": mkl, "torch": pytorch, "tvm": tvm_same}


def missing() -> dict[str, str]:
    """The peers that are not there, and why."""
    return {name: why for name, peer in ALL.items() if (why := peer.missing()) is not None}


def set_threads(number: int) -> None:
    """Tell all peers that are there."""
    for name, peer in ALL.items():
        if name not in missing():
            peer.set_threads(number)


def describe() -> dict[str, str]:
    """Name and version of each."""
    gone = missing()
    return {name: gone.get(name) or peer.describe() for name, peer in ALL.items()}
