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
    found, left, prime = [], number, 2
    while prime * prime <= left and prime <= _TRIED:
        power = 0
        while left % prime == 0:
            left, power = left // prime, power + 1
        if power:
            found.append((prime, power))
        prime += 1 if prime == 2 else 2
    return (*found, (left, 1)) if left > 1 else tuple(found)


def divisors(number: int, most: int | None = None) -> list[int]:
    """The divisors of a number in increasing order, up to `most`."""
    found = [1]
    for prime, power in prime_powers(number):
        found = [d * prime**p for d in found for p in range(power + 1)]
        found = [d for d in found if most is None or d <= most]
    return sorted(found)


def count_factorizations(number: int, n: int) -> int:
    """The number of ordered factorizations into n factors."""
    if n == 0:
        return int(number == 1)
    return math.prod(math.comb(power + n - 1, n - 1) for _, power in prime_powers(number))


def sample_factors(number: int, n: int, random: Random) -> list[int]:
    """n factors whose product is `number`: the powers of each prime are distributed uniformly."""
    factors = [1] * n
    for prime, power in prime_powers(number):
        for place, share in enumerate(_composition(power, n, random)):
            factors[place] *= prime**share
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
    factors, left = [1] * n, number
    for place in range(n - 1, 0, -1):
        factors[place] = choose(place, divisors(left, most if place == n - 1 else None))
        left //= factors[place]
    factors[0] = left
    return factors


def decided_partitioned(number: int, n: int, position: int, inner: int, choose: Choose) -> list[int]:
    """Same as `decided`; the product of the factors from `position` on is a multiple of `inner`."""
    factors, left, missing = [1] * n, number, inner if position else 1
    for place in range(n - 1, 0, -1):
        possible = divisors(left)
        if place >= position:  # what is missing afterwards must fit into the places that are left, if any
            lacking = {d: missing // math.gcd(missing, d) for d in possible}
            possible = [d for d, m in lacking.items() if (left // d % m == 0 if place > position else m == 1)]
        factors[place] = choose(place, possible)
        left //= factors[place]
        missing //= math.gcd(missing, factors[place])
    factors[0] = left
    return factors


def repair(factors: Sequence[int], number: int, most: int | None = None) -> list[int]:
    """Adapt factors to another product: from the innermost, a factor that does not divide the rest becomes the rest.

    A last one that would be greater than `most` becomes the largest divisor within it.
    """
    fixed, left = list(factors), number
    for place in range(len(fixed) - 1, 0, -1):
        if left % fixed[place]:
            fixed[place] = divisors(left, most)[-1] if place == len(fixed) - 1 else left
        left //= fixed[place]
    fixed[0] = left
    return fixed


def repair_partitioned(factors: Sequence[int], number: int, position: int, inner: int) -> list[int]:
    """`repaired`; if the inner part from `position` on is then not a multiple of `inner`, it becomes `inner` itself."""
    fixed = repair(factors, number)
    if position == 0 or math.prod(fixed[position:]) % inner == 0:
        return fixed
    fixed[position:] = [inner] + [1] * (len(fixed) - position - 1)
    return repair(fixed, number)
