"""reindex of a block that shares loops with other blocks: what one iteration accesses is copied inside them."""

from __future__ import annotations

import pytest
from harness.schedules import block_order
from programs.parsed import parse
from programs.short import main, nest, sblock

from tir_mlir import Schedule


def rows(n: int, m: int, first: str = "P[vi, vj] = A[vi, vj] + 1.0", last: str = "D[vi, vj] = C[vi, vj] + P[vi, vj]"):
    """Row by row: P from A, C as the sums of P's rows in another layout, D from both."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer(({n}, {m}), "float32"), C: T.Buffer(({m}, {n}), "float32"), D: T.Buffer(({n}, {m}), "float32")):
    P = T.alloc_buffer(({n}, {m}), "float32")
    for i in range({n}):
        for j in range({m}):
            with T.block("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                {first}
        for j in range({m}):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vj, vi] = P[vi, {m - 1} - vj] * 2.0
        for j in range({m}):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                {last.replace("C[vi, vj]", "C[vj, vi]")}
""")


def shapes(n: int, m: int):
    return [((n, m), "float32"), ((m, n), "float32"), ((n, m), "float32")]


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 7), (15, 3)])
def test_a_read_in_a_shared_loop(n, m, same_result):
    sch = Schedule(rows(n, m))
    made = sch.reindex("C", ("read", 0))
    assert block_order(sch) == ["P", "P_reindex_reindex", "C", "D"]
    assert sch.get_loops(made)[0] == sch.get_loops("P")[0]
    assert f"P_reindex[v0, v1] = P[v0, {m - 1} - v1]" in sch.mod.script() or m == 1
    same_result(sch, rows(n, m), *shapes(n, m))
    assert sch.verify()


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 7), (15, 3)])
def test_a_write_in_a_shared_loop(n, m, same_result):
    sch = Schedule(rows(n, m))
    sch.reindex("C", ("write", 0))
    assert block_order(sch) == ["P", "C", "C_reindex", "D"]
    assert "C[v1, v0] = C_reindex[v0, v1]" in sch.mod.script()
    same_result(sch, rows(n, m), *shapes(n, m))
    assert sch.verify()


@pytest.mark.parametrize("tile", [1, 2, 4])
def test_a_tile_of_an_iter(tile, same_result):
    module = rows(8, 6)
    sch = Schedule(module)
    for name in ("P", "C", "D"):
        j = sch.get_loops(name)[1]
        sch.split(j, [None, tile])
    sch.merge(sch.get_loops("C")[1], sch.get_loops("D")[1])
    assert len(sch.get_loops("C")) == 3
    sch.reindex("C", ("read", 0))
    sch.reindex("C", ("write", 0))
    assert block_order(sch) == ["P", "P_reindex_reindex", "C", "C_reindex", "D"]
    same_result(sch, module, *shapes(8, 6))


@pytest.mark.parametrize("key", ["read", "write"])
def test_a_tile_that_may_leave_the_domain_is_guarded(key, same_result):
    module = rows(8, 6)
    sch = Schedule(module)
    for name in ("C", "D"):
        sch.split(sch.get_loops(name)[1], [None, 4])
    sch.merge(sch.get_loops("C")[1], sch.get_loops("D")[1])
    before = sch.mod.script().count("T.where")
    sch.reindex("C", (key, 0))
    assert sch.mod.script().count("T.where") == before + 1
    same_result(sch, module, *shapes(8, 6))
    assert sch.verify()


def test_refuses_values_that_are_no_interval(refused):
    text = main(
        "A:6 C:2x6 D:2",
        nest(
            "t:2",
            nest("j:6", sblock("C", "vt:2=t vj:6=(t * 3 + j) % 6", "C[vt, vj] = A[5 - vj]")),
            sblock("D", "vt:2=t", "D[vt] = 1.0"),
        ),
    )
    sch = Schedule(parse(text))
    message = "loop t contains more than block .C., and what iter vj is in one iteration of it is not an interval"
    refused(sch, message, lambda: sch.reindex("C", ("read", 0)))


SUMS = main(
    "A:4x6 C:6 D:4x6",
    nest(
        "k:4",
        nest("i:6", sblock("C", "SR i k", "C[vi] = C[vi] + A[vk, vi]", init="C[vi] = 0.0")),
        nest("i:6", sblock("D", "SS k i", "D[vk, vi] = {value}")),
    ),
)
SUM_SHAPES = [((4, 6), "float32"), ((6,), "float32"), ((4, 6), "float32")]


def test_a_sum_over_the_shared_loop_gives_its_partial_sums(same_result):
    module = parse(SUMS.format(value="C[vi]"))
    sch = Schedule(module)
    sch.reindex("C", ("write", 0))
    assert block_order(sch) == ["C", "C_reindex", "D"]
    same_result(sch, module, *SUM_SHAPES)


def test_refuses_a_sum_that_another_block_changes(refused):
    """E sets C to 0 between two iterations of the sum; its copy would keep the old sum."""
    text = (
        SUMS.format(value="C[vi]")
        + """
        for i in range(6):
            with T.block("E"):
                vi = T.axis.opaque(6, i)
                C[vi] = C[vi] * 0.5
"""
    )
    sch = Schedule(parse(text))
    message = "C is also written here, in a loop shared with block .C., which reads what it has written"
    refused(sch, message, lambda: sch.reindex("C", ("write", 0)))


SCALES = main(
    "W:6 C:4x6 D:4",
    nest("i:4", nest("j:6", sblock("C", "SS i j", "C[vi, vj] = W[5 - vj]")), sblock("D", "vi:4=i", "D[vi] = 1.0")),
)


def test_a_copy_in_each_iteration_of_a_parallel_loop(same_result):
    """Each iteration of i fills all of the copy of W, which is its own."""
    sch = Schedule(parse(SCALES))
    sch.parallel(sch.get_loops("C")[0])
    sch.reindex("C", ("read", 0))
    same_result(sch, parse(SCALES), ((6,), "float32"), ((4, 6), "float32"), ((4,), "float32"))
