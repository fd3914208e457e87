"""The regions of blocks in the order they had: a copy put in front of others does not come first around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from mlir import ir

from tir_mlir.dialect.analysis import Region, buffers, computed, declare, declared
from tir_mlir.dialect.ir import Block, Index, View, attrs, is_block, module_of, only_reads, parents, walk

F = TypeVar("F", bound=Callable[..., Any])
_KEYS = (attrs.READS, attrs.WRITES)


def keeps_region_order(run: F) -> F:
    """A primitive after which the blocks around its first argument list their regions in the order they had."""

    @wraps(run)
    def step(*args: Any, **kwargs: Any) -> Any:
        first: View | None = next(iter((*args, *kwargs.values())), None)
        if first is None:
            return run()  # it takes any number of loops, and says that none are too few
        before = _orders(first)
        module = module_of(first.op) if before else None
        result = run(*args, **kwargs)
        for number, orders in before.items():
            op = walk.find(module, number)  # type: ignore[arg-type]
            if op is not None:
                _restore(Block(op), orders)
        return result

    return step  # type: ignore[return-value]


@only_reads
def _orders(first: View) -> dict[int, list[list[str]]]:
    """The buffers that each block around reads and writes, by name."""
    around = [Block(p) for p in parents(first.op) if is_block(p)]
    return {b.id: [[one.name for one in group] for group in buffers(b)] for b in around}


def _restore(block: Block, orders: list[list[str]]) -> None:
    for key, order in zip(_KEYS, orders, strict=True):
        if key not in block.op.attributes:
            _sort(block, key, order)


def _sort(block: Block, key: str, order: Sequence[str]) -> None:
    """Let a block declare its computed regions where they come in another order; new ones come last."""
    now = [b.name for b in buffers(block)[_KEYS.index(key)]]
    wanted = sorted(now, key=lambda name: order.index(name) if name in order else len(order))
    if wanted != now:
        found = computed(block)[_KEYS.index(key)]
        used = {v for r in found for index in (*r.mins, *r.extents) for v in index.values}
        if any(walk.enclosing_loop_name(v) is not None for v in used):
            return  # a block around others that use the loops around it: these cannot be named in its regions
        declare(block, key, sorted(found, key=lambda r: wanted.index(r.buffer.name)))


@dataclass(frozen=True)
class Signature:
    """What a block reads and writes: the names in order, and the regions of what it declares."""

    names: list[list[str]]
    declared: dict[str, list[Region]]

    @classmethod
    def of(cls, block: Block) -> Signature:
        names = [[b.name for b in group] for group in buffers(block)]
        return cls(names, {k: declared(block, k, []) for k in _KEYS if k in block.op.attributes})

    def keep(self, block: Block, mapping: Mapping[ir.Value, Index] | None = None, updates: bool = False) -> None:
        """Give it to what became of the block, whose old iters are expressions of new ones.

        `updates`: the block lost its init, so it reads what it writes, and lists that first.
        """
        reads, writes = self.names
        first = [name for name in writes if name not in reads] if updates else []
        for key, order in zip(_KEYS, ([*first, *reads], writes), strict=True):
            attrs.put(block.op, key, None)
            _sort(block, key, order)
            if key not in self.declared:
                continue
            found = computed(block)[_KEYS.index(key)]
            own = [r for r in found if key == attrs.READS and r.buffer.name in first]
            declare(block, key, [*own, *(r.over(mapping or {}) for r in self.declared[key])])

    def give_around(self, outer: Block) -> None:
        """Let a block around the one with its updates read what the block declared to read of its own writes."""
        order = [r.buffer.name for r in self.declared.get(attrs.READS, [])]
        reads, writes = computed(outer) if any(name in order for name in self.names[1]) else ([], [])
        own = [w for w in writes if w.buffer.name in order and all(w.buffer != r.buffer for r in reads)]
        if own:
            declare(outer, attrs.READS, sorted([*reads, *own], key=lambda r: order.index(r.buffer.name)))
