"""schedules.gemm on the tile registers of AMX: what the code is, and that the schedule computes the same.

This needs no CPU with AMX: `verify` and the interpreter run the descriptions of the intrinsics. A CPU with AMX runs
the code, too.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from programs.parsed import parse
from programs.products import widened

from tir_mlir import Schedule, build, interpret, schedules, te, topi
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedules.products.contraction import contraction
from tir_mlir.schedules.products.gemm_amx import column_blocks
from tir_mlir.target import SAPPHIRE_RAPIDS, ZEN4
from tir_mlir.target.host import features

RNG = np.random.default_rng(6)


def scheduled(program, threads: int = 1, target=SAPPHIRE_RAPIDS) -> Schedule:
    sch = Schedule(program)
    schedules.gemm(sch, "C", target=target, threads=threads)
    return sch


def on_tiles(sch: Schedule) -> bool:
    return "amx_tdp" in sch.mod.script()


def tile_ops(sch: Schedule) -> list[str]:
    """The tile instructions of the code, in order."""
    words = r"\b(ldtilecfg|tilerelease|tilezero|tileloadd|tilestored|tdp\w+)\b"
    return re.findall(words, build(sch, target="sapphire_rapids").assembly)


@pytest.mark.few(3)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("dtype", "dot"), [("int8", "tdpbssd"), ("uint8", "tdpbuud"), ("bfloat16", "tdpbf16ps")])
def test_the_inner_loop(dtype, dot, threads):
    """Four loads of tiles and four products; sums remain in registers; tiles are configured once."""
    sums = "float32" if dtype == "bfloat16" else "int32"
    found = tile_ops(scheduled(widened(1024, 1024, 1024, dtype, sums), threads))
    assert found.count("ldtilecfg") == 1
    assert found.count("tilezero") == found.count("tilestored") in (4, 8)  # LLVM may unroll the loop over blocks
    inner = [op for op in found if op.startswith(("tileloadd", "tdp"))]
    assert inner == (["tileloadd"] * 4 + [dot] * 4) * (len(inner) // 8)


@pytest.mark.nightly
def test_float16_products():
    target = SAPPHIRE_RAPIDS.__class__(**{
        **SAPPHIRE_RAPIDS.__dict__, "features": SAPPHIRE_RAPIDS.features | {"amx-fp16"}, "cpu": "graniterapids",
    })  # fmt: skip
    sch = scheduled(widened(64, 64, 64, "float16", "float32"), target=target)
    assert "tdpfp16ps" in build(sch, target=target).assembly
    assert not on_tiles(scheduled(widened(64, 64, 64, "float16", "float32")))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ((64, 64, 128), {}),
        ((48, 64, 128), {}),  # an odd number of tiles of rows
        ((70, 130, 100), {}),
        ((33, 64, 64), {"left_turned": True}),
        ((32, 50, 70), {"right_turned": True}),
        ((40, 64, 64), {"batch": 3, "right_turned": True}),
        ((50, 40, 36), {"dtype": "bfloat16", "sums": "float32"}),
    ],
)
def test_every_shape(sizes, options):
    sch = scheduled(widened(*sizes, **options))
    assert on_tiles(sch) and sch.verify()
    assert "tdp" in build(sch, target=SAPPHIRE_RAPIDS).assembly


@pytest.mark.nightly
@pytest.mark.parametrize(("rows", "threads"), [(96, 1), (49, 2)])
def test_blocks_of_columns_whose_part_of_b_stays_in_cache(rows, threads):
    """Threads share the rows where they have pairs of tiles for all, else the blocks, each with its part of B."""
    small, program = replace(SAPPHIRE_RAPIDS, l2=512 << 10), widened(rows, 512, 2048)
    assert column_blocks(contraction(Schedule(program), "C"), 64, small, threads) == 8
    sch = scheduled(program, threads, small)
    assert sch.mod.script().count("T.parallel") == (3 if threads > 1 else 0) and sch.verify()


@pytest.mark.skipif("amx-int8" not in features(), reason="no AMX here")
@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 32), (17, 127, 33), (127, 15, 127), (127, 17, 15)])
def test_ragged_sizes_on_the_cpu(m, n, k):
    """Beside less than a tile: rows of 15 have no tiles."""
    a, b = (RNG.integers(-128, 128, shape).astype("int8") for shape in ((m, k), (k, n)))
    c = np.full((m, n), 99, "int32")
    sch = scheduled(widened(m, n, k), target=None)
    assert on_tiles(sch) == (min(m, n) >= 16 and k >= 32)
    build(sch)(a, b, c)
    np.testing.assert_array_equal(c, a.astype("int32") @ b.astype("int32"))


@pytest.mark.skipif("amx-int8" not in features(), reason="no AMX here")
@pytest.mark.parametrize(("columns", "terms", "counts"), [
    (32, 64, (1, 16, 17, 33)),
    pytest.param(40, 70, (1, 2, 15, 16, 17, 31, 32, 33, 127, 128), marks=pytest.mark.nightly),
])  # fmt: skip
def test_any_number_of_rows_on_the_cpu(columns, terms, counts):
    """One build; rows beyond the last one are zeros of a copy."""
    sch = scheduled(widened("m", columns, terms), target=None)
    assert on_tiles(sch)
    product, b = build(sch)["main"], RNG.integers(-128, 128, (terms, columns)).astype("int8")
    for rows in counts:
        a, c = RNG.integers(-128, 128, (rows, terms)).astype("int8"), np.full((rows, columns), 99, "int32")
        product(a, b, c)
        np.testing.assert_array_equal(c, a.astype("int32") @ b.astype("int32"))


@pytest.mark.nightly
@pytest.mark.parametrize(("left", "right", "dot"), [("uint8", "int8", "tdpbusd"), ("int8", "uint8", "tdpbsud")])
def test_mixed_signs_in_the_interpreter(left, right, dot):
    m, n, k = 20, 17, 66
    program = parse(widened(m, n, k).script().replace('A: T.Buffer((20, 66), "int8"', f'A: T.Buffer((20, 66), "{left}"')
                    .replace('B: T.Buffer((66, 17), "int8"', f'B: T.Buffer((66, 17), "{right}"'))  # fmt: skip
    sch = scheduled(program)
    assert dot in sch.mod.script()
    a, b = (
        RNG.integers(np.iinfo(t).min, np.iinfo(t).max + 1, s).astype(t) for t, s in ((left, (m, k)), (right, (k, n)))
    )
    c = np.zeros((m, n), "int32")
    interpret(sch, a, b, c)
    np.testing.assert_array_equal(c, a.astype("int32") @ b.astype("int32"))


@pytest.mark.filterwarnings("error")  # of loops that run serially
def test_patches_of_an_image_are_copied_in_vectors_a_few_rows_at_a_time():
    image, kernel = te.placeholder((1, 8, 8, 64), "uint8"), te.placeholder((64, 576), "int8")
    patches = topi.nn.patches(image, kernel=3, padding=1)
    sch = Schedule(te.create_prim_func([image, kernel, topi.nn.dense(patches, kernel, out_dtype="int32")]))
    schedules.gemm(sch, "T_matmul_NT", target=SAPPHIRE_RAPIDS)
    loops = [sch.get(loop) for loop in sch.get_loops("T_patches")]
    assert loops[-1].kind == "vectorized" and [loop.extent for loop in loops[:3]] == [1, 2, 32]
    build(sch, target="sapphire_rapids")


@pytest.mark.parametrize("sizes", [(8, 64, 64), (64, 8, 64), (64, 64, 16)])
def test_less_than_a_tile_goes_to_vectors(sizes):
    assert not on_tiles(scheduled(widened(*sizes)))


def test_other_cpus_and_types():
    assert not on_tiles(scheduled(widened(64, 64, 64), target=ZEN4))
    assert not on_tiles(scheduled(widened(64, 64, 64, "int16")))


def test_a_packed_parameter_goes_to_vectors():
    sch = Schedule(widened(64, 64, 64, "bfloat16", "float32"))
    assert schedules.gemm(sch, "C", target=SAPPHIRE_RAPIDS, packed="B") is not None and not on_tiles(sch)
    with pytest.raises(ScheduleError, match='packed="B": dot-product instructions have panels'):
        schedules.gemm(Schedule(widened(64, 64, 64)), "C", target=SAPPHIRE_RAPIDS, packed="B")


@pytest.mark.nightly
def test_the_trace_is_the_schedule():
    sch, again = scheduled(widened(64, 64, 64)), Schedule(widened(64, 64, 64))
    sch.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == sch.mod.script()


@pytest.mark.nightly
@pytest.mark.parametrize("rows", [64, 49, 3])
def test_packed_weights_are_read_in_place_and_the_epilogue_reads_tiles(rows):
    """No copy of the weights in the call; few rows read panels as many do."""
    x, w = (te.placeholder(s, "int8", name=n) for n, s in (("X", (rows, 64)), ("W", (32, 64))))
    y = topi.round_to(topi.multiply(topi.astype(topi.nn.dense(x, w, out_dtype="int32"), "float32"), 0.01), "int8")
    sch = Schedule(te.create_prim_func([x, w, y]))
    panels = schedules.prepack(sch, "main", ["W"], target=SAPPHIRE_RAPIDS, threads=1)
    picked = schedules.auto(sch, target=SAPPHIRE_RAPIDS, threads=1)
    assert set(picked.values()) == {"gemm"} and on_tiles(sch) and "W_global" not in sch.mod.script()
    a, b = (RNG.integers(-128, 128, s).astype("int8") for s in ((rows, 64), (32, 64)))
    c = np.zeros((rows, 32), "int8")
    interpret(sch, a, panels["W"].apply(b), c)
    total = (a.astype("int32") @ b.T.astype("int32")).astype("float32") * np.float32(0.01)
    np.testing.assert_array_equal(c, np.clip(np.rint(total), -128, 127))
