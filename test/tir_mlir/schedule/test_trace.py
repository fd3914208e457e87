"""The trace: its text, its decisions, replay on the same and on other programs, all or nothing."""

from __future__ import annotations

import pytest
from programs.matmul import matmul_add
from programs.reduction import staged_row_sums
from programs.symbolic import add_one

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError, TraceError
from tir_mlir.schedule import Trace
from tir_mlir.script.module import IRModule
from tir_mlir.testing import verify_trace_roundtrip


def tiled(sch: Schedule, decision=None) -> Schedule:
    """Sampled tiles, a move, an annotation; then post-processing."""
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i_0, i_1 = sch.split(i, sch.sample_perfect_tile(i, 2, decision=decision))
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(i_0, j_0, i_1, j_1, k)
    sch.compute_at("C", sch.sample_compute_location("C", decision=-1))
    sch.annotate(i_0, "my.width", sch.sample_categorical([1, 2], [0.5, 0.5], decision=1))
    sch.get_consumers(block)
    sch.enter_postproc()
    sch.parallel(i_0)
    return sch


def loops(sch: Schedule, block: str = "C") -> list[int | None]:
    return [sch.get(lp).extent for lp in sch.get_loops(block)]


def test_how_it_reads():
    sch = Schedule(matmul_add(32))
    i, j, _ = sch.get_loops("C")
    i_0, i_1 = sch.split(i, sch.sample_perfect_tile(i, 2, decision=[8, 4]))
    sch.reorder(j, i_1)
    sch.fuse(i_0)
    sch.get_child_blocks("root")
    sch.get_consumers("C")
    sch.cache_read("C", 0, "shared", consumer_blocks=["C"])
    sch.enter_postproc()
    assert str(sch.trace).splitlines() == [
        "from tir_mlir import Schedule",
        "def apply_trace(sch: Schedule) -> None:",
        '  b0 = sch.get_block(name="C", func_name="main")',
        "  l1, l2, l3 = sch.get_loops(block=b0)",
        "  v4, v5 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=16, decision=[8, 4])",
        "  l6, l7 = sch.split(loop=l1, factors=[v4, v5], preserve_unit_iters=True, disable_predication=False)",
        "  sch.reorder(l2, l7)",
        "  l8 = sch.fuse(l6, preserve_unit_iters=True)",
        '  b9 = sch.get_block(name="root", func_name="main")',
        "  b10, b11 = sch.get_child_blocks(block_or_loop=b9)",
        '  b12 = sch.get_block(name="C", func_name="main")',
        "  b13, = sch.get_consumers(block=b12)",
        '  b14 = sch.get_block(name="C", func_name="main")',
        '  b15 = sch.get_block(name="C", func_name="main")',
        '  b16 = sch.cache_read(block=b14, read_buffer_index=0, storage_scope="shared", consumer_blocks=[b15])',
        "  sch.enter_postproc()",
    ]
    verify_trace_roundtrip(sch, matmul_add(32))


def test_an_empty_trace_runs():
    sch = Schedule(matmul_add(8))
    scope: dict = {}
    exec(str(sch.trace), scope)
    scope["apply_trace"](sch)
    assert len(sch.trace) == 0 and sch.trace.as_json() == [[], []]


def test_round_trips():
    sch = tiled(Schedule(matmul_add(32), seed=3))
    assert verify_trace_roundtrip(sch, matmul_add(32)).mod.equal(sch.mod)
    with pytest.raises(AssertionError, match="the python form of the trace produces a different program: line"):
        verify_trace_roundtrip(sch, matmul_add(16, 64))
    with pytest.raises(ValueError, match='"python" or "json", not \'yaml\''):
        verify_trace_roundtrip(sch, matmul_add(32), text_format="yaml")


def test_a_trace_is_a_schedule_of_a_copy_too():
    sch = tiled(Schedule(matmul_add(32), seed=3))
    verify_trace_roundtrip(sch.copy(), matmul_add(32))


# --- instructions and decisions ---------------------------------------------------------------------------------------


def test_instructions_read_as_in_tvm():
    trace = tiled(Schedule(matmul_add(32), seed=3), [8, 4]).trace
    kinds = [inst.kind.name for inst in trace.insts]
    assert kinds == [
        "GetSBlock", "GetLoops", "SamplePerfectTile", "Split", "Split", "Reorder", "GetSBlock", "SampleComputeLocation",
        "GetSBlock", "ComputeAt", "SampleCategorical", "Annotate", "GetConsumers", "EnterPostproc", "Parallel",
    ]  # fmt: skip
    assert [trace.get_decision(i) for i in trace.insts if i in trace.decisions] == [[8, 4], -1, 1]
    split = trace.insts[3]
    assert split.inputs == [trace.insts[1].outputs[0], *trace.insts[2].outputs] and split.attrs == [True, False]
    annotate = trace.insts[11]
    assert annotate.inputs == [split.outputs[0], trace.insts[10].outputs[0]] and annotate.attrs == ["my.width"]
    assert trace.insts[2].kind.is_pure and not split.kind.is_pure and not trace.insts[13].kind.is_pure
    assert trace.get_decision(split) is None


