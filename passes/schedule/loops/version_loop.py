"""version_loop: copies of a nest for ranges of a size that is known when the program runs."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, Constraint, Index, Loop, all_blocks, attrs, blocks_below, create, edit, is_symbol
from tir_mlir.passes.schedule.registry import USE_ONE_BOUND, check, primitive


@primitive("version_loop", moves="in place", keeps_order=True)
def version_loop(loop: Loop, at_most: list[int]) -> list[Loop]:
    """Copy a loop with all that it runs, a version for each range of its number of iterations.

        for i in range(m):                  with T.block("b_i_versions"):
            with T.block("b"):                  with T.block("b_i0_version"):
                body                ->              T.where(m <= f)
                                                    for i0 in range(m):
                                                        with T.block("b_i0"): body
                                                with T.block("b_i1_version"):
                                                    T.where(m > f)
                                                    for i in range(m):
                                                        with T.block("b"): body

    `at_most` are the largest numbers of iterations of all versions but the last, which has no largest one. Exactly one
    version runs, and does what the loop did; each is then scheduled for its range, in its own scope. The blocks and
    loops of the last version are those from before. Returns the loops, the last one is `loop`.

    Requires: the number of iterations is a symbolic size, the same whenever the loop starts; positive limits that
    increase; a block in the loop.
    """
    extent = _size(loop)
    _check_limits(loop, at_most)
    blocks = blocks_below(loop.op)
    check(
        bool(blocks), loop, f"loop {loop.name} contains no block; version_loop names the versions after one",
        fix="pass a loop around a block",
    )  # fmt: skip
    emit_remark(f"whatever the number of iterations of `{loop.name}`, exactly one of {len(at_most) + 1} versions runs")
    prefix = f"{blocks[0].name}_{loop.name}"
    with ir.InsertionPoint(loop.op), loop.op.location:
        common = create.block(f"{prefix}_versions", [])
    versions = []
    for number, (low, high) in enumerate(zip((None, *at_most), (*at_most, None), strict=True)):
        above = [] if low is None else [Constraint(extent - (low + 1))]
        below = [] if high is None else [Constraint(-extent + high)]
        holder = _holder(common, f"{prefix}{number}_version", [*above, *below], loop.op.location)
        versions.append(loop if high is None else _copy(loop, holder, number))
    edit.move_before(loop.op, list(holder.body.operations)[-1])
    return versions


def _size(loop: Loop) -> Index:
    """The number of iterations, an expression of sizes."""
    single = len(loop.lowers) == 1 and len(loop.uppers) == 1
    check(single, loop, f"loop {loop.name} ends at the minimum of several bounds", fix=USE_ONE_BOUND)
    times = loop.const_extent
    check(times is None, loop, f"loop {loop.name} always runs {times} times, so one version is enough")
    varying = not all(map(is_symbol, loop.extent.values))
    check(
        not varying, loop, f"the number of iterations of loop {loop.name} varies while the program runs",
        fix="pass a loop around it whose number of iterations is a size",
    )  # fmt: skip
    return loop.extent


def _check_limits(loop: Loop, at_most: Sequence[int]) -> None:
    check(len(at_most) > 0, loop, "version_loop needs at least one number of iterations, such as [16]")
    increase = all(a < b for a, b in zip((0, *at_most), at_most, strict=False))
    check(increase, loop, f"the limits {list(at_most)} must be positive and increase")


def _holder(common: Block, name: str, conditions: Sequence[Constraint], location: ir.Location) -> Block:
    """A block under a condition, at the end of another block."""
    with create.at_end(common.body), location:
        guard = create.where(conditions)
    with create.at_start(guard.regions[0].blocks[0]), location:
        return create.block(name, [])


def _copy(loop: Loop, holder: Block, number: int) -> Loop:
    """A copy of the loop in the holder, with names of its own."""
    copy = edit.clone(loop.op, create.at_end(holder.body))
    edit.renumber(copy)
    version = Loop(copy)
    edit.set_attribute(copy, attrs.LOOP, ir.StringAttr.get(f"{loop.name}{number}"))
    for block in all_blocks(copy):
        edit.set_attribute(block.op, attrs.BLOCK, ir.StringAttr.get(f"{block.name}_{loop.name}{number}"))
    return version
