"""pad_einsum: iters of any extent become whole tiles, and every result keeps its value, or the step is refused."""

from __future__ import annotations

import pytest
from programs.matmul import matmul_nt
from programs.short import each, nest, program, sblock
from programs.sizes import matmul_nt_sizes

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleWarning
from tir_mlir.script.structural_equal import difference


def one(body: str, extent: int = 7, init: str = "C[vi] = 0.0"):
    """C of 7 from A of 7 x 5, B of 7 and D of 5, with a reduction over 5."""
    lines = "\n            ".join(body.splitlines())
    return program("A:7x5 B:7 D:5 C:7", each(f"C i:{extent} k:5R", f"{lines}", init=f"{init}"))


# --- what it makes ----------------------------------------------------------------------------------------------------


def test_a_product():
    Expected = program(
        "A:13x15 B:16x15 C:13x16; A_pad:16x16 B_pad:16x16 C_pad:16x16",
        nest(
            "i0:16 i1:16",
            sblock(
                "A_pad",
                "v0:16=i0 v1:16=i1",
                "A_pad[v0, v1] = T.if_then_else(v0 < 13 and v1 < 15, A[v0, v1], T.float32(0))",
            ),
        ),
        nest(
            "i0:16 i1:16",
            sblock("B_pad", "v0:16=i0 v1:16=i1", "B_pad[v0, v1] = T.if_then_else(v1 < 15, B[v0, v1], T.float32(0))"),
        ),
        each("C i:16 j:16 k:16R", "C_pad[vi, vj] += A_pad[vi, vk] * B_pad[vj, vk]", init="C_pad[vi, vj] = 0.0"),
        nest("i0:13 i1:16", sblock("C_pad", "v0:13=i0 v1:16=i1", "C[v0, v1] = C_pad[v0, v1]")),
    )
    sch = Schedule(matmul_nt(13, 16, 15))
    block = sch.get_block("C")
    assert sch.pad_einsum(block, [16, 16, 16]) is None
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    assert [sch.get(lp).extent for lp in sch.get_loops(block)] == [16, 16, 16]


def test_nothing_to_pad():
    sch = Schedule(matmul_nt(8, 16, 4))
    before = sch.mod.script()
    sch.pad_einsum("C", [4, 8, 1])
    assert sch.mod.script() == before


@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (15, 16, 17), (17, 1, 5), (2, 127, 3)])
@pytest.mark.parametrize("padding", [[16, 16, 16], [4, 1, 1], [1, 1, 8], [3, 5, 7]])
def test_every_size(n, m, k, padding, same_result):
    sch = Schedule(matmul_nt(n, m, k))
    sch.pad_einsum("C", padding)
    same_result(sch, matmul_nt(n, m, k), *matmul_nt_sizes(n, m, k))


@pytest.mark.parametrize("dtype", ["int32", "float16", "float64"])
def test_types(dtype, same_result):
    sch = Schedule(matmul_nt(5, 6, 7, dtype))
    sch.pad_einsum("C", [4, 4, 4])
    same_result(sch, matmul_nt(5, 6, 7, dtype), *matmul_nt_sizes(5, 6, 7, dtype))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17])
def test_a_symbolic_size(n, same_result):
    Symbolic = program(
        "A:nx8 B:9x8 C:nx9", each("C i:n j:9 k:8R", "C[vi, vj] += A[vi, vk] * B[vj, vk]", init="C[vi, vj] = 0.0")
    )
    sch = Schedule(Symbolic)
    sch.pad_einsum("C", [16, 4, 4])
    assert "A_pad = T.alloc_buffer(((n + 15) // 16 * 16, 8))" in sch.mod.script()
    same_result(sch, Symbolic, ((n, 8), "float32"), ((9, 8), "float32"), ((n, 9), "float32"))


def test_split_loops_stay(same_result):
    sch = Schedule(matmul_nt(13, 6, 7))
    i = sch.get_loops("C")[0]
    sch.split(i, [None, 4])
    sch.pad_einsum("C", [16, 1, 8])
    assert [sch.get(lp).extent for lp in sch.get_loops("C")] == [4, 4, 6, 8]
    same_result(sch, matmul_nt(13, 6, 7), *matmul_nt_sizes(13, 6, 7))


