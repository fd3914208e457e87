"""How many indices `lambda *indices: ...` takes: known from the buffer, or the block, that the map is for."""

from __future__ import annotations

import inspect
from typing import Any

from mlir import ir

from tir_mlir.dialect import walk
from tir_mlir.dialect.errors import TirError
from tir_mlir.dialect.views import Block, is_block
from tir_mlir.passes.schedule.buffers import pick_either
from tir_mlir.schedule.handles import BlockHandle

_ANY = 8  # enough for a map that names the first few


def rank(module: ir.Module, index_map: Any, block: Any, buffer: Any) -> int | None:
    """The rank of a buffer of a block, or the number of its iters; None where the map says how many it takes.

    Any number where the block or buffer is not found: the step itself says so, and the map is not used.
    """
    if not _is_open(index_map):
        return None
    found = _block(module, block)
    if found is None or buffer is None:
        return _ANY if found is None else len(found.iters)
    try:
        return pick_either(found, buffer)[0].rank
    except (TirError, TypeError, KeyError, IndexError):  # not found, or no choice of a buffer at all
        return _ANY


def _is_open(index_map: Any) -> bool:
    if not inspect.isfunction(index_map):
        return False
    return any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(index_map).parameters.values())


def _block(module: ir.Module, block: Any) -> Block | None:
    if isinstance(block, BlockHandle):
        op = walk.find(module, block.id)
        return Block(op) if op is not None and is_block(op) else None
    if not isinstance(block, str):
        return None
    named = [b for b in walk.all_blocks(module.operation) if b.name == block]
    return named[0] if len(named) == 1 else None
