"""What the instructions of a machine are for: each reads tiles and writes one, at the greatest sizes that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.operands import Field, Tile
from tir_mlir.dialect.computation import Form, Leaf, leaves
from tir_mlir.dialect.computation.scalar_params import (
    extent_limits,
    limited_iterators,
    limits_stores,
    specializations,
)
from tir_mlir.dialect.computation.scalar_tree import CHOICE, OpNode, constant
from tir_mlir.dialect.ir import enter_context


@dataclass(frozen=True, eq=False)
class Role:
    """An instruction whose sizes are the greatest ones: `extents` of its iterators, and the tile of each operand of its
    form, in the order of the form."""

    instruction: MachineInstruction
    form: Form
    extents: tuple[int, ...]
    tiles: tuple[Tile, ...]
    dims: tuple[tuple[int | None, ...], ...]
    """Of each operand, the iterator that indexes each dimension; None: a single point, or no plain iterator."""
    masks: bool
    """Whether it takes a tile of any size up to the greatest one from the memory of the CPU, and writes zeros behind
    it; or stores such a tile there, and nothing else."""
    sizes: tuple[str | None, ...]
    """Of each iterator, the number that is its extent; None: it has a fixed one."""
    limits: Mapping[int, str]
    """The number that limits an iterator."""
    stores_part: bool
    """Whether it stores nothing beyond these limits; else it stores something else there, such as zeros."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """Numbers that are less than their greatest values."""

    @property
    def written(self) -> Tile:
        return self.tiles[self.form.output]

    @property
    def read(self) -> tuple[int, ...]:
        """The operands whose values it takes, by number; that which it writes is one where it adds to it."""
        return tuple(dict.fromkeys(leaves(self.form.payload)))

    @property
    def sources(self) -> tuple[int, ...]:
        """The operands that it reads and does not write."""
        return tuple(n for n in self.read if n != self.form.output)

    @property
    def moves(self) -> bool:
        """Whether it has one source, whose elements it stores as they are."""
        return isinstance(self.form.payload, Leaf) and self.form.payload.operand != self.form.output

    @property
    def fills(self) -> bool:
        """Whether it has no source, and writes the same everywhere."""
        return not self.read

    @property
    def cycles(self) -> int:
        """For which a whole tile occupies its unit."""
        return self.cycles_of({})

    def cycles_of(self, sizes: Mapping[int, int]) -> int:
        """For which a tile occupies its unit, whose iterators have these sizes, as far as numbers limit them."""
        numbers: dict[str, int | float] = {
            n.name: self.numbers.get(n.name, n.high or 1) for n in self.instruction.numbers
        }
        return self.instruction.duration(numbers | {self.limits[i]: n for i, n in sizes.items() if i in self.limits})

    @property
    def rows(self) -> int:
        """The rows that it writes, where that is in a memory of the machine."""
        return prod(self.written.grid)

    @property
    def changing_fields(self) -> frozenset[Field]:
        """The fields of registers whose values its operands decide."""
        return frozenset(f for f, value in self.instruction.needs.items() if not isinstance(value, int))

    def __repr__(self) -> str:
        return self.instruction.intrinsic_name


def roles_of(machine: Machine) -> list[Role]:
    """The instructions of a machine that compute, in the order in which they are described."""
    with enter_context():
        found = [_role(i) for i in machine.instructions.values() if i.intrinsic is not None]
    return [role for role in found if role is not None]


def _role(instruction: MachineInstruction) -> Role | None:
    assert instruction.intrinsic is not None
    described = instruction.intrinsic.form()
    form = _greatest(described)
    extents = [axis.extent.as_constant() for axis in form.axes]
    by_name = {t.name: t for t in instruction.tiles}
    tiles = tuple(by_name[o.buffer.name] for o in form.operands)
    sizes = [e for e in extents if e is not None]
    if len(sizes) < len(extents):
        return None
    dims = tuple(tuple(_iterator(row) for row in o.rows) for o in form.operands)
    by_value = {p.value: p.name for p in described.sizes}
    names = tuple(None if (v := axis.extent.is_value()) is None else by_value.get(v) for axis in described.axes)
    limits, stores_part = limited_iterators(described), limits_stores(described)
    return Role(instruction, form, tuple(sizes), tiles, dims, _masks(described, tiles), names, limits, stores_part)


def _masks(form: Form, tiles: Sequence[Tile]) -> bool:
    """See `Role.masks`."""
    limits = extent_limits(form)
    of_cpu = [t for t in tiles if t.memory is None]
    if not of_cpu or not all({*limits.get(t.name, ())} == {*range(len(t.shape))} for t in of_cpu):
        return False
    if tiles[form.output].memory is None:
        return True
    if any(axis.extent.as_constant() is None for axis in form.axes):  # the rest of a tile stays as it is
        return False
    chosen = form.payload
    return isinstance(chosen, OpNode) and chosen.op == CHOICE and chosen.children[2] == constant(0, chosen.type)


def _greatest(form: Form) -> Form:
    """The form at the greatest value of each size."""
    best = form
    for specialized, fixed in specializations(form):
        if fixed == {p.number: p.high for p in form.sizes if p.high is not None}:
            best = specialized
    return best


def _iterator(row: Sequence[int]) -> int | None:
    """The iterator that is an index; None if it is another expression."""
    used = [n for n, factor in enumerate(row) if factor]
    return used[0] if len(used) == 1 and row[used[0]] == 1 else None
