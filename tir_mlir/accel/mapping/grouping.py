"""Terms of a sum in groups, for instructions that add some adjacent terms to each element at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tir_mlir.accel.mapping.nest import raise_block
from tir_mlir.accel.mapping.pairing import Pairing, fit, pairings
from tir_mlir.accel.mapping.roles import Role
from tir_mlir.dialect.computation import Form
from tir_mlir.dialect.ir import enter_context
from tir_mlir.dialect.symbolic import IntExpr
from tir_mlir.schedule import BlockHandle, Schedule


def group_terms(sch: Schedule, roles: Sequence[Role], block: BlockHandle) -> list[str]:
    """Split an iter of a sum into groups, where an instruction computes the block only so, or better: `A[i, k]` becomes
    `A[i, k // 4 * 4 + k % 4]`. A last group that is not whole gets zeros. Returns what was done, in words.

    Errors: as of `raise_block`.
    """
    raised = raise_block(sch, block)
    computing = [role for role in roles if not (role.moves or role.fills)]
    best = max((fit(raised.form, p) for role in computing for p in pairings(raised.form, role)), default=(-1, 0.0, ()))
    with enter_context():
        found = max(_groups(raised.form, computing), key=lambda g: g.fit, default=None)
    if found is None or found.fit[:2] <= best[:2]:
        return []
    axis, size = found.axis, found.size
    extents = [a.extent.as_constant() or 1 for a in raised.form.axes]
    padding = [found.tiles.get(n, 1) if extent == 1 else 1 for n, extent in enumerate(extents)]  # a unit has no index
    padding[axis] = size if extents[axis] > size else found.tiles.get(axis, 1) * size
    if any(extent % pad for extent, pad in zip(extents, padding, strict=True)):
        sch.pad_einsum(block, padding)

    def group_index(*index: IntExpr) -> tuple[IntExpr, ...]:
        return (*index[:axis], index[axis] // size, index[axis] % size, *index[axis + 1 :])

    sch.transform_block_layout(block, group_index)
    return [f"  {raised.iters[axis]} is in groups of {size}, whose terms {found.role} adds at once"]


@dataclass(frozen=True)
class _TermGroups:
    """An axis of a sum in groups of a size, and how well an instruction then fits."""

    axis: int
    size: int
    role: Role
    fit: tuple[int, float, tuple[int, ...]]
    tiles: dict[int, int]
    """What one instruction takes of each axis; of that in groups, how many groups."""


def _groups(form: Form, roles: Sequence[Role]) -> Iterator[_TermGroups]:
    """The groups that an iterator of an instruction is."""
    for role in roles:
        sums = [n for n, axis in enumerate(role.form.axes) if axis.kind == "R"]
        for number, axis in enumerate(form.axes):
            if axis.kind != "R" or not axis.extent.as_constant() or len(sums) < 2:
                continue
            for iterator in (n for n in sums if role.sizes[n] is None):  # others are of the size of the axis
                size = role.extents[iterator]
                split = form.split_axis(number, size)
                for pairing in pairings(split, role):
                    if pairing.axes[iterator] == number + 1:
                        yield _TermGroups(number, size, role, fit(split, pairing), _tiles(pairing, number + 1))


def _tiles(pairing: Pairing, inner: int) -> dict[int, int]:
    """What one instruction takes of each axis before the split that made the axis `inner`."""
    pairs = zip(pairing.axes, pairing.role.extents, strict=True)
    return {axis - (axis > inner): tile for axis, tile in pairs if axis != inner}
