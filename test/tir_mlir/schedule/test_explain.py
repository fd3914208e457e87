"""can_NAME and explain: legal, illegal with a counterexample, not provable; nothing is touched."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from programs.matmul import matmul
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import Counterexample, Element, Iteration
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.can import LegalityQueries

MATMUL = matmul(8, 8, 8)


prefix = program("A:8x8", each("A i:7O j:7O", "A[vi + 1, vj] = A[vi, vj + 1]"))
sized = program("A:n B:n", each("B i:n", "B[vi] = A[vi] * 2.0"))
mirrored = program("A:8 C:8; B:8", each("B", "B[vi] = A[vi] * 2.0"), each("C", "C[vi] = B[vi] + B[7 - vi]"))


def test_every_primitive_can_be_asked():
    asked = {name for name, p in PRIMITIVES.items() if p.returns is not bool}
    missing = {name for name in asked if not hasattr(LegalityQueries, f"can_{name}")}
    assert missing == set()


REGISTERED_FIRST = """
from tir_mlir.passes.schedule.registry import primitive

@primitive("my_own")
def my_own() -> None:
    pass

from tir_mlir import Schedule
print(hasattr(Schedule, "can_split"), hasattr(Schedule, "can_my_own"))
"""


def test_a_primitive_registered_before_schedule_is_imported():
    done = subprocess.run([sys.executable, "-c", REGISTERED_FIRST], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "False"], done.stderr


def test_legal_shows_the_program_after():
    sch = Schedule(MATMUL)
    i, _, _ = sch.get_loops("C")
    answer = sch.can_split(i, [None, 4])
    assert answer and answer.verdict == "legal" and answer.reason == "" and answer.counterexample is None
    assert str(answer) == "split(loop=i, factors=[None, 4]): legal"
    assert answer.mod is not None and "for i_0, i_1, j, k in T.grid(2, 4, 8, 8)" in answer.mod.script()
    assert "i_0" not in sch.mod.script()


def test_illegal_has_two_iterations_and_the_element():
    sch = Schedule(MATMUL)
    i, j, k = sch.get_loops("C")
    answer = sch.explain("parallel", k)
    assert not answer and answer.verdict == "illegal"
    pair = tuple(Iteration("C", (("i", 0), ("j", 0), ("k", n))) for n in (0, 1))
    assert answer.counterexample == Counterexample(pair, Element("C", (0, 0)))
    assert answer.counterexample.iterations[1].at == {"i": 0, "j": 0, "k": 1}
    assert "  iteration: C(i=0, j=0, k=1)\n  element: C[0, 0]" in str(answer)
    assert "^^^^" in answer.text and "sch.explain(" in answer.text
    assert sch.can_parallel(k) == answer
    assert sch.can_parallel(i) and sch.can_vectorize(j) and sch.can_reorder(k, i, j)


@pytest.mark.parametrize("spelling", ["can", "explain"])
def test_reorder_of_a_dependence(spelling):
    sch = Schedule(prefix)
    with pytest.raises(Exception, match="opaque"):
        sch.reorder(*sch.get_loops("A")[::-1])
    i, _j = sch.get_loops("A")
    answer = sch.can_parallel(i) if spelling == "can" else sch.explain("parallel", i)
    assert str(answer.counterexample) == "A(i=0, j=1) and A(i=1, j=0) touch A[1, 1]"


def test_sizes_at_which_it_is_legal_are_named():
    sch = Schedule(sized)
    (i,) = sch.get_loops("B")
    answer = sch.explain("split", i, [None, 16], disable_predication=True)
    assert answer.verdict == "illegal" and "unless n % 16 == 0" in answer.reason


def test_an_early_read_has_the_element():
    sch = Schedule(mirrored)
    answer = sch.can_reverse_compute_at("C", sch.get_loops("B")[0])
    assert answer.verdict == "illegal" and answer.counterexample is not None
    assert answer.counterexample.element is not None and answer.counterexample.element.buffer == "B"
    assert answer.counterexample.iterations[0].at == {"i": 0}


def test_nothing_is_touched():
    sch = Schedule(MATMUL, seed=7)
    i, j, k = sch.get_loops("C")
    before, trace, state = sch.mod.script(), str(sch.trace), sch.executor.random.state
    assert sch.can_split(i, [None, 4])
    assert not sch.can_parallel(k)
    assert sch.can_sample_perfect_tile(i, 2)
    assert sch.can_fuse(i, j)
    assert not sch.can_get_block("D")
    assert sch.can_decompose_reduction("C", i)
    assert (sch.mod.script(), str(sch.trace), sch.executor.random.state) == (before, trace, state)
    assert len(sch.history) == 2
    sch.fuse(i, j)
    assert sch.explain("fuse", i, j).reason.startswith("the loop behind this handle is gone: step 3, fuse(")


def test_a_wrong_question_is_an_error():
    sch = Schedule(MATMUL)
    with pytest.raises(ValueError, match="unknown primitive 'spilt'; did you mean split"):
        sch.explain("spilt")
    with pytest.raises(TypeError, match="wrong type"):
        sch.can_split("C", [1])


def test_in_a_notebook():
    sch = Schedule(MATMUL)
    shown = sch.can_parallel(sch.get_loops("C")[2])._repr_html_()
    assert shown.startswith("<pre") and "illegal</span>" in shown


def test_generated_methods_and_static_types_are_up_to_date():
    tool = runpy.run_path(str(Path(__file__).resolve().parents[3] / "tools" / "schedule_methods.py"))
    for name, text in tool["FILES"].items():
        assert (tool["FOLDER"] / name).read_text() == text(), "make manual writes it again"
