"""Large modules are compiled in parts, by threads: the parts are one program."""

from __future__ import annotations

import os

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build
from tir_mlir.errors import BuildError, OutOfBoundsError
from tir_mlir.passes.lower.llvm.nest_functions import MAX_NESTS
from tir_mlir.runtime.llvm import object_code

COUNT = MAX_NESTS + 2


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr(object_code, "LEAST_PART", 2)
    monkeypatch.setattr(object_code, "cores", lambda: 2)


def text(update: str, name: str = "main", more: str = "") -> str:
    """A function of COUNT different nests, each of which replaces B[vi] by `update` of B[vi] and its number N (K)."""
    lines = ["@T.prim_func", f'def {name}(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"){more}):']
    for number in range(COUNT):
        value = update.replace("B", "A" if number == 0 else "B").replace("N", f"T.float32({number})")
        lines += [
            "    for i in range(8):",
            f'        with T.block("b{number}"):',
            "            vi = T.axis.spatial(8, i)",
            f"            B[vi] = {value.replace('K', str(number))}",
        ]
    return "\n".join(lines)


def parts(lib) -> int:
    return len(lib._driver._compiled.sizes)


def check(lib, expected) -> None:
    a = np.random.default_rng(0).random(8, dtype=np.float32)
    b = np.empty_like(a)
    lib["main"](a, b)
    want = a
    for number in range(COUNT):
        want = expected(want, np.float32(number))
    np.testing.assert_allclose(b, want, rtol=1e-4)


def test_two_parts_are_one_program():
    lib = build(parse(text("B[vi] * T.float32(0.5) + N")), cache=False)
    assert parts(lib) == 2
    check(lib, lambda b, n: b * 0.5 + n)


def test_one_core_compiles_one_part(monkeypatch):
    monkeypatch.setattr(object_code, "cores", lambda: 1)
    lib = build(parse(text("B[vi] + N")), cache=False)
    assert parts(lib) == 1
    check(lib, lambda b, n: b + n)


def test_the_cores_are_those_of_the_process(monkeypatch):
    monkeypatch.undo()
    if hasattr(os, "sched_getaffinity"):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 9})
        assert object_code.cores() == 3
        monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert object_code.cores() == 4


def test_few_nests_are_one_part(monkeypatch):
    monkeypatch.setattr(object_code, "LEAST_PART", COUNT)
    assert parts(build(parse(text("B[vi] + N")), cache=False)) == 1


def test_the_cache_keeps_all_parts():
    mod = parse(text("B[vi] * T.float32(0.25) + N"))
    first, again = build(mod), build(mod)
    assert again.timing.cached
    assert again._driver._compiled == first._driver._compiled
    assert parts(again) == 2
    check(again, lambda b, n: b * 0.25 + n)


def test_the_assembly_is_of_all_parts():
    shown = build(parse(text("B[vi] + N")), cache=False).assembly
    assert all(f"<main.nest{n}>:" in shown for n in range(COUNT))


def test_functions_of_one_program():
    both = {name: parse(text(f"B[vi] {op} N", name))[name] for name, op in (("main", "+"), ("other", "-"))}
    from tir_mlir.script.module import IRModule

    lib = build(IRModule(both), cache=False)
    assert parts(lib) == 2
    check(lib, lambda b, n: b + n)
    a, b = np.zeros((2, 8), np.float32)
    lib["other"](a, b)
    np.testing.assert_array_equal(b, np.full(8, -sum(range(COUNT))))


def test_parallel_nests():
    sch = Schedule(parse(text("B[vi] * T.float32(0.5) + N")))
    for number in range(COUNT):
        sch.parallel(sch.get_loops(f"b{number}")[0])
    lib = build(sch, cache=False)
    assert parts(lib) == 2
    assert lib._driver._compiled.libs
    check(lib, lambda b, n: b * 0.5 + n)


def test_functions_that_several_parts_call():
    lib = build(parse(text("T.exp(B[vi] * T.float32(-0.5)) + T.sin(N)")), cache=False)
    assert parts(lib) == 2
    check(lib, lambda b, n: np.exp(b * -0.5) + np.sin(n))


