"""Match the canonical form of a block with that of an intrinsic; report the differences on a mismatch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, permutations
from typing import TypeVar

from mlir import ir

from tir_mlir.dialect.computation import scalar_tree
from tir_mlir.dialect.computation.form import Axis, Form, IndexCondition, Operand
from tir_mlir.dialect.computation.scalar_params import specializations
from tir_mlir.dialect.computation.scalar_tree import Guard, Leaf, OpNode, ScalarArgument, Tree
from tir_mlir.dialect.ir import Buffer, Index, same_indices, step

_Kind = TypeVar("_Kind", Leaf, Guard)
_KINDS = {"S": "spatial", "R": "reduce"}
_MAX_ORDERS = 720  # iterator orders tried to describe a mismatch; a match needs none


@dataclass(frozen=True)
class ParamBinding:
    """A parameter of the intrinsic bound to a window of a buffer that starts at `base`.

    `dims[d]`: the parameter's dimension for dimension d of the buffer (None: a single point). `added`: unit dimensions
    that only the parameter has.
    """

    param: Buffer
    buffer: Buffer
    base: tuple[Index, ...]
    dims: tuple[int | None, ...]
    added: tuple[int, ...] = ()
    smaller: tuple[tuple[int, int], ...] = ()
    """Dimensions of the parameter of which less is accessed, and how much."""

    @property
    def shape(self) -> list[int]:
        """The part of the parameter that is accessed."""
        return [dict(self.smaller).get(d, size or 0) for d, size in enumerate(self.param.shape)]

    @property
    def sizes(self) -> list[int]:
        """Extents of the window, one per dimension of the buffer."""
        return [1 if d is None else self.shape[d] for d in self.dims]


@dataclass(frozen=True)
class SizeValue:
    """What an index parameter is in a block: in every instance within its bounds, or else taken as the nearer one."""

    index: Index
    clamped: bool = False


@dataclass(frozen=True)
class IntrinMatch:
    """Pairs of iterators (intrinsic, block), and the binding of each parameter, in order of parameters."""

    axes: tuple[tuple[Axis, Axis], ...]
    bindings: tuple[ParamBinding, ...]
    sizes: Mapping[int, SizeValue]
    """The index parameters, by argument."""
    numbers: Mapping[int, Tree]
    """The other scalar parameters, by argument, as computations of the block."""
    index_numbers: frozenset[int]
    """Those of them that are an index, converted where it is used."""
    block: Form
    keep: object = field(default=None, compare=False, repr=False)
    """The form of the intrinsic, whose module holds the values."""


@dataclass(frozen=True)
class Mismatch:
    """The differences under one alignment of block and intrinsic; `weight` ranks them."""

    differences: tuple[str, ...]
    weight: int

    def __str__(self) -> str:
        return "; ".join(self.differences)


@dataclass(frozen=True)
class _Way:
    """The block's operand, condition and computation for each operand, condition and scalar parameter of the
    intrinsic, by argument."""

    operands: tuple[int, ...]
    conditions: tuple[int, ...]
    numbers: Mapping[int, Tree]
    index_numbers: frozenset[int]


@dataclass(frozen=True)
class _OperandPairing:
    """The block's operand for each operand of the intrinsic, and the block's iterator for each of its iterators."""

    operands: tuple[int, ...]
    conditions: tuple[int, ...]
    axes: tuple[int, ...]


def match(block: Form, intrin: Form) -> IntrinMatch | list[Mismatch]:
    """Match a block with an intrinsic. Returns the match, or the (at most two) mismatches with the fewest differences.

    Names and order of iterators are irrelevant, and operands of commutative ops may be swapped; unit iterators and
    single-point dimensions are ignored.
    """
    block_form, refused = block.canonical(), []
    found: IntrinMatch | None = None
    for specialized, fixed in specializations(intrin):
        intrin_form = specialized.canonical()
        if fixed and _counts(intrin_form) != _counts(block_form):
            continue
        matched = _match(block_form, intrin_form)
        if isinstance(matched, IntrinMatch):
            sizes = {n: SizeValue(Index.constant(size)) for n, size in fixed.items()}
            matched = replace(matched, sizes={**sizes, **matched.sizes})
            if not any(b.added for b in matched.bindings):
                return matched
            found = found or matched  # a view cannot add a dimension: another size may be the one that is 1
        else:
            refused += matched
    if found is not None:
        return found
    best: dict[str, Mismatch] = {}
    for mismatch in sorted(refused, key=lambda m: m.weight):
        best.setdefault(str(mismatch), mismatch)
    return list(best.values())[:2]


def _counts(form: Form) -> tuple[int, int]:
    return len(form.axes), len(form.conditions)


def _match(block_form: Form, intrin_form: Form) -> IntrinMatch | list[Mismatch]:
    common = _init_difference(intrin_form, block_form)
    ways = _ways(intrin_form, block_form)
    mismatches: list[Mismatch] = []
    for way in ways if not common else []:
        matched = _match_way(intrin_form, block_form, way)
        if isinstance(matched, IntrinMatch):
            return matched
        mismatches += [Mismatch(tuple(matched), len(matched))] if matched else []
    if not ways:
        mismatches.append(_without_payload(intrin_form, block_form, common))
    for candidate in _candidates(intrin_form, block_form, ways):
        differences = [*common, *_differences(intrin_form, block_form, candidate)]
        weight = len(differences) + _axis_weight(intrin_form, block_form, candidate)
        if differences:
            mismatches.append(Mismatch(tuple(differences), weight))
    return mismatches


def _match_way(intrin: Form, block: Form, way: _Way) -> IntrinMatch | list[str]:
    """The match in one way, or its differences; none if the iterators differ."""
    axes = _pair_axes(intrin, block, way)
    if axes is None:
        return []
    pairs = tuple((intrin.axes[n], block.axes[m]) for n, m in enumerate(axes))
    sizes = _sizes(intrin, block, way, pairs)
    bindings = _bindings(intrin, block, way.operands, pairs)
    if isinstance(sizes, str) or isinstance(bindings, str):
        return [text for text in (sizes, bindings) if isinstance(text, str)]
    differences = _type_differences(intrin, block, way.operands)
    return differences or IntrinMatch(pairs, tuple(bindings), sizes, way.numbers, way.index_numbers, block, intrin)


def _ways(intrin: Form, block: Form) -> list[_Way]:
    """The ways in which the payloads are equal."""
    start: dict[Tree, Tree] = {Leaf(intrin.output): Leaf(block.output)}
    ways = (_way(intrin, block, p) for p in scalar_tree.correspondences(intrin.payload, block.payload, start))
    return [way for way in ways if way is not None]


def _way(intrin: Form, block: Form, pairs: scalar_tree.Pairs) -> _Way | None:
    """A way from pairs of leaves; None if they leave out a part of the block, or a number varies in it."""
    operands = tuple(b.operand for a, b in sorted(_of_kind(pairs, Leaf), key=lambda p: p[0].operand))
    conditions = tuple(b.condition for a, b in sorted(_of_kind(pairs, Guard), key=lambda p: p[0].condition))
    scalars = [(a, b) for a, b in pairs.items() if not isinstance(a, Leaf | Guard)]
    numbers = {scalar_tree.scalar_number(a): b for a, b in scalars}
    uniform = {n for tree in numbers.values() for n in scalar_tree.leaves(tree)}
    if len(numbers) < len(scalars) or any(block.operands[n].used_rows for n in uniform):
        return None
    if any(block.values[b].type != intrin.values[a].type for a, b in scalars):
        return None
    index_numbers = frozenset(scalar_tree.scalar_number(a) for a, _ in scalars if isinstance(a, OpNode))
    counts = len(operands), len(conditions), len(block.conditions), {*operands} | uniform
    wanted = len(intrin.operands), len(intrin.conditions), len(conditions), {*range(len(block.operands))}
    return _Way(operands, conditions, numbers, index_numbers) if counts == wanted else None


def _of_kind(pairs: scalar_tree.Pairs, kind: type[_Kind]) -> list[tuple[_Kind, _Kind]]:
    return [(a, b) for a, b in pairs.items() if isinstance(a, kind) and isinstance(b, kind)]


@dataclass(frozen=True)
class Alignment:
    """An alignment of intrinsic and block: pairs of names (the intrinsic's, the block's) of buffers and of iterators,
    the differences, and the match if there are none."""

    operands: tuple[tuple[str, str], ...]
    axes: tuple[tuple[str, str], ...]
    differences: tuple[str, ...]
    match: IntrinMatch | None = None

    def __str__(self) -> str:
        parts = [", ".join(f"{a} = {b}" for a, b in pairs) for pairs in (self.axes, self.operands) if pairs]
        return "; ".join(parts)


def alignments(block: Form, intrin: Form) -> list[Alignment]:
    """All assignments of a block's operands to an intrinsic's, each with the best assignment of iterators.

    If the payloads differ, a single `Alignment` that describes the difference.
    """
    intrin_form, block_form = intrin.canonical(), block.canonical()
    common = _init_difference(intrin_form, block_form)
    by_operands: dict[tuple[int, ...], Alignment] = {}
    for way in _ways(intrin_form, block_form):
        if way.operands not in by_operands:
            by_operands[way.operands] = _alignment(intrin_form, block_form, way, common)
    if not by_operands:
        return [Alignment((), (), _without_payload(intrin_form, block_form, common).differences)]
    return sorted(by_operands.values(), key=lambda w: len(w.differences))


def _alignment(intrin: Form, block: Form, way: _Way, common: Sequence[str]) -> Alignment:
    operands = way.operands
    axes = _pair_axes(intrin, block, way)
    matched = _match_way(intrin, block, way) if axes is not None else []
    if axes is not None:
        differences = [*common, *(matched if isinstance(matched, list) else [])]
    else:
        tried = [(c, _differences(intrin, block, c)) for c in _candidates(intrin, block, [way])]
        best, map_differences = min(tried, key=lambda t: len(t[1]) + _axis_weight(intrin, block, t[0]))
        axes, differences = best.axes, [*common, *map_differences]
    numbers = sorted(range(len(operands)), key=lambda n: ir.BlockArgument(intrin.operands[n].buffer.value).arg_number)
    names = {intrin.operands[n].buffer.name: block.operands[operands[n]].buffer.name for n in numbers}
    pairs = tuple((intrin.axes[n].name, block.axes[m].name) for n, m in enumerate(axes))
    match_ = matched if isinstance(matched, IntrinMatch) and not differences else None
    return Alignment(tuple(names.items()), pairs, tuple(differences), match_)


# --- alignment of iterators ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """An iterator: its extent (None: not constant), its kind, and its factors in every index and condition."""

    extent: int | None
    kind: str
    factors: tuple[tuple[int, ...], ...]

    def takes(self, column: _Column) -> bool:
        """Whether a block's iterator may be there for this one of an intrinsic."""
        sized = self.extent is None or self.extent == column.extent
        return sized and (self.kind, self.factors) == (column.kind, column.factors)


