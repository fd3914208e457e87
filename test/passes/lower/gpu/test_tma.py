"""tma_pipeline: tiles by the TMA, read by each thread or by `wgmma`, with and without a warpgroup of their own."""

import numpy as np
import pytest
from programs.tma_products import simt, warpgroups

from tir_mlir import build, interpret
from tir_mlir.errors import LoweringError


def run(sch, size, dtype="float16", turned=""):
    """Run a product of small integers on the PTX machine; returns the report."""
    (m, n, k), random = size, np.random.default_rng(0)
    a = random.integers(-3, 4, (k, m) if "A" in turned else (m, k))
    b = random.integers(-3, 4, (n, k) if "B" in turned else (k, n))
    c = np.zeros((m, n), np.float32)
    report = interpret(sch, _bits(a, dtype), _bits(b, dtype), c, target="sm_90a")
    np.testing.assert_array_equal(c, (a.T if "A" in turned else a) @ (b.T if "B" in turned else b))
    return report


def _bits(array, dtype):
    if dtype != "bfloat16":
        return array.astype(dtype)
    return (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.few(2)
@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize("size", [(127, 40, 48), (32, 64, 64), (1, 8, 8), (15, 16, 24), (17, 136, 40), (33, 32, 16)])
@pytest.mark.parametrize("stages", [2, 3, 5])
def test_threads_read_tiles(size, stages, specialize):
    run(simt(size, stages, specialize), size)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("columns", [16, 32, 64])
def test_the_pattern_of_the_hardware(columns, dtype):
    size = (32, 64, 64)
    run(simt(size, swizzle=True, tile=(32, columns, 16), dtype=dtype), size, dtype)


@pytest.mark.few(2)
@pytest.mark.parametrize("turned", ["A", "", "B", "AB"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize(
    ("size", "tile"),
    [((128, 64, 128), (128, 64, 64)), ((128, 128, 128), (64, 64, 32)), ((128, 96, 256), (128, 32, 128)),
     ((64, 8, 64), (64, 8, 64))],
)  # fmt: skip
def test_products_of_warpgroups(size, tile, dtype, turned):
    if tile[1] % 16:  # rows of 16 bytes have no swizzle
        turned = "B"
    if tile[2] % 64 or tile[1] % 64 or tile[2] > 64:
        turned = {"AB": "B"}.get(turned, turned)
    run(warpgroups(size, tile=tile, dtype=dtype, turned=turned), size, dtype, turned)


@pytest.mark.few(1)
@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize(
    "size", [(130, 72, 104), (127, 64, 128), (17, 8, 8), (63, 104, 200), (65, 8, 64), (300, 200, 80)]
)
def test_ragged_products_of_warpgroups(size, specialize):
    """Zeros behind the ends of arrays; conditions at stores only."""
    tile = (64 if size[0] < 65 else 128, 64, 64)
    sch = warpgroups(size, 3, specialize, tile)
    run(sch, size)
    assert sch.verify()


@pytest.mark.nightly
def test_what_is_infinite_beside_zeros_is_kept_out():
    """A row of A behind the end is multiplied by an infinite number: no row of C knows it."""
    sch = warpgroups((100, 64, 72), tile=(128, 64, 64))
    a, b = np.ones((100, 72), np.float16), np.ones((72, 64), np.float16)
    b[71, 5] = np.inf
    c = np.zeros((100, 64), np.float32)
    interpret(sch, a, b, c, target="sm_90a")
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.few(1)
@pytest.mark.parametrize(("stages", "specialize", "wait"), [(3, True, "1"), (2, True, "0"), (3, False, "0")])
def test_waits(stages, specialize, wait):
    """With a third tile, products run on into the next iteration; the tile of one before is freed in it."""
    size = (128, 64, 256)
    sch = warpgroups(size, stages, specialize)
    text = build(sch, target="sm_90a").assembly
    loop = text[: text.rindex("wgmma.wait_group")] if wait == "1" else text
    found = [line.split()[-1] for line in loop.splitlines() if "wgmma.wait_group" in line]
    assert set(found) == {f"{wait};"}
    assert run(sch, size).bank_conflicts == 0


def test_an_epilogue_on_sums():
    from programs.parsed import parse

    from tir_mlir import Schedule

    text = """
@T.prim_func
def main(A: T.Buffer((64, 64), "float16"), B: T.Buffer((64, 64), "float16"), D: T.Buffer((64,), "float32"),
         C: T.Buffer((64, 64), "float16")):
    S = T.alloc_buffer((64, 64), "float32", scope="wgmma.accumulator")
    A_s = T.alloc_buffer((64, 64), "float16", scope="shared")
    B_s = T.alloc_buffer((64, 64), "float16", scope="shared")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for i, j in T.grid(64, 64):
            with T.block("zero"):
                vi, vj = T.axis.remap("SS", [i, j])
                S[vi, vj] = T.float32(0)
        for k in range(1):
            for i, j in T.grid(64, 64):
                with T.block("A_s"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.block_attr({"swizzle": [0]})
                    A_s[vi, vj] = A[vi, vj]
            for i, j in T.grid(64, 64):
                with T.block("B_s"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    T.block_attr({"swizzle": [0]})
                    B_s[vi, vj] = B[vi, vj]
            for i, j, q in T.grid(64, 64, 64):
                with T.block("S"):
                    vi, vj, vq = T.axis.remap("SSR", [i, j, q])
                    S[vi, vj] = S[vi, vj] + T.Cast("float32", A_s[vi, vq]) * T.Cast("float32", B_s[vq, vj])
        for i, j in T.grid(64, 64):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast("float16", T.max(S[vi, vj] * 0.5 + D[vj], T.float32(0)))
"""
    sch = Schedule(parse(text))
    sch.tma_pipeline(["A_s", "B_s"], sch.get_loops("S")[1], 2)
    random = np.random.default_rng(0)
    a, b = (random.integers(-2, 3, (64, 64)).astype(np.float16) for _ in range(2))
    d, c = random.integers(-2, 3, 64).astype(np.float32), np.zeros((64, 64), np.float16)
    interpret(sch, a, b, d, c, target="sm_90a")
    np.testing.assert_array_equal(c, np.maximum((a @ b) * np.float16(0.5) + d, 0).astype(np.float16))


def test_a_step_changes_no_result():
    assert warpgroups().verify()


@pytest.mark.nightly
def test_threads_on_a_cpu():
    size, random = (33, 40, 24), np.random.default_rng(0)
    a, b = (random.integers(-3, 4, s).astype(np.float16) for s in ((33, 24), (24, 40)))
    c = np.zeros((33, 40), np.float32)
    build(simt(size, specialize=True), target="cuda-emulated")(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b)


REFUSED = {
    "a chip without a TMA": (lambda: simt(), "sm_80", "is a copy by the TMA, which sm_80 does not have"),
    "a chip without wgmma": (lambda: warpgroups(), "sm_90", "scope wgmma.accumulator, which sm_90 does not have"),
    "strides": (lambda: simt((32, 32, 20)), "sm_90a", "dimension 0 of A has a stride of 40 bytes"),
    "rows": (lambda: simt(tile=(32, 32, 4)), "sm_90a", "a row of A_shared has 8 bytes"),
    "a box": (lambda: simt((512, 32, 32), tile=(512, 32, 16)), "sm_90a", "along a dimension, a box at most 256"),
    "a span": (lambda: simt((32, 8, 48), 2, False, True, (32, 8, 24)), "sm_90a", "the hardware permutes rows of"),
    "half a warp": (lambda: simt_of_16(), "sm_90a", "a block has 16 threads, no whole warps"),
    "no swizzle": (lambda: warpgroups(swizzle=False), "sm_90a", "A_shared is not filled by the TMA with a swizzle"),
    "threads fill it": (lambda: warpgroups(pipeline=False), "sm_90a", "one copy a block"),
    "too deep": (lambda: warpgroups(tile=(128, 64, 8), turned="A"), "sm_90a", "sums over 8 elements at once"),
    "float32": (lambda: warpgroups(dtype="float32", tile=(128, 32, 32)), "sm_90a", "operands are both float16"),
    "too wide": (lambda: warpgroups((128, 512, 64), tile=(128, 512, 64)), "sm_90a", "has 64 x 512 elements"),
    "threads along x": (lambda: warpgroups(threads="threadIdx.x"), "sm_90a", 'is in loop "i_1" over threadIdx.x'),
}  # fmt: skip


def simt_of_16():
    from programs.tma_products import product

    from tir_mlir import Schedule

    sch = Schedule(product(16, 16, 32))
    i, j, k = sch.get_loops("C")
    k_0, k_1 = sch.split(k, [None, 16])
    sch.reorder(i, k_0, k_1, j)
    copies = [sch.cache_read("C", operand, "shared") for operand in "AB"]
    sch.bind(i, "threadIdx.x")
    for copy in copies:
        sch.compute_at(copy, k_0)
    sch.decompose_reduction("C", k_0)
    sch.tma_pipeline(copies, k_0, 2, specialize=True)
    return sch


@pytest.mark.few(3)
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    make, target, text = REFUSED[name]
    with pytest.raises(LoweringError) as caught:
        build(make(), target=target)
    assert text in str(caught.value)
    assert "fix: " in str(caught.value)
