"""Searches against the library's choice and the best of MKL and PyTorch; then neighbors replayed at new sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

import tensor_programs
from contest import OURS, Contest, Contestant, Goal, Work
from ours import in_words
from rows import Row
from searching import Searches, library_choice
from tir_mlir import build
from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.script import IRModule, PrimFunc

from . import convolutions, integers, products, rowwise

LIBRARY = "library"
"""The contestant that is the library's choice."""
COLUMNS = (LIBRARY, "numpy", "mkl", "torch")
SPREAD = 0.99
"""What still counts as equal: a search takes another schedule if it is faster by 1 %."""
GOALS = (Goal(SPREAD, (LIBRARY,)), Goal(1.0, ("mkl", "torch")))
TEN, OTHERS, REPLAYED = "tuned", "tuned, not counted", "neighbors replayed"
LAYERS = ((64, 64, 56, 3, 1, 1), (256, 256, 14, 3, 1, 1), (512, 128, 28, 1, 1, 0))
NEW = (768, 640, 384, 900)
NEIGHBORS = 6
_LIMITS = {1024: 0.4, 256: 0.2}  # CPU seconds of a median trial, by size


@dataclass(frozen=True)
class Searched:
    """A work to be tuned, and its program."""

    work: Work
    program: Callable[[], PrimFunc]
    limit: float | None = None
    trials: int | None = None


def works(searches: Searches) -> list[Work]:
    """The ten shapes, a small one for its costs, then new sizes of products, by what was found for the others."""
    return [tuned(each, searches) for each in (*_ten(), *[_product(OTHERS, _cube(256))], *_new())]


def tuned(each: Searched, searches: Searches) -> Work:
    """A work whose contestant of ours is what a search finds, and whose library's choice is a peer."""
    return replace(each.work, make=lambda: _contest(each, searches))


def with_library(row: Row) -> Row:
    """A row whose best schedule is the library's choice, measured once: both have its rate."""
    if row.origin != LIBRARY or row.ours is None:
        return row
    return replace(row, peers={LIBRARY: row.ours, **row.peers})


def bars(rows: Sequence[Row]) -> list[str]:
    """How many rows of the ten meet each goal, in words, and the gains."""
    ten = [row for row in rows if row.work == TEN and row.ours is not None]
    if not ten:
        return []
    met = [sum(bool(goal.met(row.ours, row.peers)) for row in ten) for goal in GOALS]
    gains = [row.ours / row.peers[LIBRARY] for row in ten if row.ours and LIBRARY in row.peers]
    return [
        f"at least the library's choice: {met[0]} of {len(ten)} (goal 10)",
        f"at least the best of MKL and PyTorch: {met[1]} of {len(ten)} (goal 9)",
        *([f"gain over the library's choice: median {np.median(gains):.3f}"] if gains else []),
    ]


def _ten() -> list[Searched]:
    shapes = (*map(_cube, (1024, 512, 127, 1000)), (64, 64, 4096))
    whole = integers.product((1024, 1024, 1024), 1)
    soft = rowwise.softmax(1024, 1024, 1)
    return [
        *(_product(TEN, shape) for shape in shapes),
        Searched(_as(whole, "int8 product"), lambda: tensor_programs.product(1024, 1024, 1024, "int8")),
        *(_layer(sizes) for sizes in LAYERS),
        Searched(_as(soft, "softmax"), lambda: tensor_programs.softmax(1024, 1024)),
    ]


def _new() -> list[Searched]:
    """Products whose search has trials for the library's choice and the neighbors only."""
    return [replace(_product(REPLAYED, _cube(n), GOALS[:1]), trials=1 + NEIGHBORS, limit=None) for n in NEW]


def _cube(n: int) -> tuple[int, int, int]:
    return n, n, n


def _product(work: str, shape: tuple[int, int, int], goals: tuple[Goal, ...] = GOALS) -> Searched:
    limit = _LIMITS.get(shape[0]) if len(set(shape)) == 1 else None
    return Searched(products.product(work, shape, 1, goals), lambda: tensor_programs.product(*shape), limit)


def _layer(sizes: tuple[int, int, int, int, int, int]) -> Searched:
    return Searched(_as(convolutions.layer(*sizes), "conv"), lambda: tensor_programs.convolution(*sizes))


def _as(work: Work, what: str) -> Work:
    return replace(work, work=TEN, shape=f"{what} {work.shape}", goals=GOALS, group="")


def _contest(each: Searched, searches: Searches) -> Contest:
    found = each.work.make()
    found.contestants.pop("tvm", None)  # of the library's choice
    library = found.contestants.pop(OURS, None)
    program = each.program()
    try:
        best = searches.best(each.work.name, program, each.trials, each.limit)
    except TuneError as error:
        found.missing[OURS] = in_words(error)
        return found
    if library is not None and best.script() == library_choice(program).script():
        found.contestants[OURS], found.origin = library, LIBRARY
        return found
    found.origin = "search"
    found.contestants[OURS] = _compiled(best, found)
    if library is not None:
        found.contestants[LIBRARY] = library
    return found


def _compiled(module: IRModule, found: Contest) -> Contestant:
    main = build(module, cache=False)["main"]
    output = np.empty_like(found.expected, order="C")
    output.fill(85)  # a stale value that the check detects
    return Contestant(lambda: main(*found.inputs, output), lambda: output)