def test_append_and_pop():
    sch = tiled(Schedule(matmul_add(32)), [8, 4])
    trace, steps = Trace(), list(sch.trace)
    for inst in steps:
        trace.append(inst, sch.trace.get_decision(inst))
    assert str(trace) == str(sch.trace)
    assert trace.pop() is steps[-1] and len(trace) == len(steps) - 1
    while trace.insts:
        trace.pop()
    assert trace.pop() is None and trace.decisions == {} and len(sch.trace) == len(steps)


def test_another_decision():
    sch = tiled(Schedule(matmul_add(32)), [8, 4])
    inst = sch.trace.insts[2]
    other = Schedule(matmul_add(32))
    sch.trace.with_decision(inst, [4, 8]).apply_to_schedule(other)
    assert loops(other)[0] == 4 and loops(sch)[0] == 8
    assert sch.trace.get_decision(inst) == [8, 4]
    with pytest.raises(ValueError, match="split is not a sampling step"):
        sch.trace.with_decision(sch.trace.insts[3], [4, 8])


def test_a_provider_of_decisions():
    sch = tiled(Schedule(matmul_add(32)), [8, 4])
    seen = []

    def provide(inst, inputs, attrs, decision):
        seen.append((inst.kind.name, len(inputs), attrs, decision))
        return [2, 16] if inst.kind.name == "SamplePerfectTile" else decision

    other = Schedule(matmul_add(32))
    sch.trace.apply_to_schedule(other, remove_postproc=False, decision_provider=provide)
    assert loops(other)[0] == 2
    assert seen == [
        ("SamplePerfectTile", 1, [2, 16], [8, 4]),
        ("SampleComputeLocation", 1, [], -1),
        ("SampleCategorical", 0, [[1, 2], [0.5, 0.5]], 1),
    ]
    anew = set()
    for seed in range(1, 12):
        fresh = Schedule(matmul_add(32), seed=seed)
        sch.trace.apply_to_schedule(
            fresh, False, lambda inst, _inputs, _attrs, made: None if inst.kind.name == "SamplePerfectTile" else made
        )
        anew.add(loops(fresh)[0])
    assert len(anew) > 2


def test_simplified():
    sch = tiled(Schedule(matmul_add(32)), [8, 4])
    kept = [inst.kind.name for inst in sch.trace.simplified(remove_postproc=True).insts]
    assert kept == [
        "GetSBlock", "GetLoops", "SamplePerfectTile", "Split", "Split", "Reorder", "GetSBlock", "SampleComputeLocation",
        "GetSBlock", "ComputeAt", "SampleCategorical", "Annotate",
    ]  # fmt: skip
    assert [i.kind.name for i in sch.trace.simplified(remove_postproc=False).insts] == [
        *kept, "EnterPostproc", "Parallel",
    ]  # fmt: skip
    unused = Schedule(matmul_add(32))
    unused.sample_perfect_tile(unused.get_loops("C")[0], 2)
    assert len(unused.trace.simplified()) == 0


def test_post_processing_is_left_out():
    sch = tiled(Schedule(matmul_add(32)), [8, 4])
    other = Schedule(matmul_add(32))
    sch.trace.apply_to_schedule(other, remove_postproc=True)
    assert other.get(other.get_loops("C")[0]).kind == "serial"
    for text in (sch.trace.as_python(remove_postproc=True), str(sch.trace.as_json(remove_postproc=True))):
        assert "parallel" not in text.lower() and "postproc" not in text.lower()


# --- other programs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "outer"), [(64, 16), (20, 5), (17, 17), (1, 1), (127, 127)])
def test_sampled_tiles_on_another_size(size, outer):
    sch = tiled(Schedule(matmul_add(32)), [8, 4])
    other = Schedule(matmul_add(size))
    sch.trace.apply_to_schedule(other)
    assert loops(other)[0] == outer and loops(other)[0] * loops(other)[2] == size
    verify_trace_roundtrip(other, matmul_add(size))


