"""Each instruction of a table on arrays, beside what NumPy computes; ptxas accepts all of them."""

from __future__ import annotations

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
F32 = _rng.standard_normal(N).astype(np.float32)
G32 = _rng.permutation(F32)
FEW = (U32 % 40).astype(np.uint32)


def u(a):
    return np.asarray(a).astype(np.uint32)


# text, inputs, result
TABLE = [
    ("add.s32 {d}, {0}, {1};", (U32, V32), U32 + V32),
    ("sub.s32 {d}, {0}, {1};", (U32, V32), U32 - V32),
    ("mul.lo.s32 {d}, {0}, {1};", (U32, V32), U32 * V32),
    ("mul.hi.u32 {d}, {0}, {1};", (U32, V32), u((U32.astype(np.uint64) * V32) >> np.uint64(32))),
    ("mul.hi.s32 {d}, {0}, {1};", (S32, T32), ((S32.astype(np.int64) * T32) >> 32).astype(np.int32)),
    ("mul.wide.s32 {d}, {0}, {1};", (S32, T32), S32.astype(np.int64) * T32),
    ("mad.lo.s32 {d}, {0}, {1}, {2};", (U32, V32, FEW), U32 * V32 + FEW),
    ("and.b32 {d}, {0}, {1};", (U32, V32), U32 & V32),
    ("shl.b32 {d}, {0}, {1};", (U32, FEW), np.where(FEW > 31, 0, U32 << np.minimum(FEW, 31)).astype(np.uint32)),
    ("shr.s32 {d}, {0}, {1};", (S32, FEW), S32 >> np.minimum(FEW, 31).astype(np.int32)),
    ("popc.b32 {d}, {0};", (U32,), u([bin(v).count("1") for v in U32])),
    ("clz.b32 {d}, {0};", (U32,), u([32 - int(v).bit_length() for v in U32])),
    ("brev.b32 {d}, {0};", (U32,), u([int(f"{v:032b}"[::-1], 2) for v in U32])),
    ("add.rn.f32 {d}, {0}, {1};", (F32, G32), F32 + G32),
    ("max.f32 {d}, {0}, {1};", (F32, G32), np.maximum(F32, G32)),
    ("cvt.rn.f32.s32 {d}, {0};", (S32,), S32.astype(np.float32)),
    ("cvt.u64.u32 {d}, {0};", (U32,), U32.astype(np.uint64)),
]


@pytest.mark.parametrize("text, inputs, expected", TABLE, ids=[t.split()[0] for t, _, _ in TABLE])
def test_instruction(text, inputs, expected):
    result = kernels.run_elementwise(text, inputs, expected.dtype)
    np.testing.assert_array_equal(result.view(np.uint8), expected.view(np.uint8))


def test_ptxas_accepts_the_table(tmp_path: Path):
    entries = [kernels.elementwise(t, i, e.dtype, f"k{n}") for n, (t, i, e) in enumerate(TABLE)]
    assert kernels.assemble(kernels.module(*entries), tmp_path) == ""