def _columns(form: Form, operands: Sequence[int], conditions: Sequence[int]) -> list[_Column]:
    rows_of_operands = [[form.operands[n].rows[d] for d in form.operands[n].used_rows] for n in operands]
    rows_of_operands += [[form.conditions[n].row] for n in conditions]
    columns = []
    for number, axis in enumerate(form.axes):
        factors = tuple(tuple(row[number] for row in rows) for rows in rows_of_operands)
        columns.append(_Column(axis.extent.as_constant(), axis.kind, factors))
    return columns


def _pair_axes(intrin: Form, block: Form, way: _Way) -> tuple[int, ...] | None:
    """The block's iterator for each of the intrinsic's; None unless all their columns agree."""
    free = dict(enumerate(_columns(block, way.operands, way.conditions)))
    pairs = []
    for column in _columns(intrin, range(len(intrin.operands)), range(len(intrin.conditions))):
        number = next((n for n, c in free.items() if column.takes(c)), None)
        if number is None:
            return None
        del free[number]
        pairs.append(number)
    return tuple(pairs) if not free else None


def _sizes(intrin: Form, block: Form, way: _Way, axes: Sequence[tuple[Axis, Axis]]) -> dict[int, SizeValue] | str:
    """The index parameters, from the extents and the conditions of the block; or why there is none for one."""
    extents = [(a.extent, b.extent, False) for a, b in axes]
    limits = []
    for number, condition in enumerate(intrin.conditions):
        there = block.conditions[way.conditions[number]]
        if condition.is_eq != there.is_eq:
            return "condition: one of the two is an equality"
        limits.append((condition.base, there.base, _is_upper_limit(condition)))
    values: dict[int, SizeValue] = {}
    for wanted, index, clamped in [*extents, *limits]:
        params = [p for p in intrin.sizes if wanted.uses(p.value)]
        if len(params) > 1 or (params and step(wanted, params[0].value) != 1):
            return "condition: more than one parameter, or a multiple of one, is in one condition"
        known = {p.value: Index.constant(0) for p in params}
        value = (index - wanted.substitute(known)).simplify()
        if not params and not value.is_equal_to(0):
            return "condition: the block is limited by other numbers than the intrinsic"
        for param in params:
            size = values.setdefault(param.number, SizeValue(value, clamped))
            if not size.index.is_equal_to(value):
                return f"parameter {param.name}: the block has two different values for it"
            values[param.number] = SizeValue(value, size.clamped and clamped)
    return values


