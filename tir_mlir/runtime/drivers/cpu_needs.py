"""What the kernels of compiled code need of the CPU and of the system, checked before the code is loaded."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Iterable, Sequence

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.kernels.registry import needed_by
from tir_mlir.target.host import features

_TILES = "amx-"
_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18


def needs_of(symbols: Iterable[str]) -> list[list[str]]:
    """The registered kernels among some symbols, each with a CPU feature that its code needs: [kernel, feature]."""
    return [[symbol, feature] for symbol in symbols for feature in needed_by(symbol)]


def require(needs: Sequence[Sequence[str]]) -> None:
    """Raise BuildError unless this CPU has what kernels need, and the system lets this process use it.

    Linux gives a process the tile registers of AMX only when it asks for them, once, before its first tile instruction.
    """
    lacking: dict[str, list[str]] = {}
    for kernel, feature in needs:
        if feature not in features():
            lacking.setdefault(kernel, []).append(feature)
    for kernel, missing in lacking.items():
        raise BuildError(
            f"the kernel of {kernel!r} uses {', '.join(missing)}, which this CPU lacks, so its code cannot run here;"
            " schedule for a target without it (the default of tir_mlir.schedules is this machine), or build and"
            " export for another CPU with build(..., target=...)"
        )
    if asks_for_tiles(needs) and (why := tile_refusal()):
        raise BuildError(
            f"Linux does not let this process use the tile registers of AMX ({why}); schedule for a target without"
            " amx-tile, or run on a system that supports them (Linux 5.16 or later, not all containers)"
        )


def asks_for_tiles(needs: Sequence[Sequence[str]]) -> bool:
    """Whether code needs the permission to use tile registers."""
    return any(feature.startswith(_TILES) for _, feature in needs)


@functools.cache
def tile_refusal() -> str:
    """Ask for the tile registers, once a process. "": granted; else the reason why not."""
    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has no such request"
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype, syscall.argtypes = ctypes.c_long, (ctypes.c_long,) * 3
    granted = syscall(_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA) == 0
    return "" if granted else os.strerror(ctypes.get_errno())
