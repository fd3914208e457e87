"""Weights of few bits as other tools store them, as operands of `dense_groups`: exact to their definitions.

| Name | A weight is | Stored as |
|---|---|---|
| q4_0 | (q - 8) * d | blocks of 32: d float16, 16 bytes: weights j and j + 16 |
| q4_1 | q * d + m | blocks of 32: d, m float16, 16 bytes as of q4_0 |
| q5_0, q5_1 | (q - 16) * d, q * d + m | as q4_0, q4_1, with the fifth bits of all in 4 bytes before the others |
| q8_0 | q * d | blocks of 32: d float16, 32 int8 |
| q2_k | d * s * q - m * t | blocks of 256: 16 bytes of s and t; 64: of 128, j, j + 32, j + 64, j + 96; d, m float16 |
| q3_k | d * (s - 32) * (q - 4) | blocks of 256: 32 bytes of third bits, 64 as of q2_k, 16 s of 6 bits, d float16 |
| q4_k | d * s * q - m * t | blocks of 256: d, m float16, 8 s and t of 6 bits, 128 bytes: of 64, j and j + 32 |
| q5_k | d * s * q - m * t | as q4_k, with 32 bytes of fifth bits before the 128 |
| q6_k | d * s * (q - 32) | blocks of 256: 128 bytes: of 128, j and j + 64; 64 of high bits as of q2_k; 16 s int8; d |
| iq4_nl | v[q] * d | as q4_0; v: 16 numbers from -127 to 113 |
| iq4_xs | d * (s - 32) * v[q] | blocks of 256: d float16, 8 s of 6 bits, 128 bytes: 8 groups as of q4_0 |
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

SMALL_BLOCK, BLOCK, LARGE_BLOCK = 16, 32, 256
_VALUES = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int16)
"""What the numbers of iq4_nl and iq4_xs stand for."""
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
            weight = _pack_int4(np.concatenate([q & 15, q >> 4], axis=2).reshape(len(weight), -1), group)
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


def q4_1(data: np.ndarray) -> Grouped:
    """Rows of blocks of q4_1, uint8 (n, 20 * k / 32)."""
    blocks = _blocks("q4_1", data, 20)
    weight = np.ascontiguousarray(blocks[:, :, 4:]).reshape(len(data), -1)
    return Grouped(weight, _halves("q4_1", blocks, 0), -_halves("q4_1", blocks, 2), BLOCK, 4)


def q5_0(data: np.ndarray) -> Grouped:
    """Rows of blocks of q5_0, uint8 (n, 22 * k / 32); numbers of 8 bits."""
    blocks = _blocks("q5_0", data, 22)
    return Grouped(_five_bits(blocks, 2) + np.uint8(128 - 16), _halves("q5_0", blocks, 0), None, BLOCK, 8)


def q5_1(data: np.ndarray) -> Grouped:
    """Rows of blocks of q5_1, uint8 (n, 24 * k / 32); numbers of 8 bits."""
    blocks = _blocks("q5_1", data, 24)
    return Grouped(_five_bits(blocks, 4), _halves("q5_1", blocks, 0), -_halves("q5_1", blocks, 2), BLOCK, 8)


def iq4_nl(data: np.ndarray) -> Grouped:
    """Rows of blocks of iq4_nl, uint8 (n, 18 * k / 32); numbers of 8 bits."""
    blocks = _blocks("iq4_nl", data, 18)
    return Grouped(_values(_two_halves(blocks[:, :, 2:])), _halves("iq4_nl", blocks, 0), None, BLOCK, 8)


def iq4_xs(data: np.ndarray) -> Grouped:
    """Rows of blocks of iq4_xs, uint8 (n, 136 * k / 256); numbers of 8 bits."""
    blocks = _blocks("iq4_xs", data, 136)
    low = np.stack([blocks[:, :, 4:8] & 15, blocks[:, :, 4:8] >> 4], axis=3).reshape(*blocks.shape[:2], 8)
    high = np.ascontiguousarray(blocks[:, :, 2:4]).view("<u2") >> np.arange(0, 16, 2, dtype=np.uint16) & 3
    steps = (low | high.astype(np.uint8) << 4).astype(np.float32) - 32
    scale = (_halves("iq4_xs", blocks, 0)[:, :, None] * steps).reshape(len(data), -1)
    q = _two_halves(blocks[:, :, 8:].reshape(len(data), -1, 16))
    return Grouped(_values(q), scale, None, BLOCK, 8)


def q2_k(data: np.ndarray) -> Grouped:
    """Rows of blocks of q2_k, uint8 (n, 84 * k / 256); numbers of 4 bits, groups of 16."""
    blocks = _blocks("q2_k", data, 84)
    steps, d, m = blocks[:, :, :16], _halves("q2_k", blocks, 80), _halves("q2_k", blocks, 82)
    scale, offset = (
        (whole[:, :, None] * part.astype(np.float32)).reshape(len(data), -1)
        for whole, part in ((d, steps & 15), (m, steps >> 4))
    )
    return Grouped(_pack_int4(_quarters(blocks[:, :, 16:80]), SMALL_BLOCK), scale, offset, SMALL_BLOCK, 4)


def q3_k(data: np.ndarray) -> Grouped:
    """Rows of blocks of q3_k, uint8 (n, 110 * k / 256); numbers of 4 bits, groups of 16."""
    blocks = _blocks("q3_k", data, 110)
    low, high = blocks[:, :, 96:104], blocks[:, :, 104:108]
    low = np.concatenate([low & 15, low >> 4], axis=2)
    high = np.concatenate([high >> shift & 3 for shift in (0, 2, 4, 6)], axis=2)
    steps = (low | high << 4).astype(np.float32) - 32
    scale = (_halves("q3_k", blocks, 108)[:, :, None] * steps).reshape(len(data), -1)
    q = _quarters(blocks[:, :, 32:96]) | _eighths(blocks[:, :, :32]) << 2
    return Grouped(_pack_int4(q + np.uint8(8 - 4), SMALL_BLOCK), scale, None, SMALL_BLOCK, 4)


def q4_k(data: np.ndarray) -> Grouped:
    """Rows of blocks of q4_k, uint8 (n, 144 * k / 256)."""
    blocks = _blocks("q4_k", data, 144)
    q = _two_halves(blocks[:, :, 16:].reshape(len(data), -1, 32))
    return Grouped(_pack_int4(q, BLOCK), *_of_six_bits("q4_k", blocks), BLOCK, 4)


def q5_k(data: np.ndarray) -> Grouped:
    """Rows of blocks of q5_k, uint8 (n, 176 * k / 256); numbers of 8 bits."""
    blocks = _blocks("q5_k", data, 176)
    q = _two_halves(blocks[:, :, 48:].reshape(len(data), -1, 32)) | _eighths(blocks[:, :, 16:48]) << 4
    return Grouped(q, *_of_six_bits("q5_k", blocks), BLOCK, 8)


def q6_k(data: np.ndarray) -> Grouped:
    """Rows of blocks of q6_k, uint8 (n, 210 * k / 256); numbers of 8 bits, groups of 16."""
    blocks = _blocks("q6_k", data, 210)
    q = _two_halves(blocks[:, :, :128].reshape(len(data), -1, 64)) | _quarters(blocks[:, :, 128:192]) << 4
    steps = np.ascontiguousarray(blocks[:, :, 192:208]).view(np.int8).astype(np.float32)
    scale = (_halves("q6_k", blocks, 208)[:, :, None] * steps).reshape(len(data), -1)
    return Grouped(q + np.uint8(128 - 32), scale, None, SMALL_BLOCK, 8)


def matmul_nbits(data: np.ndarray, scale: np.ndarray, zero: np.ndarray | None, group: int) -> Grouped:
    """Weights of ONNX Runtime's MatMulNBits of 4 bits: uint8 (n, groups, group / 2); scale (n * groups,) or (n,
    groups); zero: None of 8, or uint8 (n, ceil(groups / 2))."""
    n, groups = data.shape[:2]
    q = np.stack([data & 15, data >> 4], axis=3).reshape(n, -1)
    by = _scales("matmul_nbits", scale.reshape(n, groups))
    if zero is None:
        return Grouped(_pack_int4(q, group), by, None, group, 4)
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
    order = np.argsort(_AWQ)
    q, zeros = (_nibbles(words)[:, :, order].reshape(len(words), -1).T for words in (qweight, qzeros))
    return _with_zeros("awq", q, _scales("awq", scales.T), zeros, group)


def torchao(data: np.ndarray, scale: np.ndarray, zero: np.ndarray | None, bits: int) -> Grouped:
    """Weights of torchao: int8 (n, k), scale (n, groups), zero: None, or (n, groups)."""
    group, half = data.shape[1] // scale.shape[1], 1 << (bits - 1)
    q = (data.astype(np.int16) + half).astype(np.uint8)
    by = _scales("torchao", scale)
    if zero is None:
        return Grouped(_pack_int4(q, group) if bits == 4 else q, by, None, group, bits)
    return _with_zeros("torchao", q, by, zero.astype(np.float32) + half, group, bits)


def torchao_int4(data: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> Grouped:
    """Weights of torchao's Int4Tensor: uint8 (n, k / 2), scale and zero (groups, n)."""
    group, by = 2 * data.shape[1] // len(scale), _scales("torchao_int4", scale.T)
    bits = data.view(np.uint8)
    q = np.stack([bits & 15, bits >> 4], axis=2).reshape(len(data), -1) ^ np.uint8(8)
    offset = np.ascontiguousarray(by * np.float32(8) - zero.T.astype(np.float32))
    return Grouped(_pack_int4(q, group), by, offset, group, 4)


