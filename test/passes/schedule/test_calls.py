"""Schedules of modules whose functions call each other: a call is opaque, a callee keeps its signature."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script import IRModule

SCALE = """
@T.prim_func(private=True)
def scale(A: T.Buffer((16,)), B: T.Buffer((16,))):
    for i in range(16):
        with T.block("S"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] * 2.0
"""


def block(name: str, target: str, value: str) -> str:
    return f"""
    for i in range(16):
        with T.block("{name}"):
            vi = T.axis.spatial(16, i)
            {target}[vi] = {value}
"""


def around_a_call() -> Schedule:
    """t = x + 1; u = 2 * t (by a call); w = u - 3; y = w + t"""
    head = "@T.prim_func\ndef main(x: T.Buffer((16,)), y: T.Buffer((16,))):\n"
    head += "".join(f"    {name} = T.alloc_buffer((16,))\n" for name in "tuw")
    parts = block("t", "t", "x[vi] + 1.0"), "    scale(t, u)\n", block("w", "w", "u[vi] - 3.0")
    return Schedule(parse(head + "".join(parts) + block("y", "y", "w[vi] + t[vi]") + SCALE))


def in_an_arena() -> Schedule:
    """t = x + 1; u = 2 * t; y = u - 3; t and u in an arena, in which they overlap by half"""
    head = '@T.prim_func\ndef main(x: T.Buffer((16,)), y: T.Buffer((16,)), arena: T.Buffer((128,), "int8")):\n'
    head += "    t = T.decl_buffer((16,), data=arena.data)\n    s = T.alloc_buffer((16,))\n"
    head += "    u = T.decl_buffer((16,), data=arena.data, byte_offset=32)\n"
    parts = block("t", "t", "x[vi] + 1.0"), block("s", "s", "t[vi] * 2.0"), block("u", "u", "s[vi]")
    return Schedule(parse(head + "".join(parts) + block("y", "y", "u[vi] - 3.0") + SCALE))


def check(sch: Schedule, of: Schedule) -> None:
    found = []
    for program in (sch, of):
        arrays = [np.arange(16, dtype=np.float32), np.zeros(16, np.float32), np.zeros(128, np.int8)]
        build(program)["main"](*arrays[: len(IRModule(program._executor.module)["main"].func.args)])
        found.append(arrays[1])
    np.testing.assert_array_equal(*found)
    assert sch.verify()


def test_a_callee_is_scheduled():
    sch = around_a_call()
    outer, inner = sch.split(sch.get_loops(sch.get_block("S", func_name="scale"))[0], [None, 4])
    sch.parallel(outer)
    sch.vectorize(inner)
    check(sch, around_a_call())


def test_a_caller_is_scheduled():
    sch = around_a_call()
    sch.compute_inline(sch.get_block("w"))
    sch.vectorize(sch.get_loops("y")[0])
    sch.parallel(sch.get_loops("t")[0])
    check(sch, around_a_call())


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda s: s.compute_inline(s.get_block("t")), "t is used as a whole by func.call"),
        (lambda s: s.compute_at(s.get_block("t"), s.get_loops("y")[0]), "t is also used outside any block"),
        (lambda s: s.compute_at(s.get_block("w"), s.get_loops("y")[0]), "u, which the block reads, is also written"),
        (lambda s: s.reverse_compute_at(s.get_block("w"), s.get_loops("t")[0]), "u, which the block reads"),
        (lambda s: s.cache_write(s.get_block("t"), 0, "local"), "t is read outside any block"),
        (lambda s: s.transform_layout(s.get_block("t"), ("write", 0), lambda i: (i // 4, i % 4)), "func.call depends"),
        (lambda s: s.set_scope(s.get_block("t"), 0, "shared"), "passed to @scale, whose signature fixes its scope"),
    ],
)
def test_a_call_is_opaque(step, words):
    sch = around_a_call()
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match=words):
        step(sch)
    assert sch.mod.script() == before


def test_a_callee_keeps_its_signature():
    sch = around_a_call()
    with pytest.raises(ScheduleError, match="A is a parameter of scale, to which main passes a buffer") as caught:
        sch.transform_layout(sch.get_block("S", func_name="scale"), ("read", 0), lambda i: (i // 4, i % 4))
    assert "cache_read" in str(caught.value)


def test_blocks_on_an_arena():
    sch = in_an_arena()
    for name in ("t", "u"):
        sch.parallel(sch.split(sch.get_loops(name)[0], [None, 5])[0])
    sch.vectorize(sch.get_loops("y")[0])
    check(sch, in_an_arena())


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda s: s.compute_at(s.get_block("t"), s.get_loops("s")[0]), "arena is written by several blocks"),
        (lambda s: s.compute_inline(s.get_block("t")), "stores through a view"),
        (lambda s: s.cache_read(s.get_block("s"), 0, "local"), "arena is written by several blocks"),
        (
            lambda s: s.transform_layout(s.get_block("t"), ("write", 0), lambda i: (i // 4, i % 4)),
            "memref.view depends",
        ),
        (lambda s: s.merge(s.get_loops("s")[0], s.get_loops("u")[0]), "arena"),
    ],
)
def test_an_arena_is_one_memory(step, words):
    sch = in_an_arena()
    with pytest.raises(ScheduleError, match=words):
        step(sch)


# --- modules made of functions


def nested() -> IRModule:
    head = "@T.prim_func\ndef main(x: T.Buffer((16,)), y: T.Buffer((16,))):\n    twice(x, y)\n"
    twice = "@T.prim_func(private=True)\ndef twice(A: T.Buffer((16,)), B: T.Buffer((16,))):\n    scale(A, B)\n"
    return parse(head + twice + SCALE)


def test_a_function_takes_along_what_it_calls():
    mod = nested()["main"].isolated_module
    assert sorted(mod.functions) == ["main", "scale", "twice"]
    check(Schedule(mod), Schedule(nested()))


def test_a_module_of_functions_that_call_each_other():
    mod = nested()
    sch = Schedule(IRModule({"scale": mod["scale"]}))
    sch.vectorize(sch.get_loops("S")[0])
    made = IRModule({"main": mod["main"], "twice": mod["twice"], "scale": sch.mod["scale"]})
    assert list(made.functions) == ["main", "twice", "scale"]
    assert "T.vectorized" in made.script()
    check(Schedule(made), Schedule(nested()))