def _is_upper_limit(condition: IndexCondition) -> bool:
    """Whether a condition is `iterator < size`, for which any size beyond the extent is as good as that."""
    return not condition.is_eq and sorted(condition.row) == [-1] + [0] * (len(condition.row) - 1)


def _candidates(intrin: Form, block: Form, ways: Sequence[_Way]) -> Iterator[_OperandPairing]:
    for way in ways:
        if len(intrin.axes) != len(block.axes):
            yield _OperandPairing(way.operands, way.conditions, ())
            continue
        for axes in islice(permutations(range(len(block.axes))), _MAX_ORDERS):
            yield _OperandPairing(way.operands, way.conditions, axes)


# --- windows -----------------------------------------------------------------------------------------------------


def _bindings(
    intrin: Form, block: Form, operands: Sequence[int], axes: Sequence[tuple[Axis, Axis]]
) -> list[ParamBinding] | str:
    """The window of every parameter, or the reason why there is none."""
    by_param: dict[Buffer, ParamBinding] = {}
    extents = [b.extent.as_constant() for _, b in axes]
    for number, operand in enumerate(intrin.operands):
        binding = _window(operand, block.operands[operands[number]], extents)
        first = by_param.setdefault(operand.buffer, binding)
        if first.buffer != binding.buffer or first.dims != binding.dims or not same_indices(first.base, binding.base):
            return (
                f"operand {operand.buffer.name}: the intrinsic uses it twice, "
                f"the block has two different regions there ({first.buffer.name} and {binding.buffer.name})"
            )
    return sorted(by_param.values(), key=lambda b: ir.BlockArgument(b.param.value).arg_number)


