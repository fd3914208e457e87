"""compute_at of a block that nothing reads, and reverse_compute_at of one that no block feeds."""

import pytest
from harness.schedules import block_order
from programs.elementwise import scale
from programs.parsed import parse
from programs.short import each, main, program, under

from tir_mlir import Schedule

Apart = program(
    "A:4x6 B:6 D:6 Q:4x6; P:4x6",
    each("P:4x6", "P[vi, vj] = A[vi, vj] * 2.0"),
    each("B j:6", "B[vj] = A[0, vj] + 1.0"),
    each("Q:4x6", "Q[vi, vj] = A[vi, vj] * 3.0"),
    each("D j:6", "D[vj] = B[5 - vj]"),
)
"""P is read by nobody; B needs no other block, D reads it; Q is between them."""
SHAPES = [((4, 6), "float32"), ((6,), "float32"), ((6,), "float32"), ((4, 6), "float32")]


def test_a_block_that_nothing_reads_moves_to_any_later_loop(same_result):
    sch = Schedule(Apart)
    sch.compute_at("P", sch.get_loops("Q")[0])
    assert block_order(sch) == ["B", "Q", "P", "D"]
    assert [sch.get(lp).extent for lp in sch.get_loops("P")] == [4, 4, 6]
    same_result(sch, Apart, *SHAPES)
    assert sch.verify()


@pytest.mark.parametrize(("target", "order"), [("P", "P B Q D"), ("Q", "P Q B D"), ("D", "P Q B D")])
def test_a_block_that_nothing_feeds_runs_in_full_under_the_loop(target, order, same_result):
    sch = Schedule(Apart)
    sch.reverse_compute_at("B", sch.get_loops(target)[0])
    assert block_order(sch) == order.split()
    assert sch.get(sch.get_loops("B")[-1]).extent == 6
    same_result(sch, Apart, *SHAPES)
    assert sch.verify()


def test_without_loops_of_its_own(same_result):
    sch = Schedule(Apart)
    sch.reverse_compute_at("Q", sch.get_loops("B")[0], preserve_unit_loops=True, index=0)
    assert block_order(sch) == ["P", "Q", "B", "D"]
    same_result(sch, Apart, *SHAPES)


def test_refuses_a_loop_after_the_consumer(refused):
    sch = Schedule(Apart)
    sch.reverse_compute_at("D", sch.get_loops("B")[0])
    message = 'consumer "D" of block "B" runs before loop i'
    refused(sch, message, lambda: sch.reverse_compute_at("B", sch.get_loops("Q")[0]))


CLASH = main(
    "A:6 B:6 E:6", each("B j:6", "B[vj] = A[vj] + 1.0"), each("A j:6", "A[vj] = 2.0"), each("E j:6", "E[vj] = 3.0")
)


def test_refuses_to_pass_a_writer_of_an_input(refused):
    sch = Schedule(parse(CLASH))
    refused(
        sch,
        'block "A" writes A after block "B" has read it',
        lambda: sch.reverse_compute_at("B", sch.get_loops("E")[0]),
    )


SIZES = """
@T.prim_func
def main(h_A: T.handle, h_C: T.handle, B: T.Buffer((6,), "float32")):
    n = T.int32()
    A = T.match_buffer(h_A, ({n},), "float32")
    C = T.match_buffer(h_C, ({n},), "float32")
    for i in range({n}):
        with T.block("C"):
            vi = T.axis.spatial({n}, i)
            C[vi] = A[vi]
    for j in range(6):
        with T.block("B"):
            vj = T.axis.spatial(6, j)
            B[vj] = 1.0
"""


def test_refuses_a_loop_that_may_not_run(refused):
    sch = Schedule(parse(SIZES.format(n="n")))
    message = r'some iterations of block "B" would not run at all, as .*vj=0.*; it holds only where n >= 1'
    refused(sch, message, lambda: sch.reverse_compute_at("B", sch.get_loops("C")[0]))


@pytest.mark.parametrize("n", [1, 5, 17])
def test_a_loop_that_always_runs(n, same_result):
    module = parse(SIZES.format(n="n + 1").replace("n = T.int32()", "n = T.int32()\n    T.assume(n >= 0)"))
    sch = Schedule(module)
    sch.reverse_compute_at("B", sch.get_loops("C")[0])
    same_result(sch, module, ((n,), "float32"), ((n,), "float32"), ((6,), "float32"))


LATE = main(
    "A:6 B:6 C:6; P:6 Q:6",
    each("B j:6", "B[vj] = A[vj]"),
    each("P j:6", "P[vj] = A[vj]"),
    each("Q j:6", "Q[vj] = P[vj]"),
)


def test_refuses_a_loop_before_the_inputs(refused):
    sch = Schedule(parse(LATE))
    refused(sch, 'producer "P" of block "Q" runs after loop j', lambda: sch.compute_at("Q", sch.get_loops("B")[0]))


ON_DATA = main(
    "A:4x6 C:4x6 K:1:int32; B:4x6",
    under("if K[0] >= 0 and K[0] < 4:", each("B:4x6", "B[vi, vj] = A[K[0], vj]")),
    each("C:4x6", "C[vi, vj] = T.if_then_else(K[0] >= 0 and K[0] < 4, B[vi, vj], T.float32(0))"),
)


def test_refuses_to_leave_a_condition_on_data(refused):
    """Outside the condition A[K[0], vj] may be out of bounds."""
    sch = Schedule(parse(ON_DATA))
    message = 'block "B" .* a condition.* on data'
    refused(sch, message, lambda: sch.compute_at("B", sch.get_loops("C")[0]))
    refused(sch, message, lambda: sch.reverse_compute_at("B", sch.get_loops("C")[0]))
    refused(sch, "loop i is under a condition", lambda: sch.reverse_compute_at("C", sch.get_loops("B")[0]))


def test_an_assumption_on_data_moves():
    """It writes nothing, so that nothing can read its results too early."""
    sch = Schedule(scale(8, 4))
    sch.transform_layout("B", ("read", 0), lambda i, j: (i + 3, j), pad_value=7)
    sch.reverse_compute_at("buffer_A_assumptions", sch.get_loops("B")[0])
    assert [b.name for b in map(sch.get, sch.get_child_blocks(sch.get_loops("B")[0]))] == ["B", "buffer_A_assumptions"]


def test_refuses_a_loop_in_which_a_producer_computes_a_part(refused):
    """All of P would be read after the first row of it."""
    sch = Schedule(
        program(
            "A:4x6; P:4x6 R:4x6",
            each("P:4x6", "P[vi, vj] = A[vi, vj] * 2.0"),
            each("R:4x6", "R[vi, vj] = P[vi, vj] + 1.0"),
        )
    )
    message = 'the producer "P" of block "R" has computed only a part in one iteration of loop i'
    refused(sch, message, lambda: sch.compute_at("R", sch.get_loops("P")[0]))
