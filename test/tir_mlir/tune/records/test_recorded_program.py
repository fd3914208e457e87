"""The scheduled program of a record: names of the program it is built for, refusal of what does not fit."""

from __future__ import annotations

import re

import numpy as np
import pytest
from programs.attention import attention
from programs.convolutions import Conv
from programs.convolutions import program as convolution
from programs.matmul import matmul
from programs.parsed import parse
from programs.products import product

from tir_mlir import IndexMap, Schedule, build, schedules
from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.script.module import IRModule
from tir_mlir.script.structural_equal import canonical
from tir_mlir.tune.records.record import subject
from tir_mlir.tune.records.recorded_program import recorded_program

SCALE = """
@T.prim_func
def {function}({a}: T.Buffer((8, 16), "float32"), {b}: T.Buffer((8, 16), "float32")):
    for i, j in T.grid(8, 16):
        with T.block("scale"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads({a}[vi, 0:16])
            T.writes({b}[vi, vj])
            {b}[vi, vj] = {a}[vi, vj] * T.float32(2)
"""


def scale(function="f", a="A", b="B"):
    return parse(SCALE.format(function=function, a=a, b=b))


def recorded(program, text=None, **changes):
    sch = Schedule(program)
    schedules.auto(sch)
    text = sch.mod.text() if text is None else text(sch.mod.text())
    return subject(program).record(space="library", decisions={}, text=text, **changes)


def test_the_names_are_those_of_the_program():
    made = IRModule(recorded_program(recorded(scale()), scale("twice", "x", "y").mlir))
    script = made.script()
    assert "def twice(x: T.Buffer" in script and "T.reads(x[vi, 0:16])" in script and '"global_symbol"' not in script
    assert made.script() == Schedule(made).mod.script()  # what a schedule reads back


def test_calls_by_keyword_run():
    lib = build(recorded_program(recorded(scale()), scale("twice", "x", "y").mlir))
    x, y = np.random.default_rng(0).random((8, 16), np.float32), np.empty((8, 16), np.float32)
    lib.twice(y=y, x=x)
    np.testing.assert_array_equal(y, 2 * x)


def test_prefetches_name_the_buffers_of_the_program():
    def text(own):
        return own.replace('tir.loop = "i"', 'tir.annotations = {prefetch = "B"}, tir.loop = "i"', 1)

    sch = Schedule(scale())
    row = text(sch.mod.text())
    assert row != sch.mod.text()
    record = subject(scale()).record(space="library", decisions={}, text=row)
    made = IRModule(recorded_program(record, scale("twice", "x", "y").mlir))
    assert 'annotations={"prefetch": "y"}' in made.script()


def test_swapped_names_stay_apart():
    lib = build(recorded_program(recorded(scale(a="A", b="B")), scale(a="B", b="A").mlir))
    x, y = np.random.default_rng(0).random((8, 16), np.float32), np.empty((8, 16), np.float32)
    lib.f(A=y, B=x)
    np.testing.assert_array_equal(y, 2 * x)


def test_versions_for_ranges_of_a_size_are_valid():
    """Each version writes a part of the output, under its condition."""
    sch = Schedule(product("m", 16, "k"))
    sch.version_loop(sch.get_loops("C")[0], [3])
    sch.split(sch.get_loops("C_i0")[0], [None, 3])
    sch.decompose_reduction("C_i0", sch.get_loops("C_i0")[-1])
    record = subject(product("m", 16, "k")).record(space="", decisions={}, text=sch.mod.text())
    script = IRModule(recorded_program(record, product("rows", 16, "k").mlir)).script()
    assert "rows <= 3" in script or "rows < 4" in script


