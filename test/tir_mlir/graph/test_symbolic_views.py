"""Reshapes between shapes of several named sizes, which MLIR has one type for: the functions get the right sizes."""

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.script import parse

X = np.random.default_rng(35).standard_normal((2, 3, 4)).astype(np.float32)
CASES = {
    "(n, m, 4) -> (m, n, 4)": ("R.exp(R.reshape(x, (m, n, 4)))", lambda x: np.exp(x.reshape(3, 2, 4))),
    "(n, m, 4) -> (n, m * 4)": ("R.exp(R.reshape(x, (n, m * 4)))", lambda x: np.exp(x.reshape(2, 12))),
    "(n, m, 4) -> (m, 4, n)": ("R.exp(R.reshape(x, (m, 4, n)))", lambda x: np.exp(x.reshape(3, 4, 2))),
    "of a value": ("R.exp(R.reshape(R.tanh(x), (m, n, 4)))", lambda x: np.exp(np.tanh(x).reshape(3, 2, 4))),
    "of an output": ("R.reshape(R.exp(x), (4, m, n))", lambda x: np.exp(x).reshape(4, 3, 2)),
    "two of one value": (
        "R.matmul(R.reshape(R.tanh(x), (m, n * 4)), R.reshape(x, (n * 4, m)))",
        lambda x: np.tanh(x).reshape(3, 8) @ x.reshape(8, 3),
    ),
}


@pytest.mark.nightly
@pytest.mark.few(2)
@pytest.mark.parametrize("case", CASES)
def test_reshapes(case):
    text, expected = CASES[case]
    graph = parse(
        '@R.function\ndef main(x: R.Tensor(("n", "m", 4), "float32")):\n'
        f"    n = T.int64()\n    m = T.int64()\n    gv = {text}\n    return gv\n"
    )["main"]
    model = build(graph)
    np.testing.assert_allclose(model(X), expected(X), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.graph.interpret(X)[0][0], expected(X), rtol=1e-4, atol=1e-5)
