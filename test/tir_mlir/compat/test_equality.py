"""`structural_equal` and `structural_hash`."""

import subprocess
import sys

import pytest

from tir_mlir.compat.equality import structural_equal, structural_hash
from tir_mlir.script import parse

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
