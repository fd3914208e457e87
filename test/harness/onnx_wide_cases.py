"""More cases of ONNX's operators, for the wide table only: options of windows, resizes, slices, reductions, indices."""

from __future__ import annotations

from itertools import product

import numpy as np
from harness.onnx_cases import Case, b, case, f, i, k, p

_PADS = ("SAME_UPPER", "SAME_LOWER", "VALID")
_PLACES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")
_ROUNDS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def _transposed() -> list[Case]:
    windows = [(3, 2, 1), (2, 3, 1), (4, 2, 1), (3, 1, 1), (3, 3, 2), (5, 2, 1), (1, 2, 1)]
    cases = [
        case(f(1, 2, 5, 4), f(2, 3, w, w), f(3), auto_pad=pad, strides=[s, s], dilations=[d, d])
        for pad, (w, s, d) in product(_PADS, windows)
    ]
    cases += [case(f(1, 2, 5), f(2, 3, 3), auto_pad=pad, strides=[2], output_padding=[1]) for pad in _PADS]
    cases += [
        case(f(1, 2, 4, 4), f(2, 1, 3, 3), output_shape=list(n), strides=[2, 2], **pad)
        for n in ((9, 9), (8, 8), (10, 9), (7, 8))
        for pad in ({}, {"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"})
    ]
    return [*cases, case(f(1, 2, 3, 3, 3), f(2, 2, 2, 2, 2), strides=[2, 1, 2], pads=[0, 1, 0, 1, 0, 1])]


def _convolutions() -> list[Case]:
    cases = [
        case(f(1, 4, 7, 6), f(6, 2, w, w), f(6), auto_pad=pad, strides=[s, s], dilations=[d, d], group=2)
        for pad, (w, s, d) in product(_PADS, [(3, 2, 1), (2, 2, 1), (3, 1, 2), (4, 3, 1), (1, 2, 1)])
    ]
    return [*cases, case(f(2, 3, 9), f(4, 3, 4), pads=[1, 2], strides=[3]), case(f(1, 1, 5, 5), f(1, 1, 5, 5))]


def _pools(**more) -> list[Case]:
    cases = [
        case(f(1, 2, 7, 8), kernel_shape=[w, w], strides=[s, s], auto_pad=pad, **more)
        for pad, (w, s) in product(_PADS, [(3, 2), (2, 2), (3, 1), (4, 3)])
    ]
    pads = [[0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 1]]
    cases += [
        case(f(1, 2, 7, 8), kernel_shape=[3, 2], strides=[s, s], pads=q, ceil_mode=c, since=19, **more)
        for q, s, c in product(pads, (1, 2, 3), (0, 1))
    ]
    return [*cases, case(f(1, 2, 9), kernel_shape=[3], strides=[2], dilations=[2], since=19, **more)]


def _resizes() -> list[Case]:
    image, cases = f(1, 2, 5, 6), []
    for places, mode, factor in product(_PLACES, ("nearest", "linear", "cubic"), (2.0, 1.5, 0.6, 0.5, 2.6)):
        since = 19 if places == "half_pixel_symmetric" else 13
        options = {"mode": mode, "coordinate_transformation_mode": places, "since": since}
        for rounds in _ROUNDS if mode == "nearest" else (None,):
            more = {"nearest_mode": rounds} if rounds else {}
            cases.append(case(image, None, k([1.0, 1, factor, factor]), **options, **more))
    for places, mode, size in product(_PLACES, ("nearest", "linear", "cubic"), ([1, 2, 7, 4], [1, 2, 1, 13])):
        since = 19 if places == "half_pixel_symmetric" else 13
        cases.append(case(image, None, None, k(size), mode=mode, coordinate_transformation_mode=places, since=since))
    for mode, factor, outside in product(("linear", "cubic"), (0.6, 0.5, 0.3, 1.5), (0, 1)):
        more = {"exclude_outside": outside} if mode == "cubic" else {}
        if mode == "cubic" or not outside:
            cases.append(case(image, None, k([1.0, 1, factor, factor]), mode=mode, antialias=1, since=18, **more))
    for policy, size in product(("not_larger", "not_smaller"), ([9, 20], [3, 3])):
        cases.append(case(image, None, None, k(size), axes=[2, 3], keep_aspect_ratio_policy=policy, since=18))
    cases += [case(i(1, 1, 4, 4, high=200, dtype="uint8"), None, k([1.0, 1, s, s]), mode=m, since=13)
              for m, s in product(("nearest", "linear"), (2.0, 0.5))]  # fmt: skip
    return [*cases, case(f(3, 4), None, k([2.0, 0.5]), since=13), case(f(1, 1, 9), None, k([1.0, 1, 1.7]), since=13)]