@pytest.mark.parametrize(
    ("axis", "factors", "padding", "extents"),
    [
        (2, [1, None], [1, 1, 16], [12, 6, 1, 16]),
        (2, [2, 2, 2], [1, 1, 16], [12, 6, 4, 2, 2]),
        (0, [3, 4], [16, 4, 5], [4, 4, 8, 10]),
        (1, [None, 1], [1, 4, 1], [12, 8, 1, 8]),
    ],
)
def test_the_outermost_loop_of_an_iter_grows(axis, factors, padding, extents, same_result):
    program = matmul_nt(12, 6, 8)
    sch = Schedule(program)
    sch.split(sch.get_loops("C")[axis], factors)
    sch.pad_einsum("C", padding)
    assert [sch.get(lp).extent for lp in sch.get_loops("C")] == extents
    same_result(sch, program, *matmul_nt_sizes(12, 6, 8))
    assert sch.verify()


@pytest.mark.parametrize(("axis", "factors", "padding"), [(0, [4, 3], [16, 4, 8]), (0, [None, 5], [16, 4, 8])])
def test_an_iter_whose_loops_cannot_grow_is_left_unpadded(axis, factors, padding, same_result):
    program = matmul_nt(12 if factors[0] else 11, 6, 7)
    sch = Schedule(program)
    sch.split(sch.get_loops("C")[axis], factors)
    with pytest.warns(ScheduleWarning, match='iter vi of block "C" is left unpadded: its loops cannot grow'):
        sch.pad_einsum("C", padding)
    assert f"A_pad = T.alloc_buffer(({12 if factors[0] else 11}, 8))" in sch.mod.script()
    same_result(sch, program, *matmul_nt_sizes(12 if factors[0] else 11, 6, 7))
    assert sch.verify()


def test_loops_that_stay_run_the_added_part_for_all_sizes(refused):
    """Fused, the loops make n * 2 pairs: vk of n is not run up to the next even number where n is odd."""

    Rows = program("A:nx2 B:2", each("B k:nR j:2", "B[vj] += A[vk, vj]", init="B[vj] = 0.0"))
    sch = Schedule(Rows)
    sch.fuse(*sch.get_loops("B"))
    with pytest.warns(ScheduleWarning, match='iter vk of block "B" is left unpadded'):
        sch.pad_einsum("B", [2, 1])
    sch = Schedule(Rows)
    sch.pad_einsum("B", [2, 1])
    assert sch.verify()


def test_an_index_that_is_a_constant(same_result):
    Row = program(
        "A:2x5 C:3x5 D:3x5; Y:3x5", each("Y:5", "Y[2, vi] = A[1, vi] + C[0, vi]"), each("D:3x5", "D[vi, vj] = Y[2, vj]")
    )
    sch = Schedule(Row)
    sch.pad_einsum("Y", [4])
    same_result(sch, Row, ((2, 5), "float32"), ((3, 5), "float32"), ((3, 5), "float32"))


def test_an_iter_of_one_value_that_no_loop_moves_is_left_unpadded():
    sch = Schedule(program("A:1x5 C:1x5", nest("j:5", sblock("C", "vi:1=0 vj:5=j", "C[vi, vj] = A[0, vj]"))))
    with pytest.warns(ScheduleWarning, match='iter vi of block "C" is left unpadded'):
        sch.pad_einsum("C", [2, 4])
    assert sch.verify()


