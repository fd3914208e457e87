"""Weights of few bits as other tools store them, as operands of `dense_groups`: exact to their definitions.

| Name | A weight is | Stored as |
|---|---|---|
| q4_0 | (q - 8) * d | blocks of 32: d float16, 16 bytes: weights j and j + 16 |
| q8_0 | q * d | blocks of 32: d float16, 32 int8 |
| q4_k | d * s * q - m * t | blocks of 256: d, m float16, 8 s and t of 6 bits, 128 bytes: of 64, j and j + 32 |
| matmul_nbits | (q - z) * s | (n, groups, group / 2): neighbours share a byte; z of 4 bits, neighbours share a byte |
| gptq | (q - z - 1) * s | int32 (k / 8, n), 8 along k in a word; z int32 (groups, n / 8) |
| awq | (q - z) * s | int32 (k, n / 8), 8 along n in a word, in the order 0 2 4 6 1 3 5 7; z int32 (groups, n / 8) |
| torchao | (q - z) * s | int8 (n, k), q from -8 to 7 or -128 to 127; z (n, groups) or none |
| torchao_int4 | q * s + z | uint8 (n, k / 2), q from -8 to 7, neighbours share a byte; s and z (groups, n) |
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError

BLOCK, LARGE_BLOCK = 32, 256
_AWQ = [0, 2, 4, 6, 1, 3, 5, 7]
"""The columns of the numbers of a word of AWQ, from its lowest bits."""


@dataclass(frozen=True)
class Grouped:
    """The operands of `dense_groups`: weight uint8 (n, k * bits / 8), scale and offset float32 (n, k / group)."""

    weight: np.ndarray
    scale: np.ndarray
    offset: np.ndarray | None
    group: int
    bits: int

    def values(self) -> np.ndarray:
        """What the weights stand for, float32 (n, k)."""
        n, groups = self.scale.shape
        q = self.weight.reshape(n, groups, -1)
        q = np.concatenate([q & 15, q >> 4], axis=2) if self.bits == 4 else q
        wide, by = q.astype(np.float32), self.scale[:, :, None]
        zero = np.float32(8 if self.bits == 4 else 128)
        found = (wide - zero) * by if self.offset is None else wide * by - self.offset[:, :, None]
        return found.reshape(n, -1)

    def in_groups(self, group: int) -> Grouped:
        """The same numbers in smaller groups, each with the scale of the one that it was in. Raises ArgumentError
        unless `group` divides theirs."""
        times, rest = divmod(self.group, group)
        if rest:
            raise ArgumentError(f"groups of {self.group} are no groups of {group}; fix: a divisor of {self.group}")
        weight = self.weight
        if self.bits == 4 and times > 1:
            q = weight.reshape(*self.scale.shape, -1)
            weight = _packed(np.concatenate([q & 15, q >> 4], axis=2).reshape(len(weight), -1), group)
        scale, offset = (None if x is None else np.repeat(x, times, axis=1) for x in (self.scale, self.offset))
        assert scale is not None
        return Grouped(weight, scale, offset, group, self.bits)


def q4_0(data: np.ndarray) -> Grouped:
    """Rows of blocks of q4_0, uint8 (n, 18 * k / 32)."""
    blocks = _blocks("q4_0", data, 18)
    weight = np.ascontiguousarray(blocks[:, :, 2:]).reshape(len(data), -1)
    return Grouped(weight, _halves("q4_0", blocks, 0), None, BLOCK, 4)


def q8_0(data: np.ndarray) -> Grouped:
    """Rows of blocks of q8_0, uint8 (n, 34 * k / 32)."""
    blocks = _blocks("q8_0", data, 34)
    weight = np.ascontiguousarray(blocks[:, :, 2:]).reshape(len(data), -1) ^ np.uint8(128)
    return Grouped(weight, _halves("q8_0", blocks, 0), None, BLOCK, 8)


def q4_k(data: np.ndarray) -> Grouped:
    """Rows of blocks of q4_k, uint8 (n, 144 * k / 256)."""
    blocks = _blocks("q4_k", data, 144)
    packed, quarters = blocks[:, :, 4:16], blocks[:, :, 16:].reshape(*blocks.shape[:2], 4, 32)
    low, middle, high = packed[:, :, :4], packed[:, :, 4:8], packed[:, :, 8:]
    steps = np.concatenate([low & 63, (high & 15) | (low >> 6) << 4], axis=2)
    least = np.concatenate([middle & 63, (high >> 4) | (middle >> 6) << 4], axis=2)
    q = np.stack([quarters & 15, quarters >> 4], axis=3).reshape(len(data), -1)
    scale, offset = (
        (_halves("q4_k", blocks, at)[:, :, None] * part.astype(np.float32)).reshape(len(data), -1)
        for at, part in ((0, steps), (2, least))
    )
    return Grouped(_packed(q, BLOCK), scale, offset, BLOCK, 4)


def matmul_nbits(data: np.ndarray, scale: np.ndarray, zero: np.ndarray | None, group: int) -> Grouped:
    """Weights of ONNX Runtime's MatMulNBits of 4 bits: uint8 (n, groups, group / 2); scale (n * groups,) or (n,
    groups); zero: None of 8, or uint8 (n, ceil(groups / 2))."""
    n, groups = data.shape[:2]
    q = np.stack([data & 15, data >> 4], axis=3).reshape(n, -1)
    by = _scales("matmul_nbits", scale.reshape(n, groups))
    if zero is None:
        return Grouped(_packed(q, group), by, None, group, 4)
    z = zero.reshape(n, -1)
    z = np.stack([z & 15, z >> 4], axis=2).reshape(n, -1)[:, :groups]
    return _with_zeros("matmul_nbits", q, by, z, group)


def gptq(qweight: np.ndarray, qzeros: np.ndarray, scales: np.ndarray, group: int) -> Grouped:
    """Weights of GPTQ of 4 bits as they lie in safetensors: qweight int32 (k / 8, n), qzeros int32 (groups, n / 8),
    scales (groups, n). Rows in the order of groups (no `g_idx`)."""
    q = _nibbles(qweight).transpose(1, 0, 2).reshape(qweight.shape[1], -1)
    zeros = _nibbles(qzeros).reshape(len(qzeros), -1).T.astype(np.float32) + 1
    return _with_zeros("gptq", q, _scales("gptq", scales.T), zeros, group)


def awq(qweight: np.ndarray, qzeros: np.ndarray, scales: np.ndarray, group: int) -> Grouped:
    """Weights of AWQ of 4 bits as they lie in safetensors: qweight int32 (k, n / 8), qzeros int32 (groups, n / 8),
    scales (groups, n)."""
    place = np.argsort(_AWQ)
    q, zeros = (_nibbles(words)[:, :, place].reshape(len(words), -1).T for words in (qweight, qzeros))
    return _with_zeros("awq", q, _scales("awq", scales.T), zeros, group)


def torchao(data: np.ndarray, scale: np.ndarray, zero: np.ndarray | None, bits: int) -> Grouped:
    """Weights of torchao: int8 (n, k), scale (n, groups), zero: None, or (n, groups)."""
    group, half = data.shape[1] // scale.shape[1], 1 << (bits - 1)
    q = (data.astype(np.int16) + half).astype(np.uint8)
    by = _scales("torchao", scale)
    if zero is None:
        return Grouped(_packed(q, group) if bits == 4 else q, by, None, group, bits)
    return _with_zeros("torchao", q, by, zero.astype(np.float32) + half, group, bits)


def torchao_int4(data: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> Grouped:
    """Weights of torchao's Int4Tensor: uint8 (n, k / 2), scale and zero (groups, n)."""
    group, by = 2 * data.shape[1] // len(scale), _scales("torchao_int4", scale.T)
    bits = data.view(np.uint8)
    q = np.stack([bits & 15, bits >> 4], axis=2).reshape(len(data), -1) ^ np.uint8(8)
    offset = np.ascontiguousarray(by * np.float32(8) - zero.T.astype(np.float32))
    return Grouped(_packed(q, group), by, offset, group, 4)


