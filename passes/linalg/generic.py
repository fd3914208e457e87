"""Convert a `linalg.generic` (or a `memref.copy`) to loops and a block, and the equations between its extents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import memref

from tir_mlir.dialect.diagnostics import LinalgError, NotAffine
from tir_mlir.dialect.ir import Buffer, Index, IterSpec, Loop, attrs, create, is_loop, is_symbol
from tir_mlir.dialect.ir.lowering_op_views import LinalgIndexOp
from tir_mlir.dialect.ir.op_traits import ASSOCIATIVE, index_operands
from tir_mlir.dialect.ir.op_views import AffineLoadOp, CopyOp, ElementLoadOp, LoadOp, MemrefLoadOp, isa
from tir_mlir.dialect.presburger import dim_factors, span, split_linear
from tir_mlir.passes.linalg import reshapes
from tir_mlir.passes.linalg.extents import ExtentSolver

_KINDS = {"parallel": "S", "reduction": "R"}


@dataclass(frozen=True)
class GenericOp:
    """A linalg op: operands (buffers or scalars), a map for each, a kind for each iterator, a body (None: a copy)."""

    op: ir.Operation
    inputs: tuple[ir.Value, ...]
    outputs: tuple[ir.Value, ...]
    maps: tuple[ir.AffineMap, ...]
    kinds: tuple[str, ...]

    @property
    def body(self) -> ir.Block | None:
        return self.op.regions[0].blocks[0] if len(self.op.regions) else None

    @cached_property
    def buffer_operands(self) -> list[tuple[ir.Value, ir.AffineMap]]:
        """The operands that are buffers, with their maps."""
        pairs = zip((*self.inputs, *self.outputs), self.maps, strict=True)
        return [(v, m) for v, m in pairs if isinstance(v.type, ir.MemRefType)]

    @property
    def name(self) -> str:
        """The name of the block: that in the op's location, that of a named op, or `generic`."""
        location = self.op.location
        if location.is_a_name():
            return location.name_str
        return "copy" if self.body is None else "generic"

    @property
    def source_location(self) -> ir.Location:
        location = self.op.location
        return location.child_loc if location.is_a_name() else location

    def yielded_values(self) -> list[ir.Value]:
        return list(list(self.body.operations)[-1].operands) if self.body is not None else []


def read_generic(op: ir.Operation) -> GenericOp:
    """Read a `linalg.generic` or `memref.copy`. Errors: LinalgError."""
    if isa(op, CopyOp):
        copy = CopyOp(op)
        rank = Buffer(copy.source).rank
        same = ir.AffineMap.get_identity(rank)
        return GenericOp(op, (copy.source,), (copy.memref,), (same, same), ("S",) * rank)
    count = attrs.integers(op, "operandSegmentSizes")[0]
    operands = list(op.operands)
    maps = tuple(ir.AffineMapAttr(m).value for m in ir.ArrayAttr(op.attributes["indexing_maps"]))
    kinds = [str(k) for k in ir.ArrayAttr(op.attributes["iterator_types"])]
    words = [k.partition("<")[2].partition(">")[0] for k in kinds]
    if odd := [w for w in words if w not in _KINDS]:
        raise LinalgError(f"iterator type {odd[0]} is not supported; use parallel or reduction", op.location)
    parsed = GenericOp(op, tuple(operands[:count]), tuple(operands[count:]), maps, tuple(_KINDS[w] for w in words))
    return GenericOp(parsed.op, parsed.inputs, parsed.outputs, maps, _safe_kinds(parsed))


def _safe_kinds(generic: GenericOp) -> tuple[str, ...]:
    """The kinds of the iterators: opaque where the running value of a reduction is used outside its update, which fixes
    the order.
    """
    updates = [u for u in _updates(generic) if u[0] is not None]
    alone = all(_uses(value) == _uses(old) == 1 for value, old in updates if value is not None)
    return generic.kinds if alone else tuple("O" if k == "R" else k for k in generic.kinds)


