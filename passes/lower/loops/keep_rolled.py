"""Disable LLVM's unrolling of loops with long dependence chains that use each value twice, such as argmax."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import Loop, constant_integer, is_loop, owner_op, walk
from tir_mlir.dialect.ir.lowering_op_views import BranchOp, LLVMConstantOp, LLVMLoadOp, LLVMStoreOp
from tir_mlir.dialect.ir.op_views import (
    ConstantOp,
    ElementLoadOp,
    ElementStoreOp,
    LoopLikeOp,
    ReadOp,
    ScfForOp,
    StoreOp,
    isa,
)
from tir_mlir.passes.lower.llvm.addresses import base_of_address, offset_of_address, parts_of_address
from tir_mlir.passes.lower.loops.join_unrolled import unroll_factor
from tir_mlir.passes.lower.registry import lowering

_LOADS = ElementLoadOp.names | LLVMLoadOp.names
_STORES = ElementStoreOp.names | LLVMStoreOp.names
_MAX_CHAIN = 12
"""The longest chain that may be unrolled."""


def is_repeated_chain(loop: ir.Operation) -> bool:
    """Whether a loop, if unrolled, is a long chain that the loop around it repeats.

    LLVM takes time exponential in the chain's length to vectorize the loop around (`vputils::isSingleScalar`, LLVM 22).
    """
    outer = _outer_loop(loop)
    return outer is not None and not _depends_on(loop, outer) and _chain_links(loop) > _MAX_CHAIN


def _outer_loop(op: ir.Operation) -> ir.Operation | None:
    """The loop around an op, looking through conditions."""
    outer = op.parent
    while outer is not None and not isa(outer, LoopLikeOp):
        outer = outer.parent
    return None if outer is None else outer.operation


def _depends_on(loop: ir.Operation, outer: ir.Operation) -> bool:
    """Whether a loop uses the variable or values of the loop around it."""
    for op in _one_by_one(loop):
        for value in op.operands:
            if isinstance(value.type, ir.MemRefType):
                continue
            for part in parts_of_address(value):
                owner = owner_op(part)
                between = walk.is_inside(owner, outer) and not walk.is_inside(owner, loop)
                if between and not isa(owner, ConstantOp, LLVMConstantOp):
                    return True
    return False


def _one_by_one(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops of `walk.ops`, for those who mostly stop early."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _one_by_one(inner.operation)


def _chain_links(loop: ir.Operation) -> int:
    """How often a loop-carried value (in memory or SSA) is computed from two uses of itself in one iteration."""
    body_ops = walk.ops(loop)
    uses: Counter[tuple[Any, ...]] = Counter()
    for op in body_ops:
        if op.name in _LOADS and not _is_vector(op):  # it may be loaded once for each use
            uses[_element_key(op, ReadOp(op).memref)] += _use_count(op.results[0])
    twice = {buffer for (buffer, *_), count in uses.items() if count > 1}
    links: Counter[ir.Value] = Counter()
    for op in body_ops:
        if op.name in _STORES and (buffer := _element_key(op, StoreOp(op).memref)[0]) in twice:
            links[buffer] += _run_count(op, loop)
        if isa(op, ScfForOp) and _carries_repeated(op):
            links[op.results[0]] += _run_count(op, loop) * _trip_count(op)
    return max(links.values(), default=0)


def _loops_with_links(ops: Sequence[ir.Operation]) -> set[ir.Operation]:
    """The loops among ops with what may be a link: a store to a buffer of which an element is loaded, or a loop that
    carries a value used twice. One look at all ops, as most loops have none."""
    stores = [(op, _buffer(StoreOp(op).memref)) for op in ops if op.name in _STORES]
    stored = {buffer for _, buffer in stores}
    loaded = {
        buffer
        for op in ops
        if op.name in _LOADS and not _is_vector(op) and (buffer := _buffer(ReadOp(op).memref)) in stored
    }
    links = [op for op, buffer in stores if buffer in loaded]
    links += [op for op in ops if isa(op, ScfForOp) and _carries_repeated(op)]
    return {loop for link in links for loop in (link, *walk.parents(link)) if isa(loop, ScfForOp)}


def _is_vector(load: ir.Operation) -> bool:
    return isinstance(load.results[0].type, ir.VectorType)


def _carries_repeated(loop: ir.Operation) -> bool:
    return any(_use_count(value) > 1 for value in list(loop.regions[0].blocks[0].arguments)[1:])


def _buffer(accessed: ir.Value) -> ir.Value:
    return accessed if isinstance(accessed.type, ir.MemRefType) else base_of_address(accessed)


def _element_key(op: ir.Operation, accessed: ir.Value) -> tuple[Any, ...]:
    """The buffer of an access, and what says which element it is."""
    if isinstance(accessed.type, ir.MemRefType):
        return (accessed, *op.operands, op.attributes.get("map", None))
    return (base_of_address(accessed), *parts_of_address(accessed), offset_of_address(accessed))


def _use_count(value: ir.Value) -> int:
    return sum(1 for _ in value.uses)


def _run_count(op: ir.Operation, loop: ir.Operation) -> int:
    """How often an op runs in one run of a loop around it, as far as extents are constant."""
    if op == loop:
        return 1
    loops = [p for p in walk.parents(op) if isa(p, LoopLikeOp) and walk.is_inside(p, loop)]
    return prod(_trip_count(p) for p in loops)


def _trip_count(loop: ir.Operation) -> int:
    """The trip count of a loop; 1 if unknown, as LLVM does not unroll it then."""
    if is_loop(loop):
        return Loop(loop).const_extent or 1
    if not isa(loop, ScfForOp):
        return 1
    low, high, step = (constant_integer(v) for v in list(loop.operands)[:3])
    return 1 if low is None or high is None or step is None else max((high - low) // step, 1)


_NO_UNROLL = "#llvm.loop_annotation<unroll = <disable = true>>"
_UNROLL = "#llvm.loop_annotation<unroll = <count = {} : i32>>"
_MARK, _FACT = "llvm.loop_annotation", "loop_annotation"


@lowering("tir-lower-keep-rolled", "Tell LLVM which loops to unroll, and which not: long chains in a repeating loop")
def run(module: ir.Module) -> bool:
    """Disable LLVM's unrolling of a loop that repeats a chain; ask for it where `tir-lower-join-unrolled` made a loop.

        scf.for %j ... {                                 scf.for %j ... {
          scf.for %k = 0 to 24 {                           scf.for %k = 0 to 24 {
            %x = load %X[] ... used twice        -->         ...
            store ..., %X[]                                } {llvm.loop_annotation = <unroll = <disable = true>>}
          }                                              }
        }

    See `is_repeated_chain`. Runs on scf loops; `tir-lower-keep-rolled-marks` moves the annotation to the branch.
    Returns whether there is one.
    """
    marked = False
    ops = walk.ops(module.operation)
    chained = _loops_with_links(ops)
    for op in ops:
        if not isa(op, ScfForOp):
            continue
        if op in chained and is_repeated_chain(op):
            op.attributes[_MARK] = ir.Attribute.parse(_NO_UNROLL)
        elif (factor := unroll_factor(op)) is not None:
            op.attributes[_MARK] = ir.Attribute.parse(_UNROLL.format(factor))
        marked = marked or _MARK in op.attributes
    return marked


@lowering("tir-lower-keep-rolled-marks", "Copy loop annotations from scf.for to the latch branch")
def finish(module: ir.Module) -> None:
    """Rename the loop annotation on a branch to the attribute that the translation to LLVM IR reads.

    llvm.br ^bb1 {llvm.loop_annotation = #a}   -->   llvm.br ^bb1 {loop_annotation = #a}
    """
    for op in walk.ops(module.operation):
        if isa(op, BranchOp) and _MARK in op.attributes:
            op.attributes[_FACT] = op.attributes[_MARK]
            del op.attributes[_MARK]
