"""Which iterators and operands of a block are those of an instruction, whatever their names and their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tir_mlir.accel.mapping.roles import Role
from tir_mlir.dialect.computation import Form, Leaf, alignments, leaves
from tir_mlir.dialect.computation.scalar_tree import Guard, Tree, correspondences

_LATER = ("init:", "iterators:")
"""Differences that decompose_reduction and tiles remove."""


@dataclass(frozen=True)
class Pairing:
    """A way in which a block consists of tiles that an instruction computes."""

    role: Role
    operands: tuple[int, ...]
    """The block's operand for each of the instruction's."""
    axes: tuple[int, ...]
    """The block's axis for each iterator of the instruction."""


def pairings(block: Form, role: Role) -> list[Pairing]:
    """The ways in which an instruction computes tiles of a block; the best axes first: those that are the last index of
    an operand where the instruction's are, then those that fill more of a tile, and inner ones."""
    found = []
    for operands in _operands(block, role):
        choices = [iterator_axes(block, role, operands, n) for n in range(len(role.extents))]
        for axes in product(*choices):
            if len({*axes}) == len(axes):
                found.append(Pairing(role, operands, axes))
    return sorted(found, key=lambda p: fit(block, p), reverse=True)


def difference(block: Form, role: Role) -> str:
    """Why no tile of a block is what an instruction computes."""
    ways = list(_operands(block, role))
    if not ways:
        texts = alignments(block, role.form)[0].differences
        return "; ".join([t for t in texts if not t.startswith(_LATER)] or texts)
    for number, axis in enumerate(role.form.axes):
        if not any(iterator_axes(block, role, way, number) for way in ways):
            used = [role.tiles[n].name for n, dims in enumerate(role.dims) if number in dims]
            kind = "a spatial" if axis.kind == "S" else "a reduce"
            return f"the block has not {kind} iterator that indexes what {', '.join(used)} are, and nothing else"
    return "the block has too few iterators"


def _operands(block: Form, role: Role) -> Iterator[tuple[int, ...]]:
    """The block's operands where the payloads are equal."""
    start: dict[Tree, Tree] = {Leaf(role.form.output): Leaf(block.output)}
    seen = set()
    for pairs in correspondences(role.form.payload, block.payload, start):
        if any(isinstance(t, Guard) for t in pairs):
            continue
        there = {a.operand: b.operand for a, b in pairs.items() if isinstance(a, Leaf) and isinstance(b, Leaf)}
        operands = tuple(there.get(n, -1) for n in range(len(role.tiles)))
        complete = -1 not in operands and {*operands} >= {*leaves(block.payload)}
        dtypes = complete and all(
            block.operands[n].buffer.dtype == t.dtype for n, t in zip(operands, role.tiles, strict=True)
        )
        if dtypes and operands not in seen:
            seen.add(operands)
            yield operands


def iterator_axes(block: Form, role: Role, operands: tuple[int, ...], number: int) -> list[int]:
    """The axes of a block that may be an iterator of the instruction: of its kind, and indices of the same operands."""
    uses = [number in dims for dims in role.dims]
    return [
        axis
        for axis, found in enumerate(block.axes)
        if found.kind == role.form.axes[number].kind
        and all(_dimension(block, n, axis) is not None if used else not _appears(block, n, axis)
                for n, used in zip(operands, uses, strict=True))
    ]  # fmt: skip


def _appears(block: Form, operand: int, axis: int) -> bool:
    return any(row[axis] for row in block.operands[operand].rows)


def _dimension(block: Form, operand: int, axis: int) -> int | None:
    """The dimension of an operand that an axis indexes; None if it is in none or in several."""
    found = [d for d, row in enumerate(block.operands[operand].rows) if row[axis]]
    return found[0] if len(found) == 1 else None


def fit(block: Form, pairing: Pairing) -> tuple[int, float, tuple[int, ...]]:
    """How well a pairing fits: the operands whose last indices agree, the share of the tiles that is used, the axes."""
    role = pairing.role
    aligned = 0
    for number, dims in zip(pairing.operands, role.dims, strict=True):
        last = dims[-1] if dims else None
        if last is not None:
            aligned += block.operands[number].rows[-1][pairing.axes[last]] == 1
    share = 1.0
    for axis, tile in zip(pairing.axes, role.extents, strict=True):
        extent = block.axes[axis].extent.as_constant() or tile
        share *= extent / (-(-extent // tile) * tile)
    return aligned, share, pairing.axes
