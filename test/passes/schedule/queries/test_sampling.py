"""sample_categorical, sample_perfect_tile, sample_partitioned_tile, sample_compute_location, and the random numbers."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from programs.matmul import matmul_add
from programs.reduction import staged_row_sums
from programs.symbolic import add_one

from tir_mlir import Schedule
from tir_mlir.passes.schedule.queries import sampling
from tir_mlir.passes.schedule.queries.decider import Random


def values(sch: Schedule, handles) -> list[int | None]:
    return [None if h is None else sch.get(h) for h in handles]


# --- the random numbers -----------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_the_engine():
    random = Random.from_seed(1)
    assert [random.advance() for _ in range(3)] == [48271, 48271**2 % (2**31 - 1), 48271**3 % (2**31 - 1)]
    assert Schedule(matmul_add(8), seed=1).fork_seed() == 1581695857


@pytest.mark.parametrize("seed", [-1, 2**31, 2**40])
def test_seeds_have_a_range(seed):
    with pytest.raises(ValueError, match=r"a seed must be in \[0, 2\*\*31 - 1\]"):
        Schedule(matmul_add(8), seed=seed)
    with pytest.raises(ValueError, match="a seed must be in"):
        Schedule(matmul_add(8)).seed(seed)


def test_the_greatest_seed_draws_numbers():
    sch = Schedule(matmul_add(8), seed=2**31 - 1)
    assert len({sch.fork_seed() for _ in range(8)}) == 8


@pytest.mark.parametrize("seed", [True, 1.0, "1"])
def test_seeds_are_integers(seed):
    with pytest.raises(TypeError, match='"seed" has wrong type'):
        Schedule(matmul_add(8), seed=seed)


def choices(sch: Schedule) -> list[list[int | None]]:
    i, j, _ = sch.get_loops("C")
    return [values(sch, sch.sample_perfect_tile(lp, 3)) for lp in (i, j, i, j)]


@pytest.mark.parametrize("seed", [0, 7])
def test_a_seed_determines_all_choices(seed):
    first, second, other = (choices(Schedule(matmul_add(48), seed=s)) for s in (seed, seed, seed + 1))
    assert first == second != other


def test_a_schedule_without_a_seed_is_no_copy_of_another():
    found = {tuple(map(tuple, choices(Schedule(matmul_add(1 << 12))))) for _ in range(4)}
    assert len(found) > 1


def test_a_copy_is_independent():
    sch = Schedule(matmul_add(48), seed=7)
    one, two = sch.copy(), sch.copy()
    assert choices(one) != choices(two)
    sch.seed(5), one.seed(5)
    assert choices(sch) == choices(one)


def test_small_seeds_differ_too():
    found = {tuple(choices(Schedule(matmul_add(720), seed=s))[0]) for s in range(1, 13)}
    assert len(found) > 6


def test_a_refused_step_draws_no_number(refused):
    one, two = Schedule(matmul_add(48), seed=7), Schedule(matmul_add(48), seed=7)
    i = one.get_loops("C")[0]
    refused(one, "n is 0", lambda: one.sample_perfect_tile(i, 0), ValueError)
    assert choices(one) == choices(two)


def test_all_factors_are_equally_likely():
    random = Random.from_seed(3)
    found = Counter(tuple(sampling.sample_perfect(12, 3, 2, random)) for _ in range(4000))
    expected = {(a, b, c) for a in range(1, 13) for b in range(1, 13) for c in (1, 2) if a * b * c == 12}
    assert set(found) == expected
    assert min(found.values()) > 0.7 * 4000 / len(expected)


@pytest.mark.parametrize(("number", "n"), [(1, 1), (1, 4), (12, 3), (97, 2), (720, 4), ((2**31 - 1) * 4, 3)])
def test_counting_products(number, n):
    if number < 1000:

        def ways(left, n):
            return int(left == 1) if n == 0 else sum(ways(left // d, n - 1) for d in sampling.divisors(left))

        assert sampling.count_factorizations(number, n) == ways(number, n)
    assert math.prod(sampling.sample_factors(number, n, Random.from_seed(9))) == number


# --- sample_perfect_tile ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extent", [1, 15, 16, 17, 127, 360])
@pytest.mark.parametrize(("n", "most"), [(2, 1), (3, 4), (4, 16), (2, -1), (1, -1)])
def test_perfect_tiles_multiply_to_the_extent(extent, n, most):
    sch = Schedule(matmul_add(extent), seed=11)
    i = sch.get_loops("C")[0]
    for _ in range(8):
        found = values(sch, sch.sample_perfect_tile(i, n, most))
        assert len(found) == n and math.prod(found) == extent
        assert most == -1 or found[-1] <= most


def test_split_takes_the_handles(same_result):
    sch = Schedule(matmul_add(48), seed=2)
    i = sch.get_loops("C")[0]
    factors = sch.sample_perfect_tile(i, 3)
    loops = sch.split(i, factors)
    assert [sch.get(lp).extent for lp in loops] == values(sch, factors)
    same_result(sch, matmul_add(48), ((48, 16), "float32"), ((16, 32), "float32"), ((48, 32), "float32"))


@pytest.mark.parametrize(
    ("extent", "decision", "repaired"),
    [(64, [4, 4, 4], [4, 4, 4]), (60, [4, 4, 4], [1, 15, 4]),
     (17, [2, 2, 4], [1, 17, 1]), (64, [1, 1, 1], [64, 1, 1]), (64, [9, 9, 2], [1, 32, 2]), (8, [-1, 1, 1], [8, 1, 1])],
)  # fmt: skip
def test_a_decision_is_repaired_from_the_inside(extent, decision, repaired):
    sch = Schedule(matmul_add(extent))
    found = values(sch, sch.sample_perfect_tile(sch.get_loops("C")[0], 3, decision=decision))
    assert found == repaired
    assert f"decision={found}" in str(sch.trace)


def test_a_symbolic_extent_is_left_to_split():
    sch = Schedule(add_one(24))
    i = sch.get_loops("B")[0]
    for decision in (None, [4, 2, 2]):
        assert values(sch, sch.sample_perfect_tile(i, 3, decision=decision)) == [None, 1, 1]
    assert "_, v3, v4 = sch.sample_perfect_tile(loop=l1, n=3, max_innermost_factor=16, decision=[-1, 1, 1])" in str(
        sch.trace
    )
    sch.split(i, sch.sample_perfect_tile(i, 2))
    assert [lp.extent for lp in map(sch.get, sch.get_loops("B"))] == [None, 1, 24]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, r"needs n in \[1, 256\]; n is 0"),
        ({"n": 257}, r"needs n in \[1, 256\]; n is 257"),
        ({"n": 1}, "pass max_innermost_factor=-1"),
        ({"n": 2, "max_innermost_factor": 0}, "max_innermost_factor must be positive, or -1"),
        ({"n": 2, "decision": [4]}, r"has 2 factors; \[4\] has 1"),
        ({"n": 2, "decision": [4, 0]}, r"must be positive; they are \[4, 0\]"),
    ],
)
def test_perfect_tile_refuses(arguments, message, refused):
    sch = Schedule(matmul_add(16))
    i = sch.get_loops("C")[0]
    refused(sch, message, lambda: sch.sample_perfect_tile(i, **arguments), ValueError)


# --- sample_partitioned_tile ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("position", "inner"), [(0, 4), (1, 8), (2, 2), (3, 16), (1, 1)])
def test_the_inner_part_is_a_multiple(position, inner):
    sch = Schedule(matmul_add(240 * 2), seed=5)
    i = sch.get_loops("C")[0]
    for _ in range(8):
        found = values(sch, sch.sample_partitioned_tile(i, 4, position, inner))
        assert math.prod(found) == 480 and math.prod(found[position:]) % inner == 0


@pytest.mark.parametrize(
    ("extent", "decision", "found"),
    [(48, [2, 3, 8], [2, 3, 8]), (48, [16, 3, 1], [6, 8, 1]), (24, [16, 3, 1], [3, 8, 1]), (8, [2, 3, 8], [1, 1, 8])],
)
def test_a_partitioned_decision_is_repaired(extent, decision, found):
    sch = Schedule(matmul_add(extent))
    i = sch.get_loops("C")[0]
    assert values(sch, sch.sample_partitioned_tile(i, 3, 1, 8, decision=decision)) == found


def test_an_inner_part_that_cannot_be():
    sch = Schedule(matmul_add(17))
    assert values(sch, sch.sample_partitioned_tile(sch.get_loops("C")[0], 3, 1, 8)) == [None, 1, 1]


def test_partitioned_tile_refuses(refused):
    sch = Schedule(matmul_add(16))
    i = sch.get_loops("C")[0]
    refused(sch, r"partition_pos must be in \[0, 3\)", lambda: sch.sample_partitioned_tile(i, 3, 3), ValueError)
    refused(sch, "innerpart_factor must be positive", lambda: sch.sample_partitioned_tile(i, 3, 1, 0), ValueError)
    refused(sch, "n is -1", lambda: sch.sample_partitioned_tile(i, -1), ValueError)


# --- sample_categorical -----------------------------------------------------------------------------------------------


def test_categories_have_the_given_probabilities():
    sch = Schedule(matmul_add(8), seed=4)
    found = Counter(sch.get(sch.sample_categorical([5, 6, 7], [0.5, 0.0, 1.5])) for _ in range(800))
    assert set(found) == {5, 7} and 130 < found[5] < 270


def test_a_category_can_be_used_as_an_integer():
    sch = Schedule(matmul_add(64))
    v = sch.sample_categorical([4, 8], [1, 1], decision=1)
    assert sch.get(v) == 8
    i = sch.get_loops("C")[0]
    i_0, i_1 = sch.split(i, [None, v])
    sch.annotate(i_0, "width", v)
    sch.annotate("C", "list", [v, {"k": v}])
    index = sch.sample_categorical([0], [1.0])
    sch.cache_read("C", index, "shared")
    assert sch.get(i_1).extent == 8 and sch.get(i_0).annotations == {"width": 8}
    assert sch.get(sch.get_block("C")).annotations == {"list": [8, {"k": 8}]}
    text = str(sch.trace)
    assert "decision=1)" in text and "factors=[None, v0]" in text and 'ann_val=[v0, {"k": v0}]' in text
    assert "read_buffer_index=v" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1.0]), "2 candidates and 1 probabilities"),
        (([], []), "not all zero"),
        (([1, 2], [0.0, 0.0]), "not all zero"),
        (([1, 2], [1.0, -1.0]), "not negative"),
        (([1, 2], [1.0, float("nan")]), "finite, not negative"),
        (([1, 2], [1.0, 1.0], 2), "the decision 2 is not a position among 2"),
        (([1, 2], [1.0, 1.0], -1), "the decision -1 is not a position"),
    ],
)
def test_categorical_refuses(arguments, message, refused):
    sch = Schedule(matmul_add(8))
    refused(sch, message, lambda: sch.sample_categorical(*arguments), ValueError)


# --- sample_compute_location ------------------------------------------------------------------------------------------


def decided(sch: Schedule) -> int:
    return sch.trace.get_decision(sch.trace.insts[-1])


def test_candidates():
    """Inline, root, i and j of Q for P; for Q: i of S, whose k is the innermost reduction."""
    sch = Schedule(staged_row_sums(8), seed=6)
    for block, expected in (("P", {-2, -1, 0, 1}), ("Q", {-2, -1, 0}), ("S", {-1})):
        found = set()
        for _ in range(40):
            sch.sample_compute_location(block)
            found.add(decided(sch))
        assert found == expected


def test_unit_loops_and_loops_inside_reductions_are_no_candidates():
    sch = Schedule(staged_row_sums(8, 16), seed=6)
    i, k = sch.get_loops("S")
    i_0, i_1, i_2 = sch.split(i, [2, 1, 4])
    k_0, k_1 = sch.split(k, [4, 4])
    sch.reorder(i_0, i_1, k_0, i_2, k_1)
    found = {decided(sch) for _ in range(60) if sch.sample_compute_location("Q")}
    assert found == {-2, -1, 0, 2}


@pytest.mark.parametrize(
    ("block", "decision", "taken"),
    [("P", 1, 1), ("P", 0, 0), ("P", 9, 1), ("P", -2, -2), ("Q", 1, 0), ("S", 3, -1), ("S", -2, -1), ("Q", -7, -1)],
)
def test_a_decision_that_is_no_candidate(block, decision, taken):
    sch = Schedule(staged_row_sums(8))
    sch.sample_compute_location(block, decision=decision)
    assert decided(sch) == taken


def test_a_loop_is_a_place(same_result):
    sch = Schedule(staged_row_sums(8))
    loop = sch.sample_compute_location("P", decision=1)
    assert loop == sch.get_loops("Q")[1]
    sch.compute_at("P", loop)
    assert [sch.get(lp).name for lp in sch.get_loops("P")] == ["i", "j"]
    same_result(sch, staged_row_sums(8), ((8, 4), "float32"), ((8,), "float32"))


def test_marks():
    sch = Schedule(staged_row_sums(8))
    before = sch.mod.script()
    root, inline = (sch.sample_compute_location("P", decision=d) for d in (-1, -2))
    sch.compute_at("P", root)
    sch.reverse_compute_at("Q", root)
    assert sch.mod.script() == before
    other = sch.copy()
    sch.compute_at("P", inline)
    expected = Schedule(staged_row_sums(8))
    expected.compute_inline("P")
    assert sch.mod.equal(expected.mod)
    other.reverse_compute_at("Q", inline)
    expected = Schedule(staged_row_sums(8))
    expected.reverse_compute_inline("Q")
    assert other.mod.equal(expected.mod)


def test_marks_are_no_loops(refused):
    sch = Schedule(staged_row_sums(8))
    inline = sch.sample_compute_location("P", decision=-2)
    refused(sch, "is not a loop: sample_compute_location chose inline", lambda: sch.parallel(inline))
    with pytest.raises(ValueError, match="is not a loop"):
        sch.get(inline)


def test_refused_steps_are_not_candidates():
    sch = Schedule(matmul_add(8), seed=6)
    found = {decided(sch) for _ in range(20) if sch.sample_compute_location("C")}
    assert found == {-1, 0, 1}  # a reduction cannot be inlined
