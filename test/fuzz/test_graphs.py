"""Random graphs: they are built and compared, and a wrong result is told with its graph."""

from __future__ import annotations

import numpy as np
import pytest

from fuzzing.graphs import graph_case, operators
from fuzzing.graphs.rounding import differs, rounded
from fuzzing.kinds import Fault
from fuzzing.tape import Tape
from tir_mlir.dialect.diagnostics import GraphError


def tape(number: int) -> Tape:
    return Tape(f"2/graph/{number}", None, "")


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [28, 127, 43])
def test_a_graph(number):
    """No elements beside a named size; a view of two named sizes; a size that is only part of another."""
    record = graph_case.case(tape(number))
    assert record.word == "compared"


def test_a_wrong_result_is_told(monkeypatch):
    monkeypatch.setattr(operators, "ONE", (lambda r, x: operators.Call("negative", [x.number], np.abs),))
    monkeypatch.setattr(graph_case, "ONE", operators.ONE)
    monkeypatch.setattr(graph_case, "TWO", (lambda r, x, y: operators.ONE[0](r, x),))
    with pytest.raises(
        Fault, match=r"(?s)result \d+ of \w+ differs: at .* it is .*, and NumPy has .*\nsizes .*R\.negative"
    ):
        for number in range(5):
            graph_case.case(tape(number))


def test_a_graph_that_is_refused_is_told(monkeypatch):
    """No limit keeps a drawn graph from being built: a refusal is a fault, with the graph."""

    def build(graph, **options):
        raise GraphError("the size m is in expressions only")

    monkeypatch.setattr(graph_case.tir_mlir, "build", build)
    with pytest.raises(Fault, match=r"(?s)GraphError: the size m is in .*\nsizes .*@R\.function"):
        graph_case.case(tape(28))


def test_last_bits_are_no_fault_and_others_are():
    exact = rounded(np.linspace(1, 2, 9), "float16")
    near = rounded(exact * (1 + 2.0**-11), "float16")
    assert not differs(near, exact, [near], "float16").any()
    assert differs(exact * 1.1, exact, [near], "float16").all()


def test_bfloat16_is_rounded_to_nearest_even():
    torch = pytest.importorskip("torch")
    x = np.array([1 + 2**-8, 1 + 3 * 2**-8, -3.3, 0.1, 3.4e38, np.inf, np.nan, 1e-40])
    wanted = torch.from_numpy(x.astype("float32")).to(torch.bfloat16).double().numpy()
    np.testing.assert_array_equal(rounded(x, "bfloat16"), wanted)
