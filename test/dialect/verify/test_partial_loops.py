"""Loops whose bounds use other loops: a block under them may cover part of its domain, for symbolic sizes as well."""

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main, nest, sblock

from tir_mlir import Schedule, build
from tir_mlir.errors import ScriptError

SUMS = main(
    "A:n C:n",
    each("zero i:n", "C[vi] = 0.0"),
    nest("i:n k:{low}..{high}", sblock("C", "vi:n=i vk:nR=k", "C[vi] = C[vi] + A[vk]")),
)


@pytest.mark.parametrize("n", [0, 1, 2, 17])
@pytest.mark.parametrize(
    ("low", "high", "first", "last"),
    [
        ("0", "i + 1", lambda i, n: 0, lambda i, n: i + 1),
        ("i", "n", lambda i, n: i, lambda i, n: n),
        ("T.max(0, i - 1)", "T.min(n, i + 2)", lambda i, n: max(0, i - 1), lambda i, n: min(n, i + 2)),
    ],
    ids=["triangle", "upper triangle", "band"],
)
def test_partial_sums_of_a_symbolic_size(low, high, first, last, n):
    sch = Schedule(parse(SUMS.format(low=low, high=high)))
    sch.parallel(sch.get_loops("C")[0])
    a, c = np.arange(n, dtype=np.float32), np.full(n, np.nan, np.float32)
    build(sch)(a, c)
    assert c.tolist() == [a[first(i, n) : last(i, n)].sum() for i in range(n)]
    assert n or sch.verify()


def test_a_loop_that_is_short_on_its_own_is_refused():
    with pytest.raises(ScriptError, match=r'the loops around block "C" do not cover its domain.*vi = 0, vk = 0'):
        parse(SUMS.format(low="0", high="n - 1"))


@pytest.mark.parametrize(("kind", "word"), [("spatial", "spatial"), ("opaque", "opaque")])
def test_a_loop_over_a_part_is_told_the_range_to_declare(kind, word):
    text = """
@T.prim_func
def main(A: T.Buffer((20,), "float32"), B: T.Buffer((20,), "float32")):
    for i in range(3, 19):
        with T.block("B"):
            vi = T.axis.{axis}
            B[vi] = A[vi]
"""
    way = f"vi = T.axis.{word}((3, 19), i)"
    with pytest.raises(ScriptError) as caught:
        parse(text.format(axis=f"{kind}(20, i)"))
    assert caught.value.message.endswith(f"; if only a part is meant, declare its range: {way}")
    assert parse(text.format(axis=way.partition("axis.")[2]))