@pytest.mark.parametrize("size", [1, 15, 16, 17, 127])
def test_a_factor_that_is_inferred_on_another_size(size, same_result):
    sch = Schedule(matmul_add(32))
    sch.split(sch.get_loops("C")[0], [None, 4])
    other = Schedule(matmul_add(size))
    sch.trace.apply_to_schedule(other)
    assert loops(other)[:2] == [-(-size // 4), 4]
    same_result(other, matmul_add(size), ((size, 16), "float32"), ((16, 32), "float32"), ((size, 32), "float32"))


def test_from_a_known_size_to_an_unknown_one_and_back():
    def tile(sch: Schedule) -> Schedule:
        i = sch.get_loops("B")[0]
        sch.split(i, sch.sample_perfect_tile(i, 3))
        return sch

    symbolic = tile(Schedule(add_one(24)))
    fixed = Schedule(matmul_add(24))
    text = str(symbolic.trace).replace('"B"', '"D"')
    scope: dict = {}
    exec(text, scope)
    scope["apply_trace"](fixed)
    assert loops(fixed, "D") == [24, 1, 1, 32]
    back = Schedule(add_one(24))
    exec(str(fixed.trace).replace('"D"', '"B"'), scope)
    scope["apply_trace"](back)
    assert loops(back, "B") == [None, 1, 1, 24]


def test_a_program_of_another_structure():
    sch = Schedule(matmul_add(32))
    sch.get_loops("C")
    sch.get_loops("D")
    other = Schedule(staged_row_sums(8))
    with pytest.raises(ScheduleError, match='Cannot find a block with the name "C" in main'):
        sch.trace.apply_to_schedule(other)
    renamed = Schedule(add_one(24))
    deep = Schedule(matmul_add(32))
    deep.get_loops("C")
    text = deep.trace.as_json()
    text[0][0][1:3] = [[], ["B", "main"]]
    with pytest.raises(TraceError, match="step 2 of the trace, get_loops, returns 2 results but returned 3"):
        Trace.from_json(text).apply_to_schedule(renamed)


# --- all or nothing ---------------------------------------------------------------------------------------------------


def test_a_trace_that_fails_changes_nothing():
    sch = Schedule(matmul_add(32), seed=9)
    i, j, k = sch.get_loops("C")
    sch.split(i, sch.sample_perfect_tile(i, 2))
    sch.parallel(j)
    bad = sch.trace.copy()
    other = Schedule(matmul_add(16), seed=4)
    keep = other.get_loops("D")
    other.parallel(other.get_loops("C")[1])
    state = other.mod.text(), str(other.trace), other.executor.random.state, dict(other.executor._values)
    bad.append(sch.trace.insts[-1])
    sch.trace.insts.insert(1, sch.trace.insts[-1])
    with pytest.raises(TraceError, match="step 2 of the trace, parallel, uses a loop that no earlier step returned"):
        sch.trace.apply_to_schedule(other)
    sch.fuse(k)
    bad.append(sch.trace.insts[-1])
    bad.append(sch.trace.insts[-1])
    with pytest.raises(ValueError, match="the loop behind this handle is gone"):
        bad.apply_to_schedule(other)
    assert state == (other.mod.text(), str(other.trace), other.executor.random.state, dict(other.executor._values))
    assert other.get(keep[0]).extent == 16


def test_a_refused_step_leaves_no_look_up_behind():
    sch = Schedule(matmul_add(32))
    with pytest.raises(ScheduleError):
        sch.compute_inline("D")
    with pytest.raises(ScheduleError):
        sch.cache_read("C", 0, "shared", consumer_blocks=["D", "nothing"])
    assert len(sch.trace) == 0


def test_functions_are_written_down():
    module = IRModule({"first": matmul_add(8)["main"], "second": staged_row_sums(8)["main"]})
    sch = Schedule(module)
    sch.work_on("second")
    assert sch.func_working_on == "second"
    sch.parallel(sch.get_loops("P")[0])
    sch.parallel(sch.get_loops(sch.get_block("D", func_name="first"))[0])
    text = str(sch.trace)
    assert 'func_name="second"' in text and 'func_name="first"' in text and "work_on" not in text
    verify_trace_roundtrip(sch, module)


def test_showing(capsys):
    sch = tiled(Schedule(matmul_add(32)), [8, 4])
    sch.trace.show()
    assert capsys.readouterr().out.strip() == str(sch.trace)


def test_long_texts_are_cut_where_a_trace_is_read():
    sch = Schedule(add_one(8))
    sch.annotate(sch.get_loops("B")[0], "pragma_import_llvm", "define void @f() {\n}\n" * 100)
    assert "<2100 characters, " in str(sch.trace) and len(str(sch.trace)) < 400
    assert sch.trace.as_python().count("define void @f()") == 100
