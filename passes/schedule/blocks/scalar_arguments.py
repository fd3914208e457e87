"""The scalar arguments of an intrinsic's implementation: sizes of the block, and numbers that it computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis import Region, has_known_strides
from tir_mlir.dialect.computation import IntrinMatch, Leaf, OpNode, ParamBinding, TensorIntrin, Tree
from tir_mlir.dialect.computation.scalar_params import saturates
from tir_mlir.dialect.ir import Block, Func, Index, create, edit, step
from tir_mlir.dialect.presburger import only_where, sets
from tir_mlir.dialect.verify import names_of
from tir_mlir.passes.schedule.blocks.intrinsic_body import can_be_open
from tir_mlir.passes.schedule.registry import refuse

Bounds = tuple[int | None, int | None]


def size_arguments(block: Block, match: IntrinMatch, intrinsic: TensorIntrin) -> dict[int, tuple[Index, Bounds]]:
    """The index arguments, each with the bounds to which it is clamped, where it may be beyond them and the computation
    is the same. Refuses others that are not always within the bounds that the description assumes."""
    arguments = {}
    for param in intrinsic.form().sizes:
        value = match.sizes[param.number]
        bounds: list[int | None] = []
        sides = ((param.low, 1), (param.high, -1))
        for (limit, factor), is_same in zip(sides, saturates(intrinsic.form(), param), strict=True):
            beyond = None if limit is None else _first_beyond(block, value.index, limit, factor)
            if beyond is not None and not (value.clamped and is_same):
                word = "at least" if factor > 0 else "at most"
                refuse(
                    block,
                    f'parameter {param.name} of "{intrinsic.name}" is {word} {limit}; in {block} it is not{beyond}',
                    fix="split the loops by factors that fit the instruction",
                )
            bounds.append(limit if beyond is not None else None)
        arguments[param.number] = (value.index, (bounds[0], bounds[1]))
    return arguments


def open_parameters(block: Block, bindings: Sequence[ParamBinding], impl: Func, name: str) -> frozenset[int]:
    """The parameters, by argument, whose window may end outside of its buffer: conditions say what of it is accessed.
    The implementation has to take pointers to them."""
    found = set()
    for binding in bindings:
        beyond = _first_outside(block, binding)
        if beyond is None:
            continue
        if not can_be_open(impl, binding.param):
            refuse(
                block,
                f'parameter {binding.param.name} of "{name}" is a window that ends outside of {binding.buffer.name}'
                f"{beyond}, and the implementation takes more than its address and strides",
                fix="pass access_ptr and strides of the parameter to a kernel",
            )
        if not has_known_strides(binding.buffer):
            refuse(
                block,
                f'parameter {binding.param.name} of "{name}" is a window that ends outside of {binding.buffer.name}'
                f"{beyond}, whose strides are variables",
                fix="declare the buffer without strides",
            )
        found.add(ir.BlockArgument(binding.param.value).arg_number)
    return frozenset(found)


def clip(block: Block, region: Region) -> Region:
    """The part of a region that is in its buffer: its last tile may end outside."""
    mins, extents = list(region.mins), list(region.extents)
    for number, size in enumerate(region.buffer.dims):
        if _first_negative(block, size - mins[number] - extents[number]) is not None:
            clipped = _clipped_extent(block, mins[number], extents[number], size)
            mins[number], extents[number] = (Index.constant(0), size) if clipped is None else (mins[number], clipped)
    return Region(region.buffer, tuple(mins), tuple(extents))


def _clipped_extent(block: Block, start: Index, extent: Index, size: Index) -> Index | None:
    """`min(extent, size - start)` where only the last value of one iter reaches the end; None elsewhere."""
    count, total = extent.as_constant(), size.as_constant()
    its = [i for i in block.iters if start.uses(i.var)]
    step_, last = step(start, its[0].var) if its else 0, (its[0].min + its[0].extent - 1).as_constant() if its else 0
    if None in (count, total, step_, last) or len(its) > 1 or len(start.values) > 1:
        return None
    first = start.substitute({i.var: Index.constant(0) for i in its}).as_constant()
    if count is None or total is None or first is None:
        return None
    at_last = total - first - (step_ or 0) * (last or 0)
    if not 0 < at_last <= count or at_last + (step_ or 0) < count:
        return None
    return Index.constant(at_last) if not last else Index.from_value(its[0].var) // last * (at_last - count) + count


def _first_outside(block: Block, binding: ParamBinding) -> str | None:
    """Where a window ends outside of its buffer, as text; None if nowhere."""
    for start, count, size in zip(binding.base, binding.sizes, binding.buffer.dims, strict=True):
        beyond = _first_negative(block, size - start - count)
        if beyond is not None:
            return beyond
    return None


def _first_beyond(block: Block, index: Index, limit: int, factor: int) -> str | None:
    """Where `factor * (index - limit)` is negative, as text; None if nowhere."""
    number = index.as_constant()
    if number is not None:
        return None if factor * (number - limit) >= 0 else f": it is {number}"
    return _first_negative(block, (index - limit) * factor)


def _first_negative(block: Block, index: Index) -> str | None:
    """Where an index is negative in a block, as text; None if nowhere."""
    number = index.simplify().as_constant()
    if number is not None:
        return None if number >= 0 else ""
    first = block.body.operations[0].operation
    dom = sets.domain(first, block.op, [index])
    with sets.question("the size of an instruction"):
        bad = dom.set.intersect(dom.aff(index).neg_basic_set().to_set())
        if bad.is_empty():
            return None
        point = (sets.smallest_point(bad) or [])[-len(dom.dims) :]
    iteration = ", ".join(f"{n} = {v}" for n, v in zip(names_of(dom, first), point, strict=False))
    return (f" at {iteration}" if iteration else "") + only_where(bad, first)


def emit_scalars(match: IntrinMatch, sizes: Mapping[int, tuple[Index, Bounds]]) -> dict[int, ir.Value]:
    """Create the scalar arguments, by number, at the insertion point."""
    values = {number: _emit_size(index, bounds) for number, (index, bounds) in sizes.items()}
    for number, tree in match.numbers.items():
        value = _emit_number(match, tree)
        is_integer = isinstance(value.type, ir.IntegerType) and number in match.index_numbers
        values[number] = arith.index_cast(ir.IndexType.get(), value) if is_integer else value
    return values


def _emit_size(index: Index, bounds: Bounds) -> ir.Value:
    value = create.apply(index)
    for bound, build in zip(bounds, (arith.maxsi, arith.minsi), strict=True):
        if bound is not None:
            value = build(value, create.apply(Index.constant(bound)))
    return value


def _emit_number(match: IntrinMatch, tree: Tree) -> ir.Value:
    """Create a computation of the block, which is the same in all its iterations."""
    value = match.block.values[tree]
    if isinstance(tree, Leaf):
        operand = match.block.operands[tree.operand]
        return create.load(operand.buffer.value, operand.base)
    if not isinstance(tree, OpNode):
        return value
    op = value.owner.operation
    mapping = {v: _emit_number(match, c) for v, c in zip(op.operands, tree.children, strict=True)}
    return edit.clone(op, ir.InsertionPoint.current, mapping).results[0]
