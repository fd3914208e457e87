"""Random functions of PyTorch: they are built and compared, and a wrong result is told with its text."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fuzzing.kinds import Fault  # noqa: E402
from fuzzing.tape import Tape  # noqa: E402
from fuzzing.torch_graphs import torch_case  # noqa: E402
from fuzzing.torch_graphs.program import Line, Program  # noqa: E402


def test_a_function_is_drawn_built_and_compared():
    assert torch_case.case(Tape("3/torch/1", None, "")).word == "compared"


def test_a_wrong_result_is_told(monkeypatch):
    monkeypatch.setattr(torch_case, "_built", lambda drawn, dynamic: lambda *given: [x + 1 for x in given])
    program = Program(1, False, [Line("neg", "torch.neg({0})", [0])], [1])
    monkeypatch.setattr(torch_case, "_drawn", lambda random: torch_case.Drawn(program, [torch.ones(2)]))
    with pytest.raises(Fault, match=r"(?s)v1 of float32 differs: at \(0,\) it is 2.0, and torch has -1.*torch.neg\(v0"):
        torch_case.case(Tape("3/torch/1", None, ""))


def test_last_bits_are_shaken_where_a_line_is_inexact():
    gelu = Line("gelu", "F.gelu({0})", [0], True, inside=True)
    program = Program(1, True, [gelu, Line("sum", "{0}.sum()", [1], True, True)], [1, 2])
    assert "v2 = shake(shake(v1).sum())" in program.source(shaking=True)
    assert "v2 = v1.sum()" in program.source()
    x = torch.tensor([-4.0] * 100)
    (one, total), *others = (program.evaluate([x], seed) for seed in (None, *range(6)))
    assert max((y - one).abs().max() for y, _ in others) == pytest.approx(4 * 2.0**-23)  # of x, not of 1e-4
    assert max(abs(y - total) for _, y in others) > 50 * 4 * 2.0**-23  # all terms in one direction
