"""`build(checked=True)`: a value that is bound to an iter outside the iter's domain raises."""

from __future__ import annotations

import numpy as np
import pytest
from harness import scripts
from harness.schedules import quick_build

from tir_mlir import Schedule, build, interpret
from tir_mlir.errors import OutOfBoundsError
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.script import IRModule

PICK = """
for i in range(16):
    with T.block("b"):
        vi = T.axis.opaque(16, I[i])
        vj = T.axis.opaque(8, I[i] // 2)
        T.where({condition})
        B[vi] = A[vi] + T.float32(1)
"""
PICKED = "A: T.Buffer((16,)), B: T.Buffer((16,)), I: T.Buffer((16,), 'int32')"


def _call(function, bad: dict[int, int]) -> np.ndarray:
    a, b = np.linspace(1, -1, 16).astype(np.float32), np.zeros(16, np.float32)
    order = np.arange(16, dtype=np.int32)
    for at, value in bad.items():
        order[at] = value
    try:
        function(a, b, order)
    finally:
        done = np.isin(np.arange(16), order)
        np.testing.assert_array_equal(b[~done], 0)  # nothing else was written
    return b


def _picked(condition: str = "True") -> IRModule:
    return scripts.function(PICK.format(condition=condition), PICKED)


def test_the_error_has_the_block_the_iter_its_value_and_the_line() -> None:
    lib = build(_picked(), checked=True)
    with pytest.raises(
        OutOfBoundsError, match=r'main: block "b" binds vi = 19, outside its domain \[0, 16\)'
    ) as caught:
        _call(lib, {3: 19})
    error = caught.value
    assert (error.function, error.block, error.buffer, error.index, error.shape) == ("main", "b", "vi", (19,), (16,))
    assert error.place == ("<script>", 5)
    assert _call(lib, {})[0] == 2  # the next call is a new one


@pytest.mark.parametrize("value", [-1, -(2**31), 16, 2**31 - 1])
def test_any_value(value: int) -> None:
    with pytest.raises(OutOfBoundsError) as caught:
        _call(build(_picked(), checked=True), {15: value})
    assert caught.value.index == (value,)


def test_the_second_iter_has_a_domain_of_its_own() -> None:
    module = scripts.function(PICK.format(condition="True").replace("opaque(8,", "opaque(4,"), PICKED)
    with pytest.raises(OutOfBoundsError, match=r"binds vj = 4, outside its domain \[0, 4\)"):
        _call(build(module, checked=True), {})


@pytest.mark.parametrize("condition", ["i < 8", "A[i] > T.float32(0)", "A[i] > T.float32(0) and i < 8"])
def test_where_its_condition_does_not_hold_a_block_binds_nothing(condition: str) -> None:
    module = _picked(condition)
    for call in (build(module, checked=True), lambda *args: interpret(module, *args)):
        assert _call(call, {12: 99})[7] > 0
        with pytest.raises(OutOfBoundsError, match="vi = 99"):
            _call(call, {3: 99})


def test_without_the_option_the_block_is_skipped() -> None:
    assert _call(build(_picked()), {3: 19})[3] == 0


CSR = """
for i in range(8):
    with T.block("zero"):
        vi = T.axis.spatial(8, i)
        Y[vi] = T.float32(0)
for i in range(8):
    for k in range(P[i], P[i + 1]):
        with T.block("row"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(30, k)
            Y[vi] = Y[vi] + V[vk]
"""


@pytest.mark.parametrize("kind", ["serial", "parallel"])
def test_the_rows_of_csr(kind: str) -> None:
    sch = Schedule(scripts.function(CSR, "P: T.Buffer((9,), 'int32'), V: T.Buffer((30,)), Y: T.Buffer((8,))"))
    if kind == "parallel":
        sch.parallel(sch.get_loops("row")[0])
    lib, y = build(sch, checked=True), np.zeros(8, np.float32)
    starts, v = np.array([0, 3, 3, 9, 10, 20, 21, 30, 30], np.int32), np.ones(30, np.float32)
    lib(starts, v, y)
    np.testing.assert_array_equal(y, np.diff(starts))
    starts[-1] = 33
    with pytest.raises(OutOfBoundsError, match=r'block "row" binds vk = 3[0-2], outside its domain \[0, 30\)'):
        lib(starts, v, y)


ROWS = """
for k in range(P[0]):
    for d in {kind}({extent}):
        with T.block("b"):
            vk = T.axis.opaque(40, k)
            vd = T.axis.spatial({size}, d)
            Y[vk, vd] = E[vk, vd]
"""


