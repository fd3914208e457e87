"""Test tiers: `--tier quick` (before every commit), `check` (before a merge), `all` (nightly).

quick skips tests marked `slow` and runs a parametrized test at one size; check skips tests marked `nightly` and runs a
test at one size, of two the second; all runs everything. A size is a parameter named in SIZES whose value is a number
or a tuple of numbers; for quick, any parameter with such a value. Of a product of several parametrizations, quick and
check run as few combinations as have each value of each parameter. For a test marked `few(n)`, they run n of the
remaining parameter sets, evenly spread; quick runs at most ROWS of any test.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

TIERS = ("quick", "check", "all")
SIZES = frozenset(
    {"n", "m", "k", "p", "rows", "columns", "size", "sizes", "shape", "shapes", "extent", "extents", "length", "count"}
)
MOST = {"quick": 1, "check": 1}
"""How many sizes a test runs at."""
ROWS = 8
"""How many rows of a table quick runs."""
LEFT_OUT = {"quick": ("slow", "nightly"), "check": ("nightly",), "all": ()}
"""The markers of tests that a tier leaves out."""


def chosen(items: Iterable[Any], tier: str) -> tuple[list[Any], list[Any]]:
    """Split the items into the tests of a tier, in order, and the others."""
    left_out = LEFT_OUT[tier]
    items = list(items)
    kept = [item for item in items if not any(item.get_closest_marker(name) for name in left_out)]
    if tier in MOST:
        groups: dict[tuple, list[Any]] = {}
        for item in kept:
            groups.setdefault(_group(item, tier), []).append(item)
        kept_ids = _few(_covering([item for group in groups.values() for item in spread(group, MOST[tier])]), tier)
    else:
        kept_ids = {id(item) for item in kept}
    return [i for i in items if id(i) in kept_ids], [i for i in items if id(i) not in kept_ids]


def _by_test(items: Iterable[Any]) -> Iterable[list[Any]]:
    """The items of each test."""
    tests: dict[str, list[Any]] = {}
    for item in items:
        tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return tests.values()


def _covering(items: Iterable[Any]) -> list[Any]:
    """Of each product of parametrizations, a few items that have each value: a x b of 2 x 2 -> (a0, b0), (a1, b1)."""
    covering = []
    for group in _by_test(items):
        markers = list(group[0].iter_markers("parametrize"))
        if len(markers) < 2:
            covering += group
            continue
        values = {id(item): _values(item, markers) for item in group}
        missing = set().union(*values.values())
        while missing:
            best = max(group, key=lambda item: len(missing & values[id(item)]))
            missing -= values[id(best)]
            covering.append(best)
    return covering


def _values(item: Any, markers: Iterable[Any]) -> set[tuple]:
    """The parameter set of an item, one value for each parametrization."""
    named = (
        m.args[0] if isinstance(m.args[0], (tuple, list)) else m.args[0].replace(" ", "").split(",") for m in markers
    )
    return {tuple((name, repr(item.callspec.params[name])) for name in names) for names in named}


def _few(items: Iterable[Any], tier: str) -> set[int]:
    """Return the ids of the items that the marker `few`, and for quick ROWS, select."""
    kept = set()
    for group in _by_test(items):
        marker = group[0].get_closest_marker("few")
        most = len(group) if marker is None else marker.args[0]
        kept |= {id(item) for item in spread(group, min(most, ROWS) if tier == "quick" else most)}
    return kept


def spread(group: Sequence[Any], most: int) -> list[Any]:
    """Return `most` evenly spread tests of a group: the middle one if `most` is 1, otherwise including first and
    last."""
    if len(group) <= most:
        return list(group)
    if most == 1:
        return [group[len(group) // 2]]
    return [group[round(n * (len(group) - 1) / (most - 1))] for n in range(most)]


def _group(item: Any, tier: str) -> tuple:
    """Return the key shared by tests that differ only in sizes."""
    given = getattr(getattr(item, "callspec", None), "params", {})
    others = [(name, repr(value)) for name, value in given.items() if not _is_size(name, value, tier)]
    return (item.nodeid.partition("[")[0], *others) if len(others) < len(given) else (item.nodeid,)


def _is_size(name: str, value: Any, tier: str) -> bool:
    return _is_number(value) and (tier == "quick" or name in SIZES)


def _is_number(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return bool(value) and all(_is_number(v) for v in value)
    return isinstance(value, int) and not isinstance(value, bool)
