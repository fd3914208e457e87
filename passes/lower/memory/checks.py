"""Bounds checks in machine code, for accesses that are not proved inside their buffer (`build(checked=True)`)."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import RECORD, CheckedSite, LoweringError, NotAffine, NotProvable, VerifyError
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    Loop,
    attrs,
    bound_value,
    emit_map,
    freeze_modules,
    is_block,
    owner_op,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import (
    AffineAccessOp,
    ComputedAccessOp,
    ConditionOp,
    IfOp,
    MemrefStoreOp,
    StoreOp,
    isa,
)
from tir_mlir.dialect.verify import check_access
from tir_mlir.passes.lower.registry import Content, location_text, lowering, programs

CHECKED = "tir.checked"

_PROVED: list[str] = []


@lowering("tir-lower-checks-mark", "Mark accesses and bindings that are not proved inside, to be checked when they run")
def mark(module: ir.Module) -> None:
    """Mark each access with its block and buffer, or as proved; and each iter bound to a value that is not affine.

        %a = memref.load %A[%p]   -->   %a = memref.load %A[%p] {tir.site = ["C", "A"]}

    An affine access is proved by intervals and isl, as is one through a table of known contents; one that is not, in a
    module that was not verified, becomes `memref.load` or `memref.store`. Requires blocks. `tir-lower-checks` inserts
    the checks.
    """
    for func in programs(module):
        accesses = [op for op in walk.ops(func.op) if isa(op, ComputedAccessOp, AffineAccessOp)]
        with freeze_modules():
            sites = [_site(op) for op in accesses]
        for op, site in zip(accesses, sites, strict=True):
            if site and isa(op, AffineAccessOp):
                op = _to_gather(op)
            if isa(op, ComputedAccessOp):
                attrs.put(op, SITE, site)
        mark_bindings(func)
        attrs.put(func.op, CHECKED, True)


def _site(op: ir.Operation) -> list[str]:
    try:
        if check_access(op):
            return _PROVED
    except (VerifyError, NotProvable, NotAffine):
        pass
    block = next((Block(p).name for p in walk.parents(op) if is_block(p)), "")
    return [block, Buffer(accessed_memref(op)).name]


def _to_gather(op: ir.Operation) -> ir.Operation:
    kind, memref = op.name.removeprefix("affine."), accessed_memref(op)
    if kind not in ("load", "store"):
        text = (
            f"the lanes of {Buffer(memref).name} are not proved to be inside it, and a vector is not checked by lanes"
        )
        raise LoweringError(f"{location_text(op)}: {text}")
    with ir.InsertionPoint(op), op.location:
        value = [StoreOp(op).value] if kind == "store" else []
        types = [r.type for r in op.results]
        computed = ir.Operation.create(f"memref.{kind}", types, [*value, memref, *_indices(op)])
    for old, new in zip(op.results, computed.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    return computed


def _indices(op: ir.Operation) -> list[ir.Value]:
    return [value_of(index) for index in walk.access_indices(op)]


@lowering(
    "tir-lower-checks", "Check marked accesses and bindings when they run", works_on=Content(attributes={CHECKED})
)
def run(module: ir.Module) -> list[CheckedSite]:
    """Skip accesses outside their buffer, and record the first one.

        %a = memref.load %A[%p]   -->   %in = arith.cmpi ult, %p, %size
                                        %a = scf.if %in { memref.load %A[%p] }
                                             else { call @__tir_outside_1(site, %p, %size); 0.0 }

    A skipped load gives 0, a skipped store changes nothing. The global `__tir_outside` keeps the first one, also if
    several threads have one. Once there is one, `scf.while` loops end, as a skipped load may be what they wait for.
    A block with an iter whose value is outside its domain is skipped, and recorded, too.
    Applies to functions that `tir-lower-checks-mark` marked; returns the sites.
    """
    sites: list[CheckedSite] = []
    for func in programs(module):
        if attrs.get(func.op, CHECKED):
            for op in walk.ops(func.op):
                if isa(op, ComputedAccessOp) and attrs.get(op, SITE) != _PROVED:
                    sites.append(_check(op, len(sites), func.name))
                elif isa(op, ComputedAccessOp):
                    attrs.put(op, SITE, None)
                elif SITE in op.attributes:
                    sites.append(check_binding(op, len(sites), func.name))
            attrs.put(func.op, CHECKED, None)
    if sites:
        for func in programs(module):
            for condition in walk.views_in(func.op, ConditionOp):
                _end_after_first(condition)
        add_record(module, sorted({s.rank for s in sites}))
    return sites


def _end_after_first(condition: ConditionOp) -> None:
    """Make the condition of a loop false once there is an access outside."""
    word = ir.IntegerType.get_signless(64)
    with ir.InsertionPoint(condition.op), condition.op.location:
        record = {"global_name": ir.FlatSymbolRefAttr.get(RECORD)}
        state = ir.Operation.create("llvm.mlir.addressof", [ir.Type.parse("!llvm.ptr")], [], record).results[0]
        first = ir.Operation.create("llvm.load", [word], [state]).results[0]
        none = compare(EQ, first, constant(word, 0))
        condition.condition = logical_and(condition.condition, none)


def _check(op: ir.Operation, number: int, function: str) -> CheckedSite:
    """Guard one access."""
    memref = Buffer(accessed_memref(op))
    block, name = attrs.get(op, SITE, ["", memref.name])
    attrs.put(op, SITE, None)
    writes = isa(op, MemrefStoreOp)
    indices = list(op.operands)[2 if writes else 1 :]
    types = [r.type for r in op.results]
    with ir.InsertionPoint(op), op.location:
        sizes = [_size(memref, axis) for axis in range(memref.rank)]
        branch = ir.Operation.create("scf.if", types, [_emit_bounds_test(indices, sizes)], regions=2)
        for old, new in zip(op.results, branch.results, strict=True):
            old.replace_all_uses_with(new)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            ir.Operation.create("scf.yield", [], [])
        with ir.InsertionPoint(branch.regions[1].blocks.append()):
            record(number, indices, sizes)
            ir.Operation.create("scf.yield", [], [_zero(t) for t in types])
    done = branch.regions[0].blocks[0].operations[0].operation
    op.move_before(done)
    with ir.InsertionPoint(done), op.location:
        ir.Operation.create("scf.yield", [], list(op.results))
    done.erase()
    return CheckedSite(location_text(branch), function, block, writes, name, memref.rank)


def _size(memref: Buffer, axis: int) -> ir.Value:
    extent = memref.shape[axis]
    if extent is not None:
        return constant(ir.IndexType.get(), extent)
    operands = [memref.value, constant(ir.IndexType.get(), axis)]
    return ir.Operation.create("memref.dim", [ir.IndexType.get()], operands).results[0]


def _emit_bounds_test(indices: list[ir.Value], sizes: list[ir.Value]) -> ir.Value:
    """Whether all indices are inside; a negative one is a large unsigned number."""
    result = constant(ir.IntegerType.get_signless(1), 1)
    for index, size in zip(indices, sizes, strict=True):
        result = logical_and(result, compare(ULT, index, size))
    return result


def _zero(type_: ir.Type) -> ir.Value:
    attribute = (
        ir.IntegerAttr.get(type_, 0)
        if isinstance(type_, (ir.IntegerType, ir.IndexType))
        else ir.FloatAttr.get(type_, 0.0)
    )
    return ir.Operation.create("arith.constant", [type_], [], {"value": attribute}).results[0]


# --- checks that values that are not affine are inside the domains of iters bound to them (`build(checked=True)`) ----


def mark_bindings(func: Func) -> None:
    """Mark every search for a bound value with its block and iter; a `where` that does not hold binds nothing.

    for %vi in domain: if %vi == %x:              if %c:
      if %c {tir.where}: block            -->       for %vi in domain {tir.site = ["b", "vi"]}: if %vi == %x: block
    """
    searches = [op for op in walk.ops(func.op) if bound_value(op) is not None]
    for op in searches:
        block = next((Block(o).name for o in walk.ops(op) if is_block(o)), "")
        attrs.put(op, SITE, [block, Loop(op).name])
    for op in searches:
        if not any(p in searches for p in walk.parents(op)):
            _lift_conditions(op)


def _lift_conditions(top: ir.Operation) -> None:
    """Move the conditions around the block of nested searches out of them, where they do not depend on the values."""
    while (guard := _condition(top)) is not None:
        for op in _body(guard):
            op.move_before(guard)
        guard.move_before(top)
        top.move_before(guard.regions[0].blocks[0].operations[0].operation)


def _condition(top: ir.Operation) -> ir.Operation | None:
    """The condition directly around the block of nested searches, if it may move out of them."""
    op = top
    while (bound := bound_value(op)) is not None:
        body = _body(bound[1])
        if len(body) != 1:
            return None
        (op,) = body
    if not isa(op, IfOp) or attrs.WHERE not in op.attributes:
        return None
    return None if any(walk.is_inside(owner_op(v), top) for v in op.operands) else op


def _body(op: ir.Operation) -> list[ir.Operation]:
    """The ops in the body of a condition, without its end."""
    return [o.operation for o in op.regions[0].blocks[0].operations][:-1]


def check_binding(op: ir.Operation, number: int, function: str) -> CheckedSite:
    """Record a value outside of the domain before a marked search, which does not find it.

    --> %in = low <= %x and %x < high
        scf.if %in {} else { call @__tir_outside_2(site, %x, high, low, high) }
        for %vi in domain: if %vi == %x: ...
    """
    block, name = attrs.get(op, SITE)
    attrs.put(op, SITE, None)
    search, loop = bound_value(op), Loop(op)
    if search is None:
        raise LoweringError(f"{location_text(op)}: the binding of iter {name} cannot be checked after it was lowered")
    value = search[0]
    with ir.InsertionPoint(op), op.location:
        low, high = value_of(loop.lower), value_of(loop.upper)
        in_domain = logical_and(compare(SLE, low, value), compare(SLT, value, high))
        branch = ir.Operation.create("scf.if", [], [in_domain], regions=2)
        with ir.InsertionPoint(branch.regions[0].blocks.append()):
            ir.Operation.create("scf.yield", [], [])
        with ir.InsertionPoint(branch.regions[1].blocks.append()):
            record(number, [value, low], [high, high])
            ir.Operation.create("scf.yield", [], [])
    return CheckedSite(location_text(op), function, block, False, name, 2, is_binding=True)


# Building blocks of checked code: comparisons, and the record of the first check that fails.


SITE = "tir.site"
"""On an access, or on the search for the value of an iter: the block and the buffer or iter; [] if it is proved.
Exists only during lowering."""
ULT, SLE, SLT, EQ = 6, 3, 2, 0
"""Predicates of arith.cmpi."""


def compare(predicate: int, a: ir.Value, b: ir.Value) -> ir.Value:
    """`a predicate b`, for integers."""
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), predicate)
    return ir.Operation.create("arith.cmpi", [ir.IntegerType.get_signless(1)], [a, b], {"predicate": number}).results[0]


def logical_and(a: ir.Value, b: ir.Value) -> ir.Value:
    """Whether two conditions hold."""
    return ir.Operation.create("arith.andi", [a.type], [a, b]).results[0]


def constant(type_: ir.Type, value: int) -> ir.Value:
    """An integer."""
    attribute = ir.IntegerAttr.get(type_, value)
    return ir.Operation.create("arith.constant", [type_], [], {"value": attribute}).results[0]


def value_of(index: Index) -> ir.Value:
    """An index expression as a value."""
    map_, operands = emit_map([index])
    attributes = {"map": ir.AffineMapAttr.get(map_)}
    return ir.Operation.create("affine.apply", [ir.IndexType.get()], list(operands), attributes).results[0]


def record(number: int, indices: Sequence[ir.Value], sizes: Sequence[ir.Value]) -> None:
    """Call the recorder for check `number`: an index and an extent per dimension."""
    word = ir.IntegerType.get_signless(64)
    pairs = [v for pair in zip(indices, sizes, strict=True) for v in pair]
    words = [ir.Operation.create("arith.index_cast", [word], [v]).results[0] for v in pairs]
    callee = {"callee": ir.FlatSymbolRefAttr.get(f"{RECORD}_{len(indices)}")}
    ir.Operation.create("func.call", [], [constant(word, number + 1), *words], callee)


def add_record(module: ir.Module, ranks: list[int]) -> None:
    """Define the record, and a function for each rank that writes it unless it is written."""
    length = 1 + 2 * max(ranks)
    text = [f"llvm.mlir.global external @{RECORD}(dense<0> : tensor<{length}xi64>) : !llvm.array<{length} x i64>"]
    text += [_recorder(rank, length) for rank in ranks]
    extra = ir.Module.parse("\n".join(text))
    end = ir.InsertionPoint(module.body)
    for op in extra.body.operations:
        op.operation.clone(ip=end)


def _recorder(rank: int, length: int) -> str:
    values = [f"%v{i}" for i in range(2 * rank)]
    stores = "\n".join(
        f"  %p{i} = llvm.getelementptr %state[0, {i + 1}] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<{length} x i64>\n"
        f"  llvm.store {v}, %p{i} : i64, !llvm.ptr"
        for i, v in enumerate(values)
    )
    return f"""
func.func private @{RECORD}_{rank}({", ".join(f"{v}: i64" for v in ("%site", *values))}) attributes {{no_inline}} {{
  %state = llvm.mlir.addressof @{RECORD} : !llvm.ptr
  %none = llvm.mlir.constant(0 : i64) : i64
  %was = llvm.cmpxchg %state, %none, %site acq_rel monotonic : !llvm.ptr, i64
  %first = llvm.extractvalue %was[1] : !llvm.struct<(i64, i1)>
  cf.cond_br %first, ^first, ^end
^first:
{stores}
  cf.br ^end
^end:
  return
}}"""
