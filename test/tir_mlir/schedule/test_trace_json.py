"""Traces as JSON: TVM's layout, both spellings, all value types, malformed traces."""

from __future__ import annotations

import copy
import json
import math
import random

import pytest
from programs.elementwise import scale
from programs.matmul import matmul_add

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import TirError, TraceError
from tir_mlir.schedule import Trace
from tir_mlir.testing import verify_trace_roundtrip


def scheduled() -> Schedule:
    """One step of many a layout."""
    sch = Schedule(matmul_add(32), seed=3)
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, sch.sample_perfect_tile(i, 2, decision=[8, 4]))
    j_0, j_1 = sch.split(j, [None, 8], preserve_unit_iters=False)
    sch.reorder(i_0, j_0, i_1, j_1, k)
    f = sch.fuse(i_0, j_0)
    v = sch.sample_categorical([1, 2], [0.25, 0.75], decision=1)
    sch.annotate(f, "my.pragma", {"a": [v, "b0", True, 1.5]})
    sch.unannotate(f, "my.pragma")
    sch.annotate("C", "my.text", 'say "b0"\n')
    sch.cache_read("C", 0, "shared", consumer_blocks=["C"])
    sch.cache_write("D", sch.sample_categorical([0], [1], decision=0), "local")
    sch.compute_at("C", sch.sample_compute_location("C", decision=-1))
    sch.bind(f, "blockIdx.x")
    sch.enter_postproc()
    sch.decompose_reduction("C", k)
    return sch


def test_the_layout():
    steps, decisions = scheduled().trace.as_json()
    assert steps[0] == ["GetSBlock", [], ["C", "main"], ["b0"]]
    assert steps[2] == ["SamplePerfectTile", ["l1"], [2, 16], ["v4", "v5"]]
    assert steps[3] == ["Split", ["l1", "v4", "v5"], [True, False], ["l6", "l7"]]
    assert steps[4] == ["Split", ["l2", None, 8], [False, False], ["l8", "l9"]]
    assert steps[5] == ["Reorder", ["l6", "l8", "l7", "l9", "l3"], [], []]
    assert steps[8] == ["Annotate", ["l10", {"a": ["v11", '"b0"', True, 1.5]}], ["my.pragma"], []]
    by_kind = {s[0]: s for s in steps}
    assert by_kind["CacheRead"][1:3] == [["b13", ["b14"]], [0, "shared"]]
    assert by_kind["CacheWrite"][2][0] == {"rv": "v16"}
    assert by_kind["EnterPostproc"] == ["EnterPostproc", [], [], []]
    assert decisions[:2] == [[2, [8, 4]], [7, 1]]


def test_it_comes_back():
    sch = scheduled()
    verify_trace_roundtrip(sch, matmul_add(32))
    for form in (sch.trace.as_json(), json.dumps(sch.trace.as_json()), json.dumps(sch.trace.as_json()).encode()):
        again = Trace.from_json(form)
        assert again.as_json() == sch.trace.as_json() and str(again) == str(sch.trace)


def test_both_spellings():
    text = json.dumps(scheduled().trace.as_json())
    old = Schedule(matmul_add(32))
    Trace.apply_json_to_schedule(text.replace("GetSBlock", "GetBlock").replace("true", "1").replace("false", "0"), old)
    assert old.mod.equal(scheduled().mod)


@pytest.mark.parametrize("value", [0, -3, 1.0, 0.1, True, "b0", '"', "é\n\\", [], {}, [[{"k": [False]}]], math.inf])
def test_values_keep_their_type(value):
    sch = Schedule(matmul_add(8))
    sch.annotate("C", "my.key", value)
    new = verify_trace_roundtrip(sch, matmul_add(8))
    found = new.get(new.get_block("C")).annotations
    assert repr(found) == repr({"my.key": value})


