"""Buffers that hold indices: `A[X[i]]` where one store `X[i] = f(i)` fills X, or a copy of X, is an access at `f(i)`.

The index is computed at run time, so the access is not counted on to touch an element; but it touches no other.
"""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import ranges
from tir_mlir.dialect.errors import NotAffine
from tir_mlir.dialect.index import Index, is_symbol, read_apply
from tir_mlir.dialect.memo import remembered
from tir_mlir.dialect.views import Block, Buffer, is_block, is_loop, parent_op
from tir_mlir.dialect.walk import access_indices, accessed, child_towards, common_parent, is_inside, parents, position

_ARITH = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.floordivsi": lambda a, b: a // b,
}


@remembered
def known_indices(op: ir.Operation) -> list[Index] | None:
    """The indices of a `memref.load` or `memref.store` where tables tell them; None where they do not."""
    operands = list(op.operands)
    at = operands[operands.index(accessed(op)) + 1 :]
    found = [_known(v, op) for v in at]
    return None if any(i is None for i in found) else [i for i in found if i is not None]


def _known(value: ir.Value, user: ir.Operation) -> Index | None:
    """A value as an affine expression of loops, iters and sizes."""
    if isinstance(value.owner, ir.Block):
        plain = isinstance(value.type, ir.IndexType) and (is_loop(value.owner.owner) or is_block(value.owner.owner))
        return Index.of(value) if plain or is_symbol(value) and isinstance(value.type, ir.IndexType) else None
    op = value.owner.operation
    if op.name == "arith.constant":
        number = op.attributes["value"]
        return Index.constant(number.value) if isinstance(number, ir.IntegerAttr) else None
    if op.name == "affine.apply":
        return read_apply(value)
    if op.name in ("arith.index_cast", "arith.extsi"):
        return _cast(op, user)
    if op.name == "affine.load" and isinstance(value.type, ir.IntegerType):
        return _looked_up(op)
    if op.name in _ARITH:
        left, right = _known(op.operands[0], user), _known(op.operands[1], user)
        if left is None or right is None:
            return None
        try:
            found = _ARITH[op.name](left, right).simplified()
        except NotAffine:
            return None
        return found if _fits(found, op.results[0].type, user) else None
    return Index.of(value) if is_symbol(value) and isinstance(value.type, ir.IndexType) else None


def _cast(op: ir.Operation, user: ir.Operation) -> Index | None:
    found = _known(op.operands[0], user)
    return found if found is not None and _fits(found, op.results[0].type, user) else None


def _fits(index: Index, type_: ir.Type, place: ir.Operation) -> bool:
    """Whether an expression does not overflow a type where it is computed."""
    if not isinstance(type_, ir.IntegerType) or type_.width >= 64:
        return True
    low, high = ranges.interval(index, ranges.around(place))
    half = 1 << (type_.width - 1)
    return low is not None and high is not None and -half <= low and high < half


def _looked_up(load: ir.Operation) -> Index | None:
    """What a load of a table gives."""
    held = _contents(accessed(load), load)
    if held is None:
        return None
    places, found = held
    return found.substitute(dict(zip(places, access_indices(load), strict=True))).simplified()


def _contents(table: ir.Value, user: ir.Operation) -> tuple[list[ir.Value], Index] | None:
    """What an element of a table is where it is used, as a function of its place: the variables, and the expression."""
    store = _only_store(table)
    if store is None or not _runs_before(store, user):
        return None
    copied = _copied(store)
    held = _stored(store) if copied is None else _contents(accessed(copied), store)
    if held is None or not all(v in held[0] or is_symbol(v) or _is_around(v, table, user) for v in held[1].values):
        return None
    return held


def _copied(store: ir.Operation) -> ir.Operation | None:
    """The load of a store that copies an element of one table to the same place in another, in loops at most."""
    load = store.operands[0].owner
    if isinstance(load, ir.Block) or load.operation.name != "affine.load":
        return None
    if not is_block(next((p for p in parents(store) if not is_loop(p)), store)):
        return None
    pairs = zip(access_indices(store), access_indices(load.operation), strict=False)
    same_rank = Buffer(accessed(store)).rank == Buffer(accessed(load.operation)).rank
    return load.operation if same_rank and all(a.same(b) for a, b in pairs) else None


def _stored(store: ir.Operation) -> tuple[list[ir.Value], Index] | None:
    """What a store leaves at a place that is some iters of its block."""
    block = next((Block(p) for p in parents(store) if is_block(p)), None)
    if block is None or parent_op(store) != block.op:
        return None
    own = {i.var for i in block.iters}
    places = [p for i in access_indices(store) if (p := i.is_value()) is not None and p in own]
    found = _known(store.operands[0], store)
    whole = len(set(places)) == len(access_indices(store))
    return (places, found) if found is not None and whole else None


def _is_around(value: ir.Value, table: ir.Value, user: ir.Operation) -> bool:
    """Whether a value is an iter of a block that holds the user and the table: each instance has a table of its own."""
    if not isinstance(value.owner, ir.Block) or not is_block(value.owner.owner.operation):
        return False
    home = value.owner.owner.operation
    return is_inside(user, home) and is_inside(table.owner.operation, home)  # type: ignore[union-attr]


@remembered
def _only_store(table: ir.Value) -> ir.Operation | None:
    """The one store that fills an allocation which is otherwise only loaded; None for anything else."""
    if not Buffer(table).is_alloc:
        return None
    stores = []
    for use in table.uses:
        user = use.owner.operation
        if user.name == "affine.store":
            stores.append(user)
        elif user.name not in ("affine.load", "memref.dealloc"):
            return None
    return stores[0] if len(stores) == 1 else None


def _runs_before(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether, in one iteration of what holds both, the first runs before the second."""
    level = common_parent([first, second])
    one, other = child_towards(level, first), child_towards(level, second)
    return one.block == other.block and position(one) < position(other)
