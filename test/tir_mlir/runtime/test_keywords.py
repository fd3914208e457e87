"""Calls by keyword."""

import numpy as np
import pytest
from programs.short import each, main

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.script import parser

TEXT = main("A:8 B:8 C:8", each("C", "C[vi] = A[vi] - B[vi]"))


@pytest.fixture(scope="module")
def lib():
    return build(parser.parse(TEXT))


@pytest.fixture
def main(lib):
    return lib["main"]


def arrays():
    return [np.arange(8, dtype="float32"), np.ones(8, "float32"), np.zeros(8, "float32")]


@pytest.mark.parametrize("order", ["ABC", "CBA", "BCA"])
@pytest.mark.parametrize("given", [0, 1, 2])
def test_names_in_any_order(main, order, given):
    values = arrays()
    named = {n: values["ABC".index(n)] for n in order if "ABC".index(n) >= given}
    for _ in range(2):
        values[2][:] = 0
        assert main(*values[:given], **named) is None
        np.testing.assert_array_equal(values[2], values[0] - values[1])


def test_a_name_made_at_run_time(main):
    a, b, c = arrays()
    main(a, b, **{"C0"[:1]: c})
    np.testing.assert_array_equal(c, a - b)


def test_the_library_takes_names_too(lib):
    a, b, c = arrays()
    lib(a, C=c, B=b)
    np.testing.assert_array_equal(c, a - b)


def test_a_known_call_by_name_does_not_come_to_python(main):
    a, b, c = arrays()
    main(a, b, c)
    pack, came = main._packer.pack, []
    main._packer.pack = lambda args: came.append(args) or pack(args)
    main(B=b, A=a, C=c)
    main(a, C=c, B=b)
    main._packer.pack = pack
    assert came == []
    np.testing.assert_array_equal(c, a - b)


REFUSED = {
    "unknown": (["A"], "BCD", "main has no parameter 'D'; it is main.A: Buffer"),
    "case": (["A"], "Bc", r"main has no parameter 'c' \(did you mean 'C'\?\)"),
    "missing": (["A"], "B", "main: no argument for 'C'; it is main.A: Buffer"),
    "twice": (["A", "B"], "BC", "main: 'B' is given twice, as argument 1 and by keyword"),
    "too many": (["A", "B", "C"], "A", "main: 'A' is given twice, as argument 0 and by keyword"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(main, case):
    by_position, by_name, message = REFUSED[case]
    a, b, c = arrays()
    with pytest.raises(ArgumentError, match=message):
        main(*[a, b, c][: len(by_position)], **dict.fromkeys(by_name, c))
    np.testing.assert_array_equal(c, 0)


def test_a_name_that_two_parameters_have(parse):
    text = """func.func @f(%A: memref<4xf32> {tir.name = "A"}, %B: memref<4xf32> {tir.name = "A"}) {
      %c0 = arith.constant 0.0 : f32
      affine.store %c0, %B[0] : memref<4xf32>
      return
    }"""
    f, a = build(parse(text))["f"], np.ones(4, "float32")
    f(a.copy(), a)
    with pytest.raises(ArgumentError, match="f: 2 parameters are called 'A'; pass them by position"):
        f(a.copy(), A=a)
