"""The scheduled program of a record: names of the program it is built for, refusal of what does not fit."""

from __future__ import annotations

import json
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
from tir_mlir.dialect.diagnostics import NotChecked, TuneError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.script.module import IRModule
from tir_mlir.script.structural_equal import canonical
from tir_mlir.tune.records import recorded_program as module
from tir_mlir.tune.records.comparison import ScheduleDiffers
from tir_mlir.tune.records.program_names import under_names
from tir_mlir.tune.records.record import decode, encode, subject
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


def recorded(program, sch=None, **changes):
    """A record of a schedule, by default that of the library."""
    if sch is None:
        sch = Schedule(program)
        schedules.auto(sch)
    return subject(program).record(space="library", decisions={}, **{"trace": sch.trace.as_json(), **changes})


@pytest.fixture(autouse=True)
def nothing_remembered(tmp_path, monkeypatch):
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "cache"))


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
    sch = Schedule(scale())
    sch.annotate(sch.get_loops("scale")[0], "prefetch", "B")
    made = IRModule(recorded_program(recorded(scale(), sch), scale("twice", "x", "y").mlir))
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
    record = recorded(product("m", 16, "k"), sch)
    script = IRModule(recorded_program(record, product("rows", 16, "k").mlir)).script()
    assert "rows <= 3" in script or "rows < 4" in script


@pytest.mark.few(1)
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
    record = recorded(program(), sch)
    module = IRModule.from_mlir(re.sub(rf'tir.name = "([{names}])"', r'tir.name = "\1_given"', sch_source(program)))
    made = recorded_program(record, module.mlir)
    assert canonical(made, names=False) == canonical(sch.mod.mlir, names=False)
    assert all(f'tir.name = "{name}_given"' in str(made) for name in names)


def sch_source(program) -> str:
    return Schedule(program()).mod.text()


def test_a_buffer_of_the_record_makes_way_for_a_parameter():
    sch = Schedule(scale())
    sch.cache_read("scale", 0, "local")
    record = recorded(scale(), sch)
    script = IRModule(recorded_program(record, scale(a="A_local").mlir)).script()
    assert "def f(A_local: T.Buffer" in script and "A_local_1 = T.alloc_buffer" in script


def test_shape_variables_are_renamed():
    sch = Schedule(product("m", 16, "k"))
    i, j, _ = sch.get_loops("C")
    sch.parallel(sch.split(i, [None, 4])[0])
    sch.vectorize(j)
    record = recorded(product("m", 16, "k"), sch)
    lib = build(recorded_program(record, product("rows", 16, "depth").mlir))
    assert str(lib).count("rows") == 2 and str(lib).count("depth") == 2
    rng = np.random.default_rng(0)
    a, b, c = rng.random((5, 7), np.float32), rng.random((7, 16), np.float32), np.empty((5, 16), np.float32)
    lib.main(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "the names of 0 functions, the program has 1"),
        ([["f", ["A"], [], []]], "not those of a program like f"),
        ([["f", ["A", 3], [], ["i", "j", "scale", ["vi", "vj"]]]], "not those of a program like f"),
        ([["f", ["A", "B\0"], [], ["i", "j", "scale", ["vi", "vj"]]]], "not those of a program like f"),
        ([["f", ["A", "A"], [], ["i", "j", "scale", ["vi", "vj"]]]], "two of the names that it has are the same"),
    ],
)
def test_names_of_no_such_program_are_refused(names, message):
    with enter_context(), pytest.raises(TuneError, match=message):
        under_names(scale().mlir, names)


@pytest.mark.parametrize("trace", [[], [1], [[["Split"]], []], [[["Nobody", [], [], []]], []], {"a": []}])
def test_a_trace_that_is_none_is_refused(trace):
    with pytest.raises(TuneError, match="its trace does not fit the program"):
        recorded_program(recorded(scale(), trace=trace), scale().mlir)


def test_each_step_is_proved_again():
    sch = Schedule(matmul(16, 16, 16))
    sch.vectorize(sch.get_loops("C")[1])
    trace = json.loads(json.dumps(sch.trace.as_json()).replace("Vectorize", "Parallel"))
    assert recorded_program(recorded(matmul(16, 16, 16), trace=trace), matmul(16, 16, 16).mlir) is not None
    (step,) = [number for number, (name, *_) in enumerate(trace[0]) if name == "Parallel"]
    loops = next(outputs for name, _, _, outputs in trace[0] if name == "GetLoops")
    trace[0][step][1] = [loops[2]]
    with pytest.raises(TuneError, match=r"does not fit the program: .*loop k cannot be parallel"):
        recorded_program(recorded(matmul(16, 16, 16), trace=trace), matmul(16, 16, 16).mlir)


