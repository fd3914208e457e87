"""The part of a nest that each lane runs: loops over registers, and digits of the lane's number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Index,
    Loop,
    access_indices,
    attrs,
    create,
    edit,
    is_loop,
    owner_op,
    step,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineStoreOp, StoreOp, isa
from tir_mlir.passes.lower.gpu.matrices.owners import (
    LANE_BITS,
    Bit,
    FragmentAccess,
    Owners,
    Side,
    any_lane_bit,
    lane_bits,
)
from tir_mlir.passes.lower.gpu.matrices.registers import FragmentRegisters
from tir_mlir.passes.lower.gpu.thread_tags import is_local
from tir_mlir.passes.lower.registry import location_text


@dataclass(frozen=True)
class _Digit:
    """Adjacent bits of the number of an iteration: those of the lane, or the variable of a loop over registers."""

    low: int
    value: Index
    in_lane: bool = False


class Distribution:
    """A nest, of which each lane runs a part. See `lower_element_nests`."""

    def __init__(
        self, root: ir.Operation, owners: Owners, registers: Mapping[ir.Value, FragmentRegisters], lane: Index
    ):
        self.root, self.owners, self.registers, self.lane = root, owners, registers, lane
        self.digits: dict[ir.Value, list[_Digit]] = {}
        self.created: list[Loop] = []

    def run(self) -> None:
        self._write_copies_once()
        loops = [Loop(op) for op in walk.ops(self.root) if is_loop(op)]
        for loop in loops:
            cuts = self._cuts(loop)
            if len(cuts) > 2 or self.owners.lane_bits(loop):
                self._split(loop, cuts)
        for access in self.owners.accesses:
            self._access_registers(access)
        if self.digits:
            edit.substitute({var: _iteration(var, digits) for var, digits in self.digits.items()})
        for loop in loops:
            if loop.var in self.digits:
                edit.drop(loop.op)
        for loop in self.created:
            if _moves_neighbors(loop):
                attrs.put(loop.op, attrs.KIND, "vectorized")

    def _write_copies_once(self) -> None:
        """Let the first of the lanes that run one iteration write to memory."""
        for store in [op for op in walk.ops(self.root) if isa(op, StoreOp)]:
            loops = [Loop(p) for p in walk.parents(store) if is_loop(p)]
            missing = set(range(LANE_BITS)) - self.owners.lanes_decided(loops)
            if accessed_memref(store) in self.registers or not missing:
                continue
            with ir.InsertionPoint(store), store.location:
                guard = create.guard([Constraint(any_lane_bit(self.lane, missing), is_eq=True)])
            edit.move_before(store, list(guard.regions[0].blocks[0].operations)[-1])

    # --- loops ---

    def _cuts(self, loop: Loop) -> list[int]:
        """The bits of a loop at which its digits begin, and the number of bits."""
        lanes, extent = self.owners.lane_bits(loop), loop.const_extent
        if extent is None:
            return [0]
        cuts = {0, max((extent - 1).bit_length(), 1)}
        for side in [side for access in self.owners.accesses for side in access.sides]:
            for n, source in enumerate(side.sources):
                if isinstance(source, tuple) and source[0] == loop.var and not _continues(side, n):
                    cuts.add(source[1])
            cuts |= {bit for var, bit, _ in side.above if var == loop.var}
        top = max(cuts - {max(cuts)}, default=0)
        if lanes and (extent % (1 << top) or (top in lanes and extent != 1 << max(cuts))):
            raise LoweringError(
                f"{location_text(loop.op)}: loop {loop.name} runs over {extent} rows or columns of fragments, not over "
                "whole tiles; fix: let it run over whole tiles, with the condition inside (T.where, T.if_then_else)"
            )
        return sorted(cuts)

    def _split(self, loop: Loop, cuts: Sequence[int]) -> None:
        """Make a loop one over each of its digits that is in registers, the highest first."""
        lanes, extent = self.owners.lane_bits(loop), loop.const_extent or 0
        digits, ip = list[_Digit](), ir.InsertionPoint(loop.op)
        for low, high in list(pairwise(cuts))[::-1]:
            if low in lanes:
                digits.append(_Digit(low, lane_bits(self.lane, lanes[low], high - low), in_lane=True))
                continue
            size = (extent + (1 << low) - 1) >> low if high == cuts[-1] else 1 << high - low
            with ip, loop.op.location:
                new = create.loop(f"{loop.name}_{len(digits)}", 0, size)
            self.created.append(new)
            digits.append(_Digit(low, Index.from_value(new.var)))
            ip = create.at_end(new.body)
        anchor = loop.op if ip.block == loop.op.block else list(ip.block.operations)[-1].operation
        for op in [op for op in loop.body_ops() if not op.name.endswith("yield")]:
            edit.move_before(op, anchor)
        self.digits[loop.var] = digits

    # --- registers ---

    def _access_registers(self, access: FragmentAccess) -> None:
        held, sides = self.registers[accessed_memref(access.op)], iter(access.sides)
        register, number = Index.constant(0), Index.constant(0)
        for d, size in enumerate(access.shape):
            if d not in access.dims:
                number = number * size + self._outer_index(access, d)
                continue
            side = next(sides)
            register = register + self._register(side)
            number = number * (size >> len(side.parts)) + self._tile(side, access)
        with ir.InsertionPoint(access.op), access.op.location:
            indices = [number.simplify(), register.simplify()]
            if len(access.op.results):
                edit.replace_uses(access.op.results[0], create.load(held.registers, indices))
            else:
                create.store(StoreOp(access.op).value, held.registers, indices)
        edit.drop(access.op)

    def _register(self, side: Side) -> Index:
        """What a row (or column) adds to the number of a register in its tile."""
        total = Index.constant(0)
        for n, (part, source) in enumerate(zip(side.parts, side.sources, strict=True)):
            if part[0] == "r" and isinstance(source, int):
                total = total + source * (1 << int(part[1:]))
            elif part[0] == "r" and isinstance(source, tuple) and not _continues(side, n):
                total = total + self._digit(source).value * (1 << int(part[1:]))
        return total

    def _digit(self, bit: Bit) -> _Digit:
        return next(digit for digit in self._digits(bit[0]) if digit.low == bit[1])

    def _digits(self, var: ir.Value) -> list[_Digit]:
        return self.digits.get(var) or [_Digit(0, Index.from_value(var) - Loop(owner_op(var)).lower)]

    def _tile(self, side: Side, access: FragmentAccess) -> Index:
        tile = side.tile
        for var, bit, factor in side.above:
            for digit in self._digits(var):
                if digit.low >= bit:
                    if digit.in_lane:
                        raise LoweringError(_other_tile(access, var))
                    tile = tile + digit.value * (factor << digit.low - bit)
        return tile

    def _outer_index(self, access: FragmentAccess, d: int) -> Index:
        index = access.indices[d]
        for var in index.values:
            if is_loop(owner_op(var)) and self.owners.lane_bits(Loop(owner_op(var))):
                raise LoweringError(_other_tile(access, var))
        return index


def _iteration(var: ir.Value, digits: Sequence[_Digit]) -> Index:
    return sum((digit.value * (1 << digit.low) for digit in digits), Loop(owner_op(var)).lower)


def _continues(side: Side, n: int) -> bool:
    """Whether a bit is of one digit with the one below it: adjacent in the loop, and in the lane or register."""
    if n == 0:
        return False
    (a, x), (b, y) = (side.parts[n - 1], side.sources[n - 1]), (side.parts[n], side.sources[n])
    if not (isinstance(x, tuple) and isinstance(y, tuple)):
        return False
    return x[0] == y[0] and x[1] + 1 == y[1] and a[0] == b[0] and int(a[1:]) + 1 == int(b[1:])


def _moves_neighbors(loop: Loop) -> bool:
    """Whether a loop accesses adjacent elements of memory, and each iteration stores elements of its own."""
    ops = loop.body_ops()
    memory = [op for op in ops if isa(op, AffineElementAccessOp) and not is_local(Buffer(accessed_memref(op)))]
    adjacent = [op for op in memory if step(access_indices(op)[-1], loop.var) == 1]
    own = all(any(i.uses(loop.var) for i in access_indices(op)) for op in ops if isa(op, AffineStoreOp))
    return bool(adjacent) and own and not any(len(op.regions) for op in ops)


def _other_tile(access: FragmentAccess, var: ir.Value) -> str:
    return (
        f"{access.prefix}: loop {Loop(owner_op(var)).name} selects a matrix of it, and its iterations are in "
        "different lanes; fix: copy it through shared memory"
    )
