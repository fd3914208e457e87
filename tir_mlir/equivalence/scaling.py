"""Smaller sizes at which to check a schedule, with the same kinds of guards.

An extent N becomes N' = (N mod L) + q * L, where L is the least common multiple of the constants applied to the axis in
the scheduled program (tile sizes, divisors): a guard is needed at N' if and only if it is needed at N. Axes with
unrelated but equal extents get different N'.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import lcm, prod
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import attrs, frozen, funcs, is_loop, walk
from tir_mlir.equivalence.axes import Node, axes_of, resized
from tir_mlir.equivalence.tile_sizes_met import constants_meeting

_SMALL = 8
"""Extents up to this are not scaled."""
_LARGE = 32
"""Two tiles of this size, and the rest, are enough."""
_ROUNDS = ((2, 3, 4), (1, 2, 3))


@dataclass(frozen=True)
class ScaledProgram:
    """A smaller program, and the new value of each extent."""

    module: ir.Module
    extents: Mapping[int, int]
    axes: Mapping[str, tuple[int, int]]

    def __str__(self) -> str:
        return ", ".join(f"{name} {old} -> {new}" for name, (old, new) in self.axes.items() if old != new)

    def change(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a step at the new sizes: factors that multiply to an extent keep doing so.

        If all are given, the first is recomputed; if the first is inferred, and therefore 1, the second.
        """
        if name == "split":
            return arguments | {"factors": self._factors(list(arguments.get("factors", [None])))}
        if name == "sample_perfect_tile" and (decision := arguments.get("decision")):
            extent, inner = prod(decision), prod(decision[1:])
            new = self.extents.get(extent, extent)
            if new % inner == 0:
                return arguments | {"decision": [new // inner, *decision[1:]]}
        return arguments

    def _factors(self, factors: list[Any]) -> list[Any]:
        first, *rest = factors
        if not rest or not all(isinstance(f, int) for f in rest):
            return factors
        if first is None and _is_extent(prod(rest), self.extents):
            return [1, None, *rest[1:]]
        if isinstance(first, int) and _is_extent(prod(factors), self.extents):
            return [None, *rest]
        return factors


def _is_extent(product: int, extents: Mapping[int, int]) -> bool:
    """Whether factors multiply to an extent of the program, or to a product of two or three (fused loops)."""
    sizes = list(extents)
    return any(prod(some) == product for n in (1, 2, 3) for some in itertools.combinations_with_replacement(sizes, n))


def scales(original: ir.Module, scheduled: ir.Module) -> Iterator[ScaledProgram]:
    """Candidate smaller programs, best first."""
    if len(funcs(original)) != 1:
        return
    with frozen():
        axes = axes_of(funcs(original)[0])
    if axes is None:
        return
    met = constants_meeting(scheduled, axes)
    for round_ in _ROUNDS:
        wanted: dict[Node, int] = {}
        for number, (axis, extent) in enumerate(axes.extents.items()):
            least = lcm(*met.get(axis, {1}))
            times = round_[0] if least >= _LARGE else round_[number % len(round_)]
            smaller = extent % least + max(times, -(-_SMALL // least) + (number % 3 if least < _LARGE else 0)) * least
            while smaller in wanted.values():
                smaller += least
            wanted[axis] = min(extent, smaller)
        if all(wanted[a] == n for a, n in axes.extents.items()):
            continue
        module = resized(original, axes, wanted)
        if module is not None:
            changed = {n: wanted[a] for a, n in axes.extents.items()}
            names = {axes.names[a]: (n, wanted[a]) for a, n in axes.extents.items()}
            yield ScaledProgram(module, changed, names)


def structure_of(module: ir.Module) -> list[tuple[str, ...]]:
    """The ops in order with their depth, the names and kinds of loops and blocks, and the number of bounds and
    conditions. Programs with equal structure differ only in constants."""
    return [_shape(op) for op in walk.ops(module.operation)]


def _shape(op: ir.Operation) -> tuple[str, ...]:
    words = [op.name, str(len(op.operands)), str(len(op.results))]
    for key in (attrs.LOOP, attrs.KIND, attrs.BLOCK):
        if key in op.attributes:
            words.append(str(attrs.get(op, key)))
    if op.name == "affine.if":
        words.append(str(len(walk.constraints(op))))
    if is_loop(op):
        words.append(str(len(attrs.affine_map(op, "upperBoundMap").results)))
    parent = op.parent
    return (*words, parent.operation.name if parent is not None else "")
