"""What is in a block with iters uses these, and no loop variable of outside."""

from __future__ import annotations

import pytest
from harness.nests import nest
from programs.parsed import parse

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import VerifyError
from tir_mlir.dialect.ir import module_of
from tir_mlir.dialect.verify import verify
from tir_mlir.errors import ScriptError

BUFFERS = "A: T.Buffer((8,)), C: T.Buffer((8,))"
COPY = 'for i in range(8):\n    with T.block("C"):\n        vi = T.axis.spatial(8, i)\n        C[vi] = A[vi]'
NESTED = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("outer"):
            vi = T.axis.spatial(8, i)
            for j in range(1):
                with T.block("C"):
                    vj = T.axis.spatial({binding})
                    C[vi] = A[vi + vj]
"""


def test_an_access_at_a_loop_variable_is_refused():
    with nest(BUFFERS, COPY) as n:
        load = accesses(n.func.op)[0].op
        load.operands[1] = n.loops["i"].var
        with pytest.raises(VerifyError, match='block "C" uses the loop variable i of a loop around it'):
            verify(module_of(n.func.op))


def test_a_binding_of_a_block_inside_is_refused():
    with pytest.raises(ScriptError, match='block "outer" uses the loop variable i of a loop around it'):
        parse(NESTED.format(binding="8, i"))


def test_a_block_inside_uses_loops_and_iters_of_the_block_around_it():
    assert 'T.block("C")' in parse(NESTED.format(binding="1, j")).script()
