"""A name that a nest binds again is refused wherever Python would read the new value; no program reads the old one."""

import textwrap

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import parse
from tir_mlir.script import tir as T

TEXT = """
@T.prim_func
def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
{around}
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
{body}
"""


@T.macro(hygienic=False)
def adds_one():
    v = v + 1  # noqa: F821, F841  the name of the caller


INPUT = np.arange(-3, 5, dtype=np.int32)


def program(body: str, around: str = "") -> str:
    parts = (textwrap.indent(textwrap.dedent(text), " " * n) for text, n in ((around, 4), (body, 12)))
    return TEXT.format(**dict(zip(("around", "body"), parts, strict=True)))


def result(text: str) -> np.ndarray:
    out = np.zeros(8, np.int32)
    build(parse(text))(INPUT.copy(), out)
    return out


REFUSED = {
    "if": "v = A[vi]\nif v < 0:\n    v = 0\nB[vi] = v  # <<",
    "affine if": "v = A[vi]\nif vi < 3:\n    v = 0\nB[vi] = v  # <<",
    "else": "v = A[vi]\nif v > 0:\n    B[vi] = 0\nelse:\n    v = 7\nB[vi] = v  # <<",
    "both branches": "v = A[vi]\nif v > 0:\n    v = 1\nelse:\n    v = 7\nB[vi] = v  # <<",
    "swap": "v, w = A[vi], vi\nif v < 0:\n    v, w = w, v\nB[vi] = v  # <<",
    "unpacked": "v, w = A[vi], vi\nif v < 0:\n    [v, w] = (w, v)\nB[vi] = w  # <<",
    "let": "v: T.let[T.int32] = A[vi]\nif v < 0:\n    v: T.let[T.int32] = 0\nB[vi] = v  # <<",
    "LetStmt": "v = A[vi]\nwith T.LetStmt(A[0]) as v:\n    B[vi] = v\nB[vi] = v  # <<",
    "init": "v = A[vi]\nwith T.init():\n    v = 3\n    B[vi] = v\nB[vi] = v  # <<",
    "loop": "v = A[vi]\nfor k in range(3):\n    v = v + k  # <<\nB[vi] = v",
    "number in a loop": "v = 0\nfor k in range(3):\n    v = v + A[vi]  # <<\nB[vi] = v",
    "index in a loop": "v = vi * 2\nfor k in range(3):\n    v = v + 1  # <<\nB[vi] = v",
    "grid": "v = 0\nfor k, l in T.grid(2, 2):\n    v = v + A[vi]  # <<\nB[vi] = v",
    "loop over data": "v = 0\nfor k in range(A[7]):\n    v = v + k  # <<\nB[vi] = v",
    "read before it is bound": "v = 0\nfor k in range(3):\n    B[vi] = v\n    v = A[k]  # <<",
    "read after the loop": "v = 0\nfor k in range(3):\n    v = A[k]\nB[vi] = v  # <<",
    "nested loops": "v = 0\nfor k in range(3):\n    for l in range(2):\n        v = v + A[l]  # <<\nB[vi] = v",
    "loop around a loop": "v = 0\nfor k in range(3):\n    B[vi] = v\n    for l in range(2):\n        v = A[l]  # <<",
    "if in a loop": "v = 0\nfor k in range(3):\n    if A[vi] > k:\n        v = v + 1  # <<\nB[vi] = v",
    "while": "v = 0\nB[vi] = 0\nwhile B[vi] < 3:\n    v = v + 1  # <<\n    B[vi] = B[vi] + 1",
    "condition": "n = T.abs(A[vi])\nwhile n > 0:\n    n = n // 2  # <<\nB[vi] = n",
    "loop variable": "for k in range(3):\n    for k in range(2):\n        B[vi] = k\n    B[vi] = k  # <<",
    "iter": "for vi in range(2):\n    pass\nB[vi] = 1  # <<",
    "buffer": "v = T.alloc_buffer((1,), 'int32')\nif A[vi] > 0:\n    v = A[vi]\nv[0] = 1  # <<",
    "static loop in a loop": "v = 0\nfor k in range(3):\n    for l in (1, 2):\n        v = v + l  # <<\nB[vi] = v",
    "loop in a static loop": "v = 0\nfor l in (1, 2):\n    for k in range(3):\n        v = v + l  # <<\nB[vi] = v",
    "lambda": "v = 1\nf = lambda x: x + v\nfor k in range(3):\n    B[vi] = f(A[vi])\n    v = 2  # <<",
    "walrus": "v = 1\nB[vi] = (v := 3) + v  # <<",
    "comprehension": "v = 1\nB[vi] = sum([(v := x) for x in (1, 2)]) + v  # <<",
    "first bound in a branch": "if A[vi] > 0:\n    v = 1\nB[vi] = v  # <<",
    "loop variable after its loop": "for k in range(3):\n    B[vi] = k\nB[vi] = k  # <<",
}


