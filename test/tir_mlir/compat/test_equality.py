"""`structural_equal` and `structural_hash`."""

import subprocess
import sys

import pytest

from tir_mlir.compat.equality import StructuralMismatchError, assert_structural_equal, structural_equal, structural_hash
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.graph.expressions import TensorStructInfo, TupleStructInfo
from tir_mlir.script import parse
from tir_mlir.te import var

PROGRAM = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    T.func_attr({{"my.{key}": 1}})
    s = T.int32()
    t = T.int32()
    A = T.match_buffer(a, (16, 16), "float32", strides=[s, t])
    B = T.match_buffer(b, (16, 16), "float32", strides=[{strides}])
    for i in range(16):
        with T.block("B"):
            vi = T.axis.opaque(16, i)
            T.reads(A[0:16, 0:16])
            T.writes(B[0:16, 0:16])
            T.call_extern("int32", "f", A.access_ptr("r"{offset}), B.access_ptr("w"))
"""
BASE = {"key": "a", "strides": "s, t", "offset": ""}


@pytest.mark.parametrize(
    "change",
    [{"key": "b"}, {"strides": "t, s"}, {"strides": "s, 1"}, {"offset": ", offset=4"}, {"offset": ", offset=8"}],
    ids=str,
)
def test_programs_that_differ(change):
    one, other = (parse(PROGRAM.format(**{**BASE, **c})) for c in ({"offset": ", offset=2"}, change))
    assert not structural_equal(one, other) and structural_hash(one) != structural_hash(other)


def test_strides_differ_without_names():
    one, other = (parse(PROGRAM.format(**{**BASE, **c})) for c in ({}, {"strides": "t, s"}))
    assert not structural_equal(one, other)


def test_names_do_not_count():
    text = PROGRAM.format(**BASE)
    one, other = parse(text), parse(text.replace("s, t", "x, y").replace("s =", "x =").replace("t =", "y ="))
    assert structural_equal(one, other) and structural_hash(one) == structural_hash(other)


@pytest.mark.nightly
def test_the_hash_is_the_same_in_every_process():
    text = PROGRAM.format(**BASE)
    code = (
        "from tir_mlir.script import parse; from tir_mlir.compat.equality import structural_hash\n"
        f"print(structural_hash(parse({text!r})))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
                       capture_output=True, text=True, check=True)
        for seed in "12"
    ]  # fmt: skip
    assert {int(r.stdout) for r in runs} == {structural_hash(parse(text))}


GRAPH = """
@R.function
def f(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    return R.add(x, y)
"""
MODULE = """
@I.ir_module
class Module:
    @T.prim_func
    def scale(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.call_tir(cls.scale, (x,), R.Tensor((4,), "float32"))
        return y
"""


def graph(text, *changes):
    for old, new in changes:
        text = text.replace(old, new)
    module = parse(text)
    return module[list(module)[-1]]


@pytest.mark.parametrize(
    ("text", "change", "same"),
    [
        (GRAPH, ("x", "z"), True),
        (GRAPH, ("def f", "def g"), True),
        (GRAPH, ("return R.add(x, y)", "v = R.add(x, y)\n    return v"), True),
        (GRAPH, ("R.add(x, y)", "R.add(y, x)"), False),
        (GRAPH, ("R.add", "R.multiply"), False),
        (GRAPH, ("(4,)", "(5,)"), False),
        (GRAPH, ("R.add(x, y)", "R.add(x, R.const(1.0))"), False),
        (MODULE, ("def f", "def h"), True),
        (MODULE, ("vi", "w"), True),
        (MODULE, ("float32(2)", "float32(3)"), False),
        (MODULE, ("scale", "other"), False),
    ],
    ids=lambda value: str(value)[:30],
)
def test_graphs(text, change, same):
    one, other = graph(text), graph(text, change)
    assert structural_equal(one, other) == same and (structural_hash(one) == structural_hash(other)) == same
    assert structural_equal(one, graph(text)) and structural_equal(one.with_attr("k", 1), one.with_attr("k", 1))
    assert not structural_equal(one, one.with_attr("k", 1)) and not structural_equal(one, parse(text))
    if not same:
        with pytest.raises(StructuralMismatchError, match=r"first: .*\n.*second: "):
            assert_structural_equal(one, other)


def test_types_and_values_of_python():
    n = var("n")
    groups = [
        [TensorStructInfo((n, 4)), TensorStructInfo(("n", 4), "float32")],
        [TensorStructInfo((n, 5))],
        [TensorStructInfo(ndim=2)],
        [TupleStructInfo([TensorStructInfo((n, 4))])],
        [TensorStructInfo((n, 4)).shape, TensorStructInfo(("n", 4)).shape],
        [(1, 2.0, True), (1.0, 2, 1)],
        [[1, 2, 1]],
        [{"a": 1, "b": [2]}, {"b": [2], "a": 1}],
        ["a"],
    ]
    for group in groups:
        for one in group:
            for same in (True, False):
                for other in group if same else [o for g in groups if g is not group for o in g]:
                    assert structural_equal(one, other) == same
                    assert (structural_hash(one) == structural_hash(other)) == same
    with pytest.raises(ArgumentError, match="can compare modules, functions, types and Python values, not <object"):
        structural_equal(object(), 1)
