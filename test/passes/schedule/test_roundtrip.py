"""Scheduled programs round-trip through TVMScript: guards, constants, gathers, declared regions, padded sums, int64."""

import pytest
from harness.schedules import reads_back
from programs.parsed import parse
from programs.short import each, main, nest, sblock, under

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScriptError

GUARDED = main(
    "A:7x5 B:7x5",
    nest(
        "s:1 i_0:2 i_1:4 j:5",
        sblock("B", "vi:7=i_0 * 4 + i_1 vj:5=j", "B[vi, vj] = A[vi, vj]", where="i_0 * 4 + i_1 < 7"),
    ),
)


def test_a_guard_prints_as_an_or_only_where_it_reads_back():
    sch = Schedule(parse(GUARDED))
    sch.fuse(*sch.get_loops("B")[:3])
    assert "T.where(s_i_0_i_1_fused < 7)" in sch.mod.script()
    reads_back(sch)


DECIDED = main(
    "A:1:int16 B:1:int16",
    each("B:1", under("if vi < 0:", "B[vi] = A[vi] + T.int16(1)"), under("else:", "B[vi] = A[vi] - T.int16(2)")),
)


def test_a_choice_that_other_iters_decide_is_taken():
    sch = Schedule(parse(DECIDED))
    sch.transform_block_layout("B", lambda i: i * 2)
    assert "if " not in sch.mod.script()
    reads_back(sch)


LOWEST = main(
    "A:4:int32 B:4:int32; C:4:int32", each("C:4", "C[vi] = T.min_value('int32')"), each("B:4", "B[vi] = C[vi] + A[vi]")
)


def test_a_constant_beyond_the_type_that_it_is_converted_to():
    sch = Schedule(parse(LOWEST))
    sch.unsafe_set_dtype("C", 0, "int8")
    assert 'T.Cast("int8", T.int32(-2147483648))' in sch.mod.script()
    reads_back(sch)


LOWEST_64 = main("A:4:int64 B:4:int64; C:4:int64", each("C:4", "C[vi] = NUMBER"), each("B:4", "B[vi] = C[vi] + A[vi]"))


@pytest.mark.parametrize(
    ("number", "printed"),
    [
        ("T.min_value('int64')", "T.bfloat16(-9.223372036854776e+18)"),
        ("T.int64(9007199254740993)", 'T.Cast("bfloat16", T.int64(9007199254740993))'),  # no double: rounded once
    ],
)
def test_an_integer_that_is_converted_to_a_float(number, printed):
    sch = Schedule(parse(LOWEST_64.replace("NUMBER", number)))
    sch.unsafe_set_dtype("C", 0, "bfloat16")
    assert printed in sch.mod.script()
    reads_back(sch)


OWN_INDEX = main("a:n:int32 c:n:int32;", each("C i:n", "c[vi] = a[vi] + vi * 2"))


def test_an_index_from_a_wide_table_keeps_the_type_of_the_value():
    sch = Schedule(parse(OWN_INDEX))
    sch.cache_index("C", "global", 1)
    assert '"int64"' in sch.mod.script() and 'T.Cast("int32", index_var_0[vi])' in sch.mod.script()
    reads_back(sch)
    assert sch.verify()


INDEX_OF_ONE = main(
    "A:2 C:1; B:1", each("B:1", "B[0] = A[vi * 2 + 1]"), each("C:1", "C[vi] = B[vi] + T.Cast('float32', vi * 2 + 1)")
)


def test_an_index_that_became_constant_is_a_constant():
    sch = Schedule(parse(INDEX_OF_ONE))
    sch.reverse_compute_inline("C")
    assert "T.float32(1.0)" in sch.mod.script()
    reads_back(sch)


LEAST = main(
    "A:4x3:float16 D:4:float16; C:4:float16",
    each("C i:4 k:3R", "C[vi] = T.max(C[vi], A[vi, vk])", init="C[vi] = T.min_value('float16')"),
    each("D:4", "D[vi] = C[vi]"),
)


def test_a_constant_that_is_converted_by_way_of_another_type():
    sch = Schedule(parse(LEAST))
    sch.unsafe_set_dtype("C", 0, "bfloat16")
    assert "C[vi] = T.bfloat16(-65536.0)" in sch.mod.script()
    reads_back(sch)


