"""`if` in a graph: both branches are computed, and the condition chooses."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.graph.graph import Graph
from tir_mlir.script import parse


def main(one: str = "y = R.exp(x)", other: str = "y = R.negative(x)", test: str = "c", dtype: str = "float32") -> str:
    lines = [f"        {line}" for line in one.split("; ")]
    others = [f"        {line}" for line in other.split("; ")]
    tail = ["    else:", *others] if other else []
    return "\n".join(
        [
            "@R.function",
            f'def main(x: R.Tensor((3,), "{dtype}"), c: R.Tensor((), "bool")):',
            f"    if {test}:",
            *lines,
            *tail,
            "    z = R.add(y, x)",
            "    return z",
        ]
    )


def test_both_branches_run():
    graph = Graph(parse(main("a = R.exp(x); y = R.multiply(a, a)")))
    lib, x = build(graph), np.array([0, 1, 2], "float32")
    for c, wanted in ((True, np.exp(x) ** 2 + x), (False, np.zeros(3))):
        np.testing.assert_allclose(lib(x, np.array(c)), wanted, rtol=1e-6)
        np.testing.assert_allclose(graph.interpret(x, np.array(c))[0][0], wanted, rtol=1e-6)


def test_one_inside_another():
    lines = ["y = R.exp(x)", "if c:", "    a = R.sin(x)", "else:", "    a = R.cos(x)", "y = R.add(a, a)"]
    inner = "\n        ".join(lines)
    assert build(parse(main(inner))["main"])(np.zeros(3, "float32"), np.array(True)).tolist() == [0, 0, 0]


def test_it_prints_as_a_choice():
    module = parse(main())
    assert "R.where(c, " in module.script()
    assert parse(module.script()).equal(module)


def test_several_values():
    text = main("y = R.split(x, 3)", "y = R.split(R.negative(x), 3)").replace("R.add(y, x)", "R.add(y[0], y[2])")
    assert build(parse(text)["main"])(np.array([1, 2, 3], "float32"), np.array(False)).tolist() == [-4]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (main(test="x"), r'a condition is R.Tensor\(\(\), "bool"\), not R.Tensor\(\(3,\)'),
        (main(other=""), "has an `else`"),
        (main("x = R.exp(x); y = R.sin(x)"), "x is bound again in a branch, which hands on y only; fix: rename it"),
        (main(other="w = R.exp(x)"), "end by binding one name, not y and w"),
        (main(other="y = R.concat((x, x))"), r"values of one type, not R.Tensor\(\(3,\).*\(6,\)"),
        (main(other="return x"), "the last line of a branch"),
        (main('y = R.call_dps_packed("f", (x,), R.Tensor((3,), "float32"))'), "may have an effect"),
        (main("y = R.floor_divide(x, x)", dtype="int32"), "divides integers, perhaps by 0"),
    ],
)
def test_what_is_refused(text, why):
    with pytest.raises(ScriptError, match=why):
        parse(text)


def test_names_of_a_branch_are_its_own():
    with pytest.raises(ScriptError, match="NameError: name 'a'"):
        parse(main("a = R.exp(x); y = R.multiply(a, a)").replace("R.add(y, x)", "R.add(y, a)"))
