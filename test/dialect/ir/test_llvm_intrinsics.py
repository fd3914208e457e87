"""What the known intrinsics compute equals what the CPU computes; other types are not taken for theirs."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import main

from tir_mlir import build, interpret
from tir_mlir.dialect.diagnostics import NotInterpreted
from tir_mlir.target import host

PROGRAM = main(
    "A:{a}:{given} B:{a}:{other} C:{c}:{result}", "C[0:{c}] = T.call_llvm_pure_intrin('{result}x{c}', '{name}', {args})"
)
SUMS = ("C[0:{c}], A[0:{a}], B[0:{a}]", "int32")
# name: the feature that the CPU needs, types of the factors, lanes of them and of the result, arguments, result
DOTS = {
    "llvm.x86.avx512.vpdpbusd.512": ("avx512vnni", "uint8", "int8", 64, 16, *SUMS),
    "llvm.x86.avx512.vpdpbusd.128": ("avx512vnni", "uint8", "int8", 16, 4, *SUMS),
    "llvm.x86.avx512.vpdpwssd.512": ("avx512vnni", "int16", "int16", 32, 16, *SUMS),
    "llvm.x86.avx512.pmaddubs.w.512": ("avx512bw", "uint8", "int8", 64, 32, "A[0:64], B[0:64]", "int16"),
    "llvm.x86.ssse3.pmadd.ub.sw.128": ("ssse3", "uint8", "int8", 16, 8, "A[0:16], B[0:16]", "int16"),
    "llvm.x86.avx512.pmaddw.d.512": ("avx512bw", "int16", "int16", 32, 16, "A[0:32], B[0:32]", "int32"),
    "llvm.x86.sse2.pmadd.wd": ("sse2", "int16", "int16", 8, 4, "A[0:8], B[0:8]", "int32"),
    "llvm.aarch64.neon.sdot": ("dotprod", "int8", "int8", 16, 4, *SUMS),
    "llvm.aarch64.neon.udot": ("dotprod", "uint8", "uint8", 16, 4, *SUMS),
}


def dot(name: str):
    _, given, other, a, c, args, result = DOTS[name]
    args = args.format(a=a, c=c)
    return parse(PROGRAM.format(given=given, other=other, a=a, c=c, result=result, name=name, args=args))


def data(name: str) -> list[np.ndarray]:
    _, given, other, a, c, _, result = DOTS[name]
    random, extremes = np.random.default_rng(4), [np.iinfo(t) for t in (given, other)]
    first, second = (random.integers(i.min, i.max, a, i.dtype, endpoint=True) for i in extremes)
    first[:4], second[:4] = extremes[0].max, extremes[1].min  # sums of these saturate int16
    return [first, second, random.integers(-99, 99, c).astype(result)]


def meant(name: str) -> np.ndarray:
    """The sums of products, in NumPy."""
    first, second, start = data(name)
    sums = (first.astype("int64") * second).reshape(len(start), -1).sum(1)
    if name.find("pmadd") < 0:
        sums += start
    info = np.iinfo(start.dtype)
    return (np.clip(sums, info.min, info.max) if start.dtype == np.int16 else sums).astype(start.dtype)


@pytest.mark.parametrize("name", DOTS)
def test_a_dot_product_is_interpreted(name: str) -> None:
    arrays = data(name)
    interpret(dot(name), *arrays)
    np.testing.assert_array_equal(arrays[-1], meant(name))


@pytest.mark.parametrize("name", DOTS)
def test_the_cpu_computes_the_same(name: str) -> None:
    if not host().has(DOTS[name][0]):
        pytest.skip(f"the CPU has no {DOTS[name][0]}")
    arrays = data(name)
    build(dot(name))["main"](*arrays)
    np.testing.assert_array_equal(arrays[-1], meant(name))


OTHERS = {
    "operands": 'C[0:4] = T.call_llvm_pure_intrin("float32x4", "llvm.fma", A[0:4])',
    "elements": 'C[0:4] = T.call_llvm_pure_intrin("float32x4", "llvm.smax", A[0:4], A[0:4])',
    "lanes": 'C[0:4] = T.call_llvm_pure_intrin("float32x4", "llvm.fabs", A[0:8])',
    "no start": 'C[0] = T.call_llvm_pure_intrin("float32", "llvm.vector.reduce.fadd", A[0:4])',
    "no vector": 'C[0] = T.call_llvm_pure_intrin("float32", "llvm.vector.reduce.fmaximum", A[0])',
    "no arguments": 'C[0] = T.call_llvm_pure_intrin("float32", "llvm.fabs")',
    "words of a dot": 'C[0] = T.Cast("float32", T.call_llvm_pure_intrin("int32", "llvm.x86.sse2.pmadd.wd", 1, 2))',
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_call_with_other_types_is_not_interpreted(name: str) -> None:
    head = '@T.prim_func\ndef main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):\n    '
    with pytest.raises(NotInterpreted, match=r"cannot interpret llvm\..*; run it built"):
        interpret(parse(head + OTHERS[name]), np.zeros(8, "float32"), np.zeros(8, "float32"))


WORDS = main("A:32:int32 B:32:int32 C:32:int32", """
for i in T.thread_binding(32, thread="threadIdx.x"):
    with T.block("C"):
        vi = T.axis.spatial(32, i)
        C[vi] = T.call_llvm_pure_intrin("int32", "{name}", A[vi], B[vi]{upper}, C[vi])
""")  # fmt: skip


@pytest.mark.parametrize("upper", [None, False, True])
@pytest.mark.parametrize("signs", ["s.s", "s.u", "u.s", "u.u"])
def test_a_dot_product_of_words_is_that_of_the_kernel(signs: str, upper: bool | None) -> None:
    count = 4 if upper is None else 2
    name = f"llvm.nvvm.idp{count}a.{signs}"
    program = parse(WORDS.format(name=name, upper="" if upper is None else f", T.bool({upper})"))
    a, b, c = (np.random.default_rng(n).integers(-(2**31), 2**31, 32).astype(np.int32) for n in range(3))
    x = a.view(f"{signs[0].replace('s', 'i')}{4 // count}").reshape(32, -1).astype(np.int64)
    y = b.view(f"{signs[2].replace('s', 'i')}1").reshape(32, 4).astype(np.int64)[:, 2 * bool(upper) :][:, :count]
    meant = (c + (x * y).sum(1)).astype(np.int32)
    for target in (None, "sm_80"):
        result = c.copy()
        interpret(program, a, b, result, target=target)
        np.testing.assert_array_equal(result, meant)
