"""Traces made by hand: what is not a step, no handle of its type or no decision is refused, and nothing is silent."""

import pytest
from programs.matmul import matmul_add

from tir_mlir import Schedule
from tir_mlir.compat.trace import BlockRV, ExprRV, Instruction, LoopRV
from tir_mlir.schedule import Instruction as Step
from tir_mlir.schedule import Trace
from tir_mlir.schedule.trace.instruction import InstructionKind
from tir_mlir.te import var

BLOCK, LOOPS, SIZES = BlockRV(), [LoopRV(), LoopRV(), LoopRV()], [ExprRV(), ExprRV()]


def step(kind, inputs, attrs, outputs):
    return Instruction(InstructionKind.get(kind), inputs, attrs, outputs)


GET, GET_LOOPS = step("GetBlock", [], ["C", "main"], [BLOCK]), step("GetLoops", [BLOCK], [], LOOPS)
SAMPLE = step("SamplePerfectTile", LOOPS[:1], [2, 16], SIZES)

REFUSED = {
    "an invented result": (
        lambda: step("GetLoops", [BLOCK], [], ["l"]),
        "GetLoops: its output 0 is 'l'; fix: the handle of a loop",
    ),
    "another result": (
        lambda: step("GetBlock", [], ["C", "main"], [LOOPS[0]]),
        "its output 0 is Loop .*the handle of a block",
    ),
    "one result twice": (
        lambda: step("GetLoops", [BLOCK], [], LOOPS[:1] * 2),
        "its output 1 is that of an earlier one",
    ),
    "too few results": (lambda: step("GetBlock", [], ["C", "main"], []), "it has 0 outputs, expected 1"),
    "no list": (lambda: step("GetLoops", BLOCK, [], LOOPS), "GetLoops: its inputs are Block .*; fix: a list"),
    "no kind": (lambda: Instruction("GetBlock", [], ["C", "main"], [BLOCK]), "the kind of a step is 'GetBlock'"),
    "a kind of no name": (lambda: InstructionKind.get(5), "unknown instruction kind 5"),
    "no steps": (lambda: Trace(None), "a trace is made of a list of steps"),
    "one step": (lambda: Trace(GET), "a trace is made of a list of steps"),
    "a step that is none": (lambda: Trace([GET, 1]), "step 2 of the trace is 1; fix: an Instruction"),
    "an unknown step": (lambda: Trace([Step("twist", {}, ())]), "step 1 of the trace, 'twist': unknown primitive"),
    "unknown arguments": (lambda: Trace([Step("get_loops", {"b": 1}, ())]), "has the arguments b, which are not all"),
    "a result of a step": (
        lambda: Trace([Step("get_loops", {"block": BLOCK}, (var("n"),))]),
        "'get_loops': it returns n; fix: the handle",
    ),
    "decisions in a list": (lambda: Trace([GET], [1]), "a dictionary of decisions by step"),
    "a decision of a lookup": (lambda: Trace([GET], {GET: 3}), "get_block is not a sampling step"),
    "an appended decision": (lambda: Trace([]).append(GET, 3), "get_block is not a sampling step"),
    "a decision of no step": (
        lambda: Trace([GET], {SAMPLE: [2, 8]}),
        "sample_perfect_tile.*, which is not a step of the trace",
    ),
    "another decision of no step": (lambda: Trace([GET]).with_decision("x", 1), "'x' is not a sampling step"),
    "a block of no step": (
        lambda: Trace([GET_LOOPS]).as_json(),
        "step 1 of the trace, get_loops, uses a block that no",
    ),
    "an integer of no step": (
        lambda: Trace(
            [GET, GET_LOOPS, step("Split", [LOOPS[0], SIZES[0] * 4, None], [True, False], [LoopRV(), LoopRV()])]
        ).as_json(),
        "step 3 of the trace, split, uses an integer that no earlier step returned",
    ),
    "a module": (
        lambda: Trace([GET]).apply_to_schedule(matmul_add(8)),
        "is replayed on a schedule, not on .*; fix: Schedule",
    ),
    "no function": (
        lambda: Trace([GET]).apply_to_schedule(Schedule(matmul_add(8)), decision_provider=3),
        "decision_provider is 3",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_trace_is_refused(case):
    make, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        make()


def test_a_refused_step_is_not_appended():
    trace = Trace([GET])
    refused = ((5, None, "step 2 of the trace is 5"), (GET_LOOPS, 3, "get_loops is not a sampling step"))
    for wrong, decision, message in refused:
        with pytest.raises(ValueError, match=message):
            trace.append(wrong, decision)
    assert trace.insts == [GET] and trace.get_decision("x") is None
