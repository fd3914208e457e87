"""The length of this machine's scalable vector registers (SVE), as its system reports it."""

from __future__ import annotations

import ctypes
import functools

from tir_mlir.target.host import architecture

_PR_SVE_GET_VL = 51
_LENGTH = 0xFFFF  # the other bits of the answer are flags


@functools.cache
def scalable_bits() -> int:
    """The length in bits; 0 without such registers."""
    if architecture() != "aarch64":
        return 0
    answer = _ask_system()
    return 8 * (answer & _LENGTH) if answer > 0 else 0


def _ask_system() -> int:
    try:
        return ctypes.CDLL(None).prctl(_PR_SVE_GET_VL, 0, 0, 0, 0)
    except (OSError, AttributeError):
        return 0
