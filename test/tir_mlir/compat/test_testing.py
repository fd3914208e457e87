"""Tests and traces in TVM's own way: `tvm.testing`, and steps written down by hand."""

import json

import pytest

FILE = """
import tir_mlir.compat  # noqa: I001
import pytest
import tvm
import tvm.testing
from tvm import tir
from tvm.script import tir as T

named = tvm.testing.parameter(by_dict={"handle": False, "name": True})
a, b = tvm.testing.parameters((1, 10), (2, 20))


def test_rows(a, b, named):
    assert b == 10 * a


class TestInClass:
    p = tvm.testing.parameter(5, 6)
    q, r = tvm.testing.parameters((1, 2), (3, 4))

    @tvm.testing.fixture
    def twice(self, p):
        return 2 * p

    def test_all(self, p, q, r, twice):
        assert twice == 2 * p and r == q + 1


@tvm.testing.fixture(cache_return_value=True)
def kept():
    return 3


@tvm.testing.requires_llvm
def test_kept(kept):
    assert kept == 3


@tvm.testing.requires_gpu
def test_gpu():
    raise AssertionError


class TestSplit(tvm.testing.CompareBeforeAfter):
    factor = tvm.testing.parameter(4)

    @pytest.fixture
    def transform(self, factor):
        def split(mod):
            sch = tir.Schedule(mod)
            sch.split(sch.get_loops("B")[0], [None, factor])
            return sch.mod

        return split

    def before(B: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = 1.0

    def expected(B: T.Buffer((16,), "float32")):
        for i, j in T.grid(4, 4):
            with T.block("B"):
                vi = T.axis.spatial(16, i * 4 + j)
                B[vi] = 1.0


class TestRefused(tvm.testing.CompareBeforeAfter):
    before = TestSplit.before
    expected = tir.ScheduleError

    def transform(self):
        return lambda mod: tir.Schedule(mod).split(tir.Schedule(mod), [0])


class TestWrong(TestSplit):
    factor = tvm.testing.parameter(2)
"""


@pytest.mark.nightly
def test_tests_written_for_tvm(tmp_path, tvm):
    import subprocess
    import sys

    path = tmp_path / "test_written.py"
    path.write_text(FILE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)], capture_output=True, text=True
    )
    assert "2 failed, 10 passed, 1 skipped" in done.stdout, done.stdout
    assert "the programs differ" in done.stdout and "has wrong type" in done.stdout


def test_parameters_need_values(tvm):
    for call in (tvm.testing.parameter, tvm.testing.parameters, lambda: tvm.testing.parameters((1, 2), (3,))):
        with pytest.raises(tvm.TVMError, match=r"tvm\.testing\.parameter"):
            call()


def program():
    from tir_mlir.script import parse

    return parse(
        """
@T.prim_func
def main(A: T.Buffer((64,), "float32")):
    for i in range(64):
        with T.block("A"):
            vi = T.axis.spatial(64, i)
            A[vi] = 1.0
"""
    )


def test_a_trace_written_down_by_hand(tvm):
    from tvm.tir.schedule import (  # type: ignore[import-not-found]
        BlockRV,
        ExprRV,
        Instruction,
        InstructionKind,
        LoopRV,
        Trace,
    )

    block, loop, outer, inner = BlockRV(), LoopRV(), LoopRV(), LoopRV()
    first, second = ExprRV(), ExprRV()
    sample = Instruction(InstructionKind.get("SamplePerfectTile"), [loop], [2, 16], [first, second])
    steps = [
        Instruction(InstructionKind.get("GetBlock"), [], ["A", "main"], [block]),
        Instruction(kind=InstructionKind.get("GetLoops"), inputs=[block], attrs=[], outputs=[loop]),
        sample,
        Instruction(InstructionKind.get("Split"), [loop, first, second], [True], [outer, inner]),
        Instruction(InstructionKind.get("Vectorize"), [inner], [], []),
        Instruction(InstructionKind.get("Annotate"), [outer, "value"], ["key"], []),
    ]
    trace = Trace(steps, {sample: [16, 4]})
    sch = tvm.tir.Schedule(program())
    trace.apply_to_schedule(sch, remove_postproc=False)
    again = tvm.tir.Schedule(program())
    Trace.from_json(json.loads(json.dumps(trace.as_json()))).apply_to_schedule(again)
    for made in (sch, again):
        outer_info, inner_info = (made.get(lp) for lp in made.get_loops("A"))
        assert (outer_info.extent, inner_info.extent, inner_info.kind) == (16, 4, "vectorized")
        assert outer_info.annotations == {"key": "value"}
    assert str(steps[0]) == '_ = sch.get_block(name="A", func_name="main")'
    assert str(steps[4]) == "sch.vectorize(loop=_)"
    assert isinstance(sch.get_block("A"), BlockRV) and not isinstance(sch.get_block("A"), LoopRV)
    assert all(isinstance(step, Instruction) for step in sch.trace.insts)
    assert InstructionKind.get("GetSBlock") is InstructionKind.get("GetBlock")
    assert InstructionKind.get("GetLoops").is_pure and not InstructionKind.get("Split").is_pure


