"""Attention of short floats in models on a GPU: a program of tiles, beside the operator."""

import warnings

import numpy as np
import pytest

from tir_mlir import build, ptx
from tir_mlir.graph import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.targets.stages import BuildOptions

SWAP = [0, 2, 1, 3]
CASES = {
    "plain": {"m": 16}, "last keys": {"permuted": False, "causal_mask": "BottomRight"},
    "groups": {"b": 2, "h": 4, "n": 5, "m": 20, "e": 40, "layout": "BSHD", "permuted": False, "scale": 0.3,
               "causal_mask": "TopLeft"},
    "mask": {"b": 2, "bias": (2, 1, 1, 33), "bias_dtype": "bool"},
    "bias": {"bias": (2, 17, 33)}, "wide bias": {"h": 4, "g": 1, "bias": (1, 33), "bias_dtype": "float32"},
}  # fmt: skip


def attention(
    b=1, h=2, g=2, n=17, m=33, d=24, e=24, layout="BHSD", permuted=True, bias=None, bias_dtype="float16",
    dtype="float16", **attrs,
):  # fmt: skip
    """permuted: heads are put before the sequence, or behind it, for the attention, and back."""
    builder = GraphBuilder("main")

    def operand(name, heads, length, width):
        shape = (b, heads, length, width) if (layout == "BHSD") != permuted else (b, length, heads, width)
        x = builder.input(name, shape, dtype)
        return builder.op("permute_dims", x, axes=SWAP) if permuted else x

    operands = [operand("q", h, n, d), operand("k", g, m, d), operand("v", g, m, e)]
    if bias is not None:
        operands.append(builder.input("bias", bias, bias_dtype))
    y = builder.op("nn.attention", *operands, layout=layout, **attrs)
    builder.output(builder.op("permute_dims", y, axes=SWAP) if permuted else y)
    return builder.finish()


def arguments(model):
    """Random ones; of a mask, what a query of the first batch sees is nothing."""
    rng, args = np.random.default_rng(0), []
    for _, type_ in model.plan.inputs:
        if type_.dtype == "bool":
            args.append(rng.random(type_.shape) < 0.5)
            args[-1][0] = False
        else:
            args.append((2 * rng.standard_normal(type_.shape)).astype(type_.dtype))
    return args


def tiled(graph, target="sm_80"):
    return compile_graph(graph, until="tiled_attention", options=BuildOptions(target=target, cache=False))


@pytest.mark.few(1)
@pytest.mark.parametrize("case", CASES)
def test_the_program_of_tiles_computes_the_operator(case):
    """As loops of this CPU: weights are rounded once more."""
    graph = attention(**CASES[case])
    expected, model = build(graph, optimize="fast"), build(tiled(graph), optimize="fast")
    args = arguments(expected)
    assert "nn.attention" not in tiled(graph).script()
    np.testing.assert_allclose(model(*args).astype(float), expected(*args).astype(float), atol=4e-3)


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES)
def test_on_the_machine(case):
    graph = attention(**CASES[case])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = build(graph, target="sm_80")
    assert "S: attention" in model.schedules["attention"][0]
    args = arguments(model)
    with ptx.stand_in():
        result = model(*args)
    np.testing.assert_allclose(result.astype(float), build(graph)(*args).astype(float), atol=4e-3)
    verified = model.verify()
    assert verified and not verified.unchecked, verified


@pytest.mark.parametrize(
    ("options", "target"),
    [({"dtype": "float32"}, "sm_80"), ({"n": 1}, "sm_80"), ({"n": "n"}, "sm_80"), ({"d": 136}, "sm_80"), ({}, "sm_75")],
    ids=str,
)
def test_what_remains(options, target):
    assert "nn.attention" in tiled(attention(permuted=False, **options), target).script()
