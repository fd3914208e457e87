"""Intrinsics of mma.sync: by name, and user-written ones, of which all exchanges of operands and halves are refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from harness import mma_products, scripts

from tir_mlir import Schedule, TensorIntrin, build, interpret
from tir_mlir.dialect.diagnostics import IntrinError, ScheduleError
from tir_mlir.intrin.mma import get_mma_intrin_group
from tir_mlir.schedule.handles import BlockHandle
from tir_mlir.script.parser import parse

LOAD = """
@T.prim_func
def desc(a: T.handle, c: T.handle):
    A = T.match_buffer(a, {shape}, "{dtype}", offset_factor=8, scope="shared")
    C = T.match_buffer(c, {shape}, "{dtype}", scope="{scope}")
    with T.block("root"):
        for i, j in T.grid{shape}:
            with T.block("load"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj]


@T.prim_func
def impl(a: T.handle, c: T.handle):
    s1 = T.int32()
    A = T.match_buffer(a, {shape}, "{dtype}", offset_factor=8, scope="shared", strides=[s1, 1])
    C = T.match_buffer(c, {shape}, "{dtype}", scope="{scope}")
    with T.block("root"):
        T.reads(A[0:{rows}, 0:{columns}])
        T.writes(C[0:{rows}, 0:{columns}])
        for tx in T.thread_binding(0, 32, "threadIdx.x"):
            {calls}
"""
SYNC = """
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 32), "float16", scope="mma.matrix_a")
    B = T.match_buffer(b, {shape}, "float16", scope="{scope}")
    C = T.match_buffer(c, (16, 8), "float32", scope="mma.accumulator")
    with T.block("root"):
        for i, j, k in T.grid(16, 8, 32):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + T.Cast("float32", A[vi, vk]) * T.Cast("float32", {operand})


@T.prim_func
def impl(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, 32), "float16", scope="mma.matrix_a")
    B = T.match_buffer(b, {shape}, "float16", scope="{scope}")
    C = T.match_buffer(c, (16, 8), "float32", scope="mma.accumulator")
    with T.block("root"):
        T.reads(C[0:16, 0:8], A[0:16, 0:32], B[0:{shape[0]}, 0:{shape[1]}])
        T.writes(C[0:16, 0:8])
        for tx in T.thread_binding(0, 32, "threadIdx.x"):
            {calls}
"""
COPY = """
S = T.alloc_buffer({shape}, "{dtype}", scope="shared")
F = T.alloc_buffer({shape}, "{dtype}", scope="{scope}")
for i, j in T.grid{shape}:
    with T.block("copy"):
        vi, vj = T.axis.remap("SS", [i, j])
        S[vi, vj] = A[vi, vj]
for i, j in T.grid{shape}:
    with T.block("load"):
        vi, vj = T.axis.remap("SS", [i, j])
        F[vi, vj] = S[vi, vj]