SIZED = main(
    "A:n:int32 C:n:int32",
    nest(
        "i:1",
        sblock(
            "o",
            "vo:1=i",
            "T.reads(A[vo:n])",
            "T.writes(C[vo:n])",
            nest("j:n", sblock("C", "vi:n=j", "C[vi] = A[vi] + 1")),
        ),
    ),
)


def test_a_size_that_only_both_declared_regions_use():
    assert reads_back(Schedule(parse(SIZED)))


GATHERED = main(
    "A:9x7 I:5:int32 C:5x7; B:9x7",
    each("B:9x7", "B[vi, vj] = T.if_then_else(vj >= 1, A[vi, vj - 1], T.float32(0))"),
    each("C:5x7", "C[vi, vj] = B[I[vi], vj]"),
)


def test_an_affine_index_next_to_a_loaded_one():
    sch = Schedule(parse(GATHERED))
    sch.compute_inline("B")
    assert "A[I_[vi], vj - 1]" in sch.mod.script()
    reads_back(sch)
    sch = Schedule(parse(GATHERED))
    sch.transform_layout("B", ("write", 0), lambda i, j: (i, 6 - j))
    assert "B[I_[vi], 6 - vj]" in sch.mod.script()
    reads_back(sch)


def test_a_number_added_to_a_loaded_index():
    sch = Schedule(parse(GATHERED))
    sch.transform_layout("B", ("write", 0), lambda i, j: (i + 1, j), pad_value=0)
    assert "B[I_[vi] + 1, vj]" in sch.mod.script()
    reads_back(sch)


GUARDED_ROW = main("C:2x4", each("C:2x4", "C[vi, vj] = T.float32(7)", where="i == 1 and j >= 1"))


def test_a_condition_that_is_decided_by_itself_is_dropped():
    """The guard itself goes with it."""
    sch = Schedule(parse(GUARDED_ROW.replace(" and j >= 1", "")))
    sch.loop_partition(sch.get_loops("C")[0], [1], preserve_unit_iters=False)
    assert sch.mod.script().count("T.where") == 1  # where it never holds
    reads_back(sch)
    assert sch.verify()


def test_conditions_that_a_loop_of_one_iteration_decides():
    """One that holds goes; one that does not stays as it was: no program can say it without the loop."""
    sch = Schedule(parse(GUARDED_ROW))
    sch.loop_partition(sch.get_loops("C")[0], [1], preserve_unit_iters=False)
    assert "T.where(i0 == 1 and j >= 1)" in sch.mod.script() and "T.where(j >= 1)" in sch.mod.script()
    reads_back(sch)
    assert sch.verify()


SHIFTED = main("A:5 B:5", each("B:2", "B[vi + 3] = A[vi + 3] + T.float32(1)"))


@pytest.mark.parametrize("copies", [1, 2])
def test_a_scatter_through_a_copied_table(copies):
    """Iters are data-parallel for what the copy of a table holds, as for the table."""
    sch = Schedule(parse(SHIFTED))
    sch.cache_index("B", "shared", 1)
    sch.write_at(sch.get_loops("index_0")[0], "index_0", 0, "global.x")
    if copies == 2:
        sch.cache_read("B", 0, "local")
    assert "B[index_var_0" in sch.mod.script()
    reads_back(sch)
    assert sch.verify()


@pytest.mark.parametrize("factor", [1, 2])
def test_a_scatter_through_a_table_that_is_filled_in_tiles(factor):
    sch = Schedule(parse(SHIFTED))
    sch.cache_index("B", "shared", 1)
    sch.blockize(sch.split(sch.get_loops("index_0")[0], [None, factor])[1])
    sch.cache_write("index_0", 0, "local")
    assert "index_0_o" in sch.mod.script() and "B[index_var_0" in sch.mod.script()
    reads_back(sch)
    assert sch.verify()


COPIED = main(
    "A:4 B:4; S:4:int32 X:4:int32",
    each("S:4", "S[vi] = T.Cast('int32', vi)"),
    each("X:4", "X[vi] = S[{at}]"),
    each("B:4", "B[X[vi]] = A[vi]"),
)


def test_values_of_a_copied_table_are_read_at_their_new_position():
    parse(COPIED.format(at="3 - vi"))
    parse(COPIED.format(at="vi"))
    with pytest.raises(ScriptError, match="not provable that no two of its iterations touch one element of B"):
        parse(COPIED.format(at="vi // 2"))


