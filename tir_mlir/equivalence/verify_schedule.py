"""`Schedule.verify`: compare the scheduled program with the original, at full or scaled sizes.

Scaled sizes have the same kinds of guards. An axis is what accesses relate: extents of loops, blocks and buffers that
must change together. An extent N becomes N' = (N mod L) + q * L, where L is the least common multiple of the constants
applied to the axis in the scheduled program (tile sizes, divisors): a guard is needed at N' if and only if it is needed
at N. Axes with unrelated but equal extents get different N'.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import lcm, prod
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import NotChecked, VerifyError, short_repr
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    Loop,
    attrs,
    create,
    edit,
    enter_context,
    freeze_modules,
    funcs,
    is_block,
    is_init,
    is_loop,
    read_apply,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref, is_scalar, names_of
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AffineIfOp,
    AffineLoopOp,
    AffineYieldOp,
    AllocOp,
    ApplyOp,
    FuncOp,
    ReturnOp,
    SubviewOp,
    defining_op,
    isa,
)
from tir_mlir.dialect.presburger import dim_factors
from tir_mlir.dialect.verify import verify
from tir_mlir.equivalence import inputs
from tir_mlir.equivalence.compare import Comparison, compare
from tir_mlir.equivalence.result import Result
from tir_mlir.equivalence.work import work_of
from tir_mlir.runtime.call.signature import signatures
from tir_mlir.runtime.progress import follow_build, stage

FULL_WORK = 1 << 24
"""Up to this many iterations "auto" runs at full size."""
TRIED_WORK = 1 << 29
"""The limit (some seconds) if the program cannot be scaled."""


Change = Callable[[str, dict[str, Any]], dict[str, Any]]
"""A primitive and its arguments (the decision of one that samples among them) -> those of the step to take instead."""


@dataclass(frozen=True)
class ScheduledModule:
    """A scheduled module, and the parameters with another layout than in the original: {(function, parameter): map}."""

    module: ir.Module
    moves: Mapping[tuple[str, str], IndexMap]


Replay = Callable[[ir.Module, Change], ScheduledModule]
"""Run the changed steps of a schedule on another module."""


@dataclass(frozen=True)
class ComparisonMethod:
    """How programs are compared, see `compare`; up to how many iterations at full size, and at all."""

    comparison: Callable[..., Comparison] = Comparison
    full_work: int = FULL_WORK
    tried_work: int = TRIED_WORK


OVER_THE_FIELD = ComparisonMethod()


def verify_schedule(
    original: ir.Module,
    scheduled: ScheduledModule,
    replay: Replay,
    sizes: str,
    seed: int,
    way: ComparisonMethod = OVER_THE_FIELD,
) -> Result:
    """Compare a scheduled program with its original, at its own sizes or scaled down. See `Schedule.verify`."""
    if not isinstance(sizes, str) or sizes not in ("auto", "full", "scaled"):
        raise ValueError(f'sizes must be "auto", "full" or "scaled", not {short_repr(sizes)}')
    with enter_context(), follow_build(f"verification of {', '.join(func.name for func in funcs(original))}"):
        work = max(_work(m) for m in (original, scheduled.module))
        if sizes == "full" or (sizes == "auto" and work <= way.full_work):
            with stage("at full size"):
                return compare(original, scheduled.module, seed, scheduled.moves, way.comparison)
        with stage("at smaller sizes"):
            result = _compare_scaled(original, scheduled, replay, seed, way)
        if isinstance(result, Result):
            return result
        if sizes == "auto" and work <= way.tried_work:
            with stage("at full size"):
                return compare(original, scheduled.module, seed, scheduled.moves, way.comparison)
        raise NotChecked(
            f"the program cannot be checked at smaller sizes: {result}."
            f' verify("full") runs it at its own sizes, about {work:.0e} iterations'
        )


def _work(module: ir.Module) -> int:
    """The iterations of the largest function, in all sizes to be tried."""
    largest = 0
    by_name = signatures(module)
    for func in funcs(module):
        if func.name in by_name:
            largest = max(largest, sum(work_of(func.op, sizes) for sizes in inputs.size_choices(by_name[func.name])))
    return largest


def _compare_scaled(
    original: ir.Module, scheduled: ScheduledModule, replay: Replay, seed: int, way: ComparisonMethod
) -> Result | str:
    """The result at smaller sizes, or the reason why there is none."""
    reason = "no extent can be made smaller without changing the kinds of guards"
    for scale in scales(original, scheduled.module):
        outcome = _replay_scaled(replay, scale, scheduled.module)
        if isinstance(outcome, str):
            reason = outcome
            continue
        if max(_work(m) for m in (scale.module, outcome.module)) > way.tried_work:
            reason = "it is too large at smaller sizes as well"
            continue
        result = compare(scale.module, outcome.module, seed, outcome.moves, way.comparison)
        result.notes.append(f"sizes scaled: {scale}; evidence for the program's own sizes, not a proof")
        return result
    return reason


def _replay_scaled(replay: Replay, scale: ScaledProgram, scheduled: ir.Module) -> ScheduledModule | str:
    """Replay the schedule on the smaller program, or the reason why it differs there."""
    try:
        done = replay(scale.module, scale.change)
    except (ValueError, RuntimeError) as error:  # TraceError, ScheduleError
        return f"a step fails at smaller sizes ({str(error).splitlines()[0]})"
    if structure_of(done.module) != structure_of(scheduled):
        return "the schedule yields a different structure at smaller sizes"
    return done


_SMALL = 8
"""Extents up to this are not scaled."""
_LARGE = 32
"""Two tiles of this size, and the rest, are enough."""
_ROUNDS = ((2, 3, 4), (1, 2, 3))


# --- smaller sizes, with the same kinds of guards ---------------------------------------------------------------------


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

    def _factors(self, factors: list[int | None]) -> list[int | None]:
        first, *tail = factors
        numbers = [f for f in tail if isinstance(f, int)]
        if not tail or len(numbers) != len(tail):
            return factors
        if first is None and _is_extent(prod(numbers), self.extents):
            return [1, None, *tail[1:]]
        if isinstance(first, int) and _is_extent(first * prod(numbers), self.extents):
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
    with freeze_modules():
        axes = axes_of(funcs(original)[0])
    if axes is None:
        return
    met = index_constants(scheduled, axes)
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
        module = resize_module(original, axes, new_sizes)
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
    if isa(op, AffineIfOp):
        words.append(str(len(walk.constraints(op))))
    if is_loop(op):
        words.append(str(len(attrs.map_of(op.attributes["upperBoundMap"]).results)))
    parent = op.parent
    return (*words, parent.operation.name if parent is not None else "")


# --- the constants that an axis meets in a scheduled program: tile sizes and divisors ---------------------------------


def index_constants(scheduled: ir.Module, axes: Axes) -> dict[Node, set[int]]:
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
    meetings = [meeting for op in everything for meeting in _op_dimensions(op, env)]
    loops = LoopAxes(axes, meetings)
    for meeting in meetings:
        for part in loops.dimension_axes(meeting):
            top = axes.extents.get(part, 0)
            constants.setdefault(part, set()).update(c for c in meeting.constants if 1 < c < top and c not in derived)
    return constants


@dataclass(frozen=True)
class AccessDimension:
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

    def __init__(self, axes: Axes, meetings: Iterable[AccessDimension]):
        self.axes = axes
        self.known: dict[ir.Value, set[Node]] = {}
        self.dims: dict[Node, set[Node]] = {}
        for meeting in meetings:
            self._record_axes(meeting.node, meeting.variables)
        self._spread([m for m in meetings if m.node not in axes.sizes])

    def dimension_axes(self, meeting: AccessDimension) -> set[Node]:
        """The axes of a dimension. If one of its loops is unknown, also all axes of the same extent."""
        if meeting.node in self.axes.sizes:
            return self._parts(meeting.node)
        axes = {axis for v in meeting.variables for axis in self.known.get(v, ())}
        if all(v in self.known for v in meeting.variables) and axes:
            return axes
        axes |= self.dims.get(meeting.node, set())
        return axes | {a for a, n in self.axes.extents.items() if n == meeting.size}

    def _record_axes(self, node: Node, variables: Iterable[ir.Value]) -> None:
        if node in self.axes.sizes:
            for value in variables:
                self.known.setdefault(value, set()).update(self._parts(node))

    def _parts(self, node: Node) -> set[Node]:
        axis = self.axes.find_root(node)
        return set(self.axes.derived.get(axis, [axis]))

    def _spread(self, meetings: list[AccessDimension]) -> None:
        """Pass axes from loops to the dimensions they index, and on to loops of which nothing is known."""
        initial = set(self.known)
        count = -1
        while count != (count := (sum(map(len, self.known.values())) + sum(map(len, self.dims.values())))):
            for meeting in meetings:
                dim = self.dims.setdefault(meeting.node, set())
                dim.update(axis for v in meeting.variables for axis in self.known.get(v, ()))
                for value in meeting.variables if dim else ():
                    if value not in initial:
                        self.known.setdefault(value, set()).update(dim)


def _op_dimensions(op: ir.Operation, env: dict[ir.Value, Index]) -> Iterator[AccessDimension]:
    if isa(op, AffineElementAccessOp):
        buffer = Buffer(accessed_memref(op))
        for axis, index in enumerate(walk.access_indices(op)):
            index = index.substitute(env)
            yield _access_dimension(buffer, axis, [index], _constants(index))
    elif isa(op, SubviewOp):
        dynamic = iter(list(op.operands)[1:])
        starts = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
        sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
        for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            constants, indices = {size}, []
            if start == ir.ShapedType.get_dynamic_size():
                value = next(dynamic)
                if defining_op(value, ApplyOp) is not None:
                    indices = [read_apply(value).substitute(env)]
                    constants |= _constants(indices[0])
            yield _access_dimension(Buffer(SubviewOp(op).source), axis, indices, constants)


def _access_dimension(buffer: Buffer, axis: int, indices: list[Index], constants: set[int]) -> AccessDimension:
    root = buffer.root
    size = root.shape[axis] if axis < root.rank else None
    name = root.name if buffer.is_view and axis < root.rank else buffer.name
    variables = tuple(v for i in indices for v in i.values)
    return AccessDimension(("dim", name, axis), size, variables, frozenset(constants))


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


# --- axes: which extents of loops, blocks and buffers must change together --------------------------------------------


Node = tuple[str, str | int, int] | tuple[str, int]
"""("dim", buffer name, axis), ("iter", block id, number), ("loop", loop id)."""

_PLAIN = frozenset(
    names_of(AffineElementAccessOp, AffineLoopOp, AllocOp, AffineIfOp, AffineYieldOp, ApplyOp, FuncOp, ReturnOp)
)
"""Besides operators of numbers: the ops of programs whose axes are known; others have no answer."""


@dataclass
class Axes:
    """Union-find of extents. `derived`: extents that are products of others, {axis: {axis: factor}}."""

    _above: dict[Node, Node] = field(default_factory=dict)
    sizes: dict[Node, int] = field(default_factory=dict)
    fixed: set[Node] = field(default_factory=set)
    sums: list[tuple[Node, dict[Node, int]]] = field(default_factory=list)
    extents: dict[Node, int] = field(default_factory=dict)
    derived: dict[Node, dict[Node, int]] = field(default_factory=dict)
    names: dict[Node, str] = field(default_factory=dict)

    def find_root(self, node: Node) -> Node:
        while self._above.get(node, node) != node:
            node = self._above[node]
        return node

    def add(self, node: Node, size: int | None) -> None:
        if size is None:
            self.fixed.add(node)
        self.sizes[node] = size or 0

    def join(self, a: Node, b: Node) -> None:
        if self.sizes.get(a) != self.sizes.get(b):
            self.fixed |= {a, b}
            return
        a, b = self.find_root(a), self.find_root(b)
        if a != b:
            self._above[b] = a

    def settle(self) -> None:
        """Compute the independent axes (`extents`) and the dependent ones (`derived`)."""
        fixed = {self.find_root(n) for n in self.fixed}
        dependent: dict[Node, dict[Node, int]] = {}
        for node, parts in self.sums:
            target = self.find_root(node)
            total: dict[Node, int] = {}
            for part, factor in parts.items():
                total[self.find_root(part)] = total.get(self.find_root(part), 0) + factor
            if dependent.setdefault(target, total) != total or target in total:
                fixed |= {target, *total, *dependent[target]}
        for _ in dependent:
            for target, total in dependent.items():
                if target in fixed or any(p in dependent for p in total):
                    fixed |= {target, *total}
        for node, size in self.sizes.items():
            axis = self.find_root(node)
            if axis not in fixed and axis not in dependent:
                self.extents[axis] = size
        self.derived = {t: total for t, total in dependent.items() if t not in fixed}

    def size_at(self, node: Node, new_sizes: Mapping[Node, int]) -> int:
        """The new size of a node."""
        axis = self.find_root(node)
        if axis in self.derived:
            moved = sum(f * (new_sizes.get(p, self.sizes[p]) - self.sizes[p]) for p, f in self.derived[axis].items())
            return self.sizes[node] + moved
        return new_sizes.get(axis, self.sizes[node])


def axes_of(func: Func) -> Axes | None:
    """The axes of a function; None if it has views, calls, shape variables or loops that do not start at 0."""
    axes = Axes()
    variables: dict[ir.Value, Node] = {}
    everything = walk.ops(func.op)
    for op in everything:
        if op.name not in _PLAIN and not is_scalar(op.name):
            return None
    for buffer in [*func.params, *(Buffer(op.results[0]) for op in everything if isa(op, AllocOp))]:
        for axis, size in enumerate(buffer.shape):
            if size is None:
                return None
            axes.add(("dim", buffer.name, axis), size)
    for op in everything:
        if is_loop(op):
            _loop(op, axes, variables)
        elif is_block(op):
            _block(Block(op), axes, variables)
    for op in everything:
        _uses(op, axes, variables)
    axes.settle()
    for value, node in variables.items():
        axes.names.setdefault(axes.find_root(node), walk.enclosing_loop_name(value) or str(node[-1]))
    for axis in axes.extents:
        axes.names.setdefault(axis, " ".join(map(str, axis[1:])))
    return axes


def _loop(op: ir.Operation, axes: Axes, variables: dict[ir.Value, Node]) -> None:
    loop = Loop(op)
    node = ("loop", loop.id)
    variables[loop.var] = node
    axes.add(node, loop.const_extent if loop.lower.as_constant() == 0 else None)


def _block(block: Block, axes: Axes, variables: dict[ir.Value, Node]) -> None:
    for number, it in enumerate(block.iters):
        node = ("iter", block.id, number)
        variables[it.var] = node
        axes.add(node, it.extent.as_constant() if it.min.as_constant() == 0 else None)
        value = it.binding.is_value()
        if value is not None and value in variables:
            axes.join(variables[value], node)
        else:
            axes.fixed |= {node, *(variables[v] for v in it.binding.values if v in variables)}


def _uses(op: ir.Operation, axes: Axes, variables: Mapping[ir.Value, Node]) -> None:
    """Constrain axes by the uses of loop variables and iters."""
    if isa(op, AffineElementAccessOp):
        name = Buffer(accessed_memref(op)).name
        for axis, index in enumerate(walk.access_indices(op)):
            _index(index, ("dim", name, axis), axes, variables)
        return
    if is_loop(op) or is_block(op) or is_init(op):
        return
    axes.fixed |= {variables[v] for v in op.operands if v in variables}  # used in a condition or as a value


def _index(index: Index, dim: Node, axes: Axes, variables: Mapping[ir.Value, Node]) -> None:
    value = index.is_value()
    if value is not None and value in variables:
        axes.join(variables[value], dim)
        return
    linear = dim_factors(index.expr)
    nodes = [variables.get(v) for v in index.values]
    if linear is None or None in nodes or any(f < 0 for f in linear[0].values()):
        axes.fixed |= {dim, *(n for n in nodes if n is not None)}
    elif linear[0]:
        axes.sums.append((dim, {nodes[d]: f for d, f in linear[0].items()}))  # type: ignore[misc]
    else:
        axes.fixed.add(dim)


def resize_module(module: ir.Module, axes: Axes, new_sizes: Mapping[Node, int]) -> ir.Module | None:
    """A copy of a module with other sizes; None if it does not verify."""
    copy = create.clone_module(module)
    func = funcs(copy)[0]
    buffers = [*func.params, *(Buffer(op.results[0]) for op in walk.ops(func.op) if isa(op, AllocOp))]
    for buffer in buffers:
        shape = [axes.size_at(("dim", buffer.name, a), new_sizes) for a in range(buffer.rank)]
        if any(n < 1 for n in shape):
            return None
        old = buffer.type
        buffer.value.set_type(ir.MemRefType.get(shape, old.element_type, old.layout, old.memory_space))
    signature = ir.FunctionType.get([a.type for a in func.args], [])
    func.op.attributes["function_type"] = ir.TypeAttr.get(signature)
    for op in walk.ops(func.op):
        if is_block(op) and Block(op).iters:
            block = Block(op)
            sizes = [axes.size_at(("iter", block.id, n), new_sizes) for n in range(len(block.iters))]
            exprs = [ir.AffineConstantExpr.get(n) for n in sizes]
            op.attributes[attrs.EXTENT] = ir.AffineMapAttr.get(ir.AffineMap.get(0, 0, exprs))
    for op in reversed([o for o in walk.ops(func.op) if is_loop(o)]):
        if Loop(op).const_extent is not None:
            size = axes.size_at(("loop", Loop(op).id), new_sizes)
            edit.set_bounds(op, Loop(op).lowers, [Loop(op).lower + size])
    try:
        verify(copy)
    except VerifyError:
        return None
    return copy
