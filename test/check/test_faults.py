"""The checker is checked: planted faults are found, legal rewrites are equal."""

import re

import pytest
from fault_programs import PAIRS
from mlir import ir
from planted import BROKEN, CONTROLS, FAULTS

from tir_mlir.check import equivalent
from tir_mlir.dialect.context import entered
from tir_mlir.script.parser import parse

_programs = {}


def program(text):
    if text not in _programs:
        _programs[text] = parse(text)
    return _programs[text]


@pytest.mark.parametrize(("name", "old", "new", "what"), FAULTS, ids=[f"{f[0]}: {f[3]}" for f in FAULTS])
def test_fault_is_found(name, old, new, what):
    original, scheduled = PAIRS[name]
    assert old in scheduled, what
    answer = equivalent(program(original), parse(scheduled.replace(old, new)))
    assert not answer, f"{what}: {answer}"
    assert "not equal" in str(answer)


@pytest.mark.parametrize(("name", "old", "new", "match", "what"), BROKEN, ids=[f"{b[0]}: {b[4]}" for b in BROKEN])
def test_broken_program_is_found(name, old, new, match, what):
    original, scheduled = PAIRS[name]
    text = program(scheduled).text()
    found = list(re.finditer(old, text))[match]
    with entered():
        broken = ir.Module.parse(text[: found.start()] + found.expand(new) + text[found.end() :])
    answer = equivalent(program(original), broken)
    assert not answer, f"{what}: {answer}"


@pytest.mark.parametrize(("name", "old", "new", "what"), CONTROLS, ids=[f"{c[0]}: {c[3]}" for c in CONTROLS])
def test_legal_rewrite_is_equal(name, old, new, what):
    original, scheduled = PAIRS[name]
    assert old in scheduled, what
    answer = equivalent(program(original), parse(scheduled.replace(old, new)))
    assert answer, f"{what}: {answer}"


def test_there_are_enough_kinds():
    assert len(FAULTS) + len(BROKEN) >= 60
