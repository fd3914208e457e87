"""`TensorIntrin.check`: the data on which wrong kernels differ; libraries, kernels with state."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import TensorIntrin, create_llvm
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.intrin.check import RUNS, DescriptionFacts, arguments, deciding
from tir_mlir.runtime.tools import c_tools
from tir_mlir.script import tir as T


@T.prim_func
def add_desc(A: T.Buffer((16, 16)), B: T.Buffer((16, 16))):
    for i, j in T.grid(16, 16):
        with T.block("add"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = B[vi, vj] + A[vi, vj]


@T.prim_func
def add_impl(a: T.handle, b: T.handle):
    sa, sb = T.int32(), T.int32()
    A = T.match_buffer(a, (16, 16), strides=[sa, 1])
    B = T.match_buffer(b, (16, 16), strides=[sb, 1])
    with T.block("root"):
        T.reads(A[0:16, 0:16], B[0:16, 0:16])
        T.writes(B[0:16, 0:16])
        T.evaluate(T.call_extern("int32", "checked_add", B.access_ptr("rw"), A.access_ptr("r"), sb, sa))


@T.prim_func
def clip_desc(C: T.Buffer((256,), "int32"), D: T.Buffer((256,), "int8")):
    for i in range(256):
        with T.block("clip"):
            vi = T.axis.spatial(256, i)
            scaled = T.round(T.Cast("float32", C[vi]) * T.float32(0.0078125))
            D[vi] = T.Cast("int8", T.max(T.min(scaled, T.float32(127)), T.float32(-128)))


@T.prim_func
def clip_impl(C: T.Buffer((256,), "int32"), D: T.Buffer((256,), "int8")):
    with T.block("root"):
        T.reads(C[0:256])
        T.writes(D[0:256])
        T.evaluate(T.call_extern("int32", "checked_clip", D.access_ptr("w"), C.access_ptr("r")))


@T.prim_func
def words_impl(A: T.Buffer((16,)), B: T.Buffer((16,))):
    with T.block("root"):
        T.reads(A[0:16])
        T.writes(B[0:16])
        T.evaluate(T.call_extern("int32", "checked_load", A.access_ptr("r")))
        T.evaluate(T.call_extern("int32", "checked_store", B.access_ptr("w")))


@T.prim_func
def words_desc(A: T.Buffer((16,)), B: T.Buffer((16,))):
    for i in range(16):
        with T.block("words"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] + T.float32(1)


@pytest.fixture(autouse=True)
def registered():
    TensorIntrin.register("checked.add", add_desc, add_impl, override=True)
    TensorIntrin.register("checked.clip", clip_desc, clip_impl, override=True)
    TensorIntrin.register("checked.words", words_desc, words_impl, override=True)


ADD = """int checked_add(float *b, const float *a, int sb, int sa) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) b[i * %s + j] += a[i * %s + j];
  return 0;
}"""
CLIP = """#include <math.h>
int checked_clip(signed char *d, const int *c) {
  for (int i = 0; i < 256; ++i) { float x = %s; d[i] = (signed char)(%s); }
  return 0;
}"""
BOTH_ENDS = "x > 127 ? 127 : x < -128 ? -128 : x"
WORDS = """static float kept[16];
int checked_load(const float *a) { for (int i = 0; i < 16; ++i) kept[i] = a[i]; return 0; }
int checked_store(float *b) { for (int i = 0; i < 16; ++i) b[i] = kept[i] + %s; return 0; }"""


@pytest.mark.parametrize(("strides", "right"), [(("sb", "sa"), True), (("sa", "sa"), False), (("sb", "sb"), False)])
def test_the_stride_of_another_operand(strides, right):
    assert bool(TensorIntrin.check("checked.add", kernel=ADD % strides)) == right


@pytest.mark.parametrize(
    ("value", "clipped", "right"),
    [
        ("nearbyintf(c[i] / 128.0f)", BOTH_ENDS, True),
        ("roundf(c[i] / 128.0f)", BOTH_ENDS, False),
        ("floorf(c[i] / 128.0f)", BOTH_ENDS, False),
        ("truncf(c[i] / 128.0f)", BOTH_ENDS, False),
        ("nearbyintf(c[i] / 64.0f)", BOTH_ENDS, False),
        ("nearbyintf(c[i] / 128.0f)", "x > 127 ? 127 : x < -127 ? -127 : x", False),
        ("c[i]", "x > 0 ? 127 : x < 0 ? -128 : 0", False),
    ],
    ids=["right", "half away", "down", "to zero", "scale", "-127", "sign"],
)
def test_requantisations(value, clipped, right):
    assert bool(TensorIntrin.check("checked.clip", kernel=CLIP % (value, clipped))) == right


@pytest.mark.parametrize(("added", "right"), [("1", True), ("2", False)])
def test_a_kernel_of_two_calls_that_keeps_state(added, right):
    assert bool(TensorIntrin.check("checked.words", kernel=WORDS % added)) == right


@pytest.mark.slow
def test_a_library(tmp_path):
    source = tmp_path / "words.c"
    source.write_text(WORDS % "1")
    c_tools.compile_c(source, tmp_path / "words.o")
    c_tools.link_shared([str(tmp_path / "words.o")], str(tmp_path / "words.so"), [])
    result = TensorIntrin.check("checked.words", libs=[tmp_path / "words.so"])
    assert result and "with the given libraries" in str(result)


def test_a_kernel_and_a_library():
    with pytest.raises(BuildError, match="the code of a kernel or libs that define it, not both"):
        TensorIntrin.check("checked.words", kernel=create_llvm(WORDS % "1"), libs=["words.so"])


def test_numbers_at_which_a_description_decides():
    points = deciding(DescriptionFacts((127.0, 2.0**-9), divides=False))
    assert {127.0, 127.5, 127 / 2**-9, 127.5 / 2**-9, 0.5 / 2**-9, 0.0} <= set(points)


class _Param:
    """A parameter of a signature, of a type, 7 x 5, of variable stride."""

    def __init__(self, dtype: str):
        self.dtype, self.strides = dtype, (None, 1)
        self.dims = [_Size(7), _Size(5)]


class _Size(int):
    def value(self, sizes: dict[str, int]) -> int:
        return int(self)


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "uint32", "int64", "bool"]
)
def test_data_of_each_type(dtype):
    for run in range(RUNS):
        facts = DescriptionFacts((1e30, -3.0, 0.0, 2.0**-9), divides=True)
        memories = arguments([_Param(dtype)] * 3, [4, 4, 4], facts, run, seed=0)
        assert {m.part.dtype for m in memories} == {np.dtype(dtype)} and {m.part.shape for m in memories} == {(7, 5)}
        assert len({m.part.strides[0] for m in memories}) == 3
        if np.dtype(dtype).kind in "iu":
            assert all(np.all(m.whole) for m in memories)  # the description divides
