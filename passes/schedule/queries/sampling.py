"""sample_categorical, sample_perfect_tile, sample_partitioned_tile: random or given integer decisions.

Factorizations of a number into n factors are sampled uniformly, or chosen factor by factor.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from tir_mlir.dialect.ir import Loop
from tir_mlir.passes.schedule.queries.decider import Choices, Random
from tir_mlir.passes.schedule.registry import Sample, primitive

_MOST_FACTORS = 256


@primitive("sample_categorical", pure=True, samples=int)
def sample_categorical(
    candidates: list[int], probs: list[float], decision: int | None = None, name: str | None = None, *, choices: Choices
) -> Sample:
    """Sample one of several integers, each with its probability.

        v = sch.sample_categorical([1, 2, 4], [0.5, 0.25, 0.25])        sch.annotate(loop, "my.width", v)

    The decision is the position of the sampled one. `name`: that of the decision, "categorical" if not given, for the
    decider of the schedule, which replaces the random numbers.

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
        decision = choices.ask_decider(name, candidates, probs) if decided else choices.random.draw_weighted(probs)
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
        return _infer_first_factor(n, name)
    if decision is not None:
        return _sample_of_factors(repair(_positive(decision), extent, limit), name)
    if choices.decider is not None:
        return _sample_of_factors(decide_factors(extent, n, limit, _decider_choice(choices, name)), name)
    return _sample_of_factors(sample_perfect(extent, n, limit, choices.random), name)


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
        return _infer_first_factor(n, name)
    part = partition_pos, innerpart_factor
    if decision is not None:
        return _sample_of_factors(repair_partitioned(_positive(decision), extent, *part), name)
    if choices.decider is not None:
        return _sample_of_factors(decide_partitioned(extent, n, *part, _decider_choice(choices, name)), name)
    return _sample_of_factors(sample_partitioned(extent, n, *part, choices.random), name)


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


