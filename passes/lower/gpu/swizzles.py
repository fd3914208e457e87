"""Permute the addresses of shared buffers so that the accesses of each warp meet different banks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis.shared_banks import BANK_BYTES, BANKS
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Func, Index, apply, attrs, edit, walk
from tir_mlir.dialect.ir.op_views import (
    AccessOp,
    AffineElementAccessOp,
    AlignedPointerOp,
    AllocOp,
    DeallocOp,
    WriteOp,
    isa,
)
from tir_mlir.passes.lower.gpu.lane_accesses import LaneAccess, element_bytes, linear_index
from tir_mlir.passes.lower.gpu.nests import perfect_nests
from tir_mlir.passes.lower.gpu.vectors import divisor
from tir_mlir.passes.lower.memory.strides import SWIZZLE_BYTES, SWIZZLED
from tir_mlir.passes.lower.registry import location_text, lowering, programs, warn

ADDRESS_XORS = "tir.address_xors"
"""On the memory of a permuted buffer: [low, width, distance] of each `AddressXor`, in order."""
ROWS = "tir.rows"
"""On the same: the shape of the buffer."""


@dataclass(frozen=True)
class AddressXor:
    """Address bits [low, low + width) are xored with those `distance` above them: a bijection, as it changes each bit
    by higher ones only."""

    low: int
    width: int
    distance: int

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.low

    def permute(self, address: np.ndarray) -> np.ndarray:
        return address ^ ((address >> self.distance) & self.mask)

    def emit(self, address: ir.Value) -> ir.Value:
        index = ir.IndexType.get()
        above = arith.shrui(address, arith.constant(index, self.distance))
        return arith.xori(address, arith.andi(above, arith.constant(index, self.mask)))


@lowering("tir-lower-gpu-swizzles", "Permute the addresses of shared buffers against bank conflicts")
def run(module: ir.Module) -> None:
    """Exchange the elements of a shared buffer so that the lanes of a warp access different banks.

        %s = memref.alloc : memref<32x32xf32, "shared">        %s = memref.alloc : memref<1024xf32, "shared">
        affine.store %x, %s[%ty, %tx]                  -->     %a = affine.apply (%ty * 32 + %tx)
        affine.load %s[%tx, %ty]                               %b = arith.xori %a, (%a >> 5) & 31
                                                               memref.store %x, %s[%b]
                                                               ... the same with %tx * 32 + %ty

    The permutation is a xor of address bits with higher ones (or two), the first in order of cost without a conflict in
    any access; elements that a vector access takes remain adjacent. It is chosen by counting the passes over the banks
    as the PTX machine does. Requires barriers and vectors to be placed: proofs see the plain indices.

    A buffer that the TMA fills has the pattern of the hardware, whatever its accesses: 128, 64 or 32 bytes of a row.

    Errors: LoweringError if no such permutation is free of conflicts, with the count of the best; for a buffer that
    calls or matrix units access.
    """
    for func in programs(module):
        for alloc in [op for op in walk.ops(func.op) if isa(op, AllocOp) and SWIZZLED in op.attributes]:
            del alloc.attributes[SWIZZLED]
            _swizzle(func, alloc)
        for alloc in [op for op in walk.ops(func.op) if isa(op, AllocOp) and SWIZZLE_BYTES in op.attributes]:
            _use_hardware_pattern(alloc)


def hardware_pattern(span: int, element_bytes: int) -> AddressXor:
    """How the TMA permutes the elements of rows of `span` bytes: units of 16 bytes by the number of the row of 128
    bytes (PTX ISA, "Swizzling modes")."""
    unit = 16 // element_bytes
    return AddressXor(unit.bit_length() - 1, (span // 16).bit_length() - 1, 3)


def _use_hardware_pattern(alloc: ir.Operation) -> None:
    """Access the elements where the TMA has put them. It keeps 16 bytes together, as many as a thread loads at once."""
    buffer = Buffer(alloc.results[0])
    users = list(dict.fromkeys(use.owner.operation for use in buffer.value.uses))
    loads = [op for op in users if isa(op, AccessOp)]
    if not loads:
        return
    pattern = hardware_pattern(attrs.get(alloc, SWIZZLE_BYTES), element_bytes(buffer))
    _apply(alloc, loads, [pattern], buffer)


def _swizzle(func: Func, alloc: ir.Operation) -> None:
    buffer = Buffer(alloc.results[0])
    users = [op for op in dict.fromkeys(use.owner.operation for use in buffer.value.uses) if not isa(op, DeallocOp)]
    nest = next(n for n in perfect_nests(func) if any(walk.is_inside(op, n.root) for op in users))
    for op in users:
        if not isa(op, AccessOp):
            raise LoweringError(
                f'{location_text(op)}: {op.name} accesses buffer "{buffer.name}" by rows, which swizzle would tear '
                "apart; fix: storage_align it instead, which moves whole rows"
            )
    accesses = [LaneAccess(op, nest, buffer) for op in users]
    if _passes(accesses, ()) == _least(accesses):
        warn(f'buffer "{buffer.name}" has no bank conflicts: swizzle has no effect on it')
        return
    fields = _choose(accesses, buffer)
    if _passes(accesses, fields) > _least(accesses):
        raise LoweringError(_refusal(accesses, fields, buffer))
    _apply(alloc, users, fields, buffer)


# --- the choice -------------------------------------------------------------------------------------------------------


def _passes(accesses: Sequence[LaneAccess], fields: Sequence[AddressXor]) -> int:
    """The passes over the banks of all accesses, with the addresses permuted."""
    total = 0
    for access in accesses:
        address = access.addresses
        for field in fields:
            address = field.permute(address)
        total += access.count(address)[0]
    return total


def _least(accesses: Sequence[LaneAccess]) -> int:
    return sum(access.count(access.addresses)[1] for access in accesses)


def _choose(accesses: Sequence[LaneAccess], buffer: Buffer) -> tuple[AddressXor, ...]:
    """The permutation with the fewest passes: one field, or a second behind one of the best."""
    unit = max(access.elements for access in accesses).bit_length() - 1
    top = (accesses[0].size - 1).bit_length()
    bank_top = (BANKS * BANK_BYTES // element_bytes(buffer)).bit_length() - 1
    candidates = [
        AddressXor(low, width, distance)
        for width in range(1, bank_top - unit + 1)
        for low in range(unit, bank_top - width + 1)
        for distance in range(1, top - low)
    ]
    least = _least(accesses)
    ranked = []
    for field in candidates:
        passes = _passes(accesses, (field,))
        if passes == least:
            return (field,)
        ranked.append((passes, len(ranked), (field,)))
    ranked.sort()
    best = ranked[0]
    for _, _, (first,) in ranked[:8]:
        for field in candidates:
            passes = _passes(accesses, (first, field))
            if passes == least:
                return (first, field)
            best = min(best, (passes, 0, (first, field)), key=lambda one: one[0])
    return best[2]


def _refusal(accesses: Sequence[LaneAccess], fields: Sequence[AddressXor], buffer: Buffer) -> str:
    worst = max(accesses, key=lambda access: _passes([access], fields) - _least([access]))
    ratio = _passes(accesses, fields) / _least(accesses)
    return (
        f'{location_text(worst.op)}: no xor of the address bits of buffer "{buffer.name}" avoids all bank conflicts; '
        f"the best takes {ratio:.2g} times the passes over the banks that are needed without conflicts; fix: "
        "vectorize fewer elements of its accesses, or use tiles whose sizes are powers of two"
    )


# --- the edit ---------------------------------------------------------------------------------------------------------


def _apply(alloc: ir.Operation, users: Sequence[ir.Operation], fields: Sequence[AddressXor], buffer: Buffer) -> None:
    """Replace the buffer by one of one dimension, and each access by one at the permuted address."""
    block = 1 << max(field.low + field.width for field in fields)
    length = -(-prod(n or 1 for n in buffer.shape) // block) * block
    old = ir.MemRefType(alloc.results[0].type)
    flat = ir.MemRefType.get([length], old.element_type, memory_space=old.memory_space)
    with ir.InsertionPoint(alloc), alloc.location:
        facts = {name: alloc.attributes[name] for name in alloc.attributes}
        memory = ir.Operation.create("memref.alloc", [flat], [], facts).results[0]
        attrs.put(memory.owner, ADDRESS_XORS, [[field.low, field.width, field.distance] for field in fields])
        attrs.put(memory.owner, ROWS, [n or 1 for n in buffer.shape])
    for op in users:
        with ir.InsertionPoint(op), op.location:
            _access_at(op, memory, _permute(linear_index(op, buffer), fields))
    for other in [use.owner.operation for use in buffer.value.uses]:
        if isa(other, AlignedPointerOp):
            with ir.InsertionPoint(other), other.location:
                start = ir.Operation.create(other.name, [ir.IndexType.get()], [memory]).results[0]
                edit.replace_uses(other.results[0], start)
        edit.drop(other)
    edit.drop(alloc)


def _permute(index: Index, fields: Sequence[AddressXor]) -> ir.Value:
    """The permuted address of an index: what is a multiple of all bits that the fields read is added behind them, such
    as the plane of a pipeline, so that addresses that differ by it share one xor."""
    block = 1 << max(field.low + field.width + field.distance for field in fields)
    whole, rest = Index.constant(0), Index.constant(0)
    for term in _terms(index):
        number = term.as_constant()
        if number is not None:
            whole, rest = whole + number // block * block, rest + number % block
        elif divisor(term.expr) % block == 0:
            whole = whole + term
        else:
            rest = rest + term
    address = apply(rest.simplify())
    for field in fields:
        address = field.emit(address)
    whole = whole.simplify()
    return address if whole.as_constant() == 0 else arith.addi(address, apply(whole))


def _terms(index: Index) -> list[Index]:
    """The summands of an index, products of a sum and a number multiplied out."""
    expr = index.expr.maybe_downcast()
    if isinstance(expr, ir.AffineAddExpr):
        return [term for part in (expr.lhs, expr.rhs) for term in _terms(Index(part, index.values))]
    if isinstance(expr, ir.AffineMulExpr):
        factor = expr.rhs.maybe_downcast()
        if isinstance(factor, ir.AffineConstantExpr):
            return [term * factor.value for term in _terms(Index(expr.lhs, index.values))]
    return [index]


def _access_at(op: ir.Operation, memory: ir.Value, address: ir.Value) -> None:
    """The same access at another address, in the place of `op`."""
    is_vector = not isa(op, AffineElementAccessOp) and op.name.startswith("vector.")
    facts = {"alignment": op.attributes["alignment"]} if "alignment" in op.attributes else {}
    if isa(op, WriteOp):
        name = "vector.store" if is_vector else "memref.store"
        ir.Operation.create(name, [], [op.operands[0], memory, address], facts)
    else:
        name = "vector.load" if is_vector else "memref.load"
        loaded = ir.Operation.create(name, [op.results[0].type], [memory, address], facts)
        edit.replace_uses(op.results[0], loaded.results[0])
    edit.drop(op)
