"""Matrix functions of GPUs are opaque calls: parsed, printed, scheduled by regions, refused by name in a build."""

from __future__ import annotations

import pytest
from harness import scripts

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import BuildError, NotChecked, ScriptError

PARAMS = "A: T.Buffer((64, 16), 'float16'), B: T.Buffer((16, 16), 'float16'), C: T.Buffer((64, 16))"
PRODUCT = """
FB = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_b")
with T.block("b"):
    T.reads(B[0:16, 0:16])
    T.writes(FB[0:16, 0:16])
    T.tvm_load_matrix_sync(FB.data, 16, 16, 16, FB.elem_offset // 256, B.access_ptr("r"), 16, "col_major")
for i in range(4):
    with T.block("tile"):
        vi = T.axis.spatial(4, i)
        T.reads(A[vi * 16:vi * 16 + 16, 0:16], FB[0:16, 0:16])
        T.writes(C[vi * 16:vi * 16 + 16, 0:16])
        FA = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_a")
        FC = T.alloc_buffer((16, 16), "float32", scope="wmma.accumulator")
        T.tvm_fill_fragment(FC.data, 16, 16, 16, 0, T.float32(0))
        T.tvm_load_matrix_sync(
            FA.data, 16, 16, 16, 0, A.access_ptr("r", offset=vi * 256, extent=256), 16, "row_major"
        )
        T.tvm_mma_sync(FC.data, 0, FA.data, 0, FB.data, 0, FC.data, 0)
        T.tvm_store_matrix_sync(
            FC.data, 16, 16, 16, 0, C.access_ptr("w", offset=vi * {step}, extent=256), 16, "row_major"
        )
"""


def product(step: int = 256):
    return scripts.function(PRODUCT.format(step=step), PARAMS)  # also checks that its text parses back to it


@pytest.mark.parametrize(
    "line",
    [
        "T.tvm_load_matrix_sync(FB.data, 16, 16, 16, FB.elem_offset // 256, T.tvm_access_ptr(",
        "T.tvm_fill_fragment(FC.data, 16, 16, 16, 0, T.float32(0.0))",
        "T.tvm_mma_sync(FC.data, 0, FA.data, 0, FB.data, 0, FC.data, 0)",
        'C.access_ptr("w", offset=vi * 256, extent=256), 16, "row_major")',
    ],
)
def test_they_print_as_they_are_written(line):
    assert line in product().script()


def test_tiles_apart_are_bound_to_threads():
    sch = Schedule(product())
    sch.bind(sch.get_loops("tile")[0], "blockIdx.x")
    assert 'thread="blockIdx.x"' in sch.mod.script()


def test_tiles_that_overlap_are_not():
    with pytest.raises(ScriptError, match=r"C is written|T.writes of C|declared spatial"):
        product(128)


def test_a_fragment_is_loaded_where_it_is_used():
    sch = Schedule(product())
    sch.compute_at("b", sch.get_loops("tile")[0])
    text = sch.mod.script()
    assert text.index("for i in range(4)") < text.index('T.block("b")') < text.index('T.block("tile")')


def test_no_code_for_a_cpu():
    with pytest.raises(BuildError, match="tvm_"):
        build(product())


def test_no_exact_semantics():
    sch = Schedule(product())
    sch.split(sch.get_loops("tile")[0], [2, 2])
    with pytest.raises(NotChecked, match='the call of "tvm_'):
        sch.verify()


def test_a_fragment_is_passed_as_its_data():
    with pytest.raises(ScriptError, match=r"T.tvm_fill_fragment takes a fragment as F.data, not buffer A"):
        scripts.function("T.tvm_fill_fragment(A, 16, 16, 16, 0, 0.0)", PARAMS)
