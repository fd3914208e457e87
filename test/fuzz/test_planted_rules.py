"""Each dropped rule of the schedule is found by the fuzzer within a few pairs."""

import pytest
from harness.planted_rules import RULES, kind

from fuzzing.items import PAIR, item
from fuzzing.pairs import pair
from fuzzing.pool import Pool
from fuzzing.worker import run

MOST = 150
"""Pairs within which a fault is found."""


@pytest.mark.nightly
@pytest.mark.parametrize("rule", RULES)
def test_a_dropped_rule_is_found(rule, record_property):
    kinds = {PAIR: kind(rule)}
    with Pool(kinds, 1, 30.0) as pool:
        outcomes = pool.run(item(PAIR, number, 0, kinds) for number in range(RULES[rule].first, MOST))
        number, found = next((n, o) for n, o in enumerate(outcomes, RULES[rule].first) if o.verdict != "fine")
    record_property("pairs", number + 1)
    if not (RULES[rule].deadly and found.verdict == "aborted"):
        assert found.verdict == "wrong" and RULES[rule].word in found.text.partition("\n")[0], found.text
    wanted = pair.Wanted(*(tuple(filter(None, w.split(","))) for w in (RULES[rule].stages, RULES[rule].steps)))
    assert run(found.item, pair.kind(RULES[rule].thorough, wanted)).verdict == "fine"  # with the rule, nothing is wrong
