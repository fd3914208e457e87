"""The computation of a block that is a single store of a pure value, and cloning it at another op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, access_domain
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Iter,
    Loop,
    access_indices,
    cost,
    edit,
    is_apply,
    is_block,
    is_loop,
    ops,
    owner_op,
    parents,
    read_apply,
    symbols_by_name,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref, is_pure
from tir_mlir.dialect.ir.op_views import (
    AffineOp,
    AffineStoreOp,
    ApplyOp,
    ChoiceOp,
    ConstantOp,
    StoreOp,
    defining_op,
    isa,
)
from tir_mlir.dialect.presburger import dim_factors, domain, question, to_index
from tir_mlir.passes.schedule.edits import emit_index, expand_affine_op, is_affine_value
from tir_mlir.passes.schedule.registry import MOVE_UNDER_ONE_LOOP, USE_ELEMENTS, check, is_vector_access, refuse


@dataclass(frozen=True)
class BlockExpression:
    """The block's only store, and the side-effect-free ops before it (`steps`) that compute its value."""

    block: Block
    store: ir.Operation
    steps: list[ir.Operation]

    @property
    def buffer(self) -> Buffer:
        return Buffer(accessed_memref(self.store))

    @property
    def indices(self) -> list[Index]:
        return access_indices(self.store)

    @property
    def value(self) -> ir.Value:
        return StoreOp(self.store).value

    def inputs(self) -> list[Access]:
        """The accesses that the value is computed from."""
        return [a for a in accesses(self.block.op) if not a.is_write]


def expression_of(block: Block, reduction_fix: str = MOVE_UNDER_ONE_LOOP, in_loops: bool = False) -> BlockExpression:
    """The expression of a block. Refuses a body other than one store of a value computed in the block.

    `in_loops`: the store may be in perfectly nested loops inside the block.
    """
    text = f'block "{block.name}" has an init: a reduction, not a complete block, cannot be inlined'
    check(block.init is None, block, text, reduction_fix)
    body = _innermost_body(block.body_ops()) if in_loops else block.body_ops()
    if vector := next((o for o in body if is_vector_access(o)), None):
        text = f'block "{block.name}" accesses several elements at once, as a vector; only single ones are inlined'
        refuse(vector, text, fix=USE_ELEMENTS)
    stores = [o for o in body if isa(o, StoreOp)]
    check(
        len(stores) == 1 and body[-1] == stores[0] and isa(stores[0], AffineStoreOp),
        block, f'the body of block "{block.name}" is not a single store at an affine index, which '
'inlining needs',
        MOVE_UNDER_ONE_LOOP,
    )  # fmt: skip
    for op in [o for step in body[:-1] for o in ops(step)]:
        if not is_pure(op) and not isa(op, ChoiceOp):
            refuse(
                block,
                f'block "{block.name}" contains {op.name}, which inlining would move or duplicate; its '
                "body must be one store of a pure value",
                fix=MOVE_UNDER_ONE_LOOP,
            )
    check(
        Buffer(accessed_memref(stores[0])).root.value == accessed_memref(stores[0]),
        block,
        f'block "{block.name}" stores through a view, which inlining does not support',
        MOVE_UNDER_ONE_LOOP,
    )
    return BlockExpression(block, stores[0], body[:-1])


def _innermost_body(body: list[ir.Operation]) -> list[ir.Operation]:
    while len(body) == 1 and is_loop(body[0]):
        body = Loop(body[0]).body_ops()
    return body


