"""Create loops, blocks, guards, buffers and accesses, at the current insertion point and location."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from mlir import ir
from mlir.dialects import affine, arith, memref, scf

from tir_mlir.dialect.constants.dense import dense_attr
from tir_mlir.dialect.ir import attrs, dtypes, signs, vectors
from tir_mlir.dialect.ir.context import context
from tir_mlir.dialect.ir.index import Constraint, Index, emit_map
from tir_mlir.dialect.ir.memo import ENTRIES, touch_here
from tir_mlir.dialect.ir.symbols import symbol_added
from tir_mlir.dialect.ir.traversal import visit
from tir_mlir.dialect.ir.views import Block, Func, Iter, Loop, symbol_name


@dataclass(frozen=True)
class IterSpec:
    """An iter to create: `kind` is S, R or O; the domain is [min, min + extent)."""

    name: str
    kind: str
    min: Index | int
    extent: Index | int
    binding: Index | int
    wide: bool = False  # declared as int64

    @classmethod
    def like(cls, old: Iter, binding: Index | None = None) -> IterSpec:
        """An iter with the name, kind, domain and type of an old one, with the same binding or another one."""
        bound = old.binding if binding is None else binding
        return cls(old.name, old.kind, old.min, old.extent, bound, old.is_wide)


def at_end(block: ir.Block) -> ir.InsertionPoint:
    """The insertion point before the terminator of a body."""
    return ir.InsertionPoint.at_block_terminator(block)


def at_start(block: ir.Block) -> ir.InsertionPoint:
    return ir.InsertionPoint.at_block_begin(block)


def fresh_id(op: ir.Operation) -> int:
    """An id never used in the module of an op; the counter is an attribute of the module."""
    root = op
    while root.parent is not None:
        root = root.parent.operation
    number = _next_id(root)
    root.attributes["tir.next"] = attrs.to_attr(number + 1)
    return number


def number_anew(module: ir.Operation, ops: Sequence[ir.Operation], first: int) -> None:
    """Give ops that have ids new ones, `first` and up; the next new one of the module is above them."""
    numbered = [op for op in ops if attrs.ID in op.attributes]
    for number, op in enumerate(numbered, first):
        op.attributes[attrs.ID] = attrs.to_attr(number)
    if numbered:
        module.attributes["tir.next"] = attrs.to_attr(first + len(numbered))


def next_id(module: ir.Module) -> int:
    """The id that the next new loop, block or function gets; all those of the module are lower."""
    return _next_id(module.operation)


def _next_id(root: ir.Operation) -> int:
    if "tir.next" in root.attributes:
        return ir.IntegerAttr(root.attributes["tir.next"]).value
    return 1 + max((attrs.get(o, attrs.ID, -1) for o in _walk(root)), default=-1)


def _walk(root: ir.Operation) -> list[ir.Operation]:
    visited: list[ir.Operation] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        visited.append(op)
        return ir.WalkResult.ADVANCE

    visit(root, look)
    return visited


def _id_here() -> ir.Attribute:
    """The id of an op to be created at the insertion point."""
    return attrs.to_attr(fresh_id(ir.InsertionPoint.current.block.owner.operation))


def _assign_id(op: ir.Operation | ir.OpView) -> None:
    op.operation.attributes[attrs.ID] = attrs.to_attr(fresh_id(op.operation))


def func(
    name: str,
    arg_types: Sequence[ir.Type],
    arg_attrs: Sequence[Mapping[str, object]] | None = None,
    attributes: Mapping[str, object] | None = None,
    results: Sequence[ir.Type] = (),
    private: bool = False,
) -> Func:
    """A function with an empty body; insert before its terminator (`at_end`)."""
    op = _func_op(name, arg_types, results, private)
    if arg_attrs is not None:
        op.attributes["arg_attrs"] = ir.ArrayAttr.get([attrs.to_attr(a) for a in arg_attrs])
    attrs.put(op, attrs.ATTRS, dict(attributes or {}))
    body = op.regions[0].blocks.append(*arg_types)
    with ir.InsertionPoint(body):
        ir.Operation.create("func.return")
    _assign_id(op)
    return Func(op)


def declare(name: str, arg_types: Sequence[ir.Type], results: Sequence[ir.Type] = ()) -> ir.Operation:
    """A private external function, to be defined by a kernel."""
    return _func_op(name, arg_types, results, private=True)


def _func_op(name: str, args: Sequence[ir.Type], results: Sequence[ir.Type], private: bool) -> ir.Operation:
    attributes: dict[str, ir.Attribute] = {
        "sym_name": ir.StringAttr.get(name),
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(list(args), list(results))),
    }
    if private:
        attributes["sym_visibility"] = ir.StringAttr.get("private")
    touch_here()
    func_op = ir.Operation.create("func.func", attributes=attributes, regions=1)
    symbol_added(func_op)
    return func_op


def loop(
    name: str,
    lower: Index | int | Sequence[Index],
    upper: Index | int | Sequence[Index],
    kind: str = "serial",
    annotations: Mapping[str, object] | None = None,
    wide: bool = False,
) -> Loop:
    """`for name in [lower, upper)`: an empty `affine.for` with its yield. wide: declared as int64.

    The loop starts at the maximum of several lower bounds and ends at the minimum of several upper bounds.
    """
    lowers = [lower] if isinstance(lower, (Index, int)) else list(lower)
    uppers = [upper] if isinstance(upper, (Index, int)) else list(upper)
    touch_here()
    low, low_operands = emit_map(lowers)
    high, high_operands = emit_map(uppers)
    facts: dict[str, ir.Attribute] = {
        "lowerBoundMap": ir.AffineMapAttr.get(low),
        "upperBoundMap": ir.AffineMapAttr.get(high),
        "step": _index_one(),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(low_operands), len(high_operands), 0]),
        attrs.LOOP: ir.StringAttr.get(name),
        attrs.ID: _id_here(),  # all at once: MLIR keeps each dictionary of attributes that there ever was
    }
    if kind != "serial":
        facts[attrs.KIND] = ir.StringAttr.get(kind)
    if annotations:
        facts[attrs.ANNOTATIONS] = attrs.to_attr(dict(annotations))
    if wide:
        facts[attrs.DTYPE] = ir.StringAttr.get(attrs.WIDE)
    # not by AffineForOp, whose builder takes longer than all the rest
    op = ir.Operation.create("affine.for", operands=[*low_operands, *high_operands], attributes=facts, regions=1)
    _append_body(op, 1)
    return Loop(op)


def carrying_loop(like: Loop, starts: Sequence[ir.Value]) -> tuple[Loop, Sequence[ir.Value]]:
    """A loop over the range of another, of its kind, that carries values; and the values in its body, which has no
    yield yet."""
    touch_here()
    facts = {key: like.op.attributes[key] for key in like.op.attributes}
    low, low_operands = emit_map(like.lowers)
    high, high_operands = emit_map(like.uppers)
    facts["lowerBoundMap"], facts["upperBoundMap"] = ir.AffineMapAttr.get(low), ir.AffineMapAttr.get(high)
    facts["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(low_operands), len(high_operands), len(starts)])
    facts[attrs.ID] = _id_here()
    types = [start.type for start in starts]
    op = ir.Operation.create("affine.for", types, [*low_operands, *high_operands, *starts], facts, regions=1)
    body = op.regions[0].blocks.append(ir.IndexType.get(), *types)
    return Loop(op), [*body.arguments][1:]


def copy_loops(
    nest: Sequence[Loop], ip: ir.InsertionPoint, suffix: str = "", serial: bool = False
) -> tuple[ir.InsertionPoint, dict[ir.Value, Index]]:
    """Create loops over the ranges of others, of the same kinds unless `serial`; their bounds use only these loops and
    what is defined at `ip`. Returns the insertion point inside, and the substitution of the variables.
    """
    variables: dict[ir.Value, Index] = {}
    for old in nest:
        low, high = ([bound.substitute(variables) for bound in side] for side in (old.lowers, old.uppers))
        kind, facts = ("serial", {}) if serial else (old.kind, old.annotations)
        with ip, old.op.location:
            new = loop(old.name + suffix, low, high, kind, facts, old.is_wide)
        variables[old.var] = Index.from_value(new.var)
        ip = at_end(new.body)
    return ip, variables


@cache
def _index_one() -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IndexType.get(), 1)


@lru_cache(maxsize=64)
def _one_point_facts(count: int) -> dict[str, ir.Attribute]:
    """The attributes that the blocks of `count` iters have in common."""
    groups = dense_attr(np.ones(count, dtype=np.int32))
    step = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)
    steps = ir.ArrayAttr.get([step] * count)
    return {
        "reductions": ir.ArrayAttr.get([]),
        "lowerBoundsGroups": groups,
        "upperBoundsGroups": groups,
        "steps": steps,
    }


@lru_cache(maxsize=ENTRIES)
def _point_maps(low: ir.AffineMap) -> dict[str, ir.Attribute]:
    """The bounds of a block that runs at one point."""
    high = ir.AffineMap.get(low.n_dims, low.n_symbols, [e + 1 for e in low.results])
    return {"lowerBoundsMap": ir.AffineMapAttr.get(low), "upperBoundsMap": ir.AffineMapAttr.get(high)}


def _append_body(op: ir.Operation, count: int = 0) -> None:
    """Give a region its body: `count` indices and a yield."""
    body = op.regions[0].blocks.append(*[ir.IndexType.get()] * count)
    with ir.InsertionPoint(body):
        ir.Operation.create("affine.yield")


def data_loop(name: str, lower: ir.Value, upper: ir.Value) -> ir.Operation:
    """`for name in [lower, upper)`, bounds from data: an empty `scf.for`. Its variable is not an affine index."""
    op = scf.ForOp(lower, upper, arith.constant(ir.IndexType.get(), 1)).operation
    with ir.InsertionPoint(op.regions[0].blocks[0]):
        scf.yield_([])
    op.attributes[attrs.LOOP] = ir.StringAttr.get(name)
    _assign_id(op)
    return op


def while_loop(condition: Callable[[], ir.Value]) -> ir.Operation:
    """`while condition():`, an empty `scf.while`; `condition` emits what is evaluated before every iteration."""
    op = ir.Operation.create("scf.while", regions=2)
    before_region, after_region = (region.blocks.append() for region in op.regions)
    with ir.InsertionPoint(before_region):
        scf.condition(condition(), [])
    with ir.InsertionPoint(after_region):
        scf.yield_([])
    op.attributes[attrs.LOOP] = ir.StringAttr.get("while")
    _assign_id(op)
    return op


def block(name: str, iters: Sequence[IterSpec], annotations: Mapping[str, object] | None = None) -> Block:
    """An empty block with its yield. Bindings may use loop variables and the iters of the enclosing block."""
    bindings = [Index.wrap(i.binding) for i in iters] or [Index.constant(0)]
    mins, extents, syms = _domain_maps(iters)
    facts: dict[str, ir.Attribute] = {
        attrs.BLOCK: ir.StringAttr.get(name),
        attrs.ITERS: attrs.to_attr([i.kind for i in iters]),
        attrs.NAMES: attrs.to_attr([i.name for i in iters]),
        attrs.MIN: ir.AffineMapAttr.get(mins),
        attrs.EXTENT: ir.AffineMapAttr.get(extents),
        attrs.SYMS: attrs.to_attr(syms),
        attrs.ID: _id_here(),
    }
    if annotations:
        facts[attrs.ANNOTATIONS] = attrs.to_attr(dict(annotations))
    if any(i.wide for i in iters):
        facts[attrs.DTYPES] = attrs.to_attr({i.name: attrs.WIDE for i in iters if i.wide})
    return Block(_one_point(bindings, facts))


def _domain_maps(iters: Sequence[IterSpec]) -> tuple[ir.AffineMap, ir.AffineMap, list[str]]:
    """The maps of minima and extents, over a common list of symbol names."""
    parts = [Index.wrap(i.min) for i in iters] + [Index.wrap(i.extent) for i in iters]
    values: list[ir.Value] = []
    for part in parts:
        values += [v for v in part.values if v not in values]
    exprs = [over_symbols(part, values) for part in parts]
    half = len(iters)
    maps = (ir.AffineMap.get(0, len(values), exprs[:half]), ir.AffineMap.get(0, len(values), exprs[half:]))
    return (*maps, [symbol_name(v) for v in values])


def over_symbols(index: Index, values: Sequence[ir.Value]) -> ir.AffineExpr:
    """The expression with `values[i]` as symbol `i`, for attributes with named symbols."""
    swap = [ir.AffineExpr.get_symbol(list(values).index(v)) for v in index.values]
    return index.expr.compose(ir.AffineMap.get(0, len(values), swap)) if swap else index.expr


def _one_point(bindings: Sequence[Index], attributes: dict[str, ir.Attribute]) -> ir.Operation:
    """An `affine.parallel` over the single point `bindings`, with an empty body and its yield."""
    touch_here()
    low, operands = emit_map(bindings)
    facts = _one_point_facts(len(bindings)) | _point_maps(low) | attributes
    op = ir.Operation.create("affine.parallel", operands=[*operands, *operands], attributes=facts, regions=1)
    _append_body(op, len(bindings))
    return op


def guard(
    constraints: Sequence[Constraint], tag: str | None = None, results: Sequence[ir.Type] = (), has_else: bool = False
):
    """An `affine.if` over a conjunction, with empty bodies; without results the yields are in place."""
    touch_here()
    map_, operands = emit_map([c.index for c in constraints])
    exprs, kinds = list(map_.results), [c.is_eq for c in constraints]
    if not exprs:
        exprs, kinds = [ir.AffineExpr.get_constant(0)], [True]
    set_ = ir.IntegerSet.get(map_.n_dims, map_.n_symbols, exprs, kinds)
    op = ir.Operation.create(
        "affine.if",
        results=list(results),
        operands=operands,
        attributes={"condition": ir.IntegerSetAttr.get(set_)},
        regions=2,
    )
    for region in list(op.regions)[: 2 if has_else else 1]:
        body = region.blocks.append()
        if not results:
            with ir.InsertionPoint(body):
                affine.yield_([])
    if tag:
        op.attributes[tag] = ir.UnitAttr.get()
    return op


def where(constraints: Sequence[Constraint]) -> ir.Operation:
    """The guard of a block: insert the block into its body."""
    return guard(constraints, attrs.WHERE)


def data_where(test: ir.Value) -> ir.Operation:
    """The guard of a block by a computed bool: insert the block into its body."""
    op = ir.Operation.create("scf.if", operands=[test], attributes={attrs.WHERE: ir.UnitAttr.get()}, regions=2)
    with ir.InsertionPoint(op.regions[0].blocks.append()):
        scf.yield_([])
    return op


def bound_value(name: str, low: Index | int, extent: Index | int, value: ir.Value) -> tuple[Loop, ir.Block]:
    """A loop variable equal to a computed value, which is not an affine dimension: a search of [low, low + extent).

        for name in range(low, low + extent):      # tir.bind
            if name == value: ...

    Returns the loop and the body of the condition. Lowering and the interpreter take the value without the search.
    """
    search = loop(name, low, Index.wrap(low) + extent)
    search.op.attributes[attrs.BIND] = ir.UnitAttr.get()
    with at_end(search.body):
        same = arith.cmpi(arith.CmpIPredicate.eq, search.var, value)
        branch = ir.Operation.create("scf.if", operands=[same], regions=2)
    with ir.InsertionPoint(branch.regions[0].blocks.append()):
        scf.yield_([])
    return search, branch.regions[0].blocks[0]


def init(owner: Block) -> ir.Operation:
    """The init region of a block, at the insertion point: an `affine.if` on all reduce iters being at their minimum."""
    starts = [Constraint(Index.from_value(i.var) - i.min, is_eq=True) for i in owner.iters if i.kind == "R"]
    return guard(starts, attrs.INIT)


def load(buffer: ir.Value, indices: Sequence[Index | int]) -> ir.Value:
    """`buffer[indices]`, all indices affine."""
    touch_here()
    map_, operands = emit_map(indices)
    return affine.load(ir.MemRefType(buffer.type).element_type, buffer, operands, map_)


def store(value: ir.Value, buffer: ir.Value, indices: Sequence[Index | int]) -> ir.Operation:
    """`buffer[indices] = value`, all indices affine."""
    touch_here()
    map_, operands = emit_map(indices)
    return affine.store(value, buffer, operands, map_).operation


def assume(condition: ir.Value) -> ir.Operation:
    """`T.assume(condition)` on data. Lowering drops it."""
    touch_here()
    no_bundles = {"op_bundle_sizes": ir.DenseI32ArrayAttr.get([])}
    return ir.Operation.create("llvm.intr.assume", operands=[condition], attributes=no_bundles)


def apply(index: Index | int) -> ir.Value:
    """The SSA value of an index expression: the value itself if it is one, else an `affine.apply`."""
    index = Index.wrap(index)
    if (value := index.is_value()) is not None:
        return value
    touch_here()
    if (number := index.as_constant()) is not None:
        return arith.constant(ir.IndexType.get(), number)
    map_, operands = emit_map([index])
    return affine.apply(map_, operands)


def memref_type(shape: Sequence[int | Index | None], dtype: str, scope: str = "global") -> ir.MemRefType:
    """A row-major memref type; the scope is its memory space, none for `global`."""
    dynamic = ir.ShapedType.get_dynamic_size()
    space = None if scope == "global" else ir.StringAttr.get(scope)
    sizes = [n if isinstance(n, int) else dynamic for n in shape]
    return ir.MemRefType.get(sizes, dtypes.element_type(dtype), memory_space=space)


def alloc(name: str, shape: Sequence[int | Index], dtype: str, scope: str = "global") -> ir.Value:
    """A named buffer, 64-byte aligned; symbolic extents become operands."""
    touch_here()
    sizes = [n if isinstance(n, int) else as_size(n) for n in shape]
    operands = [apply(n) for n in sizes if isinstance(n, Index)]
    result = memref.alloc(
        memref_type(sizes, dtype, scope),
        operands,
        [],
        alignment=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 64),
    )
    result.owner.attributes[attrs.NAME] = ir.StringAttr.get(name)
    signs.declare(result.owner, dtype)
    return result


def arena_view(name: str, arena: ir.Value, offset: Index, shape: Sequence[int | Index], dtype: str) -> ir.Value:
    """A typed view of a buffer of bytes, from a byte on."""
    touch_here()
    sizes = [n if isinstance(n, int) else as_size(n) for n in shape]
    operands = [arena, apply(offset), *(apply(n) for n in sizes if isinstance(n, Index))]
    op = ir.Operation.create("memref.view", [memref_type(sizes, dtype)], operands)
    op.attributes[attrs.NAME] = ir.StringAttr.get(name)
    signs.declare(op, dtype)
    return op.results[0]


def as_size(index: Index) -> Index | int:
    """A size as a number if it is constant."""
    number = index.as_constant()
    return index if number is None else number


def clone_module(module: ir.Module | ir.Operation) -> ir.Module:
    """A copy of a module in the context of this process, ids and locations included."""
    if module.context != (own := context()):
        return ir.Module.parse(str(module.operation.get_asm(enable_debug_info=True)), own)
    copy = module.operation.clone().operation
    new = ir.Module.create(module.operation.location)
    for name in module.operation.attributes:
        new.operation.attributes[name] = module.operation.attributes[name]
    for op in list(copy.regions[0].blocks[0].operations):
        new.body.append(op)
    return new


_NOT_EQUAL_FLOAT, _NOT_EQUAL_INT = 13, 1  # predicates of cmpf (une: true for NaN) and cmpi


def convert(value: ir.Value, dtype: str, source: str | None = None) -> ir.Value:
    """Convert a value to another type: float to integer rounds towards zero, to bool compares with zero.

    source: the type of the value, if known. Requires a type with a TensorIR name other than index.
    """
    source = source or signs.dtype_of(value) or dtypes.to_name(value.type)
    return value if source == dtype else signs.mark(_emit_conversion(value, source, dtype), dtype)


def _emit_conversion(value: ir.Value, source: str, dtype: str) -> ir.Value:
    target, element, lanes = dtypes.to_mlir(dtype), dtypes.element(source), dtypes.lanes(dtype)
    wider = dtypes.bits(source) < dtypes.bits(dtype)
    is_float = dtypes.is_float(source)
    if dtypes.element(dtype) == "bool":
        zero = arith.constant(dtypes.to_mlir(element), 0.0 if is_float else 0)
        zero = zero if lanes == 1 else vectors.broadcast(zero, lanes)
        return arith.cmpf(_NOT_EQUAL_FLOAT, value, zero) if is_float else arith.cmpi(_NOT_EQUAL_INT, value, zero)
    if is_float and dtypes.is_float(dtype):
        if dtypes.bits(source) == dtypes.bits(dtype):  # no single op converts between float16 and bfloat16
            return arith.truncf(target, arith.extf(dtypes.to_mlir(dtypes.with_lanes("float32", lanes)), value))
        return (arith.extf if wider else arith.truncf)(target, value)
    if is_float:
        return (arith.fptoui if dtypes.is_unsigned(dtype) else arith.fptosi)(target, value)
    zeros_above = element == "bool" or dtypes.is_unsigned(source)
    if dtypes.is_float(dtype):
        return (arith.uitofp if zeros_above else arith.sitofp)(target, value)
    if element == "bool" or wider:
        return (arith.extui if zeros_above else arith.extsi)(target, value)
    if dtypes.bits(source) > dtypes.bits(dtype):
        return arith.trunci(target, value)
    cast = arith.bitcast(target, value)  # between int8 and uint8: an op of its own, so that both sides have one type
    cast.owner.attributes[attrs.DTYPE] = ir.StringAttr.get(dtype)
    return cast
