"""Index tables: if a single store `X[i] = f(i)` fills X (or a table that X copies), then `A[X[i]]` accesses `A[f(i)]`.

Such an access is a may-access: it accesses no other element, but is not relied on to access this one.
"""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine, NotProvable
from tir_mlir.dialect.ir import (
    Buffer,
    Index,
    access_indices,
    cache_while_frozen,
    child_towards,
    common_parent,
    is_block,
    is_loop,
    is_symbol,
    position,
    read_apply,
    symbols_by_name,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref, index_operands
from tir_mlir.dialect.ir.op_views import (
    AffineLoadOp,
    AffineStoreOp,
    ApplyOp,
    CastBaseOp,
    ConstantOp,
    DeallocOp,
    ExtSIOp,
    IndexCastSIOp,
    StoreOp,
    isa,
)
from tir_mlir.dialect.presburger import domain, intervals, question, to_index

_ARITH = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.floordivsi": lambda a, b: a // b,
}


@cache_while_frozen
def known_indices(op: ir.Operation) -> list[Index | None]:
    """The indices of a `memref.load` or `memref.store` that are affine, or known from tables; None for the others."""
    return [affine_value(v, op) for v in index_operands(op)]


def affine_value(value: ir.Value, user: ir.Operation) -> Index | None:
    """A value as an affine expression of loops, iters and sizes; None if it has no such form."""
    if isinstance(value.owner, ir.Block):
        plain = isinstance(value.type, ir.IndexType) and (is_loop(value.owner.owner) or is_block(value.owner.owner))
        return Index.from_value(value) if plain or (is_symbol(value) and isinstance(value.type, ir.IndexType)) else None
    op = value.owner.operation
    if isa(op, ConstantOp):
        number = op.attributes["value"]
        return Index.constant(number.value) if isinstance(number, ir.IntegerAttr) else None
    if isa(op, ApplyOp):
        return read_apply(value)
    if isa(op, IndexCastSIOp, ExtSIOp):
        return _cast(CastBaseOp(op), user)
    if isa(op, AffineLoadOp) and isinstance(value.type, ir.IntegerType):
        return _loaded_value(op)
    if op.name in _ARITH:
        lhs, rhs = (affine_value(v, user) for v in op.operands)
        if lhs is None or rhs is None:
            return None
        try:
            result = _ARITH[op.name](lhs, rhs).simplify()
        except NotAffine:
            return None
        return result if _fits(result, op.results[0].type, user) else None
    return Index.from_value(value) if is_symbol(value) and isinstance(value.type, ir.IndexType) else None


def _cast(cast: CastBaseOp, user: ir.Operation) -> Index | None:
    operand = affine_value(cast.source, user)
    return operand if operand is not None and _fits(operand, cast.result.type, user) else None


def _fits(index: Index, type_: ir.Type, user: ir.Operation) -> bool:
    """Whether an expression cannot overflow a type where it is computed."""
    if not isinstance(type_, ir.IntegerType) or type_.width >= 64:
        return True
    low, high = intervals.interval(index, intervals.enclosing_ranges(user))
    half = 1 << (type_.width - 1)
    return low is not None and high is not None and -half <= low and high < half


def _loaded_value(load: ir.Operation) -> Index | None:
    """The value loaded from a table: the value that its only store wrote at that index."""
    store = _only_store(accessed_memref(load))
    value = None if store is None or not _runs_before(store, load) else affine_value(StoreOp(store).value, store)
    if store is None or value is None:
        return None
    try:
        return _contents(store, value, access_indices(load))
    except NotProvable:
        return None


def _contents(store: ir.Operation, value: Index, indices: list[Index]) -> Index | None:
    """The contents of a table at an index after the store; None if they depend on the time of the load."""
    owner = accessed_memref(store).owner.operation.parent  # type: ignore[union-attr]
    positions = access_indices(store)
    dom = domain(store, owner, [value, *positions])
    outer = dom.dims[: dom.outer]  # one instance of the table: equal for store and load
    with question("the contents of an index table"):
        keys = dom.relation([*(dom.env[v] for v in outer), *map(dom.aff, positions)])
        content = keys.reverse().apply_range(dom.map([value]))
        if not content.is_single_valued():
            return None
        pieces = content.dim_min(0).coalesce().gist(content.domain()).get_pieces()
        return (
            to_index(pieces[0][1], [*outer, *indices], symbols_by_name(store)).simplify() if len(pieces) == 1 else None
        )


@cache_while_frozen
def _only_store(table: ir.Value) -> ir.Operation | None:
    """The only store to an allocation that is otherwise only loaded; None for anything else."""
    if not Buffer(table).is_alloc:
        return None
    stores = []
    for use in table.uses:
        user = use.owner.operation
        if isa(user, AffineStoreOp):
            stores.append(user)
        elif not isa(user, AffineLoadOp, DeallocOp):
            return None
    return stores[0] if len(stores) == 1 else None


def _runs_before(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether the first runs before the second in one iteration of their common parent."""
    level = common_parent([first, second])
    first_child, second_child = child_towards(level, first), child_towards(level, second)
    return first_child.block == second_child.block and position(first_child) < position(second_child)
