"""Each instruction of a table on arrays, beside what NumPy computes; ptxas accepts all of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from harness import ptx as kernels

N = 64
_rng = np.random.default_rng(7)
U32 = np.concatenate([_rng.integers(0, 2**32, N - 6, np.uint32), np.array([0, 1, 2, 2**31, 2**32 - 1, 7], np.uint32)])
V32 = _rng.permutation(U32)
S32, T32 = U32.view(np.int32), V32.view(np.int32)
U64 = (U32.astype(np.uint64) << np.uint64(32)) | V32
V64 = _rng.permutation(U64)
S64, T64 = U64.view(np.int64), V64.view(np.int64)
U16, V16 = U32.astype(np.uint16), V32.astype(np.uint16)
FEW = (U32 % 40).astype(np.uint32)
_LANES = list(zip(U32, V32, FEW, strict=True))
F32 = np.concatenate([_rng.standard_normal(N - 6), [0.0, -0.0, 1e-40, np.inf, 3.0, -2.5]]).astype(np.float32)
G32 = _rng.permutation(F32)
NAN32 = F32.copy()
NAN32[3] = np.nan
POSITIVE = np.abs(F32) + np.float32(0.5)
F64 = np.concatenate([_rng.standard_normal(N - 2), [1e300, -0.0]])
G64 = _rng.permutation(F64)
F16, G16, H16 = (_rng.standard_normal(N).astype(np.float16) for _ in range(3))
PAIR, OTHER = (
    np.stack([F16, G16], 1).copy().view(np.uint32).ravel(),
    np.stack([H16, F16], 1).copy().view(np.uint32).ravel(),
)
TINY = (_rng.standard_normal(N) * 1e-38).astype(np.float32)


def u(a):
    return np.asarray(a).astype(np.uint32)


def exact_fma(a, b, c, dtype):
    """a * b + c with one rounding, by fractions."""
    if dtype == np.float64:
        return np.array(
            [
                float(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)))
                for x, y, z in zip(a, b, c, strict=False)
            ]
        )
    results = []
    for x, y, z in zip(a, b, c, strict=False):
        value = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        near = dtype(float(value))
        around = [near, np.nextafter(near, dtype(-np.inf)), np.nextafter(near, dtype(np.inf))]
        bits = {1: np.uint8, 2: np.uint16, 4: np.uint32}[np.dtype(dtype).itemsize]
        best = min(around, key=lambda v: (abs(Fraction(float(v)) - value), int(np.array(v).view(bits)) & 1))
        results.append(best)
    return np.array(results, dtype)


def shifted(a, n, left):
    bits = 8 * a.itemsize
    out = [(int(x) << int(k)) if left else (int(x) >> int(k)) for x, k in zip(a, n, strict=False)]
    return np.array([v & ((1 << bits) - 1) for v in out]).astype(a.dtype)


def c_divide(a, b):
    return np.array(
        [
            int(abs(int(x)) // abs(int(y))) * (1 if (x < 0) == (y < 0) else -1) if y else -1
            for x, y in zip(a, b, strict=False)
        ]
    )


def field(a, start, length, signed):
    """bfe, bit by bit."""
    out = []
    for x, s, n in zip(a.tolist(), start.tolist(), length.tolist(), strict=False):
        bits = [(x >> min(s + i, 31)) & 1 if s + i <= 31 or signed else 0 for i in range(32)]
        fill = bits[min(n, 32) - 1] if signed and n else 0
        out.append(sum((bits[i] if i < n else fill) << i for i in range(32)) if n else 0)
    return u(out)


def permuted(a, b, c):
    out = []
    for x, y, s in zip(a.tolist(), b.tolist(), c.tolist(), strict=False):
        data = [(x | y << 32) >> 8 * i & 255 for i in range(8)]
        digits = [s >> 4 * i & 15 for i in range(4)]
        out.append(
            sum((data[d & 7] if d < 8 else (255 if data[d & 7] & 128 else 0)) << 8 * i for i, d in enumerate(digits))
        )
    return u(out)


def bf16(a):
    bits = np.asarray(a, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


BF, BG = bf16(F16.astype(np.float32)), bf16(G16.astype(np.float32))


def widen(a):
    return (a.astype(np.uint32) << 16).view(np.float32)


def lanes16(pair, dtype=np.float16):
    return pair.view(dtype).reshape(-1, 2)


def packed(a):
    return np.ascontiguousarray(a).view(np.uint32).ravel()


def predicate(name, a="{0}", b="{1}"):
    return f"setp.{name} %q1, {a}, {b};\nselp.u32 {{d}}, 1, 0, %q1;"


def table():
    """(text, inputs, result); result None: `directed` has it."""
    return [
        # integers
        ("add.s32 {d}, {0}, {1};", (U32, V32), U32 + V32),
        ("add.s64 {d}, {0}, {1};", (U64, V64), U64 + V64),
        ("add.u16 {d}, {0}, {1};", (U16, V16), U16 + V16),
        ("add.sat.s32 {d}, {0}, {1};", (S32, T32),
         np.clip(S32.astype(np.int64) + T32, -(2**31), 2**31 - 1).astype(np.int32)),
        ("sub.s32 {d}, {0}, {1};", (U32, V32), U32 - V32),
        ("mul.lo.s32 {d}, {0}, {1};", (U32, V32), U32 * V32),
        ("mul.lo.s64 {d}, {0}, {1};", (U64, V64), U64 * V64),
        ("mul.hi.u32 {d}, {0}, {1};", (U32, V32), u((U32.astype(np.uint64) * V32) >> np.uint64(32))),
        ("mul.hi.s32 {d}, {0}, {1};", (S32, T32), ((S32.astype(np.int64) * T32) >> 32).astype(np.int32)),
        ("mul.hi.u64 {d}, {0}, {1};", (U64, V64),
         np.array([int(a) * int(b) >> 64 for a, b in zip(U64, V64, strict=False)], np.uint64)),
        ("mul.hi.s64 {d}, {0}, {1};", (S64, T64),
         np.array([int(a) * int(b) >> 64 for a, b in zip(S64, T64, strict=False)], np.int64)),
        ("mul.wide.s32 {d}, {0}, {1};", (S32, T32), S32.astype(np.int64) * T32),
        ("mul.wide.u16 {d}, {0}, {1};", (U16, V16), u(U16) * V16),
        ("mad.lo.s32 {d}, {0}, {1}, {2};", (U32, V32, FEW), U32 * V32 + FEW),
        ("mad.wide.u32 {d}, {0}, {1}, {2};", (U32, V32, U64), U32.astype(np.uint64) * V32 + U64),
        ("mul24.lo.s32 {d}, {0}, {1};", (S32, T32), ((S32 << 8 >> 8) * (T32 << 8 >> 8))),
        ("div.s32 {d}, {0}, {1};", (S32, T32), c_divide(S32, T32).astype(np.int32)),
        ("div.u32 {d}, {0}, {1};", (U32, V32 | 1), U32 // (V32 | 1)),
        ("rem.s32 {d}, {0}, {1};", (S32, T32 | 1), (S32 - c_divide(S32, T32 | 1) * (T32 | 1)).astype(np.int32)),
        ("rem.u64 {d}, {0}, {1};", (U64, V64 | np.uint64(1)), U64 % (V64 | np.uint64(1))),
        ("sad.s32 {d}, {0}, {1}, {2};", (S32 >> 2, T32 >> 2, S32 >> 9), np.abs((S32 >> 2) - (T32 >> 2)) + (S32 >> 9)),
        ("min.s32 {d}, {0}, {1};", (S32, T32), np.minimum(S32, T32)),
        ("max.u32 {d}, {0}, {1};", (U32, V32), np.maximum(U32, V32)),
        ("abs.s32 {d}, {0};", (S32,), np.abs(S32)),
        ("neg.s32 {d}, {0};", (S32,), -S32),
        ("and.b32 {d}, {0}, {1};", (U32, V32), U32 & V32),
        ("or.b64 {d}, {0}, {1};", (U64, V64), U64 | V64),
        ("xor.b32 {d}, {0}, {1};", (U32, V32), U32 ^ V32),
        ("not.b32 {d}, {0};", (U32,), ~U32),
        ("cnot.b32 {d}, {0};", (FEW,), u(FEW == 0)),
        ("shl.b32 {d}, {0}, {1};", (U32, FEW), shifted(U32, FEW, True)),
        ("shl.b64 {d}, {0}, {1};", (U64, FEW + 20), shifted(U64, FEW + 20, True)),
        ("shr.u32 {d}, {0}, {1};", (U32, FEW), shifted(U32, FEW, False)),
        ("shr.s32 {d}, {0}, {1};", (S32, FEW), S32 >> np.minimum(FEW, 31).astype(np.int32)),
        ("shr.s64 {d}, {0}, {1};", (S64, FEW + 30), S64 >> np.minimum(FEW + 30, 63).astype(np.int64)),
        ("shf.l.wrap.b32 {d}, {0}, {1}, {2};", (U32, V32, FEW),
         u([((int(b) << 32 | int(a)) << (int(c) & 31) >> 32) & 0xFFFFFFFF for a, b, c in _LANES])),
        ("shf.r.clamp.b32 {d}, {0}, {1}, {2};", (U32, V32, FEW),
         u([((int(b) << 32 | int(a)) >> min(int(c), 32)) & 0xFFFFFFFF for a, b, c in _LANES])),
        ("lop3.b32 {d}, {0}, {1}, {2}, 0x1b;", (U32, V32, FEW),
         u([sum((0x1B >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))
            for a, b, c in zip(U32.tolist(), V32.tolist(), FEW.tolist(), strict=False)])),
        ("bfe.u32 {d}, {0}, {1}, {2};", (U32, FEW, FEW[::-1].copy()), field(U32, FEW, FEW[::-1], False)),
        ("bfe.s32 {d}, {0}, {1}, {2};", (U32, FEW, FEW[::-1].copy()), field(U32, FEW, FEW[::-1], True)),
        ("bfi.b32 {d}, {0}, {1}, 5, 9;", (U32, V32), (V32 & ~u(0x1FF << 5)) | ((U32 & u(0x1FF)) << u(5))),
        ("bfind.u32 {d}, {0};", (U32,), u([(int(v).bit_length() - 1) & 0xFFFFFFFF for v in U32])),
        ("bfind.s32 {d}, {0};", (S32,), u([(int(v if v >= 0 else ~v).bit_length() - 1) & 0xFFFFFFFF for v in S32])),
        ("popc.b32 {d}, {0};", (U32,), u([bin(v).count("1") for v in U32])),
        ("popc.b64 {d}, {0};", (U64,), u([bin(v).count("1") for v in U64])),
        ("clz.b32 {d}, {0};", (U32,), u([32 - int(v).bit_length() for v in U32])),
        ("clz.b64 {d}, {0};", (U64,), u([64 - int(v).bit_length() for v in U64])),
        ("brev.b32 {d}, {0};", (U32,), u([int(f"{v:032b}"[::-1], 2) for v in U32])),
        ("prmt.b32 {d}, {0}, {1}, {2};", (U32, V32, FEW * u(997)), permuted(U32, V32, FEW * u(997))),
        ("dp4a.s32.u32 {d}, {0}, {1}, {2};", (U32, V32, FEW),
         ((U32.view(np.int8).reshape(-1, 4).astype(np.int32) * V32.view(np.uint8).reshape(-1, 4)).sum(1) + FEW
          ).astype(np.int32)),
        ("dp2a.lo.s32.s32 {d}, {0}, {1}, {2};", (U32, V32, FEW),
         ((U32.view(np.int16).reshape(-1, 2).astype(np.int32) * V32.view(np.int8).reshape(-1, 4)[:, :2]).sum(1) + FEW
          ).astype(np.int32)),
        ("add.cc.u32 %r9, {0}, {1};\naddc.u32 {d}, {0}, {1};", (U32, V32),
         u([(int(a) + int(b) + (int(a) + int(b) >> 32)) & 0xFFFFFFFF for a, b in zip(U32, V32, strict=False)])),
        ("sub.cc.u32 %r9, {0}, {1};\nsubc.u32 {d}, {0}, {1};", (U32, V32),
         u([(int(a) - int(b) - (int(a) < int(b))) & 0xFFFFFFFF for a, b in zip(U32, V32, strict=False)])),
        # predicates
        (predicate("lt.s32"), (S32, T32), u(S32 < T32)),
        (predicate("lo.u32"), (U32, V32), u(U32 < V32)),
        (predicate("ge.f32"), (NAN32, G32), u(NAN32 >= G32)),
        (predicate("ltu.f32"), (NAN32, G32), u((NAN32 < G32) | np.isnan(NAN32))),
        (predicate("ne.f32"), (NAN32, G32), u((NAN32 != G32) & ~np.isnan(NAN32))),
        (predicate("nan.f32"), (NAN32, G32), u(np.isnan(NAN32))),
        (predicate("gt.f16"), (F16, G16), u(F16 > G16)),
        ("setp.lt.s32 %q2, {0}, 0;\nsetp.gt.and.u32 %q1|%q3, {0}, {1}, %q2;\nselp.u32 {d}, 1, 0, %q3;", (U32, V32),
         u((U32 <= V32) & (S32 < 0))),
        ("set.lt.u32.f32 {d}, {0}, {1};", (F32, G32), np.where(F32 < G32, u(0xFFFFFFFF), u(0))),
        ("set.lt.f32.s32 {d}, {0}, {1};", (S32, T32), (S32 < T32).astype(np.float32)),
        ("slct.b32.s32 {d}, {0}, {1}, {2};", (U32, V32, S32), np.where(S32 >= 0, U32, V32)),
        ("testp.subnormal.f32 %q1, {0};\nselp.u32 {d}, 1, 0, %q1;", (F32,), u((F32 != 0) & (np.abs(F32) < 2**-126))),
        # floats
        ("add.rn.f32 {d}, {0}, {1};", (F32, G32), F32 + G32),
        ("sub.f64 {d}, {0}, {1};", (F64, G64), F64 - G64),
        ("mul.f32 {d}, {0}, {1};", (F32, G32), np.where(np.isnan(F32 * G32), np.float32(np.nan), F32 * G32)),
        ("mul.ftz.f32 {d}, {0}, {1};", (TINY, POSITIVE), None),
        ("mul.rn.f32 {d}, {0}, {1};", (np.full(N, np.inf, np.float32), F32 * 0), u(np.full(N, 0x7FFFFFFF))),
        ("add.rz.f32 {d}, {0}, {1};", (F32[:60], G16[:60].astype(np.float32) * np.float32(1e-3)), None),
        ("fma.rn.f32 {d}, {0}, {1}, {2};", (F16.astype(np.float32) / 3, G16 / np.float32(7), F16 / np.float32(5)),
         None),
        ("fma.rn.f64 {d}, {0}, {1}, {2};", (F64[:62], F64[:62][::-1].copy(), F64[:62] / 3), None),
        ("fma.rn.f16 {d}, {0}, {1}, {2};", (F16, G16, H16), exact_fma(F16, G16, H16, np.float16)),
        ("fma.rn.f16x2 {d}, {0}, {1}, {0};", (PAIR, OTHER),
         packed(np.stack([exact_fma(lanes16(PAIR)[:, i], lanes16(OTHER)[:, i], lanes16(PAIR)[:, i], np.float16)
                          for i in (0, 1)], 1))),
        ("add.f16 {d}, {0}, {1};", (F16, G16), F16 + G16),
        ("add.f16x2 {d}, {0}, {1};", (PAIR, OTHER), packed(lanes16(PAIR) + lanes16(OTHER))),
        ("mul.f16x2 {d}, {0}, {1};", (PAIR, OTHER), packed(lanes16(PAIR) * lanes16(OTHER))),
        ("add.rn.bf16 {d}, {0}, {1};", (BF, BG), bf16(widen(BF) + widen(BG))),
        ("mul.rn.bf16 {d}, {0}, {1};", (BF, BG), bf16(widen(BF) * widen(BG))),
        ("div.rn.f32 {d}, {0}, {1};", (F32[:60], POSITIVE[:60]), F32[:60] / POSITIVE[:60]),
        ("div.full.f32 {d}, {0}, {1};", (F32[:60], POSITIVE[:60]), F32[:60] / POSITIVE[:60]),
        ("max.f32 {d}, {0}, {1};", (NAN32, G32), np.fmax(NAN32, G32)),
        ("min.f32 {d}, {0}, {1};", (NAN32, G32), np.fmin(NAN32, G32)),
        ("max.NaN.f32 {d}, {0}, {1};", (F32[:8], G32[:8]), np.maximum(F32[:8], G32[:8])),
        ("max.f16x2 {d}, {0}, {1};", (PAIR, OTHER), packed(np.fmax(lanes16(PAIR), lanes16(OTHER)))),
        ("abs.f32 {d}, {0};", (F32,), np.abs(F32)),
        ("neg.f16x2 {d}, {0};", (PAIR,), packed(-lanes16(PAIR))),
        ("neg.f32 {d}, {0};", (F32,), -F32),
        ("copysign.f32 {d}, {0}, {1};", (F32, G32), np.copysign(G32, F32)),
        ("sqrt.rn.f32 {d}, {0};", (POSITIVE,), np.sqrt(POSITIVE)),
        ("rcp.rn.f32 {d}, {0};", (POSITIVE,), np.float32(1) / POSITIVE),
        ("add.sat.f32 {d}, {0}, {1};", (F32[:60], G16[:60].astype(np.float32)),
         np.clip(F32[:60] + G16[:60].astype(np.float32), 0, 1)),
        ("ex2.approx.f32 {d}, {0};", (F32[:60],), np.exp2(F32[:60].astype(np.float64)).astype(np.float32)),
        ("lg2.approx.f32 {d}, {0};", (POSITIVE,), np.log2(POSITIVE.astype(np.float64)).astype(np.float32)),
        ("rsqrt.approx.f32 {d}, {0};", (POSITIVE,), (1 / np.sqrt(POSITIVE.astype(np.float64))).astype(np.float32)),
        ("sin.approx.f32 {d}, {0};", (F32[:60],), np.sin(F32[:60].astype(np.float64)).astype(np.float32)),
        ("cos.approx.f32 {d}, {0};", (F32[:60],), np.cos(F32[:60].astype(np.float64)).astype(np.float32)),
        ("tanh.approx.f32 {d}, {0};", (F32,), np.tanh(F32.astype(np.float64)).astype(np.float32)),
        # conversions
        ("cvt.rn.f32.s32 {d}, {0};", (S32,), S32.astype(np.float32)),
        ("cvt.rn.f32.u64 {d}, {0};", (U64,), U64.astype(np.float32)),
        ("cvt.rz.f32.u32 {d}, {0};", (U32,),
         u([int(v) >> max(int(v).bit_length() - 24, 0) << max(int(v).bit_length() - 24, 0)
                                                 for v in U32]).astype(np.float32)),
        ("cvt.u64.u32 {d}, {0};", (U32,), U32.astype(np.uint64)),
        ("cvt.s64.s32 {d}, {0};", (S32,), S32.astype(np.int64)),
        ("cvt.u32.u64 {d}, {0};", (U64,), U64.astype(np.uint32)),
        ("cvt.u32.u16 {d}, {0};", (U16,), u(U16)),
        ("cvt.s32.s8 {d}, {0};", (U32,), U32.view(np.int8)[::4].astype(np.int32)),
        ("cvt.rzi.s32.f32 {d}, {0};", (NAN32 * np.float32(1e9),),
         np.where(np.isnan(NAN32), 0,
                  np.clip(np.trunc((NAN32 * np.float32(1e9)).astype(np.float64)), -(2**31), 2**31 - 1)
                  ).astype(np.int32)),
        ("cvt.rni.f32.f32 {d}, {0};", (F32 * 10,), np.rint(F32 * 10)),
        ("cvt.rmi.f32.f32 {d}, {0};", (F32 * 10,), np.floor(F32 * 10)),
        ("cvt.rpi.s32.f32 {d}, {0};", (F32[:60] * 10,), np.ceil(F32[:60] * 10).astype(np.int32)),
        ("cvt.rn.f16.f32 {d}, {0};", (F32,), F32.astype(np.float16)),
        ("cvt.f32.f16 {d}, {0};", (F16,), F16.astype(np.float32)),
        ("cvt.f64.f32 {d}, {0};", (F32,), F32.astype(np.float64)),
        ("cvt.rn.f32.f64 {d}, {0};", (F64,), F64.astype(np.float32)),
        ("cvt.rn.bf16.f32 {d}, {0};", (F32,), bf16(F32)),
        ("cvt.f32.bf16 {d}, {0};", (BF,), widen(BF)),
        ("cvt.rn.f16x2.f32 {d}, {0}, {1};", (F32, G32),
         packed(np.stack([G32.astype(np.float16), F32.astype(np.float16)], 1))),
        ("cvt.rn.bf16x2.f32 {d}, {0}, {1};", (F32, G32), packed(np.stack([bf16(G32), bf16(F32)], 1))),
        ("cvt.rna.tf32.f32 {d}, {0};", (F32[:60],), (F32[:60].view(np.uint32) + u(1 << 12)) & ~u((1 << 13) - 1)),
        ("cvt.sat.u8.s32 %h9, {0};\ncvt.u32.u16 {d}, %h9;", (S32 >> 20,), u(np.clip(S32 >> 20, 0, 255))),
        ("mov.b64 {d}, {{0}, {1}};", (U32, V32), U32.astype(np.uint64) | V32.astype(np.uint64) << np.uint64(32)),
        ("mov.b64 {%r8, %r9}, {0};\nmov.b32 {d}, %r9;", (U64,), (U64 >> np.uint64(32)).astype(np.uint32)),
        ("mov.b32 {%h8, %h9}, {0};\ncvt.u32.u16 {d}, %h8;", (U32,), U32 & u(0xFFFF)),
        ("mov.b32 {d}, 0f3FC00000;", (U32,), np.full(N, 1.5, np.float32)),
        ("mov.b64 {d}, 0d3FF8000000000000;", (U32,), np.full(N, 1.5)),
        ("add.s32 {d}, {0}, -3;", (U32,), U32 - u(3)),
        ("mov.u32 {d}, %laneid;", (U32,), u(np.arange(N) % 32)),
        ("mov.u32 {d}, %ntid.x;", (U32,), u(np.full(N, N))),
        ("mov.u32 {d}, %lanemask_lt;", (U32,), u((1 << (np.arange(N) % 32)) - 1)),
    ]  # fmt: skip


def directed(text, inputs):
    """The results of the rows whose rounding NumPy does not have."""
    name = text.split()[0]
    if name == "mul.ftz.f32":
        a = np.where(np.abs(inputs[0]) < 2**-126, np.copysign(np.float32(0), inputs[0]), inputs[0])
        result = a * inputs[1]
        return np.where(np.abs(result) < 2**-126, np.copysign(np.float32(0), result), result)
    if name == "add.rz.f32":
        exact = [Fraction(float(a)) + Fraction(float(b)) for a, b in zip(*inputs, strict=False)]
        near = [np.float32(float(v)) for v in exact]
        return np.array([np.nextafter(r, np.float32(0)) if abs(Fraction(float(r))) > abs(v) else r
                         for r, v in zip(near, exact, strict=False)])  # fmt: skip
    return exact_fma(*inputs, inputs[0].dtype.type)


with np.errstate(all="ignore"):
    CASES = [(text, inputs, directed(text, inputs) if result is None else result) for text, inputs, result in table()]


@pytest.mark.parametrize(
    ("text", "inputs", "expected"), CASES, ids=[t.replace("\n", " ").split()[0] for t, _, _ in CASES]
)
def test_instruction(text, inputs, expected):
    result = kernels.run_elementwise(text, inputs, expected.dtype)
    np.testing.assert_array_equal(result, expected)


def test_ptxas_accepts_the_table(tmp_path: Path):
    entries = [kernels.elementwise(t, i, e.dtype, f"k{n}") for n, (t, i, e) in enumerate(CASES)]
    assert kernels.assemble(kernels.module(*entries), tmp_path) == ""
