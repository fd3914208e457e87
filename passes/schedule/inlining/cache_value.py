"""cache_value: compute a part of what a block stores in a block of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis import Access
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    IterSpec,
    attrs,
    child_towards,
    create,
    defining_op,
    edit,
    freeze_modules,
    is_symbol,
    signs,
)
from tir_mlir.dialect.ir.op_traits import is_scalar
from tir_mlir.dialect.ir.op_views import ConstantOp, ElementLoadOp, StoreOp, isa
from tir_mlir.passes.schedule.edits import alloc_buffer, check_scope_name, keeps_region_order
from tir_mlir.passes.schedule.inlining.block_expression import (
    BlockExpression,
    check_visible,
    clone_expression,
    expression_of,
)
from tir_mlir.passes.schedule.legality import Scope, check_complete, is_child, scope_of
from tir_mlir.passes.schedule.legality.written_before_read import first_write
from tir_mlir.passes.schedule.registry import DECOMPOSE_REDUCTION, check, primitive


@dataclass(frozen=True)
class _PartOfExpression(BlockExpression):
    """A value that the expression of a block is computed from."""

    part: ir.Value

    @property
    def value(self) -> ir.Value:
        return self.part

    def inputs(self) -> list[Access]:
        """The accesses that the part is computed from."""
        return [a for step in self.steps for a in accesses(step) if not a.is_write]


@primitive("cache_value", moves="in place")
@keeps_region_order
def cache_value(block: Block, path: list[int], storage_scope: str) -> Block:
    """Compute a part of the value that a block stores in a block of its own, into a buffer that the block reads.

        for i in range(n):                            B_part = T.alloc_buffer((n,), scope="s")
            with T.block("B"):                        for ax0 in range(n):
                B[vi] = T.max(A[vi] * 2, 0)    ->         with T.block("B_part"): B_part[v0] = A[v0] * 2
                                                      for i in range(n):
                                                          with T.block("B"): B[vi] = T.max(B_part[vi], 0)

    `path` leads from the stored value to the part: the position of an operand in the last operation, then in the
    operation that computes this operand, and so on; the empty path is the stored value itself. The buffer has a
    dimension for each iter of the block; block and buffer are named `<written buffer>_part`, and are directly before
    the loops of the block. Every element of the result gets the same value as before.

    Requires: the block is complete and has no guard; its body is one store of a pure value, and the part is an element
    or an operation outside of conditional values; nothing in the outermost loop of the block writes what the part is
    computed from.
    """
    with freeze_modules():
        check_scope_name(block, storage_scope)
        scope = scope_of(block)
        expression = expression_of(block, DECOMPOSE_REDUCTION)
        check_complete(block)
        value = _follow(expression, path)
        part = _PartOfExpression(block, expression.store, _steps_of(expression, value), value)
        top = child_towards(scope.op, block.outermost)
        _check_place(part, scope, top)
        dtype = signs.dtype_of(part.value)
        check(dtype is not None, block, f"the part at {list(path)} is an index, which no buffer holds")
    assert dtype is not None
    emit_remark(f"each iteration of `{block.name}` reads the part that it computed before")
    shape, wide = [(i.min + i.extent).simplify() for i in block.iters], any(i.is_wide for i in block.iters)
    name = re.sub(r"_part(_\d+)?$", "", expression.buffer.name) + "_part"
    buffer = alloc_buffer(scope, name, shape, dtype, storage_scope, wide)
    made = _compute(part, buffer, top)
    _read(part, buffer)
    return made


def _follow(expression: BlockExpression, path: list[int]) -> ir.Value:
    """The value to which a path leads."""
    block, value = expression.block, expression.value
    for number, position in enumerate(path):
        op, at = defining_op(value), list(path[:number])
        inner = op is not None and op in expression.steps and is_scalar(op.name) and not isa(op, ElementLoadOp)
        check(inner, block, f'the part at {at} of the value of block "{block.name}" has no operands to follow')
        assert op is not None
        count = len(op.operands)
        text = f'the part at {at} of the value of block "{block.name}" is {op.name}, with operands 0 to {count - 1}'
        check(0 <= position < count, block, f"{text}; {position} is none of them")
        value = op.operands[position]
    op = defining_op(value)
    inside = op is not None and op in expression.steps and not isa(op, ConstantOp)
    text = f'the part at {list(path)} of the value of block "{block.name}" is not computed in its body'
    check(inside, block, f"{text}: only elements and operations are", fix="a path to one of them")
    return value


def _steps_of(expression: BlockExpression, value: ir.Value) -> list[ir.Operation]:
    """The ops of a block that compute a value, in order."""
    needed, steps = {value}, []
    for step in reversed(expression.steps):
        if any(result in needed for result in step.results):
            needed.update(edit.captured_values(step))
            steps.insert(0, step)
    return steps


def _check_place(part: _PartOfExpression, scope: Scope, top: ir.Operation) -> None:
    """Refuse a part that cannot be computed before the loops of the block."""
    block = part.block
    check(is_child(block, scope), block, f'block "{block.name}" is in an init region', fix=DECOMPOSE_REDUCTION)
    text = f'block "{block.name}" has a guard (T.where), which excludes iterations for which the part would be computed'
    check(block.guarded_op == block.op, block, text, fix="cache_value before the loops are split")
    bounds = [v for i in block.iters for index in (i.min, i.extent) for v in index.values]
    check(all(map(is_symbol, bounds)), block, f'an iter of block "{block.name}" has a domain that a loop decides')
    check_visible(part, top)
    written = first_write([top], {a.buffer for a in part.inputs()})
    name = "" if written is None else Buffer(written.buffer).name
    text = f'the loops of block "{block.name}" contain what writes {name}, so that nothing before them can read it'
    check(written is None, block, text, fix="cache_value before compute_at")


def _compute(part: _PartOfExpression, buffer: Buffer, top: ir.Operation) -> Block:
    """Create the block that computes the part."""
    ip = ir.InsertionPoint(top)
    specs = []
    for number, it in enumerate(part.block.iters):
        with ip, part.block.op.location:
            loop = create.loop(f"ax{number}", it.min, it.min + it.extent)
        specs.append(IterSpec(f"v{number}", "S", it.min, it.extent, Index.from_value(loop.var), it.is_wide))
        ip = create.at_end(loop.body)
    with ip, part.block.op.location:
        made = create.block(buffer.name, specs)
    indices = [Index.from_value(it.var) for it in made.iters]
    iters = dict(zip((it.var for it in part.block.iters), indices, strict=True))
    value = clone_expression(part, list(made.body.operations)[-1].operation, iters)
    with create.at_end(made.body), part.block.op.location:
        create.store(value, buffer.value, indices)
    return made


def _read(part: _PartOfExpression, buffer: Buffer) -> None:
    """Let the block read the part, wherever it uses it, and drop what computed it."""
    block = part.block
    attrs.put(block.op, attrs.READS, None)
    op = defining_op(part.value)
    assert op is not None
    with ir.InsertionPoint(op), op.location:
        loaded = create.load(buffer.value, [Index.from_value(it.var) for it in block.iters])
    edit.replace_uses(part.value, loaded)
    for step in reversed(part.steps):
        if not isa(step, StoreOp) and not any(True for r in step.results for _ in r.uses):
            edit.drop(step)
