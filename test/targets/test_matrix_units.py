"""Matrix and dot product intrinsics of other CPUs: their instruction is in the code, which equals NumPy under QEMU."""

import dataclasses
import re

import numpy as np
import pytest
from harness.emulate import arm, riscv, run
from programs.products import widened

from tir_mlir import Schedule, TensorIntrin, build, schedules, target
from tir_mlir.dialect.diagnostics import BuildError, TirError
from tir_mlir.intrin.dot_products import dot_product
from tir_mlir.intrin.outer_products import sme_outer_product
from tir_mlir.runtime.kernels.matrix_products import MATRIX_PRODUCTS
from tir_mlir.script.parser import parse

RNG = np.random.default_rng(12)

PRODUCT = """
@T.prim_func
def main(A: T.Buffer(({rows_a}, {columns_a}), "{left}"), B: T.Buffer(({rows_b}, {columns_b}), "{right}"),
         C: T.Buffer(({m}, {n}), "{sums}")):
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.Cast("{sums}", 0)
            C[vi, vj] = C[vi, vj] + T.Cast("{sums}", {a}) * T.Cast("{sums}", {b})
"""


def by_rows(m, n, k, left="float32", right="", sums="float32"):
    """C = A B^T."""
    shapes = {"rows_a": m, "columns_a": k, "rows_b": n, "columns_b": k, "a": "A[vi, vk]", "b": "B[vj, vk]"}
    return parse(PRODUCT.format(m=m, n=n, k=k, left=left, right=right or left, sums=sums, **shapes))


def by_columns(m, n, k):
    """C = A^T B."""
    shapes = {"rows_a": k, "columns_a": m, "rows_b": k, "columns_b": n, "a": "A[vk, vi]", "b": "B[vk, vj]"}
    return parse(PRODUCT.format(m=m, n=n, k=k, left="float32", right="float32", sums="float32", **shapes))


# instructions of two rows by two rows


