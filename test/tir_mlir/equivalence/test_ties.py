"""Which of several greatest elements an argmax returns is not specified: no difference, but a note."""

from __future__ import annotations

import pytest
from harness import scripts

from tir_mlir import Schedule
from tir_mlir.equivalence.compare import equivalent

ARGMAX = """
for i, k in T.grid(4, 16):
    with T.block("am"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            I[vi] = T.int32(-1)
            V[vi] = T.min_value("float32")
        I_new: T.int32 = T.Select({better}, I[vi], vk)
        V_new: T.float32 = T.Select(V[vi] >= A[vi, vk], V[vi], A[vi, vk])
        I[vi] = I_new
        V[vi] = V_new
"""
PARAMS = "A: T.Buffer((4, 16)), I: T.Buffer((4,), 'int32'), V: T.Buffer((4,))"
PLAIN = "V[vi] >= A[vi, vk]"
BY_POSITION = "V[vi] > A[vi, vk] or (V[vi] == A[vi, vk] and I[vi] <= vk)"


CHOOSE = ("T.Select", "T.if_then_else")


def _factored(better: str, inner: bool = True, choose: str = "T.Select") -> Schedule:
    sch = Schedule(scripts.function(ARGMAX.format(better=better).replace("T.Select", choose), PARAMS))
    loops = sch.split(sch.get_loops("am")[1], [4, 4])
    sch.rfactor(loops[inner], 0)
    return sch


@pytest.mark.parametrize("choose", CHOOSE)
def test_another_position_of_the_maximum_is_a_note(choose: str) -> None:
    result = _factored(PLAIN, choose=choose).verify()
    assert result
    assert result.notes == [
        "I differs where elements are equal: which one an argmax or argmin returns is not specified; "
        "compared on distinct data"
    ]


@pytest.mark.parametrize(("better", "inner"), [(PLAIN, False), (BY_POSITION, True)])
def test_no_note_where_positions_are_the_same(better: str, inner: bool) -> None:
    result = _factored(better, inner).verify()
    assert result and not result.notes


@pytest.mark.parametrize("choose", CHOOSE)
@pytest.mark.parametrize(("old", "new"), [("I[vi], vk)", "I[vi], vk + 1)"), ("V[vi], A[vi, vk])", "A[vi, vk], V[vi])")])
def test_a_wrong_argmax_is_a_difference(old: str, new: str, choose: str) -> None:
    text = ARGMAX.format(better=PLAIN).replace("T.Select", choose)
    assert text.count(old) == 1
    assert not equivalent(*(scripts.function(t, PARAMS) for t in (text, text.replace(old, new))))
