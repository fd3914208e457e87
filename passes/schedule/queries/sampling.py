"""sample_categorical, sample_perfect_tile, sample_partitioned_tile: random or given integer decisions."""

from __future__ import annotations

import math

from tir_mlir.dialect.ir import Loop
from tir_mlir.passes.schedule.queries import factorization
from tir_mlir.passes.schedule.queries.rng import Random
from tir_mlir.passes.schedule.registry import Sample, primitive

_MOST_FACTORS = 256


@primitive("sample_categorical", pure=True, samples=int)
def sample_categorical(
    candidates: list[int], probs: list[float], decision: int | None = None, *, random: Random
) -> Sample:
    """Sample one of several integers, each with its probability.

        v = sch.sample_categorical([1, 2, 4], [0.5, 0.25, 0.25])        sch.annotate(loop, "my.width", v)

    The decision is the position of the sampled one. Requires (ValueError): as many probabilities as candidates, none
    negative, not all zero; a decision that is a valid position.
    """
    if len(candidates) != len(probs):
        raise ValueError(
            "sample_categorical needs one probability for each candidate; there are "
            f"{len(candidates)} candidates and {len(probs)} probabilities"
        )
    total = math.fsum(probs)
    if not all(p >= 0 for p in probs) or not (math.isfinite(total) and total > 0):
        raise ValueError(f"probabilities must be finite, not negative and not all zero; they are {probs}")
    if decision is None:
        decision = random.weighted(probs)
    if not 0 <= decision < len(candidates):
        raise ValueError(f"the decision {decision} is not a position among {len(candidates)} candidates")
    return Sample(decision, candidates[decision])


@primitive("sample_perfect_tile", pure=True, samples=list[int | None])
def sample_perfect_tile(
    loop: Loop, n: int, max_innermost_factor: int = 16, decision: list[int] | None = None, *, random: Random
) -> Sample:
    """Sample n factors whose product is the extent of a loop, the last one at most `max_innermost_factor`.

        factors = sch.sample_perfect_tile(loop, n=4)                    sch.split(loop, factors)

    All such factorizations are equally likely. `max_innermost_factor=-1` sets no limit. A decision made for another
    extent is adapted: from the innermost, a factor that does not divide the rest becomes the rest. A loop of
    non-constant extent gives [None, 1, ..., 1]: `split` infers the first.

    Requires (ValueError): n is positive, and at least 2 with a limit; a decision of n positive factors.
    """
    _check_count("sample_perfect_tile", n, decision)
    limit = None if max_innermost_factor == -1 else max_innermost_factor
    if limit is not None and limit < 1:
        raise ValueError(f"max_innermost_factor must be positive, or -1 for no limit; it is {limit}")
    if limit is not None and n < 2:
        raise ValueError("a single factor is the extent itself and cannot be limited; pass max_innermost_factor=-1")
    extent = loop.const_extent
    if not extent:
        return _inferred(n)
    if decision is not None:
        return _chosen(factorization.repair(_positive(decision), extent))
    return _chosen(factorization.sample_perfect(extent, n, limit, random))


@primitive("sample_partitioned_tile", pure=True, samples=list[int | None])
def sample_partitioned_tile(
    loop: Loop,
    n: int,
    partition_pos: int = 0,
    innerpart_factor: int = 1,
    decision: list[int] | None = None,
    *,
    random: Random,
) -> Sample:
    """Sample n factors whose product is the extent of a loop, with a constraint on the innermost ones.

        factors = sch.sample_partitioned_tile(loop, n=3, partition_pos=1, innerpart_factor=8)   # 8 divides v1 * v2

    The product of the factors from `partition_pos` on is a multiple of `innerpart_factor`. All such factorizations are
    equally likely. A decision made for another extent is adapted as in
    `sample_perfect_tile`; an inner part that is not a multiple becomes `innerpart_factor, 1, ..., 1`. A loop whose
    extent is not constant, or not a multiple of `innerpart_factor`, gives [None, 1, ..., 1].

    Requires (ValueError): n and `innerpart_factor` are positive, 0 <= partition_pos < n; a decision of n factors.
    """
    _check_count("sample_partitioned_tile", n, decision)
    if not 0 <= partition_pos < n:
        raise ValueError(f"partition_pos must be in [0, {n}); it is {partition_pos}")
    if innerpart_factor < 1:
        raise ValueError(f"innerpart_factor must be positive; it is {innerpart_factor}")
    extent = loop.const_extent
    if not extent or extent % innerpart_factor:
        return _inferred(n)
    if decision is not None:
        return _chosen(factorization.repair_partitioned(_positive(decision), extent, partition_pos, innerpart_factor))
    return _chosen(factorization.sample_partitioned(extent, n, partition_pos, innerpart_factor, random))


def _check_count(what: str, n: int, decision: list[int] | None) -> None:
    if not 1 <= n <= _MOST_FACTORS:
        raise ValueError(f"{what} needs n in [1, {_MOST_FACTORS}]; n is {n}")
    if decision is not None and len(decision) != n:
        raise ValueError(f"a decision of {what} has {n} factors; {decision} has {len(decision)}")


def _positive(decision: list[int]) -> list[int]:
    """The factors of a decision; the first is recomputed, so it may be -1 (made for a symbolic extent)."""
    if any(factor < 1 for factor in decision[1:]):
        raise ValueError(f"the factors of a decision must be positive; they are {decision}")
    return decision


def _inferred(n: int) -> Sample:
    """`split` infers the first factor."""
    return Sample([-1] + [1] * (n - 1), [None] + [1] * (n - 1))


def _chosen(factors: list[int]) -> Sample:
    return Sample(factors, factors)