def _rows(extent: str, size: str, kind: str = "range") -> IRModule:
    params = f"E: T.Buffer((40, {size})), P: T.Buffer((1,), 'int32'), Y: T.Buffer((40, {size}))"
    return scripts.function(ROWS.format(extent=extent, size=size, kind=kind), params)


def test_a_vectorized_loop_inside_stays_a_vector() -> None:
    lib = quick_build(_rows("16", "16", "T.vectorized"), checked=True)
    assert "vector<16xf32>" in str(lib.lowered)
    e, y = np.ones((40, 16), np.float32), np.zeros((40, 16), np.float32)
    lib(e, np.array([40], np.int32), y)
    np.testing.assert_array_equal(y, e)
    with pytest.raises(OutOfBoundsError, match=r"binds vk = 40, outside its domain \[0, 40\)"):
        lib(e, np.array([41], np.int32), y)


SIZED = """
n = T.int32()
E = T.match_buffer(e, (40, n))
Y = T.match_buffer(y, (40, n))
for k in range(P[0]):
    for d in range(n):
        with T.block("b"):
            vk = T.axis.opaque(40, k)
            vd = T.axis.spatial(n, d)
            Y[vk, vd] = E[vk, vd]
"""


def test_a_loop_that_does_not_run_binds_nothing() -> None:
    lib = build(scripts.function(SIZED, "e: T.handle, P: T.Buffer((1,), 'int32'), y: T.handle"), checked=True)
    many = np.array([50], np.int32)
    empty, full = (np.zeros((40, n), np.float32) for n in (0, 3))
    lib(empty, many, empty.copy())
    with pytest.raises(OutOfBoundsError, match="binds vk = 40"):
        lib(full, many, full.copy())


def test_a_domain_of_symbolic_size() -> None:
    flat = """
n = T.int32()
A = T.match_buffer(a, (n,))
for i in range(4):
    with T.block("b"):
        vi = T.axis.opaque(n, I[i])
        A[vi] = T.float32(1)
"""
    lib = build(scripts.function(flat, "a: T.handle, I: T.Buffer((4,), 'int64')"), checked=True)
    a = np.zeros(5, np.float32)
    lib(a, np.array([0, 4, 1, 1]))
    np.testing.assert_array_equal(a, [1, 1, 0, 0, 1])
    with pytest.raises(OutOfBoundsError, match=r"binds vi = 5, outside its domain \[0, 5\)"):
        lib(a, np.array([0, 5, 1, 1]))


def test_the_header_of_a_library_names_the_binding(tmp_path) -> None:
    lib = build(_picked(), driver="tools", checked=True)
    header = lib.export(tmp_path / "libpick.so")[-1].read_text()
    assert "1: binding of vi in b, <script>:5" in header and "2: binding of vj in b, <script>:6" in header


LANES = """
for i in T.vectorized(16):
    with T.block("b"):
        vi = T.axis.spatial(16, i)
        vj = T.axis.reduce(16, I[i])
        B[vi] = B[vi] + A[vj]
"""


def test_lanes_with_values_of_their_own_are_serial() -> None:
    with pytest.warns(LoweringWarning, match="the value of iter vj differs between its iterations and is checked"):
        lib = quick_build(scripts.function(LANES, PICKED), checked=True)
    assert _call(lib, {})[0] == 1
    with pytest.raises(OutOfBoundsError, match="binds vj = 16"):
        lib(*(np.zeros(16, np.float32) for _ in range(2)), np.full(16, 16, np.int32))


RANGES = """
for i in range(2):
    for k in range(P[i], P[i + 1]):
        with T.block("b"):
            vi = T.axis.spatial(2, i)
            vk = T.axis.reduce(SIZE, k)
            B[vi] = B[vi] + A[vk]
"""


@pytest.mark.parametrize("size", [1, 2])
def test_the_variable_of_a_loop_with_bounds_from_data(size: int) -> None:
    """A domain of one value, whose search lowering would take for that value, is checked, too."""
    buffers = f"P: T.Buffer((3,), 'int32'), A: T.Buffer(({size},)), B: T.Buffer((2,))"
    lib = build(scripts.function(RANGES.replace("SIZE", str(size)), buffers), checked=True)
    a, b = np.ones(size, np.float32), np.zeros(2, np.float32)
    lib(np.array([0, size, size], np.int32), a, b)
    np.testing.assert_array_equal(b, [size, 0])
    with pytest.raises(OutOfBoundsError, match=rf'block "b" binds vk = {size}, outside its domain \[0, {size}\)'):
        lib(np.array([0, size + 1, size + 1], np.int32), a, b)
