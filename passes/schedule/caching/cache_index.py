"""cache_index: precompute common index expressions of a block into integer buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.analysis import Region, declare, get_declared_regions, outer_iters
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    IterSpec,
    access_indices,
    attrs,
    child_towards,
    convert,
    create,
    defining_op,
    dtypes,
    edit,
    freeze_modules,
    is_apply,
    is_inside,
    is_symbol,
    ops,
    read_apply,
    signs,
)
from tir_mlir.dialect.ir.op_traits import (
    DIVISIONS,
    TO_FLOAT,
    accessed_memref,
    both_signs,
    index_operands,
    is_pure,
    is_scalar,
)
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AffineLoadOp,
    ApplyOp,
    BinaryOp,
    CastBaseOp,
    ComputedAccessOp,
    ConstantOp,
    ElementStoreOp,
    IndexCastSIOp,
    LoadOp,
    MemrefLoadOp,
    StoreOp,
    isa,
)
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.schedule.caching.copy_placement import check_not_in_init
from tir_mlir.passes.schedule.edits import (
    alloc_buffer,
    canonical,
    check_scope_name,
    common_terms,
    contains_any,
    emit_operation,
    keeps_region_order,
    operands,
    values_in_order,
)
from tir_mlir.passes.schedule.legality import Scope, scope_of
from tir_mlir.passes.schedule.registry import primitive, refuse

_CASTS = TO_FLOAT | both_signs("arith.extsi") | {"arith.index_cast", "arith.trunci"}


@dataclass(frozen=True)
class IndexBuffer:
    """`buffer[v...]` contains `term` for the values v of some iters of the block."""

    term: Index
    buffer: Buffer
    iters: tuple[ir.Value, ...]

    @property
    def indices(self) -> list[Index]:
        return [Index.from_value(v) for v in self.iters]


@primitive("cache_index")
@keeps_region_order
def cache_index(block: Block, storage_scope: str, cse_thresh: int = 0) -> list[Block]:
    """Precompute index expressions of a block into buffers, and load them in the block.

        for i, j in T.grid(n, m):                   index_var_0 = T.alloc_buffer((n,), "int32", scope="s")
            with T.block("b"):                      for ax0 in range(n):
                ... A[vi // 3 + 1, vj] ...  ->          with T.block("index_0"): index_var_0[v0] = v0 // 3 + 1
                                                    for i, j in T.grid(n, m):
                                                        with T.block("b"): ... A[index_var_0[vi], vj] ...

    Selects the largest expressions, other than plain variables, that the stored values use at least `cse_thresh` times,
    first whole indices with casts and floating-point arithmetic (`A[T.Cast("int32", vi * 0.5)]`), then other values
    that are computed from iters alone, then affine expressions; their subexpressions are not counted again. Each gets a
    buffer `index_var_k` with one dimension for each of its iters, and a block `index_k` directly before the loops of
    the block. Accesses are still checked against the bounds of their buffers.

    Requires: at least one expression qualifies. It may use only iters of the block, enclosing iters and sizes.
    """
    with freeze_modules():
        check_scope_name(block, storage_scope)
        scope = scope_of(block)
        check_not_in_init(block, scope)
        computed, terms = _choose_expressions(block, max(cse_thresh, 1))
        top = child_towards(scope.op, block.outermost)

    tables, blocks = [], []
    for number, value in enumerate(computed):
        table = _computed_buffer(block, scope, number, value, storage_scope)
        tables.append(table)
        blocks.append(_fill(block, table, number, top, value.values[0]))
    steps = {op for value in computed for op in value.steps()}
    for table, value in zip(tables, computed, strict=True):
        value.redirect(lambda table=table: create.load(table.buffer.value, table.indices), steps)
    for number, term in enumerate(terms, len(computed)):
        table = _index_buffer(block, scope, number, term, storage_scope)
        tables.append(table)
        blocks.append(_fill(block, table, number, top))
    _declare(block, tables)
    _use(block, tables[len(computed) :])
    return blocks


def _choose_expressions(block: Block, often: int) -> tuple[list[ComputedIndex], list[Index]]:
    """The computed and the affine expressions that a block uses at least so often. Refuses a block without any."""
    iter_vars = {i.var for i in block.iters}
    available = iter_vars | set(outer_iters(block))

    def can_precompute(term: Index) -> bool:
        values = set(term.values)
        return bool(values & iter_vars) and all(v in available or is_symbol(v) for v in values)

    computed = computed_indices(block, often, can_precompute)
    terms = common_terms(_used_expressions(block, computed), often, can_precompute)
    if not terms and not computed:
        rare = computed_indices(block, 1, can_precompute) or common_terms(_used_expressions(block), 1, can_precompute)
        text = f'block "{block.name}" has no index expression, other than variables, that is used at'
        refuse(
            block,
            f"{text} least {often} times",
            fix="a lower cse_thresh selects less frequent expressions" if rare else "",
        )
    return computed, terms


def _note_table(block: Block, table: IndexBuffer) -> None:
    names = ", ".join(f"`{it.name}`" for it in block.iters if it.var in table.iters)
    source = f"{names} of block `{block.name}`, and from what is constant in its scope"
    emit_remark(f"what `{table.buffer.name}` holds is computed from {source}")


def _use(block: Block, tables: list[IndexBuffer]) -> None:
    """Load the precomputed affine expressions in the accesses and values of a block."""
    for op in [o for o in ops(block.op) if isa(o, AffineElementAccessOp, ApplyOp)]:
        if isa(op, AffineElementAccessOp):
            _load_indices(op, tables)
        else:
            _load_value(op, tables)


def _used_expressions(block: Block, computed: Sequence[ComputedIndex] = ()) -> list[Index]:
    """The expressions that the stored values use, in order of appearance; without those only used by `computed`."""
    expressions: list[Index] = []
    steps = {op for index in computed for op in index.steps()}
    for op in ops(block.op):
        if op in steps and all(u.owner.operation in steps for u in op.results[0].uses):
            continue
        if isa(op, AffineLoadOp):
            expressions += access_indices(op)
        elif isa(op, ApplyOp) and _is_used(op):
            expressions.append(read_apply(op.results[0]))
    return expressions


def _is_used(apply: ir.Operation) -> bool:
    """Whether an expression is used as data or as an index of a load."""
    return any(isa(u.owner, IndexCastSIOp, MemrefLoadOp) for u in apply.results[0].uses)


# --- the index buffers ------------------------------------------------------------------------------------------------


def _index_buffer(block: Block, scope: Scope, number: int, term: Index, storage_scope: str) -> IndexBuffer:
    by_value = {i.var: i for i in block.iters}
    term_vars = [v for v in values_in_order(term) if v in by_value]
    shape = [(by_value[v].min + by_value[v].extent).simplify() for v in term_vars]
    ranges = intervals.body_ranges(block.op)
    wide = any(by_value[v].is_wide for v in term_vars)
    dtype = "int32" if _fits_int32(term, ranges) and not wide else "int64"
    buffer = alloc_buffer(scope, f"index_var_{number}", shape, dtype, storage_scope, wide)
    if dtype == "int32":
        emit_remark(f"each value that `{buffer.name}` holds, and each that it is computed from, fits 32 bits")
    return IndexBuffer(term, buffer, tuple(term_vars))


def _computed_buffer(
    block: Block, scope: Scope, number: int, computed: ComputedIndex, storage_scope: str
) -> IndexBuffer:
    iters = [i for i in block.iters if i.var in computed.iters]
    shape, wide = [(i.min + i.extent).simplify() for i in iters], any(i.is_wide for i in iters)
    buffer = alloc_buffer(scope, f"index_var_{number}", shape, computed.dtype, storage_scope, wide)
    return IndexBuffer(Index.constant(0), buffer, computed.iters)


def _fits_int32(term: Index, box: intervals.ValueRanges) -> bool:
    """Whether an expression and all its parts fit 32 bits."""
    low, high = intervals.interval(term, box)
    fits = low is not None and high is not None and -(2**31) <= low and high < 2**31
    return fits and all(_fits_int32(p, box) for p in operands(term))


def _fill(block: Block, table: IndexBuffer, number: int, top: ir.Operation, computed: ir.Value | None = None) -> Block:
    """Create the block that computes an index buffer: its term, or a copy of the computation of a value."""
    _note_table(block, table)
    ip = ir.InsertionPoint(top)
    specs = []
    for number_of_iter, var in enumerate(table.iters):
        it = next(i for i in block.iters if i.var == var)
        with ip, block.op.location:
            loop = create.loop(f"ax{number_of_iter}", it.min, it.min + it.extent)
        specs.append(IterSpec(f"v{number_of_iter}", "S", it.min, it.extent, Index.from_value(loop.var), it.is_wide))
        ip = create.at_end(loop.body)
    with ip, block.op.location:
        index_block = create.block(f"index_{number}", specs)
    mapping = {old: Index.from_value(new.var) for old, new in zip(table.iters, index_block.iters, strict=True)}
    with create.at_end(index_block.body), block.op.location:
        if computed is not None:
            value = clone_tree(computed, create.at_end(index_block.body), mapping)
        else:
            value = arith.index_cast(table.buffer.type.element_type, create.apply(table.term.substitute(mapping)))
        create.store(value, table.buffer.value, [Index.from_value(i.var) for i in index_block.iters])
    return index_block


def _declare(block: Block, tables: list[IndexBuffer]) -> None:
    """Add the index buffers to the declared reads of a block, if it declares any."""
    if attrs.READS not in block.op.attributes:
        return
    ones = [tuple(Index.constant(1) for _ in t.iters) for t in tables]
    regions = [Region(t.buffer, tuple(t.indices), extents) for t, extents in zip(tables, ones, strict=True)]
    declare(block, attrs.READS, [*get_declared_regions(block, attrs.READS, []), *regions])


# --- loads from the index buffers -------------------------------------------------------------------------------------


def _load_indices(op: ir.Operation, tables: list[IndexBuffer]) -> None:
    """Replace the selected subexpressions in the indices of an affine load or store by loads from their buffers."""
    indices = access_indices(op)
    if not any(_contains_cached(i, tables) for i in indices):
        return
    with ir.InsertionPoint(op), op.location:
        values = [_emit_index(i, tables, op) if _contains_cached(i, tables) else create.apply(i) for i in indices]
        if isa(op, AffineLoadOp):
            edit.replace_uses(op.results[0], memref.load(accessed_memref(op), values))
        else:
            memref.store(StoreOp(op).value, accessed_memref(op), values)
    edit.erase(op)


def _load_value(op: ir.Operation, tables: list[IndexBuffer]) -> None:
    """Replace an index used as data by a load from its buffer."""
    index = read_apply(op.results[0])
    if not _contains_cached(index, tables):
        return
    for use in list(op.results[0].uses):
        cast = use.owner.operation
        if not isa(cast, IndexCastSIOp):
            continue
        with ir.InsertionPoint(op), op.location:
            value = _emit_integer(index, tables, _dtype(index, tables, op))
            value = convert(value, signs.dtype_of(cast.results[0]) or "")
        edit.replace_uses(cast.results[0], value)
        edit.drop(cast)
    if any(True for _ in op.results[0].uses):
        with ir.InsertionPoint(op), op.location:
            edit.replace_uses(op.results[0], _emit_index(index, tables, op))
    edit.erase(op)


def _contains_cached(index: Index, tables: list[IndexBuffer]) -> bool:
    return contains_any(index, [canonical(t.term) for t in tables])


def _emit_index(index: Index, tables: list[IndexBuffer], op: ir.Operation) -> ir.Value:
    return arith.index_cast(ir.IndexType.get(), _emit_integer(index, tables, _dtype(index, tables, op)))


def _dtype(index: Index, tables: list[IndexBuffer], op: ir.Operation) -> str:
    """The integer type in which an expression is computed: wide if one of its buffers or parts needs that."""
    contained = [t for t in tables if contains_any(index, [canonical(t.term)])]
    narrow = all(t.buffer.dtype == "int32" for t in contained) and _fits_int32(index, intervals.enclosing_ranges(op))
    return "int32" if narrow else "int64"


def _emit_integer(index: Index, tables: list[IndexBuffer], dtype: str) -> ir.Value:
    """Emit an expression as integers of a type, with selected subexpressions loaded from their buffers."""
    name = canonical(index)
    table = next((t for t in tables if canonical(t.term) == name), None)
    if table is not None:
        return convert(create.load(table.buffer.value, table.indices), dtype)
    number = index.as_constant()
    if number is not None:
        return arith.constant(dtypes.to_mlir(dtype), number)
    if not contains_any(index, [canonical(t.term) for t in tables]):
        return arith.index_cast(dtypes.to_mlir(dtype), create.apply(index))
    lhs, right = (_emit_integer(p, tables, dtype) for p in operands(index))
    return emit_operation(index.expr.maybe_downcast(), lhs, right)


# --- values that a block computes by casts and arithmetic on its iters ------------------------------------------------


@dataclass(frozen=True)
class ComputedIndex:
    """An integer that some accesses take as an index, or a part of stored values: equal computations of it, and the
    iters that they use.
    """

    values: tuple[ir.Value, ...]
    iters: tuple[ir.Value, ...]

    @property
    def dtype(self) -> str:
        return signs.dtype_of(self.values[0]) or "int32"

    def steps(self) -> list[ir.Operation]:
        """The ops that compute the values, each before the ops that compute its operands."""
        ordered: dict[ir.Operation, None] = {}
        for value in self.values:
            for op in _tree(value):
                ordered.pop(op, None)
                ordered[op] = None
        return list(ordered)

    def redirect(self, load: Callable[[], ir.Value], others: AbstractSet[ir.Operation]) -> None:
        """Let what uses the values, other than some ops, take a loaded value instead."""
        steps = self.steps()
        for value in self.values:
            uses = [(use.owner.operation, use.operand_number) for use in value.uses]
            for user, number in [(op, n) for op, n in uses if op not in others]:
                with ir.InsertionPoint(user), user.location:
                    edit.set_operand(user, number, load())
        for op in steps:
            if not any(True for r in op.results for _ in r.uses):
                edit.drop(op)


def computed_indices(block: Block, often: int, is_movable: Callable[[Index], bool]) -> list[ComputedIndex]:
    """What a block computes at least `often` times: indices of its accesses, then the largest parts of the values that
    it stores, each in order of appearance.

    `is_movable`: whether an index expression that they use may be computed in another block.
    """

    def may_move(value: ir.Value) -> bool:
        leaves = _leaves(value)
        in_block = all(is_inside(op, block.op) or isa(op, ConstantOp) for op in _tree(value))
        return (
            bool(leaves) and in_block and all(map(is_movable, leaves or [])) and not any(map(_may_trap, _tree(value)))
        )

    stored = [StoreOp(op).value for op in ops(block.op) if isa(op, ElementStoreOp)]
    found_values = [v for v in _index_values(block) if may_move(v)]
    found_values += [part for value in stored for part in _largest_parts(value, may_move)]
    groups: dict[tuple, list[ir.Value]] = {}
    for value in found_values:
        groups.setdefault(_key(value), []).append(value)
    result = []
    for values in groups.values():
        if len(values) >= often:
            leaf_values = {v for leaf in _leaves(values[0]) or [] for v in leaf.values}
            result.append(
                ComputedIndex(tuple(dict.fromkeys(values)), tuple(i.var for i in block.iters if i.var in leaf_values))
            )
    return result


def _index_values(block: Block) -> list[ir.Value]:
    """The integers that accesses of a block take as an index, other than plain index expressions."""
    values = []
    for op in ops(block.op):
        for value in index_operands(op) if isa(op, ComputedAccessOp) else []:
            cast = defining_op(value, IndexCastSIOp)
            source = None if cast is None else defining_op(cast.source)
            if cast is not None and source is not None and not isa(source, IndexCastSIOp):
                values.append(cast.source)
    return values


def _may_trap(op: ir.Operation) -> bool:
    """Whether an op divides integers by a value that may be 0 where the block does not run."""
    divisor = defining_op(BinaryOp(op).rhs) if op.name in DIVISIONS else None
    return op.name in DIVISIONS and (divisor is None or not isa(divisor, ConstantOp))


def _largest_parts(value: ir.Value, may_move: Callable[[ir.Value], bool]) -> list[ir.Value]:
    """The largest subexpressions of a value that may move, except comparisons and casts of index expressions."""
    op = defining_op(value)
    if op is None or len(op.regions) or not is_scalar(op.name):
        return []
    if may_move(value) and signs.dtype_of(value) not in (None, "bool") and not _is_cast_index(value):
        return [value]
    return [part for operand in op.operands for part in _largest_parts(operand, may_move)]


def _is_cast_index(value: ir.Value) -> bool:
    """Whether a value is an index expression, cast to another type."""
    op = defining_op(value)
    return op is None or isa(op, ApplyOp) or (op.name in _CASTS and _is_cast_index(CastBaseOp(op).source))


def _tree(value: ir.Value) -> list[ir.Operation]:
    """The ops that compute a value, each before the ops that compute its operands; index expressions are leaves."""
    op = defining_op(value)
    if op is None:
        return []
    return [op] if isa(op, ApplyOp) else [op, *(inner for v in op.operands for inner in _tree(v))]


def _leaves(value: ir.Value) -> list[Index] | None:
    """The index expressions that a value is computed from; None if it is computed from anything else."""
    op = defining_op(value)
    if op is None or isa(op, ApplyOp):
        return [_index(value)] if isinstance(value.type, ir.IndexType) else None
    if len(op.regions) or not is_pure(op) or isa(op, LoadOp) or len(op.results) != 1:
        return None
    parts = [_leaves(v) for v in op.operands]
    return None if any(p is None for p in parts) else [leaf for p in parts for leaf in p or []]


def _index(value: ir.Value) -> Index:
    return read_apply(value) if is_apply(value) else Index.from_value(value)


def _key(value: ir.Value) -> tuple:
    """Equal for two values that are computed in the same way."""
    op = defining_op(value)
    if op is None or isa(op, ApplyOp):
        return ("index", canonical(_index(value)))
    facts = tuple((name, str(op.attributes[name])) for name in op.attributes if not name.startswith("tir."))
    return (op.name, str(value.type), facts, *map(_key, op.operands))


def clone_tree(value: ir.Value, ip: ir.InsertionPoint, replacements: dict[ir.Value, Index]) -> ir.Value:
    """Clone the computation of a value, with iters replaced."""
    with ip:
        done = {old: create.apply(new) for old, new in replacements.items()}
    for op in reversed(list(dict.fromkeys(_tree(value)))):
        if isa(op, ApplyOp):
            with ip:
                done[op.results[0]] = create.apply(read_apply(op.results[0]).substitute(replacements))
        elif not all(o in done for o in op.results):
            done |= dict(zip(op.results, edit.clone(op, ip, done).results, strict=True))
    return done.get(value, value)
