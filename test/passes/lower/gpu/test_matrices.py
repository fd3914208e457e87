"""Products on tensor cores as kernels: right on the PTX machine; what has no code is refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from harness import ptx, scripts, tensor_cores

import tir_mlir.ptx
from tir_mlir import build
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.target import CUDA

FILL = """
for b in T.thread_binding(4, thread="blockIdx.x"):
    with T.block("tile"):
        vb = T.axis.spatial(4, b)
        T.reads()
        T.writes(C[vb * 16:vb * 16 + 16, 0:16])
        F = T.alloc_buffer({shape}, "{dtype}", scope="wmma.accumulator")
        D = T.match_buffer(C[vb * 16:vb * 16 + 16, 0:16], (16, 16), strides=["s", 1])
        {loop}
            T.tvm_fill_fragment(F.data, {size}, 16, 16, {number}, T.float32(1))
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            T.tvm_store_matrix_sync(F.data, 16, 16, 16, 0, D.access_ptr("w"), D.strides[0], "row_major")
"""
LANES = 'for tx in T.thread_binding(32, thread="threadIdx.x"):'


def filled(shape="(16, 16)", dtype="float32", size=16, number=0, loop=LANES):
    text = FILL.format(shape=shape, dtype=dtype, size=size, number=number, loop=loop)
    return scripts.function(text, "C: T.Buffer((64, 16))")


def on_machine(text: str, grid: tuple[int, int, int], args: list[np.ndarray], warps: int = 1) -> None:
    (kernel,) = tir_mlir.ptx.parse(text).kernels.values()
    tir_mlir.ptx.launch(text, kernel.name, grid=grid, block=(32, warps, 1), args=args)


@pytest.mark.parametrize(
    ("sums", "trans_b", "warps"), [("float32", False, 2), ("float16", False, 1), ("float32", True, 1)]
)
def test_a_product_is_right(sums, trans_b, warps, tmp_path):
    func = tensor_cores.product(sums=sums, trans_b=trans_b)
    lib = build(tensor_cores.on_tensor_cores(func, sums, trans_b, warps=warps).mod, target=CUDA("sm_80"))
    numbers = np.random.default_rng(0)
    a, b = (numbers.integers(-4, 5, (64, 64)).astype(np.float16) for _ in range(2))
    c = np.full((64, 64), np.nan, sums)
    on_machine(lib.assembly, (2, 2 // warps, 1), [a, b, c], warps)
    assert "wmma.mma" in lib.assembly
    assert not ptx.assemble(lib.assembly, tmp_path, "sm_80")
    np.testing.assert_array_equal(c, (a.astype(np.float32) @ (b.T if trans_b else b).astype(np.float32)).astype(sums))


@pytest.mark.parametrize("loop", [LANES, "if True:"])
def test_a_fragment_is_filled_in_each_block(loop):
    """By a warp, with or without a loop over its lanes."""
    c = np.zeros((64, 16), np.float32)
    on_machine(build(filled(loop=loop), target=CUDA("sm_80")).assembly, (4, 1, 1), [c])
    assert (c == 1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loop": LANES.replace("32", "16")}, "tvm_fill_fragment is run by the 32 lanes of a warp together"),
        ({"size": 8}, "tvm_fill_fragment has another shape than 16, 16, 16"),
        ({"number": 1}, "tvm_fill_fragment takes fragment 1 of F"),
        ({"shape": "(32, 16)"}, "tvm_fill_fragment takes fragment 0 of F"),
        ({"dtype": "int32"}, '"F" of int32 in scope wmma.accumulator has no code'),
    ],
)
def test_what_has_no_code_is_refused(options, message):
    with pytest.raises(LoweringError, match=message):
        build(filled(**options), target=CUDA("sm_80"))
