"""verify on modules whose functions call each other, through buffers and through arenas."""

from __future__ import annotations

import pytest
from programs.parsed import parse

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.equivalence import equivalent
from tir_mlir.script import IRModule

SCALE = """
@T.prim_func(private=True)
def scale(a: T.handle, b: T.handle, f: T.float32):
    n = T.int32()
    A = T.match_buffer(a, (n,))
    B = T.match_buffer(b, (n,))
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] * f
"""
COUNT = """
@T.prim_func(private=True)
def count(A: T.Buffer((16,)), B: T.Buffer((16,), "int32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = vi
"""


def program(*body: str, arena: bool = True) -> IRModule:
    lines = "\n".join(f"    {line}" for line in body)
    last = ', arena: T.Buffer((256,), "int8")' if arena else ""
    head = f"def main(x: T.Buffer((16,)), y: T.Buffer((16,)), z: T.Buffer((16,)){last}):"
    return parse(f"@T.prim_func\n{head}\n{lines}\n{SCALE}{COUNT}")


def view(name: str, at: int, dtype: str = "float32") -> str:
    return f'{name} = T.decl_buffer((16,), "{dtype}", data=arena.data, byte_offset={at})'


def calls(*places: int) -> IRModule:
    """u = 2 * x; v = 3 * x; y = u * 5; z = v * 7, with u and v at these bytes."""
    body = [view(name, at) for name, at in zip("uv", places, strict=True)]
    lines = ("scale(x, u, 2.0)", "scale(x, v, 3.0)", "scale(u, y, 5.0)", "scale(v, z, 7.0)")
    return program(*body, *lines)


def test_a_module_equals_itself():
    result = equivalent(calls(0, 64), calls(0, 64))
    assert result
    assert "what is left in the arena of main is not compared" in str(result)


def test_another_plan_of_the_arena():
    assert equivalent(calls(0, 64), calls(128, 0))


@pytest.mark.parametrize("at", [0, 4, 60])
def test_a_plan_that_overlaps(at):
    result = equivalent(calls(0, 64), calls(0, at))
    assert not result
    assert "y[" in str(result)


def test_against_buffers():
    body = ("u = T.alloc_buffer((16,))", "scale(x, u, 2.0)", "scale(u, y, 5.0)", "scale(x, z, 21.0)")
    plain = program(*body, "v = T.decl_buffer((4,), data=arena.data)")
    assert equivalent(plain, calls(0, 64))


def test_another_number():
    mod = program("scale(x, y, 2.0)", "scale(x, z, 2.0)", arena=False)
    assert not equivalent(mod, program("scale(x, y, 2.0)", "scale(x, z, 3.0)", arena=False))


def test_another_callee():
    mod = program("scale(x, y, 2.0)", "scale(x, z, 2.0)", arena=False)
    other = parse(mod.script().replace("A[vi] * f", "A[vi] + f"))
    assert not equivalent(mod, other)


def mixed(at: int) -> IRModule:
    """Numbers as int32 in the arena while u is in use."""
    body = (view("u", 0), view("k", at, "int32"), "scale(x, u, 2.0)", "count(x, k)", "scale(u, y, 5.0)")
    return program(*body, "scale(x, z, 1.0)")


def test_views_of_two_types():
    assert equivalent(mixed(64), mixed(128))


@pytest.mark.parametrize("at", [0, 60])
def test_views_of_two_types_that_overlap_in_use(at):
    assert not equivalent(mixed(64), mixed(at))


def test_views_of_two_types_one_after_the_other():
    body = (view("u", 0), view("k", 0, "int32"), "count(x, k)", "scale(x, u, 2.0)", "scale(u, y, 5.0)")
    assert equivalent(mixed(64), program(*body, "scale(x, z, 1.0)"))


def test_a_product_with_what_is_not_written():
    """Zero times a number of an arena that nobody wrote is 0, unless that is NaN."""
    body = (view("u", 0), view("v", 64), "scale(u, v, 0.0)", "scale(v, y, 1.0)", "scale(x, z, 1.0)")
    zero = program(view("v", 64), "scale(x, v, 0.0)", "scale(v, y, 1.0)", "scale(x, z, 1.0)")
    result = equivalent(zero, program(*body))
    assert not result
    assert "NaN" in str(result) or "memory that nothing wrote" in str(result)


def test_bytes_are_not_checked():
    mod = program(view("u", 0), "scale(x, u, 2.0)", "scale(u, y, 1.0)", "arena[255] = T.int8(1)", "scale(x, z, 1.0)")
    with pytest.raises(NotChecked, match=r"main uses arena by views and by affine.store"):
        equivalent(mod, mod)


def test_a_schedule_of_a_callee():
    sch = Schedule(calls(0, 64))
    block = sch.get_block("B", func_name="scale")
    outer, inner = sch.split(sch.get_loops(block)[0], [None, 5])
    sch.vectorize(inner)
    assert sch.verify()
    assert outer is not None