def _window(parameter: Operand, region: Operand, extents: Sequence[int | None]) -> ParamBinding:
    """The window of a parameter. Dimensions are paired from last to first, unit dimensions of the parameter with single
    points of the buffer. extents: of the iterators of the parameter."""
    pair = dict(zip(parameter.used_rows, region.used_rows, strict=True))
    dims: list[int | None] = [None] * len(region.rows)
    added = []
    free = len(dims) - 1
    for number in reversed(range(len(parameter.rows))):
        if number in pair:
            dims[pair[number]] = number
            free = pair[number] - 1
        elif free > max((pair[n] for n in pair if n < number), default=-1):
            dims[free] = number
            free -= 1
        else:
            added.append(number)
    base = [b if d is None else (b - parameter.base[d]).simplify() for b, d in zip(region.base, dims, strict=True)]
    smaller = []
    for number, (row, size) in enumerate(zip(parameter.rows, parameter.buffer.shape, strict=True)):
        counts = [(f, n) for f, n in zip(row, extents, strict=True) if f]
        accessed = 1 + sum(abs(f) * ((n or 1) - 1) for f, n in counts)
        if all(n is not None for _, n in counts) and accessed < (size or 0):
            smaller.append((number, accessed))
    return ParamBinding(parameter.buffer, region.buffer, tuple(base), tuple(dims), tuple(added), tuple(smaller))


