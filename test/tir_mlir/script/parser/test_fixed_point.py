"""T.q_multiply_shift: fixed-point products."""

import numpy as np
import pytest

from tir_mlir import Schedule, build, interpret
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import parse

PROGRAM = """
@T.prim_func
def main(X: T.Buffer((64,), "int32"), Y: T.Buffer((64,), "int32"), Z: T.Buffer((64,), "int32")):
    for i in range(64):
        with T.block("Z"):
            vi = T.axis.spatial(64, i)
            Z[vi] = T.q_multiply_shift(X[vi], {y}, {q}, {s})
"""


@pytest.mark.parametrize(("q", "s"), [(31, 0), (31, -3), (31, 2), (15, -31), (1, 0)])
def test_a_product_is_rounded_half_up(q: int, s: int) -> None:
    mod = parse(PROGRAM.format(y="Y[vi]", q=q, s=s))
    assert parse(mod.script()).equal(mod)
    random = np.random.default_rng(0)
    x, y = (random.integers(-(2**k), 2**k, 64, "int32") for k in (15, 14))
    right = q + max(-s, 0)
    wanted = (((x.astype("int64") << max(s, 0)) * y + (1 << (right - 1))) >> right).astype("int32")
    sch = Schedule(mod)
    sch.vectorize(sch.get_loops(sch.get_block("Z"))[0])
    for run in (build(mod), build(sch), lambda *a: interpret(mod, *a)):
        z = np.zeros(64, "int32")
        run(x, y, z)
        np.testing.assert_array_equal(z, wanted)


@pytest.mark.parametrize(
    ("y", "q", "s", "message"),
    [
        ("Y[vi]", 0, 0, "has a constant q of 1 to 31"),
        ("Y[vi]", 31, "vi", "has a constant q of 1 to 31 and a constant s"),
        ("1.5", 31, 0, "multiplies int32 values, not float32"),
    ],
)
def test_what_is_refused(y: str, q: int, s: object, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        parse(PROGRAM.format(y=y, q=q, s=s))
