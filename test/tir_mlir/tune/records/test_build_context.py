"""`with Database(path): build(program)`."""

import contextvars
import json
import threading
import warnings

import numpy as np
import pytest
from programs.matmul import matmul
from programs.parsed import parse
from programs.short import each, main, under

from tir_mlir import Schedule, TensorIntrin, build, schedules
from tir_mlir.dialect.diagnostics import ScheduleWarning, TuneWarning
from tir_mlir.script.module import IRModule
from tir_mlir.target import ZEN4
from tir_mlir.tune import Database
from tir_mlir.tune.records.record import subject

SCALE = """
@T.prim_func
def {function}({a}: T.Buffer((3, 48), "float32"), {b}: T.Buffer((3, 48), "float32")):
    for i, j in T.grid(3, 48):
        with T.block("scale"):
            vi, vj = T.axis.remap("SS", [i, j])
            {b}[vi, vj] = {a}[vi, vj] * T.float32({factor})
"""

SCAN = main(
    "X:40 Y:40", each("scan i:40O", under("if vi == 0:", "Y[vi] = X[vi]"), under("else:", "Y[vi] = Y[vi - 1] + X[vi]"))
)


def scale(function="f", a="A", b="B", factor=2.0):
    return parse(SCALE.format(function=function, a=a, b=b, factor=factor))


def split(width, program=None):
    sch = Schedule(program or scale())
    sch.split(sch.get_loops("scale")[1], [None, width])
    return sch


def add(db, width, seconds=0.001, program=None, target=None, **changes):
    program = program or scale()
    found = {"space": "mine", "decisions": {"width": width}, "trace": split(width, program).trace.as_json()}
    db.add(subject(program, target).record(**(found | {"seconds": (seconds,)} | changes)))


@pytest.fixture
def db(tmp_path):
    found = Database(tmp_path / "tuned")
    add(found, 4)
    return found


def width(lib):
    return next((n for n in (2, 4, 8) if f"0 to {n} {{" in lib.mlir), None)


def test_the_best_record_is_built(db):
    add(db, 2, 0.002)
    with db:
        assert width(build(scale())) == 4
    add(db, 8, 0.0005)
    with db:
        assert width(build(scale())) == 8


def test_the_library_says_where_its_schedule_came_from(db):
    with db:
        lib, other = build(scale()), build(matmul(8, 16, 32))
    assert lib.schedule_origin.startswith("record ") and lib.schedule_origin.endswith(f"in {db.path}")
    assert "1 ms" in lib.schedule_origin and other.schedule_origin == "schedules.auto (C: gemm)"
    assert build(scale()).schedule_origin == "as given"


def test_results_by_the_names_of_the_user(db):
    x, y = np.random.default_rng(0).random((3, 48), np.float32), np.empty((3, 48), np.float32)
    with db:
        lib = build(scale("twice", "x", "y"))
    assert width(lib) == 4 and lib.functions == ["twice"]
    lib.twice(y=y, x=x)
    np.testing.assert_array_equal(y, 2 * x)


def test_without_a_record_the_library_schedules(db):
    sch = Schedule(matmul(8, 16, 32))
    schedules.auto(sch)
    with db:
        assert build(matmul(8, 16, 32)).mlir == sch.mod.text()


def test_warnings_of_the_library_are_given(db):
    with db, pytest.warns(ScheduleWarning, match='schedules.auto leaves block "scan" as it is'):
        assert build(parse(SCAN)).schedule_origin == "schedules.auto (scan: as given)"


@pytest.mark.parametrize("kind", ["schedule", "module"])
def test_what_is_scheduled_is_built_as_it_is(db, kind):
    sch = split(8)
    with db:
        lib = build(sch if kind == "schedule" else sch.mod)
    assert width(lib) == 8 and lib.schedule_origin == "as given"


def test_a_schedule_without_steps_is_built_as_it_is(db):
    with db:
        assert build(Schedule(scale())).schedule_origin == "as given"


def test_outside_of_the_context_nothing_is_changed(db):
    with db:
        pass
    assert width(build(scale())) is None


def test_the_context_ends_with_an_error(db):
    with pytest.raises(KeyError), db:
        raise KeyError
    assert width(build(scale())) is None


