"""Annotations that nothing reads give a warning at their line: in a program's text, and in a step."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleWarning, ScriptWarning
from tir_mlir.script import IRModule
from tir_mlir.script import tir as T
from tir_mlir.script.parser import parse

PROGRAM = """
@T.prim_func
def main(A: T.Buffer((8,), "float32")):
    T.func_attr({{"{func}": True}})
    for i in T.serial(8, annotations={{"{loop}": 1}}):
        with T.block("B"):
            T.block_attr({{"{block}": 1}})
            v = T.axis.spatial(8, i)
            A[v] = A[v] + T.float32(1)
"""
FINE = {"func": "tir.noalias", "loop": "my.loop", "block": "meta_schedule.parallel"}
WRONG = {
    "func": ("tir.noaliases", 4, "tir.noalias"),
    "loop": ("prefetching", 5, "prefetch"),
    "block": ("buffer_align", 7, "buffer_dim_align"),
}


@pytest.mark.filterwarnings("error")
def test_known_keys_and_notes():
    parse(PROGRAM.format(**FINE))


@pytest.mark.parametrize("place", WRONG)
def test_an_unknown_key_in_a_program(place):
    key, line, near = WRONG[place]
    with pytest.warns(
        ScriptWarning, match=f'unknown annotation "{key}" has no effect; did you mean "{near}"'
    ) as caught:
        parse(PROGRAM.format(**{**FINE, place: key}))
    assert [(w.filename, w.lineno) for w in caught] == [("<script>", line)]


@pytest.mark.parametrize("place", WRONG)
def test_an_unknown_key_in_mlir_text(place):
    key, _, near = WRONG[place]
    text = parse(PROGRAM.format(**FINE)).text().replace(FINE[place], key)
    with pytest.warns(ScriptWarning, match=f'"{key}" has no effect; did you mean "{near}"') as caught:
        IRModule.from_mlir(text)
    (warned,) = caught
    assert warned.filename == "<mlir>" and 0 < warned.lineno <= text.count("\n")


def test_a_function_of_a_file_is_named():
    with pytest.warns(ScriptWarning, match='did you mean "prefetch"') as caught:

        @T.prim_func
        def main(A: T.Buffer((8,), "float32")):
            for i in T.serial(8, annotations={"prefetchs": "A"}):
                with T.block("B"):
                    v = T.axis.spatial(8, i)
                    A[v] = A[v] + T.float32(1)

    (warned,) = caught
    assert "prefetchs" in Path(warned.filename).read_text().splitlines()[warned.lineno - 1]


@pytest.fixture
def sch() -> Schedule:
    return Schedule(parse(PROGRAM.format(**FINE)))


def test_an_unknown_key_in_a_step(sch):
    with pytest.warns(ScheduleWarning, match='"prefecth" has no effect; did you mean "prefetch"') as caught:
        sch.annotate(sch.get_loops("B")[0], "prefecth", "A")
    assert caught[0].filename == __file__ and sch.get(sch.get_loops("B")[0]).annotations["prefecth"] == "A"


def test_a_key_in_the_wrong_place(sch):
    with pytest.warns(ScheduleWarning, match='"prefetch" is an annotation of a loop; on a block it has no effect'):
        sch.annotate("B", "prefetch", "A")


@pytest.mark.filterwarnings("error")
def test_known_keys_in_a_step(sch):
    loop = sch.get_loops("B")[0]
    for key in ("prefetch", "meta_schedule.vectorize", "software_pipeline_stage", "my_tool.width"):
        sch.annotate(loop, key, 1)
    sch.annotate("B", "auto_copy", True)


def test_a_question_and_a_replay_do_not_warn():
    symbolic = (
        PROGRAM.format(**FINE).replace("(8,)", "(n,)").replace("(8", "(n").replace("A: T.B", "n: T.int32, A: T.B")
    )
    sch = Schedule(parse(symbolic))
    loop = sch.get_loops("B")[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sch.explain("annotate", loop, "prefecth", 1)
    with pytest.warns(ScheduleWarning):
        sch.annotate(loop, "prefecth", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sch.verify()
