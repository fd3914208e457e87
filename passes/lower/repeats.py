"""Loops that do the same each time around, told to LLVM, which would take too long over them."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import walk
from tir_mlir.passes.lower.chains import is_repeated
from tir_mlir.passes.lower.registry import lowering

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