def test_index_maps_are_their_text():
    sch = Schedule(matmul_add(32))
    sch.transform_layout("C", ("read", 0), lambda i, j: (i // 16, j, i % 16))
    sch.reindex_cache_read("C", 1, "shared", lambda i, j, k: (j, k))
    verify_trace_roundtrip(sch, matmul_add(32))
    assert "index_map=lambda i, j: (i // 16, j, i % 16)," in str(sch.trace)
    steps = sch.trace.as_json()
    assert steps[0][1][:2] == ["TransformLayout", ["b0", '"lambda i, j: (i // 16, j, i % 16)"']]
    again = Trace.from_json(json.dumps(steps))
    assert str(again) == str(sch.trace) and again.as_json() == steps
    for text in ("lambda i, j: __import__('os')", "lambda i, j:", "3", "lambda i, j: (i, **q)"):
        steps[0][1][1][1] = json.dumps(text)
        with pytest.raises(TraceError, match="step 2 of the trace, TransformLayout: index_map is not an index map"):
            Trace.from_json(steps)


BLOCK = ["GetSBlock", [], ["C", "main"], ["b0"]]
LOOPS = ["GetLoops", ["b0"], [], ["l1", "l2", "l3"]]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "a list of two lists"),
        ({}, "a list of two lists"),
        ([[]], "a list of two lists"),
        ([[], [], []], "a list of two lists"),
        ([{}, []], "a list of two lists"),
        ("{", "is not valid JSON"),
        (b"\xff\xfe\x00", "is not valid JSON"),
        ("[" * 100000, "nested too deeply|is not valid JSON"),
        ([["GetSBlock"], []], r"step 1 of the trace: expected \[kind, inputs, attrs, outputs\]"),
        ([[[1, [], [], []]], []], "a string and three lists"),
        ([[["GetSBlock", [], [], "b0"]], []], "a string and three lists"),
        ([[["Nothing", [], [], []]], []], "unknown instruction kind 'Nothing'"),
        ([[["GetSBlock", [], ["C"], ["b0"]]], []], r"it has 1 attrs, expected 2 \(name, func_name\)"),
        ([[["GetSBlock", ["C"], ["C", "main"], ["b0"]]], []], "'C' is not a result of an earlier step"),
        ([[["GetSBlock", ['"C"'], ["C", "main"], ["b0"]]], []], "it has 1 inputs, expected 0"),
        ([[["GetSBlock", [], [3, "main"], ["b0"]]], []], '"name" has wrong type. Expected "str", but gets: "int"'),
        ([[["GetSBlock", [], ["C", "main"], []]], []], "it has 0 outputs, expected 1"),
        ([[["GetSBlock", [], ["C", "main"], ["l0"]]], []], "invalid output name 'l0', expected bN"),
        ([[["GetSBlock", [], ["C", "main"], ["b00"]]], []], "invalid output name 'b00'"),
        ([[["GetSBlock", [], ["C", "main"], [0]]], []], "invalid output name 0"),
        ([[["GetSBlock", [], ["C", "main"], ["_"]]], []], "invalid output name '_'"),
        ([[BLOCK, BLOCK], []], "duplicate output name b0"),
        ([[LOOPS], []], "'b0' is not a result of an earlier step"),
        ([[BLOCK, LOOPS, ["GetLoops", ["l1"], [], ["l4"]]], []], '"block" has wrong type'),
        ([[BLOCK, LOOPS, ["Split", [], [True, False], []]], []], r"0 inputs, expected 1 or more \(loop, \*factors\)"),
        ([[BLOCK, LOOPS, ["Split", ["l1", "8"], [True, False], []]], []], "'8' is not a result"),
        ([[BLOCK, LOOPS, ["Split", ["l1", 8.5], [True, False], []]], []], '"factors" has wrong type'),
        ([[BLOCK, LOOPS, ["Split", ["l1", "b0"], [True, False], []]], []], '"factors" has wrong type'),
        ([[BLOCK, LOOPS, ["Split", ["l1", 8], [2, False], []]], []], '"preserve_unit_iters" has wrong type'),
        ([[BLOCK, ["Annotate", ["b0", '"x'], ["k"], []]], []], "is not a quoted string"),
        ([[BLOCK, ["Annotate", ["b0", '"x" 1'], ["k"], []]], []], "is not a quoted string"),
        ([[BLOCK, ["Annotate", ["b0", {1: 2}], ["k"], []]], []], "the keys of a dictionary must be strings"),
        ([[BLOCK, ["Annotate", ["b0", {1, 2}], ["k"], []]], []], "is not a JSON value"),
        ([[BLOCK, ["Annotate", ["b0", 1], [{"rv": "v9"}], []]], []], "'v9' is not a result"),
        ([[BLOCK, ["Annotate", ["b0", 1], [{"rv": "b0"}], []]], []], '"ann_key" has wrong type'),
        ([[BLOCK], [[0, 1]]], "decision 1 of the trace: step 0 is GetSBlock, which is not a sampling step"),
        ([[BLOCK], [[1, 1]]], "step 1 is out of range: the trace has 1 steps"),
        ([[BLOCK], [[-1, 1]]], "step -1 is out of range"),
        ([[BLOCK], [[True, 1]]], r"expected \[index of the step, decision\]"),
        ([[BLOCK], [0]], r"expected \[index of the step, decision\]"),
        ([[["SampleCategorical", [], [[1], [1.0]], ["v0"]]], [[0, "x"]]], '"decision" has wrong type'),
        ([[["SampleCategorical", [], [[1], [1.0]], ["v0"]]], [[0, 0], [0, 0]]], "step 0 already has a decision"),
    ],
)
def test_malformed_traces(source, message):
    sch = Schedule(matmul_add(32))
    with pytest.raises(TraceError, match=message):
        Trace.from_json(source)
    with pytest.raises(TraceError):
        Trace.apply_json_to_schedule(source, sch)
    assert len(sch.trace) == 0


