"""Which lane of a warp owns an iteration: the bits of loop variables that the layouts of fragments put into lanes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

from mlir import ir

from tir_mlir.dialect.analysis.fragment_layouts import FragmentLayout
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Index, Loop, access_indices, is_loop, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AccessOp, AffineElementAccessOp, isa
from tir_mlir.dialect.presburger import linear_terms, split_linear
from tir_mlir.passes.lower.gpu.matrices.registers import FragmentRegisters
from tir_mlir.passes.lower.registry import location_text

LANE_BITS = 5
Bit = tuple[ir.Value, int]
"""A bit of the number of an iteration of a loop, by the variable of the loop."""


@dataclass(frozen=True)
class FragmentAccess:
    """A load or store of one element of a fragment, in a nest.

    layout: of one tile. shape: of the buffer. dims: which of its dimensions are the rows and columns, -1 for none.
    """

    op: ir.Operation
    layout: FragmentLayout
    shape: tuple[int, ...]
    dims: tuple[int, int]
    loops: tuple[Loop, ...]

    @property
    def name(self) -> str:
        return Buffer(accessed_memref(self.op)).name

    @property
    def prefix(self) -> str:
        """`file.py:3: loads X, in scope mma.accumulator`, for messages."""
        what = "loads" if len(self.op.results) else "stores to"
        scope = Buffer(accessed_memref(self.op)).scope
        return f"{location_text(self.op)}: {what} {self.name}, in scope {scope}"

    def refusal(self, index: Index, why: str, fix: str) -> LoweringError:
        """An error about an index."""
        return LoweringError(f"{self.prefix}, at {_text(index)}, {why}; fix: {fix}")

    @cached_property
    def indices(self) -> list[Index]:
        return access_indices(self.op)

    @cached_property
    def sides(self) -> list[Side]:
        """The row and the column that it accesses, without those that the buffer does not have."""
        bits = (self.layout.row, self.layout.column)
        return [Side.read(self, d, parts) for d, parts in zip(self.dims, bits, strict=True) if d >= 0]

    def element(self, bits: Mapping[Bit, int]) -> tuple[int, ...]:
        """The row and column in the first tile, in an iteration that has some bits set."""
        return tuple(side.position(bits) for side in self.sides)

    def element_text(self, bits: Mapping[Bit, int]) -> str:
        position = iter(self.element(bits))
        shown = [str(next(position)) if d in self.dims else "0" for d in range(len(self.shape))]
        return f"{self.name}[{', '.join(shown)}]"

    def owner(self, bits: Mapping[Bit, int]) -> tuple[int, int]:
        """The lane and the register of that element."""
        position = iter(self.element(bits))
        row, column = (next(position) if d >= 0 else 0 for d in self.dims)
        return self.layout.owner(row, column)


@dataclass(frozen=True)
class Side:
    """The row (or column) of an access as a sum of bits of loops.

    parts: the bits of the layout, lowest first. sources: where each of them comes from, a bit of a loop, or 0 or 1.
    above: the bits of loops beyond one tile, with the number of tiles that each is. tile: the rest, in tiles.
    """

    parts: tuple[str, ...]
    sources: tuple[Bit | int, ...]
    above: tuple[tuple[ir.Value, int, int], ...]
    tile: Index

    @classmethod
    def read(cls, access: FragmentAccess, dim: int, parts: tuple[str, ...]) -> Side:
        """Raises LoweringError for an index that is not a sum of bits."""
        size, index = 1 << len(parts), access.indices[dim]
        split = split_linear(index, [loop.var for loop in access.loops])
        if split is None:
            raise access.refusal(index, "which divides by loops", "split the loops instead of fusing them")
        rest, above = split.rest, list[tuple[ir.Value, int, int]]()
        sources: dict[int, Bit | int] = {}
        for loop, factor in zip(access.loops, split.factors, strict=True):
            if not factor:
                continue
            rest = rest + _first_iteration(access, loop) * factor
            if factor % size == 0:
                above.append((loop.var, 0, factor // size))
                continue
            for bit, position in _positions(access, index, loop, factor, size):
                if position >= len(parts):
                    above.append((loop.var, bit, 1))
                    break
                if position in sources:
                    raise access.refusal(index, "which two loops reach", "one loop over adjacent elements")
                sources[position] = (loop.var, bit)
        factors, constant = linear_terms(rest.expr)
        start = constant % size
        aligned = not any(factor % size for factor in factors.values())
        if not aligned or any(start >> position & 1 for position in sources):
            why = (
                f"which does not start at a multiple of {size}"
                if aligned
                else f"of which the start is not a multiple of {size}"
            )
            raise access.refusal(index, why, "let loops start at whole tiles")
        known = tuple(sources.get(bit, start >> bit & 1) for bit in range(len(parts)))
        return cls(parts, known, tuple(above), ((rest - start) // size).simplify())

    def position(self, bits: Mapping[Bit, int]) -> int:
        values = [s if isinstance(s, int) else bits.get(s, 0) for s in self.sources]
        return sum(v << n for n, v in enumerate(values))


def _text(index: Index) -> str:
    """An index with the names of loops."""
    names = [walk.enclosing_loop_name(value) or f"v{n}" for n, value in enumerate(index.values)]
    return re.sub(r"d(\d+)", lambda match: names[int(match[1])], str(index.expr))


def _first_iteration(access: FragmentAccess, loop: Loop) -> int:
    start = loop.lower.as_constant() if len(loop.lowers) == 1 else None
    if start is None or loop.const_extent is None:
        raise LoweringError(
            f"{access.prefix}: loop {loop.name}, over its elements, has no constant bounds; fix: let it run over whole "
            "tiles, and put the condition into the value (T.if_then_else)"
        )
    return start


def _positions(access: FragmentAccess, index: Index, loop: Loop, factor: int, size: int) -> Iterator[tuple[int, int]]:
    """The bits of a loop, each with its position in an index. size: of a tile."""
    low = factor.bit_length() - 1
    if factor != 1 << low:
        why = f"where {factor} is not a power of two and no multiple of {size}"
        raise access.refusal(index, why, "one loop over adjacent elements")
    for bit in range(((loop.const_extent or 1) - 1).bit_length()):
        yield bit, low + bit


@dataclass
class Owners:
    """The lane that runs an iteration: of each bit of loops, the bit of the lane that it is."""

    accesses: list[FragmentAccess]
    lanes: dict[Bit, int] = field(default_factory=dict)
    shown: dict[Bit, FragmentAccess] = field(default_factory=dict)
    """For messages: an access that puts the bit into lanes."""

    @classmethod
    def find(cls, accesses: Sequence[FragmentAccess]) -> Owners:
        """The one choice with which each lane accesses its own elements only. Raises LoweringError if there is none."""
        owners = cls(list(accesses))
        for access in accesses:
            for part, source in _pairs(access):
                if part[0] == "l" and not isinstance(source, int) and source not in owners.lanes:
                    owners.lanes[source] = int(part[1:])
                    owners.shown[source] = access
        for access in accesses:
            owners._require_own(access)
        return owners

    def _require_own(self, access: FragmentAccess) -> None:
        """Each lane accesses its own elements: the bits of loops in lanes are those that the layout has in lanes."""
        around = {loop.var for loop in access.loops}
        for bit, lane in self.lanes.items():
            if bit[0] not in around:
                continue
            held = [source for part, source in _pairs(access) if part == f"l{lane}"]
            copied = f"l{lane}" in access.layout.copies
            elsewhere = any(source == bit and part != f"l{lane}" for part, source in _pairs(access))
            if elsewhere or (held != [bit] and not copied):
                raise LoweringError(self._difference(access, bit, lane))
        for part, source in _pairs(access):  # a lane that no loop gives away
            if part[0] == "l" and not (isinstance(source, tuple) and self.lanes.get(source) == int(part[1:])):
                bits: dict[Bit, int] = {} if isinstance(source, int) else {source: 1}
                raise LoweringError(self._missing(access, bits, int(part[1:])))

    def _difference(self, access: FragmentAccess, bit: Bit, lane: int) -> str:
        number, other = 1 << lane, self.shown[bit]
        owner, register = access.owner({bit: 1})
        mine = other.owner({bit: 1})[1]
        return (
            f"{access.prefix}, of another lane: lane {number} has {other.element_text({bit: 1})} in register {mine}, "
            f"and needs {access.element_text({bit: 1})}, which lane {owner} has in register {register}; fix: copy one "
            "of them through shared memory"
        )

    def _missing(self, access: FragmentAccess, bits: Mapping[Bit, int], lane: int) -> str:
        owner, register = access.owner(bits)
        return (
            f"{access.prefix}, of another lane: lane {owner ^ 1 << lane} needs {access.element_text(bits)}, which "
            f"lane {owner} has in register {register}; fix: let a loop run over the whole row and column of its tile"
        )

    def lane_bits(self, loop: Loop) -> dict[int, int]:
        """The bits of a loop that are in lanes, and the bit of the lane that each is."""
        return {bit: lane for (var, bit), lane in self.lanes.items() if var == loop.var}

    def lanes_decided(self, loops: Sequence[Loop]) -> set[int]:
        """The bits of the lane that some loops decide."""
        return {lane for loop in loops for lane in self.lane_bits(loop).values()}


def _pairs(access: FragmentAccess) -> Iterator[tuple[str, Bit | int]]:
    """The bits of the layout with their sources."""
    for side in access.sides:
        yield from zip(side.parts, side.sources, strict=True)


def lane_bits(lane: Index, low: int, count: int) -> Index:
    """Some adjacent bits of the number of a lane in its warp."""
    shifted = lane // (1 << low)
    return (shifted if low + count == LANE_BITS else shifted % (1 << count)).simplify()


def any_lane_bit(lane: Index, bits: Set[int]) -> Index:
    """A number that is 0 if some bits of the number of a lane all are."""
    total, low = Index.constant(0), 0
    while low < LANE_BITS:
        count = next(n for n in range(LANE_BITS + 1) if low + n not in bits)
        total, low = (total + lane_bits(lane, low, count) if count else total), low + count + 1
    return total.simplify()


def loops_inside(op: ir.Operation, root: ir.Operation) -> tuple[Loop, ...]:
    """The loops around an op, from a root inwards."""
    chain = walk.parents(op)
    inside = [*chain[: chain.index(root) + 1]] if root in chain else []
    return tuple(Loop(p) for p in inside[::-1] if is_loop(p))


def element_accesses(root: ir.Operation, registers: Mapping[ir.Value, FragmentRegisters]) -> list[FragmentAccess]:
    """The accesses to single elements of fragments in a nest. Raises LoweringError for those without a layout, or at
    indices that data decide."""
    found = []
    for op in walk.ops(root):
        if not isa(op, AccessOp) or (held := registers.get(Buffer(accessed_memref(op)).root.value)) is None:
            continue
        name = f"{location_text(op)}: uses an element of {Buffer(held.alloc.results[0]).name}, in scope {held.scope}"
        if held.layout is None:
            raise LoweringError(f"{name}, whose layout is not known; fix: scope {held.scope.replace('wmma', 'mma')}")
        if not isa(op, AffineElementAccessOp) or accessed_memref(op) not in registers:
            raise LoweringError(
                f"{name}, at an index that is not a sum of loops: registers have no addresses; fix: loops over all "
                "elements, with T.if_then_else"
            )
        found.append(FragmentAccess(op, held.layout, tuple(held.shape), held.dims, loops_inside(op, root)))
    return found
