"""Buffers of a function in a parameter of bytes, instead of on the heap."""

import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule, schedules, te, topi
from tir_mlir.dialect.ir import attrs, enter_context, funcs
from tir_mlir.graph.memory.lower_main import add_scratch
from tir_mlir.graph.units.memory_unit import allocates, lowered_scratch_of, scratch_of
from tir_mlir.passes.lower.to_llvm import lower_to_llvm
from tir_mlir.target import Target

CPU = Target(vector_bits=512, registers=32, l1=48 << 10, l2=2 << 20, l3=32 << 20, cores=2)

PROGRAM = main(
    "A:{n} C:{n}; B:{n} D:{n}",
    each("B i:{n}", "B[vi] = A[vi] + 1.0"),
    each("D i:{n}", "D[vi] = B[{n} - 1 - vi] * 2.0"),
    each("C i:{n}", "C[vi] = D[{n} - 1 - vi] + A[{n} - 1 - vi]"),
)

NESTED = """
@T.prim_func
def main(A: T.Buffer((3, 5000), "float32"), C: T.Buffer((3, 5000), "float32")):
    D = T.alloc_buffer((3, 5000), "float32")
    for i in {kind}(3):
        for j in range(5000):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = A[vi, 4999 - vj]
        for j in range(5000):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = D[vi, 4999 - vj]
"""


@pytest.mark.parametrize(("n", "needed"), [(9001, 2 * 36032), (900, 0)], ids=["heap", "stack"])
def test_the_bytes_are_known_before_the_function_is_lowered(n, needed):
    assert scratch_of(parse(PROGRAM.format(n=n)).mlir) == {"main": needed}


def convolution(size, channels, step, groups, threads):
    """A convolution with padding: images in strips, or whole; parallel loops; tails that are copies of their bodies."""
    x = te.placeholder((1, size, size, channels), name="X")
    w = te.placeholder((3, 3, channels // groups, channels), name="W")
    y = topi.nn.conv2d(x, w, step, 1, 1, groups=groups, data_layout="NHWC", kernel_layout="HWIO")
    sch = Schedule(te.create_prim_func([x, w, y]))
    schedules.auto(sch, CPU, threads)
    return sch.mod


@pytest.mark.parametrize(
    ("size", "channels", "step", "groups", "threads"),
    [(14, 576, 1, 576, 2), (28, 192, 2, 192, 2), (57, 144, 1, 144, 1), (30, 32, 1, 1, 2)],
)
def test_few_passes_tell_of_a_schedule_what_all_of_them_do(size, channels, step, groups, threads):
    module = convolution(size, channels, step, groups, threads).mlir
    assert scratch_of(module) == lowered_scratch_of(module)


@pytest.mark.parametrize("threads", [1, 2])
def test_few_passes_tell_of_aligned_buffers_what_all_of_them_do(threads):
    x, u, y = (te.placeholder(shape) for shape in ((1, 32, 32, 64), (4, 4, 4, 64, 16), (64,)))
    results = topi.nn.relu(topi.add(topi.nn.conv2d_winograd(x, u, 1), y))
    sch = Schedule(te.create_prim_func([x, u, y, results]))
    assert "winograd" in schedules.auto(sch, CPU, threads).values()
    needed = scratch_of(sch.mod.mlir)
    assert needed == lowered_scratch_of(sch.mod.mlir) and (needed["main"] > 0) == (threads == 1)


@pytest.mark.parametrize(("unrolled", "needed"), [(False, 20032), (True, 3 * 20032)])
def test_copies_of_an_unrolled_body_are_counted(unrolled, needed):
    kind = "T.unroll" if unrolled else "range"
    module = parse(NESTED.format(kind=kind)).mlir
    assert scratch_of(module) == lowered_scratch_of(module) == {"main": needed}


def test_a_buffer_of_another_scope_needs_no_parameter():
    program = NESTED.format(kind="range")
    assert allocates(parse(program).mlir.operation)
    local = program.replace('D = T.alloc_buffer((3, 5000), "float32")', 'D = T.alloc_buffer((3, 5000), scope="local")')
    assert not allocates(parse(local).mlir.operation)


@pytest.mark.parametrize(("room", "left"), [(2 * 36032, 0), (36032, 1), (36031, 2)])
def test_what_does_not_fit_stays_on_the_heap(room, left):
    module = parse(PROGRAM.format(n=9001)).mlir
    with enter_context():
        func = funcs(module)[0]
        add_scratch(func, room)
        assert attrs.argument_attributes(func.op, 2)[attrs.NAME] == "scratch"
    lower_to_llvm(module)
    assert str(module).count("call @malloc") == left
