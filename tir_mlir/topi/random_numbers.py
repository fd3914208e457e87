"""Random numbers of a key and a counter: Philox 4x32-10 (Salmon et al., "Parallel random numbers", 2011)."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.te.statements import T
from tir_mlir.topi.operands import describe_tensor, refuse, tensor

__all__ = ["philox"]

_HIGH, _LOW = 0xCD9E8D57, 0xD2511F53
_KEYS = 0x9E3779B9, 0xBB67AE85


def philox(state: Any, count: Any, words: int = 4, draw: int = 0) -> te.Tensor:
    """The first words of `count` blocks of random numbers, uint32 (count, words).

    state: int64 (2,), a seed and an offset. Block i is that of the key (seed, seed >> 32) and the counter
    (offset // 4 + draw, its upper half, i, 0). words: 1 to 4.
    """
    op = "philox"
    x = tensor(op, "state", state)
    if x.dtype != "int64" or x.ndim != 1:
        raise refuse(op, describe_tensor("state", x), "pass int64 (2,): a seed and an offset")
    low, high, key_0, key_1, mask = _LOW, _HIGH, *_KEYS, 0xFFFFFFFF

    def block(i, S, W):
        T.reads(S[0:2])
        T.writes(W[i, 0:words])
        c = T.alloc_buffer((4,), "uint64")
        k = T.alloc_buffer((2,), "uint64")
        counter = T.cast((S[1] >> T.cast(2, "int64")) + T.cast(draw, "int64"), "uint64")
        seed = T.cast(S[0], "uint64")
        c[0] = counter & T.cast(mask, "uint64")
        c[1] = counter >> T.cast(32, "uint64")
        c[2] = T.cast(i, "uint64")
        c[3] = T.cast(0, "uint64")
        k[0] = seed & T.cast(mask, "uint64")
        k[1] = seed >> T.cast(32, "uint64")
        for _r in range(10):
            a = c[0] * T.cast(low, "uint64")
            b = c[2] * T.cast(high, "uint64")
            c[0] = (b >> T.cast(32, "uint64")) ^ c[1] ^ k[0]
            c[1] = b & T.cast(mask, "uint64")
            c[2] = (a >> T.cast(32, "uint64")) ^ c[3] ^ k[1]
            c[3] = a & T.cast(mask, "uint64")
            k[0] = (k[0] + T.cast(key_0, "uint64")) & T.cast(mask, "uint64")
            k[1] = (k[1] + T.cast(key_1, "uint64")) & T.cast(mask, "uint64")
        for n in range(words):
            W[i, n] = T.cast(c[n], "uint32")

    return te.statements((count,), [x], [((count, words), "uint32")], block, name="T_philox")