@pytest.mark.parametrize("form", REFUSED)
def test_no_old_value_is_read(form: str) -> None:
    text = program(REFUSED[form])
    with pytest.raises(ScriptError) as caught:
        parse(text)
    marked = next(n for n, line in enumerate(text.splitlines(), 1) if "# <<" in line)
    assert caught.value.lineno == marked, str(caught.value)


def test_the_refusal_names_both_lines_and_a_buffer() -> None:
    message = (
        "v is bound again in line 10, inside an if: use a buffer for a value that changes, "
        'v = T.alloc_buffer((1,), "int32", scope="local") and v[0] = ...; or another name there'
    )
    with pytest.raises(ScriptError) as caught:
        parse(program("v = A[vi]\nif v < 0:\n    v = 0\nB[vi] = v"))
    assert caught.value.message == message


def test_the_buffer_that_the_refusal_names_has_the_type_of_the_value() -> None:
    with pytest.raises(ScriptError, match=r'T.alloc_buffer\(\(1,\), "float32", scope="local"\)'):
        parse(program("v = 0\nfor k in range(3):\n    v = v + T.float32(0.5)\nB[vi] = 0"))


@pytest.mark.parametrize(
    ("body", "want"),
    [
        ("v[0] = A[vi]\nif v[0] < 0:\n    v[0] = 0\nB[vi] = v[0]", np.maximum(INPUT, 0)),
        ("v[0] = 0\nfor k in range(3):\n    v[0] = v[0] + A[vi]\nB[vi] = v[0]", 3 * INPUT),
        ("v[0] = T.abs(A[vi])\nwhile v[0] > 0:\n    v[0] = v[0] // 2\nB[vi] = v[0]", 0 * INPUT),
    ],
)
def test_the_buffer_computes_what_python_means(body: str, want: np.ndarray) -> None:
    text = program('v = T.alloc_buffer((1,), "int32", scope="local")\n' + body)
    np.testing.assert_array_equal(result(text), want)


def test_around_blocks() -> None:
    text = program("B[vi] = v", around="v = 1")
    text = text.replace("        with T.block", "        v = v + 1  # <<\n        with T.block")
    with pytest.raises(ScriptError, match="v of line 4 is read in a loop that binds it again here"):
        parse(text)


def test_a_macro_may_not_change_a_name_of_its_caller() -> None:
    with pytest.raises(ScriptError, match="v is bound in adds_one, which reads v of its caller before"):
        parse(program("v = A[vi]\nadds_one()\nB[vi] = v"), {"adds_one": adds_one})


ACCEPTED = {
    "not read after": ("v = A[vi]\nB[vi] = v\nif v < 0:\n    v = 0\n    B[vi] = v", np.maximum(INPUT, 0)),
    "read in else": ("v = A[vi]\nif v < 0:\n    v = 0\n    B[vi] = v\nelse:\n    B[vi] = v", np.maximum(INPUT, 0)),
    "bound in each iteration": ("v = 0\nfor k in range(3):\n    v = A[vi] + k\n    B[vi] = v", INPUT + 2),
    "constant condition": ("v = 3\nif True:\n    v = A[vi]\nB[vi] = v", INPUT),
    "static loop": ("v = 0\nfor k in (1, 2):\n    v = v + A[vi]\nB[vi] = v", 2 * INPUT),
    "two at once": ("v, w = 1, 2\nv, w = w, v\nB[vi] = v * 10 + w", 0 * INPUT + 21),
    "lambda of a later value": ("v = 1\nf = lambda x: x + v\nv = 2\nB[vi] = f(A[vi])", INPUT + 2),
    "lambda in a nest": ("v = 1\nf = lambda x: x + v\nfor k in range(2):\n    v = 5\n    B[vi] = f(A[vi])", INPUT + 5),
}  # fmt: skip


@pytest.mark.parametrize("form", ACCEPTED)
def test_what_python_means_is_accepted(form: str) -> None:
    body, want = ACCEPTED[form]
    np.testing.assert_array_equal(result(program(body)), want)


def test_declared_regions_mean_the_iters_of_their_block() -> None:
    text = """
@T.prim_func
def f(A: T.Buffer((8, 8), "int32"), B: T.Buffer((8, 8), "int32")):
    for i in range(8):
        with T.block("row"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi, 3])
            T.writes(B[vi, 3])
            with T.block("B"):
                vj, vi = T.axis.spatial(8, 3), T.axis.spatial(8, vi)
                B[vi, vj] = A[vi, vj]
"""
    assert "B[vi_1, vj] = A[vi_1, vj]" in parse(text).script()