ODD = [None, True, 0, -1, 7, 10**30, 0.5, "", "b0", "l1", "v4", "_", '"', '"x"', "\ud800", "a\0b", [], [[]], {},
       {"rv": "l1"}, {"rv": 1}, {"": 1}, {"k": "v4"}, "Split", "root", "main"]  # fmt: skip


def mutate(source, rng: random.Random):
    """Change, drop, double or swap one to three values anywhere in a trace."""
    source = copy.deepcopy(source)
    for _ in range(rng.randint(1, 3)):
        spots = []
        todo = [source]
        while todo:
            held = todo.pop()
            keys = range(len(held)) if isinstance(held, list) else list(held)
            spots += [(held, key) for key in keys]
            todo += [held[key] for key in keys if isinstance(held[key], (list, dict))]
        if not spots:
            break
        (held, key), (other, place) = rng.choice(spots), rng.choice(spots)
        match rng.randint(0, 4):
            case 0:
                held[key] = copy.deepcopy(rng.choice(ODD))
            case 1:
                del held[key]
            case 2 if isinstance(held, list):
                held.insert(key, copy.deepcopy(held[key]))
            case 3:
                held[key], other[place] = copy.deepcopy(other[place]), copy.deepcopy(held[key])
            case _ if isinstance(held, list):
                held.append(copy.deepcopy(rng.choice(ODD)))
    return source


@pytest.mark.nightly
def test_mutated_traces_are_refused_whole_or_run():
    rng = random.Random(17)
    good = scheduled().trace.as_json()
    sch = Schedule(matmul_add(32), seed=5, error_render_level="none")
    before = sch.mod.text(), sch.executor.random.state
    ran = refused = 0
    for _ in range(400):
        source = mutate(good, rng)
        target = sch.copy()
        target.seed(5)
        state = target.executor.random.state
        try:
            Trace.apply_json_to_schedule(source, target)
            ran += 1
        except (TirError, ValueError, IndexError, TypeError) as error:
            assert str(error) and "object at 0x" not in str(error)
            assert target.mod.text() == before[0] and len(target.trace) == 0 and target.executor.random.state == state
            refused += 1
    assert ran > 3 and refused > 200 and sch.mod.text() == before[0]


def test_a_padding_that_is_a_map_comes_back_as_one():
    sch = Schedule(scale(6, 4))
    sch.transform_layout("B", ("write", 0), lambda i, j: (i // 4, i % 4, j), pad_value=lambda a, b, c: a * 2 + c)
    again = Trace.from_json(sch.trace.as_json())
    assert "pad_value=lambda a, b, c: a * 2 + c" in str(again)
    assert str(again) == str(sch.trace) and again.as_json() == sch.trace.as_json()
