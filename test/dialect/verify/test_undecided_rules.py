"""Where data, or a binding that is not affine, decides what runs, a rule that may be broken is not provable: no
counterexample is shown that may never happen."""

from __future__ import annotations

import pytest
from harness import scripts

from tir_mlir.dialect.diagnostics import ScriptError

PARAMS = "A: T.Buffer((16,)), B: T.Buffer((16,)), I: T.Buffer((16,), 'int32'), n: T.int32"
QUOTIENT = """
for i in range(8):
    with T.block("b"):
        vi = T.axis.opaque(16, i // (n + 1))
        B[vi] = A[vi + {shift}] + T.float32(1)
"""
GUARDED = """
for i in range(16):
    if I[i] > {least}:
        with T.block("b"):
            vi = T.axis.opaque(16, i + {shift})
            B[vi] = A[vi]
"""


def _refusal(body: str) -> str:
    with pytest.raises(ScriptError) as caught:
        scripts.function(body, PARAMS)
    return str(caught.value)


def test_an_iter_with_a_computed_binding_may_not_reach_all_of_its_domain() -> None:
    message = _refusal(QUOTIENT.format(shift=8))
    assert "it is not provable that A is never read at index 16 in dimension 0" in message
    assert "the binding of iter vi, which is not affine, decides what runs" in message
    assert "i = " not in message


def test_what_is_inside_for_all_of_the_domain_is_accepted() -> None:
    scripts.function(QUOTIENT.format(shift=8).replace("opaque(16", "opaque(8"), PARAMS)


def test_a_condition_on_data_may_not_hold_where_a_binding_leaves_the_domain() -> None:
    message = _refusal(GUARDED.format(least=3, shift=1))
    assert "it is not provable that iter vi of block" in message and "a condition on data decides" in message


def test_without_a_condition_the_counterexample_is_shown() -> None:
    message = _refusal(GUARDED.format(least=3, shift=1).replace("if I[i] > 3", "if i < 16"))
    assert "it is bound to 16 at n = 0, i = 15" in message


BACKWARDS = """
for i in range(16):
    B[i] = A[i]
for i, k in T.grid(16, 4):
    if {condition}:
        with T.block("sum"):
            vi, vk = T.axis.spatial(16, i), T.axis.reduce(4, {binding})
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi]
"""


def test_data_may_leave_out_the_updates_before_an_init() -> None:
    message = _refusal(BACKWARDS.format(condition="I[i] > 3", binding="3 - k"))
    assert 'it is not provable that the init of block "sum" runs before all updates of the same element' in message
    assert "a condition on data decides what runs" in message and "k = " not in message


def test_without_data_two_iterations_are_shown() -> None:
    message = _refusal(BACKWARDS.format(condition="i < 8", binding="3 - k"))
    assert 'block "sum": at i = 0, k = 3 its init would run after the update at i = 0, k = 0' in message


def test_data_that_leaves_the_order_of_the_updates_is_accepted() -> None:
    scripts.function(BACKWARDS.format(condition="I[i] > 3", binding="k"), PARAMS)