@pytest.mark.parametrize(
    ("program", "names"),
    [
        pytest.param(lambda: attention(2, 16, 32, 8), "QKV", marks=pytest.mark.slow),
        (lambda: convolution(Conv(16, 32, (14, 14), pad=1)), "XW"),
        (lambda: product(64, 64, 64, "int8"), "ABC"),
    ],
)
def test_schedules_of_the_library_under_other_names(program, names):
    sch = Schedule(program())
    schedules.auto(sch)
    record = subject(program()).record(space="library", decisions={}, text=sch.mod.text())
    module = IRModule.from_mlir(re.sub(rf'tir.name = "([{names}])"', r'tir.name = "\1_given"', sch_source(program)))
    made = recorded_program(record, module.mlir)
    assert canonical(made, names=False) == canonical(sch.mod.mlir, names=False)
    assert all(f'tir.name = "{name}_given"' in str(made) for name in names)


def sch_source(program) -> str:
    return Schedule(program()).mod.text()


def test_a_buffer_of_the_record_makes_way_for_a_parameter():
    sch = Schedule(scale())
    sch.cache_read("scale", 0, "local")
    record = subject(scale()).record(space="", decisions={}, text=sch.mod.text())
    script = IRModule(recorded_program(record, scale(a="A_local").mlir)).script()
    assert "def f(A_local: T.Buffer" in script and "A_local_1 = T.alloc_buffer" in script


def test_shape_variables_are_renamed():
    sch = Schedule(product("m", 16, "k"))
    i, j, _ = sch.get_loops("C")
    sch.parallel(sch.split(i, [None, 4])[0])
    sch.vectorize(j)
    record = subject(product("m", 16, "k")).record(space="", decisions={}, text=sch.mod.text())
    lib = build(recorded_program(record, product("rows", 16, "depth").mlir))
    assert str(lib).count("rows") == 2 and str(lib).count("depth") == 2
    rng = np.random.default_rng(0)
    a, b, c = rng.random((5, 7), np.float32), rng.random((7, 16), np.float32), np.empty((5, 16), np.float32)
    lib.main(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lambda t: t.replace("affine.store", "affine.stroe"), "its scheduled program is not valid"),
        (lambda t: t[: len(t) // 2], "its scheduled program is not valid"),
        (lambda t: re.sub(r"= 0 to 8\b", "= 0 to 9", t), "its scheduled program is not valid"),
        (lambda t: "module {}", "it has 0 functions, the program 1"),
        (lambda t: t.replace("memref<8x16xf32>", "memref<8x32xf32>"), "its function f has other parameters than f"),
    ],
)
def test_what_is_no_schedule_of_the_program_is_refused(text, message):
    with pytest.raises(TuneError, match=message):
        recorded_program(recorded(scale(), text), scale().mlir)


def test_a_call_of_foreign_code_is_refused():
    declared = "  func.func private @system(!llvm.ptr)\n}\n"
    record = recorded(scale(), lambda text: text.rstrip().removesuffix("}") + declared)
    with pytest.raises(TuneError, match="it calls 'system', which is no registered kernel; fix: register"):
        recorded_program(record, scale().mlir)


def test_code_in_an_annotation_is_refused():
    sch = Schedule(scale())
    sch.annotate(sch.get_loops("scale")[0], "pragma_import_llvm", "define void @f() { ret void }")
    record = subject(scale()).record(space="", decisions={}, text=sch.mod.text())
    with pytest.raises(TuneError, match=r"it brings code of its own \(pragma_import_llvm\)"):
        recorded_program(record, scale().mlir)
    assert recorded_program(record, sch.mod.mlir) is not None  # the program has it, too


def test_a_parameter_in_another_layout_is_refused():
    sch = Schedule(matmul(16, 16, 16))
    sch.transform_layout("C", ("read", 0), IndexMap.from_func(lambda i, j: (j, i)))
    record = subject(matmul(16, 8, 16)).record(space="", decisions={}, text=sch.mod.text())
    with pytest.raises(TuneError, match="has other parameters"):
        recorded_program(record, matmul(16, 8, 16).mlir)


def test_locations_in_the_text_do_not_matter():
    from tir_mlir.script.module import module_text

    sch = Schedule(scale())
    record = subject(scale()).record(space="", decisions={}, text=module_text(sch.mod.mlir))
    assert IRModule(recorded_program(record, scale("g").mlir)).functions.keys() == {"g"}