def _updates(generic: GenericOp) -> list[tuple[ir.Value | None, ir.Value]]:
    """New and old value of every output; None as the new one if it does not combine the old one by a known reducer."""
    if generic.body is None:
        return [(None, v) for v in generic.outputs]
    running = list(generic.body.arguments)[len(generic.inputs) :]
    updates: list[tuple[ir.Value | None, ir.Value]] = []
    for value, old in zip(generic.yielded_values(), running, strict=True):
        owner = value.owner
        folds = not isinstance(owner, ir.Block) and owner.name in ASSOCIATIVE and old in owner.operands
        updates.append((value if folds else None, old))
    return updates


def _uses(value: ir.Value) -> int:
    return sum(1 for _ in value.uses)


# --- sizes ------------------------------------------------------------------------------------------------------------


def extents(generic: GenericOp, sizes: ExtentSolver) -> list[Index]:
    """The extents of the iterators, from the dimensions that each indexes alone; adds the equations between them."""
    iter_extents: list[Index | None] = [None] * len(generic.kinds)
    for value, map_ in generic.buffer_operands:
        for size, expr in zip(sizes.extents_of(value), map_.results, strict=True):
            expr = expr.maybe_downcast()
            if not isinstance(expr, ir.AffineDimExpr):
                continue
            extent = iter_extents[expr.position]
            if extent is None:
                iter_extents[expr.position] = size
            else:
                sizes.equal(extent, size, generic.op, f"iterator d{expr.position} of {generic.name}")
    if None in iter_extents:
        message = f"no operand of {generic.name} determines the extent of iterator d{iter_extents.index(None)}"
        raise LinalgError(message, generic.op.location)
    return [sizes.substitute_solved(e) for e in iter_extents if e is not None]


def require_extents(generic: GenericOp, sizes: ExtentSolver) -> None:
    """Require dimensions with a composite index (of a convolution) to have at least the elements used."""
    ends = [e - 1 for e in extents(generic, sizes)]
    for value, map_ in generic.buffer_operands:
        for size, expr in zip(sizes.extents_of(value), map_.results, strict=True):
            last = _maximum(expr.maybe_downcast(), ends)
            if last is not None and not isinstance(expr.maybe_downcast(), ir.AffineDimExpr):
                sizes.at_least(size, last + 1)


def _maximum(expr: ir.AffineExpr, ends: Sequence[Index]) -> Index | None:
    """The maximum of a sum of iterators with positive factors; None for any other expression."""
    linear = dim_factors(expr)
    if linear is None or any(factor < 0 for factor in linear.factors.values()):
        return None
    last = Index.constant(linear.constant)
    for dim, factor in linear.factors.items():
        last = last + ends[dim] * factor
    return last


# --- loops and block --------------------------------------------------------------------------------------------------


def emit_loops(generic: GenericOp, sizes: ExtentSolver, name: str, starts: Sequence[GenericOp] = ()) -> None:
    """Emit the loops and the block before the op. starts: the fill of each output, which becomes its init.

        linalg.generic {iterator_types = ["parallel", "reduction"]} ...
    -->
        for i0, i1 in T.grid(n, m):
            with T.block(name):
                v0, v1 = T.axis.remap("SR", [i0, i1])
                ...
    """
    point = ir.InsertionPoint(generic.op)
    loops: list[Loop] = []
    with generic.source_location:
        for number, extent in enumerate(extents(generic, sizes)):
            if _varies(extent):
                what = f"iterator d{number} of {generic.name} has a range that depends on an outer loop"
                raise LinalgError(what, generic.op.location)
            with point:
                loops.append(create.loop(f"i{number}", 0, extent))
            point = create.at_end(loops[-1].body)
        with point:
            _block(generic, sizes, name, loops, starts)