def test_a_domain_shorter_than_its_buffer(same_result):
    """Beyond the old end of an iter the copy holds zeros, whatever the buffer has there."""

    Part = program("A:7x9 C:7", each("C i:7 k:5R", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
    sch = Schedule(Part)
    sch.pad_einsum("C", [1, 8])
    same_result(sch, Part, ((7, 9), "float32"), ((7,), "float32"))


@pytest.mark.parametrize(
    ("body", "padding"),
    [
        ("C[vi] += A[vi, vk] + D[vk]", [4, 4]),
        ("C[vi] += A[vi, vk] * T.float32(3)", [4, 4]),
        ("C[vi] += A[0, vk] * D[vk]", [1, 4]),
        ("C[vi] += T.max(A[vi, vk], D[vk])", [4, 4]),
        ("C[vi] += T.if_then_else(vk < 3, A[vi, vk], D[vk])", [4, 4]),
        ("C[vi] += A[vi, vk] * B[vi]", [4, 1]),
        ("C[vi] += T.exp(A[vi, vk])", [4, 1]),
    ],
)
def test_terms_that_may_be_padded(body, padding, same_result):
    program = one(body)
    sch = Schedule(program)
    sch.pad_einsum("C", padding)
    sizes = ((7, 5), "float32"), ((7,), "float32"), ((5,), "float32"), ((7,), "float32")
    same_result(sch, program, *sizes)


def test_an_integer_term(same_result):
    Scaled = program(
        "A:7x5:int32 B:7:int32 C:7:int32", each("C i:7 k:5R", "C[vi] += A[vi, vk] * B[vi]", init="C[vi] = 0")
    )
    sch = Schedule(Scaled)
    sch.pad_einsum("C", [4, 4])
    same_result(sch, Scaled, ((7, 5), "int32"), ((7,), "int32"), ((7,), "int32"))


# --- what it refuses --------------------------------------------------------------------------------------------------

TERMS = [
    ("C[vi] += A[vi, vk] * B[vi]", "C[vi] = 0.0", "a product with 0 is not 0 if the other factor is infinite"),
    ("C[vi] += T.exp(A[vi, vk])", "C[vi] = 0.0", "the added terms are not known to be 0"),
    ("C[vi] += A[vi, vk] + B[vi]", "C[vi] = 0.0", "the added terms are not known to be 0"),
    ("C[vi] = T.max(C[vi], A[vi, vk])", "C[vi] = T.min_value('float32')", "changes a max .for -1: it would become 0"),
    ("C[vi] = C[vi] * A[vi, vk]", "C[vi] = 1.0", "changes a product .for 2 and 3: 6 would become 0"),
    ("C[vi] += A[vi, (vk + 1) % 5]", "C[vi] = 0.0", "at an index other than iters and constants"),
    ("C[vi] += D[vk] + D[0]", "C[vi] = 0.0", "accesses D at two different indices"),
]


@pytest.mark.parametrize(("body", "init", "match"), TERMS)
def test_refuses_terms(body, init, match, refused):
    sch = Schedule(one(body, init=init))
    refused(sch, match, lambda: sch.pad_einsum("C", [1, 4]))


def test_refuses_arguments(refused):
    sch = Schedule(matmul_nt(4, 5, 6))
    refused(sch, 'padding has 2 numbers, block "C" has 3 iters', lambda: sch.pad_einsum("C", [4, 4]))
    refused(sch, "the padding 0 is not positive", lambda: sch.pad_einsum("C", [4, 0, 4]))
    sch.decompose_reduction("C", sch.get_loops("C")[0])
    refused(sch, 'block "C_update" has the reduce iter', lambda: sch.pad_einsum("C_update", [4, 4, 4]))


def longer_domain(outside: str = "T.float32(0)"):
    """A domain longer than the input, which a condition keeps inside."""
    return program(
        "A:6x9 B:8",
        each("B i:8 k:10R", f"B[vi] += T.if_then_else(vi < 6 and vk < 9, A[vi, vk], {outside})", init="B[vi] = 0.0"),
    )


@pytest.mark.parametrize("padding", [[16, 1], [1, 4], [5, 4]])
def test_a_domain_longer_than_an_input(padding, same_result):
    program = longer_domain()
    sch = Schedule(program)
    sch.pad_einsum("B", padding)
    same_result(sch, program, ((6, 9), "float32"), ((8,), "float32"))
    assert sch.verify()


def test_terms_outside_an_input_that_are_not_zero_are_refused(refused):
    sch = Schedule(longer_domain("T.float32(1)"))
    refused(sch, "the added terms are not known to be 0", lambda: sch.pad_einsum("B", [1, 4]))


# --- what has its padding already -------------------------------------------------------------------------------------


def read_of_larger(filled: int, body: str = "C[vi] = b[vi] * 2.0"):
    """A block of 13 elements behind one that fills so many of a buffer of 16."""
    return program("A:16 C:13 b:16", each(f"B:{filled}", "b[vi] = A[vi] + 1.0"), each("C:13", body))


def test_a_buffer_of_the_padded_size_is_read_as_it_is():
    sch = Schedule(read_of_larger(16))
    sch.pad_einsum("C", [16])
    assert "b_pad" not in sch.mod.script() and "C_pad[vi] = b[vi]" in sch.mod.script()
    assert sch.verify()


def test_what_nothing_fills_is_copied_with_zeros():
    sch = Schedule(read_of_larger(13))
    sch.pad_einsum("C", [16])
    assert "b_pad" in sch.mod.script()
    assert sch.verify()


def test_a_sum_over_the_padding_reads_zeros():
    total = each("C k:13R", "C[0] += b[vk]", init="C[0] = 0.0")
    sch = Schedule(program("A:16 C:1 b:16", each("B:16", "b[vi] = A[vi] + 1.0"), total))
    sch.pad_einsum("C", [16])
    assert "b_pad" in sch.mod.script()
    assert sch.verify()
