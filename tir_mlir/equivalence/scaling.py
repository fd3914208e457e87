"""Smaller sizes at which to check a schedule, with the same kinds of guards.

An extent N becomes N' = (N mod L) + q * L, where L is the least common multiple of the constants applied to the axis in
the scheduled program (tile sizes, divisors): a guard is needed at N' if and only if it is needed at N. Axes with
unrelated but equal extents get different N'.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import lcm, prod
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import Block, Buffer, Index, Loop, attrs, frozen, funcs, is_block, is_loop, read_apply, walk
from tir_mlir.dialect.ir.op_traits import AFFINE_ELEMENT_ACCESSES, accessed
from tir_mlir.equivalence.axes import Axes, Node, axes_of, resized

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
        first, *tail = factors
        if not tail or not all(isinstance(f, int) for f in tail):
            return factors
        if first is None and _is_extent(prod(tail), self.extents):
            return [1, None, *tail[1:]]
        if isinstance(first, int) and _is_extent(prod(factors), self.extents):
            return [None, *tail]
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
        new_sizes: dict[Node, int] = {}
        for number, (axis, extent) in enumerate(axes.extents.items()):
            least = lcm(*met.get(axis, {1}))
            times = round_[0] if least >= _LARGE else round_[number % len(round_)]
            smaller = extent % least + max(times, -(-_SMALL // least) + (number % 3 if least < _LARGE else 0)) * least
            while smaller in new_sizes.values():
                smaller += least
            new_sizes[axis] = min(extent, smaller)
        if all(new_sizes[a] == n for a, n in axes.extents.items()):
            continue
        module = resized(original, axes, new_sizes)
        if module is not None:
            changed = {n: new_sizes[a] for a, n in axes.extents.items()}
            names = {axes.names[a]: (n, new_sizes[a]) for a, n in axes.extents.items()}
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


# --- the constants that an axis meets in a scheduled program: tile sizes and divisors ---------------------------------


def constants_meeting(scheduled: ir.Module, axes: Axes) -> dict[Node, set[int]]:
    """{axis: constants > 1 and below its extent} in the indices of all buffers of a scheduled program.

    An index of a buffer that the schedule created belongs to the axes of its loops: see `LoopAxes`.
    """
    func = funcs(scheduled)[0]
    env: dict[ir.Value, Index] = {}
    everything = walk.ops(func.op)
    for op in everything:
        if is_block(op):
            env |= {it.var: it.binding.substitute(env) for it in Block(op).iters}
    sizes = set(axes.extents.values())
    derived = sizes | {prod(p) for n in (2, 3) for p in combinations_with_replacement(sorted(sizes), n)}
    constants: dict[Node, set[int]] = {}
    meetings = [meeting for op in everything for meeting in _of_op(op, env)]
    loops = LoopAxes(axes, meetings)
    for meeting in meetings:
        for part in loops.behind(meeting):
            top = axes.extents.get(part, 0)
            constants.setdefault(part, set()).update(c for c in meeting.constants if 1 < c < top and c not in derived)
    return constants


@dataclass(frozen=True)
class Meeting:
    """One dimension of an access: the dimension, its extent, the loop variables of its index, and the constants."""

    node: Node
    size: int | None
    variables: tuple[ir.Value, ...]
    constants: frozenset[int]


class LoopAxes:
    """Which axes of the original program the loops of the scheduled one run along.

    A loop that indexes an original buffer runs along that axis. A loop that indexes none, as in a copy of a copy, runs
    along the axes of the other loops that index the same dimensions. Iters do not count: a step may renumber them.
    """

    def __init__(self, axes: Axes, meetings: Iterable[Meeting]):
        self.axes = axes
        self.known: dict[ir.Value, set[Node]] = {}
        self.dims: dict[Node, set[Node]] = {}
        for meeting in meetings:
            self._meet(meeting.node, meeting.variables)
        self._spread([m for m in meetings if m.node not in axes.sizes])

    def behind(self, meeting: Meeting) -> set[Node]:
        """The axes of a dimension. If one of its loops is unknown, also all axes of the same extent."""
        if meeting.node in self.axes.sizes:
            return self._parts(meeting.node)
        axes = {axis for v in meeting.variables for axis in self.known.get(v, ())}
        if all(v in self.known for v in meeting.variables) and axes:
            return axes
        axes |= self.dims.get(meeting.node, set())
        return axes | {a for a, n in self.axes.extents.items() if n == meeting.size}

    def _meet(self, node: Node, variables: Iterable[ir.Value]) -> None:
        if node in self.axes.sizes:
            for value in variables:
                self.known.setdefault(value, set()).update(self._parts(node))

    def _parts(self, node: Node) -> set[Node]:
        axis = self.axes.of(node)
        return set(self.axes.derived.get(axis, [axis]))

    def _spread(self, meetings: list[Meeting]) -> None:
        """Pass axes from loops to the dimensions they index, and on to loops of which nothing is known."""
        initial = set(self.known)
        count = -1
        while count != (count := self._count()):
            for meeting in meetings:
                dim = self.dims.setdefault(meeting.node, set())
                dim.update(axis for v in meeting.variables for axis in self.known.get(v, ()))
                for value in meeting.variables if dim else ():
                    if value not in initial:
                        self.known.setdefault(value, set()).update(dim)

    def _count(self) -> int:
        return sum(map(len, self.known.values())) + sum(map(len, self.dims.values()))


def _of_op(op: ir.Operation, env: dict[ir.Value, Index]) -> Iterator[Meeting]:
    if op.name in AFFINE_ELEMENT_ACCESSES:
        buffer = Buffer(accessed(op))
        for axis, index in enumerate(walk.access_indices(op)):
            index = index.substitute(env)
            yield _meeting(buffer, axis, [index], _constants(index))
    elif op.name == "memref.subview":
        dynamic = iter(list(op.operands)[1:])
        starts = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
        sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
        for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            constants, indices = {size}, []
            if start == ir.ShapedType.get_dynamic_size():
                value = next(dynamic)
                if not isinstance(value.owner, ir.Block) and value.owner.name == "affine.apply":
                    indices = [read_apply(value).substitute(env)]
                    constants |= _constants(indices[0])
            yield _meeting(Buffer(op.operands[0]), axis, indices, constants)


def _meeting(buffer: Buffer, axis: int, indices: list[Index], constants: set[int]) -> Meeting:
    root = buffer.root
    size = root.shape[axis] if axis < root.rank else None
    name = root.name if buffer.is_view and axis < root.rank else buffer.name
    variables = tuple(v for i in indices for v in i.values)
    return Meeting(("dim", name, axis), size, variables, frozenset(constants))


def _constants(index: Index) -> set[int]:
    """Divisors of an expression, and the factor of its outermost loop of several iterations.

    With `c` the factor, an extent that is smaller by a multiple of `c` leaves the last tile as it is, whatever the
    loops inside a tile are.
    """
    divisors: set[int] = set()
    factors: dict[int, int] = {}
    _collect(index.expr, 1, divisors, factors)
    return divisors | {max((factors[d] for d in factors if not _runs_once(index.values[d])), default=1)}


def _runs_once(value: ir.Value) -> bool:
    owner = value.owner
    return isinstance(owner, ir.Block) and is_loop(owner.owner) and Loop(owner.owner).const_extent == 1


def _collect(expr: ir.AffineExpr, factor: int, divisors: set[int], factors: dict[int, int]) -> None:
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineDimExpr):
        factors[expr.position] = max(factor, factors.get(expr.position, 0))
    if not isinstance(expr, ir.AffineBinaryExpr):
        return
    right = expr.rhs.maybe_downcast()
    if isinstance(right, ir.AffineConstantExpr) and not isinstance(expr, ir.AffineAddExpr):
        if isinstance(expr, ir.AffineMulExpr):
            factor *= abs(right.value)
        else:
            divisors.add(abs(right.value))
    else:
        _collect(right, factor, divisors, factors)
    _collect(expr.lhs, factor, divisors, factors)
