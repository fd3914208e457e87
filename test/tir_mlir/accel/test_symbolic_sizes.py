"""Programs of machines whose sizes a call decides: addresses, results, C and times at any size, and what is refused."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
from programs.parsed import parse
from programs.systolic import put_product, symbolic_product, systolic

from tir_mlir import Schedule, accel, build, interpret
from tir_mlir.accel.back_end import MachineFunction
from tir_mlir.accel.machines import gemmini, npu
from tir_mlir.errors import ArgumentError, BuildError, LoweringError, MachineError
from tir_mlir.runtime.tools import c_tools
from tir_mlir.script import tir as T

SIZES = [(0, 5, 3), (5, 0, 3), (1, 1, 1), (2, 33, 17), (16, 16, 16), (15, 17, 31), (33, 40, 70)]
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


@T.prim_func
def symbolic_sums(a: T.handle, b: T.handle, c: T.handle):
    m, n, k = T.int32(), T.int32(), T.int32()
    A = T.match_buffer(a, (m, k), "int8")
    B = T.match_buffer(b, (k, n), "int8")
    C = T.match_buffer(c, (m, n), "int32")
    T.assume(k >= 1)
    for i, j, r in T.grid(m, n, k):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, r])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])


@pytest.fixture(scope="module")
def machine() -> accel.Machine:
    return systolic()


def schedule(machine: accel.Machine, tiles: tuple[int, int, int], ahead: bool) -> Schedule:
    sch = Schedule(symbolic_product)
    put_product(sch, machine, tiles, ahead, is_ragged=True)
    return sch


def main_of(sch: Schedule, machine: accel.Machine) -> MachineFunction:
    main = build(sch, target=machine).main
    assert isinstance(main, MachineFunction)
    return main


def data(m: int, n: int, k: int) -> tuple[Data, np.ndarray]:
    rng = np.random.default_rng(m)
    a, b = rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8)
    product = np.rint((a.astype(np.int32) @ b) / np.float32(512))
    return (a, b, np.full((m, n), 77, np.int8)), np.clip(product, 0, 127)


@pytest.mark.few(1)
@pytest.mark.parametrize(("tiles", "ahead"), [((1, 1, 1), False), ((2, 1, 2), True)])
def test_one_program_runs_at_any_size(machine: accel.Machine, tiles: tuple[int, int, int], ahead: bool) -> None:
    main = main_of(schedule(machine, tiles, ahead), machine)
    before = str(main.addresses)
    for sizes in SIZES:
        (a, b, c), expected = data(*sizes)
        main(a, b, c)
        np.testing.assert_array_equal(c, expected, str(sizes))
        m, n, k = sizes
        at = main.at_sizes(m=m, n=n, k=k)
        assert at.verify() and str(at.addresses) == before
    assert main.at_sizes(m=33, n=16, k=16).cycles > main.at_sizes(m=16, n=16, k=16).cycles


def test_its_schedule_is_verified(machine: accel.Machine) -> None:
    assert schedule(machine, (2, 1, 2), True).verify()


def test_it_is_mapped(machine: accel.Machine) -> None:
    mapped = accel.map(symbolic_product, machine)
    assert "for 64 tiles where a call decides the size" in str(mapped) and "vi any number x" in str(mapped)
    for sizes in SIZES:
        (a, b, c), expected = data(*sizes)
        mapped.function(a, b, c)
        np.testing.assert_array_equal(c, expected, str(sizes))


def test_c_takes_the_sizes(machine: accel.Machine, tmp_path: Path) -> None:
    lib = build(schedule(machine, (1, 1, 1), False), target=machine)
    lib.export(tmp_path / "product.c")
    text = (tmp_path / "product.c").read_text()
    assert "void product(const int8_t *A, const int8_t *B, int8_t *C, int32_t m, int32_t k, int32_t n)" in text
    c_tools.compile_c(tmp_path / "product.c", tmp_path / "product.o")
    c_tools.link_shared([str(tmp_path / "product.o")], str(tmp_path / "product.so"), [])
    function = ctypes.CDLL(str(tmp_path / "product.so")).product
    for m, n, k in SIZES:
        arrays, expected = data(m, n, k)
        function(*(ctypes.c_void_p(x.ctypes.data) for x in arrays), m, k, n)
        np.testing.assert_array_equal(arrays[2], expected)


def test_what_needs_numbers_says_so(machine: accel.Machine, tmp_path: Path) -> None:
    mapped = accel.map(symbolic_product, machine)
    told = r"depends on m, k, n, which a call decides; fix: .* lib.main.at_sizes\(m=..., k=..., n=...\)"
    with pytest.raises(MachineError, match=told):
        _ = mapped.cycles
    with pytest.raises(MachineError, match=r"the cycles of main depend on m, k, n, .* fix: tune the mapping of a"):
        mapped.tune(trials=1)
    with pytest.raises(BuildError, match="m, k, n; firmware has arrays for its arguments; fix: a program for each"):
        mapped.build().export(tmp_path, bare_metal=True)
    with pytest.raises(MachineError, match="sizes of main are m, k, n, at least 0; not m=3"):
        mapped.function.at_sizes(m=3)
    with pytest.raises(ArgumentError, match=r"it assumes k >= 1; this call has k = 0"):
        mapped.function(*data(3, 3, 0)[0])


def test_a_buffer_whose_rows_depend_on_a_size_is_named(machine: accel.Machine) -> None:
    sch = Schedule(symbolic_product)
    sch.pad_einsum("S", [16, 16, 16])
    sch.compute_inline("S_pad")
    for block in ("A_pad", "B_pad"):
        sch.set_scope(block, 0, machine.spaces["sp"].scope)
    sch.set_scope("S", 0, machine.spaces["acc"].scope)
    for block in ("A_pad", "B_pad", "S"):
        sch.transform_layout(block, ("write", 0), lambda x, y: (x // 16, y // 16, x % 16, y % 16))
    for block in ("A_pad", "B_pad"):
        x, y = sch.get_loops(block)
        (x_0, x_1), (y_0, y_1) = sch.split(x, [None, 16]), sch.split(y, [None, 16])
        sch.reorder(x_0, y_0, x_1, y_1)
        sch.tensorize(x_1, "array.mvin")
    with pytest.raises(LoweringError) as caught:
        build(sch, target=machine)
    assert "is in memory " in str(caught.value) and "a call decides its size: it has no address" in str(caught.value)
    assert "fix: compute_at, or reverse_compute_at, moves it into a loop over parts" in str(caught.value)


def test_a_copy_that_the_cpu_makes_has_no_place() -> None:
    shape = re.escape("((n + 15) // 16 * 16, (k + 31) // 32 * 32)")
    with pytest.raises(LoweringError, match=f"B_global_pad of shape {shape} is in the memory of the CPU, .* masks"):
        accel.map(symbolic_sums, npu()).build()


def test_multiples_of_a_tile_are_not_padded() -> None:
    @T.prim_func
    def main(a: T.handle, b: T.handle, c: T.handle):
        m, n, k = T.int32(), T.int32(), T.int32()
        A = T.match_buffer(a, (m * 16, k * 16), "int8")
        B = T.match_buffer(b, (k * 16, n * 16), "int8")
        C = T.match_buffer(c, (m * 16, n * 16), "int32")
        T.assume(k >= 1)
        for i, j, r in T.grid(m * 16, n * 16, k * 16):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])

    mapped = accel.map(main, gemmini())
    assert "by gemmini.mvin in" in str(mapped) and "mvin_padded" not in mapped.source and mapped.function.verify()
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (32, 48), np.int8), rng.integers(-9, 9, (48, 16), np.int8)
    c = np.zeros((32, 16), np.int32)
    mapped.function(a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b)


def test_a_sum_that_may_have_no_term_is_told_to_be_excluded() -> None:
    sch = Schedule(symbolic_sums)
    text = sch.mod.script().replace("T.assume(k >= 1)", "T.assume(k >= 0)")
    assert text != sch.mod.script()
    with pytest.raises(MachineError, match=r"\(unless k >= 1\)[^$]*; or exclude the sizes at which .*: T.assume"):
        accel.map(Schedule(parse(text)), gemmini())


def test_waits_are_not_derived_for_variable_sizes() -> None:
    machine = systolic(interlocks="none")
    for unit in list(machine.units.values()):
        machine.wait(unit, call=f"wait_{unit.name}({{left}})", most=7)
    with pytest.raises(MachineError, match=r"where main has to wait depends on m, k, n, .* fix: a program for each"):
        accel.map(symbolic_product, machine).build()


def test_matrices_begin_at_products_of_loops_and_sizes() -> None:
    m = accel.Machine("rows")
    pad = m.memory("pad", rows=16, row=(8, "float32"))
    unit = m.unit("copy")

    @m.instruction(unit, call="load({R.row}, {D}, {rows})", cycles=8)
    def load(D: m.host("float32"), R: pad, rows: accel.upto(4)):
        for i, j in T.grid(4, 8):
            if i < rows:
                R[i, j] = D[i, j]

    @m.instruction(unit, call="store({R.row}, {D}, {rows})", cycles=8)
    def store(R: pad, D: m.host("float32"), rows: accel.upto(4)):
        for i, j in T.grid(4, 8):
            if i < rows:
                D[i, j] = R[i, j]

    @T.prim_func
    def main(a: T.handle, b: T.handle):
        x, y = T.int32(), T.int32()
        A = T.match_buffer(a, (x, y, 8), "float32")
        B = T.match_buffer(b, (x, y, 8), "float32")
        for i, j, k in T.grid(x, y, 8):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vi, vj, vk]

    sch = Schedule(main)
    copy = sch.cache_read("B", "A", pad.scope)
    part, _ = sch.split(sch.get_loops("B")[1], [None, 4])
    sch.compute_at(copy, part)
    for block, name in ((copy, "rows.load"), ("B", "rows.store")):
        sch.tensorize(sch.get_loops(block)[-2], name)
    assert sch.verify()
    for shape in ((3, 13, 8), (1, 4, 8), (2, 0, 8)):
        a = np.random.default_rng(0).random(shape, dtype=np.float32)
        b = np.zeros_like(a)
        interpret(sch, a, b)
        np.testing.assert_array_equal(a, b)
    with pytest.raises(LoweringError, match=r"buffer A_global.pad of shape \(x, y, 8\) is in memory pad"):
        build(sch, target=m)  # the mask of a tile in the memory may be its last rows


def test_the_stride_of_a_tile_outside_of_loops_is_no_size() -> None:
    m = accel.Machine("once")
    pad, dma = m.memory("pad", rows=4, row=(16, "int8")), m.unit("dma")

    @m.instruction(dma, call="get({R.row}, {D})")
    def get(D: m.host("int8"), R: pad):
        for i, j in T.grid(4, 16):
            R[i, j] = D[i, j]

    @m.instruction(dma, call="put({D}, {R.row})")
    def put(R: pad, D: m.host("int8")):
        for i, j in T.grid(4, 16):
            D[i, j] = R[i, j]

    @T.prim_func
    def main(A: T.Buffer((4, 16), "int8"), B: T.Buffer((4, 16), "int8")):
        for i, j in T.grid(4, 16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]

    sch = Schedule(main)
    sch.tensorize(sch.get_loops(sch.cache_read("B", 0, pad.scope))[0], "once.get")
    sch.tensorize(sch.get_loops("B")[0], "once.put")
    built = main_of(sch, m)
    assert "void main(const int8_t *A, int8_t *B)" in built.source and built.cycles > 0