def _with_zeros(name: str, q: np.ndarray, scale: np.ndarray, zero: np.ndarray, group: int, bits: int = 4) -> Grouped:
    if q.shape[1] != scale.shape[1] * group:
        raise ArgumentError(f"{name}: rows of {q.shape[1]} are no {scale.shape[1]} groups of {group}")
    offset = np.ascontiguousarray(zero.astype(np.float32) * scale)
    return Grouped(_pack_int4(q, group) if bits == 4 else np.ascontiguousarray(q), scale, offset, group, bits)


def _pack_int4(q: np.ndarray, group: int) -> np.ndarray:
    """Numbers of 4 bits, (n, k), two in a byte: the elements j and j + group / 2 of a group."""
    halves = np.ascontiguousarray(q).reshape(len(q), -1, 2, group // 2).astype(np.uint8)
    return (halves[:, :, 0] | halves[:, :, 1] << 4).reshape(len(q), -1)


def _nibbles(words: np.ndarray) -> np.ndarray:
    """The 8 numbers of each word, from the lowest bits: a last axis."""
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    return (np.ascontiguousarray(words).view(np.uint32)[..., None] >> shifts & 15).astype(np.uint8)


def _blocks(name: str, data: np.ndarray, size: int) -> np.ndarray:
    if data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] % size:
        raise ArgumentError(f"{name}: {data.dtype} of shape {data.shape} is not rows of blocks of {size} bytes")
    return data.reshape(len(data), -1, size)