def matmul(name, m, n, k):
    """A product in tiles of 2 x 2 x depth, with packed operands and the accumulators of a row of tiles in registers."""
    one = MATRIX_PRODUCTS[name]
    sch = Schedule(by_rows(m, n, k, one.left_dtype, one.dtype, one.sums))
    block = sch.get_block("C")
    left, right = (sch.cache_read(block, name, "global") for name in "AB")
    for packed in (left, right):
        sch.transform_layout(packed, ("write", 0), lambda i, k: (i // 2, k // one.group, i % 2, k % one.group))
    out = sch.cache_write(block, 0, "local")
    sch.transform_layout(block, ("write", 0), lambda i, j: (i // 2, j // 2, i % 2, j % 2))
    i_0, i_1 = sch.split(sch.get_loops(block)[0], [None, 2])
    j_0, j_1 = sch.split(sch.get_loops(block)[2], [None, 2])
    k_0, k_1 = sch.split(sch.get_loops(block)[4], [None, one.group])
    sch.reorder(i_0, j_0, k_0, i_1, j_1, k_1)
    sch.reverse_compute_at(out, j_0)
    sch.decompose_reduction(block, k_0)
    sch.tensorize(i_1, name)
    return sch


SHAPE = 6, 10, 24
NUMBERS = {"int8": (-128, 128), "uint8": (0, 256)}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", MATRIX_PRODUCTS)
def test_the_matrix_product_is_one_instruction(name):
    sch = matmul(name, *SHAPE)
    assert sch.verify()
    instruction = name.rsplit("_", 1)[1]
    assert re.search(rf"\t{instruction}\tv\d+\.4s, v\d+\.", build(sch, target="neon_i8mm").assembly)


@arm().missing
@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in MATRIX_PRODUCTS if "bfloat16" not in n])
def test_integer_matrix_products_are_exact(name, tmp_path):
    one, (m, n, k) = MATRIX_PRODUCTS[name], SHAPE
    a = RNG.integers(*NUMBERS[one.left_dtype], (m, k)).astype(one.left_dtype)
    b = RNG.integers(*NUMBERS[one.dtype], (n, k)).astype(one.dtype)
    lib = build(matmul(name, m, n, k), target="neon_i8mm")
    *_, c = run(lib, [a, b, np.zeros((m, n), "int32")], tmp_path, arm())
    np.testing.assert_array_equal(c, a.astype("int32") @ b.T.astype("int32"))


@arm().missing
@pytest.mark.slow
def test_bfloat16_matrix_products(tmp_path):
    """Of small integers, which bfloat16 holds: no rounding."""
    (name,), (m, n, k) = [n for n in MATRIX_PRODUCTS if "bfloat16" in n], SHAPE
    a, b = (RNG.integers(-8, 9, s).astype("float32") for s in ((m, k), (n, k)))
    bits = [(x.view("uint32") >> 16).astype("uint16") for x in (a, b)]
    lib = build(matmul(name, m, n, k), target="neon_i8mm")
    *_, c = run(lib, [*bits, np.zeros((m, n), "float32")], tmp_path, arm())
    np.testing.assert_array_equal(c, a @ b.T)


@pytest.mark.parametrize("name", MATRIX_PRODUCTS)
def test_a_cpu_without_it_is_refused(name):
    (need,) = MATRIX_PRODUCTS[name].needs
    with pytest.raises(BuildError, match=f"the kernel of '{name}' uses {need}, which the target CPU lacks"):
        build(matmul(name, *SHAPE), target="neon_dotprod")


def scheduled(m, n, k, dtype="int8", **options):
    sch = Schedule(widened(m, n, k, dtype, "float32" if dtype == "bfloat16" else "int32", **options))
    schedules.gemm(sch, "C", target="neon_i8mm", threads=1)
    return sch


@pytest.mark.parametrize(
    ("m", "n", "k", "options"),
    [(16, 16, 16, {}), (15, 17, 127, {}), (127, 15, 1, {}), (33, 70, 50, {"left_turned": True, "right_turned": True}),
     (17, 9, 20, {"batch": 2}), ("m", 17, 24, {})],
)  # fmt: skip
def test_products_of_bytes_are_those_of_rows_in_pairs(m, n, k, options):
    sch = scheduled(m, n, k, **options)
    assert "matmul_int8_2x2x8_smmla" in sch.mod.script()
    assert sch.verify()


def test_a_step_reads_whole_registers_and_keeps_the_sums():
    text = build(scheduled(96, 64, 512), target="neon_i8mm").assembly
    loop = max(re.split(r"\tb\.\w+\t", text), key=lambda part: part.count("smmla"))
    step = loop[loop.index("smmla") : loop.rindex("smmla") + 5]
    assert step.count("smmla") == 24
    assert not re.search(r"\t(str|stp|mov|zip\d|ins)\t", step)


@arm().missing
@pytest.mark.slow
@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 16), (15, 17, 127), (127, 70, 50)])
@pytest.mark.parametrize("dtype", ["int8", "bfloat16"])
def test_scheduled_products_equal_numpy(m, n, k, dtype, tmp_path):
    """Of small integers, which bfloat16 holds: no rounding."""
    a, b = (RNG.integers(-8, 9, s) for s in ((m, k), (k, n)))
    values = [x.astype("int8") for x in (a, b)]
    if dtype == "bfloat16":
        values = [(x.astype("float32").view("uint32") >> 16).astype("uint16") for x in (a, b)]
    sums = np.zeros((m, n), "float32" if dtype == "bfloat16" else "int32")
    *_, c = run(build(scheduled(m, n, k, dtype), target="neon_i8mm"), [*values, sums], tmp_path, arm())
    np.testing.assert_array_equal(c, a @ b)


def test_a_wider_step_is_no_match():
    sch = Schedule(by_rows(4, 4, 16, "int8", "int8", "int32"))
    before = str(sch.mod)
    _, j, k = sch.get_loops(sch.get_block("C"))
    with pytest.raises(TirError, match="tensorize"):
        sch.tensorize(j, "matmul_int8_2x2x8_smmla")
    assert str(sch.mod) == before and k is not None


# dot products in scalable registers


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("cpu", "instruction"),
    [("sve", r"sdot\tz\d+\.s, z\d+\.b"), ("rvv", r"vwmacc\.vx\tv\d+"), ("rvv_128", r"vwmacc\.vx\tv\d+")],
)
def test_products_of_bytes_use_the_dot_product(cpu, instruction):
    sch = Schedule(widened(24, 64, 48, "int8", "int32"))
    schedules.gemm(sch, "C", target=cpu, threads=1)
    assert sch.verify()
    assert re.search(instruction, build(sch, target=cpu).assembly)


@pytest.mark.parametrize("cpu", [target.NEON_I8MM, target.NEOVERSE_V1])
def test_unsigned_bytes_by_signed_ones_are_not_shifted(cpu):
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((24, 48), "uint8"), B: T.Buffer((48, 64), "int8"), C: T.Buffer((24, 64), "int32")):
    for i, j, k in T.grid(24, 64, 48):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])
