"""Rules of the schedule that are dropped in a process, for tests that the fuzzer finds each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, wraps
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Any

from mlir import ir

from fuzzing.kinds import Kind, Record
from fuzzing.pairs import pair

SCHEDULE = "tir_mlir.passes.schedule"


@dataclass(frozen=True)
class Planted:
    """A fault: how to plant it in this process, where it shows (stages, steps), a word that its report has, whether
    all checks must run on every pair, whether the process may die of it instead of a report, and the first pair to
    try, where many do not find it."""

    plant: Callable[[], None]
    stages: str
    steps: str
    word: str
    thorough: bool = False
    deadly: bool = False
    first: int = 0


def _put(module: str, name: str, value: Any) -> None:
    assert hasattr(import_module(module), name)  # else nothing is planted
    setattr(import_module(module), name, value)


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _without(module: str, name: str) -> Callable[[], None]:
    return partial(_put, module, name, _nothing)


def _dependences(module: str, question: str) -> Callable[[], None]:
    """A primitive whose question about dependences is always answered by "none"."""
    return partial(_put, module, "dependences", SimpleNamespace(**{question: _nothing}))


def _after(names: tuple[str, ...], change: Callable[[ir.Operation], None]) -> Callable[[], None]:
    """Primitives that change the program once more."""

    def plant() -> None:
        from tir_mlir.passes.schedule import PRIMITIVES

        for name in names:
            known = PRIMITIVES[name]

            @wraps(known.run)
            def run(*args: Any, run: Callable[..., Any] = known.run, **kwargs: Any) -> Any:
                from tir_mlir.dialect.ir import walk

                root = walk.parents((*args, *kwargs.values())[0].op)[-1]
                made = run(*args, **kwargs)
                change(root)
                return made

            PRIMITIVES[name] = replace(known, run=run)

    return plant


def _always(root: ir.Operation) -> None:
    """Conditions on data hold."""
    from tir_mlir.dialect.ir import touch, walk

    for op in walk.ops(root):
        if op.name == "scf.if" and "tir.where" in op.attributes:
            with ir.InsertionPoint(op), op.location:
                true = ir.Operation.create(
                    "arith.constant", [ir.IntegerType.get_signless(1)], attributes={"value": ir.BoolAttr.get(True)}
                )
            touch(op)
            op.operands[0] = true.results[0]


def _first_of_a_data_loop() -> None:
    """An index that is not affine counts as its first value."""
    from tir_mlir.dialect.analysis import accesses
    from tir_mlir.dialect.ir import Index

    known = accesses.known_indices
    accesses.known_indices = lambda op: [Index.constant(0) if i is None else i for i in known(op)]


def _signed_code() -> None:
    """Machine code compares, divides and shifts unsigned numbers as signed ones."""
    from fuzzing.pairs import judges
    from tir_mlir.dialect.ir import walk
    from tir_mlir.passes.lower.registry import LOWERINGS

    signed = {"arith.maxui": "arith.maxsi", "arith.minui": "arith.minsi", "arith.shrui": "arith.shrsi"}
    name, known = next(iter(LOWERINGS.items()))

    def run(module: ir.Module, *args: Any, **kwargs: Any) -> Any:
        for op in walk.ops(module.operation):
            if op.name in signed:
                made = ir.Operation.create(
                    signed[op.name], [r.type for r in op.results], list(op.operands), loc=op.location,
                    ip=ir.InsertionPoint(op),
                )  # fmt: skip
                op.results[0].replace_all_uses_with(made.results[0])
                op.erase()
        return known.run(module, *args, **kwargs)

    LOWERINGS[name] = replace(known, run=run, works_on=None)
    judges.build = partial(judges.build, cache=False)


def _any_scatter_adds() -> None:
    """Accesses of one block to one buffer count as a sum in any order."""
    from tir_mlir.dialect.analysis import dependences

    dependences.is_reduction_pair = lambda a, b: a.label == b.label


def _undecided_is_legal() -> None:
    """A dependence that cannot be decided is none, for the proofs and for `verify`."""
    from tir_mlir.dialect.analysis import dependences
    from tir_mlir.dialect.diagnostics import NotProvable

    for name in ("loop_carried_conflict", "reordering_conflict"):
        known = getattr(dependences, name)

        def ask(*args: Any, known: Callable[..., Any] = known) -> Any:
            try:
                return known(*args)
            except NotProvable:
                return None

        setattr(dependences, name, ask)


def _distinct() -> None:
    """Parameters never alias."""
    for module in ("tir_mlir.dialect.analysis.dependences", f"{SCHEDULE}.legality.every_step"):
        _put(module, "has_distinct_buffers", lambda _: True)


def _unchecked() -> None:
    """A checked build without checks of loads."""
    from fuzzing.pairs import judges
    from tir_mlir.passes.lower.memory import checks

    checks.ComputedAccessOp = checks.MemrefStoreOp
    judges.build = partial(judges.build, cache=False)


def _no_records() -> None:
    """Edits are not recorded."""
    import_module("tir_mlir.dialect.incremental.versions").StepJournal.add = _nothing


RULES = {
    "reorder keeps no dependence": Planted(
        _dependences(f"{SCHEDULE}.loops.reorder", "reordering_conflict"), "ordered", "reorder,split", "expected"
    ),
    "fission keeps no dependence": Planted(
        _without(f"{SCHEDULE}.loops.fission", "_check_dependences"), "in_turn,scratch,solved", "fission", "expected"
    ),
    "merge keeps no dependence": Planted(
        _without(f"{SCHEDULE}.loops.merge", "_check_order"), "stencil,flip,mirrored,elementwise", "merge", "expected"
    ),
    "lanes conflict": Planted(
        _dependences(f"{SCHEDULE}.loops.loop_kinds", "loop_carried_conflict"),
        "ordered,scatter",
        "vectorize",
        "concurrent loop",
    ),
    "threads conflict": Planted(
        _dependences(f"{SCHEDULE}.loops.loop_kinds", "loop_carried_conflict"),
        "ordered,scatter",
        "parallel",
        "concurrent loop",
    ),
    "a cache drops conditions on data": Planted(
        _after(("cache_read", "cache_write", "reindex"), _always), "mask", "cache_read,cache_write,reindex", "expected"
    ),
    "bounds from data are constant": Planted(
        _first_of_a_data_loop, "bounds from data", "parallel,cache_read,reorder,compute_at,split", ""
    ),
    "unsigned numbers are signed": Planted(_signed_code, "unsigned", "split,vectorize", "expected", True),
    "any scatter is a sum": Planted(_any_scatter_adds, "scattered", "reorder,split", "expected", first=100),
    "parameters that may alias are distinct": Planted(
        _distinct, "may alias,stencil,elementwise,flip,mirrored,transpose", "reorder,merge,compute_at", "overlap"
    ),
    "undecided is legal": Planted(_undecided_is_legal, "scatter", "parallel,vectorize", ""),
    "a checked build checks no loads": Planted(
        _unchecked, "gather,bounds from data", "split", "outside", True, True, 12
    ),
    "edits are not recorded": Planted(_no_records, "", "", "without a record", True),
}
_planted: list[str] = []


def faulty(random: Random, rule: str) -> Record:
    """A pair in a process in which a rule is dropped, for good."""
    if not _planted:
        RULES[rule].plant()
        _planted.append(rule)
    assert _planted == [rule], "a process has one fault: its caches hold what it led to"
    wanted = pair.Wanted(*(tuple(filter(None, w.split(","))) for w in (RULES[rule].stages, RULES[rule].steps)))
    return pair.case(random, RULES[rule].thorough, wanted)


def kind(rule: str) -> Kind:
    return Kind(partial(faulty, rule=rule))
