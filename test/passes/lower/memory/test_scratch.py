"""Buffers of a function in a parameter of bytes, instead of on the heap."""

import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir.dialect.ir import attrs, entered, funcs
from tir_mlir.graph.memory.lower_main import add_scratch
from tir_mlir.graph.units.memory_unit import scratch_of
from tir_mlir.passes.lower.to_llvm import lower_to_llvm

PROGRAM = main(
    "A:{n} C:{n}; B:{n} D:{n}",
    each("B i:{n}", "B[vi] = A[vi] + 1.0"),
    each("D i:{n}", "D[vi] = B[{n} - 1 - vi] * 2.0"),
    each("C i:{n}", "C[vi] = D[{n} - 1 - vi] + A[{n} - 1 - vi]"),
)


@pytest.mark.parametrize(("n", "needed"), [(9001, 2 * 36032), (900, 0)], ids=["heap", "stack"])
def test_the_bytes_are_known_before_the_function_is_lowered(n, needed):
    assert scratch_of(parse(PROGRAM.format(n=n)).mlir) == {"main": needed}


@pytest.mark.parametrize(("room", "left"), [(2 * 36032, 0), (36032, 1), (36031, 2)])
def test_what_does_not_fit_stays_on_the_heap(room, left):
    module = parse(PROGRAM.format(n=9001)).mlir
    with entered():
        func = funcs(module)[0]
        add_scratch(func, room)
        assert attrs.of_argument(func.op, 2)[attrs.NAME] == "scratch"
    lower_to_llvm(module)
    assert str(module).count("call @malloc") == left
