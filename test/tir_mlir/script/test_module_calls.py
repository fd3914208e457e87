"""Calls of other functions of a module in TVMScript: parsing, printing, refusals, results."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import IRModule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.parser import parse

SCALE = """
    @T.prim_func(private=True)
    def scale(a: T.handle, b: T.handle, f: T.float32):
        m = T.int32()
        n = T.int32()
        A = T.match_buffer(a, (m, n))
        B = T.match_buffer(b, (m, n))
        for i, j in T.grid(m, n):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * f
"""
ROWS = """
    @T.prim_func(private=True)
    def rows(a: T.handle, b: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (2, n), strides=["s", 1])
        B = T.match_buffer(b, (2, n), strides=["t", 1])
        for i, j in T.grid(2, n):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1.0
"""
XY = 'x: T.Buffer((4, 8), "float32"), y: T.Buffer((4, 8), "float32")'


def module(*body: str, params: str = XY, more: str = SCALE + ROWS) -> IRModule:
    lines = "\n".join(f"        {line}" for line in body)
    return parse(f"@I.ir_module\nclass Model:\n    @T.prim_func\n    def main({params}):\n{lines}\n{more}")


def run(mod: IRModule, *arrays: np.ndarray, driver: str = "jit") -> None:
    build(mod, driver=driver)["main"](*arrays)


def data(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(0).random(shape, dtype=np.float32), np.zeros(shape, np.float32)


def refused(words: str, *body: str, params: str = XY, more: str = SCALE + ROWS) -> None:
    with pytest.raises(ScriptError, match=words):
        module(*body, params=params, more=more)


# --- spellings


@pytest.mark.parametrize(
    "line",
    [
        'T.call("scale", x, y, 2.0)',
        "Model.scale(x, y, 2.0)",
        "cls.scale(x.data, y.data, T.float32(2))",
        "Model.scale(A=x, f=2.0, B=y)",
        'T.evaluate(T.call("scale", x, y, 2.0))',
    ],
)
def test_spellings(line):
    mod = module(line)
    x, y = data(4, 8)
    run(mod, x, y)
    np.testing.assert_array_equal(y, x * 2)
    assert 'T.call("scale", x, y, T.float32(2.0))' in mod.script()


def test_a_decorated_class():
    @I.ir_module
    class Twice:
        @T.prim_func
        def main(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32")):
            Twice.double(x, y)

        @T.prim_func(private=True)
        def double(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
            for i in range(16):
                with T.block("B"):
                    vi = T.axis.spatial(16, i)
                    B[vi] = A[vi] + A[vi]

    x, y = data(16)
    run(Twice, x, y)
    np.testing.assert_array_equal(y, x + x)


def test_functions_of_a_text_by_name():
    text = "@T.prim_func\ndef main(x: T.Buffer((4, 8)), y: T.Buffer((4, 8))):\n    scale(x, y, 2.0)\n"
    mod = parse(text + SCALE.replace("\n    ", "\n"))
    x, y = data(4, 8)
    run(mod, x, y)
    np.testing.assert_array_equal(y, x * 2)


def test_order_of_functions_is_kept():
    assert list(module('T.call("scale", x, y, 2.0)').functions) == ["main", "scale", "rows"]


def test_round_trip():
    mod = module('T.call("scale", x, y, 2.0)', "Model.rows(y[0:2, :], x[1:3, 0:8])")
    text = mod.script()
    assert 'T.call("rows", y[0:2, 0:8], x[1:3, 0:8])' in text
    again = parse(text)
    assert again.equal(mod)
    assert again.script() == text
    assert IRModule.from_mlir(mod.text()).script() == text


# --- results


@pytest.mark.parametrize("driver", ["jit", "tools"])
def test_regions_and_sizes(driver):
    mod = module("Model.rows(x[2:4, :], y[0:2, :])", "Model.rows(x[1:3, 2:7], y[2:4, 0:5])")
    x, y = data(4, 8)
    run(mod, x, y, driver=driver)
    expected = np.zeros_like(y)
    expected[:2], expected[2:, :5] = x[2:] + 1, x[1:3, 2:7] + 1
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("n", [1, 7, 64])
def test_symbolic_sizes(n):
    mod = module(
        "n = T.int32()",
        "x = T.match_buffer(a, (n, 2 * n))",
        "y = T.match_buffer(b, (n, 2 * n))",
        "t = T.alloc_buffer((n, 2 * n))",
        "Model.scale(x, t, 3.0)",
        "Model.scale(t, y, 0.5)",
        params="a: T.handle, b: T.handle",
    )
    x, y = data(n, 2 * n)
    run(mod, x, y)
    np.testing.assert_allclose(y, x * 1.5, rtol=1e-6)
    assert parse(mod.script()).equal(mod)


def test_calls_in_loops_and_of_loop_variables():
    row = ROWS.replace("(2, n)", "(1, n)").replace("T.grid(2, n)", "T.grid(1, n)")
    mod = module("for k in range(4):", "    Model.rows(x[k:k + 1, :], y[3 - k:4 - k, :])", more=row)
    x, y = data(4, 8)
    run(mod, x, y)
    np.testing.assert_array_equal(y, x[::-1] + 1)
    assert parse(mod.script()).equal(mod)


def test_calls_of_calls():
    more = SCALE + (
        "    @T.prim_func(private=True)\n    def twice(A: T.Buffer((4, 8)), B: T.Buffer((4, 8))):\n"
        "        t = T.alloc_buffer((4, 8))\n        Model.scale(A, t, 2.0)\n        Model.scale(t, B, 5.0)\n"
    )
    x, y = data(4, 8)
    run(module("Model.twice(x, y)", more=more), x, y)
    np.testing.assert_array_equal(y, x * 10)


def test_what_is_only_read_by_callees_may_be_read_only():
    x, y = data(4, 8)
    x.setflags(write=False)
    run(module("Model.scale(x, y, 2.0)"), x, y)
    np.testing.assert_array_equal(y, x * 2)


# --- refusals


def test_unknown_function():
    refused(r"the module has no function dense \(it has scale, rows\)", 'T.call("dense", x, y)')


def test_number_of_arguments():
    refused(r"scale takes 3 arguments \(A, B, f\), not 2", "Model.scale(x, y)")


def test_unknown_parameter():
    refused(r"scale is given C, which it does not take; it takes A, B, f", "Model.scale(x, y, C=1.0)")


def test_recursion():
    refused("main calls itself: programs do not call themselves", "Model.main(x, y)")


def test_mutual_recursion():
    more = "    @T.prim_func\n    def f(A: T.Buffer((4, 8)), B: T.Buffer((4, 8))):\n        Model.main(A, B)\n"
    refused("f calls main, which calls f: programs do not call themselves", "Model.f(x, y)", more=more)


def test_dtype():
    params = XY.replace('y: T.Buffer((4, 8), "float32")', 'y: T.Buffer((4, 8), "int32")')
    refused(
        r"parameter B of scale has the type float32, but what is passed of y has int32",
        "Model.scale(x, y, 2.0)",
        params=params,
    )


def test_unsigned_is_not_signed():
    more = '    @T.prim_func\n    def f(A: T.Buffer((4,), "uint8")):\n        A[0] = A[1]\n'
    refused(
        "parameter A of f is of uint8, but x is of int8",
        "Model.f(x)",
        params='x: T.Buffer((4,), "int8")',
        more=more,
    )


def test_rank():
    refused(
        r"parameter A of scale has the rank 2, but what is passed of x has 1",
        "Model.scale(x, y, 2.0)",
        params='x: T.Buffer((32,), "float32"), y: T.Buffer((4, 8), "float32")',
    )


def test_extents():
    refused(r"axis 0 of parameter A of rows has 2 elements, but 3 are passed", "Model.rows(x[0:3, :], y[0:2, :])")


def test_sizes_that_disagree():
    refused(
        r"axis 1 of parameter B of scale has 8 elements, but 4 are passed",
        "Model.scale(x, y, 2.0)",
        params='x: T.Buffer((4, 8), "float32"), y: T.Buffer((4, 4), "float32")',
    )


def test_sizes_that_are_not_proved_equal():
    body = "m = T.int32()", "n = T.int32()", "x = T.match_buffer(a, (m, 8))", "y = T.match_buffer(b, (n, 8))"
    call = "Model.scale(x, y, 2.0)"
    refused(
        r"not provable that axis 0 of parameter B of scale has as many elements",
        *body,
        call,
        params="a: T.handle, b: T.handle",
    )
    module(*body, "T.assume(m == n)", call, params="a: T.handle, b: T.handle")


def test_an_assumption_of_the_callee():
    more = SCALE.replace("        for i, j", "        T.assume(n % 4 == 0)\n        for i, j")
    module("Model.scale(x, y, 2.0)", more=more)
    refused(
        "scale assumes .*, which is not provable of the sizes passed",
        "Model.scale(x, y, 2.0)",
        more=more,
        params='x: T.Buffer((4, 6), "float32"), y: T.Buffer((4, 6), "float32")',
    )


def test_a_part_for_a_row_major_parameter():
    refused(
        r"parameter A of scale is row-major from its first element, but a part of a buffer is passed; fix: ",
        "Model.scale(x[0:2, 0:4], y[0:2, 0:4], 2.0)",
    )


def test_the_first_rows_are_row_major():
    more = SCALE.replace("m = T.int32()\n", "").replace("(m, n)", "(2, 8)").replace("n = T.int32()", "")
    x, y = data(4, 8)
    run(module("Model.scale(x[0:2, :], y[0:2, :], 2.0)", more=more), x, y)
    np.testing.assert_array_equal(y[:2], x[:2] * 2)


def test_a_buffer_twice():
    refused("scale writes B, so that A must be other memory: x is passed for both; fix: ", "Model.scale(x, x, 2.0)")


def test_overlapping_regions():
    refused(
        "rows writes B, so that A must be other memory: both are parts of x, which overlap",
        "Model.rows(x[0:2, :], x[1:3, :])",
    )
    module("Model.rows(x[0:2, :], x[2:4, :])")


def test_regions_that_meet_in_some_iterations():
    body = "for k in range(2):", "    Model.rows(x[k:k + 2, 0:8], x[2:4, 0:8])"
    refused("both are parts of x, which overlap", *body)


def test_a_region_outside_its_buffer():
    body = "for k in range(4):", "    Model.rows(x[k:k + 2, :], y[0:2, :])"
    refused("x is read at indices 3 to 4 in dimension 0, which has 4 rows, at k = 3", *body)


def test_calls_in_blocks():
    mod = module(
        "for k in range(2):",
        '    with T.block("r"):',
        "        vk = T.axis.spatial(2, k)",
        "        Model.rows(x[vk * 2:vk * 2 + 2, :], y[vk * 2:vk * 2 + 2, :])",
    )
    assert "T.writes(y[vk * 2:vk * 2 + 2, 0:8])" in mod.script()
    assert parse(mod.script()).equal(mod)
    sch = Schedule(mod)
    sch.parallel(sch.get_loops("r")[0])
    x, y = data(4, 8)
    run(sch.mod, x, y)
    np.testing.assert_array_equal(y, x + 1)
    assert sch.verify()


def test_blocks_whose_calls_write_the_same_rows():
    body = (
        "for k in range(2):",
        '    with T.block("r"):',
        "        vk = T.axis.spatial(2, k)",
        "        Model.rows(x[vk * 2:vk * 2 + 2, :], y[vk:vk + 2, :])",
    )
    refused("not provable that no two of its iterations touch one element of y", *body)


def test_a_number_for_a_buffer():
    refused("parameter A of scale is a buffer: pass one, or a region", "Model.scale(1.0, y, 2.0)")


def test_a_buffer_for_a_number():
    refused("parameter f of scale is a number, not buffer x", "Model.scale(x, y, x)")


def test_a_function_of_the_class_by_its_name():
    @I.ir_module
    class Same:
        @T.prim_func(private=True)
        def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
            for i in range(4):
                with T.block("B"):
                    vi = T.axis.spatial(4, i)
                    B[vi] = A[vi]

        @T.prim_func
        def main(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            copy(x, y)  # noqa: F821

    x, y = data(4)
    run(Same, x, y)
    np.testing.assert_array_equal(y, x)


@T.prim_func
def elsewhere(A: T.Buffer((4, 8), "float32")):
    A[0, 0] = T.float32(1)


def test_a_function_of_another_module():
    with pytest.raises(ScriptError, match="elsewhere is a function of another module: put both in one class"):
        parse("@T.prim_func\ndef main(x: T.Buffer((4, 8))):\n    elsewhere(x)\n", {"elsewhere": elsewhere})
