"""Files in a database that somebody else wrote: what they bring is neither run nor believed nor waited for."""

from __future__ import annotations

import json
import os
import time

import numpy as np
import pytest
from programs.matmul import matmul

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import TuneError, TuneWarning
from tir_mlir.tune import Database
from tir_mlir.tune.records.record import subject
from tir_mlir.tune.search.study_settings import program_of


@pytest.fixture
def db(tmp_path, monkeypatch):
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "cache"))
    return Database(tmp_path / "tuned")


def add(db, **changes):
    program = matmul(16, 16, 16)
    found = {"trace": Schedule(program).trace.as_json(), "seconds": (1e-9,), "verified": "at its own sizes"}
    db.add(subject(program).record(space="x", decisions={}, **(found | changes)))
    return next(db.path.rglob("*.json"))


def product(db):
    """The largest difference of a product that is built with a database."""
    with db:
        lib = build(matmul(16, 16, 16))
    a, b, c = np.ones((16, 16), "f4"), np.ones((16, 16), "f4"), np.zeros((16, 16), "f4")
    lib.main(a, b, c)
    return np.abs(c - 16).max()


@pytest.mark.parametrize(
    "text",
    [
        'module { func.func @main() { llvm.inline_asm has_side_effects "ud2", "" : () -> () return } }',
        str(Schedule(matmul(16, 16, 16)).mod.mlir).replace("arith.addf", "arith.subf"),
        "module {" * 50_000,
    ],
)
def test_text_of_an_older_record_is_not_compiled(db, text):
    path = add(db)
    data = json.loads(path.read_text()) | {"format": 1, "text": text}
    del data["names"]
    path.write_text(json.dumps(data))
    assert product(db) == 0


def test_an_annotation_brings_no_code(db):
    sch = Schedule(matmul(16, 16, 16))
    sch.annotate(sch.get_loops("C")[0], "pragma_import_llvm", "define void @f() { ret void }")
    add(db, trace=sch.trace.as_json())
    with pytest.warns(TuneWarning, match="passed over: it brings code of its own"):
        assert product(db) == 0


def test_a_pipe_is_not_waited_for(db):
    path = add(db)
    path.unlink()
    os.mkfifo(path)
    with pytest.warns(TuneWarning, match="passed over: .*not a regular file"):
        assert product(db) == 0


@pytest.mark.parametrize("target", ["/dev/zero", "record.json"])
def test_a_link_is_not_followed(db, tmp_path, target):
    path = add(db)
    path.rename(tmp_path / "record.json")
    path.symlink_to(tmp_path / target)
    with pytest.warns(TuneWarning, match="this record is passed over"):
        assert product(db) == 0


def test_a_huge_file_is_not_read(db):
    path = add(db)
    with path.open("r+b") as file:
        file.truncate(1 << 40)
    start = time.process_time()
    with pytest.warns(TuneWarning, match="it is larger than"):
        assert product(db) == 0
    assert time.process_time() - start < 60


@pytest.mark.parametrize("trace", ["[" * 100_000, '[[["Split", ["l0"], [], []]], []]', "[[[]], []]", "[[], [[0, 1]]]"])
def test_a_trace_that_is_none_is_passed_over(db, trace):
    path = add(db)
    text = json.dumps({**json.loads(path.read_text()), "trace": "TRACE"}).replace('"TRACE"', trace)
    path.write_text(text)
    with pytest.warns(TuneWarning, match="passed over"):
        assert product(db) == 0


def test_a_worker_takes_no_assembly_from_a_study():
    text = str(Schedule(matmul(16, 16, 16)).mod.mlir)
    assert program_of(text + "\n")
    asm = 'llvm.inline_asm has_side_effects "ud2", "" : () -> ()\n affine.for'
    with pytest.raises(TuneError, match=r"it brings code of its own \(llvm.inline_asm\); fix: register an intrinsic"):
        program_of(text.replace("affine.for", asm, 1))


def test_a_worker_calls_no_function_of_the_system_for_a_study():
    text = str(Schedule(matmul(16, 16, 16)).mod.mlir)
    foreign = text.replace("func.func @", "func.func private @system(memref<4xi8>)\n  func.func @", 1)
    assert foreign != text
    with pytest.raises(TuneError, match="it calls 'system', which is not a registered kernel; fix: register"):
        program_of(foreign)
