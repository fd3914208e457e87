"""Blocks are removed: iters become the expressions they are bound to."""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir

from tir_mlir.dialect.analysis import accesses
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import (
    OVERWRITES,
    Block,
    Buffer,
    Func,
    Index,
    apply,
    attrs,
    edit,
    is_apply,
    is_block,
    parent_op,
    walk,
)
from tir_mlir.dialect.presburger import isl_exprs, sets, simplify_index
from tir_mlir.passes.lower.registry import lowering, programs

"""On an access pointer: the kernel writes all of the region and reads none of it. Lives only while lowering."""


@lowering("tir-lower-blocks", "remove blocks: iters become the expressions of the loops they are bound to")
def run(module: ir.Module) -> None:
    """Take every block away and keep what it does.

        affine.parallel (%vi) = (%i * 16 + %j) to (...) {          affine.load %A[%i * 16 + %j]
          affine.load %A[%vi]                              -->
        } {tir.block = "b"}

    Divisions and remainders are simplified under the ranges of the loops. Guards and init regions stay `affine.if`s.
    What declared regions say about pointers is kept on these. Requires nothing; always applies.
    """
    for func in programs(module):
        remove_blocks(func)


def remove_blocks(func: Func) -> None:
    """The same for one function. Everything is collected once: a walk after every block would cost the most."""
    drop_assumptions(func)
    everything = walk.ops(func.op)
    found = [op for op in everything if is_block(op)]
    env: dict[ir.Value, Index] = {}
    for op in found:
        for argument, binding in zip(op.regions[0].blocks[0].arguments, raw_bindings(op), strict=True):
            env[argument] = binding.substitute(env)
    _note_overwrites(everything)
    rest = [_substitute(op, env) for op in everything[1:] if not is_block(op)]
    for op in reversed(found):
        for inner in list(op.regions[0].blocks[0].operations)[:-1]:
            inner.move_before(op)
        op.erase()
    for op in reversed(rest):
        if op.name == "affine.apply" and not any(True for _ in op.results[0].uses):
            op.erase()


def drop_assumptions(func: Func) -> None:
    """`T.assume` of data is for those who read a program: a run makes no use of it, nor of blocks that hold no more."""
    for op in [o for o in walk.ops(func.op) if o.name == "llvm.intr.assume"]:
        home = parent_op(op)
        edit.erase(op)
        while home != func.op and not Block(home).body_ops():
            home, empty = parent_op(home), home
            empty.erase()


def raw_bindings(op: ir.Operation) -> list[Index]:
    """The bindings of a block, the dummy of a block without iters included."""
    return Block(op).bindings or [Index.constant(0)] * len(op.regions[0].blocks[0].arguments)


def _substitute(op: ir.Operation, env: Mapping[ir.Value, Index]) -> ir.Operation:
    """Bindings for iters in what one op uses; returns the op that stands in its place."""
    operands = list(op.operands)
    if op.name in walk.AFFINE_OPS and op.name != "affine.parallel":  # one that is no block has ranges, not bindings
        if any(v in env or is_apply(v) for v in operands):
            return edit.rewrite_indices(op, Simplifier(op, env))
        return op
    for number, operand in enumerate(operands):
        if operand in env:
            with ir.InsertionPoint(op), op.location:
                op.operands[number] = apply(env[operand])
    return op


class Simplifier:
    """Replaces values in an index expression and shortens it; the ranges around `op` are only asked for when needed."""

    def __init__(self, op: ir.Operation, env: Mapping[ir.Value, Index]):
        self.op = op
        self.env = env
        self.domain: sets.Domain | None = None

    def __call__(self, index: Index) -> Index:
        index = index.substitute(self.env).simplified()
        if not isl_exprs.has_division(index.expr):
            return index
        try:
            self.domain = self.domain or sets.domain(self.op, extra=[index])
            return simplify_index(index, self.domain)
        except (NotProvable, KeyError):  # a value that isl does not know
            return index


def _note_overwrites(everything: list[ir.Operation]) -> None:
    """Mark the pointers through which a kernel overwrites a region without reading it (`OVERWRITES`).

    Only the declared regions of the block can tell: the course's kernel adds to what it gets by `access_ptr("w")`.
    """
    for op in everything:
        if op.name != "llvm.inttoptr" or attrs.get(op, attrs.ACCESS) != "w":
            continue
        owner, memref = walk.enclosing_block(op), accesses.pointed(op)
        reads, writes = (attrs.get(owner.op, key) for key in (attrs.READS, attrs.WRITES))
        if memref is None or reads is None or writes is None:
            continue
        if "reads" in attrs.get(owner.op, attrs.HIDDEN, []):
            continue  # what is left out may be read all the same
        names = {Buffer(memref).name, Buffer(memref).root.name}
        if names & {r["buffer"] for r in writes} and not names & {r["buffer"] for r in reads}:
            op.attributes[OVERWRITES] = ir.UnitAttr.get()