TILED = main(
    "A:5x8 B:453",
    each("row:5", each("element j:8", "B[{at}] = A[vi, vj]")),
    each("rest:453", "B[vi] = T.float32(0)", where="(i - 5) % 64 < 59"),
)


def test_iters_of_a_block_inside_another_are_compared_for_one_iteration_of_that():
    parse(TILED.format(at="vj * 64 + vi"))
    with pytest.raises(ScriptError, match=r"iterations \(vj = 0\) and \(vj = 1\) touch the same element of B"):
        parse(TILED.format(at="vj // 2 * 64 + vi"))


FIRST_ONLY = main(
    "A:4 C:1; B:1", nest("i:{runs}", sblock("B", "vi:4=i", "B[0] = A[vi]", where="i < 2")), each("C:1", "C[vi] = B[vi]")
)


def test_the_kind_of_an_iter_is_checked_on_executed_iterations():
    parse(FIRST_ONLY.format(runs=1))
    with pytest.raises(ScriptError, match=r"iterations \(vi = 0\) and \(vi = 1\) touch the same element of B"):
        parse(FIRST_ONLY.format(runs=4))


ROW_OF_15 = main(
    "A:15:int8 B:15:int8",
    nest("i_0:8 i_1:2 j:1", sblock("B", "vi:15=i_0 * 2 + i_1", "B[vi] = A[vi]", where="i_0 * 2 + i_1 < 15")),
)


def test_segments_of_copies_that_a_condition_in_them_cuts_off():
    """Together they write what is there of the buffer."""
    sch = Schedule(parse(ROW_OF_15))
    i_0, i_1, j = sch.get_loops("B")
    sch.write_at(j, "B", 0, "global.x")
    sch.loop_partition(sch.fuse(i_0, i_1), [1, None, 1])
    reads_back(sch)
    assert sch.verify()


PADDED_SUM = main("P:5x2 C:1", each("C o:1 i:5R k:2R", "C[vo] = C[vo] + P[vi, vk]", init="C[vo] = T.float32(0)"))


def test_the_domain_of_an_iter_shrinks_to_the_use_of_its_epilogue():
    """`pad_einsum` made it 4; only the first is computed, where it is copied back."""
    sch = Schedule(parse(PADDED_SUM))
    sch.pad_einsum("C", [4, 1, 1])
    sch.compute_at("C", sch.get_loops("C_pad")[0])
    sch.fuse_reduction_epilogue("C", "C_pad")
    assert "C_pad = " not in sch.mod.script()
    reads_back(sch)
    assert sch.verify()


def test_a_quotient_that_is_not_to_be_more_than_0():
    """`either` makes such conditions, but this one says nothing of two."""
    sch = Schedule(parse(PADDED_SUM))
    outer = sch.split(sch.get_loops("C")[0], [None, 2])
    sch.fuse(*outer, sch.get_loops("C")[2])
    assert "T.where(o_0_o_1_i_fused // 5 < 1)" in sch.mod.script()
    reads_back(sch)
    assert sch.verify()


PADDED_ROW = main("P:15x2 C:15", each("C i:15 k:2R", "C[vi] = C[vi] + P[vi, vk]", init="C[vi] = T.float32(0)"))


def test_the_domain_of_an_iter_in_a_where_is_cut_too():
    sch = Schedule(parse(PADDED_ROW))
    sch.pad_einsum("C", [16, 1])
    sch.compute_at("C", sch.get_loops("C_pad")[0])
    sch.fuse_reduction_epilogue("C", "C_pad")
    reads_back(sch)
    assert sch.verify()


LOOKED_UP = main("I:4:{dtype} A:64 C:4x2", each("C:4x2", "C[vi, vj] = A[{index}]"))


@pytest.mark.parametrize("index", ["I[vi]", "I[vi] + vj", "(I[vi] * 2 + vj) // 3", "T.min(I[vi], vj)"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_indices_that_are_int64_numbers(dtype, index):
    """The map of the layout counts in `index`; in the text all that meets an int64 number is one."""
    sch = Schedule(parse(LOOKED_UP.format(dtype=dtype, index=index)))
    sch.transform_layout("C", ("read", 0), lambda i: (i // 4, i % 4), assume_injective_transform=True)
    assert ("T.int64(4)" in sch.mod.script()) == (dtype == "int64")
    reads_back(sch)