# --- inverse of the index ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inverse:
    """Maps an element to the iters that access it: `element[d] - rest` for each iter, or by isl if `plain` is None."""

    block: Block
    indices: list[Index]
    plain: dict[ir.Value, tuple[int, Index]] | None

    def at_values(self, element: Sequence[Index]) -> dict[ir.Value, Index] | None:
        """The iters that access an element, if they follow by subtraction only."""
        if self.plain is None:
            return None
        iters: dict[ir.Value, Index] = {}
        for it in self.block.iters:
            if it.var in self.plain:
                dim, offset = self.plain[it.var]
                iters[it.var] = (element[dim] - offset.substitute(iters)).simplify()
            else:  # a unit iter; as the index of an access it remains one
                plain = [index.values == (it.var,) and index.is_value() is not None for index in self.indices]
                own = [n for n, is_plain in enumerate(plain) if is_plain]
                iters[it.var] = element[own[0]] if own and element[own[0]].is_value() is not None else it.min
        return iters

    def at_access(self, access: Access) -> dict[ir.Value, Index]:
        """The iters that access the element of the affine access `access`, over the values available there."""
        by_subtraction = self.at_values(access.mins)
        return by_subtraction if by_subtraction is not None else self._solve_by_isl(access)

    def _solve_by_isl(self, access: Access) -> dict[ir.Value, Index]:
        top = next((p for p in parents(access.op) if is_block(p)), None)
        with question(f'the inverse of the index of block "{self.block.name}"'):
            dom = access_domain(access, top)
            element_map = _own_map(self.block, self.indices)
            relation = dom.map(access.mins).apply_range(element_map.reverse())
            symbols = symbols_by_name(access.op)
            iters = {}
            for number, it in enumerate(self.block.iters):
                iters[it.var] = self._shortest(relation, number, it, dom.dims, symbols)
            return iters

    def _shortest(
        self, relation: isl.Map, number: int, it: Iter, dims: list[ir.Value], symbols: dict[str, ir.Value]
    ) -> Index:
        """The value of an iter as an expression: the shorter of its (equal) lower and upper bound."""
        forms = []
        for bound in (relation.dim_min(number), relation.dim_max(number)):
            pieces = bound.coalesce().gist(relation.domain()).get_pieces()
            if len(pieces) == 1:
                forms.append(to_index(pieces[0][1], dims, symbols).simplify())
        if not forms:
            refuse(
                self.block,
                f'iter {it.name} of block "{self.block.name}" is not a single expression of the element it accesses',
                provable=False,
                fix=MOVE_UNDER_ONE_LOOP,
            )
        return min(forms, key=lambda f: cost(f.expr))


def inverse_of(block: Block, indices: Sequence[Index]) -> Inverse:
    """Solve an index for the iters. Refuses an index that two iterations have in common."""
    plain = _solve(block.iters, indices)
    if plain is None:
        element_map = _own_map(block, indices)
        with question(f'whether block "{block.name}" accesses each element once'):
            if not element_map.is_injective():
                refuse(
                    block,
                    f'two iterations of block "{block.name}" access the same element: its index cannot be '
                    "solved for its iters",
                    fix=MOVE_UNDER_ONE_LOOP,
                )
    return Inverse(block, list(indices), plain)


def _solve(iters: Sequence[Iter], indices: Sequence[Index]) -> dict[ir.Value, tuple[int, Index]] | None:
    """Each non-unit iter from one index `iter + rest`, with `rest` free of the block's iters; else None."""
    moving = {i.var for i in iters if i.extent.as_constant() != 1}
    units = {i.var: i.min for i in iters if i.var not in moving}
    solved: dict[ir.Value, tuple[int, Index]] = {}
    for number, index in enumerate(indices):
        index = index.substitute(units)
        iters_of_index = [v for v in index.values if v in moving]
        if len(iters_of_index) != 1 or iters_of_index[0] in solved:
            continue
        parts = dim_factors(index.expr)
        if parts is not None and parts[0].get(index.values.index(iters_of_index[0])) == 1:
            solved[iters_of_index[0]] = (number, (index - Index.from_value(iters_of_index[0])).simplify())
    return solved if set(solved) == moving else None


def _own_map(block: Block, indices: Sequence[Index]) -> isl.Map:
    """{ iters -> element }."""
    dom = domain(block.body_ops()[-1], block.op, indices)
    if dom.free:
        refuse(
            block,
            f'the index of block "{block.name}" mixes its iters with those of an enclosing block in a '
            "way that cannot be solved",
            provable=False,
        )
    return dom.map(indices)


# --- cloning ----------------------------------------------------------------------------------------------------------