def test_integers_of_a_trace_may_be_variables(tvm):
    """TVM has no constructor for the results of sampling steps: they are variables, and expressions of those."""
    from tvm.tir.schedule import BlockRV, Instruction, InstructionKind, LoopRV, Trace  # type: ignore[import-not-found]

    block, loop, size = BlockRV(), LoopRV(), tvm.tir.Var("v0", "int32")
    sample = Instruction(InstructionKind.get("SampleCategorical"), [], [[2, 4], [0.5, 0.5]], [size])
    steps = [
        Instruction(InstructionKind.get("GetBlock"), [], ["A", "main"], [block]),
        Instruction(InstructionKind.get("GetLoops"), [block], [], [loop]),
        sample,
        Instruction(InstructionKind.get("Split"), [loop, None, size * 4], [True, False], [LoopRV(), LoopRV()]),
    ]
    trace, sch = Trace(steps, {sample: 1}), tvm.tir.Schedule(program())
    assert trace.as_json()[0][3] == ["Split", ["l1", None, "v2 * 4"], [True, False], ["l3", "l4"]]
    trace.apply_to_schedule(sch)
    assert [sch.get(lp).extent for lp in sch.get_loops("A")] == [4, 16]
    with pytest.raises(ValueError, match=r"T.exp\(v0\) in a trace: a formula consists of sampled integers"):
        Instruction(InstructionKind.get("Split"), [loop, None, tvm.te.exp(size)], [True, False], [LoopRV(), LoopRV()])


def test_steps_that_do_not_fit(tvm):
    from tvm.tir.schedule import BlockRV, Instruction, InstructionKind, LoopRV  # type: ignore[import-not-found]

    with pytest.raises(ValueError, match="unknown instruction kind 'Nothing'"):
        InstructionKind.get("Nothing")
    with pytest.raises(ValueError, match=r"step GetLoops: it has 0 inputs, expected 1 \(block\)"):
        Instruction(InstructionKind.get("GetLoops"), [], [], [LoopRV()])
    with pytest.raises(ValueError, match='"loop" has wrong type'):
        Instruction(InstructionKind.get("Parallel"), [BlockRV()], [], [])
    with pytest.raises(ValueError, match=r"it has 0 attrs, expected 1 \(thread_axis\)"):
        Instruction(InstructionKind.get("Bind"), [LoopRV()], [], [])


def test_older_traces_lack_attributes(tvm):
    steps = [
        ["GetBlock", [], ["A", "main"], ["b0"]],
        ["GetLoops", ["b0"], [], ["l1"]],
        ["Split", ["l1", None, 16], [1], ["l2", "l3"]],
    ]
    sch = tvm.tir.Schedule(program())
    tvm.tir.schedule.Trace.apply_json_to_schedule([steps, []], sch)
    assert [sch.get(lp).extent for lp in sch.get_loops("A")] == [4, 16]


def test_there_is_no_tree_besides_the_module(tvm):
    sch = tvm.tir.Schedule(program())
    with pytest.raises(AttributeError, match=r"Schedule\.get_sref: .*sch\.get\(handle\)"):
        sch.get_sref(sch.get_block("A"))
    with pytest.raises(AttributeError, match=r"Schedule\.state: .*sch\.get\(handle\)"):
        _ = sch.state
    assert not hasattr(sch, "state")