def _block(
    generic: GenericOp, sizes: ExtentSolver, name: str, loops: Sequence[Loop], starts: Sequence[GenericOp]
) -> None:
    runs = [Index.from_value(loop.var) for loop in loops]
    elements = [reshapes.element(v, reshapes.apply_map(m, runs), sizes) for v, m in generic.buffer_operands]
    written = [i for _, indices in elements[len(elements) - len(generic.outputs) :] for i in indices]
    outer = _outer_loops(generic, elements, loops)
    kinds = {loop.var: _outer_kind(generic, loop.var, written, loops) for loop in outer}
    revisited = [i for i in written if any(kinds.get(v) == "O" for v in i.values)]
    for loop, kind in zip(loops, generic.kinds, strict=True):
        # an iteration of the outer loop may write an element that another one writes at another point of the nest
        kinds[loop.var] = "O" if kind == "S" and any(i.uses(loop.var) for i in revisited) else kind
    specs = [IterSpec(f"v_{o.name}", kinds[o.var], o.lower, o.extent, Index.from_value(o.var)) for o in outer]
    specs += [IterSpec(f"v{n}", kinds[o.var], 0, o.extent, Index.from_value(o.var)) for n, o in enumerate(loops)]
    block = create.block(name, specs)
    iters = {o.var: Index.from_value(it.var) for o, it in zip([*outer, *loops], block.iters, strict=True)}
    moved = [(buffer, [i.substitute(iters) for i in indices]) for buffer, indices in elements]
    with create.at_end(block.body):
        if starts:
            with create.at_end(create.init(block).regions[0].blocks[0]):
                for fill, target in zip(starts, moved[len(moved) - len(starts) :], strict=True):
                    create.store(BodyEmitter(fill, sizes, iters, []).value(fill.inputs[0]), *target)
        BodyEmitter(generic, sizes, iters, [iters[loop.var] for loop in loops]).write(moved)


def _outer_loops(
    generic: GenericOp, elements: Sequence[tuple[ir.Value, list[Index]]], loops: Sequence[Loop]
) -> list[Loop]:
    """The enclosing loops that the op's views depend on, which become iters too. Errors: LinalgError."""
    loop_vars = {loop.var for loop in loops}
    outer: list[Loop] = []
    for value in dict.fromkeys(v for _, indices in elements for i in indices for v in i.values):
        if value in loop_vars or is_symbol(value):
            continue
        owner = value.owner
        loop = Loop(owner.owner) if isinstance(owner, ir.Block) and is_loop(owner.owner.operation) else None
        if loop is None or any(_varies(i) for i in (*loop.lowers, *loop.uppers)):
            what = f"{generic.name} depends on an index that is not a loop variable with bounds over sizes"
            raise LinalgError(what, generic.op.location)
        outer.append(loop)
    return outer


def _varies(index: Index) -> bool:
    return any(not is_symbol(v) for v in index.values)


def _outer_kind(generic: GenericOp, value: ir.Value, written: Sequence[Index], loops: Sequence[Loop]) -> str:
    """Spatial if iterations write disjoint elements, reduce if all accumulate into the same, else opaque."""
    if any(_writes_disjoint(i, value, loops) for i in written):
        return "S"
    folds = all(new is not None for new, _ in _updates(generic)) and "O" not in generic.kinds
    return "R" if folds and not any(i.uses(value) for i in written) else "O"


def _writes_disjoint(index: Index, value: ir.Value, loops: Sequence[Loop]) -> bool:
    """Whether iterations of an outer loop write disjoint elements: its stride exceeds the reach of the inner loops."""
    split = split_linear(index, [value, *(loop.var for loop in loops)])
    if split is None or _varies(split.rest):
        return False
    digits = []
    for factor, loop in zip(split.factors[1:], loops, strict=True):
        size = 1 if factor == 0 else loop.const_extent
        if size is None:
            return False
        digits.append((factor, 0, size - 1))
    extent = span(digits).size
    return extent is not None and abs(split.factors[0]) >= extent


if TYPE_CHECKING:
    pass

Element = tuple[ir.Value, list[Index]]
_SCALAR = ("arith", "math")


