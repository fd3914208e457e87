"""cache_index: which expressions, where they are computed, and that accesses remain known; every refusal."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference


def resize(n: int):
    return program(
        f"A:3x{n}x{n} B:3x{n * 2}x{n * 2}",
        each(f"resize c:3 i:{n}*2 j:{n}*2", "B[vc, vi, vj] = A[vc, vi // 4 + vj // 4, vj // 2]"),
    )


Shared = program(
    "A:40x40 B:16x16 P:16:int32",
    each(
        "b:16x16",
        "B[vi, vj] = 0.0",
        nest("k:3", "B[vi, vj] = B[vi, vj] + A[vi // 2 + 1, vj * 2 + k] * A[vi // 2 + 2, vj * 2]"),
    ),
    each("p:16", "P[vi] = vi * 3 % 7 - 2"),
)
"""Terms that several indices have in common, one with a variable of an inner loop, one used as data."""
SHARED = [((40, 40), "float32"), ((16, 16), "float32"), ((16,), "int32")]


def regions_of(sch: Schedule, name: str) -> str:
    """The line of `T.reads` of a block."""
    text = sch.mod.script()
    return text[text.index(f'T.block("{name}")') :].split("T.reads(")[1].split("\n")[0]


# --- what it makes ----------------------------------------------------------------------------------------------------


def test_two_expressions():
    Expected = program(
        "A:3x40x40 B:3x80x80 index_var_0:80x80:int32 index_var_1:80:int32",
        nest("ax0:80 ax1:80", sblock("index_0", "v0:80=ax0 v1:80=ax1", "index_var_0[v0, v1] = v0 // 4 + v1 // 4")),
        nest("ax0:80", sblock("index_1", "v0:80=ax0", "index_var_1[v0] = v0 // 2")),
        each("resize c:3 i:80 j:80", "B[vc, vi, vj] = A[vc, index_var_0[vi, vj], index_var_1[vj]]"),
    )
    sch = Schedule(resize(40))
    made = sch.cache_index("resize", "global")
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    assert [sch.get(b).name for b in made] == ["index_0", "index_1"]


@pytest.mark.parametrize("n", [8, 16, 20])
@pytest.mark.parametrize("threshold", [0, 1])
def test_values(n, threshold, same_result):
    sch = Schedule(resize(n))
    sch.cache_index("resize", "local", threshold)
    same_result(sch, resize(n), ((3, n, n), "float32"), ((3, 2 * n, 2 * n), "float32"))


def test_the_accesses_stay_known():
    sch = Schedule(resize(40))
    sch.cache_index("resize", "local")
    assert "A[vc, vi // 4 + vj // 4, vj // 2]" in regions_of(sch, "resize")
    sch.vectorize(sch.get_loops("resize")[2])
    sch.parallel(sch.get_loops("resize")[0])


def test_terms_met_twice(same_result):
    sch = Schedule(Shared)
    made = sch.cache_index("b", "local", 2)
    text = sch.mod.script()
    assert [sch.get(b).name for b in made] == ["index_0", "index_1"]
    assert "index_var_0[v0] = v0 // 2" in text and "index_var_1[v0] = v0 * 2" in text
    assert (
        "A[index_var_0[vi] + 1, k + index_var_1[vj]]" in text or "A[index_var_0[vi] + 1, index_var_1[vj] + k]" in text
    )
    same_result(sch, Shared, *SHARED)


def test_largest_terms(same_result):
    sch = Schedule(Shared)
    sch.cache_index("b", "local")
    text = sch.mod.script()
    assert "index_var_0[v0] = v0 // 2 + 1" in text and "index_var_1[v0] = v0 // 2 + 2" in text
    same_result(sch, Shared, *SHARED)


def test_an_index_as_data(same_result):
    sch = Schedule(Shared)
    sch.cache_index("p", "local")
    assert "P[vi] = index_var_0[vi]" in sch.mod.script()
    same_result(sch, Shared, *SHARED)


def test_places_that_are_written(same_result):
    Written = program("A:16x16 B:16x16", each("b:16x16", "B[15 - vi, vj] = A[15 - vi, vj]"))
    sch = Schedule(Written)
    sch.split(sch.get_loops("b")[0], [None, 5])
    sch.cache_index("b", "local")
    assert "B[index_var_0[vi], vj] = A[index_var_0[vi], vj]" in sch.mod.script()
    assert "T.writes(B[15 - vi, vj])" in sch.mod.script()
    same_result(sch, Written, ((16, 16), "float32"), ((16, 16), "float32"))


def test_inside_a_block(same_result):
    Rows = program("A:16x16 B:16x16", each("b:16x16", "B[vi, vj] = A[vi, (vj + vi) % 16]"))
    sch = Schedule(Rows)
    _i, j = sch.get_loops("b")
    _j_0, j_1 = sch.split(j, [None, 4])
    sch.blockize(j_1)
    sch.cache_index("b", "local")
    same_result(sch, Rows, ((16, 16), "float32"), ((16, 16), "float32"))


def test_symbolic_sizes_need_wide_integers(same_result):
    Symbolic = program("A:n B:n", each("b i:n", "B[vi] = A[n - 1 - vi]"))
    sch = Schedule(Symbolic)
    sch.cache_index("b", "local")
    assert 'index_var_0 = T.alloc_buffer((n,), "int64"' in sch.mod.script()
    for n in (1, 16, 17):
        same_result(sch, Symbolic, ((n,), "float32"), ((n,), "float32"))


# --- refusals, and tables of other programs ---------------------------------------------------------------------------


def test_refusals(refused):
    Plain = program("A:16x16 B:16x16", each("b:16x16", "B[vi, vj] = A[vj, vi]"))
    sch = Schedule(Plain)
    refused(
        sch,
        '"b" has no index expression, other than variables, that is used at least 1 times',
        lambda: sch.cache_index("b", "local"),
    )
    sch = Schedule(resize(8))
    refused(sch, "used at least 2 times", lambda: sch.cache_index("resize", "local", 2))
    refused(sch, "'fast' is not a storage scope", lambda: sch.cache_index("resize", "fast"))


def test_a_table_that_leads_out_of_a_buffer():
    with pytest.raises(ScriptError, match="A is read at index 16 in dimension 0"), enter_context():

        @I.ir_module
        class Beyond:
            @T.prim_func
            def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
                X = T.alloc_buffer((16,), "int32")
                for i in range(16):
                    with T.block("x"):
                        vi = T.axis.spatial(16, i)
                        X[vi] = vi + 1
                for i in range(16):
                    with T.block("b"):
                        vi = T.axis.spatial(16, i)
                        B[vi] = A[X[vi]]


def test_buffers_that_are_not_index_tables_are_unknown():
    Twice = program(
        "A:16 B:16 P:16:int32; X:16:int32",
        each("x:16", "X[vi] = vi // 2"),
        each("y:16", "X[vi] = P[vi]"),
        each("b:16", "B[vi] = A[X[vi]]"),
    )
    assert "A[0:16]" in regions_of(Schedule(Twice), "b")


# --- casts and floats -------------------------------------------------------------------------------------------------


def resized(index: str, again: str = ""):
    more = f" + A[vi, {again}]" if again else ""
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((5, 16), "float32"), I: T.Buffer((9,), "int32"), C: T.Buffer((5, 9), "float32")):
    for i, j in T.grid(5, 9):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, {index}]{more}
""")


