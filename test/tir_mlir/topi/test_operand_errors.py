"""Operands that do not fit are refused with the operator, the operand, its shape and the way out."""

import pytest

from tir_mlir import te, topi
from tir_mlir.dialect.diagnostics import GraphError

X = te.placeholder((3, 4), name="X")
B, B3 = te.placeholder((3, 4), "bool"), te.placeholder((1, 3, 4), "bool")
N = te.var("n")
IMAGE, KERNEL = te.placeholder((1, 4, 8, 8)), te.placeholder((8, 4, 3, 3))
HEADS = te.placeholder((1, 5, 4, 8))

WRONG = {
    "shapes": (
        lambda: topi.add(X, te.placeholder((5, 4))),
        r"add: shapes \(3, 4\) and \(5, 4\) do not broadcast: axis -2 has 3 and 5\n  fix: reshape",
    ),
    "sizes": (lambda: topi.add(te.placeholder((N,)), te.placeholder((te.var("m"),))), r"axis -1 has n and m"),
    "types": (lambda: topi.add(X, te.placeholder((4,), "int32")), r"different types: lhs float32 .* rhs int32 \(4,\)"),
    "no tensor": (lambda: topi.nn.relu(3), r"nn.relu: x is 3\n  fix: pass a tensor"),
    "integers": (lambda: topi.exp(te.placeholder((3,), "int32")), r"exp: x int32 \(3,\) is not of floats"),
    "a depth": (lambda: topi.nn.dense(X, te.placeholder((5, 6))), r"nn.dense: data .* has rows of 4, weight .* of 6"),
    "columns": (lambda: topi.matmul(X, X), r"matmul: .*4 columns times 3 rows"),
    "a rank": (lambda: topi.nn.dense(X, te.placeholder((5,))), r"weight float32 \(5,\) has 1 axes"),
    "an axis": (lambda: topi.sum(X, axis=2), r"sum: axis=2 of a tensor with 2 axes\n  fix: use -2..1"),
    "an axis twice": (lambda: topi.sum(X, axis=(0, -2)), r"sum: axis=\(0, -2\) names an axis twice"),
    "elements": (lambda: topi.reshape(X, (5, 2)), r"reshape: a float32 \(3, 4\) to \(5, 2\): 12 elements are not 10"),
    "a rest": (lambda: topi.reshape(X, (5, -1)), r"the size for -1 is not an integer for all sizes"),
    "an order": (lambda: topi.transpose(X, (0,)), r"transpose: axes=\(0,\) .*name all 2 axes"),
    "a bias": (lambda: topi.nn.bias_add(X, te.placeholder((3,))), r"bias float32 \(3,\) at axis 1 .*pass a bias of 4"),
    "channels": (
        lambda: topi.nn.conv2d(IMAGE, te.placeholder((8, 3, 3, 3))),
        r"nn.conv2d: data .*: 4 channels, but the kernel reads 3\n  fix: pass a kernel",
    ),
    "groups": (lambda: topi.nn.conv2d(IMAGE, te.placeholder((5, 2, 3, 3)), groups=2), r"5 results in 2 groups"),
    "a window": (lambda: topi.nn.conv2d(IMAGE, te.placeholder((8, 4, 9, 9))), r"a window of 9 does not fit in 8"),
    "padding": (lambda: topi.nn.conv2d(IMAGE, KERNEL, padding=(1, 2, 3)), r"padding=\(1, 2, 3\) has 3 numbers"),
    "a layout": (lambda: topi.nn.conv2d(IMAGE, KERNEL, data_layout="NCHWc"), r"data_layout='NCHWc'.*once each"),
    "blocks": (lambda: topi.nn.conv2d(IMAGE, KERNEL, out_layout="NCHW3c"), r"8 of C in NCHW3c"),
    "sums of bools": (lambda: topi.cumsum(B), r"cumsum: data bool \(12,\) is of bool"),
    "a pool of bools": (lambda: topi.nn.max_pool1d(B3, 2), r"nn.max_pool1d: data bool \(1, 3, 4\) is of bool"),
    "windows of bools": (
        lambda: topi.nn.adaptive_max_pool1d(B3, 2),
        r"nn.adaptive_max_pool1d: data bool .* is of bool",
    ),
    "a rank of images": (lambda: topi.nn.max_pool2d(X, 2), r"nn.max_pool2d: data float32 \(3, 4\) has 2 axes"),
    "wide padding": (lambda: topi.nn.max_pool2d(IMAGE, 2, padding=2), r"pad by less than the window"),
    "a symbolic ceiling": (
        lambda: topi.nn.max_pool2d(te.placeholder((1, 3, N, 8)), 2, 2, ceil_mode=True),
        r"ceil_mode for data .* whose sizes are symbolic",
    ),
    "training": (lambda: topi.nn.batch_norm(IMAGE, *[te.placeholder((4,))] * 4, training=True), r"model.eval\(\)"),
    "heads": (
        lambda: topi.nn.attention(HEADS, te.placeholder((1, 5, 3, 8)), te.placeholder((1, 5, 3, 8))),
        r"nn.attention: .*4 heads of queries for 3 of keys",
    ),
    "a mask": (
        lambda: topi.nn.attention(HEADS, HEADS, HEADS, te.placeholder((4, 5))),
        r"nn.attention: .*do not broadcast",
    ),
    "a causal mask": (lambda: topi.nn.attention(HEADS, HEADS, HEADS, causal_mask="Left"), r"causal_mask='Left'"),
    "angles": (
        lambda: topi.nn.rotary_embedding(HEADS, te.placeholder((5, 1, 8)), te.placeholder((5, 1, 8))),
        r"nn.rotary_embedding: .*do not broadcast",
    ),
    "parts": (lambda: topi.split(X, 2, 0), r"split: axis 0 of ary float32 \(3, 4\) is not 2 equal parts"),
    "concatenated": (lambda: topi.concatenate([X, te.placeholder((3, 5))]), r"concat: .*only axis 0 may differ"),
    "an index": (lambda: topi.take(X, te.placeholder((2,))), r"take: indices .* are not integers"),
    "a stride": (lambda: topi.strided_slice(X, [0], [2], [0]), r"a stride of 0 at axis 0"),
    "a size to resize": (
        lambda: topi.image.resize2d(te.placeholder((1, 3, N, 8)), (4, 4)),
        r"image.resize2d: data .* has a symbolic H",
    ),
    "a condition": (lambda: topi.where(X, X, X), r"where: condition float32 \(3, 4\) is not of bool"),
    "a type": (lambda: topi.astype(X, "float8"), r"dtype 'float8' is not supported"),
    "letters": (lambda: topi.einsum("ij,jk->ik", X), r"einsum: 'ij,jk->ik' for operands of shapes"),
    "scales": (lambda: topi.quantize(X, te.placeholder((3,))), r"quantize: scale float32 \(3,\) at axis 1"),
    "updates": (
        lambda: topi.index_put(X, [te.placeholder((2,), "int32")], te.placeholder((3, 4))),
        r"index_put: .*do not broadcast",
    ),
    "gamma": (
        lambda: topi.nn.layer_norm(X, te.placeholder((3,))),
        r"nn.layer_norm: gamma float32 \(3,\) of data .*shape \(4,\)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_is_refused(case):
    make, message = WRONG[case]
    with pytest.raises(GraphError, match=f"(?s){message}"):
        make()
