"""An elementwise block as a chain of instructions: its axes, the parts that are on the chip at once, and their cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, lcm, prod

from tir_mlir.accel.machine import Machine
from tir_mlir.accel.mapping.axes import NestAxis, all_sizes
from tir_mlir.accel.mapping.cover import Cover, Step
from tir_mlir.accel.mapping.pairing import difference
from tir_mlir.accel.mapping.roles import Role
from tir_mlir.accel.operands import ExecutionUnit, MemorySpace
from tir_mlir.dialect.computation import Form, Leaf
from tir_mlir.dialect.computation.scalar_tree import OpNode, Tree, text
from tir_mlir.dialect.diagnostics import MachineError

_SIZES = 6
"""Sizes of the parts of an axis that are tried at most."""


@dataclass(frozen=True)
class Chain:
    """An elementwise block with the instructions that compute it."""

    block: str
    form: Form
    axes: tuple[NestAxis, ...]
    store: Step
    """What writes the value to the memory of the CPU, with the steps before it."""
    held: int | None = None
    """The operand that is in a memory of the machine before: the result of a sum."""

    @property
    def steps(self) -> list[Step]:
        """All steps, each behind those that make its operands."""
        return [*self.store.walk()]

    def part(self, path: Sequence[int]) -> Tree:
        """The part of the value at a path."""
        tree: Tree = self.form.payload
        for position in path:
            assert isinstance(tree, OpNode)
            tree = tree.children[position]
        return tree

    @property
    def is_ragged(self) -> bool:
        return any(axis.extent % axis.tile for axis in self.axes)

    def parts(self) -> list[tuple[float, tuple[int, ...]]]:
        """The tiles of each axis that may be on the chip at once, with the cycles of the block, fewest first."""
        found = []
        for parts in product(*map(_sizes, self.axes)):
            if all(rows <= memory.rows for memory, rows in self.used_rows(parts).items()):
                found.append((self.cycles(parts), parts))
        return sorted(found, key=lambda p: (p[0], -prod(p[1])))

    def trips(self, parts: Sequence[int]) -> list[int]:
        """The iterations of the loop over the parts of each axis."""
        return [ceil(axis.tiles / part) for axis, part in zip(self.axes, parts, strict=True)]

    def used_rows(self, parts: Sequence[int]) -> dict[MemorySpace, int]:
        """The rows of each memory that the block takes; what is copied from the memory of the CPU is there twice."""
        used: dict[MemorySpace, int] = {}
        planes = 2 if prod(self.trips(parts)) > 1 else 1
        sizes = {n: part * axis.tile for n, (axis, part) in enumerate(zip(self.axes, parts, strict=True))}
        for step in self.steps:
            if step.place is not None and not step.is_in_place:
                rows = step.place.rows(sizes) * (planes if is_load(step) else 1)
                used[step.place.memory] = used.get(step.place.memory, 0) + rows
        return used

    def cycles(self, parts: Sequence[int]) -> float:
        """About the cycles of the block: copies for the next part run while this one is computed and the last one is
        stored."""
        trips, latency, load = self.trips(parts), 0, 0.0
        busy: dict[ExecutionUnit, float] = {}
        for step in self.steps:
            unit = step.role.instruction.unit
            busy[unit] = busy.get(unit, 0) + self._tiles(step, parts) * step.role.cycles
            if is_load(step):
                load = max(load, busy[unit])
                latency = max(latency, step.role.instruction.latency)
        around = sum(busy.values()) - load + latency
        inner = max(trips, default=1)  # the innermost loop, in which copies run ahead
        repeated = inner * max([*busy.values(), load + latency if inner > 1 else 0])
        return prod(trips) / inner * (repeated + around)

    def cycles_behind(self, parts: Sequence[int]) -> float:
        """About the cycles of the steps before `store` for one part, which wait for each other."""
        return sum(self._tiles(s, parts) * s.role.cycles + s.role.instruction.latency for s in self.steps[:-1])

    def _tiles(self, step: Step, parts: Sequence[int]) -> int:
        """The instructions that a step takes for one part."""
        sizes = (part * axis.tile for axis, part in zip(self.axes, parts, strict=True))
        return prod(ceil(size / step.tile_by_axis.get(n, 1)) for n, size in enumerate(sizes))


def is_load(step: Step) -> bool:
    """Whether a step copies an element from the memory of the CPU."""
    return step.role.moves and step.role.tiles[step.role.sources[0]].memory is None


def plan_chain(machine: Machine, roles: Sequence[Role], name: str, form: Form, iters: Sequence[str]) -> Chain:
    """The instructions for an elementwise block. Errors: MachineError that names the block, and the part of its value
    that no instruction computes, or the operand that none copies."""
    extents = [axis.extent.as_constant() for axis in form.axes]
    for extent, iter_name in zip(extents, iters, strict=True):
        if extent is None:
            raise MachineError(f"block {name}: iter {iter_name} has a size that a call decides; fix: a number")
        if extent == 0:
            raise MachineError(f"block {name} computes nothing: {iter_name} has size 0; fix: leave it out")
    cover = Cover(roles, form, {})
    for store in cover.stores():
        if sum(source.step is not None for source in store.sources) == 1:
            return Chain(name, form, tuple(_axes(form, iters, store)), store)
    raise MachineError(f"no instructions of {machine} compute block {name}{_nearest(cover, roles, form)}")


def chain_reason(chain: Chain, parts: Sequence[int], cycles: float) -> str:
    """What was chosen for a block, in words."""
    lines = [f"block {chain.block}: about {round(cycles)} cycles"]
    lines += [step_reason(chain, step) for step in chain.steps]
    trips = chain.trips(parts)
    loops = ", ".join(
        f"{axis.name} {count} x {part * axis.tile}"
        for axis, part, count in zip(chain.axes, parts, trips, strict=True)
        if count > 1
    )
    lines.append(f"  loops over parts: {loops or 'none'}")
    return "\n".join(lines)


def step_reason(chain: Chain, step: Step) -> str:
    """What an instruction does, in words."""
    tiles = f"tiles of {' x '.join(map(str, step.role.extents))}"
    rivals = "".join(f"; {rival} does the same, and is not cheaper" for rival in step.rivals)
    if step.place is None:
        return f"  {step.role} stores {tiles}{rivals}"
    where = step.place.memory.name
    if not step.role.moves:
        return f"  {step.role} computes {tiles} in {where}{rivals}"
    source = chain.part(step.path)
    name = f"{chain.form.operands[source.operand].buffer.name}, " if isinstance(source, Leaf) else ""
    return f"  {step.role} copies {name}{tiles}{',' if name else ''} into {where}{rivals}"


def chain_too_small(chain: Chain) -> str:
    """Which memory has too few rows for the smallest tiles."""
    needs = [
        f"{n} rows of {m.name}, which has {m.rows}"
        for m, n in chain.used_rows([1] * len(chain.axes)).items()
        if n > m.rows
    ]
    return f"block {chain.block}: the smallest tiles need {', '.join(needs)}"


def _axes(form: Form, iters: Sequence[str], store: Step) -> Iterator[NestAxis]:
    for number, (axis, iter_name) in enumerate(zip(form.axes, iters, strict=True)):
        extent = axis.extent.as_constant()
        assert extent is not None
        sizes = [step.tile_by_axis.get(number, 1) for step in store.walk()]
        yield NestAxis(iter_name, axis.kind, extent, lcm(*sizes))


def _nearest(cover: Cover, roles: Sequence[Role], form: Form) -> str:
    """What is missing."""
    part = cover.first_gap()
    if part is not None:
        shown = text(part, lambda leaf: form.operands[leaf.operand].buffer.name if isinstance(leaf, Leaf) else "n")
        computing = [r for r in roles if not (r.moves or r.fills)]
        differences = {r: difference(form, r) for r in computing}
        nearest = min(differences, key=lambda r: len(differences[r]), default=None)
        near = "" if nearest is None else f"; nearest is {nearest}: {differences[nearest]}"
        return f": none computes {shown}{near}"
    return (
        ": they compute each part of its value, but not from where its operands are to where its result has to be; "
        "an operand of the CPU is copied by rows of adjacent elements, in tiles of as many dimensions as it has axes"
    )


def _sizes(axis: NestAxis) -> list[int]:
    sizes = all_sizes(axis)
    wanted = [1, axis.tiles, *(2**n for n in range(1, _SIZES - 1))]
    return sorted({min(sizes, key=lambda s: abs(s - w)) for w in wanted if w <= axis.tiles})
