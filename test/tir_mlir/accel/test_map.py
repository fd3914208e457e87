"""Programs that are mapped to machines without a person."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from programs.systolic import product, systolic

from tir_mlir import accel
from tir_mlir.accel.machines import gemmini, npu, tmm16
from tir_mlir.accel.mapping import cheapest_program, mapping
from tir_mlir.accel.mapping.nest import Nest
from tir_mlir.accel.mapping.on_cores import Placement, placements
from tir_mlir.errors import MachineError, TuneError
from tir_mlir.schedule import Schedule
from tir_mlir.script import tir as T

SHAPES = [(16, 16, 16), (1, 1, 1), (15, 17, 127), (127, 1, 16), (100, 50, 70), (64, 128, 96)]


def data(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8)


def scaled(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    sums = (a.astype(np.int32) @ b.astype(np.int32)).astype(np.float32) * np.float32(2.0**-9)
    return np.clip(np.round(sums), 0, 127).astype(np.int8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.few(3)
def test_a_product_of_any_size_is_mapped(shape: tuple[int, int, int]) -> None:
    mapped = accel.map(product(*shape), systolic())
    a, b = data(*shape)
    c = np.zeros(shape[:2], np.int8)
    mapped.build().main(a, b, c)
    np.testing.assert_array_equal(c, scaled(a, b))
    assert mapped.schedule.verify()


def test_most_cycles_compute() -> None:
    mapped = accel.map(product(128, 128, 128), systolic())
    assert mapped.timeline.utilization("execute") > 0.95
    assert mapped.timeline.issued["config_ld"] == 1


def test_its_steps_are_a_trace() -> None:
    mapped = accel.map(product(48, 32, 16), systolic())
    again = Schedule(product(48, 32, 16))
    mapped.schedule.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == mapped.schedule.mod.script()


def columns(m: int, n: int, k: int, dtype: str, out: str):
    """A product whose second operand has a row for each column of the result."""

    @T.prim_func
    def main(A: T.Buffer((m, k), dtype), B: T.Buffer((n, k), dtype), C: T.Buffer((m, n), out)):
        for i, j, r in T.grid(m, n, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    C[vi, vj] = T.Cast(out, 0)
                C[vi, vj] += T.Cast(out, A[vi, vk]) * T.Cast(out, B[vj, vk])

    return main


@pytest.mark.parametrize("shape", [(32, 48, 16), (33, 20, 17)])
def test_the_cpu_pads_what_copies_cannot(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    rng = np.random.default_rng(0)
    a, b, c = rng.random((m, k), np.float32), rng.random((n, k), np.float32), np.zeros((m, n), np.float32)
    accel.map(columns(*shape, "float32", "float32"), tmm16()).build().main(a, b, c)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-5)


def parts() -> accel.Machine:
    """A machine whose copies have parts of 8 rows, and leave the rest of a tile as it is; numbers limit no tile."""
    m = accel.Machine("parts")
    pad, acc = m.memory("pad", rows=64, row=(8, "float32")), m.memory("acc", rows=64, row=(8, "float32"))
    unit = m.unit("unit")

    @m.instruction(unit, call="load({R.row}, {D}, {n})", cycles=8)
    def load(D: m.host("float32"), R: pad, n: accel.upto(8)):
        for i, j in T.grid(n, 8):
            R[i, j] = D[i, j]

    @m.instruction(unit, call="clear({C.row})", cycles=8)
    def clear(C: acc):
        for i, j in T.grid(8, 8):
            C[i, j] = T.float32(0)

    @m.instruction(unit, call="multiply({C.row}, {A.row}, {B.row})", cycles=8)
    def multiply(A: pad, B: pad, C: acc):
        for i, j, k in T.grid(8, 8, 8):
            C[i, j] += A[i, k] * B[j, k]

    @m.instruction(unit, call="store({D}, {C.row}, {n})", cycles=8)
    def store(C: acc, D: m.host("float32"), n: accel.upto(8)):
        for i, j in T.grid(n, 8):
            D[i, j] = C[i, j]

    return m


@pytest.mark.parametrize("shape", [(8, 8, 8), (9, 15, 17)])
def test_the_cpu_pads_what_copies_mask_in_part(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    rng = np.random.default_rng(0)
    a, b, c = rng.random((m, k), np.float32), rng.random((n, k), np.float32), np.zeros((m, n), np.float32)
    accel.map(columns(*shape, "float32", "float32"), parts()).build().main(a, b, c)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-5)


def test_a_product_of_other_tiles_is_mapped() -> None:
    rng = np.random.default_rng(0)
    a, b, c = (
        rng.integers(-9, 9, (33, 65), np.int8),
        rng.integers(-9, 9, (17, 65), np.int8),
        np.zeros((33, 17), np.int32),
    )
    accel.map(columns(33, 17, 65, "int8", "int32"), npu()).build().main(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.T.astype(np.int32))


@pytest.mark.parametrize(("shape", "share"), [((64, 16, 32), "32 of vi"), ((20, 50, 33), "32 of vj")])
def test_cores_share_the_tiles_of_an_axis(shape: tuple[int, int, int], share: str) -> None:
    mapped = accel.map(columns(*shape, "int8", "int32"), npu())
    a, b = data(*shape)
    c = np.zeros(shape[:2], np.int32)
    mapped.build().main(a, np.ascontiguousarray(b.T), c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))
    assert f"each of 2 cores computes {share}" in str(mapped)
    assert mapped.timeline.utilization("mac 0") == mapped.timeline.utilization("mac 1") > 0


def test_one_core_computes_what_tiles_do_not_divide() -> None:
    assert "cores" not in str(accel.map(columns(48, 16, 32, "int8", "int32"), npu()))


def layer(m: int, n: int, k: int):
    """A dense layer of int8 with a bias."""

    @T.prim_func
    def main(
        X: T.Buffer((m, k), "int8"), W: T.Buffer((k, n), "int8"), D: T.Buffer((n,), "int32"),
        Y: T.Buffer((m, n), "int8"),
    ):  # fmt: skip
        S = T.alloc_buffer((m, n), "int32")
        for i, j, r in T.grid(m, n, k):
            with T.block("S"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    S[vi, vj] = D[vj]
                S[vi, vj] += T.Cast("int32", X[vi, vk]) * T.Cast("int32", W[vk, vj])
        for i, j in T.grid(m, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.Cast(
                    "int8",
                    T.max(
                        T.min(T.round(T.Cast("float32", S[vi, vj]) * T.float32(2.0**-9)), T.float32(127)),
                        T.float32(0),
                    ),
                )

    return main


@pytest.mark.parametrize("shape", [(16, 32, 16), (33, 20, 17)])
def test_a_bias_starts_the_sum(shape: tuple[int, int, int]) -> None:
    mapped = accel.map(layer(*shape), gemmini())
    a, b = data(*shape)
    bias, c = np.arange(shape[1], dtype=np.int32) * 500, np.zeros(shape[:2], np.int8)
    mapped.build().main(a, b, bias, c)
    sums = (a.astype(np.int32) @ b.astype(np.int32) + bias).astype(np.float32) * np.float32(2.0**-9)
    np.testing.assert_array_equal(c, np.clip(np.round(sums), 0, 127).astype(np.int8))
    assert "gemmini.mvin3_bias sets it, gemmini.mvout_relu stores it" in str(mapped)


def test_a_bias_that_no_instruction_reads_is_named() -> None:
    with pytest.raises(MachineError, match=r"start value, a row of D, int32 in the memory of the CPU$"):
        accel.map(layer(16, 16, 16), systolic())


def convolution(height: int, width: int, channels: int, outputs: int, stride: int):
    rows, columns = (height - 3) // stride + 1, (width - 3) // stride + 1

    @T.prim_func
    def main(
        P: T.Buffer((height, width, channels), "int8"), K: T.Buffer((3, 3, channels, outputs), "int8"),
        Y: T.Buffer((rows, columns, outputs), "int8"),
    ):  # fmt: skip
        S = T.alloc_buffer((rows, columns, outputs), "int32")
        for y, x, o, ry, rx, c in T.grid(rows, columns, outputs, 3, 3, channels):
            with T.block("S"):
                vy, vx, vo, vry, vrx, vc = T.axis.remap("SSSRRR", [y, x, o, ry, rx, c])
                with T.init():
                    S[vy, vx, vo] = 0
                S[vy, vx, vo] += T.Cast("int32", P[vy * stride + vry, vx * stride + vrx, vc]) * T.Cast(
                    "int32", K[vry, vrx, vc, vo]
                )
        for y, x, o in T.grid(rows, columns, outputs):
            with T.block("Y"):
                vy, vx, vo = T.axis.remap("SSS", [y, x, o])
                Y[vy, vx, vo] = T.Cast(
                    "int8",
                    T.max(
                        T.min(T.round(T.Cast("float32", S[vy, vx, vo]) * T.float32(2.0**-9)), T.float32(127)),
                        T.float32(0),
                    ),
                )

    return main


def convolve(mapped: accel.Mapping, shape: tuple[int, int, int, int], stride: int) -> None:
    """Compare a mapped convolution with NumPy."""
    rng = np.random.default_rng(0)
    height, width, channels, outputs = shape
    x = rng.integers(-128, 128, (height, width, channels), np.int8)
    k = rng.integers(-128, 128, (3, 3, channels, outputs), np.int8)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int32), (3, 3), (0, 1))[::stride, ::stride]
    sums = np.einsum("yxcuv,uvco->yxo", windows, k.astype(np.int32))
    y = np.zeros(sums.shape, np.int8)
    mapped.build().main(x, k, y)
    np.testing.assert_array_equal(y, np.clip(np.round(sums.astype(np.float32) * np.float32(2.0**-9)), 0, 127))


@pytest.mark.parametrize("stride", [1, 2])
def test_a_convolution_reads_windows(stride: int) -> None:
    convolve(accel.map(convolution(9, 21, 20, 17, stride), systolic()), (9, 21, 20, 17), stride)


@pytest.mark.few(1)
@pytest.mark.parametrize(("height", "width", "stride"), [(9, 9, 1), (6, 7, 1), (9, 11, 2)])
def test_rows_of_an_image_share_tiles(height: int, width: int, stride: int) -> None:
    mapped = accel.map(convolution(height, width, 16, 16, stride), gemmini())
    rows, columns = (height - 3) // stride + 1, (width - 3) // stride + 1
    assert mapped.timeline.issued["matmul"] == 9 * -(-rows * columns // 16)
    convolve(mapped, (height, width, 16, 16), stride)
    assert mapped.schedule.verify()
    assert mapped.function.verify()


def test_rows_at_an_edge_are_not_padded_where_instructions_take_some_rows() -> None:
    mapped = accel.map(product(33, 32, 32), gemmini())
    assert mapped.timeline.issued["mvin_rows"] == 6
    a, b = data(33, 32, 32)
    c = np.zeros((33, 32), np.int8)
    mapped.build().main(a, b, c)
    np.testing.assert_array_equal(c, scaled(a, b))
    assert mapped.schedule.verify()


def test_start_values_are_set_ahead() -> None:
    """Sums of few terms: their start values, and what stores them, take no time of their own."""
    mapped = accel.map(layer(256, 64, 64), gemmini())
    assert mapped.timeline.utilization("execute") > 0.9
    assert mapped.schedule.verify()


def test_a_block_that_no_instruction_computes_is_named() -> None:
    @T.prim_func
    def main(A: T.Buffer((32, 32), "int8"), B: T.Buffer((32, 32), "int8"), C: T.Buffer((32, 32), "int32")):
        for i, j, k in T.grid(32, 32, 32):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = T.max(C[vi, vj], T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj]))

    with pytest.raises(MachineError, match=r"computes block C; nearest is array\.compute: payload: .*maxsi"):
        accel.map(main, systolic())


@pytest.mark.nightly
def test_a_search_has_cycles_as_its_objective() -> None:
    mapped = accel.map(product(64, 48, 64), systolic())
    best = mapped.tune(trials=6, seed=0, progress=False)
    assert len(best.trials) == 6
    assert best.trials[0].cycles == mapped.cycles >= best.cycles == min(t.cycles for t in best.trials if t.cycles)
    with pytest.raises(TuneError, match="trials is a number >= 1, not 0"):
        mapped.tune(trials=0)


def test_small_memories_are_filled_in_turns() -> None:
    mapped = accel.map(product(32, 32, 32), systolic(rows=40))
    a, b = data(32, 32, 32)
    c = np.zeros((32, 32), np.int8)
    mapped.build().main(a, b, c)
    np.testing.assert_array_equal(c, scaled(a, b))


def test_tiles_that_no_memory_holds_are_refused() -> None:
    with pytest.raises(MachineError, match=r"block S: the smallest tiles of array\.compute need 32 rows of sp, .* 20"):
        accel.map(product(64, 64, 64), systolic(rows=20))


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "share"), [((512, 512, 512), 0.95), ((500, 300, 700), 0.85)])
def test_large_products_use_most_of_the_array(shape: tuple[int, int, int], share: float) -> None:
    mapped = accel.map(product(*shape), systolic())
    assert np.prod(shape) / 16**2 / mapped.cycles >= share


def test_the_cpu_lays_out_what_no_copy_reads() -> None:
    mapped = accel.map(columns(33, 17, 20, "int8", "int32"), sums_of_columns())
    rng = np.random.default_rng(0)
    a, b, c = (
        rng.integers(-9, 9, (33, 20), np.int8),
        rng.integers(-9, 9, (17, 20), np.int8),
        np.zeros((33, 17), np.int32),
    )
    mapped.build().main(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.T.astype(np.int32))
    assert "B is copied into pad by rows8.load" in str(mapped) and "the CPU lays it out first" in str(mapped)


def sums_of_columns() -> accel.Machine:
    """A machine of tiles of 8 x 8, whose copies have 4 rows, and whose one DMA loads and stores."""
    m = accel.Machine("rows8")
    pad, acc = m.memory("pad", rows=128, row=(8, "int8")), m.memory("acc", rows=64, row=(8, "int32"))
    dma, array = m.unit("dma", queue=4), m.unit("array", queue=4)

    @m.instruction(dma, call="load({R.row}, {D}, {rows}, {cols})", cycles=lambda rows, cols: rows, latency=20)
    def load(D: m.host("int8"), R: pad, rows: accel.upto(4), cols: accel.upto(8)):
        for i, j in T.grid(4, 8):
            R[i, j] = T.if_then_else(i < rows and j < cols, D[i, j], T.int8(0))

    @m.instruction(array, call="zero({C.row})", cycles=8)
    def zero(C: acc):
        for i, j in T.grid(8, 8):
            C[i, j] = 0

    @m.instruction(array, call="multiply_slowly({C.row}, {A.row}, {B.row})", cycles=80)
    def multiply_slowly(A: pad, B: pad, C: acc):
        for i, j, k in T.grid(8, 8, 8):
            C[i, j] += T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])

    @m.instruction(array, call="multiply({C.row}, {A.row}, {B.row})", cycles=8)
    def multiply(A: pad, B: pad, C: acc):
        for i, j, k in T.grid(8, 8, 8):
            C[i, j] += T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])

    @m.instruction(dma, call="save({D}, {C.row}, {rows}, {cols})", cycles=lambda rows, cols: rows)
    def save(C: acc, D: m.host("int32"), rows: accel.upto(8), cols: accel.upto(8)):
        for i, j in T.grid(8, 8):
            if i < rows and j < cols:
                D[i, j] = C[i, j]

    return m


@pytest.mark.parametrize("machine", [npu, sums_of_columns])
@pytest.mark.parametrize("shape", [(33, 1, 40), (40, 50, 1)])
def test_one_column_or_term_is_mapped(machine: Callable[[], accel.Machine], shape: tuple[int, int, int]) -> None:
    mapped = accel.map(columns(*shape, "int8", "int32"), machine())
    a, b = data(*shape)
    c = np.zeros(shape[:2], np.int32)
    mapped.build().main(a, np.ascontiguousarray(b.T), c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))
    assert mapped.schedule.verify()
    assert mapped.build().main.verify()


def test_one_row_of_fewer_columns_than_a_tile_is_mapped() -> None:
    mapped = accel.map(columns(1, 10, 16, "int8", "int32"), gemmini())
    a, b = data(1, 10, 16)
    c = np.zeros((1, 10), np.int32)
    mapped.build().main(a, np.ascontiguousarray(b.T), c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_programs_that_compute_too_long_are_not_tiled(monkeypatch: pytest.MonkeyPatch) -> None:
    tiled: list[int] = []

    def count(nest: Nest, cores: int) -> list[Placement]:
        tiled.append(nest.axes[0].extent)
        return placements(nest, cores)

    monkeypatch.setattr(mapping, "placements", count)
    assert cheapest_program([product(rows, 16, 16) for rows in (512, 64, 1024)], systolic()) == 1
    assert {*tiled} == {64}


def test_programs_that_no_instruction_computes_are_not_the_cheapest() -> None:
    programs = [columns(16, 16, 16, "float64", "float64"), product(16, 16, 16)]
    assert cheapest_program(programs, systolic()) == 1


def test_the_cheapest_of_equal_instructions_is_taken() -> None:
    mapped = accel.map(columns(16, 16, 16, "int8", "int32"), sums_of_columns())
    assert mapped.timeline.issued["multiply"] == 8 and "multiply_slowly" not in mapped.timeline.issued
    assert "rows8.multiply_slowly does the same, and is not cheaper" in str(mapped)


def test_equal_copies_take_turns_in_registers() -> None:
    issued = accel.map(product(32, 48, 80), gemmini()).timeline.issued
    assert (issued["config_ld"], issued["config_ld2"]) == (1, 1)


def test_an_operand_that_nothing_copies_is_named() -> None:
    machine = sums_of_columns()
    del machine.instructions["load"]
    with pytest.raises(MachineError, match="no instruction copies from the memory of the CPU into pad"):
        accel.map(columns(16, 16, 16, "int8", "int32"), machine)


def test_a_call_may_decide_a_size() -> None:
    @T.prim_func
    def main(a: T.handle, b: T.handle, c: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 16), "int8")
        B = T.match_buffer(b, (16, 16), "int8")
        C = T.match_buffer(c, (n, 16), "int32")
        for i, j, k in T.grid(n, 16, 16):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])

    mapped = accel.map(main, sums_of_columns())
    for n in (0, 1, 33):
        rng = np.random.default_rng(n)
        a, b = rng.integers(-128, 128, (n, 16), np.int8), rng.integers(-128, 128, (16, 16), np.int8)
        c = np.ones((n, 16), np.int32)
        mapped.function(a, b, c)
        np.testing.assert_array_equal(c, a.astype(np.int32) @ b)


def test_sizes_of_what_computes_are_told_to_be_those_of_whole_tiles() -> None:
    m = systolic()
    sp, acc = m.spaces["sp"], m.spaces["acc"]

    @m.instruction(m.units["execute"], call="rows({A.row}, {B.row}, {C.row}, {rows})", cycles=lambda rows: rows // 2)
    def compute_rows(A: sp, B: sp, C: acc, rows: accel.upto(16)):
        for i, j, k in T.grid(16, 16, 16):
            if i < rows:
                C[i, j] = C[i, j] + T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])

    mapped = accel.map(product(20, 16, 16), m)
    assert "it always computes whole tiles, rows = 16: operands are padded at edges" in str(mapped)
    assert ", 16);" in next(line for line in mapped.source.splitlines() if " rows(" in line)
    assert "whole tiles" not in str(accel.map(product(20, 16, 16), systolic()))
