"""The pictures of a schedule: its loop nest, a step before and after, and the accesses of a block."""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir

from tir_mlir.dialect.ir import Block, Loop, enter_context, func_of, parents
from tir_mlir.script.printer.value_names import identifier
from tir_mlir.visual import nest_picture, sizes, tiles
from tir_mlir.visual.accessed_regions import accessed_regions
from tir_mlir.visual.nest import nests
from tir_mlir.visual.svg import Picture, combine_pictures


def plot_module(module: ir.Module, width: float = 560) -> Picture:
    """Draw the loop nests of a module. Lines wrap at about `width` px."""
    func_nodes = nests(module)
    return nest_picture.draw(
        func_nodes, f"loop nest of {', '.join(n.name for n in func_nodes) or 'an empty module'}", width
    )


def plot_step(before: ir.Module, after: ir.Module, call: str, width: float = 420) -> Picture:
    """Draw the loop nests before and after a step side by side, with removed, new and changed parts marked."""
    old, new = nests(before), nests(after)
    gone, changed = nest_picture.changes(old, new)
    pictures = [
        nest_picture.draw(old, f"before {call}", width, gone),
        nest_picture.draw(new, f"after {call}", width, changed),
    ]
    return combine_pictures(pictures, f"before and after {call}")


def plot_access(
    block: Block, buffer: str | None = None, loop: Loop | None = None, given: Mapping[str, int] | None = None
) -> Picture:
    """Draw the elements of a buffer (None: of each) that a block accesses in the first iteration of a loop around it
    (None: in the whole run).

    Errors: ValueError for a loop that is not around the block, a buffer that it does not access, or invalid sizes.
    """
    with enter_context():
        sizes.check_names(given, [func_of(block.op)])
        if loop is not None and loop.op not in parents(block.op):
            raise ValueError(f"loop {loop.name} is not around block {block.name}; use one of sch.get_loops(block)")
        regions = accessed_regions(block, loop, given)
    buffers = list(dict.fromkeys(t.buffer for t in regions))
    if buffer is not None and identifier(buffer) not in buffers:
        hint = f"it accesses {', '.join(buffers)}" if buffers else "it accesses no buffer"
        raise ValueError(f"block {block.name} does not access a buffer {buffer!r}; {hint}")
    selected = [t for t in regions if buffer is None or t.buffer == identifier(buffer)]
    when = f"one iteration of {loop.name}" if loop is not None else "a whole run"
    pictures = tiles.draw(selected)
    return combine_pictures(
        pictures, f"elements of {buffer or 'each buffer'} that {block.name} accesses in {when}", columns=4
    )
