"""Arguments: wrong types are named for every argument of every primitive; names, handles and integers go everywhere."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from programs.matmul import matmul_add

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import Block, Func
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.passes.schedule.queries.decider import Choices
from tir_mlir.schedule import Trace
from tir_mlir.schedule.primitives import Primitives
from tir_mlir.schedule.step_arguments import alternatives, bind_arguments, convert_argument
from tir_mlir.testing import verify_trace_roundtrip

PARAMETERS = [(p.name, k) for p in PRIMITIVES.values() for k in p.signature.parameters]


def parameter(primitive: str, key: str) -> inspect.Parameter:
    return PRIMITIVES[primitive].signature.parameters[key]


def takes_anything(primitive: str, key: str) -> bool:
    annotation = parameter(primitive, key).annotation
    return annotation in (Choices, inspect.Parameter.empty) or any(
        str(a) == "typing.Any" for a in alternatives(annotation)
    )


@pytest.mark.parametrize(("primitive", "key"), [p for p in PARAMETERS if not takes_anything(*p)], ids="-".join)
def test_every_argument_has_its_type(primitive, key):
    wrong = [1j] if parameter(primitive, key).kind is inspect.Parameter.VAR_POSITIONAL else 1j
    with pytest.raises(TypeError) as error:
        convert_argument(PRIMITIVES[primitive], key, wrong)
    message = str(error.value)
    assert message.startswith(f'In "Schedule.{primitive}", "{key}" has wrong type. Expected "')
    assert "complex" in message and "tir_mlir" not in message and "<class" not in message


def wants_a_block(primitive: str, key: str) -> bool:
    parts = alternatives(parameter(primitive, key).annotation)
    return Block in parts and Func not in parts


@pytest.mark.parametrize(("primitive", "key"), [p for p in PARAMETERS if wants_a_block(*p)], ids="-".join)
def test_the_root_is_no_block_with_a_computation(primitive, key):
    sch = Schedule(matmul_add(8))
    with pytest.raises(ScheduleError) as error:
        sch.executor._argument(PRIMITIVES[primitive], key, sch.get_block("root"), sch.executor.version)
    assert error.value.reason == "this is the root block; name a block with a computation"


@pytest.mark.parametrize("primitive", sorted(PRIMITIVES))
def test_wrong_counts(primitive):
    parameters = PRIMITIVES[primitive].signature.parameters.values()
    with pytest.raises(TypeError, match=f'In "Schedule.{primitive}"'):
        bind_arguments(PRIMITIVES[primitive], (), {"nothing": 1})
    needed = [p for p in parameters if p.default is inspect.Parameter.empty and p.annotation is not Choices]
    needed = [p for p in needed if p.kind is not inspect.Parameter.VAR_POSITIONAL]
    if needed:
        with pytest.raises(TypeError, match=f'"{needed[0].name}" is missing'):
            bind_arguments(PRIMITIVES[primitive], (), {})


@pytest.mark.parametrize("primitive", sorted(PRIMITIVES))
def test_methods_and_primitives_have_the_same_parameters(primitive):
    """Else the printed trace would not run."""
    given = PRIMITIVES[primitive].signature.parameters.values()
    primitive_has = {p.name: p.default for p in given if p.annotation is not Choices}
    method = inspect.signature(getattr(Primitives, primitive)).parameters.values()
    variadic = inspect.Parameter.VAR_POSITIONAL  # is printed without its name
    primitive_has = {
        k: d for k, d in primitive_has.items() if PRIMITIVES[primitive].signature.parameters[k].kind != variadic
    }
    more = {"get_block": {"func_name": None}, "blockize": {"target": None, "loop": None}}.get(primitive, {})
    assert {p.name: p.default for p in method if p.name != "self" and p.kind != variadic} == primitive_has | more


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda s, i: s.split(i, [2.0, None]), r'"factors" .* "list\[int or None\]", but gets: "list\[float, None\]"'),
        (lambda s, i: s.split(i, [True, None]), '"factors" has wrong type'),
        (lambda s, i: s.split(i, {4: 2}), 'but gets: "dict"'),
        (lambda s, i: s.split("i", [4, 8]), '"loop" has wrong type. Expected "LoopHandle", but gets: "str"'),
        (lambda s, i: s.split(i, [4, 8], 1), '"preserve_unit_iters" has wrong type. Expected "bool", but gets: "int"'),
        (lambda s, i: s.fuse(i, "j"), '"loops" has wrong type. Expected "LoopHandle", but gets: "str"'),
        (lambda s, i: s.reorder(i, None), '"ordered_loops" has wrong type|"loops" has wrong type'),
        (lambda s, i: s.cache_read(i, 0, "shared"), '"block" .* "BlockHandle or str", but gets: "LoopHandle"'),
        (lambda s, i: s.cache_read("C", 0, 3), '"storage_scope" has wrong type. Expected "str", but gets: "int"'),
        (lambda s, i: s.cache_read("C", 0, "shared", "C"), '"consumer_blocks" has wrong type'),
        (lambda s, i: s.cache_read("C", 0, "shared", [i]), r'gets: "list\[LoopHandle\]"'),
        (lambda s, i: s.compute_at("C", i, False, 1.5), '"index" has wrong type. Expected "int", but gets: "float"'),
        (lambda s, i: s.annotate(None, "k", 1), '"block_or_loop" has wrong type'),
        (lambda s, i: s.bind(i, None), '"thread_axis" has wrong type. Expected "str", but gets: "None"'),
        (lambda s, i: s.get_block("C", 3), '"func_name" has wrong type. Expected "str or None", but gets: "int"'),
        (lambda s, i: s.sample_perfect_tile(i, 2, decision=[1, "x"]), '"decision" has wrong type'),
        (lambda s, i: s.sample_categorical([1], ["x"]), r'"probs" has wrong type. Expected "list\[float\]"'),
        (lambda s, i: s.split(i), "missing 1 required positional argument: 'factors'"),
        (lambda s, i: s.split(i, [4, 8], factor=2), "unexpected keyword argument 'factor'"),
        (lambda s, i: s.get("C"), "Expected a handle, but gets: \"'C'\""),
        (lambda s, i: s.remove_rv(3), "Expected a handle"),
    ],
)
def test_messages(step, message, refused):
    sch = Schedule(matmul_add(32))
    i = sch.get_loops("C")[0]
    refused(sch, message, lambda: step(sch, i), TypeError)


def test_a_block_goes_by_its_name_everywhere():
    sch = Schedule(matmul_add(32))
    i, _ = sch.get_loops("D")
    sch.get_child_blocks("root"), sch.get_producers("D"), sch.get_consumers("C"), sch.get_output_blocks("root")
    sch.annotate("C", "my.key", 1), sch.unannotate("C", "my.key")
    copy = sch.cache_read("D", 0, "shared", consumer_blocks=("D",))
    sch.sample_compute_location("C"), sch.compute_at("C_shared", i), sch.compute_at("C", i)
    assert sch.get(copy).name == "C_shared" and sch.get(sch.get_loops("C")[0]).name == "i"


@pytest.mark.parametrize(
    "factors", [(None, 4), np.array([8, 4]), [np.int64(8), np.int8(4)], range(4, 9, 4), [8, 4]], ids=repr
)
def test_lists_of_integers_of_any_kind(factors):
    sch = Schedule(matmul_add(32))
    sch.split(sch.get_loops("C")[0], factors)
    kept = sch.trace.insts[-1].arguments["factors"]
    assert sum(sch.get(lp).extent for lp in sch.get_loops("C")[:2]) == 12
    assert all(f is None or type(f) is int for f in kept)


# --- handles ----------------------------------------------------------------------------------------------------------


def test_handles_of_others_are_not_known(refused):
    sch, other = Schedule(matmul_add(32)), Schedule(matmul_add(32))
    i, v = other.get_loops("C")[0], other.sample_categorical([4], [1.0])
    refused(sch, "this loop handle belongs to another schedule", lambda: sch.parallel(i), IndexError)
    mine = sch.get_loops("C")[0]
    refused(sch, "this integer handle belongs to another", lambda: sch.split(mine, [None, v]), IndexError)
    refused(sch, "belongs to another schedule", lambda: sch.annotate(mine, "k", [{"a": v}]), IndexError)


def test_removed_handles_are_not_known(refused):
    sch = Schedule(matmul_add(32))
    i = sch.get_loops("C")[0]
    v = sch.sample_categorical([4], [1.0])
    sch.remove_rv(i), sch.remove_rv(v)
    refused(sch, "removed with remove_rv", lambda: sch.parallel(i), IndexError)
    refused(sch, "removed with remove_rv", lambda: sch.get(v), IndexError)
    refused(sch, "removed with remove_rv", lambda: sch.remove_rv(i), IndexError)
    sch.parallel(sch.get_loops("C")[0])  # the loop itself is there


def test_handles_and_copies(refused):
    sch = Schedule(matmul_add(32))
    i = sch.get_loops("C")[0]
    v = sch.sample_categorical([4], [1.0])
    other = sch.copy()
    i_0, _i_1 = other.split(i, [None, v])
    refused(sch, "created by a copy of the schedule", lambda: sch.parallel(i_0), IndexError)
    sch.remove_rv(v)
    assert other.get(v) == 4 and sch.get(i).extent == 32
    with pytest.raises(ValueError, match="the loop behind this handle is gone: step 4, split"):
        other.get(i)


def test_an_integer_is_itself():
    sch = Schedule(matmul_add(32))
    assert sch.get(7) == 7


def test_arithmetic_with_sampled_integers(refused):
    sch = Schedule(matmul_add(64))
    v, w = sch.sample_categorical([2, 4], [1, 1], decision=1), sch.sample_categorical([3], [1])
    assert sch.get(v * 4) == 16 and sch.get(1 + 2 * (v - w)) == 3 and sch.get(9 // v % w) == 2
    i, j, _ = sch.get_loops("C")
    sch.split(i, [None, v * 2])
    sch.split(j, [None, (w + 5) // 2])
    sch.annotate("C", "my.key", [10 - v, {"k": v % w}])
    sch.cache_read("C", v - 4, "shared")
    assert [sch.get(lp).extent for lp in sch.get_loops("C")] == [8, 8, 8, 4, 16]
    assert sch.get(sch.get_block("C")).annotations == {"my.key": [6, {"k": 1}]}
    verify_trace_roundtrip(sch, matmul_add(64))
    text, (steps, _) = str(sch.trace), sch.trace.as_json()
    assert "factors=[None, v0 * 2]" in text and "factors=[None, (v1 + 5) // 2]" in text
    assert ["l3", None, "v0 * 2"] in [s[1] for s in steps] and [{"rv": "v0 - 4"}, "shared"] in [s[2] for s in steps]
    again = Trace.from_json([steps, sch.trace.as_json()[1]])
    assert str(again) == text
    refused(sch, "4 // 0 divides by zero", lambda: sch.split(sch.get_loops("D")[0], [None, v // (w - 3)]), ValueError)
    with pytest.raises(TypeError):
        v + 1.5
    with pytest.raises(TypeError):
        v * True
    sch.remove_rv(w)
    refused(sch, "removed with remove_rv", lambda: sch.annotate("C", "my.other", v + w), IndexError)


# --- what get tells ---------------------------------------------------------------------------------------------------


def test_a_loop_as_it_is():
    sch = Schedule(matmul_add(32))
    i, _j, _k = (sch.get(lp) for lp in sch.get_loops("C"))
    assert (i.extent, i.extent.value, int(i.extent), i.min, i.loop_var.name, i.name) == (32, 32, 32, 0, "i", "i")
    assert i.kind == "serial" and i.kind == 0 and i.kind != 1 and i.kind != "parallel" and i.thread_binding is None
    handles = sch.get_loops("D")
    sch.bind(handles[0], "threadIdx.x"), sch.vectorize(handles[1])
    outer, inner = map(sch.get, handles)
    assert outer.kind == 4 and outer.kind == "threadIdx.x" and outer.thread_binding.thread_tag == "threadIdx.x"
    assert inner.kind == 2 and inner.kind == "vectorized" and {inner.kind: 1}["vectorized"] == 1
    sch.split(sch.get_loops("C")[0], [None, i.extent // 8])


def test_a_block_as_it_is():
    sch = Schedule(matmul_add(32))
    block = sch.get(sch.get_block("C"))
    assert (block.name, block.name_hint, block.annotations) == ("C", "C", {})
    assert [(i.var.name, i.iter_type, i.dom.min, i.dom.extent) for i in block.iter_vars] == [
        ("vi", 0, 0, 32), ("vj", 0, 0, 32), ("vk", 2, 0, 16),
    ]  # fmt: skip
    assert block.reads == ["A", "B"] and block.writes == ["C"]
    buffer = block.reads[0].buffer
    assert (buffer.name, buffer.shape, buffer.dtype, buffer.scope()) == ("A", (32, 16), "float32", "global")
    assert [r.extent for r in block.reads[0].region] == [1, 1]
    assert sch.get(sch.get_block("root")).name_hint == "root"


def test_a_name_that_no_buffer_has_is_also_an_assertion_error():
    """TVM looks names up by an assertion; programs written for it expect that."""
    sch = Schedule(matmul_add(8))
    for step in (
        lambda: sch.cache_read("C", "Z", "local"),
        lambda: sch.cache_write("C", "Z", "local"),
        lambda: sch.reindex("C", "Z"),
        lambda: sch.transform_layout("C", "Z", lambda i, j: (j, i)),
    ):
        with pytest.raises(AssertionError, match="'Z'") as caught:
            step()
        assert isinstance(caught.value, ScheduleError) and "in the program before the step" in str(caught.value)


def test_self_containing_values_are_refused():
    sch = Schedule(matmul_add(8))
    endless: list = [1]
    endless.append(endless)
    deep = 1
    for _ in range(3000):
        deep = [deep]
    for value in (endless, deep):
        with pytest.raises(TypeError, match=r'"Schedule.annotate", "ann_val" is nested too deeply or contains itself'):
            sch.annotate("C", "my.k", value)


def test_methods_besides_the_primitives_are_typed():
    sch = Schedule(matmul_add(8))
    for wrong in (None, 3, [1], np.arange(3)):
        with pytest.raises(TypeError, match=r'"block_or_loop" has wrong type. Expected "BlockHandle'):
            sch.explain_tensorize(wrong)
        with pytest.raises(TypeError, match='"func_name" has wrong type'):
            sch.work_on(wrong)
        with pytest.raises(ValueError, match="unknown primitive"):
            sch.explain(wrong)
    with pytest.raises(ValueError, match="undo can undo from 0"):
        sch.undo([1])
    with pytest.raises(TypeError, match='"padding" has wrong type'):
        sch.pad_einsum("C", 3)
    with pytest.raises(ValueError, match="merge needs at least two loops"):
        sch.merge()


def test_a_refused_step_leaves_no_handle_behind():
    sch = Schedule(matmul_add(8))
    known = set(sch.executor._known)
    with pytest.raises(ScheduleError):
        sch.compute_inline("C")
    assert sch.executor._known == known


def test_other_arguments_that_make_no_sense():
    sch = Schedule(matmul_add(8))
    with pytest.raises(ValueError, match="tensor_intrin is a name"):
        sch.explain_tensorize("C", 3)
    with pytest.raises(ValueError, match="sizes must be"):
        sch.verify(np.arange(3))
