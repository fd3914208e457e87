"""Arguments that overlap in memory: refused at the call, unless the function says `tir.noalias = False`."""

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ArgumentError

TEXT = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    # ATTR
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi] + B[vi]
"""
STRIDED = """
@T.prim_func
def main(a: T.handle, c: T.handle):
    A = T.match_buffer(a, (4,), "float32", strides=[2])
    C = T.match_buffer(c, (4,), "float32", strides=[2])
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi] + 1.0
"""


def made(text=TEXT, attr=""):
    return build(parse(text.replace("# ATTR", attr)))["main"]


@pytest.fixture(scope="module")
def main():
    return made()


def x(n=8):
    return np.arange(n, dtype="float32")


@pytest.fixture
def warm(main):
    main(x(), x(), x())
    return main


@pytest.mark.parametrize("first", [0, 4, 7])
def test_overlap_is_refused_without_any_attribute(warm, first):
    a = x(16)
    with pytest.raises(ArgumentError) as caught:
        warm(a[:8], x(), a[first : first + 8])
    shared = f"bytes {4 * first} to 31 of 'A' are bytes 0 to {31 - 4 * first} of 'C', and 'C' is written"
    assert shared in str(caught.value)
    np.testing.assert_array_equal(a, x(16))


def test_the_earlier_argument_may_lie_behind(warm):
    a = x(16)
    with pytest.raises(ArgumentError, match="bytes 0 to 15 of 'A' are bytes 16 to 31 of 'C'"):
        warm(a[4:12], x(), a[:8])


def test_neighbors_do_not_overlap(warm):
    a = x(24)
    warm(a[:8], a[16:], a[8:16])
    np.testing.assert_array_equal(a[8:16], x(24)[:8] + x(24)[16:])


def test_arguments_that_are_only_read_may_overlap(warm):
    a, c = x(12), x()
    warm(a[:8], a[4:], c)
    np.testing.assert_array_equal(c, a[:8] + a[4:])


def test_strided_arrays_that_share_no_element_may_interleave():
    both = x()
    main = made(STRIDED)
    for _ in range(2):
        main(both[::2], both[1::2])
    np.testing.assert_array_equal(both, [0, 1, 2, 3, 4, 5, 6, 7])
    whole = x(12)
    with pytest.raises(ArgumentError, match="overlap in memory: bytes 8 to 27 of 'A' are bytes 0 to 19 of 'C'"):
        main(whole[:8:2], whole[2:10:2])


def test_a_function_may_say_that_its_parameters_overlap():
    main = made(attr='T.func_attr({"tir.noalias": False})')
    a = np.ones(9, "float32")
    main(a[:8], np.ones(8, "float32"), a[1:])
    np.testing.assert_array_equal(a, np.arange(1, 10))  # element by element, in the order of the program


def test_the_attribute_is_the_only_difference_in_the_code():
    marked = [
        " noalias" in build(parse(TEXT.replace("# ATTR", a))).llvm_ir
        for a in ("", 'T.func_attr({"tir.noalias": False})')
    ]
    assert marked == [True, False]


def test_many_parameters():
    names = [f"A{i}" for i in range(70)]
    head = ", ".join(f'{n}: T.Buffer((4,), "float32")' for n in names)
    total = " + ".join(f"{n}[vi]" for n in names[:-1])
    body = f"""
@T.prim_func
def main({head}):
    for i in range(4):
        with T.block("sum"):
            vi = T.axis.spatial(4, i)
            A69[vi] = {total}
"""
    main, args = made(body), [x(4) + n for n in range(70)]
    main(*args)
    pack, came = main._packer.pack, []
    main._packer.pack = lambda given: came.append(given) or pack(given)
    args[-1][:] = 0
    main(*args)
    np.testing.assert_array_equal(args[-1], sum(args[:-1]))
    assert came == []  # it did not come to Python
    with pytest.raises(ArgumentError, match=r"arguments 3, A3: .*, and 69, A69"):
        main(*args[:3], args[-1], *args[4:])