def _recurrent(gates):
    """Layers of 3 inputs and a state of 5: options, lengths of sequences, first states, directions."""
    lstm, outputs = gates == 4, 3 if gates == 4 else 2
    own = {1: ("RNN",), 3: ("GRU",), 4: ("LSTM",)}[gates]

    def layer(*more, steps=4, directions=1, biases=True, outputs=outputs, **attrs):
        sizes = [(directions, gates * 5, 3), (directions, gates * 5, 5)] + [(directions, gates * 10)] * biases
        more = () if not biases else more
        return case(f(steps, 2, 3), *(f(*s) for s in sizes), *more, outputs=outputs, hidden_size=5, **attrs)

    def states(directions):
        return [f(directions, 2, 5) for _ in range(1 + lstm)]

    given = k([2, 4], "int32")
    options = [{}, {"clip": 0.4}, {"direction": "reverse"}]
    options += (
        [{"activations": ["Relu"]}, {"activations": ["Affine"], "activation_alpha": [0.5], "activation_beta": [0.1]}]
        if own == ("RNN",)
        else []
    )
    options += [{"linear_before_reset": 1}, {"linear_before_reset": 1, "clip": 0.3}] if own == ("GRU",) else []
    options += [{"input_forget": 1}, {"activations": ["HardSigmoid", "Softsign", "Relu"]}] if lstm else []
    cases = [layer(**o) for o in options]
    cases += [layer(None, *states(1)), layer(given, *states(1)), layer(given, direction="reverse"), layer(steps=1)]
    cases += [layer(given, *states(2), directions=2, direction="bidirectional"), layer(biases=False, outputs=1)]
    cases += [layer(None, *states(1), f(1, 15)), layer(given, *states(1), f(1, 15), clip=0.5)] if lstm else []
    batched = f(2, 4, 3), f(1, gates * 5, 3), f(1, gates * 5, 5)
    return [*cases, case(*batched, outputs=1, hidden_size=5, layout=1, since=14)]


def _slices() -> list[Case]:
    x, bounds = f(5, 6), [(-1, -9, -1), (-2, -5, -1), (4, 0, -2), (99, -99, -3), (0, 9, 2), (-3, 99, 1), (3, 3, 1)]
    cases = [case(x, k([a]), k([e]), k([0]), k([s]), since=10) for a, e, s in bounds]
    cases += [case(x, k([a, 0]), k([e, 4]), k([1, 0]), k([s, 1]), since=10) for a, e, s in bounds]
    return [
        *cases,
        case(x, k([-1]), k([-(2**63) + 1]), k([1]), k([-1]), since=10),
        case(x, k([1]), k([2**62]), since=10),
    ]


def _reductions(name: str) -> list[Case]:
    since, x = 13 if name == "Sum" else 18, p(2, 3, 4)
    cases = [case(x, k(list(axes)), keepdims=keep, since=since) for axes in ((0,), (-1,), (0, 2), (0, 1, 2))
             for keep in (0, 1)]  # fmt: skip
    cases += [case(x, keepdims=0, noop_with_empty_axes=n, since=since) for n in (0, 1)]
    return [*cases, *(case(i(2, 3, 4, low=1, high=9, dtype=d), k([1]), since=since) for d in ("int32", "int64"))]


def _unary(name: str) -> list[Case]:
    edges = np.array([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1.0, -1.0, 30.0, -30.0, np.inf, -np.inf, np.nan], "f4")
    return [case(edges), case(edges.astype("f8")), case(np.zeros((0, 3), "f4")), case(np.float32(0.25).reshape(()))]


