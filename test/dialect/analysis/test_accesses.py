"""Accesses of a program in order: through views, and of the whole buffer for a non-affine index."""

from __future__ import annotations

from harness.nests import nest

from tir_mlir.dialect.analysis import relations_of, written_groups
from tir_mlir.dialect.analysis.access_boxes import access_box as box
from tir_mlir.dialect.analysis.accesses import accesses, touches
from tir_mlir.dialect.ir import Buffer


def seen(n) -> list[tuple[str, str, bool]]:
    return [(a.kind, Buffer(a.buffer).name, a.exact) for a in accesses(n.func.op)]


def test_in_program_order():
    text = 'for i in range(8):\n    with T.block("C"):\n        vi = T.axis.spatial(8, i)\n'
    text += "        C[vi] = A[vi] + B[7 - vi]"
    with nest("A: T.Buffer((8,)), B: T.Buffer((8,)), C: T.Buffer((8,))", text) as n:
        assert seen(n) == [("read", "A", True), ("read", "B", True), ("write", "C", True)]
        assert all(a.is_point for a in accesses(n.func.op))


def test_an_index_that_is_looked_up_takes_the_whole_buffer():
    text = 'for i in range(8):\n    with T.block("C"):\n        vi = T.axis.spatial(8, i)\n        C[vi] = A[I[vi]]'
    with nest('A: T.Buffer((9,)), I: T.Buffer((8,), "int32"), C: T.Buffer((8,))', text) as n:
        assert ("read", "A", False) in seen(n)
        whole = next(a for a in accesses(n.func.op) if Buffer(a.buffer).name == "A")
        assert [m.as_constant() for m in whole.mins] == [0] and [e.as_constant() for e in whole.extents] == [9]


def test_touches_are_the_accesses_without_regions():
    text = """
for i in range(2):
    with T.block("o"):
        vi = T.axis.spatial(2, i)
        V = T.match_buffer(A[vi * 4 : vi * 4 + 4], (4,))
        for j in range(4):
            with T.block("C"):
                vj = T.axis.spatial(4, j)
                C[vi * 4 + vj] = V[vj] + B[I[vj]]
"""
    given = 'A: T.Buffer((8,)), B: T.Buffer((8,)), I: T.Buffer((8,), "int32"), C: T.Buffer((8,))'
    with nest(given, text) as n:
        found = [(t.op, t.buffer, t.kind) for t in touches(n.func.op)]
        assert found == [(a.op, a.buffer, a.kind) for a in accesses(n.func.op)]
        assert [Buffer(buffer).name for _, buffer, _ in found] == ["A", "I", "B", "C"]


def test_a_view_is_its_source_moved():
    text = """
for i in range(2):
    with T.block("o"):
        vi = T.axis.spatial(2, i)
        V = T.match_buffer(A[vi * 4 : vi * 4 + 4], (4,))
        for j in range(4):
            with T.block("C"):
                vj = T.axis.spatial(4, j)
                C[vi * 4 + vj] = V[vj]
"""
    with nest("A: T.Buffer((8,)), C: T.Buffer((8,))", text) as n:
        inner = [a for a in accesses(n.blocks["C"].op) if not a.is_write]
        assert [Buffer(a.buffer).name for a in inner] == ["A"]
        assert inner[0].mins[0].is_equal_to(n.index("vi") * 4 + n.index("vj"))


STENCIL = """
for i in range(2, 8):
    for j in range(4):
        with T.block("C"):
            vi = T.axis.spatial((2, 8), i)
            vj = T.axis.spatial(4, j)
            C[vi, vj] = A[vi - 2, vj] + A[vi + 2, vj]
"""


def test_offsets_are_left_to_isl():
    """The box of A[i - 2] and A[i + 2] has no one minimum that intervals would see; each alone has."""
    with nest("A: T.Buffer((10, 4)), C: T.Buffer((8, 4))", STENCIL) as n:
        group = [a for a in accesses(n.func.op) if not a.is_write]
        assert box(group, n.func.op) is None
        found = box(group[1:], n.func.op)
        assert found is not None and [m.as_constant() for m in found.mins] == [4, 0]


def test_a_loop_variable_is_constant_below_its_loop():
    with nest("A: T.Buffer((10, 4)), C: T.Buffer((8, 4))", STENCIL) as n:
        writes = [a for a in accesses(n.func.op) if a.is_write]
        row = box(writes, n.loops["i"].op)
        assert row is not None and row.mins[0].is_equal_to(n.index("i")) and row.mins[1].as_constant() == 0
        assert [e.as_constant() for e in row.extents] == [1, 4] and row.dense
        assert box(writes, n.loops["i"].op, [n.index("i").is_value()]) == box(writes, n.func.op)


def test_one_access_fills_its_box():
    with nest("A: T.Buffer((10, 4)), C: T.Buffer((8, 4))", STENCIL) as n:
        found = box([a for a in accesses(n.func.op) if a.is_write], n.func.op)
        assert found is not None and found.dense
        assert [m.as_constant() for m in found.mins] == [2, 0] and [e.as_constant() for e in found.extents] == [6, 4]


def test_steps_do_not_fill_their_box():
    text = 'for i in range(4):\n    with T.block("C"):\n        vi = T.axis.spatial(4, i)\n        C[vi * 2] = 1.0'
    with nest("C: T.Buffer((8,))", text) as n:
        found = box(accesses(n.func.op), n.func.op)
        assert found is not None and not found.dense
        assert [e.as_constant() for e in found.extents] == [7]


def test_relations_of_iterations_and_elements():
    with nest("A: T.Buffer((10, 4)), C: T.Buffer((8, 4))", STENCIL) as n:
        reads = relations_of(n.func.op, n.buffers["A"])
        assert [str(t.element([2, 0])) for t in reads] == ["A[0, 0]", "A[4, 0]"]
        assert str(reads[0].iteration_at([5, 3])) == "C(i=5, j=3)"
        groups = written_groups(n.func.op)
        assert [[t.access.kind for t in group] for group in groups] == [["write"]]  # nothing writes A
