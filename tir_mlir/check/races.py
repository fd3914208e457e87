"""Races: what no run of one iteration after the other shows. isl decides whether iterations meet."""

from __future__ import annotations

from dataclasses import dataclass, field

from tir_mlir.dialect import deps, walk
from tir_mlir.dialect.counterexample import Counterexample
from tir_mlir.dialect.errors import NotProvable
from tir_mlir.dialect.memo import frozen
from tir_mlir.dialect.views import Func, Loop, is_loop


@dataclass
class Races:
    """The loops of a function whose iterations run at the same time and touch one element, one of them writing; and
    those for which that is not decided, with the reason."""

    found: list[tuple[Loop, Counterexample]] = field(default_factory=list)
    open: list[tuple[Loop, str]] = field(default_factory=list)


def races(func: Func) -> Races:
    """The races of a function (call inside `entered`)."""
    result = Races()
    with frozen():
        for loop in [Loop(op) for op in walk.ops(func.op) if is_loop(op)]:
            if loop.kind in ("serial", "unrolled"):
                continue
            try:
                clash = deps.carried(loop)
            except NotProvable as error:
                result.open.append((loop, str(error).splitlines()[0]))
                continue
            if clash is not None:
                result.found.append((loop, clash))
    return result
