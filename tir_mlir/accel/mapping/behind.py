"""What computes with the result of a sum where no instruction stores it at once: a chain that begins with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tir_mlir.accel.mapping.axes import NestAxis
from tir_mlir.accel.mapping.chain import Chain, is_load
from tir_mlir.accel.mapping.cover import Cover, Step, TilePlace
from tir_mlir.accel.mapping.roles import Role
from tir_mlir.dialect.computation import Form, Leaf
from tir_mlir.dialect.computation.form import Operand


def copy_form(form: Form) -> Form:
    """The form of a copy of the result of a block, with an axis for each of its dimensions."""
    written = form.operands[form.output]
    used = [next(n for n, factor in enumerate(row) if factor) for row in written.rows]
    rows = tuple(tuple(int(n == m) for m in range(len(used))) for n in range(len(used)))
    operand = Operand(written.buffer, rows, written.base)
    return Form(tuple(form.axes[n] for n in used), (operand, operand), 1, Leaf(0), keep=form)


def chains_behind(
    roles: Sequence[Role], block: str, form: Form, held: int, place: TilePlace, tiles: Sequence[int], is_copy: bool
) -> Iterator[Chain]:
    """The chains from the result of a sum to the memory of the CPU, the cheapest first.

    form: of what computes with the result, which is its operand `held` and is in `place`. tiles: how much of each of
    its axes an instruction of the sum computes. is_copy: whether that only copies.
    """
    extents = [e for axis in form.axes if (e := axis.extent.as_constant()) is not None]
    if len(extents) < len(form.axes):  # a call decides one
        return
    ragged = [n for n, (extent, tile) in enumerate(zip(extents, tiles, strict=True)) if extent % tile]
    for store in Cover(roles, form, {held: place}).stores():
        steps = [*store.walk()]
        fits = all(tiles[a] % size == 0 for s in steps for a, size in s.tile_by_axis.items())
        made = sum(source.step is not None for source in store.sources)
        chain = Chain(block, form, (), store, held)
        if not fits or made != 1 or not reads_held(chain, store):
            continue
        whole = not all(step.role.masks for step in steps if step.place is None or is_load(step))
        if ragged and whole:  # the CPU pads nothing between a sum and what computes with it
            if not is_copy:
                continue
            sizes = [-(-extent // tile) * tile for extent, tile in zip(extents, tiles, strict=True)]
        else:
            sizes = extents
        axes = (NestAxis(axis.name, "S", e, tile) for axis, e, tile in zip(form.axes, sizes, tiles, strict=True))
        yield replace(chain, axes=tuple(axes))


def reads_held(chain: Chain, step: Step) -> bool:
    """Whether a step computes with the result of the sum."""
    leaf = None if chain.held is None else Leaf(chain.held)
    return any(source.step is None and chain.part(source.path) == leaf for s in step.walk() for source in s.sources)