class BodyEmitter:
    """Emits the computation of one generic at the insertion point."""

    def __init__(self, generic: GenericOp, sizes: ExtentSolver, iters: dict[ir.Value, Index], dims: Sequence[Index]):
        self.generic = generic
        self.sizes = sizes
        self.iters = iters
        self.inside = {v for i in (*iters.values(), *dims) for v in i.values}
        self.known = {**iters, **_positions(generic, dims)}
        self.made: dict[ir.Value, ir.Value] = {}
        self.indices: dict[ir.Value, Index] = {}
        self.loads: dict[ir.Value, Callable[[], ir.Value]] = {}

    def write(self, elements: Sequence[Element]) -> None:
        """Load, compute, store: all values are computed before the first store."""
        inputs, outputs = self.generic.inputs, self.generic.outputs
        pending = iter(elements)
        body = self.generic.body
        if body is None:
            source, target = elements
            create.store(create.load(*source), *target)
            return
        targets: list[Element] = []
        for value, argument in zip((*inputs, *outputs), body.arguments, strict=True):
            if isinstance(value.type, ir.MemRefType):
                element = next(pending)
                self.loads[argument] = lambda element=element: create.load(*element)
                targets.append(element)
            else:
                self.loads[argument] = lambda value=value: self.value(value)
        values = [self.value(v) for v in self.generic.yielded_values()]
        for value, target in zip(values, targets[len(targets) - len(outputs) :], strict=True):
            create.store(value, *target)

    def value(self, root: ir.Value) -> ir.Value:
        """The value inside the block; operands are emitted first, left to right."""
        pending = [root]
        while pending:
            value = pending[-1]
            if value in self.made:
                pending.pop()
                continue
            missing = [v for v in self._operands_to_emit(value) if v not in self.made]
            if missing:
                pending += reversed(missing)
            else:
                self.made[value] = self._make(value)
                pending.pop()
        return self.made[root]

    def _operands_to_emit(self, value: ir.Value) -> list[ir.Value]:
        """The values that must be emitted before a value."""
        if isinstance(value.owner, ir.Block):
            return []
        op = value.owner.operation
        if self._index(value) is not None or self._is_plain_load(op):
            return []
        return [v for v in op.operands if not isinstance(v.type, ir.MemRefType)]

    def _make(self, value: ir.Value) -> ir.Value:
        if value in self.loads:
            return self.loads[value]()
        index = self._index(value)
        if index is not None:
            return create.apply(index)
        if isinstance(value.owner, ir.Block):
            return self._argument(value)
        op = value.owner.operation
        if isa(op, ElementLoadOp) and op.parent is not None and op.parent.operation == self.generic.op:
            return self._gather(op)
        if op.name.split(".")[0] not in _SCALAR or len(op.results) != 1 or len(op.regions):
            raise LinalgError(
                f"{op.name} in the body of {self.generic.name} is not arithmetic on elements", op.location
            )
        copy = op.clone().operation
        for number, operand in enumerate(op.operands):
            copy.operands[number] = self.made[operand]
        copy.location = op.location
        return copy.results[0]

    def _argument(self, value: ir.Value) -> ir.Value:
        if not is_symbol(value):
            message = f"the body of {self.generic.name} uses a loop variable from outside: use linalg.index"
            raise LinalgError(message, self.generic.op.location)
        return value

    def _gather(self, op: ir.Operation) -> ir.Value:
        """A load in the body, at indices that the body computes."""
        if isa(op, AffineLoadOp):
            raise LinalgError("affine.load in the body of a generic: use memref.load", op.location)
        buffer, indices = LoadOp(op).memref, index_operands(op)
        if self._is_plain_load(op):
            affine = [k for i in indices if (k := self._index(i)) is not None]
            with op.location:
                return create.load(*reshapes.element(buffer, affine, self.sizes))
        if reshapes.is_view(buffer):
            raise LinalgError("a view is read at a non-affine index: read the buffer itself", op.location)
        return memref.load(buffer, [self.made[i] for i in indices])

    def _is_plain_load(self, op: ir.Operation) -> bool:
        return isa(op, MemrefLoadOp) and all(self._index(i) is not None for i in list(op.operands)[1:])

    # --- indices -----------------------------------------------------------------------------------------------------

    def _index(self, value: ir.Value) -> Index | None:
        """An index as an affine expression of iters and sizes; None for data and non-affine values."""
        if not isinstance(value.type, ir.IndexType):
            return None
        if value not in self.indices:
            affine = self._affine(value)
            if affine is None:
                return None
            self.indices[value] = affine
        return self.indices[value]

    def _affine(self, value: ir.Value) -> Index | None:
        try:
            term = self.sizes.term(value, self.known)
        except (LinalgError, NotAffine):
            return None
        return term if all(is_symbol(v) or v in self.inside for v in term.values) else None


def _positions(generic: GenericOp, dims: Sequence[Index]) -> dict[ir.Value, Index]:
    """The value of each `linalg.index` of the body."""
    body = generic.body.operations if generic.body is not None else ()
    index_ops = [op.operation for op in body if isa(op, LinalgIndexOp)]
    return {op.results[0]: dims[ir.IntegerAttr(op.attributes["dim"]).value] for op in index_ops}
