"""shift_operand: read an operand of a sum of integer products with the other sign, and correct the sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Iter,
    IterSpec,
    attrs,
    convert,
    create,
    defining_op,
    edit,
    freeze_modules,
    is_inside,
    ops,
    parents,
    signs,
)
from tir_mlir.dialect.ir.op_traits import WIDENINGS, accessed_memref
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, CastBaseOp, ExtSIOp, LoadOp, MulIOp, StoreOp, isa
from tir_mlir.passes.schedule.caching.cache_read_write import cache_read
from tir_mlir.passes.schedule.edits import alloc_buffer, find_buffer, keeps_region_order
from tir_mlir.passes.schedule.legality import PrivateNest, check_reduction, scope_of
from tir_mlir.passes.schedule.reduction.reduction_form import BlockReduction, cloned_values, loaded_values, reduction_of
from tir_mlir.passes.schedule.registry import check, primitive

_SHIFT_FIRST_FIX = "shift the operand before its loops are split or fused, and before other blocks move into them"


@primitive("shift_operand")
@keeps_region_order
def shift_operand(block: Block, read_buffer_index: int | str) -> list[Block]:
    """Read a signed operand of a sum of integer products as unsigned, 128 (for int8) larger, or an unsigned one as
    signed, and correct the sum.

        for i, k in T.grid(n, m):                   for ax0, ax1 in T.grid(n, m):
            with T.block("C"):                          with T.block("A_global"):         # uint8
                with T.init():                              A_global[v0, v1] = A[v0, v1] ^ -128
                    C[vi] = 0                       for k in range(m):
                C[vi] += int32(A[vi, vk])               with T.block("C_shift"):
                         * int32(B[vk])      ->             with T.init(): C_shift[0] = 0
                                                            C_shift[0] += int32(B[vk])
                                                    for i, k in T.grid(n, m):
                                                        with T.block("C"):
                                                            with T.init():
                                                                C[vi] = C_shift[0] * -128
                                                            C[vi] += int32(A_global[vi, vk]) * int32(B[vk])

    The sum is the same: x * y = (x + 128) * y - 128 * y for each term, exact in arithmetic modulo 2^32. Instructions
    that multiply unsigned by signed integers (`vpdpbusd`) then compute products of signed ones. An unsigned operand is
    read as signed, 128 smaller, and 128 * y is added: for instructions of signed integers (`sdot`). Returns the block
    that copies the operand, and the one that sums what it is multiplied with, over the spatial iters that this uses.

    Requires: a reduction block that adds one product of integers, started at 0, of which one factor is a widened
    element of the buffer, which the block reads nowhere else; every loop of the nest drives one iter over its whole
    domain and contains nothing else. `read_buffer_index` is a position in `T.reads`, or a name.
    """
    with freeze_modules():
        check_reduction(block)
        buffer = find_buffer(block, read_buffer_index, attrs.READS)
        matched = _product(block, reduction_of(block), buffer)
        _check_nest(block)
        _note(block, buffer, matched)

    copied = cache_read(block, buffer.name, "global", [block])
    cache = next(Buffer(accessed_memref(op)) for op in ops(copied.op) if isa(op, AffineStoreOp))
    form = reduction_of(block)
    matched = _product(block, form, cache)
    _change_sign(copied, cache, matched)
    return [copied, _sum_other(block, form, matched)]


def _note(block: Block, buffer: Buffer, matched: _Product) -> None:
    product = f"block `{block.name}` adds one product x * y in {matched.other.type}, x an element of `{buffer.name}`"
    size, there, back = abs(matched.offset), *("+-" if matched.offset < 0 else "-+")
    emit_remark(f"{product}: that is (x {there} {size}) * y {back} {size} * y, also where it wraps")
    emit_remark(f"each loop of block `{block.name}` runs one iter over its whole domain")


@dataclass(frozen=True)
class _Product:
    """The widening cast of an element of the operand, the other factor, and the element less what is read for it."""

    widening: ir.Operation
    other: ir.Value
    offset: int


def _product(block: Block, form: BlockReduction, buffer: Buffer) -> _Product:
    """Match `C += widen(buffer[..]) * other`."""
    text = (
        f'block "{block.name}" does not add a product of integers with a widened element of {buffer.name} as a factor'
    )
    terms = form.terms
    term = defining_op(terms[0][1]) if len(terms) == 1 and terms[0][0] == "sum" else None
    check(term is not None and isa(term, MulIOp), block, text)
    assert term is not None
    widened = [_match_extension(v, buffer) for v in term.operands]
    check(any(widened), block, text, 'in the program, cast each factor to the type of the sum: T.Cast("int32", x)')
    loads = [op for op in ops(block.op) if isa(op, LoadOp) and accessed_memref(op) == buffer.value]
    check(len(loads) == 1, block, f'block "{block.name}" reads {buffer.name} at several positions; one can be shifted')
    side = 0 if widened[0] else 1
    widening = widened[side]
    assert widening is not None
    half = 1 << (ir.IntegerType(CastBaseOp(widening).source.type).width - 1)
    return _Product(widening, term.operands[1 - side], -half if isa(widening, ExtSIOp) else half)


def _match_extension(value: ir.Value, buffer: Buffer) -> ir.Operation | None:
    """The sign or zero extension of an element of a buffer."""
    op = defining_op(value)
    load = defining_op(CastBaseOp(op).source) if op is not None and op.name in WIDENINGS else None
    is_widened = load is not None and isa(load, AffineLoadOp) and accessed_memref(load) == buffer.value
    return op if is_widened else None


def _check_nest(block: Block) -> None:
    """Refuse unless each loop of the nest drives one iter over its whole domain, alone."""
    nest = PrivateNest.from_block(block)
    driven = {it.binding.is_value() for it in block.iters}
    alone = driven == {lp.var for lp in nest.own} and len(driven) == len(block.iters)
    only_loops = [lp.op for lp in nest.own[::-1]] == [p for p in parents(block.op) if is_inside(p, nest.top)]
    plain = alone and only_loops and not nest.shared and all(_is_whole(it, nest) for it in block.iters)
    text = f'the loops of block "{block.name}" are not one for each iter, over its whole domain, with nothing else'
    check(plain, block, text, _SHIFT_FIRST_FIX)


def _is_whole(it: Iter, nest: PrivateNest) -> bool:
    loop = next((lp for lp in nest.own if lp.var == it.binding.is_value()), None)
    if loop is None or len(loop.lowers) != 1 or len(loop.uppers) != 1:
        return False
    return loop.lower.is_equal_to(it.min) and loop.extent.is_equal_to(it.extent)


def _change_sign(copied: Block, cache: Buffer, matched: _Product) -> None:
    """Store elements with the highest bit flipped, which is x - offset, with the other sign, and widen them so."""
    is_signed = isa(matched.widening, ExtSIOp)
    dtype = f"u{cache.dtype}" if is_signed else cache.dtype.removeprefix("u")
    signs.declare(cache.value.owner, dtype)
    store = next(op for op in ops(copied.op) if isa(op, AffineStoreOp))
    value = StoreOp(store).value
    with ir.InsertionPoint(store), store.location:
        highest = arith.constant(value.type, -abs(matched.offset))
        edit.set_operand(store, 0, convert(arith.xori(value, highest), dtype))
    widening = matched.widening
    with ir.InsertionPoint(widening), widening.location:
        name = "arith.extui" if is_signed else "arith.extsi"
        wide = ir.Operation.create(name, [widening.results[0].type], [CastBaseOp(widening).source])
    edit.replace_uses(widening.results[0], wide.results[0])
    edit.erase(widening)


def _sum_other(block: Block, form: BlockReduction, matched: _Product) -> Block:
    """Sum the other factor over the reduction, and start the sum of products from `offset` times that."""
    values = _used_values(matched.other, block)
    sum_iters = [it for it in block.iters if it.kind == "S" and it.var in values]
    shape = [it.min + it.extent for it in sum_iters] or [Index.constant(1)]
    result, location, wide = form.results[0], block.op.location, any(it.is_wide for it in sum_iters)
    sums = alloc_buffer(scope_of(block), f"{result.name}_shift", shape, result.dtype, "global", wide)
    for key in (attrs.READS, attrs.WRITES):
        attrs.put(block.op, key, None)
    with location:
        sum_block = _sum_nest(block, form, matched, sum_iters, sums)
        _start_from(block, sums, sum_iters, matched.offset)
    return sum_block


def _used_values(value: ir.Value, block: Block) -> set[ir.Value]:
    """The values outside the computation of a value in a block that it uses."""
    op = defining_op(value)
    if op is None or not is_inside(op, block.op):
        return {value}
    return {v for operand in edit.captured_values(op) for v in _used_values(operand, block)}


def _sum_nest(block: Block, form: BlockReduction, matched: _Product, sum_iters: Sequence[Iter], sums: Buffer) -> Block:
    """`sums[kept] += other`, in loops of its own directly before the nest of the block."""
    iters = [*sum_iters, *(it for it in block.iters if it.kind == "R")]
    nest = PrivateNest.from_block(block)
    loops = [next(lp for lp in nest.own if lp.var == it.binding.is_value()) for it in iters]
    ip, variables = create.copy_loops(loops, ir.InsertionPoint(nest.top), serial=True)
    with ip:
        specs = [IterSpec.like(it, it.binding.substitute(variables)) for it in iters]
        sum_block = create.block(f"{block.name}_shift", specs)
    indices = [Index.from_value(it.var) for it in sum_block.iters[: len(sum_iters)]] or [Index.constant(0)]
    end = create.at_end(sum_block.body)
    with end:
        with create.at_end(create.init(sum_block).regions[0].blocks[0]):
            form.write_starts([sums.value], indices)
        new = cloned_values([matched.other], block, end)
        create.store(form.combine(loaded_values([sums.value], indices), new)[0], sums.value, indices)
    edit.substitute(
        {old.var: Index.from_value(new.var) for old, new in zip(iters, sum_block.iters, strict=True)}, sum_block.op
    )
    return sum_block


def _start_from(block: Block, sums: Buffer, sum_iters: Sequence[Iter], offset: int) -> None:
    """Let the init of a block store `sums[kept] * offset`."""
    assert block.init is not None
    indices = [Index.from_value(it.var) for it in sum_iters] or [Index.constant(0)]
    store = next(op for op in ops(block.init) if isa(op, AffineStoreOp))
    with ir.InsertionPoint(store):
        start = create.load(sums.value, indices)
        edit.set_operand(store, 0, arith.muli(start, arith.constant(start.type, offset)))
