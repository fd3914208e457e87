"""Products of a warpgroup: what a nest has to be, `wgmma` for it, and how late to wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Index,
    Loop,
    create,
    edit,
    is_loop,
    owner_op,
    parent_op,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineIfOp, AffineLoadOp, AffineStoreOp, isa
from tir_mlir.passes.lower.gpu.matrices.descriptors import DEPTH_BYTES, SharedOperand, read_operand
from tir_mlir.passes.lower.gpu.nests import KernelNest
from tir_mlir.passes.lower.gpu.pipelines.channels import RELEASE
from tir_mlir.passes.lower.gpu.pipelines.zero_terms import product_factors
from tir_mlir.passes.lower.op_attrs import index_text, is_nonnegative
from tir_mlir.passes.lower.registry import location_text

_TYPES = {"float16": "f16", "bfloat16": "bf16"}
WAIT = "nvvm.wgmma.wait.group.sync.aligned"


@dataclass(frozen=True)
class Product:
    """sums[i, j] += a[i, k] * b[k, j], of 64 x columns elements."""

    sums: ir.Value
    columns: int
    dtype: str
    a: SharedOperand
    b: SharedOperand


def read_product(nest: ir.Operation, accumulators: Sequence[ir.Value]) -> Product | None:
    """The product that a nest is; None if it is none. Raises LoweringError for one that `wgmma` does not make."""
    stores = [op for op in walk.ops(nest) if isa(op, AffineStoreOp)]
    if len(stores) != 1 or accessed_memref(stores[0]) not in accumulators:
        return None
    store = stores[0]
    factors = product_factors(store)
    if factors is None:
        return None
    loops = [Loop(op) for op in walk.parents(store) if is_loop(op) and walk.is_inside(op, nest)][::-1]
    rows, columns = (_loop(index, loops, store) for index in walk.access_indices(store))
    depth = [loop for loop in loops if loop not in (rows, columns)]
    guards = [op for op in walk.parents(store) if isa(op, AffineIfOp) and walk.is_inside(op, nest) and op != nest]
    if not all(_is_unread(c, rows, columns, depth, store) for guard in guards for c in walk.constraints(guard)):
        _refuse(
            store,
            "is under a condition, and what it leaves out is read, or more than zeros behind the end of both operands",
            "decompose_reduction; and let the same condition be on what reads the sums",
        )
    dtype = Buffer(accessed_memref(factors[0])).dtype
    if dtype not in _TYPES or Buffer(accessed_memref(factors[1])).dtype != dtype:
        _refuse(store, f"is of {dtype}; operands are both float16, or both bfloat16", "cast them to one of these")
    first = next((load for load in factors if _uses(load, rows)), None)
    second = next((load for load in factors if _uses(load, columns)), None)
    if first is None or second is None or first == second or _uses(first, columns) or _uses(second, rows):
        _refuse(store, "has no operand of its rows and one of its columns", "write C[i, j] += A[i, k] * B[k, j]")
    extent = 1
    for loop in depth:
        extent *= loop.const_extent or 0
    per = DEPTH_BYTES // 2
    if not extent or extent % per:
        _refuse(store, f"sums over {extent or 'n'} elements at once, which is not a multiple of {per}", "split the sum")
    a, b = (_operand(load, loop, depth, store) for load, loop in ((first, rows), (second, columns)))
    return Product(accessed_memref(store), columns.const_extent or 0, dtype, a, b)


def _operand(load: ir.Operation, rows: Loop, depth: Sequence[Loop], store: ir.Operation) -> SharedOperand:
    operand = read_operand(load, Buffer(accessed_memref(load)), rows, depth)
    if isinstance(operand, SharedOperand):
        return operand
    why, _, fix = operand.partition("; fix: ")
    _refuse(store, f"has an operand without a descriptor: {why}", fix or "leave the tile as cache_read makes it")


def _is_unread(constraint: Constraint, rows: Loop, columns: Loop, depth: Sequence[Loop], store: ir.Operation) -> bool:
    """Whether the sums that a condition leaves out are read nowhere: what is in them does not matter."""
    if constraint.is_eq or any(constraint.index.uses(loop.var) for loop in depth):
        return False
    for use in AffineStoreOp(store).memref.uses:
        op = use.owner.operation
        if isa(op, AffineLoadOp) and op.block != store.block:
            row, column = walk.access_indices(op)
            there = constraint.index.substitute({rows.var: row, columns.var: column}).simplify()
            if not is_nonnegative(op, there):
                return False
    return True


def _loop(index: Index, loops: Sequence[Loop], store: ir.Operation) -> Loop:
    var = walk.without_unit_loops(index).is_value()
    loop = next((lp for lp in loops if lp.var == var), None)
    if loop is None or loop.lower.as_constant() != 0:
        _refuse(store, f"indexes its sums by {index_text(index)}", "keep loops over the whole tile around it")
    return loop


def _uses(load: ir.Operation, loop: Loop) -> bool:
    return any(index.uses(loop.var) for index in walk.access_indices(load))


def _refuse(op: ir.Operation, why: str, fix: str) -> NoReturn:
    raise LoweringError(f"{location_text(op)}: wgmma: the product {why}; fix: {fix}")


# --- instructions -----------------------------------------------------------------------------------------------------


def emit_product(product: Product, registers: ir.Value) -> ir.Operation:
    """Emit the product at the insertion point; returns the wait for it."""
    sums = _tied("wgmma.fence.sync.aligned;", registers)
    facts = _instruction(product)
    for a, b in zip(product.a.emit(), product.b.emit(), strict=True):
        sums = ir.Operation.create("nvvm.wgmma.mma_async", [sums.type], [sums, a, b], facts).results[0]
    ir.Operation.create("nvvm.wgmma.commit.group.sync.aligned")
    _store(sums, registers)
    return _wait(0, registers)


def _tied(text: str, registers: ir.Value) -> ir.Value:
    """Emit an instruction before which the values of all registers are there, and after which they are used. Returns
    them as a struct. LLVM does not know otherwise that a fence and a wait have to do with registers."""
    count = Buffer(registers).shape[0] or 0
    struct = ir.Type.parse(f"!llvm.struct<({', '.join(['f32'] * count)})>")
    facts = {
        "asm_string": ir.StringAttr.get(text),
        "constraints": ir.StringAttr.get(",".join([*["=f"] * count, *map(str, range(count)), "~{memory}"])),
        "has_side_effects": ir.UnitAttr.get(),
    }
    values = [create.load(registers, [n]) for n in range(count)]
    return ir.Operation.create("llvm.inline_asm", [struct], values, facts).results[0]


def _store(sums: ir.Value, registers: ir.Value) -> None:
    for n in range(Buffer(registers).shape[0] or 0):
        position = {"position": ir.DenseI64ArrayAttr.get([n])}
        value = ir.Operation.create("llvm.extractvalue", [ir.F32Type.get()], [sums], position).results[0]
        create.store(value, registers, [n])


def _wait(pending: int, registers: ir.Value) -> ir.Operation:
    """Wait for all products but those of the last `pending` groups: of none pending, the registers have the sums then.
    Returns the op of the wait, or the last one of it."""
    if pending:
        i64 = ir.IntegerType.get_signless(64)
        return ir.Operation.create(WAIT, attributes={"group": ir.IntegerAttr.get(i64, pending)})
    sums = _tied("wgmma.wait_group.sync.aligned 0;", registers)
    _store(sums, registers)
    return owner_op(sums)


def _instruction(product: Product) -> dict[str, ir.Attribute]:
    """The attributes of `nvvm.wgmma.mma_async`: of A, "col" is transposed, of B, "row"."""
    type_ = f"#nvvm.wgmma_type<{_TYPES[product.dtype]}>"
    text = {
        "shape": f"#nvvm.shape<m = 64, n = {product.columns}, k = {DEPTH_BYTES // 2}>",
        "typeA": type_,
        "typeB": type_,
        "typeD": "#nvvm.wgmma_type<f32>",
        "scaleA": "#nvvm.wgmma_scale_in<one>",
        "scaleB": "#nvvm.wgmma_scale_in<one>",
        "scaleD": "#nvvm.wgmma_scale_out<one>",
        "layoutA": f"#nvvm.mma_layout<{'col' if product.a.transposed else 'row'}>",
        "layoutB": f"#nvvm.mma_layout<{'row' if product.b.transposed else 'col'}>",
    }
    return {name: ir.Attribute.parse(part) for name, part in text.items()}


def wait_late(nest: KernelNest, waits: Mapping[ir.Operation, ir.Value]) -> None:
    """Let the products of an iteration run on while the next one waits for its tiles, and free a tile one iteration
    later, in loops of channels with a third tile. waits: each with the registers that it is for.

    Nothing else in the loop may access the sums, whose registers the products write until they are waited for.
    """
    for release in [op for op in walk.ops(nest.root) if RELEASE in op.attributes]:
        loop = Loop(parent_op(release))
        stages = ir.IntegerAttr(release.attributes[RELEASE]).value
        del release.attributes[RELEASE]
        mine = {op: sums for op, sums in waits.items() if parent_op(op) == loop.op}
        if stages < 3 or not mine or not _only_products(loop, mine):
            continue
        var = Index.from_value(loop.var)
        edit.substitute({loop.var: var - 1}, release)
        later = edit.rebuild_guard(release, [*walk.constraints(release), Constraint(var - 1)])
        for op in mine:
            _drop_wait(op)
        sync = later.block.operations[walk.position_of_many(later) - 1].operation
        first = next(iter(mine.values()))
        with ir.InsertionPoint(sync), later.location:
            _wait(len(mine), first)
        behind = loop.op.block.operations[walk.position_of_many(loop.op) + 1].operation
        with ir.InsertionPoint(behind), loop.op.location:
            for sums in dict.fromkeys(mine.values()):
                _wait(0, sums)


def _drop_wait(wait: ir.Operation) -> None:
    """Drop a wait for all products; the registers have what the products left."""
    parts = [use.owner.operation for use in wait.results[0].uses]
    for part in parts:
        for store in [use.owner.operation for use in part.results[0].uses]:
            edit.drop(store)
        edit.drop(part)
    edit.drop(wait)


def _only_products(loop: Loop, waits: Mapping[ir.Operation, ir.Value]) -> bool:
    """Whether all that a loop does with some registers is products: fences load, products and waits store them."""
    registers = set(waits.values())
    for op in walk.ops(loop.op):
        if isa(op, AffineLoadOp) and accessed_memref(op) in registers:
            if any(use.owner.operation.name != "llvm.inline_asm" for use in op.results[0].uses):
                return False
        elif isa(op, AffineStoreOp) and accessed_memref(op) in registers:
            if owner_op(AffineStoreOp(op).value).name != "llvm.extractvalue":
                return False
    return True
