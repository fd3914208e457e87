"""`T.reads` and `T.writes`: declared regions, compared with the regions computed from the accesses."""

from __future__ import annotations

import ast

from mlir import ir

from tir_mlir.dialect.analysis import Region, accessed_regions, declare, root_region
from tir_mlir.dialect.analysis.regions import outer_iters
from tir_mlir.dialect.ir import Block, Buffer, Index, attrs, is_symbol, symbol_name, visit
from tir_mlir.dialect.ir.op_views import CallOp, FuncOp, IntToPtrOp, isa
from tir_mlir.dialect.presburger import intervals
from tir_mlir.script.parser.expressions import Evaluator
from tir_mlir.script.parser.items import RegionRef


def declare_regions(evaluate: Evaluator, block: Block, reads: ast.Call | None, writes: ast.Call | None) -> None:
    """Attach declared regions that differ from the computed ones, or that cannot be computed (extern calls)."""
    if reads is None and writes is None:
        return
    block = Block(block.op)
    opaque = _has_call(block.op)
    for key, call, inferred in zip((attrs.READS, attrs.WRITES), (reads, writes), accessed_regions(block), strict=True):
        if call is None:
            continue
        listed = _evaluate_regions(evaluate, region_nodes(call))
        if not opaque and _are_equal_regions(listed, inferred):
            continue
        listed = [_relax_region(region, block) for region in listed]
        try:
            _add_symbols(Block(block.op), listed)  # a fresh view: views cache symbols, and T.reads may have added some
            declare(Block(block.op), key, listed)
        except KeyError:
            raise evaluate.state.error(
                call, "a declared region may use only iters of its block and of enclosing blocks, and shape variables"
            ) from None


def _relax_region(region: Region, block: Block) -> Region:
    """A region without the loops around its block: its hull over their iterations, in each axis that uses one."""
    iter_vars = {i.var for i in block.iters}.union(outer_iters(block))
    box = intervals.enclosing_ranges(block.op)
    mins, extents = list(region.mins), list(region.extents)
    for axis, (low, extent) in enumerate(zip(region.mins, region.extents, strict=True)):
        if all(v in iter_vars or is_symbol(v) for v in (*low.values, *extent.values)):
            continue
        first, end = intervals.interval(low, box)[0], intervals.interval(low + extent, box)[1]
        bounded = first is not None and end is not None
        mins[axis] = Index.constant(first if bounded and first is not None else 0)
        extents[axis] = Index.constant(end - first) if bounded else region.buffer.dims[axis]  # type: ignore[operator]
    return Region(region.buffer, tuple(mins), tuple(extents))


def _evaluate_regions(evaluate: Evaluator, nodes: list[ast.expr]) -> list[Region]:
    """The regions; what computes an index that is not affine (`A[I[vi]]`) is not kept: the region is the whole axis."""
    enclosing = ir.InsertionPoint.current.block
    earlier = set(enclosing.operations)
    regions = [_as_region(evaluate.region(node, widen=True)) for node in nodes]
    for op in reversed([op for op in enclosing.operations if op not in earlier]):
        if not any(True for result in op.results for _ in result.uses):
            op.operation.erase()
    return regions


def region_nodes(call: ast.Call) -> list[ast.expr]:
    """The arguments of T.reads and T.writes; older TVMScript passes one list."""
    if len(call.args) == 1 and isinstance(call.args[0], ast.List):
        return list(call.args[0].elts)
    return list(call.args)


def _as_region(ref: RegionRef) -> Region:
    return root_region(Region(Buffer(ref.buffer.ssa), tuple(ref.mins), tuple(ref.extents)))


def _are_equal_regions(listed: list[Region], inferred: list[Region]) -> bool:
    return len(listed) == len(inferred) and all(w.is_equal_to(k) for w, k in zip(listed, inferred, strict=True))


def _has_call(op: ir.Operation) -> bool:
    found = False

    def look(inner: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = found or isa(inner, CallOp, IntToPtrOp)
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    visit(op, look)
    return found


def _add_symbols(block: Block, regions: list[Region]) -> None:
    """Add shape variables used only in regions to `tir.syms`, and extend the domain maps by as many symbols."""
    symbols = block.symbols
    variables = {v for r in regions for i in (*r.mins, *r.extents) for v in i.values}
    extra = [v for v in variables if v not in symbols and is_size(v)]
    if not extra:
        return
    facts = block.op.attributes
    facts[attrs.SYMS] = attrs.to_attr([*attrs.get(block.op, attrs.SYMS, []), *map(symbol_name, extra)])
    for key in (attrs.MIN, attrs.EXTENT):
        old = attrs.get(block.op, key)
        facts[key] = ir.AffineMapAttr.get(ir.AffineMap.get(0, len(symbols) + len(extra), list(old.results)))


def is_size(value: ir.Value) -> bool:
    owner = value.owner
    parent = owner.owner if isinstance(owner, ir.Block) else owner.parent
    return parent is not None and isa(parent.operation, FuncOp)