# --- differences -----------------------------------------------------------------------------------------------------


def _init_difference(intrin: Form, block: Form) -> list[str]:
    name = block.operands[block.output].buffer.name
    if block.init is not None and intrin.init is None:
        return [
            f"init: the block sets {name} to a start value, the intrinsic only updates; "
            "decompose_reduction takes the init out"
        ]
    if intrin.init is not None and block.init is None:
        return [f"init: the intrinsic sets its result to a start value, the block updates {name} without an init"]
    if intrin.init is None or block.init is None:
        return []
    if block.partial_init:
        return [f"init: the block sets {name} only where its own reduce iters start, the intrinsic sets it every time"]
    texts = [scalar_tree.structure_text(f) for f in (intrin.init, block.init)]
    return [] if texts[0] == texts[1] else [f"init: the intrinsic starts from {texts[0]}, the block from {texts[1]}"]


def _without_payload(intrin: Form, block: Form, common: Sequence[str]) -> Mismatch:
    differences = [*common, _payload_difference(intrin, block)]
    if sorted(map(_axis_key, intrin.axes)) != sorted(map(_axis_key, block.axes)):
        differences.append(_axes_difference(intrin, block))
    # a different op weighs more than an index map: nothing else can be compared
    return Mismatch(tuple(differences), len(differences) + 10)


def _payload_difference(intrin: Form, block: Form) -> str:
    full = scalar_tree.structure_text(intrin.payload, False) == scalar_tree.structure_text(block.payload, False)
    texts = [scalar_tree.text(f.payload, partial(_leaf_text, f), full) for f in (intrin, block)]
    if texts[0] == texts[1]:
        texts = [scalar_tree.structure_text(f.payload) for f in (intrin, block)]
    if texts[0] == texts[1]:
        maps = [", ".join(_map(f, n, _names(f)) for n in range(len(f.operands))) for f in (intrin, block)]
        counts = len(intrin.operands), len(block.operands)
        return f"operands: the intrinsic has {counts[0]} ({maps[0]}), the block {counts[1]} ({maps[1]})"
    return f"payload: the intrinsic computes {texts[0]}, the block computes {texts[1]}"


def _leaf_text(form: Form, leaf: Leaf | Guard | ScalarArgument) -> str:
    if isinstance(leaf, Leaf):
        return form.operands[leaf.operand].buffer.name
    if isinstance(leaf, ScalarArgument):
        return next((p.name for p in form.sizes if p.number == leaf.number), f"parameter {leaf.number}")
    condition = form.conditions[leaf.condition]
    return _condition_text(condition, condition.row, _names(form))


def _axis_key(axis: Axis) -> tuple[str, str]:
    return axis.size, axis.kind


def _axes_difference(intrin: Form, block: Form) -> str:
    texts = []
    for form in (intrin, block):
        axes = [f"{a.name}: {a.size} {_KINDS[a.kind]}" for a in form.axes]
        texts.append(", ".join(axes) or "none (it is a single point)")
    return f"iterators: the intrinsic needs {texts[0]}; the block has {texts[1]}"


def _axis_weight(intrin: Form, block: Form, candidate: _OperandPairing) -> int:
    if not candidate.axes:
        return abs(len(intrin.axes) - len(block.axes))
    pairs = zip(intrin.axes, (block.axes[n] for n in candidate.axes), strict=True)
    return 2 * sum(_axis_key(a) != _axis_key(b) for a, b in pairs)


