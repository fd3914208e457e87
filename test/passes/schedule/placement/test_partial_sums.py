"""compute_at and reverse_compute_at of parts of sums, which loops around both places run, or saw one by one."""

from programs.parsed import parse
from programs.short import main, nest, program, sblock

from tir_mlir import Schedule

PARTS_READ = main(
    "A:4x5 D:4x5; P:4 C:4",
    nest(
        "i:4 k:5",
        nest("u:1", sblock("P", "vi:4=i", "P[vi] = A[vi, 0] * 2.0")),
        sblock("C", "SR i k", "C[vi] += A[vi, vk] * P[vi]", init="C[vi] = 0.0"),
        nest("w:1", sblock("D", "SS i k", "D[vi, vk] = C[vi]")),
    ),
)
SUM_READ = main(
    "A:4x5 D:4; C:4",
    nest(
        "i:4",
        nest("k:5", sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0")),
        nest("w:1", sblock("D", "vi:4=i", "D[vi] = C[vi]")),
    ),
)


def test_a_sum_whose_parts_are_read_does_not_move_to_their_reader(refused):
    sch = Schedule(parse(PARTS_READ))
    refused(sch, 'loop k.* runs the reduction of block "C"', lambda: sch.compute_at("C", sch.get_loops("D")[2]))


def test_a_sum_whose_parts_are_read_does_not_move_to_its_producer(refused):
    sch = Schedule(parse(PARTS_READ))
    refused(sch, 'loop k.* runs the reduction of block "C"', lambda: sch.reverse_compute_at("C", sch.get_loops("P")[2]))


def test_a_sum_read_after_its_loop_moves(same_result):
    sch = Schedule(parse(SUM_READ))
    sch.compute_at("C", sch.get_loops("D")[1])
    same_result(sch, parse(SUM_READ), ((4, 5), "float32"), ((4,), "float32"))


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
