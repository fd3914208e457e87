"""What a step left alone is found by a few ops, wherever ops were erased, replaced or inserted."""

from __future__ import annotations

import pytest
from mlir import ir

from tir_mlir.dialect.incremental.nests import read_function
from tir_mlir.dialect.incremental.versions import tops_after
from tir_mlir.dialect.ir import enter_context, funcs

ALLOC = '"memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> {tir.name = "%s"} : () -> memref<4xf32>'


def body(names: str) -> ir.Module:
    """A function with an allocation for each letter, and a constant for each dot."""
    made = ["arith.constant 1.0 : f32" if n == "." else ALLOC % n for n in names]
    text = "\n".join(f"%v{n} = {op}" for n, op in enumerate(made))
    return ir.Module.parse(f"func.func @main() attributes {{tir.id = 0}} {{\n{text}\nreturn\n}}")


def found(before: str, edited: str, after: str) -> str:
    """The ops of a body made into another; those that are found to be new as X. `edited`: the letters of `before` that
    are edited or erased; capitals of `after` are inserted."""
    with enter_context():
        module, other = body(before), body(after)
        func = funcs(module)[0]
        tops = [op.operation for op in func.body.operations]
        contents = read_function(func, tops, {})
        assert contents is not None
        left = {n: op for n, op in zip(before, tops, strict=False) if n not in edited}
        stayed = [n for n in after if n not in edited and not n.isupper()]
        assert stayed == [n for n in before if n not in edited]
        sources = [op.operation for op in funcs(other)[0].body.operations]
        end = tops[-1]
        for name, source in zip(after, sources, strict=False):
            if name in left:
                left[name].move_before(end)
            else:
                source.clone(ir.InsertionPoint(end))
        gone = [contents.body[before.index(n)] for n in edited]
        for n in edited:
            tops[before.index(n)].erase()
        new_tops, nests, made = tops_after(tops, contents.body, gone, func.body)
        assert [op.operation for op in func.body.operations] == new_tops
        assert [n for n, nest in enumerate(nests) if nest is None] == made
        assert all(nest in contents.body for nest in nests if nest is not None)
        return "".join("X" if n in made else name for n, name in enumerate(after))


@pytest.mark.parametrize(
    ("before", "edited", "after", "expected"),
    [
        ("abcdef", "", "abcdef", "abcdef"),
        ("abcdef", "c", "abXdef", "abXdef"),
        ("abcdef", "c", "abcdef", "abXdef"),
        ("abcdef", "c", "abdef", "abdef"),
        ("abcdef", "c", "abXYZdef", "abXXXdef"),
        ("abcdef", "cd", "abXef", "abXef"),
        ("abcdef", "a", "Xbcdef", "Xbcdef"),
        ("abcdef", "f", "abcde", "abcde"),
        ("abcdef", "ad", "bXcef", "bXcef"),
        ("abcdef", "b", "acdbef", "acdXef"),
        ("ab.cd", "b", "aX.cd", "aX.cd"),
    ],
)
def test_what_is_new(before, edited, after, expected):
    assert found(before, edited, after) == expected


@pytest.mark.parametrize("position", range(7))
def test_an_insertion_that_nothing_recorded_is_found(position):
    after = "abcdef"[:position] + "X" + "abcdef"[position:]
    assert found("abcdef", "", after) == after


def test_two_insertions_in_one_run():
    assert found("abcdefgh", "", "aXbcdefgYZh") == "aXbcdefgXXh"
