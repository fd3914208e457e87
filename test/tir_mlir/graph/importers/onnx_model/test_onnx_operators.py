"""Single nodes of ONNX: all cases of the table are imported; results are those of ONNX's own evaluator."""

import pytest

pytest.importorskip("onnx")

from harness.onnx_cases import CASES
from harness.onnx_operators import model, rows, schemas, verdict

import tir_mlir
from tir_mlir.dialect.diagnostics import GraphError


def newest(name):
    """The cases of an operator, in the newest opset in which its definition changed and that takes them."""
    opsets = schemas()[name]
    for case in CASES[name]:
        fitting = [v for v in opsets if case.since <= min((w for w in opsets if w > v), default=10**6) - 1]
        taken = [v for v in fitting if v <= case.until]
        if taken:
            yield case, max(case.since, taken[-1])


@pytest.mark.nightly
def test_every_case_is_imported():
    refused = []
    for name in CASES:
        for case, opset in newest(name):
            try:
                tir_mlir.from_onnx(model(name, case, opset)[0])
            except GraphError as error:
                refused.append(f"{name} {opset}: {error}")
    assert not refused, "\n".join(refused)


def test_products_with_zero_points_are_of_numbers_of_8_bits():
    """Zero points are taken from the sums, so that no operand is widened before."""
    texts = [tir_mlir.from_onnx(model("MatMulInteger", *case)[0]).script() for case in newest("MatMulInteger")]
    assert texts and all('out_dtype="int32"' in text for text in texts)


@pytest.mark.few(6)
@pytest.mark.parametrize("name", sorted(CASES))
def test_results(name):
    verdicts = [(opset, *verdict(name, case, opset)) for case, opset in newest(name)]
    assert not [v for v in verdicts if v[1] not in ("passes", "no reference")]


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(CASES))
def test_results_in_every_opset(name):
    assert not [row for row in rows([name]) if row[3] in ("wrong", "crashed")]
