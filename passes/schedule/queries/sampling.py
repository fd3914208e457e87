"""sample_categorical, sample_perfect_tile, sample_partitioned_tile: random or given integer decisions."""

from __future__ import annotations

import math

from tir_mlir.dialect.ir import Loop
from tir_mlir.passes.schedule.queries import factorization
from tir_mlir.passes.schedule.queries.decider import Choices
from tir_mlir.passes.schedule.registry import Sample, primitive

_MOST_FACTORS = 256


@primitive("sample_categorical", pure=True, samples=int)
def sample_categorical(
    candidates: list[int],
    probs: list[float],
    decision: int | None = None,
    name: str | None = None,
    *,
    choices: Choices,
) -> Sample:
    """Sample one of several integers, each with its probability.

        v = sch.sample_categorical([1, 2, 4], [0.5, 0.25, 0.25])        sch.annotate(loop, "my.width", v)

    The decision is the position of the sampled one. `name`: that of the decision, "categorical" if not given, for the
    decider of the schedule, which takes the place of the random numbers.

    Requires (ValueError): as many probabilities as candidates, none negative, not all zero; a decision that is a valid
    position.
    """
    if len(candidates) != len(probs):
        raise ValueError(
            "sample_categorical needs one probability for each candidate; there are "
            f"{len(candidates)} candidates and {len(probs)} probabilities"
        )
    total = math.fsum(probs)
    if not all(p >= 0 for p in probs) or not (math.isfinite(total) and total > 0):
        raise ValueError(f"probabilities must be finite, not negative and not all zero; they are {probs}")
    name = choices.name(name or "categorical")
    if decision is None:
        decided = choices.decider is not None
        decision = choices.asked(name, candidates, probs) if decided else choices.random.weighted(probs)
    if not 0 <= decision < len(candidates):
        raise ValueError(f"the decision {decision} is not a position among {len(candidates)} candidates")
    return Sample(decision, candidates[decision], name)


@primitive("sample_perfect_tile", pure=True, samples=list[int | None])
def sample_perfect_tile(
    loop: Loop,
    n: int,
    max_innermost_factor: int = 16,
    decision: list[int] | None = None,
    name: str | None = None,
    *,
    choices: Choices,
) -> Sample:
    """Sample n factors whose product is the extent of a loop, the last one at most `max_innermost_factor`.

        factors = sch.sample_perfect_tile(loop, n=4)                    sch.split(loop, factors)

    All such factorizations are equally likely. `max_innermost_factor=-1` sets no limit. A decision made for another
    extent is adapted: from the innermost, a factor that does not divide the rest becomes the rest, or for the innermost
    the largest one within the limit. A loop of non-constant extent gives [None, 1, ..., 1]: `split` infers the first.

    `name`: that of the decision, "tile(i)" for a loop i if not given. A decider of the schedule decides one factor at a
    time, "tile(i)[2]" before "tile(i)[1]", among those that divide the rest.

    Requires (ValueError): n is positive, and at least 2 with a limit; a decision of n positive factors.
    """
    _check_count("sample_perfect_tile", n, decision)
    limit = None if max_innermost_factor == -1 else max_innermost_factor
    if limit is not None and limit < 1:
        raise ValueError(f"max_innermost_factor must be positive, or -1 for no limit; it is {limit}")
    if limit is not None and n < 2:
        raise ValueError("a single factor is the extent itself and cannot be limited; pass max_innermost_factor=-1")
    extent, name = loop.const_extent, choices.name(name or f"tile({loop.name})")
    if not extent:
        return _inferred(n, name)
    if decision is not None:
        return _chosen(factorization.repair(_positive(decision), extent, limit), name)
    if choices.decider is not None:
        return _chosen(factorization.decided(extent, n, limit, _asking(choices, name)), name)
    return _chosen(factorization.sample_perfect(extent, n, limit, choices.random), name)


@primitive("sample_partitioned_tile", pure=True, samples=list[int | None])
def sample_partitioned_tile(
    loop: Loop,
    n: int,
    partition_pos: int = 0,
    innerpart_factor: int = 1,
    decision: list[int] | None = None,
    name: str | None = None,
    *,
    choices: Choices,
) -> Sample:
    """Sample n factors whose product is the extent of a loop, with a constraint on the innermost ones.

        factors = sch.sample_partitioned_tile(loop, n=3, partition_pos=1, innerpart_factor=8)   # 8 divides v1 * v2

    The product of the factors from `partition_pos` on is a multiple of `innerpart_factor`. All such factorizations are
    equally likely. A decision made for another extent is adapted as in
    `sample_perfect_tile`; an inner part that is not a multiple becomes `innerpart_factor, 1, ..., 1`. A loop whose
    extent is not constant, or not a multiple of `innerpart_factor`, gives [None, 1, ..., 1]. `name`: as in
    `sample_perfect_tile`, "partitioned_tile(i)" if not given.

    Requires (ValueError): n and `innerpart_factor` are positive, 0 <= partition_pos < n; a decision of n factors.
    """
    _check_count("sample_partitioned_tile", n, decision)
    if not 0 <= partition_pos < n:
        raise ValueError(f"partition_pos must be in [0, {n}); it is {partition_pos}")
    if innerpart_factor < 1:
        raise ValueError(f"innerpart_factor must be positive; it is {innerpart_factor}")
    extent, name = loop.const_extent, choices.name(name or f"partitioned_tile({loop.name})")
    if not extent or extent % innerpart_factor:
        return _inferred(n, name)
    part = partition_pos, innerpart_factor
    if decision is not None:
        return _chosen(factorization.repair_partitioned(_positive(decision), extent, *part), name)
    if choices.decider is not None:
        return _chosen(factorization.decided_partitioned(extent, n, *part, _asking(choices, name)), name)
    return _chosen(factorization.sample_partitioned(extent, n, *part, choices.random), name)


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


def _asking(choices: Choices, name: str) -> factorization.Choose:
    """Ask the decider for the factor at a place; the one in the middle is the default."""

    def choose(position: int, factors: list[int]) -> int:
        weights = [1.0 + (n == len(factors) // 2) for n in range(len(factors))]
        return factors[choices.asked(f"{name}[{position}]", factors, weights)]

    return choose


def _inferred(n: int, name: str) -> Sample:
    """`split` infers the first factor."""
    return Sample([-1] + [1] * (n - 1), [None] + [1] * (n - 1), name)


def _chosen(factors: list[int], name: str) -> Sample:
    return Sample(factors, factors, name)
