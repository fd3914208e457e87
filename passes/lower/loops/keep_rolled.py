"""Chains: a value that is made from itself again and again, used twice each time, an argmax for instance."""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import Loop, is_loop, owner_op, walk
from tir_mlir.passes.lower.registry import lowering

_LOOPS = ("affine.for", "scf.for", "scf.parallel")
_LOADS, _STORES = ("affine.load", "memref.load"), ("affine.store", "memref.store")
_SHORT = 12
"""Links that do no harm."""


def is_repeated(loop: ir.Operation) -> bool:
    """Whether a loop, written out, is a long chain that the loop around it makes again each time.

    LLVM takes time exponential in its length to make lanes of the loop around (`vputils::isSingleScalar`, LLVM 22).
    """
    outer = _around(loop)
    return outer is not None and not _depends(loop, outer) and _links(loop) > _SHORT


def _around(op: ir.Operation) -> ir.Operation | None:
    """The loop that an op stands in, also under a condition."""
    outer = op.parent
    while outer is not None and outer.name not in _LOOPS:
        outer = outer.parent
    return None if outer is None else outer.operation


def _depends(loop: ir.Operation, outer: ir.Operation) -> bool:
    """Whether a loop uses a number that the loop around it makes."""
    for op in walk.ops(loop):
        for value in op.operands:
            if isinstance(value.type, ir.MemRefType):
                continue
            owner = owner_op(value)
            between = walk.is_inside(owner, outer) and not walk.is_inside(owner, loop)
            if between and owner.name != "arith.constant":
                return True
    return False


def _links(loop: ir.Operation) -> int:
    """How often what one iteration leaves to the next, in memory or as a value, is made from two uses of itself."""
    inside = walk.ops(loop)
    uses: Counter[tuple[Any, ...]] = Counter()
    for op in inside:
        if op.name in _LOADS:  # a place may be loaded once for each use still
            uses[_place(op)] += _uses(op.results[0])
    twice = {buffer for (buffer, *_), count in uses.items() if count > 1}
    links: Counter[ir.Value] = Counter()
    for op in inside:
        if op.name in _STORES and op.operands[1] in twice:
            links[op.operands[1]] += _times(op, loop)
        if op.name == "scf.for" and any(_uses(v) > 1 for v in list(op.regions[0].blocks[0].arguments)[1:]):
            links[op.results[0]] += _times(op, loop) * _trips(op)
    return max(links.values(), default=0)


def _place(load: ir.Operation) -> tuple[Any, ...]:
    """The buffer that a load reads, and where; equal wherever it is one place."""
    return (*load.operands, load.attributes["map"] if "map" in load.attributes else None)


def _uses(value: ir.Value) -> int:
    return sum(1 for _ in value.uses)


def _times(op: ir.Operation, loop: ir.Operation) -> int:
    """How often an op is done in one run of a loop around it, as far as constants tell."""
    if op == loop:
        return 1
    around = [p for p in walk.parents(op) if p.name in _LOOPS and walk.is_inside(p, loop)]
    return prod(_trips(p) for p in around)


def _trips(loop: ir.Operation) -> int:
    """The iterations of a loop; 1 where that is not known, as LLVM does not write it out then."""
    if is_loop(loop):
        return Loop(loop).const_extent or 1
    if loop.name != "scf.for":
        return 1
    low, high, step = (_constant(v) for v in list(loop.operands)[:3])
    return 1 if low is None or high is None or step is None else max((high - low) // step, 1)


def _constant(value: ir.Value) -> int | None:
    op = value.owner
    if isinstance(op, ir.Block) or op.name != "arith.constant":
        return None
    return ir.IntegerAttr(op.attributes["value"]).value


_KEPT = "#llvm.loop_annotation<unroll = <disable = true>>"
_MARK, _FACT = "llvm.loop_annotation", "loop_annotation"


@lowering("tir-lower-repeats", "leave loops whole that would be a long chain in a loop that repeats them")
def run(module: ir.Module) -> None:
    """Have LLVM not unroll a loop that repeats a chain.

        scf.for %j ... {                                 scf.for %j ... {
          scf.for %k = 0 to 24 {                           scf.for %k = 0 to 24 {
            %x = load %X[] ... used twice        -->         ...
            store ..., %X[]                                } {llvm.loop_annotation = <unroll = <disable = true>>}
          }                                              }
        }

    `chains` says which those are and why. Runs on scf loops; `tir-lower-marks` finishes it.
    """
    for op in walk.ops(module.operation):
        if op.name == "scf.for" and is_repeated(op):
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
