"""What macOS says of an Apple CPU: instruction sets and caches, by `sysctl`."""

from __future__ import annotations

import ctypes
import functools
import sys

_FEATURES = {
    "hw.optional.arm.FEAT_DotProd": "dotprod",
    "hw.optional.arm.FEAT_I8MM": "i8mm",
    "hw.optional.arm.FEAT_BF16": "bf16",
    "hw.optional.arm.FEAT_FP16": "fullfp16",
    "hw.optional.arm.FEAT_SME": "sme",
}
"""The names of instruction sets in macOS and in LLVM."""

_CACHES = {"1": "hw.perflevel0.l1dcachesize", "2": "hw.perflevel0.l2cachesize"}
"""Of the fast cores. The second level is shared by a cluster of them; what the system calls the third is not theirs."""


@functools.cache
def features() -> frozenset[str]:
    """The instruction sets of this CPU, by LLVM's names."""
    return frozenset({"neon", *(name for key, name in _FEATURES.items() if sysctl(key))})


def cache_sizes() -> list[tuple[str, int]]:
    """The level and size in bytes of each data cache."""
    return [(level, size) for level, key in _CACHES.items() if (size := sysctl(key))]


def sysctl(name: str) -> int:
    """A number that macOS knows by this name; 0 where it knows none."""
    if sys.platform != "darwin":
        return 0
    value, size = ctypes.c_int64(), ctypes.c_size_t(8)
    failed = ctypes.CDLL(None).sysctlbyname(name.encode(), ctypes.byref(value), ctypes.byref(size), None, 0)
    return 0 if failed else value.value & ((1 << 8 * size.value) - 1)
