"""How often code runs, read from assembly."""

import pytest

from tir_mlir.prediction.assembly import comment_of, read_assembly
from tir_mlir.prediction.executions import ASSUMED_TRIPS, count_executions

NEST = """\
main:                                   # @main
# %bb.0:                                # %entry
	xorl	%eax, %eax
.LBB0_1:                                # %outer
                                        # =>This Loop Header: Depth=1
                                        #     Child Loop BB0_2 Depth 2
	testl	%ecx, %ecx
	je	.LBB0_3
.LBB0_2:                                # %inner
                                        #   Parent Loop BB0_1 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
	vfmadd231ps	%zmm0, %zmm1, %zmm2     # zmm2 = (zmm1 * zmm0) + zmm2
	decq	%rdx
	jne	.LBB0_2
.LBB0_3:                                # %latch
                                        #   in Loop: Header=BB0_1 Depth=1
	decq	%rsi
	jne	.LBB0_1
# %bb.4:                                # %exit
	callq	helper@PLT
	retq
helper:                                 # @helper
# %bb.0:
	testl	%ecx, %ecx
	jne	.LBB1_2
# %bb.1:
	nop
	retq
.LBB1_2:
	addl	%eax, %eax
	retq
unused:                                 # @unused
# %bb.0:
	retq
"""


def executions(text, trips, comment="#"):
    pieces = count_executions(read_assembly(text, comment), trips, ["main"])
    return {(piece.function, code): piece for piece in pieces for code in piece.instructions}


def test_trips_multiply_a_guard_is_passed_and_calls_are_followed():
    found = executions(NEST, {("main", "outer"): 5, ("main", "inner"): 7})
    fma = found["main", "vfmadd231ps\t%zmm0, %zmm1, %zmm2"]
    assert (fma.executions, fma.depth, fma.trips, fma.loops, fma.known) == (35, 2, 7, True, True)
    assert fma.instructions[-1].startswith("jne") and len(fma.instructions) == 3
    assert found["main", "decq\t%rsi"].executions == 5
    assert found["main", "retq"].executions == 1
    assert found["helper", "nop"].executions == found["helper", "addl\t%eax, %eax"].executions == 0.5
    assert not any(function == "unused" for function, _ in found)


def test_what_a_branch_may_skip_is_not_certain():
    found = executions(NEST, {("main", "outer"): 5, ("main", "inner"): 7})
    assert not found["main", "vfmadd231ps\t%zmm0, %zmm1, %zmm2"].certain
    assert found["main", "testl\t%ecx, %ecx"].certain and found["main", "decq\t%rsi"].certain


def test_an_unknown_trip_count_is_assumed_and_told():
    fma = executions(NEST, {("main", "outer"): 5})["main", "vfmadd231ps\t%zmm0, %zmm1, %zmm2"]
    assert fma.executions == 5 * ASSUMED_TRIPS and not fma.known


@pytest.mark.parametrize(
    ("triple", "comment"),
    [("aarch64-unknown-linux-gnu", "//"), ("arm64-apple-macosx14.0", ";"), ("riscv64-unknown-linux-gnu", "#")],
)
def test_other_comments(triple, comment):
    assert comment_of(triple) == comment
    found = executions(NEST.replace("#", comment), {("main", "outer"): 5, ("main", "inner"): 7}, comment)
    assert found["main", "decq\t%rdx"].executions == 35


def test_the_length_of_vectors_is_that_before():
    lines = [
        "main:  # @main",
        "# %bb.0:",
        "\tvsetvli\ta0, zero, e32, m4, ta, ma",
        ".LBB0_1:  # %a",
        "\tvfadd.vv\tv0, v4, v8",
    ]
    text = "\n".join([*lines, "\tret", ""])
    assert executions(text, {})["main", "vfadd.vv\tv0, v4, v8"].setting == "vsetvli\ta0, zero, e32, m4, ta, ma"
