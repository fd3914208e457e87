"""sample_categorical, sample_perfect_tile, sample_partitioned_tile: integers chosen at random, or as told."""

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
    """Choose one of several integers, each with its probability.

        v = sch.sample_categorical([1, 2, 4], [0.5, 0.25, 0.25])        sch.annotate(loop, "width", v)

    The decision is the position of the chosen one. Requires (ValueError): as many probabilities as candidates, none
    negative, not all zero; a decision that is a position.
    """
    if len(candidates) != len(probs):
        raise ValueError(
            f"sample_categorical takes one probability a candidate; there are {len(candidates)} candidates and"
            f" {len(probs)} probabilities"
        )
    total = math.fsum(probs)
    if not all(p >= 0 for p in probs) or not (math.isfinite(total) and total > 0):
        raise ValueError(f"probabilities are not negative, finite and not all zero; they are {probs}")
    if decision is None:
        decision = random.weighted(probs)
    if not 0 <= decision < len(candidates):
        raise ValueError(f"the decision {decision} is no position among {len(candidates)} candidates")
    return Sample(decision, candidates[decision])


@primitive("sample_perfect_tile", pure=True, samples=list[int | None])
def sample_perfect_tile(
    loop: Loop, n: int, max_innermost_factor: int = 16, decision: list[int] | None = None, *, random: Random
) -> Sample:
    """Choose n factors whose product is the extent of a loop, the last one at most `max_innermost_factor`.

        factors = sch.sample_perfect_tile(loop, n=4)                    sch.split(loop, factors)

    All such factors are equally likely. `max_innermost_factor=-1` sets no limit. A decision made for another extent
    is repaired: from the inside, a factor that does not divide what is left takes all of it. A loop whose extent is
    not constant gives [None, 1, ..., 1]: `split` infers the first.

    Requires (ValueError): n is positive, and with a limit at least 2; a decision of n positive factors.
    """
    _check_count("sample_perfect_tile", n, decision)
    limit = None if max_innermost_factor == -1 else max_innermost_factor
    if limit is not None and limit < 1:
        raise ValueError(f"max_innermost_factor is positive, or -1 for no limit; it is {limit}")
    if limit is not None and n < 2:
        raise ValueError("one factor is the extent itself and cannot be limited; give max_innermost_factor=-1")
    extent = loop.const_extent
    if not extent:
        return _inferred(n)
    if decision is not None:
        return _chosen(factorization.repaired(_positive(decision), extent))
    return _chosen(factorization.perfect(extent, n, limit, random))


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
    """Choose n factors whose product is the extent of a loop; those from `partition_pos` on multiply to a multiple of
    `innerpart_factor`.

        factors = sch.sample_partitioned_tile(loop, n=3, partition_pos=1, innerpart_factor=8)   # 8 divides v1 * v2

    All such factors are equally likely. A decision made for another extent is repaired as in `sample_perfect_tile`;
    an inner part that is no multiple becomes `innerpart_factor, 1, ..., 1`. A loop whose extent is not constant, or no
    multiple of `innerpart_factor`, gives [None, 1, ..., 1].

    Requires (ValueError): n and `innerpart_factor` are positive, 0 <= partition_pos < n; a decision of n factors.
    """
    _check_count("sample_partitioned_tile", n, decision)
    if not 0 <= partition_pos < n:
        raise ValueError(f"partition_pos is one of the {n} factors, counted from 0; it is {partition_pos}")
    if innerpart_factor < 1:
        raise ValueError(f"innerpart_factor is positive; it is {innerpart_factor}")
    extent = loop.const_extent
    if not extent or extent % innerpart_factor:
        return _inferred(n)
    if decision is not None:
        return _chosen(factorization.repartitioned(_positive(decision), extent, partition_pos, innerpart_factor))
    return _chosen(factorization.partitioned(extent, n, partition_pos, innerpart_factor, random))


def _check_count(what: str, n: int, decision: list[int] | None) -> None:
    if not 1 <= n <= _MOST_FACTORS:
        raise ValueError(f"{what} makes 1 to {_MOST_FACTORS} factors; n is {n}")
    if decision is not None and len(decision) != n:
        raise ValueError(f"a decision of {what} has {n} factors; {decision} has {len(decision)}")


def _positive(decision: list[int]) -> list[int]:
    """The factors of a decision; the first is worked out anew, so it may be -1 (made for a symbolic extent)."""
    if any(factor < 1 for factor in decision[1:]):
        raise ValueError(f"the factors of a decision are positive; they are {decision}")
    return decision


def _inferred(n: int) -> Sample:
    """`split` works out the first factor."""
    return Sample([-1] + [1] * (n - 1), [None] + [1] * (n - 1))


def _chosen(factors: list[int]) -> Sample:
    return Sample(factors, factors)
