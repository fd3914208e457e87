"""`breakpoint()` in a block: where the program stops, and what the debugger shows."""

import linecache
import sys

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build, interpret
from tir_mlir.dialect.diagnostics import ArgumentError, ScriptError

TEXT = """
@T.prim_func
def main(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4, 4), "float32")):
    B = T.alloc_buffer((4, 4), "float32")
    for i, j in T.grid(4, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
            C[vi, vj] = B[vi, vj]
"""
STOPPING = TEXT.replace("            B[vi", "            breakpoint()\n            B[vi", 1)


def run(monkeypatch, program, **options):
    """The frames in which a program stops: what each knows, and the line of Python it stands at."""
    seen = []

    def hook():
        frame = sys._getframe(1)
        known = {n: str(v) if not isinstance(v, int) else v for n, v in frame.f_locals.items()}
        seen.append((known, linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    a, c = np.arange(16, dtype=np.float32).reshape(4, 4), np.zeros((4, 4), np.float32)
    interpret(program, a, c, **options)
    np.testing.assert_array_equal(c, 2 * a)
    return seen


def test_it_stops_before_the_body(monkeypatch):
    seen = run(monkeypatch, parse(STOPPING))
    assert len(seen) == 16
    known, line = seen[6]
    assert line == "breakpoint()"
    assert {n: known[n] for n in ("i", "j", "vi", "vj")} == {"i": 1, "j": 2, "vi": 1, "vj": 2}
    assert known["A"].startswith("A: float32 (4, 4)\n[[ 0.0  1.0")
    assert known["B"].splitlines()[2] == " [ 8.0 10.0    ?    ?]"


def test_it_is_an_annotation_that_schedules_keep(monkeypatch):
    sch = Schedule(parse(STOPPING))
    assert 'T.block_attr({"breakpoint": T.bool(True)})' in sch.mod.script()
    _i, j = sch.get_loops("B")
    sch.split(j, [2, 2])
    known, _ = run(monkeypatch, sch)[-1]
    assert {n: known[n] for n in ("i", "j_0", "j_1", "vi", "vj")} == {"i": 3, "j_0": 1, "j_1": 1, "vi": 3, "vj": 3}
    assert sch.verify()
    c = np.zeros((4, 4), np.float32)
    build(sch)(np.ones((4, 4), np.float32), c)
    assert (c == 2).all()
    other = Schedule(parse(TEXT))
    other.annotate(other.get_block("B"), "breakpoint", True)
    assert len(run(monkeypatch, other)) == 16


def test_conditions(monkeypatch):
    assert len(run(monkeypatch, parse(TEXT), breakpoints={"B": lambda vi, vj: vi == 3 and vj > 1})) == 2
    assert len(run(monkeypatch, parse(STOPPING), breakpoints={"B": lambda **iters: iters["vi"] == 3})) == 4
    assert len(run(monkeypatch, parse(TEXT), breakpoints=["B"])) == 16
    assert len(run(monkeypatch, parse(TEXT), breakpoints=["root"])) == 1
    with pytest.raises(ArgumentError, match='no block "D"; there are B, root'):
        run(monkeypatch, parse(TEXT), breakpoints=["D"])


def test_breakpoint_must_be_directly_in_a_block():
    with pytest.raises(ScriptError, match=r"breakpoint\(\) must be directly in a block"):
        parse(TEXT.replace("    for i, j", "    breakpoint()\n    for i, j"))
