"""IndexMap: parsing of lambdas, text form, shape, inverse, padding, collisions."""

import copy
import itertools

import numpy as np
import pytest

from tir_mlir import IndexMap
from tir_mlir.dialect.diagnostics import IndexMapError, NotAffine, TirError

TILED = IndexMap.from_func(lambda i, j: (i // 16, j // 16, i % 16, j % 16))
MAPS = [
    (lambda i: (i // 4, i % 4), (14,)),
    (lambda i: (i // 4, i % 4), (3,)),
    (lambda i: (i // 16, i // 4 % 4, i % 4), (61,)),
    (lambda i: i * 3, (5,)),
    (lambda i: i + 2, (5,)),
    (lambda i, j: (j, i), (3, 5)),
    (lambda i, j: i * 7 + j, (3, 7)),
    (lambda i, j: (i, (i * 3 + j) % 16), (6, 16)),
    (lambda i, j: (i // 4, j // 4, i % 4, j % 4), (9, 10)),
    (lambda i, j: (j // 8, i, j % 8), (2, 17)),
    (lambda *i: i[::-1], (2, 3, 4)),
    (lambda i: (i, i), (4,)),
]


def test_text():
    assert repr(TILED) == "lambda i, j: (i // 16, j // 16, i % 16, j % 16)"
    assert IndexMap.from_text(repr(TILED)) == TILED
    assert copy.deepcopy(TILED) == TILED


@pytest.mark.parametrize(
    "text",
    [
        "lambda i: i",
        "lambda i, j: (i + 2 - j * 3, -(i - j) + 3)",
        "lambda i: (i // 4 % 4, (i + 1) % 4, i - (i - 1), i * 2 // 3)",
        "lambda: 0",
        "lambda i: 0.5",
    ],
)
def test_text_and_map_say_the_same(text):
    one = IndexMap.from_text(text)
    again = IndexMap.from_text(repr(one))
    assert repr(again) == repr(one)
    reference = eval(text)
    point = list(range(11, 11 + len(one.names)))
    expected = reference(*point)
    assert one.map_indices(point) == list(expected if isinstance(expected, tuple) else (expected,))


@pytest.mark.parametrize(
    "text",
    [
        "i // 2",
        "lambda i: __import__('os')",
        "lambda i: i.real",
        "lambda *i: i",
        "lambda i, i: i",
        "lambda i: i if i else 0",
        "lambda i=1: i",
        "lambda i: True",
        "(",
        "lambda i: " + "-" * 3000 + "i",
        "lambda i: " + "[" * 3000 + "i",
        "lambda i: i + 9223372036854775808",
        "lambda i: " + " + ".join("i" * 400),
    ],
)
def test_text_that_is_no_map(text):
    with pytest.raises((IndexMapError, NotAffine)):
        IndexMap.from_text(text)


def test_lists_are_flattened_and_places_counted():
    nested = IndexMap.from_func(lambda i, j: [i // 4, [j, (i % 4,)]])
    assert nested.map_indices([9, 2]) == [2, 2, 1]
    assert IndexMap.from_func(lambda *idx: idx, ndim=2).names == ("i0", "i1")
    with pytest.raises(IndexMapError, match=r"takes 2 indices .i, j.; there are 3"):
        IndexMap.from_func(lambda i, j: (j, i), ndim=3)
    with pytest.raises(IndexMapError, match="pass the number of indices as ndim="):
        IndexMap.from_func(lambda *idx: idx)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda i, j: i * j, "product of two variables"),
        (lambda i, j: i // j, "divisor of a division must be a constant"),
        (lambda i, j: i % j, "divisor of a remainder must be a constant"),
        (lambda i, j: i % 0, "must be positive"),
        (lambda i, j: i / 2, "write //"),
        (lambda i, j: i if i else j, "the truth value of i"),
        (lambda i, j: i if i < 3 else j, "a comparison of i"),
        (lambda i, j: i * 0.5, "an index is an integer"),
        (lambda i, j: "x", "cannot be part of an index map"),
        (lambda i, j: i**2, "a power of i"),
        (lambda i, j: i + (1 << 63), "9223372036854775808 does not fit an index"),
        (lambda i, j: (float("nan"), j), "nan cannot be part"),
        (lambda i, j: sum([i] * 400), "more than 250 operations"),
    ],
)
def test_non_affine_indices_are_refused_by_name(function, message):
    with pytest.raises(NotAffine, match=message):
        IndexMap.from_func(function)


@pytest.mark.parametrize(("function", "shape"), MAPS)
def test_shape_inverse_and_padding_agree_with_counting(function, shape):
    one = IndexMap.from_func(function, len(shape))
    back, padding = one.non_surjective_inverse(shape)
    target = one.map_shape(shape)
    places = {tuple(one.map_indices(p)): p for p in itertools.product(*map(range, shape))}
    assert target == [1 + max(p[d] for p in places) for d in range(len(target))]
    for place in itertools.product(*map(range, target)):
        assert padding(*place) == (place not in places)
        if place in places:
            assert tuple(back.map_indices(place)) == places[place]


@pytest.mark.parametrize("n", [1, 4, 14, 16])
def test_symbolic_sizes(n):
    one = IndexMap.from_func(lambda i, j: (i // 4, j, i % 4))
    assert [str(d) for d in one.map_shape(["n", 8])] == ["(n + 3) // 4", "8", "4"]
    back, padding = one.non_surjective_inverse(["n", 8])
    for a, j, b in itertools.product(range(-(-n // 4)), range(8), range(4)):
        inside = 4 * a + b < n
        assert padding(a, j, b, n) == (not inside)
        if inside:
            assert back.map_indices([a, j, b, n]) == [4 * a + b, j]


@pytest.mark.parametrize(
    ("function", "shape", "message"),
    [
        (lambda i: i // 2, (4,), r"\(0,\) and \(1,\) both map to \(0,\)"),
        (lambda i, j: i + j, (4, 4), r"\(0, 1\) and \(1, 0\) both map to \(1,\)"),
        (lambda i: i % 8, ("n",), r"\(0,\) and \(8,\) both map to \(0,\) \(for n = 9\)"),
        (lambda i: i - 1, (4,), r"takes \(0,\) to \(-1,\): an index must not be negative"),
    ],
)
def test_maps_that_lose_something_are_refused_with_the_points(function, shape, message):
    with pytest.raises(IndexMapError, match=message):
        IndexMap.from_func(function).non_surjective_inverse(shape)


def test_inverse_refuses_places_left_over():
    with pytest.raises(
        IndexMapError, match=r"is not surjective: no point maps to the indices where axis0 == 3 and axis1 >= 2"
    ):
        IndexMap.from_func(lambda i: (i // 4, i % 4)).inverse((14,))


def test_a_given_inverse_is_checked():
    right = IndexMap.from_func(lambda i: (i // 4, i % 4), inverse_index_map=lambda a, b: a * 4 + b)
    assert repr(right.inverse((16,))) == "lambda axis0, axis1: axis0 * 4 + axis1"
    wrong = IndexMap.from_func(lambda i: (i // 4, i % 4), inverse_index_map=lambda a, b: a * 5 + b)
    with pytest.raises(IndexMapError, match="is not the inverse"):
        wrong.inverse((16,))
    with pytest.raises(IndexMapError, match="returns 2 indices; 1 are needed"):
        IndexMap.from_func(lambda i: (i // 4, i % 4), inverse_index_map=lambda a, b: (a, b))


def test_equivalence_looks_at_the_map_not_at_its_text():
    one = IndexMap.from_func(lambda i, j: i * 4 + j)
    assert one.is_equivalent_to(IndexMap.from_text("lambda a, b: b + 2 * (a + a)"))
    assert not one.is_equivalent_to(IndexMap.from_text("lambda a, b: a + 4 * b"))
    assert not one.is_equivalent_to(IndexMap.from_text("lambda a: a"))


def test_arrays():
    one = IndexMap.from_func(lambda i: (i // 4, i % 4))
    laid = one.map_ndarray(np.arange(6.0), pad_value=-1)
    assert laid.tolist() == [[0, 1, 2, 3], [4, 5, -1, -1]]


def test_errors_are_ours():
    assert issubclass(IndexMapError, TirError) and issubclass(IndexMapError, ValueError)


def test_infinity_as_padding_reads_back():
    lowest = IndexMap.from_func(lambda i: -float("inf"))
    assert IndexMap.from_text(repr(lowest)) == lowest


@pytest.mark.parametrize("function", [len, lambda i: i.nobody, lambda i: i[0]])
def test_unsupported_operations_on_terms(function):
    with pytest.raises(IndexMapError, match=r"cannot be evaluated at .i|cannot be evaluated at .obj"):
        IndexMap.from_func(function)


@pytest.mark.parametrize("shape", [None, 3, "ab", (None, 4), ([1], 2)])
def test_invalid_shapes_and_index_lists(shape):
    map_ = IndexMap.from_func(lambda i, j: (j, i))
    for ask in (map_.map_shape, map_.inverse, map_.map_indices):
        if shape != "ab" or ask != map_.map_shape:
            with pytest.raises(TirError):
                ask(shape)
