"""Products on tensor cores: the intrinsics by name, and fragments, which have no strides, in `tensorize`."""

from __future__ import annotations

import pytest
from harness import scripts, tensor_cores

from tir_mlir import Schedule, TensorIntrin
from tir_mlir.dialect.diagnostics import IntrinError, ScheduleError
from tir_mlir.intrin import wmma
from tir_mlir.script.parser import parse

COPY = """
F = T.alloc_buffer((64, 64), "float16", scope="wmma.matrix_a")
for io, jo, i, j in T.grid(4, 4, 16, 16):
    with T.block("copy"):
        vi = T.axis.spatial(64, io * 16 + i)
        vj = T.axis.spatial(64, jo * 16 + j)
        F[vi, vj] = A[vi, vj]
for i, j in T.grid(64, 64):
    with T.block("use"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = F[vi, vj]
"""
INTRINSIC = """
@T.prim_func
def desc(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 16), "float16", offset_factor=16)
    C = T.match_buffer(c, (16, 16), "float16", offset_factor=16, scope="wmma.matrix_a")
    with T.block("root"):
        for i, j in T.grid(16, 16):
            with T.block("load"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj]


@T.prim_func
def impl(a: T.handle, c: T.handle):
    s1 = T.int32()
    s0 = T.int32()
    d = T.int32()
    A = T.match_buffer(a, (16, 16), "float16", offset_factor=16, strides={source})
    C = T.match_buffer(c, (16, 16), "float16", offset_factor=16, scope="wmma.matrix_a"{target})
    with T.block("root"):
        T.reads(A[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        {call}
"""
LOAD = 'T.tvm_load_matrix_sync(C.data, 16, 16, 16, C.elem_offset // 256, A.access_ptr("r"), s1, "row_major")'


def register(name: str, call: str = LOAD, source: str = "[s1, s0]", target: str = "") -> str:
    both = parse(INTRINSIC.format(source=source, target=target, call=call))
    TensorIntrin.register(name, both["desc"], both["impl"])
    return name


def copy_schedule() -> Schedule:
    return Schedule(scripts.function(COPY, "A: T.Buffer((64, 64), 'float16'), B: T.Buffer((64, 64), 'float16')"))


@pytest.mark.parametrize("target", ["", ", strides=[16, 1]", ", strides=[d, 1]"])
def test_strides_of_a_fragment_say_nothing(target):
    sch = copy_schedule()
    sch.tensorize(sch.get_loops("copy")[2], register(f"fragment_load{target}", target=target))
    assert "tvm_load_matrix_sync" in sch.mod.script()


def test_strides_of_memory_are_kept():
    name = register("dense_load", LOAD.replace("s1", "16"), source="[16, 1]")
    sch = copy_schedule()
    with pytest.raises(ScheduleError, match=r"parameter A .* needs stride 16 in dimension 0, but .* has 64"):
        sch.tensorize(sch.get_loops("copy")[2], name)


def test_a_fragment_whose_pointer_a_c_function_takes_is_memory():
    call = 'T.call_extern("int32", "load16", C.access_ptr("w"), A.access_ptr("r"), s1)'
    name = register("extern_load", call)
    sch = copy_schedule()
    with pytest.raises(ScheduleError, match=r"parameter C .* needs stride 16 in dimension 0, but .* has 64"):
        sch.tensorize(sch.get_loops("copy")[2], name)


def test_lanes_of_a_warp_share_what_they_access():
    call = f'for tx in T.thread_binding(0, 32, "threadIdx.x"):\n            {LOAD}'
    sch = copy_schedule()
    sch.tensorize(sch.get_loops("copy")[2], register("load_by_lanes", call))
    assert 'T.thread_binding(32, thread="threadIdx.x")' in sch.mod.script()


def test_64_threads_are_no_warp():
    call = f'for tx in T.thread_binding(0, 64, "threadIdx.x"):\n            {LOAD}'
    sch = copy_schedule()
    with pytest.raises(ScheduleError, match=r"iterations of the threadIdx.x loop tx would depend on each other"):
        sch.tensorize(sch.get_loops("copy")[2], register("load_by_64", call))


@pytest.mark.parametrize("name", sorted(wmma.CONSTANTS.values()))
def test_all_are_registered_by_name(name):
    assert TensorIntrin.get(name).name == name


def test_an_unknown_one_is_refused():
    with pytest.raises(IntrinError, match="wmma_sync_16x16x16_f16f16f64"):
        TensorIntrin.get("wmma_sync_16x16x16_f16f16f64")


@pytest.mark.few(1)
@pytest.mark.parametrize(("sums", "trans_b"), [("float32", False), ("float16", False), ("float32", True)])
def test_a_product_is_tensorized(sums, trans_b):
    func = tensor_cores.product(sums=sums, trans_b=trans_b)
    text = tensor_cores.on_tensor_cores(func, sums, trans_b).mod.script()
    for word in ("load_matrix", "fill_fragment", "mma", "store_matrix"):
        assert f"T.tvm_{word}" in text


def test_a_group_of_unknown_types_is_refused():
    with pytest.raises(ValueError, match="float32 in float32"):
        wmma.get_wmma_intrin_group("shared", "global", "float32")
