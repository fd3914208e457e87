"""A call of every operator of the table: shapes of its operands, odd ones, and attributes."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.operators import OPERATORS, OperatorKind

Case = tuple[list[tuple[int, ...]], dict[str, Any]]

ROWS, LINE, ONE = (3, 5), (7,), (1, 1)

_OTHERS_OF_ONE = (
    "zeros_like ones_like flatten nn.dropout nn.softmax nn.log_softmax nn.batch_flatten permute_dims tril triu sort "
    "argsort cumsum cumprod cummax cummin logcumsumexp full_like"
).split()


def _named(kind: OperatorKind, count: int) -> list[str]:
    """The operators of a kind and a number of operands."""
    return [name for name, row in OPERATORS.items() if row.kind is kind and len(row.operands) == count]


_FLAT = (1, 3, 9)
_IMAGE = (1, 4, 7, 5)
_VOLUME = (1, 2, 3, 5, 4)

CASES: dict[str, list[Case]] = {
    **{name: [([ROWS], {}), ([ONE], {})] for name in (*_named(OperatorKind.ELEMENTWISE, 1), *_OTHERS_OF_ONE)},
    **{name: [([ROWS, ROWS], {}), ([(3, 1), (5,)], {})] for name in _named(OperatorKind.ELEMENTWISE, 2)},
    **{
        name: [([ROWS], {"axis": 1}), ([(2, 1, 5)], {"axis": 0, "keepdims": True})]
        for name in _named(OperatorKind.REDUCTION, 1)
    },
    **{f"nn.{kind}_pool1d": [([_FLAT], {"pool_size": 2, "strides": 2, "padding": 1})] for kind in ("max", "avg")},
    **{f"nn.{kind}_pool2d": [([_IMAGE], {"pool_size": 3, "strides": 2, "padding": 1})] for kind in ("max", "avg")},
    **{f"nn.{kind}_pool3d": [([_VOLUME], {"pool_size": 2})] for kind in ("max", "avg")},
    **{f"nn.adaptive_{kind}_pool1d": [([_FLAT], {"output_size": 2})] for kind in ("max", "avg")},
    **{f"nn.adaptive_{kind}_pool2d": [([_IMAGE], {"output_size": 3})] for kind in ("max", "avg")},
    **{f"nn.adaptive_{kind}_pool3d": [([_VOLUME], {"output_size": 2})] for kind in ("max", "avg")},
    "ewise_fma": [([ROWS] * 3, {})],
    "requantize": [([ROWS] * 3, {"given": "bias", "relu": True})],
    "clip": [([ROWS], {"min": -1, "max": 2})],
    "astype": [([ROWS], {"dtype": "int32"}), ([ROWS], {"dtype": "float16"}), ([LINE], {"dtype": "bool"})],
    "matmul": [([(3, 5), (5, 7)], {}), ([(2, 1, 3, 4), (3, 4, 1)], {}), ([(5,), (5, 2)], {})],
    "einsum": [([(2, 3), (3, 4)], {"subscripts": "ij,jk->ki"})],
    "full": [([], {"shape": [3, 1], "fill_value": 2})],
    "zeros": [([], {"shape": [3, 1]})],
    "ones": [([], {"shape": [0, 2]})],
    "arange": [([], {"end": 7, "step": 2})],
    "eye": [([], {"n": 3, "m": 5, "k": 1})],
    "reshape": [([(3, 4)], {"shape": [2, -1]}), ([ONE], {"shape": []})],
    "expand_dims": [([ROWS], {"axis": 1})],
    "squeeze": [([(3, 1, 5, 1)], {"axis": 1})],
    "broadcast_to": [([(3, 1)], {"shape": [2, 3, 4]})],
    "concat": [([(3, 2), (3, 5)], {"axis": 1})],
    "stack": [([LINE, LINE], {"axis": 1})],
    "split": [([(3, 7)], {"indices_or_sections": [2, 3], "axis": 1})],
    "tile": [([(3, 2)], {"repeats": [2, 3]})],
    "repeat": [([(3, 2)], {"repeats": 3, "axis": 0})],
    "flip": [([ROWS], {"axis": 1})],
    "roll": [([ROWS], {"shift": 2, "axis": 1})],
    "strided_slice": [([(7, 5)], {"axes": [0, 1], "begin": [-2, 1], "end": [0, 5], "strides": [-3, 2]})],
    "slice_scatter": [([(7, 2), (3, 2)], {"start": 1, "end": 7, "step": 2})],
    "pack_panels": [
        ([(16, 5)], {"along": 0, "inner": [1], "width": 8}),
        ([(2, 4, 16)], {"along": 2, "inner": [0, 1], "width": 8, "group": 2}),
    ],
    "topk": [([ROWS], {"k": 3}), ([(2, 70)], {"k": 3}), ([(70, 2)], {"k": 70, "axis": 0, "largest": False})],
    "true_places": [([(LINE, "bool")], {})],
    "first_rows": [([(ROWS, "float32"), ((), "int64")], {"rows": {"size": "u0"}})],
    "search_sorted": [([(7,), ROWS], {}), ([ROWS, ROWS], {"right": True})],
    "nn.prelu": [([(1, 4, 3), (4,)], {})],
    "nn.dense": [([(3, 5), (7, 5)], {}), ([(1, 5), (7, 5), (7,)], {})],
    "nn.bias_add": [([ROWS, (5,)], {})],
    "nn.pad": [([ROWS], {"pad_width": [1, 0, 2, 1]}), ([ROWS], {"pad_width": [1, 1, 2, 0], "pad_mode": "reflect"})],
    "nn.batch_norm": [([(2, 3, 5), (3,), (3,), (3,), (3,)], {})],
    "nn.layer_norm": [([ROWS, (5,), (5,)], {})],
    "nn.rms_norm": [([ROWS, (5,)], {})],
    "nn.instance_norm": [([(2, 3, 5), (3,), (3,)], {})],
    "nn.group_norm": [([(1, 4, 5), (4,), (4,)], {"num_groups": 2})],
    "nn.conv1d": [([(1, 4, 9), (6, 2, 3)], {"groups": 2, "padding": 1, "strides": 2})],
    "nn.conv2d": [([_IMAGE, (3, 4, 3, 2)], {"padding": 1, "dilation": 2})],
    "nn.conv3d": [([_VOLUME, (3, 2, 2, 2, 2)], {})],
    "nn.winograd_weights": [([(4, 3, 3, 3)], {"width": 2})],
    "nn.conv2d_winograd": [([(1, 4, 6, 3), (2, 4, 4, 3, 2)], {"padding": [1, 0, 1, 2]})],
    "nn.conv1d_transpose": [([(1, 2, 5), (2, 3, 3)], {"strides": 2})],
    "nn.conv2d_transpose": [([(1, 2, 3, 4), (2, 3, 3, 2)], {"strides": 2, "padding": 1})],
    "nn.conv3d_transpose": [([(1, 2, 2, 3, 2), (2, 1, 2, 2, 2)], {})],
    "nn.attention": [([(1, 5, 4, 8), (1, 7, 2, 8), (1, 7, 2, 8)], {"causal_mask": "BottomRight"})],
    "nn.rotary_embedding": [([(1, 5, 2, 6), (5, 3), (5, 3)], {})],
    "nn.upsampling": [([_IMAGE], {"scale_h": 2, "scale_w": 3})],
    "diagonal": [([(3, 5)], {"offset": 1}), ([(2, 3, 2)], {"axis1": 0, "axis2": 2})],
    "sliding_windows": [([(2, 7)], {"size": 3, "step": 2})],
    "fft": [([(2, 16), (2, 16), (2, 16)], {})],
    "rfft": [([(3, 32), (2, 33)], {}), ([(3, 32), (2, 33)], {"layout": "joined"})],
    "irfft": [([(2, 17), (2, 17), (2, 32)], {})],
    "as_strided": [([(3, 4)], {"shape": [2, 3], "strides": [4, 1], "offset": 1})],
    "nn.windows": [([_IMAGE], {"kernel": [3, 2], "padding": 1, "strides": [2, 1]})],
    "nn.patches": [
        ([(2, 4, 5, 3)], {"kernel": [2, 3], "padding": 1, "strides": [2, 1], "pad_value": 7, "multiple": 4}),
        ([(2, 4, 3, 4)], {"kernel": [2, 1], "parts": 2}),
    ],
    "nn.fold": [([(1, 12, 12)], {"output_size": [4, 5], "kernel": [2, 3], "dilation": [1, 1]})],
    "image.grid_sample": [
        ([_IMAGE, (1, 3, 2, 2)], {}),
        ([_IMAGE, (1, 2, 2, 2)], {"method": "bicubic", "padding_mode": "reflection"}),
    ],
    "image.resize2d": [([_IMAGE], {"size": [3, 11]})],
}
"""Operands of one type. The others of the table are in MIXED."""

MIXED: dict[str, list[tuple[list[tuple[tuple[int, ...], str]], dict[str, Any]]]] = {
    "where": [([((3, 1), "bool"), (ROWS, "float32"), (ROWS, "float32")], {})],
    "take": [([((6, 5), "float32"), ((2, 2), "int64")], {"axis": 0}), ([(LINE, "int8"), ((3,), "int32")], {})],
    "gather_elements": [([((6, 5), "float32"), ((2, 5), "int64")], {"axis": 0})],
    "gather_nd": [([((6, 6, 2), "float32"), ((3, 2), "int64")], {})],
    "index_tensor": [([((6, 7), "float32"), ((3,), "int64"), ((3,), "int64")], {})],
    "one_hot": [([((5,), "int64")], {"depth": 6})],
    "scatter_elements": [([((6, 5), "float32"), ((2, 5), "int64"), ((2, 5), "float32")], {"reduction": "add"})],
    "scatter_nd": [([((6, 5), "float32"), ((2, 1), "int64"), ((2, 5), "float32")], {"mode": "add"})],
    "grouped_matmul": [([((5, 3), "float32"), ((2, 3, 4), "float32"), ((2,), "int32")], {})],
    "philox": [([((2,), "int64")], {"count": 5, "words": 3})],
    "row_tiles": [([((3,), "int32")], {"rows": 7, "height": 4})],
    "tile_products": [([((2, 4, 5), "float32"), ((3, 2, 5, 16), "float32"), ((2,), "int32")], {})],
    "image.resample": [
        ([((2, 7), "float32"), ((3, 2), "int32"), ((3, 2), "float32")], {}),
        ([((7, 2), "float32"), ((3, 1), "int32")], {"axis": 0}),
    ],
    "index_put": [([((6, 5), "float32"), ((2,), "int64"), ((2, 5), "float32")], {"accumulate": True})],
    "quantize": [([(ROWS, "float32"), ((5,), "float32")], {})],
    "dequantize": [([(ROWS, "int8"), ((5,), "float32")], {})],
    "unpack_int4": [([((3, 16), "uint8")], {}), ([((1, 4), "uint8")], {"group_size": 4, "order": "pairs"})],
    "dequantize_group": [([((6, 16), "uint8"), ((6, 1), "float32")], {"group_size": 32})],
    "nn.winograd_tiles": [([((2, 4, 6, 3), "uint8")], {})],
    "nn.winograd_results": [([((4, 4, 1, 2, 2, 3), "int32")], {"size": [3, 4]})],
    "dense_groups": [([((2, 64), "int8"), ((6, 32), "uint8"), ((6, 2), "float32")], {"group_size": 32})],
}
