"""cache_write and set_scope: placement of the copy back, effects of a new scope."""

from harness.schedules import block_order
from programs.matmul import matmul
from programs.short import each, program
from programs.sizes import matmul_sizes
from programs.stages import FORK, HALVES, Fork, Halves, ViewedInTiles

from tir_mlir import Schedule

# --- cache_write ----------------------------------------------------------------------------------------------------


def test_write_back_at_the_end(same_result):
    sch = Schedule(Fork)
    made = sch.cache_write(sch.get_block("D"), 0, "shared")
    assert block_order(sch) == ["B", "D", "C", "D_shared"]
    assert sch.get(made).reads == ["D_shared"] and sch.get(made).writes == ["D"]
    same_result(sch, Fork, *FORK)


def test_write_back_before_the_first_reader(same_result):
    sch = Schedule(Fork)
    sch.cache_write(sch.get_block("B"), 0, "shared")
    assert block_order(sch) == ["B", "D", "B_shared", "C"]
    assert "B_shared[vi, vj] = A[vi, vj]" in sch.mod.script()
    same_result(sch, Fork, *FORK)


def test_reduction_with_its_init_moves_to_the_cache(same_result):
    sch = Schedule(matmul(20, 24, 18))
    sch.cache_write(sch.get_block("C"), "C", "global.acc")
    text = sch.mod.script()
    assert "C_global_acc[vi, vj] = T.float32(0.0)" in text
    assert text.count("C[") == 2
    same_result(sch, matmul(20, 24, 18), *matmul_sizes(20, 24, 18))


def test_listed_consumers_read_the_cache(same_result):
    sch = Schedule(Halves)
    sch.cache_write(sch.get_block("B"), 0, "local", consumer_blocks=[sch.get_block("C")])
    text = sch.mod.script()
    assert "B_local[vi, 7 - vj]" in text and "D[vi, vj] = B[vi, vj]" in text
    same_result(sch, Halves, *HALVES)


def test_write_back_inside_a_shared_loop(same_result):
    sch = Schedule(Halves)
    sch.cache_write(sch.get_block("B"), 0, "local")
    assert block_order(sch) == ["B", "B_local", "C", "D"]
    same_result(sch, Halves, *HALVES)


def test_partial_writes_are_copied_back_only_where_written(same_result):
    Inner = program("A:8 Y:20", each("Y", "Y[vi + 6] = A[vi]"))
    sch = Schedule(Inner)
    sch.cache_write(sch.get_block("Y"), 0, "local")
    text = sch.mod.script()
    assert "Y_local = T.alloc_buffer((8,)" in text and "Y_local[vi] = A[vi]" in text
    assert "Y[v0 + 6] = Y_local[v0]" in text
    same_result(sch, Inner, ((8,), "float32"), ((20,), "float32"))


# --- set_scope ------------------------------------------------------------------------------------------------------


def test_set_scope_renames_everywhere(same_result):
    sch = Schedule(Fork)
    sch.set_scope(sch.get_block("B"), 0, "shared")
    text = sch.mod.script()
    assert 'B_shared = T.alloc_buffer((8, 12), scope="shared")' in text
    assert "C[vi, vj] = B_shared[vi, vj] + A[7 - vi, vj]" in text
    same_result(sch, Fork, *FORK)


def test_set_scope_to_the_same_scope_does_nothing():
    sch = Schedule(Fork)
    before = sch.mod.script()
    sch.set_scope(sch.get_block("B"), 0, "global")
    assert sch.mod.script() == before


def test_set_scope_retypes_views():

    sch = Schedule(ViewedInTiles)
    sch.set_scope(sch.get_block("B"), "B", "shared")
    assert "T.match_buffer(B_shared[" in sch.mod.script()
    assert 'scope="shared"' in sch.mod.script().split("T.match_buffer(")[1].split("\n")[0]