""")
    )
    schedules.gemm(sch, "C", target=cpu, threads=1)
    assert sch.verify()
    assert re.search(r"usmmla\tv\d+\.4s, v\d+\.16b, v\d+\.16b", build(sch, target=cpu).assembly)


@arm().missing
@riscv().missing
@pytest.mark.slow
@pytest.mark.parametrize(
    ("cpu", "machine"),
    [("sve", arm(256)), ("sve", arm(512)), ("rvv", riscv(256)), ("rvv", riscv(512)), ("rvv_128", riscv(128))],
)
def test_products_of_bytes_are_exact(cpu, machine, tmp_path):
    sch = Schedule(widened(17, 35, 29, "int8", "int32"))
    schedules.gemm(sch, "C", target=cpu, threads=1)
    a, b = (RNG.integers(-128, 128, s).astype("int8") for s in ((17, 29), (29, 35)))
    *_, c = run(build(sch, target=cpu), [a, b, np.zeros((17, 35), "int32")], tmp_path, machine)
    np.testing.assert_array_equal(c, a.astype("int32") @ b.astype("int32"))


@pytest.mark.parametrize("cpu", [target.SVE, target.RVV])
def test_shorter_registers_are_refused(cpu):
    """Lanes beyond the end of a register would be lost."""
    sch = Schedule(widened(24, 64, 48, "int8", "int32"))
    schedules.gemm(sch, "C", target=cpu, threads=1)
    with pytest.raises(BuildError, match="uses vl256b, which the target CPU lacks; schedule and build for the same"):
        build(sch, target=dataclasses.replace(cpu, vector_bits=128))


def test_the_lanes_are_those_of_the_target():
    longer = dataclasses.replace(target.SVE, vector_bits=512)
    assert dot_product(longer, "int8").name == "dot_int8_16x4_aarch64_sve_sdot_nxv4i32"
    assert dot_product(target.RVV_128, "int8").lanes == 4


# outer products


def outer(m, n, k, tile, packed):
    sch = Schedule(by_columns(m, n, k) if packed else by_rows(m, n, k))
    block = sch.get_block("C")
    loops = [sch.split(loop, [None, size]) for loop, size in zip(sch.get_loops(block), tile, strict=True)]
    sch.reorder(*(outer for outer, _ in loops), *(inner for _, inner in loops))
    sch.decompose_reduction(block, loops[2][0])
    sch.tensorize(loops[0][1], sme_outer_product(*tile, packed=packed))
    return sch


@pytest.mark.parametrize("packed", [True, False])
def test_an_outer_product_is_one_instruction(packed):
    sch = outer(32, 32, 32, (16, 16, 16), packed)
    assert sch.verify()
    code = build(sch, target="sme").assembly
    assert re.search(r"smstart\tsm", code) and re.search(r"fmopa\tza0\.s, p\d/m, p\d/m, z\d+\.s, z\d+\.s", code)
    assert bool(re.search(r"mova?\tz\d+\.s, p\d/m, za1v\.s", code)) != packed  # transposed in ZA


@arm().missing
@pytest.mark.slow
@pytest.mark.parametrize("bits", [128, 256, 512, 1024])
@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(("sizes", "tile"), [((32, 32, 48), (16, 16, 16)), ((26, 22, 40), (13, 11, 10))])
def test_outer_products_of_every_length(sizes, tile, packed, bits, tmp_path):
    m, n, k = sizes
    a, b = (RNG.integers(-4, 5, s).astype("float32") for s in ((m, k), (n, k)))
    lib = build(outer(m, n, k, tile, packed), target="sme")
    given = [np.ascontiguousarray(x.T) for x in (a, b)] if packed else [a, b]
    *_, c = run(lib, [*given, np.zeros((m, n), "float32")], tmp_path, arm(sme=bits))
    np.testing.assert_array_equal(c, a @ b.T)


def test_outer_products_need_sme():
    with pytest.raises(BuildError, match="uses sme, which the target CPU lacks"):
        build(outer(32, 32, 32, (16, 16, 16), True), target="neon_i8mm")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((16, 0, 16), "sme_outer_product: m = 16, n = 0, k = 16; they must be positive"),
        ((16, 2.0, 16), "sme_outer_product: m, n and k must be integers, not 2.0"),
    ],
)
def test_sizes_that_are_no_tile(given, message):
    with pytest.raises(ValueError, match=message):
        sme_outer_product(*given)


def test_registered_under_a_name():
    name = sme_outer_product(8, 8, 8, scopes=("global", "global", "local"))
    assert name == "sme_outer_product_8x8x8_c_local" and TensorIntrin.get(name)
