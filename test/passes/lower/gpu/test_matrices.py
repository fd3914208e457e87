"""Products on tensor cores as kernels: right on the PTX machine; what has no code is refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from harness import ptx, scripts, tensor_cores

import tir_mlir.ptx
from tir_mlir import build, interpret
from tir_mlir.dialect.diagnostics import LoweringError, ScheduleError
from tir_mlir.equivalence import equivalent
from tir_mlir.intrin.wmma import get_wmma_intrin_group
from tir_mlir.script.module import IRModule
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


@pytest.mark.few(1)
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


def test_a_chip_without_tensor_cores_is_refused():
    program = tensor_cores.on_tensor_cores(tensor_cores.product())
    assert not CUDA("sm_61").has("wmma") and "wmma.accumulator" in CUDA("sm_70").memories
    with pytest.raises(
        LoweringError, match=r'has code for NVIDIA\'s GPUs from sm_70 on only; fix: build for CUDA\("sm_80"'
    ):
        build(program, target="sm_61")


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


def test_a_pointer_into_a_fragment_is_refused():
    """Programs in MLIR can have one; in TVMScript a matrix function takes F.data."""
    base, moved = "%1 = arith.index_cast %intptr", "%x = arith.addi %intptr, %intptr : index\n%1 = arith.index_cast %x"
    changed = str(filled().mlir).replace(base, moved, 1)
    with pytest.raises(LoweringError, match="tvm_fill_fragment takes a pointer that is not the data of a fragment"):
        build(IRModule.from_mlir(changed), target=CUDA("sm_80"))


# --- layouts of fragments ---------------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("trans_b", [False, True])
@pytest.mark.parametrize("sums", ["float32", "float16"])
def test_matrix_functions_are_verified_and_interpreted(sums, trans_b):
    func = tensor_cores.product(32, 32, 32, sums, trans_b)
    sch = tensor_cores.on_tensor_cores(func, sums, trans_b)
    assert sch.verify()
    assert sch.verify(target="sm_80")
    a, b = (np.random.default_rng(n).integers(-2, 3, (32, 32)).astype(np.float16) for n in (0, 1))
    c = np.zeros((32, 32), sums)
    interpret(sch, a, b, c)
    np.testing.assert_array_equal(c, (a.astype(np.float32) @ (b.T if trans_b else b)).astype(sums))


@pytest.mark.parametrize("trans_b", [False, True])
def test_a_load_in_the_other_layout_is_not_equal(trans_b):
    func = tensor_cores.product(32, 32, 32, trans_b=trans_b)
    sch = tensor_cores.on_tensor_cores(func, trans_b=trans_b)
    right, wrong = ("col_major", "row_major") if trans_b else ("row_major", "col_major")
    head, load, tail = str(sch.mod.mlir).rpartition("call @tvm_load_matrix_sync")
    changed = head + load + tail.replace(f'tir.layout = "{right}"', f'tir.layout = "{wrong}"', 1)
    assert equivalent(func, sch)
    assert not equivalent(func, IRModule.from_mlir(changed))


LOADS = {
    "a load of B, before the product": ({"load_b": "wmma_load_16x16x16_f16_b_trans_shared"}, False, False,
        'takes B_.* in layout "row_major", and the load in block .* has "col_major": element 1 of '
        r"lane 0 is B_.*\[0, 1\], which the product takes for B_.*\[1, 0\]",
        'tensorize the load with "wmma_load_16x16x16_f16_b_shared"'),
    "a load of A, before the product": ({"load_a": "wmma_load_16x16x16_f16_a_trans_shared"}, False, False,
        r"element 1 of lane 0 is A_.*\[1, 0\], which the product takes for A_.*\[0, 1\]",
        'tensorize the load with "wmma_load_16x16x16_f16_a_shared"'),
    "a load of B, after the product": ({"load_b": "wmma_load_16x16x16_f16_b_trans_shared"}, False, True,
        'loads B_.* in layout "col_major", and the product in block .* takes it in layout "row_major"',
        'tensorize the load with "wmma_load_16x16x16_f16_b_shared"'),
    "a plain load for a transposed product": ({"load_b": "wmma_load_16x16x16_f16_b_shared"}, True, True,
        r"element 1 of lane 0 is B_.*\[1, 0\], which the product takes for B_.*\[0, 1\]",
        'tensorize the load with "wmma_load_16x16x16_f16_b_trans_shared"'),
}  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("name", LOADS)
def test_tensorize_refuses_a_load_in_another_layout_than_the_product(name):
    change, trans_b, product_first, message, fix = LOADS[name]
    sch, blocks = tensor_cores.tiled(tensor_cores.product(32, 32, 32, trans_b=trans_b))
    names = get_wmma_intrin_group("shared", "global", "float16", "float32", trans_b) | change
    order = ["compute", "load_a", "load_b"] if product_first else ["load_a", "load_b", "compute"]

    def tensorize(key, intrin):
        sch.tensorize(blocks[key] if key == "compute" else sch.get_loops(blocks[key])[-2], intrin)

    with pytest.raises(ScheduleError, match=message) as caught:
        for key in order:
            tensorize(key, names[key])
    assert fix in str(caught.value)
    if product_first:  # the fix that is told
        (key,) = change
        tensorize(key, fix.split('"')[1])


# --- padded tiles -----------------------------------------------------------------------------------------------------


def padded(factor, offset):
    """The product of two blocks, its tiles in shared memory with padded rows."""
    sch, blocks = tensor_cores.tiled(tensor_cores.product(32, 32, 32))
    for name in "AB":
        sch.storage_align(f"{name}_shared", 0, 0, factor, offset)
    for key, name in get_wmma_intrin_group("shared", "global", "float16", "float32").items():
        sch.tensorize(blocks[key] if key == "compute" else sch.get_loops(blocks[key])[-2], name)
    return sch


@pytest.mark.nightly
def test_tiles_with_padded_rows_are_right_and_have_no_conflicts():
    a, b = (np.random.default_rng(n).integers(-4, 5, (32, 32)).astype(np.float16) for n in (0, 1))
    conflicts = []
    for sch in (tensor_cores.on_tensor_cores(tensor_cores.product(32, 32, 32)), padded(16, 8)):
        c = np.zeros((32, 32), np.float32)
        (launch,) = interpret(sch, a, b, c, target="sm_80").launches
        np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
        loads = [x for x in launch.accesses if x.text.startswith("wmma.load") and x.requests]
        assert len(loads) >= 2
        conflicts.append(sum(x.units - x.least for x in loads))
    assert conflicts[0] > conflicts[1] == 0


def test_rows_that_the_hardware_does_not_take_are_refused():
    with pytest.raises(LoweringError, match="that are 20 elements apart; the hardware takes multiples of 8; fix: stor"):
        build(padded(16, 4), target=CUDA("sm_80"))
