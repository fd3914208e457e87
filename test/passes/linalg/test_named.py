"""Named ops, and generics like them, as loops and blocks: the same numbers as NumPy; static, ragged, symbolic sizes."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build
from harness.stock_linalg import ints
from programs.parsed import parse
from programs.short import nest, program, sblock

from tir_mlir import from_linalg
from tir_mlir.script.structural_equal import difference

SIZES = [1, 15, 16, 17, 127]


def run(text: str, *arrays: np.ndarray) -> None:
    quick_build(from_linalg(text))["main"](*arrays)


def one(op: str, params: str) -> str:
    return f"func.func @main({params}) {{\n  {op}\n  return\n}}"


MATMUL = """
func.func @main(%A: memref<{n}x{k}xf32>, %B: memref<{k}x{m}xf32>, %C: memref<{n}x{m}xf32>) {{
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<{n}x{m}xf32>)
  linalg.matmul ins(%A, %B : memref<{n}x{k}xf32>, memref<{k}x{m}xf32>) outs(%C : memref<{n}x{m}xf32>)
  return
}}
"""


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_matmul(size, symbolic):
    text = MATMUL.format(n="?", m="?", k="?") if symbolic else MATMUL.format(n=size, m=size + 2, k=size + 1)
    a, b, c = ints(size, size + 1), ints(size + 1, size + 2), ints(size, size + 2)
    run(text, a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_matmul_is_the_program_that_one_would_write():
    expected = program(
        "A:nxm B:mxk C:nxk",
        nest("i0:n i1:k", sblock("fill", "v0:n=i0 v1:k=i1", "C[v0, v1] = T.float32(0)")),
        nest(
            "i0:n i1:k i2:m",
            sblock("matmul", "v0:n=i0 v1:k=i1 v2:mR=i2", "C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v2, v1]"),
        ),
    )
    made = from_linalg(MATMUL.format(n="?", m="?", k="?"))
    assert difference(made.mlir, expected.mlir) is None
    assert difference(parse(made.script()).mlir, made.mlir) is None


AFFINE = "affine_map<(m, n, k) -> ({})>"


@pytest.mark.parametrize(
    ("left", "right", "numpy"),
    [
        ("m, k", "k, n", lambda a, b: a @ b),
        ("k, m", "k, n", lambda a, b: a.T @ b),
        ("m, k", "n, k", lambda a, b: a @ b.T),
        ("k, m", "n, k", lambda a, b: a.T @ b.T),
    ],
)
def test_transposed_matmul(left, right, numpy):
    maps = ", ".join(AFFINE.format(e) for e in (left, right, "m, n"))
    params = "%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>"
    types = "memref<?x?xf32>, memref<?x?xf32>"
    text = one(f"linalg.matmul indexing_maps = [{maps}] ins(%A, %B : {types}) outs(%C : memref<?x?xf32>)", params)
    shape = {"m": 5, "n": 7, "k": 6}
    a, b = (ints(*(shape[letter] for letter in e.split(", "))) for e in (left, right))
    c = ints(5, 7)
    expected = c + numpy(a, b)
    run(text, a, b, c)
    np.testing.assert_array_equal(c, expected)


PRODUCTS = [
    ("batch_matmul", [(3, 5, 6), (3, 6, 7), (3, 5, 7)], "bij,bjk->bik"),
    ("matvec", [(5, 6), (6,), (5,)], "ij,j->i"),
    ("vecmat", [(5,), (5, 6), (6,)], "i,ij->j"),
    ("dot", [(17,), (17,), ()], "i,i->"),
]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(("name", "shapes", "equation"), PRODUCTS)
def test_products(name, shapes, equation, symbolic):
    types = [memref(s, symbolic) for s in shapes]
    params = f"%A: {types[0]}, %B: {types[1]}, %C: {types[2]}"
    a, b, c = (ints(*s) for s in shapes)
    expected = c + np.einsum(equation, a, b)
    run(one(f"linalg.{name} ins(%A, %B : {types[0]}, {types[1]}) outs(%C : {types[2]})", params), a, b, c)
    np.testing.assert_array_equal(c, expected)


def memref(shape: tuple[int, ...], symbolic: bool = False, dtype: str = "f32") -> str:
    return f"memref<{''.join('?x' if symbolic else f'{n}x' for n in shape)}{dtype}>"


ELEMENTWISE = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum,
    "exp": np.exp, "abs": np.abs, "negf": np.negative, "square": np.square, "tanh": np.tanh, "floor": np.floor,
}  # fmt: skip


@pytest.mark.few(10)
@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name, symbolic):
    function = ELEMENTWISE[name]
    type_ = memref((4, 17), symbolic)
    inputs = [ints(4, 17, seed=n) + np.float32(0.5) for n in range(function.nin)]
    out = ints(4, 17)
    words = ["%A", "%B"][: function.nin]
    params = ", ".join(f"{w}: {type_}" for w in [*words, "%C"])
    run(one(f"linalg.{name} ins({', '.join(words)} : {', '.join([type_] * len(words))}) outs(%C : {type_})", params),
        *inputs, out)  # fmt: skip
    np.testing.assert_allclose(out, function(*inputs), rtol=1e-6)


def test_elementwise_op_by_kind():
    t = "memref<?xf32>"
    params = f"%A: {t}, %B: {t}, %C: {t}"
    kind = f"linalg.elementwise kind=#linalg.elementwise_kind<max_signed> ins(%A, %B : {t}, {t}) outs(%C : {t})"
    a, b, c = ints(17), ints(17, seed=1), ints(17)
    run(one(kind, params), a, b, c)
    np.testing.assert_array_equal(c, np.maximum(a, b))


MOVES = [
    ("linalg.copy ins(%A : {a}) outs(%B : {b})", (4, 6), (4, 6), lambda a: a),
    ("memref.copy %A, %B : {a} to {b}", (4, 6), (4, 6), lambda a: a),
    ("linalg.transpose ins(%A : {a}) outs(%B : {b}) permutation = [1, 0]", (4, 6), (6, 4), lambda a: a.T),
    ("linalg.broadcast ins(%A : {a}) outs(%B : {b}) dimensions = [0]", (6,), (4, 6), lambda a: np.tile(a, (4, 1))),
    ("linalg.reduce {{ arith.addf }} ins(%A : {a}) outs(%B : {b}) dimensions = [1]", (4, 6), (4,),
     lambda a: a.sum(1)),
    ("linalg.reduce {{ arith.maximumf }} ins(%A : {a}) outs(%B : {b}) dimensions = [0]", (4, 6), (6,),
     lambda a: np.maximum(a.max(0), 0)),
    ("linalg.map {{ math.absf }} ins(%A : {a}) outs(%B : {b})", (4, 6), (4, 6), np.abs),
]  # fmt: skip


@pytest.mark.few(7)
@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(("op", "source", "target", "numpy"), MOVES)
def test_moves_and_reductions(op, source, target, numpy, symbolic):
    types = {"a": memref(source, symbolic), "b": memref(target, symbolic)}
    a, b = ints(*source), np.zeros(target, np.float32)
    run(one(op.format(**types), "%A: {a}, %B: {b}".format(**types)), a, b)
    np.testing.assert_array_equal(b, numpy(a))


def windows(image: np.ndarray, kernel: int, stride: int, rows: int) -> np.ndarray:
    """image[n, h*stride + r, w*stride + s, c] as [n, h, w, r, s, c]."""
    out = np.empty((image.shape[0], rows, rows, kernel, kernel, image.shape[3]), image.dtype)
    for r in range(kernel):
        for s in range(kernel):
            picked = image[:, r : r + stride * (rows - 1) + 1 : stride, s : s + stride * (rows - 1) + 1 : stride]
            out[:, :, :, r, s] = picked
    return out


@pytest.mark.few(5)
@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("name", ["conv_2d_nhwc_hwcf", "conv_2d_nchw_fchw", "depthwise_conv_2d_nhwc_hwc"])
def test_convolutions(name, stride, symbolic):
    size = 4 * stride - stride + 3  # a kernel of 3, 4 rows
    image, kernel, out = ints(2, size, size, 5), ints(3, 3, 5, 6), ints(2, 4, 4, 6)
    equation = "nhwrsc,rscf->nhwf"
    if name.startswith("depthwise"):
        kernel, out, equation = ints(3, 3, 5), ints(2, 4, 4, 5), "nhwrsc,rsc->nhwc"
    expected = out + np.einsum(equation, windows(image, 3, stride, 4), kernel)
    if name.endswith("fchw"):
        image, kernel = image.transpose(0, 3, 1, 2).copy(), kernel.transpose(3, 2, 0, 1).copy()
        out, expected = out.transpose(0, 3, 1, 2).copy(), expected.transpose(0, 3, 1, 2)
    types = [memref(a.shape, symbolic and n != 1) for n, a in enumerate((image, kernel, out))]
    steps = f"{{strides = dense<{stride}> : vector<2xi64>}}"
    op = f"linalg.{name} {steps} ins(%A, %B : {types[0]}, {types[1]}) outs(%C : {types[2]})"
    run(one(op, f"%A: {types[0]}, %B: {types[1]}, %C: {types[2]}"), image, kernel, out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("symbolic", [False, True])
def test_convolution_in_one_dimension(symbolic):
    types = [memref(s, symbolic) for s in ((10,), (3,), (8,))]
    a, k, c = ints(10), ints(3), ints(8)
    expected = c + np.correlate(a, k, "valid")
    op = f"linalg.conv_1d ins(%A, %K : {types[0]}, {types[1]}) outs(%C : {types[2]})"
    run(one(op, f"%A: {types[0]}, %K: {types[1]}, %C: {types[2]}"), a, k, c)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(("kind", "numpy"), [("max", np.maximum), ("min", np.minimum), ("sum", np.add)])
def test_pooling(kind, numpy, symbolic):
    """The window is an operand that only has a shape; here it is allocated, and goes."""
    image, out = ints(2, 7, 7, 5), ints(2, 3, 3, 5)
    expected = numpy(out, getattr(windows(image, 3, 2, 3), kind)(axis=(3, 4)))
    a, c = memref(image.shape, symbolic), memref(out.shape, symbolic)
    text = one(
        "%W = memref.alloc() : memref<3x3xf32>\n"
        f"  linalg.pooling_nhwc_{kind} {{strides = dense<2> : vector<2xi64>}}"
        f" ins(%A, %W : {a}, memref<3x3xf32>) outs(%C : {c})",
        f"%A: {a}, %C: {c}",
    )
    assert "alloc_buffer" not in from_linalg(text).script()
    run(text, image, out)
    np.testing.assert_array_equal(out, expected)


def test_mixed_types_are_cast_as_upstream_casts():
    text = one(
        "linalg.matmul ins(%A, %B : memref<?x?xi8>, memref<?x?xi8>) outs(%C : memref<?x?xi32>)",
        "%A: memref<?x?xi8>, %B: memref<?x?xi8>, %C: memref<?x?xi32>",
    )
    a, b, c = ints(5, 6, dtype="int8") * 30, ints(6, 7, dtype="int8") * 30, ints(5, 7, dtype="int32")
    expected = c + a.astype("int32") @ b.astype("int32")
    run(text, a, b, c)
    np.testing.assert_array_equal(c, expected)
