"""Programs with the name of a function of C, which the compiled code calls."""

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build

PROGRAM = """
@T.prim_func
def NAME(x: T.handle, y: T.handle):
    T.func_attr({"tir.noalias": True})
    n = T.int32()
    A = T.match_buffer(x, (n, 8), "float64")
    B = T.match_buffer(y, (n, 8), "float64")
    X = T.alloc_buffer((n, 8), "float64")
    for i, j in T.grid(n, 8):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = T.NAME_CALL(A[vi, vj])
    for i, j in T.grid(n, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = X[vi, vj]
"""


@pytest.mark.parametrize(("name", "call"), [("exp", "exp"), ("erf", "erf"), ("malloc", "exp"), ("free", "exp")])
def test_a_program_with_the_name_of_a_c_function(name, call):
    program = parse(PROGRAM.replace("NAME_CALL", call).replace("NAME", name))
    x, y = np.ones((17, 8)), np.zeros((17, 8))
    build(program)[name](x, y)
    np.testing.assert_allclose(y, {"exp": np.e, "erf": 0.8427007929497149}[call], rtol=1e-12)
    sch = Schedule(program)
    sch.vectorize(sch.get_loops(sch.get_block("X"))[1])
    assert sch.verify()
