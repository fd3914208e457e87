"""cache_index: what several indices of a block have in common is computed ahead, into buffers of integers."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.analysis import Region, declare, declared, outer_iters
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    IterSpec,
    access_indices,
    accessed,
    attrs,
    child_towards,
    convert,
    create,
    dtypes,
    edit,
    frozen,
    is_symbol,
    ops,
    read_apply,
)
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.schedule.caching.copy_placement import check_child
from tir_mlir.passes.schedule.edits import (
    alloc,
    canonical,
    check_scope_name,
    common_terms,
    holds_any,
    keeps_region_order,
    operation,
    parts,
    variables,
)
from tir_mlir.passes.schedule.legality import Scope, scope_of
from tir_mlir.passes.schedule.registry import check, primitive

_PLAIN = ("affine.load", "affine.store")


@dataclass(frozen=True)
class Table:
    """`buffer[v...]` holds `term` at the values v of some iters of the block."""

    term: Index
    buffer: Buffer
    iters: tuple[ir.Value, ...]

    @property
    def at(self) -> list[Index]:
        return [Index.of(v) for v in self.iters]


@primitive("cache_index")
@keeps_region_order
def cache_index(block: Block, storage_scope: str, cse_thresh: int = 0) -> list[Block]:
    """Compute the index expressions of a block ahead, into buffers, and let the block look them up.

        for i, j in T.grid(n, m):                   index_var_0 = T.alloc_buffer((n,), "int32", scope="s")
            with T.block("b"):                      for ax0 in range(n):
                ... A[vi // 3 + 1, vj] ...  ->          with T.block("index_0"): index_var_0[v0] = v0 // 3 + 1
                                                    for i, j in T.grid(n, m):
                                                        with T.block("b"): ... A[index_var_0[vi], vj] ...

    Taken are the largest expressions that the values which the block stores use `cse_thresh` times or more, those that
    are no plain variable; what they hold themselves is counted no more. Each has a buffer `index_var_k` with one
    dimension for each of its iters, and a block `index_k` directly before the loops of the block. The indices stay
    known: accesses are still proved to lie in their buffers.

    Requires: some expression qualifies. Only iters of the block, iters around it and sizes may occur in one.
    """
    with frozen():
        check_scope_name(block, storage_scope)
        scope = scope_of(block)
        check_child(block, scope)
        known = {i.var for i in block.iters} | set(outer_iters(block))
        own = {i.var for i in block.iters}

        def wanted(term: Index) -> bool:
            values = set(term.values)
            return bool(values & own) and all(v in known or is_symbol(v) for v in values)

        terms = common_terms(_met(block), max(cse_thresh, 1), wanted)
        rare = cse_thresh > 1 and not terms and bool(common_terms(_met(block), 1, wanted))
        check(
            bool(terms),
            block,
            f'block "{block.name}" has no index expression that is used {max(cse_thresh, 1)} times or more and is more'
            " than a variable",
            fix="a lower cse_thresh takes those that are used less often" if rare else "",
        )
        top = child_towards(scope.op, block.outermost)

    tables, made = [], []
    for number, term in enumerate(terms):
        table = _table(block, scope, number, term, storage_scope)
        tables.append(table)
        made.append(_fill(block, table, number, top))
    _declare(block, tables)
    for op in [o for o in ops(block.op) if o.name in (*_PLAIN, "affine.apply")]:
        if op.name in _PLAIN:
            _look_up(op, tables)
        else:
            _look_up_value(op, tables)
    return made


def _met(block: Block) -> list[Index]:
    """The expressions that the stored values use, as they are met."""
    found: list[Index] = []
    for op in ops(block.op):
        if op.name == "affine.load":
            found += access_indices(op)
        elif op.name == "affine.apply" and _is_read(op):
            found.append(read_apply(op.results[0]))
    return found


def _is_read(apply: ir.Operation) -> bool:
    """Whether an expression is data, or an index of something that is read."""
    return any(u.owner.name in ("arith.index_cast", "memref.load") for u in apply.results[0].uses)


# --- the tables -------------------------------------------------------------------------------------------------------


def _table(block: Block, scope: Scope, number: int, term: Index, storage_scope: str) -> Table:
    by_value = {i.var: i for i in block.iters}
    used = [v for v in variables(term) if v in by_value]
    shape = [(by_value[v].min + by_value[v].extent).simplified() for v in used]
    inside = intervals.within(block.op)
    dtype = "int32" if _is_narrow(term, inside) else "int64"
    return Table(term, alloc(scope, f"index_var_{number}", shape, dtype, storage_scope), tuple(used))


def _is_narrow(term: Index, box: intervals.ValueRanges) -> bool:
    """Whether an expression and all its parts fit 32 bits."""
    low, high = intervals.interval(term, box)
    fits = low is not None and high is not None and -(2**31) <= low and high < 2**31
    return fits and all(_is_narrow(p, box) for p in parts(term))


def _fill(block: Block, table: Table, number: int, top: ir.Operation) -> Block:
    """The block that computes a table."""
    ip = ir.InsertionPoint(top)
    specs = []
    for place, var in enumerate(table.iters):
        it = next(i for i in block.iters if i.var == var)
        with ip, block.op.location:
            loop = create.loop(f"ax{place}", it.min, it.min + it.extent)
        specs.append(IterSpec(f"v{place}", "S", it.min, it.extent, Index.of(loop.var)))
        ip = create.at_end(loop.body)
    with ip, block.op.location:
        made = create.block(f"index_{number}", specs)
    here = {old: Index.of(new.var) for old, new in zip(table.iters, made.iters, strict=True)}
    with create.at_end(made.body), block.op.location:
        value = arith.index_cast(table.buffer.type.element_type, create.apply(table.term.substitute(here)))
        create.store(value, table.buffer.value, [Index.of(i.var) for i in made.iters])
    return made


def _declare(block: Block, tables: list[Table]) -> None:
    """A block that declares what it reads also reads the tables."""
    if attrs.READS not in block.op.attributes:
        return
    ones = [tuple(Index.constant(1) for _ in t.iters) for t in tables]
    more = [Region(t.buffer, tuple(t.at), one) for t, one in zip(tables, ones, strict=True)]
    declare(block, attrs.READS, [*declared(block, attrs.READS, []), *more])


# --- looking up -------------------------------------------------------------------------------------------------------


def _look_up(op: ir.Operation, tables: list[Table]) -> None:
    """Let an affine load or store take from the tables what they have of its indices."""
    indices = access_indices(op)
    if not any(_has(i, tables) for i in indices):
        return
    with ir.InsertionPoint(op), op.location:
        values = [_as_index(i, tables, op) if _has(i, tables) else create.apply(i) for i in indices]
        if op.name == "affine.load":
            op.results[0].replace_all_uses_with(memref.load(accessed(op), values))
        else:
            memref.store(op.operands[0], accessed(op), values)
    edit.erase(op)


def _look_up_value(op: ir.Operation, tables: list[Table]) -> None:
    """Let an index used as data come from the tables."""
    index = read_apply(op.results[0])
    if not _has(index, tables):
        return
    for use in list(op.results[0].uses):
        cast = use.owner.operation
        if cast.name != "arith.index_cast":
            continue
        with ir.InsertionPoint(op), op.location:
            value = _written(index, tables, _dtype(index, tables, op))
            value = convert(value, dtypes.to_name(cast.results[0].type))
        cast.results[0].replace_all_uses_with(value)
        cast.erase()
    if any(True for _ in op.results[0].uses):
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(_as_index(index, tables, op))
    edit.erase(op)


def _has(index: Index, tables: list[Table]) -> bool:
    return holds_any(index, [canonical(t.term) for t in tables])


def _as_index(index: Index, tables: list[Table], op: ir.Operation) -> ir.Value:
    return arith.index_cast(ir.IndexType.get(), _written(index, tables, _dtype(index, tables, op)))


def _dtype(index: Index, tables: list[Table], op: ir.Operation) -> str:
    """The integers in which an expression is computed: wide where a table or a part of it needs that."""
    held = [t for t in tables if holds_any(index, [canonical(t.term)])]
    narrow = all(t.buffer.dtype == "int32" for t in held) and _is_narrow(index, intervals.around(op))
    return "int32" if narrow else "int64"


def _written(index: Index, tables: list[Table], dtype: str) -> ir.Value:
    """An expression with its terms looked up, as integers of a type."""
    name = canonical(index)
    table = next((t for t in tables if canonical(t.term) == name), None)
    if table is not None:
        return convert(create.load(table.buffer.value, table.at), dtype)
    number = index.as_constant()
    if number is not None:
        return arith.constant(dtypes.to_mlir(dtype), number)
    if not holds_any(index, [canonical(t.term) for t in tables]):
        return arith.index_cast(dtypes.to_mlir(dtype), create.apply(index))
    left, right = (_written(p, tables, dtype) for p in parts(index))
    return operation(index.expr.maybe_downcast(), left, right)