def test_low_precision_needs_its_support_functions_in_every_part():
    mod = parse(text("T.Cast('float32', T.Cast('bfloat16', B[vi])) + N"))
    lib = build(mod, cache=False)
    assert parts(lib) == 2
    a, b = np.full((2, 8), 1.0, np.float32)
    lib["main"](a, b)
    assert abs(b[0] - (1 + sum(range(COUNT)))) <= 16  # 8 bits of mantissa, rounded COUNT times


@pytest.mark.few(1)
@pytest.mark.parametrize("bad", [0, 1, COUNT - 2, COUNT - 1])
def test_checks_of_every_part_are_reported(bad):
    table = f', P: T.Buffer(({COUNT}, 8), "int32")'
    lib = build(parse(text("B[vi] + A[P[K, vi]]", more=table)), checked=True, cache=False)
    assert parts(lib) == 2
    a, b, p = np.zeros(8, np.float32), np.zeros(8, np.float32), np.zeros((COUNT, 8), np.int32)
    p[bad, 3] = 8
    with pytest.raises(OutOfBoundsError) as raised:
        lib["main"](a, b, p)
    assert (raised.value.block, raised.value.index) == (f"b{bad}", (8,))
    p[bad, 3] = 7
    lib["main"](a, b, p)


LINES = {
    "a constant": "@x = internal constant i32 1",
    "a variable that is seen": "@x = global i32 1",
    "a local variable": "@x = internal global i32 1",
    "a private variable": "@x = private global i32 1",
    "a variable of each thread": "@x = thread_local global i32 1",
    "a variable of several modules": "@x = common global i32 0",
    "a weak function": "define weak void @x() { ret void }",
    "an alias": "@y = global i32 1\n@x = alias i32, ptr @y",
    "assembly": 'module asm ".globl x"',
    "constructors": "@llvm.global_ctors = appending global [0 x { i32, ptr, ptr }] []",
}
DIVISIBLE = ("a constant", "a variable that is seen")


@pytest.mark.parametrize("name", LINES)
def test_what_cannot_be_divided_is_one_part(name):
    nests = "\n".join(f"define internal void @main.nest{n}() {{ ret void }}" for n in range(COUNT))
    with object_code.context() as context:
        made = object_code.parse(context, f"{LINES[name]}\n{nests}")
        assert object_code.count_parts(made) == (2 if name in DIVISIBLE else 1)


STATE = """
@calls = {linkage} i32 0
define float @next_number() {{
  %old = load i32, ptr @calls
  %new = add i32 %old, 1
  store i32 %new, ptr @calls
  %f = sitofp i32 %new to float
  ret float %f
}}
"""


@pytest.mark.parametrize("linkage", ["global", "internal global"])
def test_a_variable_of_a_kernel_exists_once(linkage):
    sch = Schedule(parse(text('T.call_extern("float32", "next_number")')))
    sch.annotate(sch.get_loops("b0")[0], "pragma_import_llvm", STATE.format(linkage=linkage))
    a, b = np.zeros((2, 8), np.float32)
    build(sch, cache=False)["main"](a, b)
    np.testing.assert_array_equal(b, np.arange(8) + 1 + 8 * (COUNT - 1))


def test_a_part_that_fails_is_a_build_error(monkeypatch):
    monkeypatch.setattr(object_code, "PART_PASSES", b"no-such-pass")
    with pytest.raises(BuildError, match="no-such-pass"):
        build(parse(text("B[vi] + N")), cache=False)


def test_the_tools_build_the_same_program(tmp_path):
    lib = build(parse(text("B[vi] * T.float32(0.5) + N")), driver="tools")
    check(lib, lambda b, n: b * 0.5 + n)
    assert lib.export(tmp_path / "f.so")


def test_without_the_c_interface_the_tools_are_used(monkeypatch):
    from tir_mlir.runtime.llvm import llvm_c

    monkeypatch.setattr(llvm_c, "find_llvm", lambda: None)
    check(build(parse(text("B[vi] * T.float32(0.5) + N"))), lambda b, n: b * 0.5 + n)
