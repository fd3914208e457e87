"""Ops of the vector dialect, each against NumPy; also those that no pass of ours makes."""

import numpy as np
import pytest

from tir_mlir import interpret
from tir_mlir.dialect.diagnostics import OutOfBoundsError, UnwrittenError

HEAD = """
func.func @main(%A: memref<{m}x{n}xf32> {{tir.name = "A"}}, %B: memref<{r}xf32> {{tir.name = "B"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  {body}
  return
}}"""
LOAD = "%v = vector.load %A[%c0, %c0] : memref<{m}x{n}xf32>, vector<{n}xf32>\n  "
STORE = "\n  vector.store %r, %B[%c0] : memref<{r}xf32>, vector<{r}xf32>"


def run(body, r, m=3, n=8, store=True):
    a = np.random.default_rng(0).integers(-9, 10, (m, n)).astype(np.float32)
    b = np.zeros(r, np.float32)
    text = (LOAD + body + (STORE if store else "")).format(m=m, n=n, r=r)
    report = interpret(HEAD.format(m=m, n=n, r=r, body=text), a, b)
    return a, b, report


@pytest.mark.parametrize(
    ("body", "meaning"),
    [
        ("%r = vector.shuffle %v, %v [7, 9, 1, 15] : vector<8xf32>, vector<8xf32>", lambda x: x[[7, 1, 1, 7]]),
        ("%r = vector.extract_strided_slice %v {{offsets = [2], sizes = [4], strides = [1]}}"
         " : vector<8xf32> to vector<4xf32>", lambda x: x[2:6]),
        ("%s = vector.extract %v[5] : f32 from vector<8xf32>\n"
         "  %r = vector.broadcast %s : f32 to vector<4xf32>", lambda x: np.repeat(x[5], 4)),
        ("%t = vector.shape_cast %v : vector<8xf32> to vector<2x4xf32>\n"
         "  %u = vector.transpose %t, [1, 0] : vector<2x4xf32> to vector<4x2xf32>\n"
         "  %r = vector.multi_reduction <add>, %u, %k [1] : vector<4x2xf32> to vector<4xf32>",
         lambda x: x.reshape(2, 4).sum(0) + 1),
        ("%e, %o = vector.deinterleave %v : vector<8xf32> -> vector<4xf32>\n"
         "  %r = vector.fma %e, %o, %k : vector<4xf32>", lambda x: x[::2] * x[1::2] + 1),
        ("%s = vector.reduction <maximumf>, %v : vector<8xf32> into f32\n"
         "  %r = vector.insert %s, %k[2] : f32 into vector<4xf32>", lambda x: np.array([1, 1, x.max(), 1])),
        ("%m = vector.create_mask %c1 : vector<4xi1>\n"
         "  %r = vector.maskedload %A[%c1, %c0], %m, %k : memref<3x8xf32>, vector<4xi1>, vector<4xf32>"
         " into vector<4xf32>", None),
        ("%r = vector.transfer_read %A[%c1, %c0], %zero {{permutation_map = affine_map<(d0, d1) -> (d0)>}}"
         " : memref<3x8xf32>, vector<4xf32>", None),
    ],
)  # fmt: skip
def test_ops(body, meaning):
    one = "%k = arith.constant dense<1.0> : vector<4xf32>\n  "
    a, b, _ = run(one + body, 4)
    if "maskedload" in body:
        wanted = [a[1, 0], 1, 1, 1]
    elif "transfer" in body:
        wanted = [a[1, 0], a[2, 0], 0, 0]  # what lies outside is the padding
    else:
        wanted = meaning(a[0])
    np.testing.assert_array_equal(b, np.asarray(wanted, np.float32))


def test_counts_of_lanes_and_of_a_masks():
    body = """%k = arith.constant dense<1.0> : vector<8xf32>
  %f = vector.fma %v, %v, %k : vector<8xf32>
  %m = vector.constant_mask [3] : vector<8xi1>
  vector.maskedstore %B[%c0], %m, %f : memref<3xf32>, vector<8xi1>, vector<8xf32>"""
    a, b, report = run(body, 3, store=False)
    np.testing.assert_array_equal(b, a[0, :3] ** 2 + 1)
    assert (report["A"].loads, report["B"].stores, report["B"].flops) == (8, 3, 16)


def test_lanes_outside():
    body = "%s = vector.load %A[%c1, %c1] : memref<3x8xf32>, vector<8xf32>"
    with pytest.raises(OutOfBoundsError, match=r"A\[1, 1\] with 8 lanes is outside A, .* \(3, 8\)"):
        run(body, 4, store=False)


def test_unwritten_lanes():
    body = """%t = memref.alloc() {{tir.name = "t"}} : memref<4xf32>
  memref.store %zero, %t[%c0] : memref<4xf32>
  %r = vector.load %t[%c0] : memref<4xf32>, vector<4xf32>"""
    with pytest.raises(UnwrittenError, match=r"B\[1\] depends on an uninitialized element: t\[1\], first read in"):
        run(body, 4)