NEAREST = 'T.Cast("int32", T.floor((T.Cast("float32", vj) + 0.5) * 1.5))'
RESIZED = [((5, 16), "float32"), ((9,), "int32"), ((5, 9), "float32")]


@pytest.mark.parametrize(("index", "dtype"), [(NEAREST, "int32"), ('T.Cast("int64", vj) + T.int64(1)', "int64")])
def test_a_computed_index_is_one_expression(index, dtype, same_result):
    program = resized(index)
    sch = Schedule(program)
    (made,) = sch.cache_index("C", "global", 0)
    assert sch.get(made).name == "index_0"
    text = sch.mod.script()
    assert f'index_var_0 = T.alloc_buffer((9,), "{dtype}")' in text and "A[vi, index_var_0[vj]]" in text
    same_result(sch, program, *RESIZED)


def test_equal_computations_share_a_buffer(same_result):
    program = resized(NEAREST, NEAREST)
    sch = Schedule(program)
    assert len(sch.cache_index("C", "global", 2)) == 1
    assert sch.mod.script().count("A[vi, index_var_0[vj]]") == 2
    same_result(sch, program, *RESIZED)


def test_an_index_beside_a_computed_one(same_result):
    program = resized(NEAREST, "vj + 4")
    sch = Schedule(program)
    assert len(sch.cache_index("C", "global", 0)) == 2
    assert "A[vi, index_var_0[vj]] + A[vi, index_var_1[vj]]" in sch.mod.script()
    same_result(sch, program, *RESIZED)


def test_a_weight_computed_from_iters(same_result):
    """Linear interpolation: the index and the weight of the right neighbor."""
    at = "(T.Cast('float32', vj) * T.float32(1.5))"
    below = f"T.Cast('int32', T.floor({at}))"
    program = parse(
        main("A:5x16 C:5x9", each("C:5x9", f"C[vi, vj] = A[vi, {below}] * ({at} - T.floor({at})) + A[vi, {below} + 1]"))
    )
    sch = Schedule(program)
    assert len(sch.cache_index("C", "global", 0)) == 3
    text = sch.mod.script()
    assert "A[vi, index_var_0[vj]] * index_var_2[vj] + A[vi, index_var_1[vj]]" in text
    assert "index_var_2 = T.alloc_buffer((9,))" in text
    same_result(sch, program, ((5, 16), "float32"), ((5, 9), "float32"))


def test_a_division_by_an_iter_stays_under_its_guard(same_result):
    """At vj = 0 the division would trap, and the block does not run."""
    program = parse(
        main(
            "A:8:int32 C:8:int32",
            each(
                "C j:8",
                "C[vj] = A[vj // 2] + T.Cast('int32', T.Cast('int64', 7) // T.Cast('int64', vj))",
                where="j > 0",
            ),
        )
    )
    sch = Schedule(program)
    assert len(sch.cache_index("C", "global", 0)) == 1
    assert "T.int64(7) // T.Cast" in sch.mod.script()
    same_result(sch, program, ((8,), "int32"), ((8,), "int32"))


def test_different_computations_are_too_rare(refused):
    sch = Schedule(resized(NEAREST, NEAREST.replace("1.5", "1.25")))
    refused(sch, "is used at least 2 times", lambda: sch.cache_index("C", "global", 2))


def test_an_index_computed_from_data_is_refused(refused):
    sch = Schedule(resized('T.Cast("int32", T.Cast("float32", I[vj]) * 0.5)'))
    refused(sch, "has no index expression", lambda: sch.cache_index("C", "global", 0))
