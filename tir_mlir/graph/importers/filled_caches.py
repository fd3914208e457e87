"""Attention to a cache of which few rows are filled stops behind the last key that a mask lets any query see."""

from __future__ import annotations

from functools import partial
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir import te
from tir_mlir.dialect.graph import free_name, node_of
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.importers.emitter import OperatorEmitter

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value

BLOCK = 64
"""The most keys that are read or left out together: whole vectors, and a microsecond of a head."""
MIN_KEYS = 256
"""The number of keys from which on it pays to count those that are seen."""


def blocks_seen(e: OperatorEmitter, queries: Any, keys: Any, mask: Any) -> Any | None:
    """What makes `nn.attention` read only the keys that a query may see; None where all are few, or no mask tells.

    mask: bool [.., queries or 1, keys], true where a key is seen. The result has the shape (n, m): the first n * m keys
    have all that are seen. A key that is not seen has no weight, but those of a query that sees none, which has the
    mean of all values: then n * m = keys. One mask is counted once, for all layers.
    """
    if mask is None or mask.dtype != "bool" or not all(isinstance(size, int) for size in (*mask.shape, queries, keys)):
        return None
    if keys <= queries or keys < MIN_KEYS or not mask.shape or mask.shape[-1] != keys:
        return None
    size = gcd(keys, BLOCK)
    with enter_context():
        source = _source(mask.value)
    return e.get_or_create(("blocks", source, size), partial(_visible_blocks, e, mask, size))


def _source(value: Any) -> Any:
    """What a value was before it was reshaped: a mask gets its axes once for each layer."""
    node = node_of(value)
    return value if node is None or node.operator != "reshape" else _source(node.inputs[0])


def _visible_blocks(e: OperatorEmitter, mask: Any, size: int) -> Value:
    """The first blocks of so many keys, of which a query sees any."""
    whole = mask.shape[-1] // size
    count = e.builder.call_te(partial(_last_block, size=size), mask, name_hint="blocks_seen")
    name = free_name("blocks", e.builder.sizes.variables)
    blocks = e.constant(np.zeros((whole, size)), "int8")
    return e.op("first_rows", blocks, count, rows={"size": name}, least=1)


def _last_block(mask: te.Tensor, size: int) -> te.Tensor:
    """The number of blocks up to the last key that any query sees; all of them where one sees none."""
    *rows, keys = mask.shape
    j, axes = te.reduce_axis((0, keys)), [te.reduce_axis((0, n)) for n in rows]
    last = te.compute(
        rows or (1,),
        lambda *i: te.max(te.if_then_else(mask(*i[: len(rows)], j), (j + 1).astype("int32"), 0), axis=j),
        name="last_seen",
    )
    seen = te.compute(last.shape, lambda *i: te.if_then_else(last(*i) > 0, last(*i), keys), name="seen")
    most = seen if not rows else te.compute((1,), lambda _: te.max(seen(*axes), axis=axes), name="most_seen")
    return te.compute((), lambda: ((most(0) + (size - 1)) // size).astype("int64"), name="blocks_seen")
