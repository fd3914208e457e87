"""Nodes of ONNX's operators: operands, constants among them, and attributes, for the versions that take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Known:
    """An operand that is an initializer."""

    array: np.ndarray


@dataclass(frozen=True)
class Case:
    """operands: arrays (inputs), Known, lists of arrays (sequences), None where left out; since, until: opsets."""

    operands: tuple[Any, ...]
    attrs: dict[str, Any]
    outputs: int = 1
    since: int = 1
    until: int = 10**6


_RNG = np.random.default_rng(11)


def f(*shape):
    return _RNG.standard_normal(shape).astype("float32")


def p(*shape):
    return _RNG.uniform(0.2, 0.9, shape).astype("float32")


def i(*shape, low=0, high=5, dtype="int64"):
    return _RNG.integers(low, high, shape).astype(dtype)


def b(*shape):
    return _RNG.integers(0, 2, shape).astype(bool)


def k(values, dtype=None):
    array = np.asarray(values)
    dtype = dtype or ("float32" if array.dtype.kind == "f" else array.dtype)
    return Known(array.astype(dtype))


def case(*operands, outputs=1, since=1, until=10**6, **attrs):
    return Case(operands, attrs, outputs, since, until)


def recurrent(gates):
    """Layers of 3 inputs and a state of 5: plain, both directions, batches first. Lengths, which ONNX's evaluator does
    not know, are in the wide table."""
    lstm, outputs = gates == 4, 3 if gates == 4 else 2
    plain = f(4, 2, 3), f(1, gates * 5, 3), f(1, gates * 5, 5), f(1, gates * 10)
    both = f(4, 2, 3), f(2, gates * 5, 3), f(2, gates * 5, 5), f(2, gates * 10), None
    states, batched = [f(2, 2, 5) for _ in range(1 + lstm)], (f(2, 4, 3), f(1, gates * 5, 3), f(1, gates * 5, 5))
    return [
        case(*plain, outputs=outputs, hidden_size=5),
        case(*both, *states, outputs=outputs, hidden_size=5, direction="bidirectional"),
        case(*batched, outputs=1, hidden_size=5, layout=1, since=14),
    ]


X, Y = f(2, 3, 4), f(2, 3, 4)
IMAGE = f(2, 4, 6, 7)
UNARY = (
    "Abs Ceil Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish Identity LeakyRelu Mish Neg Relu Round Selu "
    "Shrink Sigmoid Sign Sin Sinh Softplus Softsign Tan Tanh ThresholdedRelu Celu Gelu Swish Atan Asinh IsNaN IsInf"
)
REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare"
CASES: dict[str, list[Case]] = {
    **{name: [case(X)] for name in UNARY.split()},
    **{name: [case(p(2, 3, 4))] for name in "Acos Asin Atanh Log Reciprocal Sqrt".split()},
    "Acosh": [case(p(2, 5) + 1)],
    **{name: [case(X, f(3, 1)), case(i(2, 3, high=9), i(3) + 1)] for name in "Add Sub Mul Div".split()},
    **{name: [case(X, f(3, 1))] for name in "Max Min Sum Mean".split()},
    **{name: [case(b(2, 3), b(3))] for name in "And Or Xor".split()},
    "Not": [case(b(2, 3))],
    **{name: [case(i(2, 3), i(3)), case(X, Y, since=9)] for name in "Equal Greater Less".split()},
    **{name: [case(X, f(4))] for name in "GreaterOrEqual LessOrEqual".split()},
    **{f"Bitwise{name}": [case(i(2, 3), i(3))] for name in "And Or Xor".split()},
    "BitwiseNot": [case(i(2, 3))],
    "BitShift": [case(i(2, 3, dtype="uint32"), i(3, dtype="uint32"), direction=d) for d in ("LEFT", "RIGHT")],
    "BitCast": [case(X, to=6)],
    "Pow": [case(p(2, 3), f(3)), case(X, k(2.0)), case(i(2, 3), i(3, high=3), since=12), case(X, i(4), since=12)],
    "Mod": [case(i(2, 3, low=-9, high=9), i(3) + 1), case(X, p(4), fmod=1), case(i(5, low=-9), i(5) + 2, fmod=1)],
    "Where": [case(b(2, 3), f(2, 1), f(3))],
    "Clip": [case(X, min=-0.5, max=0.5, until=10), case(X, k(-0.5), k(0.5), since=11), case(X, None, k(0.1), since=11),
             case(i(2, 3, low=-9), k(-2), k(3), since=12)],
    "PRelu": [case(X, p(3, 1))],
    "Cast": [case(X, to=7), case(i(2, 3), to=1), case(X, to=9), case(X * 3, to=10), case(b(2, 3), to=1),
             case(X * 20, to=3), case(X, to=11)],
    "CastLike": [case(X, i(2)), case(i(3), f(1))],
    "Constant": [case(value_float=2.5, since=12), case(value_ints=[1, 2], since=12)],
    "ConstantOfShape": [case(k([2, 3]))],
    "Softmax": [case(X), case(X, axis=1), case(X, axis=0)],
    "LogSoftmax": [case(X), case(X, axis=1)],
    "Hardmax": [case(X, since=13), case(X, axis=1, since=13), case(i(2, 3, 4).astype("f4"), axis=1, since=13)],
    "Dropout": [case(X), case(X, outputs=2, since=10)],
    "MatMul": [case(f(2, 3, 4), f(4, 5)), case(f(4), f(4)),
        case(i(2, 3, dtype="int32"), i(3, 2, dtype="int32"), since=9)],
    "Gemm": [case(f(3, 4), f(4, 5), f(5)), case(f(4, 3), f(5, 4), f(3, 1), transA=1, transB=1, alpha=0.5, beta=2.0),
             case(f(3, 4), f(4, 5), since=11)],
    "Einsum": [case(f(2, 3), f(3, 4), equation="ij,jk->ik"), case(f(2, 3, 3), equation="bii->bi"),
               case(f(2, 3, 4), f(2, 4, 5), equation="...ij,...jk->...ik"), case(f(3, 3), equation="ii")],
    "Det": [case(f(3, 3)), case(f(2, 4, 4))],
    "Conv": [case(f(1, 4, 6, 7), f(6, 4, 3, 3), f(6), pads=[1, 1, 1, 1]), case(f(1, 4, 9), f(4, 1, 3), group=4),
             case(f(1, 4, 6, 7), f(2, 4, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
             case(f(1, 4, 7, 7), f(2, 4, 2, 2), dilations=[2, 2]), case(f(1, 2, 4, 4, 4), f(2, 2, 2, 2, 2))],
    "ConvTranspose": [case(f(1, 3, 4, 4), f(3, 2, 3, 3), f(2)), case(f(1, 4, 5), f(4, 2, 3), strides=[2], group=2),
                      case(f(1, 1, 3, 3), f(1, 2, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
                      case(f(1, 1, 3, 3), f(1, 2, 3, 3), output_shape=[10, 8], strides=[3, 2]),
                      case(f(1, 1, 3, 3), f(1, 2, 3, 3), output_padding=[1, 1], strides=[3, 2], pads=[1, 0, 1, 0]),
                      case(f(1, 1, 3, 3), f(1, 1, 2, 2), dilations=[2, 2])],
    "ConvInteger": [case(i(1, 2, 4, 4, high=255, dtype="uint8"), i(3, 2, 2, 2, high=255, dtype="uint8"), k(7,
        "uint8")),
                    case(i(1, 2, 4, 4, high=255, dtype="uint8"), i(3, 2, 2, 2, low=-9, dtype="int8"), k(7, "uint8"),
                        k([1, 2, 3], "int8"), pads=[1, 1, 1, 1])],
    "MatMulInteger": [case(i(3, 4, high=255, dtype="uint8"), i(4, 5, high=255, dtype="uint8")),
                      case(i(2, 3, 4, high=255, dtype="uint8"), i(4, 5, low=-99, high=99, dtype="int8"), k(12,
                          "uint8"), k([1, 2, 0, -1, 5], "int8")),
                      case(i(3, 4, high=255, dtype="uint8"), i(4, 5, high=255, dtype="uint8"), k([1, 2, 3], "uint8"),
                          k(9, "uint8"))],
    "QuantizeLinear": [case(f(2, 3) * 50, k(0.5), k(10, "uint8")), case(f(5) * 50, k(0.5), k(10, "uint8")),
        case(f(2, 3) * 50, k([0.5, 0.25]), k([1, -2], "int8"), axis=0, since=13),
                       case(f(2, 3), k(0.1)),
                           case(f(2, 6), k(p(2, 2)), k([[1, 2], [0, 3]], "int8"), axis=1, block_size=3, since=21),
                       case(f(2, 3), k(0.1), output_dtype=3, since=21),
                           case(f(2, 3) * 400, k(0.02), k(5, "uint16"), since=21)],
    "DequantizeLinear": [case(i(2, 3, dtype="uint8"), k(0.5), k(2, "uint8")), case(i(4, dtype="int8"), k(0.5)),
        case(i(2, 3, dtype="int8"), k([0.5, 0.25]), k([1, -2], "int8"), axis=0, since=13),
                         case(i(2, 6, dtype="int8"), k(p(2, 2)), axis=1, block_size=3, since=21),
                             case(i(4, dtype="int32"), k(0.3)),
                         case(i(2, 3, dtype="int8"), p(3), i(3, dtype="int8"), since=13)],
    "DynamicQuantizeLinear": [case(f(3, 4), outputs=3), case(p(5) + 1, outputs=3)],
    "QLinearMatMul": [case(i(3, 4, high=255, dtype="uint8"), k(0.1), k(7, "uint8"), i(4, 5, high=255, dtype="uint8"),
        k(0.2), k(99, "uint8"), k(3.0), k(100, "uint8")),
                      case(i(3, 4, low=-9, dtype="int8"), k(0.1), k(7, "int8"), i(4, 5, low=-9, dtype="int8"),
                          k([0.21, 0.13, 0.41, 0.33, 0.17]), k([0, 1, 2, 3, 4], "int8"), k(0.3), k(-3, "int8"))],
    "QLinearConv": [case(i(1, 2, 5, 5, high=255, dtype="uint8"), k(0.1), k(7, "uint8"), i(3, 2, 3, 3, high=255,
        dtype="uint8"), k(0.2), k(99, "uint8"), k(30.0), k(100, "uint8")),
                    case(i(1, 2, 5, 5, high=255, dtype="uint8"), k(0.1), k(7, "uint8"), i(2, 2, 3, 3, low=-9,
                        dtype="int8"), k([0.2, 0.3]), k([0, 0], "int8"), k(1.0), k(100, "uint8"), k([5, -7],
                        "int32"), pads=[1, 1, 1, 1])],
    "MaxPool": [case(IMAGE, kernel_shape=[3, 2]),
        case(IMAGE, kernel_shape=[2, 2], strides=[2, 2], pads=[1, 0, 0, 1], outputs=2, since=8),
                case(IMAGE, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, since=10),
                    case(f(1, 2, 9), kernel_shape=[3], auto_pad="SAME_LOWER"),
                case(f(1, 1, 5, 5, 5), kernel_shape=[2, 2, 2]),
                    case(i(1, 1, 5, 5, dtype="int8"), kernel_shape=[2, 2], since=12)],
    "AveragePool": [case(IMAGE, kernel_shape=[3, 2]),
        case(IMAGE, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1),
                    case(IMAGE, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, since=10),
                        case(IMAGE, kernel_shape=[2, 2], dilations=[2, 2], since=19)],
    "LpPool": [case(IMAGE, kernel_shape=[3, 2]),
        case(IMAGE, kernel_shape=[2, 2], p=3, strides=[2, 2], pads=[1, 0, 0, 1])],
    "GlobalLpPool": [case(IMAGE), case(IMAGE, p=3)],
    "GlobalAveragePool": [case(IMAGE)],
    "GlobalMaxPool": [case(IMAGE)],
    "MaxUnpool": [case(f(1, 1, 2, 2), k([[[[5, 7], [13, 15]]]], "int64"), kernel_shape=[2, 2], strides=[2, 2]),
                  case(f(1, 1, 2, 2), k([[[[5, 7], [13, 15]]]], "int64"), k([1, 1, 5, 4]), kernel_shape=[2, 2],
                      strides=[2, 2])],
    "MaxRoiPool": [case(IMAGE, k([[0, 0, 0, 3, 3], [1, 1, 1, 6, 5]], "float32"), pooled_shape=[2, 2])],
    "RoiAlign": [case(IMAGE, k([[0, 0, 3, 3], [1, 1, 6, 5]], "float32"), k([0, 1]), output_height=2, output_width=3,
        sampling_ratio=2, **mode)
                 for mode in ({}, {"mode": "max"})],
    "BatchNormalization": [
        case(IMAGE, f(4), f(4), f(4), p(4), since=14),
        case(IMAGE, f(4), f(4), f(4), p(4), outputs=3, training_mode=1, since=14),
    ],
    "InstanceNormalization": [case(IMAGE, f(4), f(4))],
    "LayerNormalization": [case(X, f(4), f(4)), case(X, f(3, 4), axis=1), case(X, f(4), f(4), outputs=3)],
    "GroupNormalization": [case(IMAGE, f(4), f(4), num_groups=2, since=21),
        case(IMAGE, f(2), f(2), num_groups=2, until=20)],
    "RMSNormalization": [case(X, f(4)), case(X, f(3, 4), axis=1)],
    "LpNormalization": [case(X), case(p(2, 3, 4), axis=1, p=1)],
    "MeanVarianceNormalization": [case(IMAGE), case(X, axes=[0, 2])],
    "LRN": [case(f(4, 4, 3, 2), size=3), case(f(4, 4, 3, 2), size=2, alpha=0.01, beta=0.5, bias=2.0)],
    **{f"Reduce{name}": [case(p(2, 3, 4), axes=[1], until=12 if name == "Sum" else 17), case(p(2, 3, 4), keepdims=0),
                         case(p(2, 3, 4), k([-1, 0]), since=13 if name == "Sum" else 18),
                         case(p(2, 3), k(np.zeros(0), "int64"), noop_with_empty_axes=1,
                             since=13 if name == "Sum" else 18)]
       for name in REDUCTIONS.split()},
    "ReduceL2": [case(p(2, 3, 4), axes=[1], until=17), case(i(2, 3, 4, dtype="int32"), axes=[1], until=17),
                 case(p(2, 3, 4), keepdims=0), case(p(2, 3, 4), k([-1, 0]), since=18)],
    **{f"Arg{name}": [case(X, axis=1), case(X, keepdims=0),
        case(i(3, 4).astype("f4"), axis=1, select_last_index=1, since=12)] for name in ("Max", "Min")},
    "CumSum": [case(X, k(1)), case(X, k(-1), reverse=1), case(X, k(2), exclusive=1),
        case(X, k(0), exclusive=1, reverse=1)],
    "CumProd": [case(X, k(1)), case(X, k(-1), reverse=1), case(X, k(2), exclusive=1)],
    "TopK": [case(f(3, 6), k([2]), outputs=2, since=10), case(f(3, 6), k([3]), outputs=2, axis=0, largest=0, since=11),
             case(f(3, 6), outputs=2, k=2, until=9), case(i(3, 6), k([2]), outputs=2, since=11)],
    "Unique": [
        case(i(6), outputs=4), case(i(5, 3, high=2), outputs=4, axis=0), case(i(2, 5, high=2), outputs=4, axis=-1),
        case(i(6, high=3), outputs=4, sorted=0),
    ],
    "NonZero": [case(i(2, 3, high=2))],
    "Compress": [case(X, k([True, False, True]), axis=1), case(X, b(3), axis=1)],
    "NonMaxSuppression": [
        case(p(1, 6, 4), p(1, 2, 6), k([2]), k([0.5]), k([0.1])),
        case(p(2, 9, 4), i(2, 3, 9).astype("f4"), k([4]), k([0.2]), k([0.5])),
        case(p(2, 9, 4), p(2, 1, 9), k([9]), k([0.4]), center_point_box=1),
        case(p(1, 9, 4), p(1, 2, 9), np.array([3]), np.array([0.3], "f4"), np.array([0.4], "f4")),
        case(np.zeros((1, 4, 4), "f4"), p(1, 1, 4), k([3]), k([0.0])),
        case(p(1, 5, 4), p(1, 1, 5)), case(p(1, 5, 4), p(1, 1, 5), k([3]), k([0.5]), k([2.0])),
    ],
    "Reshape": [case(X, k([4, -1])), case(X, k([0, 0, 2, 2])), case(f(0, 3), k([3, 0]), allowzero=1, since=14)],
    "Flatten": [case(X), case(X, axis=2), case(X, axis=0)],
    "Transpose": [case(X), case(X, perm=[1, 0, 2])],
    "Squeeze": [case(f(1, 3, 1), axes=[0], until=12), case(f(1, 3, 1), k([0]), since=13), case(f(1, 3, 1))],
    "Unsqueeze": [case(X, axes=[0, 2], until=12), case(X, k([0, -1]), since=13)],
    "Expand": [case(f(3, 1), k([2, 1, 4]))],
    "Concat": [case(X, Y, axis=1), case(X, axis=-1)],
    "Split": [case(f(6, 2), outputs=2, until=17), case(f(6, 2), k([2, 4]), outputs=2, since=13),
        case(f(7, 2), outputs=2, num_outputs=2, since=18),
              case(f(6, 2), outputs=2, split=[1, 5], until=12)],
    "Slice": [case(X, axes=[1], starts=[0], ends=[2], until=9),
        case(X, k([0, -1]), k([2, -9]), k([1, 2]), k([1, -1]), since=10),
              case(X, k([1]), k([1000]), since=10)],
    "Gather": [case(X, i(2, 2, high=3), axis=1), case(X, k([-1, 0]))],
    "GatherElements": [case(f(3, 4), i(2, 4, low=-3, high=3)), case(f(3, 4), i(3, 2, high=4), axis=1)],
    "GatherND": [case(f(2, 3, 4), k([[0, 1], [1, 2]])), case(f(2, 3, 4), i(2, 1, high=3), batch_dims=1, since=12)],
    "Scatter": [case(f(3, 4), k([[1, 0, 2, 1]]), f(1, 4))],
    "ScatterElements": [case(f(3, 4), k([[1, 0, 2, 1]]), f(1, 4)),
        case(f(3, 4), k([[1, -1], [0, 2], [1, 3]]), f(3, 2), axis=1),
                        *(case(f(3, 4), k([[1, 1], [0, 2], [1, 3]]), f(3, 2), axis=1, reduction=r,
                            since=18) for r in ("add", "mul", "max", "min"))],
    "ScatterND": [case(f(5), k([[1], [3]]), f(2)), case(f(3, 4), k([[1], [2]]), f(2, 4)),
                  *(case(f(5), k([[1], [1]]), f(2), reduction=r, since=18) for r in ("add", "mul", "max", "min"))],
    "TensorScatter": [case(f(2, 1, 4, 3), f(2, 1, 2, 3), k([1, 2])),
        case(f(2, 1, 4, 3), f(2, 1, 2, 3), i(2, high=2), mode="circular")],
    "Tile": [case(f(2, 3), k([2, 1]))],
    "Pad": [case(f(3, 4), mode=m, pads=[1, 2, 0, 1], until=10) for m in ("constant", "reflect", "edge")]
    + [case(f(3, 4), k([1, 2, 0, 1]), mode=m, since=11) for m in ("constant", "reflect", "edge")]
    + [case(f(3, 4), k([1, 2, 0, 1]), k(1.5), since=11), case(f(3, 4), k([1, 2]), None, k([1]), since=18),
        case(f(3, 4), k([2, 1, 1, 3]), mode="wrap", since=19),
       case(f(4, 4), k([-1, 1, 0, -2]), since=11)],
    "DepthToSpace": [case(f(1, 8, 2, 3), blocksize=2), case(f(1, 8, 2, 3), blocksize=2, mode="CRD", since=11)],
    "SpaceToDepth": [case(f(1, 2, 4, 6), blocksize=2)],
    "Shape": [case(X), case(X, start=1, since=15)],
    "Size": [case(X)],
    "Range": [case(k(0), k(10), k(3)), case(k(1.0), k(0.0), k(-0.25))],
    "Trilu": [case(f(4, 5)), case(f(2, 4, 4), k(-1), upper=0), case(f(4, 5), k(2))],
    "EyeLike": [case(f(3, 4)), case(f(3, 4), k=1, dtype=6)],
    "OneHot": [case(i(2, 3, low=-4, high=4), k(5), k([0.0, 1.0])), case(i(3), k([4]), k([2, 7]), axis=0)],
    "ReverseSequence": [case(f(4, 3, 2), k([1, 2, 4])), case(f(3, 4), i(3, low=1, high=4), batch_axis=0, time_axis=1)],
    "Resize": [case(f(1, 1, 3, 4), k([1.0, 1, 2, 2]), until=10, mode=m) for m in ("nearest", "linear")]
    + [case(f(1, 1, 3, 4), None, k([1.0, 1, 2, 2]), since=13, mode=m, **t) for m in ("nearest", "linear", "cubic")
       for t in ({}, {"coordinate_transformation_mode": "align_corners"},
           {"coordinate_transformation_mode": "asymmetric"})]
    + [case(f(1, 1, 6, 8), None, k([1.0, 1, 0.62, 0.73]), since=13, mode=m) for m in ("nearest", "linear", "cubic")]
    + [case(f(1, 1, 6, 8), None, None, k([1, 1, 3, 5]), since=13, mode=m) for m in ("nearest", "linear", "cubic")]
    + [case(f(1, 1, 6, 8), None, None, k([1, 1, 3, 5]), since=18, mode=m, antialias=1) for m in ("linear", "cubic")]
    + [case(f(1, 1, 6, 8), None, None, k([3, 5]), since=18, axes=[2, 3]),
        case(f(4, 5), None, k([2.0, 2.0]), since=13, mode="linear")]
    + [case(f(1, 1, 6, 8), None, None, k([9, 20]), since=18, axes=[2, 3], keep_aspect_ratio_policy="not_larger"),
       case(f(1, 1, 4, 4), k([0, 0, 0.4, 0.6, 1, 1, 0.6, 0.8]), None, k([1, 1, 3, 3]), mode="linear",
           coordinate_transformation_mode="tf_crop_and_resize", since=13),
       case(f(1, 1, 4, 4), None, k([1, 1, 0.8, 0.8]), mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1, since=13),
       case(f(1, 2, 5), None, k([1, 1, 2.0]), mode="linear", since=13),
           case(f(1, 1, 2, 3, 4), None, k([1, 1, 2.0, 2.0, 2.0]), mode="linear", since=13)],
    "Upsample": [case(f(1, 1, 3, 4), mode=m, scales=[1.0, 1.0, 2.0, 3.0], until=8) for m in ("nearest", "linear")]
    + [case(f(1, 1, 3, 4), k([1.0, 1, 2, 3]), mode=m, since=9, until=9) for m in ("nearest", "linear")],
    "GridSample": [case(f(1, 2, 4, 5), p(1, 3, 2, 2) * 2 - 1), *(case(f(1, 2, 4, 5), p(1, 3, 2, 2) * 2 - 1,
        padding_mode=q) for q in ("border", "reflection")),
                   case(f(1, 2, 4, 5), p(1, 3, 2, 2) * 2 - 1, align_corners=1),
                       case(f(1, 2, 4, 5), p(1, 3, 2, 2), mode="nearest"),
                   case(f(1, 2, 4, 5), p(1, 3, 2, 2), mode="cubic", since=20)],
    "AffineGrid": [case(f(1, 2, 3), k([1, 1, 3, 4])), case(f(1, 3, 4), k([1, 1, 2, 3, 4]), align_corners=1)],
    "DeformConv": [case(f(1, 1, 3, 3), f(1, 1, 2, 2), f(1, 8, 4, 4) * 0.5, k([0.5]), pads=[1, 1, 1, 1],
        kernel_shape=[2, 2]),
                   case(f(1, 2, 5, 5), f(2, 2, 3, 3), f(1, 18, 3, 3) * 0.5, None, p(1, 9, 3, 3))],
    "Col2Im": [case(f(1, 5, 5), k([5, 5]), k([1, 5])), case(f(1, 8, 9), k([4, 4]), k([2, 2])),
        case(f(1, 9, 4), k([6, 6]), k([3, 3]), strides=[3, 3])],
    "CenterCropPad": [case(f(5, 4), k([3, 6])), case(f(5, 4, 3), k([3, 6]), axes=[0, 1])],
    **{name: recurrent(gates) for name, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4))},
    "BlackmanWindow": [case(k(10)), case(k(9), periodic=0)],
    "HannWindow": [case(k(10))],
    "HammingWindow": [case(k(10), periodic=0)],
    "MelWeightMatrix": [case(k(8), k(16), k(8192), k(0.0), k(4096.0))],
    "DFT": [case(f(2, 5, 1), axis=1, until=19), case(f(2, 5, 2), axis=1, inverse=1, until=19),
        case(f(2, 6, 1), axis=1, onesided=1, until=19),
            case(f(2, 5, 1), None, k(1), since=20), case(f(2, 6, 1), k(8), k(1), since=20),
                case(f(2, 6, 1), None, k(1), onesided=1, since=20),
            case(f(2, 5, 2), None, k(1), inverse=1, since=20), case(f(4, 5, 2), None, k(0), since=20)],
    "STFT": [case(f(1, 32, 1), k(8), k(np.hanning(16)), k(16)), case(f(1, 32, 1), k(8), None, k(16), onesided=0)],
    "Sign": [case(X), case(np.array([1, np.nan, -2, 0], "f4"))],
    "IsNaN": [case(np.array([1, np.nan, np.inf], "f4"))],
    "IsInf": [case(np.array([1, np.nan, np.inf, -np.inf], "f4")),
        case(np.array([1, np.inf, -np.inf], "f4"), detect_negative=0)],
    "SequenceConstruct": [], "SequenceEmpty": [], "SequenceAt": [], "SequenceInsert": [], "SequenceErase": [],
    "Attention": [case(f(2, 3, 4, 8), f(2, 3, 6, 8), f(2, 3, 6, 8)),
        case(f(2, 3, 4, 8), f(2, 3, 6, 8), f(2, 3, 6, 8), f(4, 6)),
                  case(f(2, 3, 4, 8), f(2, 3, 4, 8), f(2, 3, 4, 8), is_causal=1),
                      case(f(2, 4, 24), f(2, 6, 24), f(2, 6, 24), q_num_heads=3, kv_num_heads=3),
                  case(f(2, 3, 4, 8), f(2, 3, 6, 8), f(2, 3, 6, 8), b(4, 6) | True),
                      case(f(2, 4, 4, 8), f(2, 2, 6, 8), f(2, 2, 6, 8), softcap=2.0),
                  case(f(2, 3, 4, 8), f(2, 3, 6, 8), f(2, 3, 6, 8), None, f(2, 3, 5, 8), f(2, 3, 5, 8), outputs=3)],
    "RotaryEmbedding": [case(f(2, 3, 4, 8), f(10, 4), f(10, 4), i(2, 4, high=10)),
        case(f(2, 4, 24), f(10, 4), f(10, 4), i(2, 4, high=10), num_heads=3),
                        case(f(2, 3, 4, 8), f(2, 4, 4), f(2, 4, 4), interleaved=1)],
    "SwiGLU": [case(f(2, 8), f(2, 8))],
    "LinearAttention": [], "CausalConvWithState": [],
    "NegativeLogLikelihoodLoss": [case(f(3, 5), i(3)), case(f(3, 5), i(3), p(5), reduction="sum")],
    "SoftmaxCrossEntropyLoss": [case(f(3, 5), i(3)), case(f(3, 5), i(3), reduction="none")],
}  # fmt: skip
