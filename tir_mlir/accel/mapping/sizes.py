"""Instructions whose loops have sizes, at the sizes of a block: a size of 1 is not a dimension of its tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

from tir_mlir.accel.mapping.pairing import Pairing
from tir_mlir.accel.mapping.roles import Role
from tir_mlir.dialect.computation import Form
from tir_mlir.dialect.ir import Index, enter_context

_SIZES = 4
"""Sizes of a loop that are tried at most, the greatest ones."""


def sized_pairings(block: Form, pairing: Pairing) -> Iterator[Pairing]:
    """A pairing at the sizes that divide the axes of a block; the greatest first. Itself if nothing has a size."""
    role, choices = pairing.role, list[list[int]]()
    for axis, extent, name in zip(pairing.axes, role.extents, role.sizes, strict=True):
        known = block.axes[axis].extent.as_constant()
        if name is None or known is None:
            choices.append([extent])
        else:
            choices.append([n for n in range(min(extent, known), 0, -1) if known % n == 0][:_SIZES])
    if all(name is None for name in role.sizes):
        yield pairing
        return
    for extents in product(*choices):
        sized = at_sizes(role, extents)
        kept = [
            a for a, extent, name in zip(pairing.axes, extents, role.sizes, strict=True) if not (name and extent == 1)
        ]
        yield Pairing(sized, pairing.operands, tuple(kept))


def sized_for(roles: Sequence[Role], computing: Role) -> list[Role]:
    """Instructions, those whose loops have sizes at the sizes of the tiles with which another one computes."""
    found = [role for role in roles if all(name is None for name in role.sizes)]
    for role in roles:
        if role in found:
            continue
        wanted = dict.fromkeys((t.memory, t.shape) for t in computing.tiles if t.memory is not None)
        shapes = [
            (number, shape)
            for number, tile in enumerate(role.tiles)
            for memory, shape in wanted
            if tile.memory == memory
        ]
        sized = {s for number, shape in shapes for s in _fitting_sizes(role, number, shape)}
        found += [at_sizes(role, extents) for extents in sorted(sized)]
    return found


def _fitting_sizes(role: Role, number: int, shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The sizes at which an operand has a shape."""
    dims = role.dims[number]
    free = [d for d, n in enumerate(dims) if n is not None and role.sizes[n] is not None]
    if len(shape) > len(dims) or {*dims} != {*range(len(role.extents))}:
        return
    for dropped in combinations(free, len(dims) - len(shape)):
        rest, extents = [d for d in range(len(dims)) if d not in dropped], list(role.extents)
        for d in dropped:
            extents[dims[d] or 0] = 1
        for d, size in zip(rest, shape, strict=True):
            if d in free:
                extents[dims[d] or 0] = size
        sizes = [extents[dims[d] or 0] for d in rest]
        if sizes == [*shape] and all(e <= most for e, most in zip(extents, role.extents, strict=True)):
            yield tuple(extents)


def at_sizes(role: Role, extents: Sequence[int]) -> Role:
    """An instruction at sizes of its loops, without dimensions of size 1."""
    gone = _unit_sizes(role, extents)
    numbers = {name: extent for extent, name in zip(extents, role.sizes, strict=True) if name is not None}
    keep = [n for n in range(len(extents)) if n not in gone]
    renumbered = {n: number for number, n in enumerate(keep)}
    tiles, dims = [], []
    for tile, own in zip(role.tiles, role.dims, strict=True):
        rest = [d for d, n in enumerate(own) if n not in gone]
        sizes = tuple(tile.shape[d] if (n := own[d]) is None else extents[n] for d in rest)
        tiles.append(replace(tile, shape=sizes))
        dims.append(tuple(None if (n := own[d]) is None else renumbered[n] for d in rest))
    return replace(
        role,
        form=_form(role.form, extents, keep, gone, role.dims),
        extents=tuple(extents[n] for n in keep),
        tiles=tuple(tiles),
        dims=tuple(dims),
        sizes=tuple(None for _ in keep),
        numbers={**role.numbers, **numbers},
        limits={renumbered[n]: name for n, name in role.limits.items() if role.sizes[n] is None},
    )


def _unit_sizes(role: Role, extents: Sequence[int]) -> set[int]:
    """The iterators whose sizes are 1."""
    return {n for n, (extent, name) in enumerate(zip(extents, role.sizes, strict=True)) if name and extent == 1}


def _form(
    form: Form, extents: Sequence[int], keep: Sequence[int], gone: set[int], dims: Sequence[Sequence[int | None]]
) -> Form:
    with enter_context():
        axes = tuple(replace(form.axes[n], extent=Index.constant(extents[n])) for n in keep)
    operands = []
    for operand, own in zip(form.operands, dims, strict=True):
        rest = [d for d, n in enumerate(own) if n not in gone]
        rows = tuple(tuple(operand.rows[d][n] for n in keep) for d in rest)
        operands.append(replace(operand, rows=rows, base=tuple(operand.base[d] for d in rest)))
    return replace(form, axes=axes, operands=tuple(operands))
