"""Measured peak rate of multiply-adds: independent chains of the instruction, in registers only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from external import on_all_threads
from tir_mlir.target.host import features, host

TURNS = 400_000


@dataclass(frozen=True)
class Chain:
    """One link of a chain: LLVM IR of `%b = link(%a, %x)`, all of one vector type; `{a}`, `{b}` are placeholders."""

    name: str
    vector: str
    steps: str
    operations: int  # multiplications and additions per link
    declarations: str
    needs: tuple[str, ...] = ()  # required CPU feature flags


def chains(dtype: str) -> list[Chain]:
    """Return the chains for a type on this machine; int8 means int8 products summed in int32."""
    words = features()
    found = _integer() if dtype == "int8" else [_float(dtype)]
    return [chain for chain in found if words.issuperset(chain.needs)]


def peak(
    dtype: str, threads: int, clock: Callable[[], float] | None = None
) -> tuple[Callable[[], object], float] | None:
    """Return a call that runs only multiply-adds on `threads` threads, and its operation count.

    Uses the fastest of the type's instructions; None if the type has none.
    """
    from measure import interleaved

    calls = {chain: _call(chain, threads) for chain in chains(dtype)}
    if not calls:
        return None
    took = interleaved({chain.name: call for chain, call in calls.items()}, rounds=5, clock=clock)
    work = {chain: float(TURNS * _count() * chain.operations * threads) for chain in calls}
    best = max(calls, key=lambda chain: took[chain.name].rate(work[chain]).greatest)
    return calls[best], work[best]


def _float(dtype: str) -> Chain:
    bits, word = {"float32": (32, "float"), "float64": (64, "double")}[dtype]
    lanes = host().vector_bits // bits
    vector, fma = f"<{lanes} x {word}>", f"@llvm.fma.v{lanes}f{bits}"
    return Chain(
        f"{dtype} fma", vector, f"{{b}} = call {vector} {fma}({vector} {{a}}, {vector} %x, {vector} %x)", 2 * lanes,
        f"declare {vector} {fma}({vector}, {vector}, {vector})",
    )  # fmt: skip


def _integer() -> list[Chain]:
    vnni = [_vnni(bits, flag) for bits, flag in ((256, "avxvnni"), (512, "avx512vnni"))]
    return [_maddwd(), _wide_maddwd(), _maddubs(), *vnni, _sdot()]


def _maddwd() -> Chain:
    """Exact for all int8: products of 16-bit integers, added in pairs, plus one 32-bit addition."""
    return Chain(
        "vpmaddwd", "<8 x i32>",
        "{b}w = bitcast <8 x i32> {a} to <16 x i16>\n"
        "  {b}y = bitcast <8 x i32> %x to <16 x i16>\n"
        "  {b}m = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> {b}w, <16 x i16> {b}y)\n"
        "  {b} = add <8 x i32> {b}m, %x",
        32, "declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)", ("avx2",),
    )  # fmt: skip


def _wide_maddwd() -> Chain:
    """The same in 512 bits."""
    name = "@llvm.x86.avx512.pmaddw.d.512"
    return Chain(
        "vpmaddwd, 512 bits", "<16 x i32>",
        "{b}w = bitcast <16 x i32> {a} to <32 x i16>\n"
        "  {b}y = bitcast <16 x i32> %x to <32 x i16>\n"
        f"  {{b}}m = call <16 x i32> {name}(<32 x i16> {{b}}w, <32 x i16> {{b}}y)\n"
        "  {b} = add <16 x i32> {b}m, %x",
        64, f"declare <16 x i32> {name}(<32 x i16>, <32 x i16>)", ("avx512bw",),
    )  # fmt: skip


def _maddubs() -> Chain:
    """The sequence that libraries use without VNNI: pairwise sums saturate at 16 bits, so one factor must be small."""
    return Chain(
        "vpmaddubsw", "<8 x i32>",
        "{b}w = bitcast <8 x i32> {a} to <32 x i8>\n"
        "  {b}y = bitcast <8 x i32> %x to <32 x i8>\n"
        "  {b}z = bitcast <8 x i32> %x to <16 x i16>\n"
        "  {b}p = call <16 x i16> @llvm.x86.avx2.pmadd.ub.sw(<32 x i8> {b}w, <32 x i8> {b}y)\n"
        "  {b}m = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> {b}p, <16 x i16> {b}z)\n"
        "  {b} = add <8 x i32> {b}m, %x",
        64, "declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)\n"
        "declare <16 x i16> @llvm.x86.avx2.pmadd.ub.sw(<32 x i8>, <32 x i8>)", ("avx2",),
    )  # fmt: skip


def _vnni(bits: int, flag: str) -> Chain:
    vector = f"<{bits // 32} x i32>"
    name = f"@llvm.x86.avx512.vpdpbusd.{bits}"
    return Chain(
        f"vpdpbusd, {bits} bits", vector, f"{{b}} = call {vector} {name}({vector} {{a}}, {vector} %x, {vector} %x)",
        bits // 4, f"declare {vector} {name}({vector}, {vector}, {vector})", (flag,),
    )  # fmt: skip


def _sdot() -> Chain:
    return Chain(
        "sdot", "<4 x i32>",
        "{b}y = bitcast <4 x i32> %x to <16 x i8>\n"
        "  {b} = call <4 x i32> @llvm.aarch64.neon.sdot.v4i32.v16i8(<4 x i32> {a}, <16 x i8> {b}y, <16 x i8> {b}y)",
        32, "declare <4 x i32> @llvm.aarch64.neon.sdot.v4i32.v16i8(<4 x i32>, <16 x i8>, <16 x i8>)", ("dotprod",),
    )  # fmt: skip


def _count() -> int:
    """Return the number of parallel chains: all registers but the factor, a link's operands, and some spare ones."""
    return host().registers - 4


def _call(chain: Chain, threads: int) -> Callable[[], object]:
    # 1.0 is a fixed point of every chain: no overflow, no denormals; 64 bytes hold any vector
    start = np.zeros((threads, 16), np.float32)
    if "float" in chain.name:
        start.view(np.dtype(chain.name.split()[0]))[:] = 2.0**-20
    return on_all_threads("chains", code(chain, _count()), [start], [TURNS])


def code(chain: Chain, count: int) -> str:
    """Return LLVM IR of `chains(ptr, int turns)`; the factor is loaded from the pointer, the last links are stored to
    it."""
    vector = chain.vector
    a, b = [f"%a{c}" for c in range(count)], [f"%b{c}" for c in range(count)]
    lines = [chain.declarations, "define i32 @chains(ptr %out, i32 %turns) {", "entry:"]
    lines += [f"  %x = load {vector}, ptr %out, align 4", "  br label %body", "body:"]
    lines += ["  %t = phi i32 [ 0, %entry ], [ %next, %body ]"]
    lines += [f"  {a[c]} = phi {vector} [ %x, %entry ], [ {b[c]}, %body ]" for c in range(count)]
    lines += ["  " + chain.steps.format(a=a[c], b=b[c]) for c in range(count)]
    lines += ["  %next = add i32 %t, 1", "  %more = icmp slt i32 %next, %turns"]
    lines += ["  br i1 %more, label %body, label %end", "end:"]
    lines += [f"  store volatile {vector} {last}, ptr %out, align 4" for last in b]
    return "\n".join([*lines, f"  store {vector} %x, ptr %out, align 4", "  ret i32 0", "}"])