_UNARY = (
    "Abs Ceil Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish Identity LeakyRelu Mish Neg Relu Round Selu Shrink "
    "Sigmoid Sign Sin Sinh Softplus Softsign Tan Tanh ThresholdedRelu Celu Gelu Atan Asinh IsNaN Log Sqrt Reciprocal"
)
_ENDS = np.array([0.0, -0.0, 0.3, np.inf, np.nan], "f4")
_LINE = np.array([-7, -3, -1, 0, 1, 3, 7])
WIDE_CASES: dict[str, list[Case]] = {
    "ConvTranspose": _transposed(),
    "Conv": _convolutions(),
    "MaxPool": _pools(),
    "AveragePool": [*_pools(), *_pools(count_include_pad=1)],
    "LpPool": _pools(),
    "Resize": _resizes(),
    "Slice": _slices(),
    **{name: _recurrent(gates) for name, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4))},
    **{f"Reduce{n}": _reductions(n) for n in "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()},
    **{name: _unary(name) for name in _UNARY.split()},
    "Cast": [case(x, to=to) for x, to in product(
        (f(3, 5) * 30, i(9, low=-300, high=300), i(9, high=255, dtype="uint8"), b(6), _ENDS),
        (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13))],
    "Mod": [case(_LINE, np.full(7, d)) for d in (3, -3)] + [case(_LINE, np.full(7, d), fmod=1) for d in (3, -3)]
    + [case(_LINE.astype("f4") / 2, np.full(7, d, "f4"), fmod=1) for d in (1.5, -1.5)],
    "Div": [case(_LINE, np.full(7, d)) for d in (2, -2)] + [case(_LINE.astype("f4"), np.zeros(7, "f4"))],
    "Pow": [case(_LINE.astype("f4"), k(e)) for e in (2.0, 3.0, 0.5, 0.0, -1.0)],
    "BitShift": [case(i(4, dtype=d), i(4, high=3, dtype=d), direction=to) for d in ("uint8", "uint64")
        for to in ("LEFT", "RIGHT")],
    "Gather": [case(f(3, 4), k(-1), axis=1), case(f(3, 4), np.zeros((0,), "int64")),
        case(f(5), i(2, 2, low=-5, high=5))],
    "TopK": [case(f(2, 5), k([n]), outputs=2, axis=a, largest=g, since=11)
        for n in (1, 2) for a in (0, 1) for g in (0, 1)],
    "ArgMax": [case(i(3, 4, high=2).astype("f4"), axis=a, keepdims=q, select_last_index=s, since=12)
        for a in (0, -1) for q in (0, 1) for s in (0, 1)],
    "CumSum": [case(f(3, 4), k(a), exclusive=x, reverse=r) for a in (0, -1) for x in (0, 1) for r in (0, 1)],
    "Trilu": [case(f(3, 5), k(n), upper=u) for n in (-2, 0, 3, 9, -9) for u in (0, 1)],
    "Pad": [case(f(3, 4), k(w), mode=m, since=19) for m in ("constant", "reflect", "edge", "wrap")
        for w in ([0, 1, 2, 0], [-1, 0, 0, 1], [1, 1, 1, 1])],
    "Einsum": [case(f(2, 3), f(3, 4), equation=q) for q in ("ij,jk", "ij,jk->ki", "ij,jk->", "ab,bc->ac")]
    + [case(f(2, 3, 4), equation=q) for q in ("ijk->kji", "ijk->j", "...k->...")],
    "Softmax": [case(f(2, 3, 4), axis=a) for a in (0, 1, 2, -2)],
    "Hardmax": [case(f(2, 3, 4), axis=a, since=13) for a in (0, 1, -1)],
    "QuantizeLinear": [case(np.arange(-8, 8, dtype="f4") / 4, k(0.5), k(z, d))
        for z, d in ((0, "int8"), (3, "uint8"), (-128, "int8"))],
    "GridSample": [case(f(1, 2, 4, 5), f(1, 3, 4, 2), mode=m, padding_mode=q, align_corners=c, since=20)
        for m in ("linear", "nearest", "cubic") for q in ("zeros", "border", "reflection") for c in (0, 1)],
    "RoiAlign": [case(f(2, 3, 8, 8), k([[0, 0, 5, 5], [1, 2, 7, 6]], "float32"), k([0, 1]), output_height=2,
        output_width=2, sampling_ratio=r, coordinate_transformation_mode=c, mode=m, since=16)
        for r in (0, 1, 3) for c in ("half_pixel", "output_half_pixel") for m in ("avg", "max")],
}  # fmt: skip
