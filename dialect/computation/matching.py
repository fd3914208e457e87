"""Match the canonical form of a block with that of an intrinsic; report the differences on a mismatch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, permutations

from mlir import ir

from tir_mlir.dialect.computation import scalar_tree
from tir_mlir.dialect.computation.form import Axis, Form, Operand
from tir_mlir.dialect.ir import Buffer, Index, same_indices

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

    @property
    def sizes(self) -> list[int]:
        """Extents of the window, one per dimension of the buffer."""
        return [1 if d is None else self.param.shape[d] or 0 for d in self.dims]


@dataclass(frozen=True)
class IntrinMatch:
    """Pairs of iterators (intrinsic, block), and the binding of each parameter, in order of parameters."""

    axes: tuple[tuple[Axis, Axis], ...]
    bindings: tuple[ParamBinding, ...]
    keep: object = field(default=None, compare=False, repr=False)  # the forms, whose modules hold the values


@dataclass(frozen=True)
class Mismatch:
    """The differences under one alignment of block and intrinsic; `weight` ranks them."""

    differences: tuple[str, ...]
    weight: int

    def __str__(self) -> str:
        return "; ".join(self.differences)


@dataclass(frozen=True)
class _OperandPairing:
    """The block's operand for each operand of the intrinsic, and the block's iterator for each of its iterators."""

    operands: tuple[int, ...]
    axes: tuple[int, ...]


def match(block: Form, intrin: Form) -> IntrinMatch | list[Mismatch]:
    """Match a block with an intrinsic. Returns the match, or the (at most two) mismatches with the fewest differences.

    Names and order of iterators are irrelevant, and operands of commutative ops may be swapped; unit iterators and
    single-point dimensions are ignored.
    """
    intrin_form, block_form = intrin.canonical(), block.canonical()
    common = _init_difference(intrin_form, block_form)
    ways = [
        c
        for c in scalar_tree.correspondences(
            intrin_form.payload, block_form.payload, {intrin_form.output: block_form.output}
        )
    ]
    ways = [c for c in ways if len(c) == len(intrin_form.operands) == len(block_form.operands)]
    mismatches: list[Mismatch] = []
    for way in ways if not common else []:
        operands = tuple(way[n] for n in range(len(intrin_form.operands)))
        axes = _pair_axes(intrin_form, block_form, operands)
        if axes is None:
            continue
        bindings = _bindings(intrin_form, block_form, operands)
        if isinstance(bindings, str):
            mismatches.append(Mismatch((bindings,), 1))
        elif not (type_differences := _type_differences(intrin_form, block_form, operands)):
            pairs = tuple((intrin_form.axes[n], block_form.axes[m]) for n, m in enumerate(axes))
            return IntrinMatch(pairs, tuple(bindings), (intrin_form, block_form))
        else:
            mismatches.append(Mismatch(tuple(type_differences), len(type_differences)))
    if not ways:
        mismatches.append(_without_payload(intrin_form, block_form, common))
    for candidate in _candidates(intrin_form, block_form, ways):
        differences = [*common, *_differences(intrin_form, block_form, candidate)]
        weight = len(differences) + _axis_weight(intrin_form, block_form, candidate)
        if differences:
            mismatches.append(Mismatch(tuple(differences), weight))
    best: dict[str, Mismatch] = {}
    for mismatch in sorted(mismatches, key=lambda m: m.weight):
        best.setdefault(str(mismatch), mismatch)
    return list(best.values())[:2]


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
    for pairs in scalar_tree.correspondences(
        intrin_form.payload, block_form.payload, {intrin_form.output: block_form.output}
    ):
        if len(pairs) == len(intrin_form.operands) == len(block_form.operands):
            operands = tuple(pairs[n] for n in range(len(intrin_form.operands)))
            if operands not in by_operands:
                by_operands[operands] = _alignment(intrin_form, block_form, operands, common)
    if not by_operands:
        return [Alignment((), (), _without_payload(intrin_form, block_form, common).differences)]
    return sorted(by_operands.values(), key=lambda w: len(w.differences))


def _alignment(intrin: Form, block: Form, operands: tuple[int, ...], common: Sequence[str]) -> Alignment:
    axes = _pair_axes(intrin, block, operands)
    bindings = _bindings(intrin, block, operands) if axes is not None else []
    if axes is not None:
        unlike = [bindings] if isinstance(bindings, str) else []
        differences = [*common, *unlike, *_type_differences(intrin, block, operands)]
    else:
        order = dict(enumerate(operands))
        tried = [(c, _differences(intrin, block, c)) for c in _candidates(intrin, block, [order])]
        best, map_differences = min(tried, key=lambda t: len(t[1]) + _axis_weight(intrin, block, t[0]))
        axes, differences = best.axes, [*common, *map_differences]
    numbers = sorted(range(len(operands)), key=lambda n: ir.BlockArgument(intrin.operands[n].buffer.value).arg_number)
    names = {intrin.operands[n].buffer.name: block.operands[operands[n]].buffer.name for n in numbers}
    pairs = tuple((intrin.axes[n], block.axes[m]) for n, m in enumerate(axes))
    match_ = None
    if not differences and not isinstance(bindings, str):
        match_ = IntrinMatch(pairs, tuple(bindings), (intrin, block))
    return Alignment(tuple(names.items()), tuple((a.name, b.name) for a, b in pairs), tuple(differences), match_)


# --- alignment of iterators ----------------------------------------------------------------------------------------


def _columns(form: Form, operands: Sequence[int]) -> list[tuple]:
    """The signature of each iterator of a form: extent, kind and its factors in every index."""
    rows_of_operands = [[form.operands[n].rows[d] for d in form.operands[n].used_rows] for n in operands]
    columns = []
    for number, axis in enumerate(form.axes):
        factors = tuple(tuple(row[number] for row in rows) for rows in rows_of_operands)
        columns.append((axis.extent.as_constant(), axis.kind, factors))
    return columns


def _pair_axes(intrin: Form, block: Form, operands: Sequence[int]) -> tuple[int, ...] | None:
    """The block's iterator for each of the intrinsic's; None unless all their signatures agree."""
    free = dict(enumerate(_columns(block, operands)))
    pairs = []
    for column in _columns(intrin, range(len(intrin.operands))):
        number = next((n for n, c in free.items() if c == column and c[0] is not None), None)
        if number is None:
            return None
        del free[number]
        pairs.append(number)
    return tuple(pairs) if not free else None


def _candidates(intrin: Form, block: Form, ways: Sequence[dict[int, int]]) -> Iterator[_OperandPairing]:
    for way in ways:
        operands = tuple(way[n] for n in range(len(intrin.operands)))
        if len(intrin.axes) != len(block.axes):
            yield _OperandPairing(operands, ())
            continue
        for axes in islice(permutations(range(len(block.axes))), _MAX_ORDERS):
            yield _OperandPairing(operands, axes)


# --- windows -----------------------------------------------------------------------------------------------------


def _bindings(intrin: Form, block: Form, operands: Sequence[int]) -> list[ParamBinding] | str:
    """The window of every parameter, or the reason why there is none."""
    by_param: dict[Buffer, ParamBinding] = {}
    for number, operand in enumerate(intrin.operands):
        binding = _window(operand, block.operands[operands[number]])
        first = by_param.setdefault(operand.buffer, binding)
        if first.buffer != binding.buffer or first.dims != binding.dims or not same_indices(first.base, binding.base):
            return (
                f"operand {operand.buffer.name}: the intrinsic uses it twice, "
                f"the block has two different regions there ({first.buffer.name} and {binding.buffer.name})"
            )
    return sorted(by_param.values(), key=lambda b: ir.BlockArgument(b.param.value).arg_number)


def _window(parameter: Operand, region: Operand) -> ParamBinding:
    """The window of a parameter. Dimensions are paired from last to first, unit dimensions of the parameter with single
    points of the buffer."""
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
    return ParamBinding(parameter.buffer, region.buffer, tuple(base), tuple(dims), tuple(added))


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
    texts = [scalar_tree.text(f.payload, lambda n, f=f: f.operands[n].buffer.name, full) for f in (intrin, block)]
    if texts[0] == texts[1]:
        texts = [scalar_tree.structure_text(f.payload) for f in (intrin, block)]
    if texts[0] == texts[1]:
        maps = [", ".join(_map(f, n, _names(f)) for n in range(len(f.operands))) for f in (intrin, block)]
        counts = len(intrin.operands), len(block.operands)
        return f"operands: the intrinsic has {counts[0]} ({maps[0]}), the block {counts[1]} ({maps[1]})"
    return f"payload: the intrinsic computes {texts[0]}, the block computes {texts[1]}"


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
