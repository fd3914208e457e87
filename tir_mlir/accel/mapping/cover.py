"""Which instructions compute the value of an elementwise block: each a part of it, from memories that it reads to one
that it writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from math import ceil, prod

from tir_mlir.accel.mapping.roles import Role
from tir_mlir.accel.operands import MemorySpace, Tile
from tir_mlir.dialect.computation import Form, Leaf, leaves
from tir_mlir.dialect.computation.scalar_tree import OpNode, Tree, is_parameter
from tir_mlir.dialect.ir import enter_context, signs
from tir_mlir.dialect.ir.op_traits import COMMUTATIVE

_HOPS = 2
"""Copies from one memory to another one that a value takes at most between two computations."""

Path = tuple[int, ...]
"""The positions of operands that lead from the value of a block to a part of it."""


@dataclass(frozen=True)
class TilePlace:
    """Where a value is in a memory of the machine: the axis of the block that each dimension of a tile is, and the
    sizes of all dimensions of tiles but the first."""

    memory: MemorySpace
    dtype: str
    row: tuple[int, ...]
    axes: tuple[int, ...]
    tail: tuple[int, ...]

    def takes(self, tile: Tile) -> bool:
        """Whether an instruction with this operand works on tiles of it, or on parts of them that are adjacent."""
        if (tile.memory, tile.dtype, tile.row) != (self.memory, self.dtype, self.row):
            return False
        if len(tile.shape) == len(self.axes):
            return tile.shape[1:] == self.tail
        return len(tile.shape) < len(self.axes) and tile.shape == self.tail[len(self.tail) - len(tile.shape) :]

    def rows(self, sizes: Mapping[int, int]) -> int:
        """The rows that it takes with so many elements along each axis."""
        size_of, count = dict(zip(self.axes[1:], self.tail, strict=True)), 1
        across = self.axes[len(self.axes) - len(self.row) :]
        if self.axes[0] in across:  # a tile is a row
            size_of[self.axes[0]] = self.row[0]
        for axis, size in sizes.items():
            tile = size_of.get(axis, 1)
            count *= ceil(size / tile) * (1 if axis in across else tile)
        return count


@dataclass(frozen=True)
class Source:
    """An operand of a step: the part that it is, and the step that makes it; None: it is there already, as an element
    in the memory of the CPU or the result of a sum."""

    path: Path
    step: Step | None


@dataclass(frozen=True)
class Step:
    """An instruction that computes a part of a value, or copies it."""

    role: Role
    path: Path
    place: TilePlace | None
    """None: the memory of the CPU."""
    axes: tuple[int, ...]
    """The axis of the block for each iterator of the instruction."""
    sources: tuple[Source, ...]
    cycles: float
    """Of the block, with those of what makes its operands."""
    rivals: tuple[Role, ...] = ()
    """Other instructions that do the same, and are not cheaper."""

    def walk(self) -> Iterator[Step]:
        """The steps that make its operands, and itself behind them."""
        for source in self.sources:
            if source.step is not None:
                yield from source.step.walk()
        yield self

    @property
    def is_in_place(self) -> bool:
        """Whether it overwrites what it reads."""
        return self.role.form.output in self.role.read

    @property
    def tile_by_axis(self) -> dict[int, int]:
        """How much of each axis one instruction computes, where that is not one."""
        return dict(zip(self.axes, self.role.extents, strict=True))


@dataclass(frozen=True)
class _Binding:
    """What is at the operands of an instruction, by number, with the path to it."""

    parts: Mapping[Tree, tuple[Tree, Path]]

    def bind(self, leaf: Tree, tree: Tree, path: Path) -> _Binding | None:
        if leaf in self.parts:
            return self if self.parts[leaf][0] == tree else None
        return _Binding({**self.parts, leaf: (tree, path)})


def _matches(pattern: Tree, tree: Tree, path: Path, bound: _Binding) -> Iterator[_Binding]:
    """The ways in which a tree is what an instruction computes; any part of it may be there for an operand."""
    if isinstance(pattern, Leaf) or is_parameter(pattern):
        if isinstance(pattern, Leaf) or not any(True for _ in leaves(tree)):
            found = bound.bind(pattern, tree, path)
            yield from [] if found is None else [found]
        return
    if not isinstance(pattern, OpNode) or not isinstance(tree, OpNode):
        return
    same = (pattern.op, pattern.facts, pattern.type) == (tree.op, tree.facts, tree.type)
    if not same or len(pattern.children) != len(tree.children):
        return
    orders = [range(len(tree.children))]
    if pattern.op in COMMUTATIVE:
        orders.append(orders[0][::-1])
    for order in orders:
        yield from _match_children(pattern.children, tree.children, order, path, bound)


def _match_children(
    patterns: Sequence[Tree], trees: Sequence[Tree], order: Sequence[int], path: Path, bound: _Binding
) -> Iterator[_Binding]:
    if not patterns:
        yield bound
        return
    first = order[0]
    for found in _matches(patterns[0], trees[first], (*path, first), bound):
        yield from _match_children(patterns[1:], trees, order[1:], path, found)


class Cover:
    """The cheapest steps for each part of the value of a block, and each place."""

    def __init__(self, roles: Sequence[Role], form: Form, held: Mapping[int, TilePlace]):
        """held: the places of operands that are in memories of the machine, by number."""
        self.form, self.held = form, held
        self.roles = [r for r in roles if not r.fills and _is_elementwise(r)]
        self._found: dict[tuple[Path, TilePlace, int], Step | None] = {}
        with enter_context():
            self._dtypes = {t: signs.dtype_of(v) for t, v in form.values.items()}

    def stores(self) -> list[Step]:
        """The ways to compute the value of the block into the memory of the CPU, the cheapest first."""
        found: list[Step] = []
        for role in self.roles:
            if role.written.memory is None and role.written.dtype == self._dtype(Leaf(self.form.output)):
                for axes in self._stored_axes(role):
                    for prefix in self._prefixes(axes):
                        found += self._steps(role, self.form.payload, (), None, axes, prefix, _HOPS)
        return sorted(found, key=lambda s: s.cycles)

    def first_gap(self) -> Tree | None:
        """The first part of the value that no instruction computes from what it is computed from."""
        return next((t for t in _post_order(self.form.payload) if not self._is_computed(t)), None)

    def _is_computed(self, tree: Tree) -> bool:
        """Whether some instruction computes a part, wherever its operands are; also one that computes more than it."""
        return any(
            any(True for _ in _matches(part, tree, (), _Binding({})))
            for role in self.roles
            for part in _post_order(role.form.payload)
        )

    def _stored_axes(self, role: Role) -> Iterator[tuple[int, ...]]:
        """The axes that the iterators of an instruction may be which writes to the memory of the CPU."""
        index = self._axes_of(self.form.output)
        dims = role.dims[role.form.output]
        if index is None or len(index) < len(dims):
            return
        for before in combinations(range(len(index) - 1), len(dims) - 1):
            chosen = [index[d] for d in (*before, len(index) - 1)]
            if None not in chosen:
                by_iterator = {n: axis for n, axis in zip(dims, chosen, strict=True) if axis is not None}
                yield tuple(by_iterator[n] for n in range(len(role.extents)))

    def _prefixes(self, axes: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Axes of further dimensions of tiles, for instructions that have more than the one that stores."""
        rank = max((len(r.extents) for r in self.roles), default=0)
        others = [n for n in range(len(self.form.axes)) if n not in axes]
        for count in range(max(0, rank - len(axes)) + 1):
            yield from permutations(others, count)

    def _steps(
        self,
        role: Role,
        tree: Tree,
        path: Path,
        place: TilePlace | None,
        axes: tuple[int, ...],
        prefix: tuple[int, ...],
        hops: int,
    ) -> Iterator[Step]:
        """The ways in which an instruction computes a part. prefix: the dimensions of tiles that it has no iterator
        for."""
        for found in _matches(role.form.payload, tree, path, _Binding({})):
            sources, cost = [], role.cycles * self._tiles(role, axes)
            for number in role.read:
                part, at = found.parts[Leaf(number)]
                is_ready, step = self._source(role, number, part, at, place, axes, prefix, hops)
                if not is_ready and step is None:
                    break
                sources.append(Source(at, step))
                cost += 0 if step is None else step.cycles
            else:
                yield Step(role, path, place, axes, tuple(sources), cost)

    def _source(
        self,
        role: Role,
        number: int,
        part: Tree,
        path: Path,
        place: TilePlace | None,
        axes: tuple[int, ...],
        prefix: tuple[int, ...],
        hops: int,
    ) -> tuple[bool, Step | None]:
        """Whether an operand is where an instruction reads it, and else the step that makes it."""
        tile = role.tiles[number]
        if self._dtype(part) != tile.dtype:
            return False, None
        own = tuple(axes[n] for n in role.dims[number] if n is not None)
        if tile.memory is None:
            return isinstance(part, Leaf) and part.operand not in self.held and self._reads(part, own, axes), None
        front = () if place is None else (0, *place.tail)[: len(prefix)]
        shape = (*(front or (0,) * len(prefix)), *tile.shape)
        wanted = TilePlace(tile.memory, tile.dtype, tile.row, (*prefix, *own), shape[1:])
        if isinstance(part, Leaf) and part.operand in self.held:
            held = self.held[part.operand]
            if held.axes[len(held.axes) - len(own) :] == own and held.takes(tile):
                return True, None
        step = self._best(part, path, wanted, hops - 1 if role.moves else _HOPS)
        return False, step

    def _best(self, tree: Tree, path: Path, place: TilePlace, hops: int) -> Step | None:
        """The cheapest way to have a part in a place; with so many copies between memories."""
        key = (path, place, hops)
        if key not in self._found:
            ways: list[Step] = []
            for role in self.roles:
                dims = role.dims[role.form.output]
                if place.takes(role.written) and (hops or not role.moves or role.tiles[role.sources[0]].memory is None):
                    cut = len(place.axes) - len(dims)
                    axes = {n: a for n, a in zip(dims, place.axes[cut:], strict=True) if n is not None}
                    by_iterator = tuple(axes[n] for n in range(len(role.extents)))
                    ways += self._steps(role, tree, path, place, by_iterator, place.axes[:cut], hops)
            ways.sort(key=lambda s: s.cycles)
            same = {s.role.instruction: s.role for s in reversed(ways) if _reads_same(s, ways[0])}
            rivals = tuple(role for i, role in reversed(same.items()) if i != ways[0].role.instruction)
            self._found[key] = replace(ways[0], rivals=rivals) if ways else None
        return self._found[key]

    def _reads(self, leaf: Leaf, own: Sequence[int], axes: Sequence[int]) -> bool:
        """Whether the elements of an operand are what an instruction reads, whose dimensions are these axes: in their
        order, rows adjacent, and the same along all other axes of the tile."""
        index = self._axes_of(leaf.operand)
        if index is None or not own or any(a not in index for a in own):
            return False
        dims = [index.index(a) for a in own]
        repeated = all(a in own or a not in index for a in axes)
        return repeated and dims == sorted(dims) and dims[-1] == len(index) - 1

    def _axes_of(self, number: int) -> list[int | None] | None:
        """The axis that each index of an operand is, None for one that is 0; None for other indices."""
        operand, found = self.form.operands[number], []
        for row, base in zip(operand.rows, operand.base, strict=True):
            used = [axis for axis, factor in enumerate(row) if factor]
            if base.as_constant() != 0 or len(used) > 1 or (used and row[used[0]] != 1):
                return None
            found.append(used[0] if used else None)
        named = [a for a in found if a is not None]
        return found if len({*named}) == len(named) else None

    def _dtype(self, tree: Tree) -> str | None:
        return self.form.operands[tree.operand].buffer.dtype if isinstance(tree, Leaf) else self._dtypes.get(tree)

    def _tiles(self, role: Role, axes: Sequence[int]) -> int:
        """The instructions that a block takes."""
        tile = dict(zip(axes, role.extents, strict=True))
        sizes = [axis.extent.as_constant() or 1 for axis in self.form.axes]
        return prod(ceil(size / tile.get(n, 1)) for n, size in enumerate(sizes))


def _reads_same(step: Step, other: Step) -> bool:
    """Whether two steps have the same operands in the same memories."""

    def operands(s: Step) -> list[tuple[Path, MemorySpace | None]]:
        return [(source.path, s.role.tiles[n].memory) for source, n in zip(s.sources, s.role.read, strict=True)]

    return operands(step) == operands(other)


def _is_elementwise(role: Role) -> bool:
    """Whether an instruction computes each element that it writes from one of each operand."""
    if any(axis.kind != "S" for axis in role.form.axes) or role.form.conditions:
        return False
    if role.form.output in role.read and role.sources:  # it accumulates
        return False
    written = role.dims[role.form.output]
    plain = all(None not in dims and len({*dims}) == len(dims) for dims in role.dims)
    return plain and {*written} == {*range(len(role.extents))}


def _post_order(tree: Tree) -> Iterator[Tree]:
    """The operations of a tree that depend on operands, those of an operation before it."""
    if isinstance(tree, OpNode):
        for child in tree.children:
            yield from _post_order(child)
        if any(True for _ in leaves(tree)):
            yield tree
