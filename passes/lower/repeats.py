"""Loops that do the same each time around, told to LLVM, which would take too long over them."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import walk
from tir_mlir.passes.lower.registry import lowering

_KEPT = "#llvm.loop_annotation<unroll = <disable = true>>"
_MARK, _FACT = "llvm.loop_annotation", "loop_annotation"
_LOOPS = ("scf.for", "scf.parallel")
_SHORT = 12
"""Iterations that do no harm."""


@lowering("tir-lower-repeats", "leave loops whole that would be a long chain in a loop that repeats them")
def run(module: ir.Module) -> None:
    """Have LLVM not unroll a loop that repeats a chain.

        scf.for %j ... {                                 scf.for %j ... {
          scf.for %k = 0 to 24 {                           scf.for %k = 0 to 24 {
            %x = load %X[] ... used twice        -->         ...
            store ..., %X[]                                } {llvm.loop_annotation = <unroll = <disable = true>>}
          }                                              }
        }

    Unrolled it is a chain in which each value uses the one before twice, an argmax for instance; if it does not depend
    on the loop around, LLVM takes time exponential in its length to make lanes of that one (`vputils::isSingleScalar`,
    LLVM 22). Runs on scf loops; `tir-lower-marks` finishes it.
    """
    for op in walk.ops(module.operation):
        if op.name == "scf.for" and (outer := _around(op)) is not None:
            if _is_long(op) and _updates_twice(op) and not _depends(op, outer):
                op.attributes[_MARK] = ir.Attribute.parse(_KEPT)


@lowering("tir-lower-marks", "what was said of a loop is said of the branch that closes it")
def finish(module: ir.Module) -> None:
    """Make the mark that a loop of scf leaves on its branch the one that LLVM reads.

    llvm.br ^bb1 {llvm.loop_annotation = #a}   -->   llvm.br ^bb1 {loop_annotation = #a}
    """
    for op in walk.ops(module.operation):
        if op.name == "llvm.br" and _MARK in op.attributes:
            op.attributes[_FACT] = op.attributes[_MARK]
            del op.attributes[_MARK]


def _around(loop: ir.Operation) -> ir.Operation | None:
    """The loop that a loop stands in, also under a condition."""
    outer = loop.parent
    while outer is not None and outer.name not in _LOOPS:
        outer = outer.parent
    return None if outer is None else outer.operation


def _is_long(loop: ir.Operation) -> bool:
    """Whether a loop has a known number of iterations, too many for a chain."""
    low, high, step = (_constant(v) for v in list(loop.operands)[:3])
    return low is not None and high is not None and step is not None and (high - low) // step > _SHORT


def _constant(value: ir.Value) -> int | None:
    op = value.owner
    if isinstance(op, ir.Block) or op.name != "arith.constant":
        return None
    return ir.IntegerAttr(op.attributes["value"]).value


def _updates_twice(loop: ir.Operation) -> bool:
    """Whether what one iteration leaves to the next, in memory or as a value, is used twice there."""
    inside = walk.ops(loop)
    stored = {op.operands[1] for op in inside if op.name == "memref.store"}
    left = [op.results[0] for op in inside if op.name == "memref.load" and op.operands[0] in stored]
    left += list(loop.regions[0].blocks[0].arguments)[1:]
    return any(sum(1 for _ in value.uses) > 1 for value in left)


def _depends(loop: ir.Operation, outer: ir.Operation) -> bool:
    """Whether a loop uses a number that the loop around it makes."""
    for op in walk.ops(loop):
        for value in op.operands:
            if isinstance(value.type, ir.MemRefType):
                continue
            home = value.owner.owner.operation if isinstance(value.owner, ir.Block) else value.owner.operation
            between = walk.is_inside(home, outer) and not walk.is_inside(home, loop)
            if between and home.name != "arith.constant":
                return True
    return False