for i, j in T.grid{shape}:
    with T.block("use"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = F[vi, vj]
"""


def register(name: str, text: str) -> str:
    both = parse(text)
    TensorIntrin.register(name, both["desc"], both["impl"], override=True)
    return name


def lines(*calls: str) -> str:
    return "\n            ".join(calls)


def copying(scope: str, shape: tuple[int, int] = (16, 16), dtype: str = "float16") -> Schedule:
    params = f"A: T.Buffer({shape}, '{dtype}'), B: T.Buffer({shape}, '{dtype}')"
    return Schedule(scripts.function(COPY.format(scope=scope, shape=shape, dtype=dtype), params))


def load(
    scope: str, *calls: str, sch: Schedule | None = None, shape: tuple[int, int] = (16, 16), dtype: str = "float16"
) -> Schedule:
    """A copy whose load into fragments is tensorized by these calls."""
    sch = sch or copying(scope, shape, dtype)
    rows, columns = shape
    facts = {"rows": rows, "columns": columns, "shape": shape, "scope": scope, "dtype": dtype}
    sch.tensorize(sch.get_loops("load")[0], register("own_load", LOAD.format(calls=lines(*calls), **facts)))
    return sch


def form(trans: bool, exchanged: bool, rows: bool, columns: bool) -> str:
    """A ldmatrix of four: which bit of the lane says the lower rows, which the right columns; halves exchanged."""
    down, beside = ("lane // 16", "lane // 8 % 2") if exchanged else ("lane // 8 % 2", "lane // 16")
    down, beside = (f"(1 - {x})" if other else x for x, other in ((down, rows), (beside, columns)))
    return f"x4{'.trans' if trans else ''}: lane % 8 + {down} * 8, {beside} * 8"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("scope", "right"),
    [
        ("mma.matrix_a", (False, False)),
        ("mma.matrix_a_trans", (True, True)),
        ("mma.matrix_b", (True, False)),
        ("mma.matrix_b_trans", (False, True)),
    ],
)
def test_one_of_16_exchanges_of_halves_loads_an_operand(scope, right):
    sch = copying(scope)
    for bits in product([False, True], repeat=4):
        call = f'T.ptx_ldmatrix(C.data, 0, A.access_ptr("r"), "{form(*bits)}")'
        if bits == (*right, False, False):
            assert form(*bits).split(":")[0] in load(scope, call).mod.script()
            continue
        with pytest.raises(
            ScheduleError, match=r"loads A\[\d+, \d+\] into register \d+ of lane \d+, which has A\["
        ) as e:
            load(scope, call, sch=sch)
        assert f'ldmatrix "x{4 if "_b" not in scope else 2}' in str(e.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('0, A.access_ptr("r"), "x2: lane % 16, 0"', r"does not load register 4 of lane 0, which has A\[0, 8\]"),
        ('4, A.access_ptr("r"), "x4: lane % 16, lane // 16 * 8"', "fills 8 elements from 4 on; a lane has 8 of C"),
        (
            '0, A.access_ptr("r"), "x4: lane % 16, lane // 16 * 4"',
            r"lane 16 names A\[0, 4\], which is not at a mul",
        ),
        (
            '0, A.access_ptr("r"), "x4: lane, lane // 16 * 8"',
            r"lane 16 names 8 elements from A\[16, 8\] on, outs",
        ),
        ('0, A.access_ptr("r"), "x3: lane % 16, 0"', 'ldmatrix has no form "x3'),
        ('0, A.access_ptr("r"), "x4: lane ^ 1, 0"', "is not made of lane, numbers"),
    ],
)
def test_other_loads_are_refused(call, message):
    with pytest.raises(ScheduleError, match=message):
        load("mma.matrix_a", f"T.ptx_ldmatrix(C.data, {call})")


def test_two_loads_fill_one_operand():
    calls = [f'T.ptx_ldmatrix(C.data, {4 * n}, A.access_ptr("r"), "x2: lane % 16, {8 * n}")' for n in (0, 1)]
    load("mma.matrix_a", *calls)
    with pytest.raises(ScheduleError, match=r"loads A\[0, 8\] into register 0 of lane 0, which has A\[0, 0\]"):
        load("mma.matrix_a", calls[0].replace("16, 0", "16, 8"), calls[1].replace("16, 8", "16, 0"))


def sync(calls: list[str], trans: bool = False, scope: str = "") -> str:
    shape, operand = ((8, 32), "B[vj, vk]") if trans else ((32, 8), "B[vk, vj]")
    scope = scope or "mma.matrix_b" + "_trans" * trans
    return register("own_sync", SYNC.format(shape=shape, operand=operand, scope=scope, calls=lines(*calls)))


def blockized(trans: bool) -> tuple[Schedule, BlockHandle]:
    """A product of 16 x 8 x 32 with its operands in fragments."""
    sch = Schedule(mma_products.product(16, 8, 32, trans_b=trans))
    block = sch.blockize(sch.get_loops("product")[0])
    for n, name in enumerate(("mma.matrix_a", "mma.matrix_b" + "_trans" * trans)):
        sch.cache_read(block, n, name)
    sch.cache_write(block, 0, "mma.accumulator")
    sch.decompose_reduction(block, sch.add_unit_loop(block))
    return sch, sch.get_block("product_o_update")


@pytest.mark.few(1)
@pytest.mark.parametrize("trans", [False, True])
def test_exchanges_of_operands_and_fragments_of_a_product(trans):
    """Tiles of k of A, of B exchanged, operands exchanged, half a tile of A: of 16, both tiles or none."""
    sch, block = blockized(trans)
    for a, b, operands, half in product([0, 1], repeat=4):
        calls = []
        for n in (0, 1):
            parts = [f"A.data, {8 * (n ^ a) + 4 * half}", f"B.data, {4 * (n ^ b)}"]
            parts = parts[::-1] if operands else parts
            calls.append(f'T.ptx_mma(C.data, 0, {", ".join(parts)}, C.data, 0, "m16n8k16")')
        if a == b and not operands and not half:
            copy = sch.copy()
            copy.tensorize("product_o_update", sync(calls, trans))
            assert "T.ptx_mma(" in copy.mod.script()
            continue
        with pytest.raises(ScheduleError, match=r"lane \d+|registers \d+ to \d+ of A as A; a lane has 16 of it"):
            sch.tensorize(block, sync(calls, trans))


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        (["0", "0"], r"adds A\[0, 0\] \* B\[0, 0\] to C\[0, 0\] more than once|does not add A\[0, 16\]"),
        (["0"], r"does not add A\[0, 16\] \* B\[16, 0\] to C\[0, 0\]"),
    ],
)
def test_each_term_is_added_once(calls, message):
    sch, block = blockized(False)
    texts = [f'T.ptx_mma(C.data, 0, A.data, {n}, B.data, {n}, C.data, 0, "m16n8k16")' for n in calls]
    with pytest.raises(ScheduleError, match=message):
        sch.tensorize(block, sync(texts))


def test_another_shape_is_refused():
    sch, block = blockized(False)
    call = 'T.ptx_mma(C.data, 0, A.data, 0, B.data, 0, C.data, 0, "m16n8k8")'
    with pytest.raises(ScheduleError, match=r"mma\.sync of float16 is m16n8k16, not m16n8k8"):
        sch.tensorize(block, sync([call]))


def test_a_description_of_other_axes_is_refused():
    """B is N x K in the program, and in a scope that holds K x N."""
    sch = Schedule(mma_products.product(16, 16, 32, trans_b=True))
    block = sch.blockize(sch.get_loops("product")[0])
    sch.cache_read(block, 0, "mma.matrix_a")
    sch.cache_read(block, 1, "mma.matrix_b")
    sch.cache_write(block, 0, "mma.accumulator")
    sch.decompose_reduction(block, sch.add_unit_loop(block))
    text = (
        SYNC.replace("(16, 8)", "(16, 16)").replace("0:8]", "0:16]").replace("T.grid(16, 8, 32)", "T.grid(16, 16, 32)")
    )
    call = "T.tvm_mma_sync(C.data, 0, A.data, 0, B.data, 0, C.data, 0)"
    name = register("wrong_axes", text.format(shape=(16, 32), operand="B[vj, vk]", scope="mma.matrix_b", calls=call))
    message = r"lane 0, register 1: B\[1, 0\] is where mma.sync takes B\[0, 1\] as B"
    with pytest.raises(ScheduleError, match=message) as error:
        sch.tensorize("product_o_update", name)
    assert "scope mma.matrix_b_trans" in str(error.value)


def own_product() -> Schedule:
    """A product of a warp by user-written loads and instructions."""
    sch, group, blocks = mma_products.tiled(mma_products.product(32, 16, 64), (16, 8, 32), warps=(1, 1))
    place = "x4: lane % 16, lane // 16 * 8 + {}"
    a = [f'T.ptx_ldmatrix(C.data, {n // 2}, A.access_ptr("r"), "{place.format(n)}")' for n in (0, 16)]
    b = ['T.ptx_ldmatrix(C.data, 0, A.access_ptr("r"), "x4.trans: lane, 0")']
    shapes = {"load_a": ((16, 32), a, "mma.matrix_a"), "load_b": ((32, 8), b, "mma.matrix_b")}
    for name, (shape, calls, scope) in shapes.items():
        facts = {"rows": shape[0], "columns": shape[1], "shape": shape, "scope": scope, "dtype": "float16"}
        text = LOAD.format(calls=lines(*calls), **facts)
        sch.tensorize(sch.get_loops(blocks[name])[-2], register(f"own_{name}", text))
    calls = [f'T.ptx_mma(C.data, 0, A.data, {8 * n}, B.data, {4 * n}, C.data, 0, "m16n8k16")' for n in (0, 1)]
    sch.tensorize(blocks["compute"], sync(calls))
    for name in ("store", "init"):
        sch.tensorize(sch.get_loops(blocks[name])[-2], group[name])
    return sch


def test_a_product_of_own_instructions_is_right():
    sch = own_product()
    a, b = mma_products.operands(32, 16, 64, "float16", False, False)
    on_machine, on_cpu = (np.zeros((32, 16), np.float32) for _ in range(2))
    interpret(sch, a, b, on_machine, target="sm_80")
    interpret(sch, a, b, on_cpu)
    for c in (on_machine, on_cpu):
        np.testing.assert_array_equal(c, mma_products.expected(a, b, False, False, "float32"))
    text = build(sch, target="sm_80").assembly
    assert [text.count(word) for word in ("m8n8.x4.shared", "m8n8.x4.trans.shared", "mma.sync")] == [
        4,
        2,
        4,
    ]  # two iterations


@pytest.mark.nightly
def test_a_product_of_own_instructions_is_verified():
    assert own_product().verify()


@pytest.mark.parametrize("name", ["mma_load_f16_a_16x24_shared", "mma_sync_16x8x16_f16f64", "mma_store_s32_16x8_local"])
def test_what_there_is_not(name):
    with pytest.raises(IntrinError, match=name):
        TensorIntrin.get(name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((16, 8, 24), "float16"), "16 x 8 x 24 is not made of 16 x 8 x 16"),
        (((16, 8, 32), "int16"), "operands are of bfloat16, float16, float32, float64, int8, uint8"),
        (((16, 8, 16), "bfloat16", "float16"), "sums of bfloat16 are of float32"),
        (((16, 8, 16), "float16", "float32", "local"), "scopes are shared, shared.dyn and global"),
    ],
)
def test_groups_that_there_are_not(arguments, message):
    with pytest.raises(ValueError, match=message):
        get_mma_intrin_group(*arguments)
