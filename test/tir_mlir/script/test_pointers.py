"""Pointers in calls of C functions: A.data, elem_offset, strides; access_ptr with an extent is a window in proofs."""

from __future__ import annotations

import numpy as np
import pytest
from harness import scripts

from tir_mlir import Schedule, build, create_llvm
from tir_mlir.dialect.diagnostics import ScheduleError, ScriptError

VECTORS = "A: T.Buffer((16,)), B: T.Buffer((16,))"
MATRICES = "A: T.Buffer((8, 16)), B: T.Buffer((8, 16))"
COPY = """
for {loops}:
    with T.block("b"):
        {iters}
        T.evaluate(T.call_extern("int32", "copy", A.access_ptr("r", offset={offset}, extent={extent}),
                                 B.access_ptr("w", offset={offset}, extent={extent}), {extent}))
"""
KERNELS = """
int copy(const float* a, float* b, int n) { for (int i = 0; i < n; ++i) b[i] = a[i]; return 0; }
int scale(const float* a, int offset, int step, int n, float* b) {
    for (int i = 0; i < n; ++i) b[i] = 2 * a[offset + i * step];
    return 0;
}
"""


def copies(offset: str, extent: int, kind: str = "spatial"):
    iters = f"vi = T.axis.{kind}(4, i)"
    text = COPY.format(loops="i in range(4)", iters=iters, offset=offset, extent=extent)
    return scripts.function(text, VECTORS)


def tiles(offset: str, extent: int):
    iters = 'vi, vj = T.axis.remap("SS", [i, j])'
    return scripts.function(
        COPY.format(loops="i, j in T.grid(4, 4)", iters=iters, offset=offset, extent=extent), MATRICES
    )


def linked(sch: Schedule):
    sch.annotate(sch.get_loops("b")[0], "pragma_import_llvm", create_llvm(KERNELS))
    return build(sch)


def test_windows_of_pointers_apart_run_in_parallel():
    sch = Schedule(copies("vi * 4", 4))
    sch.parallel(sch.get_loops("b")[0])
    a, b = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    linked(sch)(a, b)
    np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize(("offset", "extent"), [("vi * 32 + vj * 4", 4), ("vi * 32 + vj * 8", 8)])
def test_windows_of_matrices(offset, extent):
    assert f'A.access_ptr("r", offset={offset}, extent={extent})' in tiles(offset, extent).script()


def test_a_window_of_whole_rows():
    iters = "vi = T.axis.spatial(4, i)"
    text = COPY.format(loops="i in range(4)", iters=iters, offset="vi * 32", extent=32)
    assert "T.writes(B[vi * 2:vi * 2 + 2, 0:16])" in scripts.function(text, MATRICES).script()


@pytest.mark.parametrize(("offset", "extent"), [("vi * 4", 4), ("vi * 4", 1)])
def test_the_window_is_the_region(offset, extent):
    text = copies(offset, extent).script()
    size = f":{offset} + {extent}" if extent > 1 else ""
    assert f"T.reads(A[{offset}{size}]" in text


def test_windows_that_overlap_are_not_independent():
    with pytest.raises(ScriptError, match="declared spatial"):
        copies("vi * 3", 4)
    sch = Schedule(copies("vi * 3", 4, "opaque"))
    with pytest.raises(ScheduleError):
        sch.parallel(sch.get_loops("b")[0])


def test_a_window_past_the_end_of_its_buffer():
    with pytest.raises(ScriptError, match="A is read at indices 12 to 16 in dimension 0, which has 16 rows, at i = 3"):
        copies("vi * 4", 5)


def test_a_window_across_rows_counts_as_the_whole_buffer():
    with pytest.raises(ScriptError, match="declared spatial"):
        tiles("vi * 32 + vj * 8 + 4", 24)


def test_access_ptr_has_no_other_arguments():
    with pytest.raises(ScriptError, match="access_ptr has no argument length; it has access_mask"):
        scripts.function('T.evaluate(T.call_extern("int32", "f", A.access_ptr("r", length=3)))', VECTORS)


VIEW = """
with T.block("root"):
    for i in range(1):
        with T.block("b"):
            vi = T.axis.spatial(1, i)
            T.reads(A[2:6, 3])
            T.writes(B[0:8, 0:16])
            V = T.match_buffer(A[2:6, 3:4], (4, 1), strides=[s, 1], offset_factor=1)
            T.evaluate(T.call_extern("int32", "scale", V.data, V.elem_offset, V.strides[0], 4, B.data))
"""


def test_base_offset_and_strides_are_arguments():
    sch = Schedule(scripts.function(VIEW, MATRICES))
    a, b = np.random.default_rng(0).random((8, 16), np.float32), np.zeros((8, 16), np.float32)
    linked(sch)(a, b)
    np.testing.assert_array_equal(b[0, :4], 2 * a[2:6, 3])
    assert not b[0, 4:].any() and not b[1:].any()


def test_base_offset_and_strides_print():
    assert '"scale", V.data, V.elem_offset, V.strides[0], 4, B.data' in scripts.function(VIEW, MATRICES).script()


def test_elem_offset_in_arithmetic():
    module = scripts.function(VIEW.replace("V.elem_offset,", "V.elem_offset + 1,"), MATRICES)
    assert "V.elem_offset + 1" in module.script()
