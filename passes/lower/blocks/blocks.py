"""Lower blocks: replace iters by their bindings."""

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
    is_inside,
    is_view,
    parent_op,
    walk,
)
from tir_mlir.dialect.ir.lowering_op_views import AssumeOp
from tir_mlir.dialect.ir.op_views import AffineOp, AffineParallelOp, ApplyOp, IntToPtrOp, ViewLikeOp, isa
from tir_mlir.dialect.presburger import has_division, sets, simplify_index
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-blocks", "Lower blocks to loops: replace iters by their bindings")
def run(module: ir.Module) -> None:
    """Inline the body of every block, with iters replaced by their bindings.

        affine.parallel (%vi) = (%i * 16 + %j) to (...) {          affine.load %A[%i * 16 + %j]
          affine.load %A[%vi]                              -->
        } {tir.block = "b"}

    Divisions and remainders are simplified under the ranges of the loops. Guards and init regions remain `affine.if`s.
    Declared regions of pointers are recorded on the pointers. Requires nothing.
    """
    for func in programs(module):
        remove_blocks(func)


def remove_blocks(func: Func) -> None:
    """The same for one function. Ops are collected once, as a walk after every block would dominate the time."""
    drop_assumptions(func)
    everything = walk.ops(func.op)
    blocks = [op for op in everything if is_block(op)]
    env: dict[ir.Value, Index] = {}
    for op in blocks:
        for argument, binding in zip(op.regions[0].blocks[0].arguments, raw_bindings(op), strict=True):
            env[argument] = binding.substitute(env)
    _mark_overwrites(everything)
    remaining = [_substitute(op, env) for op in everything[1:] if not is_block(op)]
    applies = [op for op in remaining if isa(op, ApplyOp)]  # now: the terminators of blocks end with them
    for op in reversed(blocks):
        for inner in list(op.regions[0].blocks[0].operations)[:-1]:
            inner.move_before(op)
        op.erase()
    for op in reversed(applies):
        if not any(True for _ in op.results[0].uses):
            op.erase()


def drop_assumptions(func: Func) -> None:
    """Erase `T.assume` of data, and the blocks that are left empty."""
    for op in [o for o in walk.ops(func.op) if isa(o, AssumeOp)]:
        parent = parent_op(op)
        edit.erase(op)
        while parent != func.op and not Block(parent).body_ops():
            parent, empty = parent_op(parent), parent
            empty.erase()


def raw_bindings(op: ir.Operation) -> list[Index]:
    """The bindings of a block, including the dummy binding of a block without iters."""
    return Block(op).bindings or [Index.constant(0)] * len(op.regions[0].blocks[0].arguments)


def _substitute(op: ir.Operation, env: Mapping[ir.Value, Index]) -> ir.Operation:
    """Replace iters in the operands of one op; returns the op that replaces it."""
    operands = list(op.operands)
    if isa(op, AffineOp) and not isa(
        op, AffineParallelOp
    ):  # an affine.parallel that is not a block has ranges, not bindings
        if any(v in env or is_apply(v) for v in operands):
            return edit.rewrite_indices(op, Simplifier(op, env))
        return op
    for number, operand in enumerate(operands):
        if operand in env:
            with ir.InsertionPoint(op), op.location:
                op.operands[number] = apply(env[operand])
    return op


class Simplifier:
    """Substitutes values in an index expression and simplifies it; computes the ranges around `op` on demand."""

    def __init__(self, op: ir.Operation, env: Mapping[ir.Value, Index]):
        self.op = op
        self.env = env
        self.domain: sets.Domain | None = None

    def __call__(self, index: Index) -> Index:
        index = index.substitute(self.env).simplify()
        if not has_division(index.expr):
            return index
        try:
            self.domain = self.domain or sets.domain(self.op, extra=[index])
            return simplify_index(index, self.domain)
        except (NotProvable, KeyError):  # a value that isl cannot express
            return index


def _mark_overwrites(everything: list[ir.Operation]) -> None:
    """Mark the pointers through which a kernel overwrites a region without reading it (`OVERWRITES`).

    The regions of the block determine that, declared or, where they are the same, derived from its accesses.
    """
    for op in everything:
        if not isa(op, IntToPtrOp) or attrs.get(op, attrs.ACCESS) != "w":
            continue
        owner, memref = walk.enclosing_block(op), accesses.pointee(op)
        if memref is None:
            continue
        if "reads" in attrs.get(owner.op, attrs.HIDDEN, []):
            continue  # undeclared regions may be read
        names = _names_outside(memref, owner)
        reads, writes = (_buffer_names(owner, key) for key in (attrs.READS, attrs.WRITES))
        if names & writes and not names & reads:
            op.attributes[OVERWRITES] = ir.UnitAttr.get()


def _names_outside(memref: ir.Value, owner: Block | Func) -> set[str]:
    """The names by which a block may declare what a memref is of: those of views in the block are its own."""
    chain = [Buffer(memref)]
    while is_view(op := chain[-1].op):
        chain.append(Buffer(ViewLikeOp(op).source))
    return {b.name for b in chain if b.op is None or not is_inside(b.op, owner.op)}


def _buffer_names(owner: Block | Func, key: str) -> set[str]:
    """The names of the buffers that a block reads or writes, as declared; else what it accesses."""
    declared = attrs.get(owner.op, key)
    if declared is not None:
        return {r["buffer"] for r in declared}
    accessed = [a.buffer for a in accesses.accesses(owner.op) if a.is_write == (key == attrs.WRITES)]
    return {Buffer(b).name for b in accessed} | {Buffer(b).root.name for b in accessed}
