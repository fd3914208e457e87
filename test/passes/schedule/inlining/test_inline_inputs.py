"""compute_inline past writes to the inputs: before the read, between the two reads, or of the same value again."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, main, nest, sblock

from tir_mlir import Schedule

ROWS = main(
    "A:6x5 C:6x5 ; X:8x5 B:6x5",
    nest(
        "i:6",
        nest("j:5", sblock("X", "SS i j", "X[vi, vj] = A[vi, vj] + 1.0")),
        nest("j:5", sblock("B", "SS i j", "B[vi, vj] = X[{row}, 4 - vj] * 2.0")),
    ),
    each("C:6x5", "C[vi, vj] = B[5 - vi, vj]"),
)
SHAPES = [((6, 5), "float32")] * 2


@pytest.mark.parametrize("row", ["vi", "vi // 2"])
def test_rows_written_before_they_are_read(row, same_result):
    """Later iterations of i write later rows of X."""
    module = parse(ROWS.format(row=row))
    sch = Schedule(module)
    sch.compute_inline("B")
    assert "X[(5 - vi)" in sch.mod.script() or "X[5 - vi" in sch.mod.script()
    same_result(sch, module, *SHAPES)
    assert sch.verify()


RUNNING = """
@T.prim_func
def main(A: T.Buffer((6, 5), "float32"), C: T.Buffer((6, 5), "float32")):
    X = T.alloc_buffer((5,), "float32")
    B = T.alloc_buffer((6, 5), "float32")
    for i in range(6):
        for j in range(5):
            with T.block("X"):
                vi = T.axis.opaque(6, i)
                vj = T.axis.spatial(5, j)
                X[vj] = A[vi, vj] + 1.0
        for j in range(5):
            with T.block("B"):
                vi = T.axis.opaque(6, i)
                vj = T.axis.spatial(5, j)
                B[vi, vj] = X[vj] * 2.0
{use}
"""
INSIDE = """        for j in range(5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, 4 - vj]"""
AFTER = """    for i, j in T.grid(6, 5):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, 4 - vj]"""


def test_the_same_iteration_of_a_shared_loop(same_result):
    """X is written again in the next iteration only, after C has read B."""
    module = parse(RUNNING.format(use=INSIDE))
    sch = Schedule(module)
    sch.compute_inline("B")
    same_result(sch, module, *SHAPES)
    assert sch.verify()


def test_refuses_a_reader_after_the_next_write(refused):
    sch = Schedule(parse(RUNNING.format(use=AFTER)))
    message = 'X is written between block "B", which reads it, and block "C": inlined, B would differ'
    refused(sch, message, lambda: sch.compute_inline("B"))


def test_refuses_a_row_that_is_written_again(refused):
    """Row 1 of X is read at i = 2 and 3 and written at i = 1; written at i = 3 as well, it is stale at i = 2."""
    text = ROWS.format(row="vi // 2").replace("X[vi, vj] = A[vi, vj] + 1.0", "X[vi % 3, vj] = A[vi, vj] + 1.0")
    text = text.replace('"SS", [i, j])\n                X[', '"OS", [i, j])\n                X[')
    sch = Schedule(parse(text.replace('"SS", [i, j])\n                B[', '"OS", [i, j])\n                B[')))
    refused(sch, "X is written between", lambda: sch.compute_inline("B"))


MERGED = """
@T.prim_func
def main(A: T.Buffer((6, 5), "float32"), D: T.Buffer((6, 5), "float32")):
    B = T.alloc_buffer((6, 5), "float32")
    C = T.alloc_buffer((6, 5), "float32")
    for i, j in T.grid(6, 5):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + 1.0
    for i in range(6):
{stages}
"""
STAGES = {
    "C": """        for j in range(5):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * 2.0""",
    "D": """        for j in range(5):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[{row}, 4 - vj]""",
}


def merged(order: str, row: str = "vi", text: str = MERGED):
    return parse(text.format(stages="\n".join(STAGES[name].replace("{row}", row) for name in order)))


def test_reverse_compute_inline_before_a_reader_in_the_same_loop(same_result):
    """D reads each row of C after its block has written it."""
    module = merged("CD")
    sch = Schedule(module)
    sch.reverse_compute_inline("C")
    assert "C[vi, vj] = (A[vi, vj] + T.float32(1.0)) * T.float32(2.0)" in sch.mod.script()
    same_result(sch, module, *SHAPES)
    assert sch.verify()


PARAMETER = MERGED.replace('    C = T.alloc_buffer((6, 5), "float32")\n', "").replace(
    "D: T", 'C: T.Buffer((6, 5), "float32"), D: T'
)


@pytest.mark.parametrize(("order", "row"), [("DC", "vi"), ("CD", "5 - vi")])
def test_refuses_a_result_that_is_read_before(order, row):
    """D reads what the caller wrote into C, of the same row or of a later one."""
    sch = Schedule(merged(order, row, PARAMETER))
    answer = sch.can_reverse_compute_inline("C")
    assert answer.verdict == "illegal" and 'C, which block "C" writes, is used between' in answer.reason
    assert answer.counterexample is not None


def rows(iters: str = "", index: str = "vk", extent: str = "16"):
    """Each iteration of j computes row i of X again; Y reads one element of it."""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((4, 16), "float32"), C: T.Buffer((4, 16), "float32")):
    X = T.alloc_buffer((4, 16), "float32")
    Y = T.alloc_buffer((4, 16), "float32")
    for i in range(4):
        for j in range(16):
            for k in range({extent}):
                with T.block("X"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    {iters}
                    X[vi, vk] = A[vi, {index}] * 2.0
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] + 1.0
        for j in range(16):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = Y[vi, vj] * 3.0
""")


@pytest.mark.parametrize("extent", ["16", "j + 1"])
def test_the_same_values(extent, same_result):
    program = rows(extent=extent)
    sch = Schedule(program)
    sch.compute_inline("Y")
    same_result(sch, program, ((4, 16), "float32"), ((4, 16), "float32"))
    assert sch.verify()


def test_other_values_are_refused(refused):
    sch = Schedule(rows("vj = T.axis.opaque(16, j)", "vj"))
    message = 'X is written between block "Y", which reads it, and block "C": inlined, Y would differ'
    refused(sch, message, lambda: sch.compute_inline("Y"))
