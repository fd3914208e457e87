"""The checker is checked: planted faults are found, legal rewrites are equal."""

import re

import pytest
from mlir import ir
from programs.fault_list import BROKEN, CONTROLS, FAULTS, RACES
from programs.fault_programs import PAIRS
from programs.parsed import parse

from tir_mlir.dialect.diagnostics import NotChecked, VerifyError
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.dialect.verify import verify
from tir_mlir.equivalence import equivalent
from tir_mlir.equivalence.compare import races

_programs = {}


def program(given):
    """A program of the table: text, parsed once, or a module."""
    if not isinstance(given, str):
        return given
    if given not in _programs:
        _programs[given] = parse(given)
    return _programs[given]


def edited(name, old, new, what):
    """A schedule with a fault in its TVMScript."""
    scheduled = PAIRS[name][1]
    assert old in scheduled, what
    return parse(scheduled.replace(old, new)).mlir


def broken(name, old, new, match, what):
    """A schedule with a fault in its MLIR text."""
    text = program(PAIRS[name][1]).text()
    found = list(re.finditer(old, text))[match]
    with enter_context():
        return ir.Module.parse(text[: found.start()] + found.expand(new) + text[found.end() :])


PLANTED = [(edited, f) for f in (*FAULTS, *RACES)] + [(broken, b) for b in BROKEN]
IDS = [f"{fault[0]}: {fault[-1]}" for _, fault in PLANTED]


def is_legal(module):
    """Whether the rules of the encoding and the freedom from races, proved without running, have nothing to say."""
    with enter_context():
        try:
            verify(module, source=True)
        except VerifyError:
            return False
        answers = [races(f) for f in funcs(module)]
        return not any(a.found or a.open for a in answers)  # undecided is not proved


@pytest.mark.few(30)
@pytest.mark.parametrize(("make", "fault"), PLANTED, ids=IDS)
def test_fault_is_found(make, fault):
    original, faulty = program(PAIRS[fault[0]][0]), make(*fault)
    try:
        answer = equivalent(original, faulty)
    except NotChecked as error:
        assert "the call of" in str(error)  # a call that no intrinsic makes is never called equal
    else:
        assert not answer, f"{fault[-1]}: {answer}"
        assert "not equal" in str(answer)


@pytest.mark.parametrize("fault", RACES, ids=[f"{f[0]}: {f[3]}" for f in RACES])
def test_a_race_is_called_one(fault):
    answer = equivalent(program(PAIRS[fault[0]][0]), edited(*fault))
    assert not answer and re.search(r"the iterations of the \S+ loop \w+ race: .* touch ", str(answer))


@pytest.mark.parametrize(
    ("body", "order_matters"),
    [("B[I[vi]] = A[vi]", True), ("B[0] = A[vi]", True), ("B[vi] = A[I[vi]]", False), ("B[I[vi]] = A[0]", False)],
)
@pytest.mark.parametrize("kind", ["parallel", "vectorized"])
def test_iterations_in_reverse_show_a_race_at_indices_from_data(kind, body, order_matters):
    """A scatter of one value is in no order: a race that data cannot show stays undecided."""
    serial = PAIRS["count"][0].replace("B[I[vi]] = A[vi]", body)
    answer = equivalent(parse(serial), parse(serial.replace("range(24)", f"T.{kind}(24)")))
    assert bool(answer) is not order_matters
    assert ("not decided" in str(answer)) is ("A[0]" in body)


@pytest.mark.parametrize(("name", "old", "new", "what"), CONTROLS, ids=[f"{c[0]}: {c[3]}" for c in CONTROLS])
@pytest.mark.few(5)
def test_legal_rewrite_is_equal(name, old, new, what):
    answer = equivalent(program(PAIRS[name][0]), edited(name, old, new, what))
    assert answer, f"{what}: {answer}"


def test_faults_found_by_legality_alone(record_property):
    """Proofs without a run see races, bounds and coverage; another value in the right place only a run shows."""
    seen = [fault[-1] for make, fault in PLANTED if not is_legal(make(*fault))]
    record_property("planted", len(PLANTED))
    record_property("legality", len(seen))
    print(f"{len(PLANTED)} planted faults, {len(seen)} found by legality alone: {', '.join(seen)}")
    assert {f[-1] for f in RACES} <= set(seen)
    assert len(PLANTED) >= 60