def _two_halves(bytes_: np.ndarray) -> np.ndarray:
    """Numbers of 4 bits of parts of rows, uint8 (n, parts, bytes): low bits first. (n, k)"""
    return np.concatenate([bytes_ & 15, bytes_ >> 4], axis=2).reshape(len(bytes_), -1)


def _quarters(bytes_: np.ndarray) -> np.ndarray:
    """Numbers of 2 bits of blocks, 64 bytes each: 32 bytes have 128 of them, low bits first. (n, k)"""
    parts = bytes_.reshape(len(bytes_), -1, 1, 32) >> np.arange(0, 8, 2, dtype=np.uint8)[:, None]
    return (parts & 3).reshape(len(bytes_), -1)


def _eighths(bytes_: np.ndarray) -> np.ndarray:
    """Bits of blocks, 32 bytes each: the lowest of all bytes first. (n, k)"""
    parts = bytes_.reshape(len(bytes_), -1, 1, 32) >> np.arange(8, dtype=np.uint8)[:, None]
    return (parts & 1).reshape(len(bytes_), -1)


def _five_bits(blocks: np.ndarray, at: int) -> np.ndarray:
    """Numbers of blocks of 32: their fifth bits, from a position on, then the others."""
    high = np.unpackbits(np.ascontiguousarray(blocks[:, :, at : at + 4]), axis=2, bitorder="little")
    return _two_halves(blocks[:, :, at + 4 :]) | high.reshape(len(blocks), -1) << 4


def _of_six_bits(name: str, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scales and offsets of the groups of blocks that start with d and m, float16, and 12 bytes of s and t."""
    packed = blocks[:, :, 4:16]
    low, middle, high = packed[:, :, :4], packed[:, :, 4:8], packed[:, :, 8:]
    steps = np.concatenate([low & 63, (high & 15) | (low >> 6) << 4], axis=2)
    least = np.concatenate([middle & 63, (high >> 4) | (middle >> 6) << 4], axis=2)
    scale, offset = (
        (_halves(name, blocks, at)[:, :, None] * part.astype(np.float32)).reshape(len(blocks), -1)
        for at, part in ((0, steps), (2, least))
    )
    return scale, offset


def _values(q: np.ndarray) -> np.ndarray:
    """Numbers of 4 bits as what they stand for in iq4_nl, stored in 8 bits."""
    return (_VALUES + 128).astype(np.uint8)[q]


def _halves(name: str, blocks: np.ndarray, at: int) -> np.ndarray:
    """A float16 of each block, as float32."""
    return _scales(name, np.ascontiguousarray(blocks[:, :, at : at + 2]).view(np.float16)[:, :, 0])


def _scales(name: str, scale: np.ndarray) -> np.ndarray:
    wide = np.ascontiguousarray(scale, dtype=np.float32)
    if not np.isfinite(wide).all():
        raise ArgumentError(f"{name}: a scale is not finite; fix: write the file again")
    return wide