def clone_expression(
    payload: BlockExpression,
    anchor: ir.Operation,
    iters: dict[ir.Value, Index],
    existing: dict[ir.Value, ir.Value] | None = None,
) -> ir.Value:
    """Clone the expression before an op, with its iters replaced, and return the value that would be stored.

    `existing`: values that exist already. Non-affine indices are computed with `arith` ops.
    """
    ip = ir.InsertionPoint(anchor)
    values = dict(existing or {}) | _clone_constants(payload, anchor)
    clones: list[ir.Operation] = []
    for step in payload.steps:
        if len(step.results) and step.results[0] in values:
            continue
        if isa(step, ApplyOp):
            with ip:
                values[step.results[0]] = emit_index(read_apply(step.results[0]).substitute(iters))
            continue
        new = edit.clone(step, ip, values)
        for old, copy in list(zip(ops(step)[1:], ops(new)[1:], strict=True)):
            if len(old.results) and old.results[0] in values:
                edit.replace_uses(copy.results[0], values[old.results[0]])
                edit.drop(copy)
        new = _replace_iters(new, iters)
        clones.append(new)
        values |= dict(zip(step.results, new.results, strict=True))
    result = values.get(payload.value, payload.value)
    _drop_unused([*[owner_op(v) for v in values.values() if is_apply(v)], *clones], result)
    return result


def _drop_unused(clones: Sequence[ir.Operation], result: ir.Value) -> None:
    for op in reversed(clones):
        has_uses = any(True for r in op.results for _ in r.uses)
        if len(op.results) and not has_uses and result not in list(op.results):
            edit.drop(op)


def _clone_constants(payload: BlockExpression, anchor: ir.Operation) -> dict[ir.Value, ir.Value]:
    """Clone constants of the expression that are not visible at `anchor`."""
    clones: dict[ir.Value, ir.Value] = {}
    for value in _outer_values(payload):
        if defining_op(value, ConstantOp) is not None and not is_visible(anchor, value):
            clones[value] = edit.clone(owner_op(value), ir.InsertionPoint(anchor)).results[0]
    return clones


def _outer_values(payload: BlockExpression) -> list[ir.Value]:
    """Values that the expression uses but its block does not define."""
    operands = [payload.value, *[v for step in payload.steps for v in edit.captured_values(step)]]
    return [v for v in dict.fromkeys(operands) if not walk.is_inside(owner_op(v), payload.block.op)]


def _replace_iters(root: ir.Operation, iters: dict[ir.Value, Index]) -> ir.Operation:
    """Replace iters in a fresh clone; returns the op that replaces it."""
    beneath = ops(root)[1:]
    new = _replace(root, iters)
    for op in beneath:
        _replace(op, iters)
    return new


def _replace(op: ir.Operation, iters: dict[ir.Value, Index]) -> ir.Operation:
    indices = [v for v in op.operands if isinstance(v.type, ir.IndexType)]
    if not any(v in iters or is_apply(v) for v in indices) and not _is_foreign(op, indices):
        return op
    if _is_foreign(op, [u for v in indices for u in (iters[v].values if v in iters else (v,))]):
        return expand_affine_op(op, iters)
    if isa(op, AffineOp):
        return edit.rewrite_indices(op, lambda i: i.substitute(iters))
    for number, operand in enumerate(list(op.operands)):
        if operand in iters:
            with ir.InsertionPoint(op), op.location:
                edit.set_operand(op, number, emit_index(iters[operand]))
    return op


def _is_foreign(op: ir.Operation, indices: Sequence[ir.Value]) -> bool:
    """Whether an affine op would get an operand that is not an affine index."""
    return isa(op, AffineOp) and not all(is_affine_value(v) for v in indices)


def check_visible(payload: BlockExpression, anchor: ir.Operation, producer: Block | None = None) -> None:
    """Refuse an expression that uses a value not visible at `anchor` (constants are cloned), and, to be stored by a
    producer, one whose buffer is not.
    """
    for value in _outer_values(payload):
        constant = defining_op(value, ConstantOp) is not None
        if not constant and not is_visible(anchor, value):
            refuse(
                payload.block,
                f'block "{payload.block.name}" uses a value of {owner_op(value).name} that is not visible '
                "where it would be inlined; compute it inside the block",
            )
    if producer is not None and not is_visible(anchor, payload.buffer.value):
        refuse(payload.block, f'{payload.buffer.name} is allocated after block "{producer.name}"')


def is_visible(anchor: ir.Operation, value: ir.Value) -> bool:
    """Whether a value dominates `anchor`."""
    chain, maker = [anchor, *parents(anchor)], owner_op(value)
    if isinstance(value.owner, ir.Block):
        return maker in chain
    inner = next((o for o in chain if o.block == maker.block), None)
    return inner is not None and walk.position(maker) < walk.position(inner)