def test_the_inner_database_is_asked_first(db, tmp_path):
    inner = Database(tmp_path / "inner")
    add(inner, 8, 0.1)
    with db, inner:
        assert width(build(scale())) == 8
    with inner, db:
        assert width(build(scale())) == 4


def test_the_outer_database_is_asked_next(db, tmp_path):
    inner = Database(tmp_path / "inner")
    add(inner, 8, program=scale(factor=3.0))
    with db:
        with inner:
            assert width(build(scale())) == 4
        assert width(build(scale(factor=3.0))) is None


def test_one_database_nests_in_itself(db):
    with db:
        with db:
            pass
        assert width(build(scale())) == 4
    assert width(build(scale())) is None


def test_other_threads_build_as_given(db):
    found = []
    with db:
        thread = threading.Thread(target=lambda: found.append(build(scale()).schedule_origin))
        thread.start()
        thread.join()
        inside = threading.Thread(
            target=contextvars.copy_context().run, args=(lambda: found.append(width(build(scale()))),)
        )
        inside.start()
        inside.join()
    assert found == ["as given", 4]


def test_records_of_another_target_are_not_built(tmp_path):
    db = Database(tmp_path)
    add(db, 4, target=ZEN4)
    add(db, 8, target="neon")
    with db:
        lib = build(scale())
        assert width(build(scale(), "neon")) == 8
    assert width(lib) is None
    told = "its 2 records failed, or are of another target, number of threads or version"
    assert lib.schedule_origin == f"schedules.auto (scale: elementwise); {told}"


def test_records_with_another_number_of_threads(tmp_path):
    db = Database(tmp_path)
    db.add(subject(scale(), threads=99).record(space="", decisions={}, trace=split(4).trace.as_json(), seconds=(1.0,)))
    with db:
        assert width(build(scale())) is None
    with Database(tmp_path, threads=99):
        assert width(build(scale())) == 4


def test_a_record_that_does_not_fit_is_named_and_passed_over(db):
    trace = json.loads(json.dumps(split(8).trace.as_json()).replace("scale", "other"))
    add(db, 8, 1e-5, trace=trace)
    with db, pytest.warns(TuneWarning, match="record .* is passed over: its trace does not fit the program: .*other"):
        assert width(build(scale())) == 4


def test_a_failed_candidate_is_not_built(db):
    add(db, 8, 1e-5, status="wrong", reason="1 of 144 elements differ")
    with db:
        assert width(build(scale())) == 4


def test_each_function_of_a_module_has_its_record(db):
    module = IRModule({"twice": scale()["f"], "thrice": scale(factor=3.0)["f"]})
    with db:
        lib = build(module)
    x, y = np.random.default_rng(0).random((3, 48), np.float32), np.empty((3, 48), np.float32)
    for name, factor in (("twice", 2), ("thrice", 3)):
        lib[name](A=x, B=y)
        np.testing.assert_array_equal(y, np.float32(factor) * x)
    assert lib.schedule_origin.startswith("twice: record ") and "; thrice: schedules.auto" in lib.schedule_origin


def test_a_module_has_a_record_of_its_own(db):
    module = IRModule({"f": scale()["f"], "g": scale(factor=3.0)["f"]})
    sch = Schedule(module)
    sch.work_on("g")
    sch.split(sch.get_loops(sch.get_block("scale", "g"))[1], [None, 8])
    db.add(subject(module).record(space="", decisions={}, trace=sch.trace.as_json(), seconds=(1.0,)))
    with db:
        assert width(build(IRModule({"a": scale()["f"], "b": scale(factor=3.0)["f"]}))) == 8


def test_intrinsics_are_checked_as_they_are(db):
    """The library's schedule of a description would be built instead of it."""
    name = "dot_in_a_context"
    desc = parse(SCALE.format(function="desc", a="A", b="B", factor=2.0))["desc"]
    with warnings.catch_warnings(), db:
        warnings.simplefilter("error")
        TensorIntrin.register(name, desc, desc)
        assert TensorIntrin.check(name)


def test_a_database_without_records_is_told(tmp_path):
    with pytest.warns(TuneWarning, match="nowhere has no records: programs get the library's schedules"):
        with Database(tmp_path / "nowhere"):
            pass