def _with_zeros(name: str, q: np.ndarray, scale: np.ndarray, zero: np.ndarray, group: int, bits: int = 4) -> Grouped:
    if q.shape[1] != scale.shape[1] * group:
        raise ArgumentError(f"{name}: rows of {q.shape[1]} are no {scale.shape[1]} groups of {group}")
    offset = np.ascontiguousarray(zero.astype(np.float32) * scale)
    return Grouped(_packed(q, group) if bits == 4 else np.ascontiguousarray(q), scale, offset, group, bits)


def _packed(q: np.ndarray, group: int) -> np.ndarray:
    """Numbers of 4 bits, (n, k), two in a byte: the elements j and j + group / 2 of a group."""
    halves = np.ascontiguousarray(q).reshape(len(q), -1, 2, group // 2).astype(np.uint8)
    return (halves[:, :, 0] | halves[:, :, 1] << 4).reshape(len(q), -1)


def _nibbles(words: np.ndarray) -> np.ndarray:
    """The 8 numbers of each word, from the lowest bits: a last axis."""
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    return (np.ascontiguousarray(words).view(np.uint32)[..., None] >> shifts & 15).astype(np.uint8)


def _blocks(name: str, data: np.ndarray, size: int) -> np.ndarray:
    if data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] % size:
        raise ArgumentError(f"{name}: {data.dtype} of shape {data.shape} is no rows of blocks of {size} bytes")
    return data.reshape(len(data), -1, size)


def _halves(name: str, blocks: np.ndarray, at: int) -> np.ndarray:
    """A float16 of each block, as float32."""
    return _scales(name, np.ascontiguousarray(blocks[:, :, at : at + 2]).view(np.float16)[:, :, 0])


def _scales(name: str, scale: np.ndarray) -> np.ndarray:
    wide = np.ascontiguousarray(scale, dtype=np.float32)
    if not np.isfinite(wide).all():
        raise ArgumentError(f"{name}: a scale is not finite; fix: write the file again")
    return wide
