"""`R.match_cast` names the sizes of values, and refuses what is not so."""

from __future__ import annotations

import pytest

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import parse


def main(line: str, x: str = '("n", 4)', rest: str = "gv = R.exp(x1)") -> str:
    return f"""
@R.function
def main(x: R.Tensor({x}, "float32")):
    n = T.int64()
    m = T.int64()
    x1 = {line}
    {rest}
    return gv
"""


def result(text: str) -> str:
    return str(parse(text)["main"].body.body.struct_info)


def test_a_name_is_given_to_a_size():
    text = main('R.match_cast(R.concat((x, x)), R.Tensor((m, 4), "float32"))', rest="gv = R.reshape(x1, (m * 4,))")
    assert result(text) == 'R.Tensor((n * 2 * 4,), dtype="float32")'


def test_a_number_that_is_known():
    assert result(main('R.match_cast(x, R.Tensor((3, m), "float32"))', "(3, 4)")) == 'R.Tensor((3, 4), dtype="float32")'


def test_only_the_rank():
    assert result(main('R.match_cast(x, R.Tensor(ndim=2, dtype="float32"))')) == 'R.Tensor((n, 4), dtype="float32")'


def test_a_shape():
    text = main("R.match_cast(R.shape_of(x), R.Shape((m, 4)))", rest="gv = R.reshape(x, (4, m))")
    assert result(text) == 'R.Tensor((4, n), dtype="float32")'


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('R.match_cast(x, R.Tensor((m, 5), "float32"))', r"the value is R.Tensor\(\(n, 4\).*not R.Tensor\(\(m, 5\)"),
        ('R.match_cast(x, R.Tensor((m, 4), "float16"))', "not R.Tensor"),
        ('R.match_cast(x, R.Tensor((8, 4), "float32"))', "n is not shown to be 8; fix: give the sizes"),
        ('R.match_cast(x, R.Tensor((m, m), "float32"))', "4 is not shown to be n"),
        ('R.match_cast(R.concat((x, x)), R.Tensor((n, 4), "float32"))', r"n \* 2 is not shown to be n"),
        ('R.add(R.match_cast(x, R.Tensor((m, 4), "float32")), x)', "an operand is a value"),
    ],
)
def test_what_is_not_so_is_refused(line, why):
    with pytest.raises(ScriptError, match=why):
        parse(main(line))