def test_what_a_record_says_of_itself_is_not_believed(monkeypatch):
    def differs(schedule):
        raise ScheduleDiffers("C[0, 0] is -16.0 instead of 16.0")

    monkeypatch.setattr(module, "verify_schedule", differs)
    with pytest.raises(TuneError, match=r"computes something else than the program: C.0, 0. is -16.0"):
        recorded_program(recorded(scale(), verified="at its own sizes"), scale().mlir)


def test_a_record_is_compared_once_on_a_machine(monkeypatch):
    asked = []
    compare = module.verify_schedule
    monkeypatch.setattr(module, "verify_schedule", lambda sch: asked.append(1) or compare(sch))
    first = str(recorded_program(recorded(scale()), scale().mlir))
    assert str(recorded_program(recorded(scale(), seconds=(1.0,)), scale().mlir)) == first and asked == [1]
    recorded_program(recorded(scale()), scale("other").mlir)
    recorded_program(recorded(scale(), Schedule(scale())), scale().mlir)
    assert asked == [1, 1, 1]


def test_what_cannot_be_compared_has_to_be_proved(monkeypatch):
    def unknown(schedule):
        raise NotChecked("an op without exact semantics")

    monkeypatch.setattr(module, "verify_schedule", unknown)
    assert recorded_program(recorded(scale()), scale().mlir) is not None
    sch = Schedule(scale())
    sch.cache_read("scale", 0, "local")
    sch.unsafe_set_dtype("A_local", 0, "float16")
    with pytest.raises(TuneError, match=r"cannot be compared .* and is not proved: unsafe_set_dtype"):
        recorded_program(recorded(scale(), sch), scale().mlir)


COPIES = """
@T.prim_func
def main(a: T.handle, c: T.handle, n: T.int64, m: T.int64):
    A = T.match_buffer(a, (m * n,), "float32")
    C = T.match_buffer(c, (m * n,), "float32")
    B = T.alloc_buffer((m * n,), "float32")
    for i in range(m * n):
        with T.block("B"):
            vi = T.axis.spatial(m * n, i)
            B[vi] = A[vi]
    for i in range(m * n):
        with T.block("C"):
            vi = T.axis.spatial(m * n, i)
            C[vi] = B[vi]
"""


def test_what_a_step_asserts_is_not_proved():
    program = parse(COPIES)
    sch = Schedule(program)
    sch.transform_layout("B", "B", "lambda i: (i // n, i % n)", assume_injective_transform=True)
    _, asserts = module.replay(recorded(program, sch), program.mlir)
    assert asserts.startswith(
        "not proved, the caller asserts it: the map lambda i: (i // n, i % n) takes no two elements"
    )


def test_the_text_of_an_older_record_is_not_read():
    """It is scheduled by its trace, on a program with the names that it had."""
    data = json.loads(encode(recorded(scale())))
    old = {name: value for name, value in data.items() if name != "names"}
    record = decode(json.dumps({**old, "format": 1, "text": "module {" * 50_000}))
    assert record.names == [] and str(recorded_program(record, scale().mlir))


def test_code_in_an_annotation_is_refused():
    sch = Schedule(scale())
    sch.annotate(sch.get_loops("scale")[0], "pragma_import_llvm", "define void @f() { ret void }")
    record = recorded(scale(), sch)
    with pytest.raises(TuneError, match=r"it brings code of its own \(pragma_import_llvm\)"):
        recorded_program(record, scale().mlir)
    assert recorded_program(record, sch.mod.mlir) is not None  # the program has it, too


def test_a_parameter_in_another_layout_is_refused():
    sch = Schedule(matmul(16, 16, 16))
    sch.transform_layout("C", ("read", 0), IndexMap.from_func(lambda i, j: (j, i)))
    for program in (matmul(16, 16, 16), matmul(16, 8, 16)):  # of the first, the type is the same
        with pytest.raises(TuneError, match="it has another layout of parameter A"):
            recorded_program(recorded(program, sch), program.mlir)