def _differences(intrin: Form, block: Form, candidate: _OperandPairing) -> list[str]:
    differences = []
    same_axes = sorted(map(_axis_key, intrin.axes)) == sorted(map(_axis_key, block.axes))
    if not same_axes:
        differences.append(_axes_difference(intrin, block))
    elif _axis_weight(intrin, block, candidate):
        differences += _axis_by_axis(intrin, block, candidate)
    if candidate.axes:
        for number, block_number in enumerate(candidate.operands):
            differences += _map_difference(intrin, block, number, block_number, candidate)
        for number, block_number in enumerate(candidate.conditions):
            differences += _condition_difference(intrin, block, number, block_number, candidate)
    return differences + _type_differences(intrin, block, candidate.operands)


def _axis_by_axis(intrin: Form, block: Form, candidate: _OperandPairing) -> list[str]:
    differences = []
    for axis, number in zip(intrin.axes, candidate.axes, strict=True):
        block_axis = block.axes[number]
        if _axis_key(axis) != _axis_key(block_axis):
            differences.append(
                f"iterator {axis.name} of the intrinsic is {axis.size} {_KINDS[axis.kind]}, "
                f"{block_axis.name} of the block {block_axis.size} {_KINDS[block_axis.kind]}"
            )
    return differences


def _names(form: Form) -> list[str]:
    return [a.name for a in form.axes]


def _map_difference(intrin: Form, block: Form, number: int, block_number: int, candidate: _OperandPairing) -> list[str]:
    a, b = intrin.operands[number], block.operands[block_number]
    rows = [a.rows[d] for d in a.used_rows]
    others = [tuple(b.rows[d][n] for n in candidate.axes) for d in b.used_rows]
    if rows == others:
        return []
    # both sides use the intrinsic's names, so equal texts mean equal maps
    maps = [_row_texts(r, _names(intrin)) for r in (rows, others)]
    swapped = sorted(rows) == sorted(others)
    described = f"{a.buffer.name}{maps[1]}"
    hint = f"; a view cannot swap dimensions: describe {described}, or swap those of {b.buffer.name}" if swapped else ""
    verb = "writes" if number == intrin.output else "reads"
    return [
        f"operand {a.buffer.name}: the intrinsic {verb} {a.buffer.name}{maps[0]}, "
        f"the block {verb} {b.buffer.name}{maps[1]} there{hint}"
    ]


def _condition_difference(
    intrin: Form, block: Form, number: int, block_number: int, candidate: _OperandPairing
) -> list[str]:
    a, b = intrin.conditions[number], block.conditions[block_number]
    row = tuple(b.row[n] for n in candidate.axes)
    if (a.row, a.is_eq) == (row, b.is_eq):
        return []
    texts = [_condition_text(c, r, _names(intrin)) for c, r in ((a, a.row), (b, row))]
    return [f"condition: the intrinsic has {texts[0]}, the block {texts[1]} there"]


def _condition_text(condition: IndexCondition, row: Sequence[int], names: Sequence[str]) -> str:
    number = condition.base.as_constant()
    base = "..." if number is None else number
    return f"{_row_texts([row], names)[1:-1] or 0} + {base} {'==' if condition.is_eq else '>='} 0"


def _map(form: Form, number: int, names: Sequence[str]) -> str:
    operand = form.operands[number]
    return operand.buffer.name + _row_texts([operand.rows[d] for d in operand.used_rows], names)


def _row_texts(rows: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    texts = []
    for row in rows:
        terms = [name if f == 1 else f"{name} * {f}" for name, f in zip(names, row, strict=True) if f]
        texts.append(" + ".join(terms))
    return f"[{', '.join(texts)}]"


def _type_differences(intrin: Form, block: Form, operands: Sequence[int]) -> list[str]:
    differences = []
    for number, block_number in enumerate(operands):
        a, b = intrin.operands[number].buffer, block.operands[block_number].buffer
        if a.dtype != b.dtype:
            differences.append(f"operand {a.name}: the intrinsic needs {a.dtype}, {b.name} is {b.dtype}")
        if a.scope != b.scope:
            differences.append(f'operand {a.name}: the intrinsic needs scope "{a.scope}", {b.name} is in "{b.scope}"')
    return list(dict.fromkeys(differences))
