"""The constants that an axis meets in a scheduled program: tile sizes and divisors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import prod

from mlir import ir

from tir_mlir.dialect.ir import Block, Buffer, Index, Loop, funcs, is_block, is_loop, read_apply, walk
from tir_mlir.dialect.ir.op_traits import AFFINE_ELEMENT_ACCESSES, accessed
from tir_mlir.equivalence.axes import Axes, Node


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
    found: dict[Node, set[int]] = {}
    meetings = [meeting for op in everything for meeting in _of_op(op, env)]
    loops = LoopAxes(axes, meetings)
    for meeting in meetings:
        for part in loops.behind(meeting):
            top = axes.extents.get(part, 0)
            found.setdefault(part, set()).update(c for c in meeting.constants if 1 < c < top and c not in derived)
    return found


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
        found = {axis for v in meeting.variables for axis in self.known.get(v, ())}
        if all(v in self.known for v in meeting.variables) and found:
            return found
        found |= self.dims.get(meeting.node, set())
        return found | {a for a, n in self.axes.extents.items() if n == meeting.size}

    def _meet(self, node: Node, variables: Iterable[ir.Value]) -> None:
        if node in self.axes.sizes:
            for value in variables:
                self.known.setdefault(value, set()).update(self._parts(node))

    def _parts(self, node: Node) -> set[Node]:
        axis = self.axes.of(node)
        return set(self.axes.derived.get(axis, [axis]))

    def _spread(self, meetings: list[Meeting]) -> None:
        """Pass axes from loops to the dimensions they index, and on to loops of which nothing is known."""
        given = set(self.known)
        before = -1
        while before != (before := self._count()):
            for meeting in meetings:
                dim = self.dims.setdefault(meeting.node, set())
                dim.update(axis for v in meeting.variables for axis in self.known.get(v, ()))
                for value in meeting.variables if dim else ():
                    if value not in given:
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
        rest = iter(list(op.operands)[1:])
        starts = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
        sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
        for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            found, indices = {size}, []
            if start == ir.ShapedType.get_dynamic_size():
                value = next(rest)
                if not isinstance(value.owner, ir.Block) and value.owner.name == "affine.apply":
                    indices = [read_apply(value).substitute(env)]
                    found |= _constants(indices[0])
            yield _meeting(Buffer(op.operands[0]), axis, indices, found)


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
    found: set[int] = set()
    factors: dict[int, int] = {}
    _collect(index.expr, 1, found, factors)
    return found | {max((factors[d] for d in factors if not _runs_once(index.values[d])), default=1)}


def _runs_once(value: ir.Value) -> bool:
    owner = value.owner
    return isinstance(owner, ir.Block) and is_loop(owner.owner) and Loop(owner.owner).const_extent == 1


def _collect(expr: ir.AffineExpr, factor: int, found: set[int], factors: dict[int, int]) -> None:
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
            found.add(abs(right.value))
    else:
        _collect(right, factor, found, factors)
    _collect(expr.lhs, factor, found, factors)
