"""Factorizations of a number into n factors: sampled uniformly, or chosen factor by factor."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from tir_mlir.passes.schedule.queries.rng import Random

Choose = Callable[[int, list[int]], int]
"""Chooses the factor at a place among candidates in increasing order."""
_TRIED = 1 << 20  # larger prime factors are not separated: no loop extent has two of them


@lru_cache(maxsize=1024)
def prime_powers(number: int) -> tuple[tuple[int, int], ...]:
    """12 -> ((2, 2), (3, 1))."""
    powers, cofactor, prime = [], number, 2
    while prime * prime <= cofactor and prime <= _TRIED:
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
    places = list(range(total + n - 1))
    bars = sorted(places.pop(random.below(len(places))) for _ in range(n - 1))
    ends = [-1, *bars, total + n - 1]
    return [b - a - 1 for a, b in zip(ends, ends[1:], strict=False)]


def sample_perfect(number: int, n: int, most: int | None, random: Random) -> list[int]:
    """n factors whose product is `number`, the last at most `most`."""
    if most is None:
        return sample_factors(number, n, random)
    lasts = divisors(number, most)
    last = lasts[random.weighted([count_factorizations(number // d, n - 1) for d in lasts])]
    return [*sample_factors(number // last, n - 1, random), last]


def sample_partitioned(number: int, n: int, position: int, inner: int, random: Random) -> list[int]:
    """n factors whose product is `number`; the product of those from `position` on is a multiple of `inner`."""
    if position == 0:
        return sample_factors(number, n, random)
    products = [d * inner for d in divisors(number // inner)]
    weights = [count_factorizations(number // p, position) * count_factorizations(p, n - position) for p in products]
    within = products[random.weighted(weights)]
    return [*sample_factors(number // within, position, random), *sample_factors(within, n - position, random)]


def decided(number: int, n: int, most: int | None, choose: Choose) -> list[int]:
    """n factors whose product is `number`, the last at most `most`: chosen from the innermost, the first the rest."""
    factors, quotient = [1] * n, number
    for position in range(n - 1, 0, -1):
        factors[position] = choose(position, divisors(quotient, most if position == n - 1 else None))
        quotient //= factors[position]
    factors[0] = quotient
    return factors


def decided_partitioned(number: int, n: int, position: int, inner: int, choose: Choose) -> list[int]:
    """Same as `decided`; the product of the factors from `position` on is a multiple of `inner`."""
    factors, quotient, missing = [1] * n, number, inner if position else 1
    for index in range(n - 1, 0, -1):
        possible = divisors(quotient)
        if index >= position:  # what is missing afterwards must fit into the places that are left, if any
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
