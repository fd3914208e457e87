"""reverse_compute_at of a sum that accumulates parts, where loops around both places already run a part of it."""

from programs.short import nest, program, sblock

from tir_mlir import Schedule

ROWS = program(
    "A:2x9 C:2; B:2x9",
    nest(
        "i:2 ko:3",
        nest(
            "kk:4 ii:2", sblock("B", "vi:2=ii vk:9=ko * 4 + kk", "B[vi, vk] = A[vi, vk] + 1.0", where="ko * 4 + kk < 9")
        ),
        nest(
            "ki:4",
            sblock("C", "vi:2=i vk:9R=ko * 4 + ki", "C[vi] += B[vi, vk]", init="C[vi] = 0.0", where="ko * 4 + ki < 9"),
        ),
    ),
)


def test_only_the_part_of_the_common_loops_moves(same_result):
    sch = Schedule(ROWS)
    sch.reverse_compute_at("C", sch.get_loops("B")[2])
    assert [sch.get(lp).name for lp in sch.get_loops("C")] == ["i", "ko", "kk"]
    same_result(sch, ROWS, ((2, 9), "float32"), ((2,), "float32"))
    assert sch.verify()


def test_a_part_that_two_iterations_would_add_is_refused(refused):
    sch = Schedule(ROWS)
    message = 'some parts of the reduction of block "C" would be accumulated twice'
    refused(sch, message, lambda: sch.reverse_compute_at("C", sch.get_loops("B")[3]))
