"""The memory accesses of ops: one `Access` per load, store, or pointer passed to a kernel.

Linearized indices: `C[vi * n + vj]` with 0 <= vj < n accesses the element (vi, vj) of rows of length n. For sizes n,
such an index is not affine. If all accesses to a buffer split it by the same strides, and every part but the first is
proved to be less than the stride before it, two of them meet exactly if all their parts are equal.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.indirect_accesses import affine_value, known_indices
from tir_mlir.dialect.analysis.pointers import base_of, pointee, window
from tir_mlir.dialect.calls import ArenaView, Effect, callee_of, effects_of, is_arena_view, view_bytes
from tir_mlir.dialect.diagnostics import NotAffine, NotProvable
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    access_indices,
    attrs,
    cache_while_frozen,
    defining_op,
    is_block,
    is_inside,
    is_view,
    nests_using,
    ops,
    parents,
    read_map,
    read_value,
    symbol_name,
    symbols_by_name,
)
from tir_mlir.dialect.ir.op_traits import (
    INTEGER_RING,
    NO_ACCESS,
    accessed_memref,
    has_no_memref,
    index_operands,
    stored_value,
)
from tir_mlir.dialect.ir.op_views import (
    AddIOp,
    AffineAccessOp,
    AffineElementAccessOp,
    AtomicOp,
    ByteViewOp,
    ComputedAccessOp,
    DimOp,
    ElementAccessOp,
    FuncOp,
    IntToPtrOp,
    LoadOp,
    MulIOp,
    SameIndicesOp,
    SubviewOp,
    ViewLikeOp,
    isa,
)
from tir_mlir.dialect.ir.size_products import SIGN, factor_names, is_factor
from tir_mlir.dialect.presburger import Domain, constraint_set, dim_factors, domain, linear_terms, question, region_map

READ, WRITE = "read", "write"
_DYNAMIC = ir.ShapedType.get_dynamic_size()


@dataclass(slots=True)
class Access:
    """`op` reads or writes `[mins, mins + extents)` of `buffer` (a parameter or allocation; views are resolved).

    `exact` is false if the region over-approximates: a whole dimension for a non-affine index, or a superset of the
    accessed elements if the index is loaded from a table (see `indirect_accesses`). `parts` tell elements of the buffer
    apart nevertheless, if all its accesses have them (see below). Immutable.
    """

    op: ir.Operation
    buffer: ir.Value
    kind: str
    mins: tuple[Index, ...]
    extents: tuple[Index, ...]
    exact: bool = True
    parts: tuple[Index, ...] = ()

    def __hash__(self) -> int:
        return hash((self.op, self.kind))  # few have both in common, and caches ask often

    @property
    def is_write(self) -> bool:
        return self.kind == WRITE

    @property
    def is_point(self) -> bool:
        return all(e.as_constant() == 1 for e in self.extents)

    @property
    def indices(self) -> list[Index]:
        return [*self.mins, *self.extents, *self.parts]

    def elements(self, dom: Domain) -> isl.Map:
        """{ iteration -> element }, or its parts."""
        return dom.map(self.parts) if self.parts else region_map(dom, self.mins, self.extents)


@dataclass(unsafe_hash=True, slots=True)
class Touch:
    """`op` reads or writes some of `buffer` (a parameter or allocation; views are resolved). Immutable."""

    op: ir.Operation
    buffer: ir.Value
    kind: str

    @property
    def is_write(self) -> bool:
        return self.kind == WRITE


@cache_while_frozen
def touches(root: ir.Operation) -> list[Touch]:
    """The same as `accesses`, without regions: for those who ask only which buffers are read and written."""
    result: list[Touch] = []
    for op in ops(root):
        name = op.name
        if name in AffineElementAccessOp.names:
            result.append(
                Touch(op, _resolve_access_views(accessed_memref(op)), READ if name in LoadOp.names else WRITE)
            )
        elif not has_no_memref(op):
            result += [Touch(op, a.buffer, a.kind) for a in accesses_of_op(op)]
    return result


@cache_while_frozen
def accesses(root: ir.Operation) -> list[Access]:
    """All accesses of `root` and its nested ops, in program order."""
    result: list[Access] = []
    for op in ops(root):
        if not has_no_memref(op):
            result += accesses_of_op(op)
    return result


@cache_while_frozen
def accesses_of_op(op: ir.Operation) -> list[Access]:
    """The accesses of the op itself (not of nested ops)."""
    name = op.name
    if name in AffineAccessOp.names or name in ComputedAccessOp.names:
        kind, value = READ if name in LoadOp.names else WRITE, accessed_memref(op)
        behind_view = is_view(defining_op(value))
        parts = () if behind_view else _split(value).get(op, ())
        if name in AffineElementAccessOp.names and not behind_view:
            indices = access_indices(op)
            return [Access(op, value, kind, tuple(indices), (Index.constant(1),) * len(indices), True, parts)]
        exact = name in AffineAccessOp.names
        access = _access(op, value, kind, access_indices(op) if exact else known_indices(op))
        return [access if exact and not parts else replace(access, exact=exact, parts=parts)]
    if name in AtomicOp.names:
        mins = known_indices(op)
        return [replace(_access(op, accessed_memref(op), kind, mins), exact=False) for kind in (READ, WRITE)]
    if name in IntToPtrOp.names and attrs.ACCESS in op.attributes:
        view = pointee(op)
        if view is None:
            return []
        access = [_access(op, view, kind, None) for kind in (READ, WRITE)]
        access[1] = replace(access[1], exact=access[1].exact and not _writes_partly(op))
        mode, name = attrs.get(op, attrs.ACCESS), Buffer(access[0].buffer).name
        if mode == "r" or (base_of(op) is not None and _declared_without(op, name, attrs.WRITES)):
            return access[:1]
        may_overwrite = mode == "w" or base_of(op) is not None
        return access[1:] if may_overwrite and _declared_without(op, name, attrs.READS) else access
    if name in NO_ACCESS:
        return []
    if (callee := callee_of(op)) is not None:
        return _accesses_of_call(op, effects_of(callee))
    touched = [v for v in op.operands if isinstance(v.type, ir.MemRefType)]
    return [_access(op, v, kind, None) for v in touched for kind in (READ, WRITE)]


def _accesses_of_call(op: ir.Operation, effects: Sequence[Effect]) -> list[Access]:
    """What a call of a program of the module may read and write: all that is passed of each buffer."""
    result: list[Access] = []
    for value, effect in zip(op.operands, effects, strict=True):
        result += [_access(op, value, READ, None)] if effect.reads else []
        result += [_access(op, value, WRITE, None)] if effect.writes else []
    return result


def _resolve_access_views(memref: ir.Value) -> ir.Value:
    while (op := defining_op(memref)) is not None and is_view(op):
        memref = ViewLikeOp(op).source
    return memref


def is_reshaped(buffer: Buffer) -> bool:
    """Whether a view of other strides is among those of a buffer: it may have any elements of the root."""
    while is_view(op := buffer.op):
        if not isa(op, SameIndicesOp, SubviewOp, ByteViewOp):  # by `behind`
            return True
        buffer = Buffer(ViewLikeOp(op).source)
    return False


def view_access(op: ir.Operation) -> Access:
    """An affine load or store as an access of its memref, which may be a view."""
    memref, kind = accessed_memref(op), READ if isa(op, LoadOp) else WRITE
    extents = _lanes(op, ir.MemRefType(memref.type).rank)
    return Access(op, memref, kind, tuple(access_indices(op)), tuple(extents))


def _writes_partly(op: ir.Operation) -> bool:
    """Whether the block around a pointer writes less through it than its window."""
    block = next((p for p in parents(op) if is_block(p)), None)
    return block is not None and "writes" in attrs.get(block, attrs.PARTIAL, [])


def _declared_without(op: ir.Operation, name: str, key: str) -> bool:
    """Whether the enclosing block declares its reads (or writes), and this buffer is not among them.

    Otherwise a "w" pointer counts as read too: accumulating kernels are often declared so; and `A.data` as both.
    """
    block = next((p for p in parents(op) if is_block(p)), None)
    word = "reads" if key == attrs.READS else "writes"
    if block is None or key not in block.attributes or word in attrs.get(block, attrs.HIDDEN, []):
        return False
    return all(entry["buffer"] != name for entry in attrs.get(block, key))


def _declared_region(op: ir.Operation, buffer: Buffer, kind: str) -> Access | None:
    """What the block around declares that it reads or writes of the buffer that a pointer points into; None without it.

    What an opaque call accesses cannot be computed, so the declaration is trusted; `exact` too. A pointer into a
    `T.match_buffer` of the block remains in its window, which may have the name of the buffer behind it.
    """
    enclosing = [Block(p) for p in parents(op) if is_block(p)]
    key = attrs.READS if kind == READ else attrs.WRITES
    if not enclosing or key not in enclosing[0].op.attributes:
        return None
    if buffer.op is not None and buffer.is_view and is_inside(buffer.op, enclosing[0].op):
        return None
    values = [it.var for block in enclosing for it in block.iters]
    for declared_buffer in (buffer, buffer.root):
        entry = next((e for e in attrs.get(enclosing[0].op, key) if e["buffer"] == declared_buffer.name), None)
        if entry is None:
            continue
        operands = [*values[: entry["min"].n_dims], *enclosing[0].symbols]
        mins, extents = (read_map(entry[k], operands) for k in ("min", "extent"))
        root, mins, extents, exact = resolve_views(declared_buffer, list(mins), list(extents))
        return Access(op, root.value, kind, tuple(mins), tuple(extents), exact)
    return None


def _access(op: ir.Operation, memref: ir.Value, kind: str, indices: Sequence[Index | None] | None) -> Access:
    """An access with views resolved to their root buffer; it covers the dimensions of the view without an index."""
    buffer = Buffer(memref)
    if is_reshaped(buffer):
        root = buffer.root
        return Access(op, root.value, kind, (Index.constant(0),) * root.rank, tuple(root.dims), False)
    if indices is None and isa(op, IntToPtrOp) and (box := window(op)) is not None:
        (mins, extents), exact = box, True
    elif indices is None and isa(op, IntToPtrOp) and (declared := _declared_region(op, buffer, kind)) is not None:
        return declared
    elif indices is None:
        mins, extents = [Index.constant(0)] * buffer.rank, _extents(buffer)
        exact = buffer.is_view and isa(op, IntToPtrOp)  # a kernel remains in its window; a gather may not
    else:
        mins, extents, exact = _partly(buffer, indices, _lanes(op, buffer.rank))
    buffer, mins, extents, view_exact = resolve_views(buffer, mins, extents)
    return Access(op, buffer.value, kind, tuple(mins), tuple(extents), exact and view_exact)


def _partly(
    buffer: Buffer, indices: Sequence[Index | None], lanes: Sequence[Index]
) -> tuple[list[Index], list[Index], bool]:
    """Mins and extents of an access, whole dimensions where the index is unknown; and whether all are known."""
    affine = [i for i in indices if i is not None]
    if len(affine) == len(indices):
        return affine, list(lanes), True
    full = _extents(buffer)
    if len(full) != len(indices):  # a view of dynamic size: the sizes of its source
        dims = kept_dims(buffer.shape, [e.as_constant() for e in full])
        full = buffer.dims if dims is None else [full[d] for d in dims]
    mins = [Index.constant(0) if i is None else i for i in indices]
    return mins, [full[d] if i is None else lanes[d] for d, i in enumerate(indices)], False


def resolve_views(
    buffer: Buffer, mins: list[Index], extents: list[Index]
) -> tuple[Buffer, list[Index], list[Index], bool]:
    """A region of a view as a region of its root buffer, and whether it is exact (else it is a superset)."""
    exact = True
    while is_view(op := buffer.op):
        source = Buffer(ViewLikeOp(op).source)
        if isa(op, SubviewOp) and _has_dynamic_stride(op):
            mins, extents, exact = [Index.constant(0)] * source.rank, _extents(source), False
        elif isa(op, SubviewOp):
            mins, extents = _through_subview(op, mins, extents)
        elif is_arena_view(op):
            mins, extents, fills = view_bytes(ArenaView(op), mins, extents)
            exact = exact and fills
        buffer = source
    return buffer, mins, extents, exact


def in_view(view: Buffer, mins: Sequence[Index], extents: Sequence[Index]) -> tuple[list[Index], list[Index]] | None:
    """The inverse of `behind`: a region of a view's source as a region of the view; None if not expressible.

    Requires a view with the strides of its source.
    """
    if view.op is None or not isa(view.op, SubviewOp):
        return None
    offsets, sizes, strides = subview_parts(view.op)
    dims = kept_dims(view.shape, [e.as_constant() for e in sizes])
    if _has_dynamic_stride(view.op) or any(s != 1 for s in strides) or dims is None:
        return None
    starts = [(m - o).simplify() for m, o in zip(mins, offsets, strict=True)]
    if any(starts[d].as_constant() != 0 for d in range(len(starts)) if d not in dims):
        return None
    return [starts[d] for d in dims], [extents[d] for d in dims]


def memrefs(op: ir.Operation) -> list[ir.Value]:
    """The memrefs (buffers or views) that an op accesses directly."""
    if isa(op, IntToPtrOp):
        view = pointee(op) if attrs.ACCESS in op.attributes else None
        return [] if view is None else [view]
    return [v for v in op.operands if isinstance(v.type, ir.MemRefType)]


def _lanes(op: ir.Operation, rank: int) -> list[Index]:
    """Extents of an access: 1 per dimension, those of the vector type in the last dimensions of a vector access."""
    extents = [Index.constant(1)] * rank
    value = stored_value(op)
    value = op.results[0] if value is None else value
    if isinstance(value.type, ir.VectorType):
        shape = [Index.constant(n) for n in value.type.shape]
        extents[rank - len(shape) :] = shape
    return extents


def _has_dynamic_stride(op: ir.Operation) -> bool:
    return _DYNAMIC in attrs.integers(op, "static_strides")


def _extents(buffer: Buffer) -> list[Index]:
    if buffer.is_view and None in buffer.shape:
        return subview_parts(buffer.op)[1]  # type: ignore[arg-type]
    return buffer.dims


def subview_parts(op: ir.Operation) -> tuple[list[Index], list[Index], list[int]]:
    """Offsets, sizes and (static) strides of a subview, one per dimension of its source."""
    segments = attrs.integers(op, "operandSegmentSizes")
    operands = list(op.operands)
    first = segments[0]
    parts: list[list[Index]] = []
    for key, count in (("static_offsets", segments[1]), ("static_sizes", segments[2]), ("static_strides", segments[3])):
        dynamic = iter(operands[first : first + count])
        static = attrs.integers(op, key)
        parts.append([read_value(next(dynamic)) if n == _DYNAMIC else Index.constant(n) for n in static])
        first += count
    return parts[0], parts[1], [s.as_constant() or 1 for s in parts[2]]


def _through_subview(op: ir.Operation, mins: list[Index], extents: list[Index]) -> tuple[list[Index], list[Index]]:
    """A region of a view as a region of its source; dropped unit dimensions are restored."""
    offsets, sizes, strides = subview_parts(op)
    if len(mins) < len(offsets):
        shape = Buffer(op.results[0]).shape
        dims = kept_dims(shape, [e.as_constant() for e in sizes]) or list(range(len(shape)))
        inner = dict(zip(dims, zip(mins, extents, strict=True), strict=True))
        unit = (Index.constant(0), Index.constant(1))
        pairs = [inner.get(d, unit) for d in range(len(offsets))]
        mins, extents = [p[0] for p in pairs], [p[1] for p in pairs]
    out_mins = [m * s + o for m, o, s in zip(mins, offsets, strides, strict=True)]
    out_extents = [(e - 1) * s + 1 for e, s in zip(extents, strides, strict=True)]
    return out_mins, out_extents


def access_domain(
    access: Access, top: ir.Operation | None = None, extra: Sequence[Index] = (), guards: bool = True
) -> Domain:
    """The iterations that perform an access, over the loops nested in `top`; `extra` adds free dimensions."""
    return domain(access.op, top, [*extra, *access.indices], guards)


def kept_dims(shape: Sequence[int | None], sizes: Sequence[int | None]) -> list[int] | None:
    """The dimensions of a region of `sizes` that a view of `shape` keeps: all but dropped unit dimensions, matched
    from the last one. None if it is not a view of the region."""
    axes: list[int] = []
    for axis in reversed(range(len(sizes))):
        if len(axes) < len(shape) and sizes[axis] == shape[len(shape) - 1 - len(axes)]:
            axes.append(axis)
        elif sizes[axis] != 1:
            return None
    return axes[::-1] if len(axes) == len(shape) else None


@cache_while_frozen
def accesses_to(buffer: ir.Value, owner: ir.Operation, writes: bool | None = None) -> list[Access]:
    """The accesses to a buffer in an op, in program order; with `writes`, only the writes, or only the reads."""
    nests = nests_using([buffer]) if isa(owner, FuncOp) else [owner]
    return [a for nest in nests for a in accesses(nest) if a.buffer == buffer and writes in (None, a.is_write)]


# --- linearized indices -----------------------------------------------------------------------------------------------

Sizes = tuple[str, ...]
"""Names of the shape variables in a product, sorted."""
Sum = dict[Sizes, Index]
"""An index as a sum of expressions times products of sizes."""


_SPLITTABLE = ElementAccessOp.names | {"memref.dim"}


@cache_while_frozen
def _split(buffer: ir.Value) -> dict[ir.Operation, tuple[Index, ...]]:
    """The parts of the indices of all accesses to a buffer, outer strides first; {} if none is linearized, or if they
    do not split alike."""
    users = [use.owner.operation for use in buffer.uses]
    names = {op.name for op in users}
    if names.isdisjoint(ComputedAccessOp.names) or not names <= _SPLITTABLE:
        return {}
    users = [op for op in users if not isa(op, DimOp)]
    sums = {op: _sums(op) for op in users}
    if any(None in sums_of_op for sums_of_op in sums.values()):
        return {}
    result: dict[ir.Operation, tuple[Index, ...]] = dict.fromkeys(users, ())
    for axis in range(Buffer(buffer).rank):
        column = {op: sums_of_op[axis] for op, sums_of_op in sums.items()}
        strides = _strides(column.values())  # type: ignore[arg-type]
        for op, sum_ in column.items():
            parts = None if strides is None or sum_ is None else _parts(op, sum_, strides)
            if parts is None:
                return {}
            result[op] += parts
    return result


def _sums(op: ir.Operation) -> list[Sum | None]:
    """The indices of an access as sums; None for one that is neither affine nor linear in products with sizes."""
    if op.name.startswith("affine."):
        return [{(): index} for index in access_indices(op)]
    return [_sum(v, op) for v in index_operands(op)]


def _sum(value: ir.Value, user: ir.Operation) -> Sum | None:
    plain = affine_value(value, user)
    if plain is not None:
        return {(): plain}
    op = defining_op(value)
    if op is None or not isinstance(value.type, ir.IndexType) or op.name not in INTEGER_RING:
        return None
    lhs, rhs = (_sum(operand, user) for operand in op.operands)
    if lhs is None or rhs is None:
        return None
    if isa(op, MulIOp):
        return _times(lhs, rhs)
    return _add_sums(lhs, rhs if isa(op, AddIOp) else {sizes: -index for sizes, index in rhs.items()})


def _add_sums(lhs: Sum, rhs: Sum) -> Sum:
    total = dict(lhs)
    for sizes, index in rhs.items():
        total[sizes] = (total[sizes] + index).simplify() if sizes in total else index
    return total


def _times(lhs: Sum, rhs: Sum) -> Sum | None:
    """The product of two sums, one of which has sizes and numbers only."""
    factors = _size_products(rhs)
    if factors is None:
        lhs, factors = rhs, _size_products(lhs)
    if factors is None:
        return None
    total: Sum = {}
    for sizes, index in lhs.items():
        for factor_sizes, number in factors.items():
            total = _add_sums(total, {tuple(sorted((*sizes, *factor_sizes))): index * number})
    return total


def _size_products(sum_: Sum) -> dict[Sizes, int] | None:
    """A sum of sizes as {product: number}; None if it varies with loops or iters."""
    total: Counter[Sizes] = Counter()
    for sizes, index in sum_.items():
        factors = dim_factors(index.expr)
        if factors is None or not all(map(is_factor, index.values)):
            return None
        total[sizes] += factors.constant
        for position, number in factors.factors.items():
            total[tuple(sorted((*sizes, *factor_names(symbol_name(index.values[position])))))] += number
    return {sizes: number for sizes, number in total.items() if number}


def _strides(sums: Sequence[Sum]) -> list[tuple[Sizes, int]] | None:
    """The strides that all sums have in common, each a multiple of the next: products of sizes times a number."""
    numbers: dict[Sizes, int] = {(): 1}
    for sum_ in sums:
        for sizes, index in sum_.items():
            if sizes:
                numbers[sizes] = gcd(numbers.get(sizes, 0), *_numbers(index))
    chain = sorted(numbers.items(), key=lambda stride: -len(stride[0]))
    for (large, large_number), (small, small_number) in itertools.pairwise(chain):
        if Counter(small) - Counter(large) or large_number == 0 or small_number == 0 or large_number % small_number:
            return None
    return chain


def _numbers(index: Index) -> list[int]:
    """The factors of an expression, and its constant part."""
    terms, constant = linear_terms(index.expr)
    return [*terms.values(), constant]


def _parts(op: ir.Operation, sum_: Sum, strides: Sequence[tuple[Sizes, int]]) -> tuple[Index, ...] | None:
    """A sum split by the strides; None unless each part but the first is proved to be in [0, stride before / own)."""
    if set(sum_) - {sizes for sizes, _ in strides}:
        return None
    parts = [sum_.get(sizes, Index.constant(0)) for sizes, _ in strides]
    parts = [_exact_quotient(part, number) for part, (_, number) in zip(parts, strides, strict=True)]
    ratios = [_ratio(op, a, b) for a, b in itertools.pairwise(strides)]
    if None in ratios:
        return None
    for part, ratio in zip(parts[1:], ratios, strict=True):
        if not _is_below(op, part, ratio):  # type: ignore[arg-type]
            return None
    return tuple(parts)


def _exact_quotient(index: Index, number: int) -> Index:
    """An expression whose factors are all multiples of a number, divided by it."""
    return index if number == 1 else (index // number).simplify()


def _ratio(op: ir.Operation, large: tuple[Sizes, int], small: tuple[Sizes, int]) -> Index | None:
    """The quotient of two strides; None if it is a product that is not a size of the function."""
    names = Counter(large[0]) - Counter(small[0])
    size_of = {SIGN.join(sorted(factor_names(name))): value for name, value in symbols_by_name(op).items()}
    size = size_of.get(SIGN.join(sorted(names.elements())))
    return None if size is None else Index.from_value(size) * (large[1] // small[1])


def _is_below(op: ir.Operation, part: Index, limit: Index) -> bool:
    """Whether 0 <= part < limit wherever an op runs."""
    dom = domain(op, None, [part, limit])
    try:
        with question("the parts of a linearized index"):
            bounds = [constraint_set(dom, Constraint(index)) for index in (part, limit - part - 1)]
            return all(dom.set.is_subset(points) for points in bounds)
    except (NotProvable, NotAffine):
        return False
