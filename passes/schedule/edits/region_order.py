"""Keep the order in which blocks list their regions when a step changes the order of accesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from mlir import ir

from tir_mlir.dialect.analysis import Region, accessed_regions, buffers, declare, get_declared_regions
from tir_mlir.dialect.ir import Block, Index, View, attrs, is_block, module_of, only_reads, parents, walk

F = TypeVar("F", bound=Callable[..., Any])
_KEYS = (attrs.READS, attrs.WRITES)


def keeps_region_order(run: F) -> F:
    """Decorator: the blocks around the first argument list their regions in the same order after the step."""

    @wraps(run)
    def step(*args: Any, **kwargs: Any) -> Any:
        first: View | None = next(iter((*args, *kwargs.values())), None)
        if first is None:
            return run()  # variadic, called without arguments: the primitive refuses
        old_orders = _region_order(first)
        if not old_orders:
            return run(*args, **kwargs)
        module = module_of(first.op)
        result = run(*args, **kwargs)
        for number, orders in old_orders.items():
            if (op := walk.find(module, number)) is not None:
                _restore(Block(op), orders)
        return result

    return step  # type: ignore[return-value]


@only_reads
def _region_order(first: View) -> dict[int, list[list[str]]]:
    """The names of the buffers that each enclosing block reads and writes, by block id."""
    enclosing = [Block(p) for p in parents(first.op) if is_block(p)]
    return {b.id: [[buffer.name for buffer in group] for group in buffers(b)] for b in enclosing}


def _restore(block: Block, orders: list[list[str]]) -> None:
    for key, order in zip(_KEYS, orders, strict=True):
        if key not in block.op.attributes:
            _declare_in_order(block, key, order)


def _declare_in_order(block: Block, key: str, order: Sequence[str]) -> None:
    """Declare the computed regions of a block if their order differs from `order`; new buffers come last."""
    names = [b.name for b in buffers(block)[_KEYS.index(key)]]
    ordered = sorted(names, key=lambda name: order.index(name) if name in order else len(order))
    if ordered != names:
        regions = accessed_regions(block)[_KEYS.index(key)]
        index_values = {v for r in regions for index in (*r.mins, *r.extents) for v in index.values}
        if any(walk.enclosing_loop_name(v) is not None for v in index_values):
            return  # regions over loops around the block cannot be declared
        declare(block, key, sorted(regions, key=lambda r: ordered.index(r.buffer.name)))


@dataclass(frozen=True)
class BlockRegions:
    """What a block reads and writes: buffer names in order, and the declared regions."""

    names: list[list[str]]
    declared: dict[str, list[Region]]

    @classmethod
    def from_block(cls, block: Block) -> BlockRegions:
        names = [[b.name for b in group] for group in buffers(block)]
        return cls(names, {k: get_declared_regions(block, k, []) for k in _KEYS if k in block.op.attributes})

    def restore(self, block: Block, mapping: Mapping[ir.Value, Index] | None = None, updates: bool = False) -> None:
        """Restore the regions on the rewritten block. `mapping` maps the old iters to the new ones.

        `updates`: the block lost its init, so it reads what it writes, and lists that first.
        """
        reads, writes = self.names
        first = [name for name in writes if name not in reads] if updates else []
        for key, order in zip(_KEYS, ([*first, *reads], writes), strict=True):
            attrs.put(block.op, key, None)
            _declare_in_order(block, key, order)
            if key not in self.declared:
                continue
            regions = accessed_regions(block)[_KEYS.index(key)]
            updated = [r for r in regions if key == attrs.READS and r.buffer.name in first]
            declare(block, key, [*updated, *(r.substitute(mapping or {}) for r in self.declared[key])])

    def extend_outer(self, outer: Block) -> None:
        """Add the update block's declared reads of its own output to the reads of an enclosing block."""
        order = [r.buffer.name for r in self.declared.get(attrs.READS, [])]
        reads, writes = accessed_regions(outer) if any(name in order for name in self.names[1]) else ([], [])
        missing = [w for w in writes if w.buffer.name in order and all(w.buffer != r.buffer for r in reads)]
        if missing:
            declare(outer, attrs.READS, sorted([*reads, *missing], key=lambda r: order.index(r.buffer.name)))
