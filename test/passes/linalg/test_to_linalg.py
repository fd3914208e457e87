"""Export to linalg and round trips: equal results, equal generics, reasons for blocks that stay."""

import re
from random import Random

import numpy as np
import pytest
from harness.schedules import quick_build
from harness.stock_linalg import generics, ints, stock
from programs.parsed import parse
from programs.short import each, main, nest, sblock

from fuzzing.pairs.arrays import same
from fuzzing.programs import program
from tir_mlir import Schedule, from_linalg, to_linalg
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.interpreter import exactly
from tir_mlir.script.structural_equal import difference

MATMUL = main(
    "A:17x15 B:15x16 C:17x16",
    each("C i:17 j:16 k:15R", "C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]", init="C[vi, vj] = T.float32(0)"),
)


def test_a_reduction_with_its_init():
    raised = to_linalg(parse(MATMUL), named=True)
    assert raised.stayed == ()
    assert "affine.for" not in raised.text()
    assert raised.text().count("linalg.fill") == raised.text().count("linalg.matmul") == 1
    a, b, c = ints(17, 15), ints(15, 16), ints(17, 16)
    stock(raised.text(), a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_a_scheduled_nest_comes_back_as_one_op():
    sch = Schedule(parse(MATMUL))
    i, j, k = sch.get_loops("C")
    j_0, j_1 = sch.split(j, factors=[None, 4])
    k_0, k_1 = sch.split(k, factors=[None, 5])
    sch.reorder(k_0, i, j_0, k_1, j_1)
    sch.parallel(i)
    raised = to_linalg(sch.mod)
    assert raised.stayed == ()
    assert generics(raised.text()) == generics(to_linalg(parse(MATMUL)).text())


NAMED = [
    "linalg.matmul ins(%A, %B : {t}, {t}) outs(%C : {t})",
    "linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>,"
    " affine_map<(m, n, k) -> (m, n)>] ins(%A, %B : {t}, {t}) outs(%C : {t})",
    "linalg.add ins(%A, %B : {t}, {t}) outs(%C : {t})",
    "linalg.exp ins(%A : {t}) outs(%C : {t})",
    "linalg.copy ins(%A : {t}) outs(%C : {t})",
    "linalg.transpose ins(%A : {t}) outs(%C : {t}) permutation = [1, 0]",
    "linalg.broadcast ins(%V : {v}) outs(%C : {t}) dimensions = [1]",
    "linalg.reduce {{ arith.addf }} ins(%A : {t}) outs(%V : {v}) dimensions = [1]",
    "linalg.map {{ arith.maximumf }} ins(%A, %B : {t}, {t}) outs(%C : {t})",
    "linalg.matvec ins(%A, %V : {t}, {v}) outs(%W : {v})",
    "linalg.vecmat ins(%V, %A : {v}, {t}) outs(%W : {v})",
    "linalg.dot ins(%V, %W : {v}, {v}) outs(%S : memref<f32>)",
    "linalg.fill ins(%x : f32) outs(%C : {t})",
]
CONVOLUTIONS = [
    "linalg.conv_2d_nhwc_hwcf ins(%I, %K : memref<2x8x8x5xf32>, memref<3x3x5x6xf32>) outs(%O : memref<2x6x6x6xf32>)",
    "linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<2> : vector<2xi64>}"
    " ins(%I, %D : memref<2x8x8x5xf32>, memref<3x3x5xf32>) outs(%Q : memref<2x3x3x5xf32>)",
    "linalg.pooling_nhwc_max ins(%I, %P : memref<2x8x8x5xf32>, memref<3x3xf32>) outs(%R : memref<2x6x6x5xf32>)",
]
PARAMS = (
    "%A: {t}, %B: {t}, %C: {t}, %V: {v}, %W: {v}, %S: memref<f32>, %x: f32, %I: memref<2x8x8x5xf32>,"
    " %K: memref<3x3x5x6xf32>, %O: memref<2x6x6x6xf32>, %D: memref<3x3x5xf32>, %Q: memref<2x3x3x5xf32>,"
    " %P: memref<3x3xf32>, %R: memref<2x6x6x5xf32>"
)


@pytest.mark.few(12)
@pytest.mark.parametrize("types", [("memref<6x6xf32>", "memref<6xf32>"), ("memref<?x?xf32>", "memref<?xf32>")])
@pytest.mark.parametrize("op", [*NAMED, *(c.replace("{", "{{").replace("}", "}}") for c in CONVOLUTIONS)])
def test_the_same_generics_come_back(op, types):
    t, v = types
    text = f"func.func @main({PARAMS.format(t=t, v=v)}) {{\n  {op.format(t=t, v=v)}\n  return\n}}"
    made = from_linalg(text)
    raised = to_linalg(made)
    assert raised.stayed == ()
    assert generics(raised.text()) == generics(text)
    assert difference(from_linalg(raised).mlir, made.mlir) is None


def test_names_of_ops_come_back():
    t = "memref<?x?xf32>"
    ops = [NAMED[n].format(t=t, v="memref<?xf32>") for n in (0, 2, 3, 4, 5)]
    text = f"func.func @main({PARAMS.format(t=t, v='memref<?xf32>')}) {{\n" + "\n".join(ops) + "\n  return\n}"
    named = to_linalg(from_linalg(text), named=True).text()
    for name in ("matmul", "add", "exp", "copy", "transpose"):
        assert named.count(f"linalg.{name} ") == 1


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.few(4)
def test_round_trips_of_random_programs(seed):
    """Generics, named ops and what stayed, from the module and from its text: all compute what the program does."""
    sample = program(Random(seed))
    module = parse(sample.text)
    before = module.text()
    arrays = sample.arrays()
    expected = sample.expected(arrays)
    raised, named = to_linalg(module), to_linalg(module, named=True)
    assert module.text() == before
    for source in (raised, named, raised.text()):
        same(exactly(from_linalg(source).mlir, arrays), expected)
    if seed % 4 == 0 and not re.search(r"bf16|xi1\b", raised.text()):  # stock passes call a library, or abort
        got = [a.copy() for a in arrays]
        stock(raised.text(), *got)
        same(got, expected)


STAYS = main(
    "A:10 B:10 C:10",
    each("plain:10", "B[vi] = A[vi] * T.float32(2)"),
    nest(
        "i_0:3 i_1:4", sblock("tail", "vi:10=i_0 * 4 + i_1", "C[vi] = B[vi] + T.float32(1)", where="i_0 * 4 + i_1 < 10")
    ),
    nest("i:1..10", sblock("scan", "vi:(1,10)O=i", "C[vi] = C[vi - 1] + C[vi]")),
)


def test_blocks_that_stay_are_reported():
    raised = to_linalg(parse(STAYS))
    assert [(s.func, s.block) for s in raised.stayed] == [("main", "tail"), ("main", "scan")]
    assert "guarded by T.where" in raised.stayed[0].reason
    assert "another index than it is written" in raised.stayed[1].reason
    assert raised.text().count("linalg.generic") == 1
    a, b, c = ints(10), ints(10), ints(10)
    quick_build(from_linalg(raised))["main"](a, b, c)
    np.testing.assert_array_equal(c, np.cumsum(2 * a + 1))
    with pytest.raises(ScriptError, match=r'block "tail" of main remains: a block in it is guarded by T.where'):
        to_linalg(parse(STAYS), strict=True)


def test_nests_inside_shared_loops_are_raised_on_views():
    source = main(
        "A:8x9 B:8; T1:8x9",
        nest(
            "i:8",
            nest("j:9", sblock("T1", "SS i j", "T1[vi, vj] = A[vi, vj] * T.float32(2)")),
            nest("k:9", sblock("B", "SR i k", "B[vi] = B[vi] + T1[vi, vk]", init="B[vi] = T.float32(0)")),
        ),
    )
    raised = to_linalg(parse(source))
    assert raised.stayed == () and "memref.subview" in raised.text()
    for run in (lambda *a: stock(raised.text(), *a), lambda *a: quick_build(from_linalg(raised))["main"](*a)):
        a, b = ints(8, 9), ints(8)
        run(a, b)
        np.testing.assert_array_equal(b, 2 * a.sum(1))


def test_an_init_that_runs_in_the_first_of_outer_iterations_stays():
    """The nest under k starts C only where k is 0: a fill there would start it every time."""
    source = main(
        "A:8x9 B:8 C:8x9",
        nest(
            "k:9",
            nest("i:8", sblock("C", "SS i k", "C[vi, vk] = A[vi, vk]")),
            nest("i:8", sblock("B", "SR i k", "B[vi] = B[vi] + C[vi, vk]", init="B[vi] = T.float32(0)")),
        ),
    )
    raised = to_linalg(parse(source))
    assert [s.block for s in raised.stayed] == ["B"]
    assert "only in some iterations" in raised.stayed[0].reason
    a, b, c = ints(8, 9), ints(8), ints(8, 9)
    quick_build(from_linalg(raised))["main"](a, b, c)
    np.testing.assert_array_equal(b, a.sum(1))


def test_upstream_may_take_unused_sizes_away():
    """Named shape variables are dead code to upstream; the shapes of parameters bring them back."""
    text = "func.func @main(%A: memref<?xf32>) {\n  linalg.exp ins(%A : memref<?xf32>) outs(%A : memref<?xf32>)\n"
    text += "  return\n}"
    made = from_linalg(text)
    bare = "\n".join(line for line in to_linalg(made).text().splitlines() if "memref.dim" not in line)
    assert difference(from_linalg(bare).mlir, made.mlir, names=False) is None


def test_iterators_and_scalars_as_data_come_back():
    source = """
@T.prim_func
def main(A: T.Buffer((4, 6), "float32"), x: T.float32):
    for i, j in T.grid(4, 6):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.Select(vi < vj, T.Cast("float32", vi * 6 + vj), x)
"""
    made = parse(source)
    raised = to_linalg(made)
    assert raised.stayed == () and raised.text().count("linalg.index") == 2
    assert difference(from_linalg(raised).mlir, made.mlir, names=False) is None
    a = ints(4, 6)
    quick_build(from_linalg(raised))["main"](a, 7.0)
    np.testing.assert_array_equal(a, np.where(np.tri(4, 6, dtype=bool), 7, np.arange(24).reshape(4, 6)))


def test_a_block_without_loops_comes_back():
    source = """
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((), "float32")):
    with T.block("A"):
        vi = T.axis.spatial(4, 2)
        A[vi] = A[vi] + T.float32(1)
    with T.block("B"):
        B[()] = A[2]
"""
    raised = to_linalg(parse("@T.prim_func(check_well_formed=False)" + source.partition("@T.prim_func")[2]))
    assert raised.stayed == ()
    a, b = ints(4), np.zeros((), np.float32)
    expected = a[2] + 1
    stock(raised.text(), a, b)
    assert a[2] == b == expected
