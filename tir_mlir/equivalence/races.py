"""Race detection for parallel loops, by isl: a serial run cannot show races."""

from __future__ import annotations

from dataclasses import dataclass, field

from tir_mlir.dialect.analysis import dependences
from tir_mlir.dialect.diagnostics import Counterexample, NotProvable
from tir_mlir.dialect.ir import Func, Loop, frozen, is_loop, walk


@dataclass
class Races:
    """The parallel loops of a function with a data race between iterations, and the undecided ones with the
    reason."""

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
                clash = dependences.carried(loop)
            except NotProvable as error:
                result.open.append((loop, str(error).splitlines()[0]))
                continue
            if clash is not None:
                result.found.append((loop, clash))
    return result
