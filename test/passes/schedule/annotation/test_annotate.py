"""annotate and unannotate: facts on blocks and loops."""

import pytest
from programs.parsed import parse
from programs.short import each, program

from tir_mlir import Schedule

Scale = program("A:8x16 B:8x16", each("B:8x16", "B[vi, vj] = A[vi, vj] * 2.0"))
SIZES = ((8, 16), "float32"), ((8, 16), "float32")
PLAIN = [1, -3, 0, 2.5, True, False, "text", "", 'a "quote" and a \\']
VALUES = [*PLAIN, [1, 2, 3], [], ["a", 1.5], {"k": 1}, {"a": {"b": [1]}}]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back_and_print(value):
    sch = Schedule(Scale)
    i, _ = sch.get_loops("B")
    block = sch.get_block("B")
    sch.annotate(i, "my.key", value)
    sch.annotate(block, "my.key", value)
    for target in (i, block):
        known = sch.get(target).annotations["my.key"]
        assert known == value and type(known) is type(value)
    again = parse(sch.mod.script())
    assert again.script() == sch.mod.script() and again.equal(sch.mod)


def test_where_they_show(same_result):
    sch = Schedule(Scale)
    i, _j = sch.get_loops("B")
    sch.annotate(i, "my.pragma", "on")
    sch.annotate("B", "my.size", 4)
    text = sch.mod.script()
    assert 'for i in T.serial(8, annotations={"my.pragma": "on"}):' in text
    assert 'T.block_attr({"my.size": 4})' in text
    same_result(sch, Scale, *SIZES)


def test_several_keys():
    sch = Schedule(Scale)
    i, _ = sch.get_loops("B")
    sch.annotate(i, "my.b", 1)
    sch.annotate(i, "my.a", 2)
    assert sch.get(i).annotations == {"my.a": 2, "my.b": 1}
    sch.unannotate(i, "my.b")
    assert sch.get(i).annotations == {"my.a": 2}
    sch.unannotate(i, "my.a")
    assert sch.get(i).annotations == {} and "annotations" not in sch.mod.script()


def test_a_key_keeps_its_first_value():
    sch = Schedule(Scale)
    i, _ = sch.get_loops("B")
    sch.annotate(i, "my.key", 1)
    sch.annotate(i, "my.key", 2)
    assert sch.get(i).annotations == {"my.key": 1}


def test_the_root_block():
    sch = Schedule(Scale)
    root = sch.get_block("root")
    sch.annotate(root, "my.key", 1)
    assert sch.get(root).annotations == {"my.key": 1}
    again = parse(sch.mod.script())
    assert again.equal(sch.mod)
    sch.unannotate(root, "my.key")
    assert sch.mod.script() == Schedule(Scale).mod.script()


def test_unannotate_needs_the_key(refused):
    sch = Schedule(Scale)
    i, _ = sch.get_loops("B")
    refused(sch, 'loop i has no annotation "my.key"; it has none', lambda: sch.unannotate(i, "my.key"), IndexError)
    sch.annotate(i, "my.other", 1)
    refused(sch, r'no annotation "my.key"; it has \[\'my.other\'\]', lambda: sch.unannotate(i, "my.key"), IndexError)
    refused(sch, 'block "B" has no annotation "my.other"', lambda: sch.unannotate("B", "my.other"), IndexError)


@pytest.mark.parametrize(
    "value", [None, object(), 1j, {1, 2}, b"bytes", [None], {"k": None}], ids=lambda v: str(type(v))
)
def test_values_that_cannot_be_kept(value, refused):
    sch = Schedule(Scale)
    refused(sch, "cannot be an annotation; use str, int", lambda: sch.annotate("B", "my.key", value), TypeError)


@pytest.mark.parametrize("key", [3, None, ""], ids=repr)
def test_keys_are_strings(key, refused):
    sch = Schedule(Scale)
    refused(sch, 'annotation|"ann_key" has wrong type', lambda: sch.annotate("B", key, 1), (TypeError, ValueError))


def test_keys_inside_are_strings_too(refused):
    sch = Schedule(Scale)
    refused(sch, "keys of an annotation are strings, not 1", lambda: sch.annotate("B", "my.key", {1: 2}), TypeError)


@pytest.mark.parametrize("value", [1 << 63, -(1 << 63) - 1, [1, {"k": 1 << 64}]], ids=repr)
def test_numbers_that_are_too_large(value, refused):
    sch = Schedule(Scale)
    refused(sch, "does not fit in 64 bits", lambda: sch.annotate("B", "my.key", value), TypeError)


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 1e300, 0.1], ids=repr)
def test_every_float_prints_and_replays(value):
    sch = Schedule(Scale)
    sch.annotate("B", "my.key", value)
    sch.annotate(sch.get_loops("B")[0], "my.key", [{"a": value}])
    assert parse(sch.mod.script()).equal(sch.mod)
    scope = {"Schedule": Schedule}
    exec(str(sch.trace), scope)
    again = Schedule(Scale)
    scope["apply_trace"](again)
    assert again.mod.script() == sch.mod.script()


def test_the_trace_keeps_the_value_of_the_call():
    sch = Schedule(Scale)
    value = [1, {"k": 2}]
    sch.annotate("B", "my.key", value)
    value.append(3)
    value[1]["k"] = 4
    again = Schedule(Scale)
    sch.trace.replay(again)
    assert again.get(again.get_block("B")).annotations == {"my.key": [1, {"k": 2}]}


def test_steps_that_would_drop_them_are_refused(refused):
    sch = Schedule(Scale)
    i, _j = sch.get_loops("B")
    sch.annotate(i, "my.key", 1)
    refused(sch, "has annotations", lambda: sch.split(i, [2, 4]))
    sch.unannotate(i, "my.key")
    sch.split(i, [2, 4])


def test_wrong_targets(refused):
    sch = Schedule(Scale)
    refused(sch, "wrong type", lambda: sch.annotate(3, "my.key", 1), TypeError)
    refused(sch, 'a block with the name "Z"', lambda: sch.annotate("Z", "key", 1))


def test_the_trace_holds_them():
    sch = Schedule(Scale)
    i, _ = sch.get_loops("B")
    sch.annotate(i, "my.key", {"a": [1, "x"]})
    sch.annotate("B", "my.other", 2.5)
    scope = {"Schedule": Schedule}
    exec(str(sch.trace), scope)
    again = Schedule(Scale)
    scope["apply_trace"](again)
    assert again.mod.script() == sch.mod.script()
