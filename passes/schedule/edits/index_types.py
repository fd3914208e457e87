"""The index types of the loops and iters that a step creates: int64 where their buffers, bounds or bindings are."""

from __future__ import annotations

from collections.abc import Iterable

from mlir import ir

from tir_mlir.dialect.ir import Block, Buffer, Index, Loop, attrs, is_block, is_loop, walk
from tir_mlir.dialect.ir.op_traits import LOADS

Declaration = tuple[ir.Operation, str, object]


def index_types(nests: Iterable[ir.Operation], first: int) -> list[Declaration]:
    """The attributes that declare the loops and iters created since id `first` as int64, where they have to be.

    A loop is of int64 if a bound is, or an iter bound to it; an iter if its domain or its binding is. So are a new loop
    and a new iter that index a buffer with a shape of int64.
    """
    types = _IndexTypes(first)
    for nest in nests:
        for op in walk.ops(nest):
            types.add(op)
    while types.spread():
        pass
    return types.declarations()


class _IndexTypes:
    """The loops and blocks of some nests, and which of their variables are of int64."""

    def __init__(self, first: int):
        self.first = first
        self.loops: list[Loop] = []
        self.new: set[ir.Value] = set()  # variables of new loops
        self.blocks: list[Block] = []
        self.wide: set[ir.Value] = set()
        self.indices: set[ir.Value] = set()  # of buffers with a shape of int64

    def add(self, op: ir.Operation) -> None:
        if is_loop(op):
            self.loops.append(loop := Loop(op))
            if self._is_new(loop):
                self.new.add(loop.var)
        elif is_block(op):
            self.blocks.append(Block(op))
        else:
            buffers = [v for v in (*op.operands, *op.results) if isinstance(v.type, ir.MemRefType)]
            if any(_has_wide_shape(v) for v in buffers):
                self.indices.update(_leaves(v for v in op.operands if isinstance(v.type, ir.IndexType)))

    def spread(self) -> bool:
        """Add the variables whose type follows from those found so far; False if there are none."""
        old_count = len(self.wide)
        for loop in self.loops:
            bounds = (v for bound in (*loop.lowers, *loop.uppers) for v in bound.values)
            if self._is_new(loop) and (loop.var in self.indices or any(map(self._is_wide, bounds))):
                self.wide.add(loop.var)
        for block in self.blocks:
            self._spread_block(block)
        return len(self.wide) > old_count

    def _spread_block(self, block: Block) -> None:
        new = self._is_new(block)
        for it in block.iters:
            parts: tuple[Index, ...] = (it.min, it.extent, it.binding) if new else (it.binding,)
            if (new and it.var in self.indices) or any(self._is_wide(v) for part in parts for v in part.values):
                self.wide.add(it.var)
            if self._is_wide(it.var):
                self.wide.update(v for v in it.binding.values if v in self.new)

    def _is_new(self, view: Loop | Block) -> bool:
        return view.id >= self.first

    def _is_wide(self, value: ir.Value) -> bool:
        return value in self.wide or attrs.is_wide(value)

    def declarations(self) -> list[Declaration]:
        """The attributes to set."""
        loops = (lp for lp in self.loops if lp.var in self.wide and not attrs.is_wide(lp.var))
        changes: list[Declaration] = [(lp.op, attrs.DTYPE, attrs.WIDE) for lp in loops]
        for block in self.blocks:
            names = {it.name: attrs.WIDE for it in block.iters if self._is_wide(it.var)}
            if len(names) > len(attrs.get(block.op, attrs.DTYPES, {})):
                changes.append((block.op, attrs.DTYPES, names))
        return changes


def _has_wide_shape(value: ir.Value) -> bool:
    return Buffer(value).root.attributes.get(attrs.EXTENT_DTYPE) == attrs.WIDE


def _leaves(values: Iterable[ir.Value]) -> set[ir.Value]:
    """The variables of loops and blocks from which indices are computed, other than by loads."""
    pending, seen, leaves = list(values), set[ir.Value](), set[ir.Value]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value.owner, ir.Block):
            leaves.add(value)
        elif value.owner.name not in LOADS:
            pending += [v for v in value.owner.operands if not isinstance(v.type, ir.MemRefType)]
    return leaves
