"""Matrix instructions of a warp, beside NumPy: each element where the manual puts it. ptxas accepts all texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from harness import ptx as kernels

from tir_mlir import ptx

_rng = np.random.default_rng(5)
LANE = np.arange(32)
G, T = LANE >> 2, LANE & 3


def bf16(a):
    bits = np.asarray(a, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def widen(a):
    return (a.astype(np.uint32) << 16).view(np.float32)


def values(type_, shape):
    """Random elements of a type: as stored, and as numbers."""
    if type_ in ("s8", "u8"):
        stored = _rng.integers(-128 if type_ == "s8" else 0, 128, shape).astype(np.int8 if type_ == "s8" else np.uint8)
        return stored, stored.astype(np.float64)
    real = _rng.standard_normal(shape)
    if type_ == "f16":
        stored = real.astype(np.float16)
        return stored, stored.astype(np.float64)
    if type_ == "bf16":
        return bf16(real), widen(bf16(real)).astype(np.float64)
    if type_ == "tf32":
        stored = real.astype(np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
        return stored, stored.view(np.float32).astype(np.float64)
    return real, real


# The manual's figures, element by element: register words of operand a, b of a lane.
def words_of_a(a, k, per):
    """{a0..}: (row g or g + 8, columns from per * t), the upper half of k after that."""
    registers = a.shape[0] * k // 32 // per
    return np.stack([np.stack([a[G + 8 * (r % 2), per * T + e + (r // 2) * per * 4] for e in range(per)], 1)
                     for r in range(registers)], 1)  # fmt: skip


def words_of_b(b, k, per):
    registers = k * 8 // 32 // per
    return np.stack([np.stack([b[per * T + e + r * per * 4, G] for e in range(per)], 1) for r in range(registers)], 1)


MMA = [
    ("m16n8k16", "f16", "f32", 2), ("m16n8k8", "f16", "f32", 2), ("m16n8k16", "bf16", "f32", 2),
    ("m16n8k8", "tf32", "f32", 1), ("m16n8k4", "tf32", "f32", 1), ("m16n8k32", "s8", "s32", 4),
    ("m16n8k16", "u8", "s32", 4), ("m16n8k16", "f16", "f16", 2),
]  # fmt: skip


def mma_kernel(shape, type_, total, name="k"):
    k = int(shape.split("k")[1])
    per = {"f16": 2, "bf16": 2, "tf32": 1, "s8": 4, "u8": 4}[type_]
    na, nb, nc = 16 * k // 32 // per, 8 * k // 32 // per, 4 if total != "f16" else 2
    lines = []
    for pointer, first, count in ((0, 1, na), (1, 10, nb)):
        lines.append(kernels.at_thread(f"%p{pointer}", 4 * count))
        lines += [f"ld.global.b32 %r{first + i}, [%d63+{4 * i}];" for i in range(count)]
    zero = ", ".join(["%r30"] * nc)
    lines.append("mov.b32 %r30, 0;")
    a, b, d = (", ".join(f"%r{f + i}" for i in range(n)) for f, n in ((1, na), (10, nb), (20, nc)))
    op = f"mma.sync.aligned.{shape}.row.col.{total}.{type_}.{type_}.{total}"
    lines.append(f"{op} {{{d}}}, {{{a}}}, {{{b}}}, {{{zero}}};")
    lines.append(kernels.at_thread("%p2", 4 * nc))
    lines += [f"st.global.b32 [%d63+{4 * i}], %r{20 + i};" for i in range(nc)]
    return kernels.kernel("\n".join(lines), 3, name)


@pytest.mark.parametrize(("shape", "type_", "total", "per"), MMA)
def test_mma(shape, type_, total, per):
    k = int(shape.split("k")[1])
    a, x = values(type_, (16, k))
    b, y = values(type_, (k, 8))
    wa = np.ascontiguousarray(words_of_a(a, k, per)).view(np.uint32)
    wb = np.ascontiguousarray(words_of_b(b, k, per)).view(np.uint32)
    product = x @ y
    if total == "f16":
        out = np.zeros((32, 2, 2), np.float16)
        expected = np.stack([np.stack([product[G + 8 * r, 2 * T + e] for e in (0, 1)], 1) for r in (0, 1)], 1)
    else:
        out = np.zeros((32, 4), np.float32 if total == "f32" else np.int32)
        expected = np.stack([product[G + 8 * (r // 2), 2 * T + r % 2] for r in range(4)], 1)
    ptx.launch(kernels.module(mma_kernel(shape, type_, total)), "k", (1,), (32,), [wa, wb, out])
    np.testing.assert_array_equal(out, expected.astype(out.dtype))


def test_ptxas_accepts_mma(tmp_path: Path):
    entries = [mma_kernel(s, t, d, f"k{n}") for n, (s, t, d, _) in enumerate(MMA)]
    assert kernels.assemble(kernels.module(*entries, LDMATRIX.format(n="l", trans=""), STMATRIX), tmp_path) == ""


LDMATRIX = """.visible .entry {n}(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr .global .align 16 b)
{{
.reg .b32 %r<20>;
.reg .b64 %d<8>;
.shared .align 128 .b8 tile[512];
ld.param.b64 %d1, [a];
ld.param.b64 %d2, [b];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d3, %r1, 16;
add.s64 %d4, %d1, %d3;
ld.global.v4.b32 {{%r2, %r3, %r4, %r5}}, [%d4];
mov.b32 %r6, tile;
shl.b32 %r7, %r1, 4;
add.s32 %r8, %r6, %r7;
st.shared.v4.b32 [%r8], {{%r2, %r3, %r4, %r5}};
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{%r10, %r11, %r12, %r13}}, [%r8];
add.s64 %d5, %d2, %d3;
st.global.v4.b32 [%d5], {{%r10, %r11, %r12, %r13}};
ret;
}}
"""
STMATRIX = """.visible .entry s(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr .global .align 16 b)
{
.reg .b32 %r<20>;
.reg .b64 %d<8>;
.shared .align 128 .b8 tile[512];
ld.param.b64 %d1, [a];
ld.param.b64 %d2, [b];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d3, %r1, 16;
add.s64 %d4, %d1, %d3;
ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d4];
mov.b32 %r6, tile;
shl.b32 %r7, %r1, 4;
add.s32 %r8, %r6, %r7;
stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r8], {%r2, %r3, %r4, %r5};
bar.sync 0;
ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r8];
add.s64 %d5, %d2, %d3;
st.global.v4.b32 [%d5], {%r10, %r11, %r12, %r13};
ret;
}
"""


@pytest.mark.parametrize("trans", ["", ".trans"])
def test_ldmatrix(trans):
    matrices = _rng.integers(0, 2**16, (4, 8, 8)).astype(np.uint16)
    out = np.zeros((32, 4, 2), np.uint16)
    report = ptx.launch(kernels.module(LDMATRIX.format(n="l", trans=trans)), "l", (1,), (32,), [matrices, out])
    for i in range(4):
        matrix = matrices[i].T if trans else matrices[i]
        np.testing.assert_array_equal(out[:, i], np.stack([matrix[G, 2 * T], matrix[G, 2 * T + 1]], 1))
    row = next(a for a in report.accesses if a.text.startswith("ldmatrix"))
    assert (row.requests, row.units) == (1, 4)


def test_stmatrix_is_the_inverse_of_ldmatrix():
    registers = _rng.integers(0, 2**16, (32, 4, 2)).astype(np.uint16)
    out = np.zeros((4, 8, 8), np.uint16)
    ptx.launch(kernels.module(STMATRIX), "s", (1,), (32,), [registers, out])
    for i in range(4):
        np.testing.assert_array_equal(np.stack([out[i][G, 2 * T], out[i][G, 2 * T + 1]], 1), registers[:, i])


def test_rows_of_128_bytes_conflict_in_ldmatrix():
    """Eight rows 128 bytes apart lie in one bank group: eight passes a matrix."""
    text = (
        LDMATRIX.format(n="l", trans="")
        .replace("tile[512]", "tile[4096]")
        .replace("shl.b32 %r7, %r1, 4", "shl.b32 %r7, %r1, 7")
    )
    report = ptx.launch(kernels.module(text), "l", (1,), (32,), [np.zeros(256, np.uint16), np.zeros(256, np.uint16)])
    row = next(a for a in report.accesses if a.text.startswith("ldmatrix"))
    assert row.units == 32 and row.least == 4


def test_a_wrong_number_of_registers_is_refused():
    text = mma_kernel("m16n8k16", "f16", "f32").replace("{%r10, %r11}", "{%r10}")
    with pytest.raises(ptx.PtxError, match="an operand of 1 registers where 2 are"):
        ptx.launch(kernels.module(text), "k", (1,), (32,), [np.zeros(256, np.uint32)] * 3)


def wmma_kernel(types, name="w"):
    """D = A * B + 0 by fragments, whose layout only the machine (and a chip) knows; A and B in global or shared
    memory."""
    a, total = types
    registers = {"f16": (8, 8), "bf16": (4, 4), "s8": (2, 2)}[a]
    x, y = (", ".join(f"%r{f + i}" for i in range(n)) for f, n in zip((1, 11), registers, strict=False))
    d = ", ".join(f"%r{20 + i}" for i in range(8))
    inputs = f"{total}.{total}" if a == "f16" else f"{total}.{a}.{a}.{total}"
    return kernels.kernel(
        f"mov.b32 %r30, 16;\nmov.b32 %r31, 0;\n"
        f"wmma.load.a.sync.aligned.row.m16n16k16.global.{a} {{{x}}}, [%p0], %r30;\n"
        f"wmma.load.b.sync.aligned.col.m16n16k16.global.{a} {{{y}}}, [%p1], %r30;\n"
        f"wmma.mma.sync.aligned.row.col.m16n16k16.{inputs} {{{d}}}, {{{x}}}, {{{y}}}, {{{', '.join(['%r31'] * 8)}}};\n"
        f"wmma.store.d.sync.aligned.row.m16n16k16.global.{total} [%p2], {{{d}}}, %r30;",
        3, name,
    )  # fmt: skip


@pytest.mark.parametrize("types", [("f16", "f32"), ("bf16", "f32"), ("s8", "s32")])
def test_wmma(types):
    a, x = values(types[0], (16, 16))
    b, y = values(types[0], (16, 16))
    out = np.zeros((16, 16), np.float32 if types[1] == "f32" else np.int32)
    ptx.launch(kernels.module(wmma_kernel(types)), "w", (1,), (32,), [a, b, out], unwritten=[2])
    np.testing.assert_array_equal(out, (x @ y.T).astype(out.dtype))


def test_ptxas_accepts_wmma(tmp_path: Path):
    entries = [wmma_kernel(t, name=f"k{n}") for n, t in enumerate([("f16", "f32"), ("bf16", "f32"), ("s8", "s32")])]
    assert kernels.assemble(kernels.module(*entries), tmp_path) == ""


@pytest.mark.parametrize(("pitch", "passes"), [(16, 8), (24, 4), (32, 16)])
def test_passes_of_a_load_of_a_fragment(pitch, passes):
    """Eight rows at a time, 16 bytes of each: four passes at least."""
    fill = "mov.b32 %r9, buffer;\nmad.lo.u32 %r9, %t, 32, %r9;\n"
    fill += "\n".join(f"st.shared.v4.b32 [%r9+{16 * i}], {{%t, %t, %t, %t}};" for i in (0, 1))
    registers = ", ".join(f"%r{n}" for n in range(8))
    load = f"mov.b32 %r9, buffer;\nwmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {{{registers}}}, [%r9], {pitch};"
    text = kernels.module(kernels.kernel(f"{fill}\nbar.sync 0;\n{load}", 0, shared=1024))
    report = ptx.launch(text, "k", (1,), (32,), [])
    (access,) = [a for a in report.accesses if a.text.startswith("wmma.load")]
    assert (access.requests, access.units, access.least) == (1, passes, 4)


def test_rows_of_a_fragment_begin_at_multiples_of_16_bytes():
    registers = ", ".join(f"%r{n}" for n in range(8))
    load = f"mov.b32 %r9, buffer;\nwmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {{{registers}}}, [%r9], 20;"
    with pytest.raises(ptx.PtxError, match="rows that are 20 elements of 2 bytes apart"):
        ptx.launch(kernels.module(kernels.kernel(load, 0, shared=1024)), "k", (1,), (32,), [])