def _decider_choice(choices: Choices, name: str) -> Choose:
    """Ask the decider for the factor at a position; the one in the middle is the default."""

    def choose(position: int, factors: list[int]) -> int:
        weights = [1.0 + (n == len(factors) // 2) for n in range(len(factors))]
        return factors[choices.ask_decider(f"{name}[{position}]", factors, weights)]

    return choose


def _infer_first_factor(n: int, name: str) -> Sample:
    """`split` infers the first factor."""
    return Sample([-1] + [1] * (n - 1), [None] + [1] * (n - 1), name)


def _sample_of_factors(factors: list[int], name: str) -> Sample:
    return Sample(factors, factors, name)


# --- factorizations ---------------------------------------------------------------------------------------------------

Choose = Callable[[int, list[int]], int]
"""Chooses the factor at a position among candidates in increasing order."""
_MAX_TRIAL_DIVISOR = 1 << 20  # larger prime factors are not separated: no loop extent has two of them


@lru_cache(maxsize=1024)
def prime_powers(number: int) -> tuple[tuple[int, int], ...]:
    """12 -> ((2, 2), (3, 1))."""
    powers, cofactor, prime = [], number, 2
    while prime * prime <= cofactor and prime <= _MAX_TRIAL_DIVISOR:
        power = 0
        while cofactor % prime == 0:
            cofactor, power = cofactor // prime, power + 1
        if power:
            powers.append((prime, power))
        prime += 1 if prime == 2 else 2
    return (*powers, (cofactor, 1)) if cofactor > 1 else tuple(powers)


def divisors(number: int, most: int | None = None) -> list[int]:
    """The divisors of a number in increasing order, up to `most`."""
    result = [1]
    for prime, power in prime_powers(number):
        result = [d * prime**p for d in result for p in range(power + 1)]
        result = [d for d in result if most is None or d <= most]
    return sorted(result)


def count_factorizations(number: int, n: int) -> int:
    """The number of ordered factorizations into n factors."""
    if n == 0:
        return int(number == 1)
    return math.prod(math.comb(power + n - 1, n - 1) for _, power in prime_powers(number))


def sample_factors(number: int, n: int, random: Random) -> list[int]:
    """n factors whose product is `number`: the powers of each prime are distributed uniformly."""
    factors = [1] * n
    for prime, power in prime_powers(number):
        for position, share in enumerate(_composition(power, n, random)):
            factors[position] *= prime**share
    return factors


def _composition(total: int, n: int, random: Random) -> list[int]:
    """`total` as a sum of n non-negative numbers (stars and bars)."""
    positions = list(range(total + n - 1))
    bars = sorted(positions.pop(random.draw_below(len(positions))) for _ in range(n - 1))
    ends = [-1, *bars, total + n - 1]
    return [b - a - 1 for a, b in itertools.pairwise(ends)]


def sample_perfect(number: int, n: int, most: int | None, random: Random) -> list[int]:
    """n factors whose product is `number`, the last at most `most`."""
    if most is None:
        return sample_factors(number, n, random)
    lasts = divisors(number, most)
    last = lasts[random.draw_weighted([count_factorizations(number // d, n - 1) for d in lasts])]
    return [*sample_factors(number // last, n - 1, random), last]


def sample_partitioned(number: int, n: int, position: int, inner: int, random: Random) -> list[int]:
    """n factors whose product is `number`; the product of those from `position` on is a multiple of `inner`."""
    if position == 0:
        return sample_factors(number, n, random)
    products = [d * inner for d in divisors(number // inner)]
    weights = [count_factorizations(number // p, position) * count_factorizations(p, n - position) for p in products]
    within = products[random.draw_weighted(weights)]
    return [*sample_factors(number // within, position, random), *sample_factors(within, n - position, random)]


def decide_factors(number: int, n: int, most: int | None, choose: Choose) -> list[int]:
    """n factors whose product is `number`, the last at most `most`: chosen from the innermost, the first the rest."""
    factors, quotient = [1] * n, number
    for position in range(n - 1, 0, -1):
        factors[position] = choose(position, divisors(quotient, most if position == n - 1 else None))
        quotient //= factors[position]
    factors[0] = quotient
    return factors


def decide_partitioned(number: int, n: int, position: int, inner: int, choose: Choose) -> list[int]:
    """Same as `decided`; the product of the factors from `position` on is a multiple of `inner`."""
    factors, quotient, missing = [1] * n, number, inner if position else 1
    for index in range(n - 1, 0, -1):
        possible = divisors(quotient)
        if index >= position:  # what is missing afterwards must fit into the positions that are left, if any
            lacking = {d: missing // math.gcd(missing, d) for d in possible}
            possible = [d for d, m in lacking.items() if (quotient // d % m == 0 if index > position else m == 1)]
        factors[index] = choose(index, possible)
        quotient //= factors[index]
        missing //= math.gcd(missing, factors[index])
    factors[0] = quotient
    return factors


def repair(factors: Sequence[int], number: int, most: int | None = None) -> list[int]:
    """Adapt factors to another product: from the innermost, a factor that does not divide the rest becomes the rest.

    A last one that would be greater than `most` becomes the largest divisor within it.
    """
    fixed, quotient = list(factors), number
    for position in range(len(fixed) - 1, 0, -1):
        if quotient % fixed[position]:
            fixed[position] = divisors(quotient, most)[-1] if position == len(fixed) - 1 else quotient
        quotient //= fixed[position]
    fixed[0] = quotient
    return fixed


def repair_partitioned(factors: Sequence[int], number: int, position: int, inner: int) -> list[int]:
    """`repaired`; if the inner part from `position` on is then not a multiple of `inner`, it becomes `inner` itself."""
    fixed = repair(factors, number)
    if position == 0 or math.prod(fixed[position:]) % inner == 0:
        return fixed
    fixed[position:] = [inner] + [1] * (len(fixed) - position - 1)
    return repair(fixed, number)
