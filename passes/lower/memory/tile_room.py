"""Check that the buffers in tile registers (scope `amx.tile`) fit them."""

from __future__ import annotations

from math import prod

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Func, dtypes, is_inside, walk
from tir_mlir.passes.lower.registry import location_text

SCOPE = "amx.tile"
TILE = 1024
"""Bytes of a tile register."""
TILES = 8


def check_tiles(func: Func) -> None:
    """Raise LoweringError if more than eight tiles are in use at once: LLVM would keep the others in memory.

    Requires buffers to be allocated in the innermost loop in whose iterations they are used.
    """
    allocs = [op for op in walk.ops(func.op) if op.name == "memref.alloc" and Buffer(op.results[0]).scope == SCOPE]
    for op in allocs:
        live = [alloc for alloc in allocs if _is_live(alloc, op)]
        if sum(map(_tiles, live)) > TILES:
            names = ", ".join(f"{Buffer(o.results[0]).name} {_shape(o)}: {_tiles(o)}" for o in live)
            raise LoweringError(
                f"{location_text(op)}: buffers of scope {SCOPE} hold {sum(map(_tiles, live))} tiles of {TILE} bytes at"
                f" once ({names}), and the CPU has {TILES}; fix: use smaller tiles of the loops around them, or"
                " compute_at a copy at an inner loop"
            )


def _tiles(op: ir.Operation) -> int:
    buffer = Buffer(op.results[0])
    if None in buffer.shape:
        raise LoweringError(
            f'{location_text(op)}: buffer "{buffer.name}" of scope {SCOPE} has no constant size in one iteration of'
            " the loops around it; fix: compute_at or split its loops by constants"
        )
    size = prod(n for n in buffer.shape if n is not None) * dtypes.bits(buffer.dtype) // 8
    return -(-size // TILE)


def _shape(op: ir.Operation) -> tuple[int | None, ...]:
    return tuple(Buffer(op.results[0]).shape)


def _is_live(alloc: ir.Operation, op: ir.Operation) -> bool:
    """Whether a buffer is between its first and its last use where another one is first used."""
    home = alloc.block
    first_use = _starts(op)
    if not any(is_inside(first_use, o.operation) for o in home.operations):
        return False
    positions = [walk.position(_child(home, use.owner.operation)) for use in alloc.results[0].uses]
    return bool(positions) and min(positions) <= walk.position(_child(home, first_use)) <= max(positions)


def _starts(op: ir.Operation) -> ir.Operation:
    """The first user of a buffer, in the body where it is allocated."""
    users = [_child(op.block, use.owner.operation) for use in op.results[0].uses]
    return min(users, key=walk.position, default=op)


def _child(body: ir.Block, op: ir.Operation) -> ir.Operation:
    """The op of a body that contains an op."""
    return next(p for p in (op, *walk.parents(op)) if p.block == body)
