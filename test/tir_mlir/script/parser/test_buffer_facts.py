"""Facts of buffers that say what holds anyway, and those that do not."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script.parser import parse
from tir_mlir.script.structural_equal import difference


def copy(facts: str):
    return parse(f"""
@T.prim_func
def main(a: T.handle, C: T.Buffer((64,), "float32")):
    A = T.match_buffer(a, (64,), "float32"{facts})
    for i in range(64):
        with T.block("C"):
            vi = T.axis.remap("S", [i])
            C[vi] = A[vi]
""")


DEFAULTS = ", offset_factor=1, align=64, elem_offset=0"


@pytest.mark.parametrize("facts", [DEFAULTS, ", align=64", ", offset_factor=0", ", elem_offset=0"])
def test_defaults_given_by_hand_are_the_defaults(facts):
    assert difference(Schedule(copy(facts)).mod.mlir, Schedule(copy("")).mod.mlir) is None


@pytest.mark.parametrize(
    "facts", [", offset_factor=1", ", offset_factor=16, elem_offset=0", ", align=32", ", offset_factor=1, align=64"]
)
def test_other_facts_stay(facts):
    assert difference(Schedule(copy(facts)).mod.mlir, Schedule(copy("")).mod.mlir) is not None
