"""What a step left alone is found by a few ops, wherever ops were erased, replaced or inserted."""

from __future__ import annotations

import pytest
from mlir import ir

from tir_mlir.dialect.incremental.contents import Run, kept_runs, read_function
from tir_mlir.dialect.ir import enter_context, funcs

ENTRY = {"a": '"memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> {tir.name = "%s"} : () -> memref<4xf32>'}
CONSTANT = "arith.constant 1.0 : f32"


def body(names: str) -> ir.Module:
    """A function with an allocation for each letter, and a constant, which has no name, for each dot."""
    made = [CONSTANT if n == "." else ENTRY["a"] % n for n in names]
    text = "\n".join(f"%v{n} = {op}" for n, op in enumerate(made))
    with enter_context():
        return ir.Module.parse(f"func.func @main() attributes {{tir.id = 0}} {{\n{text}\nreturn\n}}")


def runs(before: str, edited: str, after: str) -> list[Run] | None:
    """The runs between two bodies; `edited`: the letters of `before` that were edited or erased."""
    old, new = body(before), body(after)
    with enter_context():
        contents = read_function(funcs(old)[0])
        assert contents is not None
        return kept_runs(contents, sorted(before.index(n) for n in edited), funcs(new)[0].body)


@pytest.mark.parametrize(
    ("before", "edited", "after", "found"),
    [
        ("abcdef", "", "abcdef", [(0, 0, 7)]),
        ("abcdef", "c", "abXdef", [(0, 0, 2), (3, 3, 4)]),
        ("abcdef", "c", "abdef", [(0, 0, 2), (3, 2, 4)]),
        ("abcdef", "c", "abXYZdef", [(0, 0, 2), (3, 5, 4)]),
        ("abcdef", "cd", "abXef", [(0, 0, 2), (4, 3, 3)]),
        ("abcdef", "a", "Xbcdef", [(1, 1, 6)]),
        ("abcdef", "f", "abcde", [(0, 0, 5), (6, 5, 1)]),
        ("abcdef", "ad", "bXcef", [(1, 0, 1), (2, 2, 1), (4, 3, 3)]),
    ],
)
def test_what_stayed(before, edited, after, found):
    assert runs(before, edited, after) == [Run(*r) for r in found]


@pytest.mark.parametrize("place", range(7))
def test_an_insertion_that_nothing_recorded_is_found(place):
    after = "abcdef"[:place] + "X" + "abcdef"[place:]
    kept = [Run(0, 0, place), Run(place, place + 1, 7 - place)]
    assert runs("abcdef", "", after) == [r for r in kept if r.length]


def test_two_insertions_in_one_run():
    assert runs("abcdefgh", "", "aXbcdefgYYh") == [Run(0, 0, 1), Run(1, 2, 6), Run(7, 10, 2)]


def test_what_is_lost_without_a_record_is_not_clear():
    assert runs("abcdef", "", "abdef") is None


def test_an_op_without_a_name_between_two_that_stayed_is_kept():
    assert runs("a.b.c", "c", "a.b.X") == [Run(0, 0, 3), Run(5, 5, 1)]


def test_an_op_without_a_name_beside_an_insertion_counts_as_changed():
    assert runs("a.bc", "", "aX.bc") == [Run(0, 0, 1), Run(2, 3, 3)]


def test_ops_that_share_a_name_have_no_signature():
    assert runs("aaab", "", "aXaab") == [Run(3, 4, 2)]
