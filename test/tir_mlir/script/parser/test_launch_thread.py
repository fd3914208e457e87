"""T.launch_thread: a thread-bound loop around the rest of a body, or around the body of a `with`."""

import pytest
from harness import scripts

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script.structural_equal import difference

AB = "A: T.Buffer((16,)), B: T.Buffer((16,))"
LOOPS = """
for bx in T.thread_binding(4, "blockIdx.x"):
    for tx in T.thread_binding(4, "threadIdx.x"):
        with T.block("B"):
            vi = T.axis.spatial(16, bx * 4 + tx)
            B[vi] = A[vi]
"""
STATEMENTS = """
bx = T.launch_thread("blockIdx.x", 4)
tx = T.launch_thread("threadIdx.x", 4)
with T.block("B"):
    vi = T.axis.spatial(16, bx * 4 + tx)
    B[vi] = A[vi]
"""
WITH = """
with T.launch_thread("blockIdx.x", 4) as bx:
    with T.launch_thread("threadIdx.x", 4) as tx:
        with T.block("B"):
            vi = T.axis.spatial(16, bx * 4 + tx)
            B[vi] = A[vi]
"""


@pytest.mark.parametrize("text", [STATEMENTS, WITH])
def test_it_is_a_thread_bound_loop(text):
    assert difference(scripts.function(text, AB).mlir, scripts.function(LOOPS, AB).mlir) is None


def test_an_unknown_thread_axis():
    with pytest.raises(ScriptError, match=r"'warpIdx.x' is not a thread axis"):
        scripts.function(STATEMENTS.replace("blockIdx.x", "warpIdx.x"), AB)


def test_a_with_needs_a_name():
    with pytest.raises(ScriptError, match="name the loop"):
        scripts.function(WITH.replace(" as bx", ""), AB)


def test_an_extent_is_needed():
    with pytest.raises(ScriptError, match="missing a required argument: 'extent'"):
        scripts.function(STATEMENTS.replace(", 4)\ntx", ")\ntx"), AB)
