"""Match the canonical form of a block with that of an intrinsic; report the differences on a mismatch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, permutations

from tir_mlir.dialect.computation import scalar_tree
from tir_mlir.dialect.computation.form import Axis, Form, Operand
from tir_mlir.dialect.ir import Buffer, Index

_KINDS = {"S": "spatial", "R": "reduce"}
_MAX_ORDERS = 720  # iterator orders tried to describe a mismatch; a match needs none


@dataclass(frozen=True)
class Binding:
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
class Match:
    """Pairs of iterators (intrinsic, block), and the binding of each parameter, in order of parameters."""

    axes: tuple[tuple[Axis, Axis], ...]
    bindings: tuple[Binding, ...]
    keep: object = field(default=None, compare=False, repr=False)  # the forms, whose modules hold the values


@dataclass(frozen=True)
class Mismatch:
    """The differences under one alignment of block and intrinsic; `weight` ranks them."""

    differences: tuple[str, ...]
    weight: int

    def __str__(self) -> str:
        return "; ".join(self.differences)


@dataclass(frozen=True)
class _Candidate:
    """The block's operand for each operand of the intrinsic, and the block's iterator for each of its iterators."""

    operands: tuple[int, ...]
    axes: tuple[int, ...]


def match(block: Form, intrin: Form) -> Match | list[Mismatch]:
    """Match a block with an intrinsic. Returns the match, or the (at most two) mismatches with the fewest differences.

    Names and order of iterators are irrelevant, and operands of commutative ops may be swapped; unit iterators and
    single-point dimensions are ignored.
    """
    left, right = intrin.canonical(), block.canonical()
    common = _init_difference(left, right)
    ways = [c for c in scalar_tree.correspondences(left.payload, right.payload, {left.output: right.output})]
    ways = [c for c in ways if len(c) == len(left.operands) == len(right.operands)]
    found: list[Mismatch] = []
    for way in ways if not common else []:
        operands = tuple(way[n] for n in range(len(left.operands)))
        axes = _pair_axes(left, right, operands)
        if axes is None:
            continue
        bindings = _bindings(left, right, operands)
        if isinstance(bindings, str):
            found.append(Mismatch((bindings,), 1))
        elif not (other := _type_differences(left, right, operands)):
            pairs = tuple((left.axes[n], right.axes[m]) for n, m in enumerate(axes))
            return Match(pairs, tuple(bindings), (left, right))
        else:
            found.append(Mismatch(tuple(other), len(other)))
    if not ways:
        found.append(_without_payload(left, right, common))
    for candidate in _candidates(left, right, ways):
        differences = [*common, *_differences(left, right, candidate)]
        weight = len(differences) + _axis_weight(left, right, candidate)
        if differences:
            found.append(Mismatch(tuple(differences), weight))
    best: dict[str, Mismatch] = {}
    for mismatch in sorted(found, key=lambda m: m.weight):
        best.setdefault(str(mismatch), mismatch)
    return list(best.values())[:2]


@dataclass(frozen=True)
class Alignment:
    """An alignment of intrinsic and block: pairs of names (the intrinsic's, the block's) of buffers and of iterators,
    the differences, and the match if there are none."""

    operands: tuple[tuple[str, str], ...]
    axes: tuple[tuple[str, str], ...]
    differences: tuple[str, ...]
    match: Match | None = None

    def __str__(self) -> str:
        parts = [", ".join(f"{a} = {b}" for a, b in pairs) for pairs in (self.axes, self.operands) if pairs]
        return "; ".join(parts)


def alignments(block: Form, intrin: Form) -> list[Alignment]:
    """All assignments of a block's operands to an intrinsic's, each with the best assignment of iterators.

    If the payloads differ, a single `Alignment` that describes the difference.
    """
    left, right = intrin.canonical(), block.canonical()
    common = _init_difference(left, right)
    found: dict[tuple[int, ...], Alignment] = {}
    for pairs in scalar_tree.correspondences(left.payload, right.payload, {left.output: right.output}):
        if len(pairs) == len(left.operands) == len(right.operands):
            operands = tuple(pairs[n] for n in range(len(left.operands)))
            if operands not in found:
                found[operands] = _alignment(left, right, operands, common)
    if not found:
        return [Alignment((), (), _without_payload(left, right, common).differences)]
    return sorted(found.values(), key=lambda w: len(w.differences))


def _alignment(left: Form, right: Form, operands: tuple[int, ...], common: Sequence[str]) -> Alignment:
    axes = _pair_axes(left, right, operands)
    bindings = _bindings(left, right, operands) if axes is not None else []
    if axes is not None:
        unlike = [bindings] if isinstance(bindings, str) else []
        differences = [*common, *unlike, *_type_differences(left, right, operands)]
    else:
        order = dict(enumerate(operands))
        tried = [(c, _differences(left, right, c)) for c in _candidates(left, right, [order])]
        best, other = min(tried, key=lambda t: len(t[1]) + _axis_weight(left, right, t[0]))
        axes, differences = best.axes, [*common, *other]
    numbers = sorted(range(len(operands)), key=lambda n: left.operands[n].buffer.value.arg_number)
    names = {left.operands[n].buffer.name: right.operands[operands[n]].buffer.name for n in numbers}
    pairs = tuple((left.axes[n], right.axes[m]) for n, m in enumerate(axes))
    match_ = None
    if not differences and not isinstance(bindings, str):
        match_ = Match(pairs, tuple(bindings), (left, right))
    return Alignment(tuple(names.items()), tuple((a.name, b.name) for a, b in pairs), tuple(differences), match_)


# --- alignment of iterators ----------------------------------------------------------------------------------------


def _columns(form: Form, operands: Sequence[int]) -> list[tuple]:
    """The signature of each iterator of a form: extent, kind and its factors in every index."""
    used = [[form.operands[n].rows[d] for d in form.operands[n].used_rows] for n in operands]
    found = []
    for number, axis in enumerate(form.axes):
        factors = tuple(tuple(row[number] for row in rows) for rows in used)
        found.append((axis.extent.as_constant(), axis.kind, factors))
    return found


def _pair_axes(left: Form, right: Form, operands: Sequence[int]) -> tuple[int, ...] | None:
    """The block's iterator for each of the intrinsic's; None unless all their signatures agree."""
    free = dict(enumerate(_columns(right, operands)))
    pairs = []
    for column in _columns(left, range(len(left.operands))):
        number = next((n for n, c in free.items() if c == column and c[0] is not None), None)
        if number is None:
            return None
        del free[number]
        pairs.append(number)
    return tuple(pairs) if not free else None


def _candidates(left: Form, right: Form, ways: Sequence[dict[int, int]]) -> Iterator[_Candidate]:
    for way in ways:
        operands = tuple(way[n] for n in range(len(left.operands)))
        if len(left.axes) != len(right.axes):
            yield _Candidate(operands, ())
            continue
        for axes in islice(permutations(range(len(right.axes))), _MAX_ORDERS):
            yield _Candidate(operands, axes)


# --- windows -----------------------------------------------------------------------------------------------------


def _bindings(left: Form, right: Form, operands: Sequence[int]) -> list[Binding] | str:
    """The window of every parameter, or the reason why there is none."""
    found: dict[Buffer, Binding] = {}
    for number, operand in enumerate(left.operands):
        binding = _window(operand, right.operands[operands[number]])
        known = found.setdefault(operand.buffer, binding)
        if known.buffer != binding.buffer or known.dims != binding.dims or not _same(known.base, binding.base):
            return (
                f"operand {operand.buffer.name}: the intrinsic uses it twice, "
                f"the block has two different regions there ({known.buffer.name} and {binding.buffer.name})"
            )
    return sorted(found.values(), key=lambda b: b.param.value.arg_number)


def _same(left: Sequence[Index], right: Sequence[Index]) -> bool:
    return all(a.same(b) for a, b in zip(left, right, strict=True))


def _window(left: Operand, right: Operand) -> Binding:
    """The window of a parameter. Dimensions are paired from last to first, unit dimensions of the parameter with single
    points of the buffer."""
    pair = dict(zip(left.used_rows, right.used_rows, strict=True))
    dims: list[int | None] = [None] * len(right.rows)
    added = []
    free = len(dims) - 1
    for number in reversed(range(len(left.rows))):
        if number in pair:
            dims[pair[number]] = number
            free = pair[number] - 1
        elif free > max((pair[n] for n in pair if n < number), default=-1):
            dims[free] = number
            free -= 1
        else:
            added.append(number)
    base = [b if d is None else (b - left.base[d]).simplified() for b, d in zip(right.base, dims, strict=True)]
    return Binding(left.buffer, right.buffer, tuple(base), tuple(dims), tuple(added))


# --- differences -----------------------------------------------------------------------------------------------------


def _init_difference(left: Form, right: Form) -> list[str]:
    name = right.operands[right.output].buffer.name
    if right.init is not None and left.init is None:
        return [
            f"init: the block sets {name} to a start value, the intrinsic only updates; "
            "decompose_reduction takes the init out"
        ]
    if left.init is not None and right.init is None:
        return [f"init: the intrinsic sets its result to a start value, the block updates {name} without an init"]
    if left.init is None or right.init is None:
        return []
    if right.partial_init:
        return [f"init: the block sets {name} only where its own reduce iters start, the intrinsic sets it every time"]
    texts = [scalar_tree.numbered(f) for f in (left.init, right.init)]
    return [] if texts[0] == texts[1] else [f"init: the intrinsic starts from {texts[0]}, the block from {texts[1]}"]


def _without_payload(left: Form, right: Form, common: Sequence[str]) -> Mismatch:
    found = [*common, _payload_difference(left, right)]
    if sorted(map(_axis_key, left.axes)) != sorted(map(_axis_key, right.axes)):
        found.append(_axes_difference(left, right))
    # a different op weighs more than an index map: nothing else can be compared
    return Mismatch(tuple(found), len(found) + 10)


def _payload_difference(left: Form, right: Form) -> str:
    full = scalar_tree.numbered(left.payload, False) == scalar_tree.numbered(right.payload, False)
    texts = [scalar_tree.text(f.payload, lambda n, f=f: f.operands[n].buffer.name, full) for f in (left, right)]
    if texts[0] == texts[1]:
        texts = [scalar_tree.numbered(f.payload) for f in (left, right)]
    if texts[0] == texts[1]:
        maps = [", ".join(_map(f, n, _names(f)) for n in range(len(f.operands))) for f in (left, right)]
        counts = len(left.operands), len(right.operands)
        return f"operands: the intrinsic has {counts[0]} ({maps[0]}), the block {counts[1]} ({maps[1]})"
    return f"payload: the intrinsic computes {texts[0]}, the block computes {texts[1]}"


def _axis_key(axis: Axis) -> tuple[str, str]:
    return axis.size, axis.kind


def _axes_difference(left: Form, right: Form) -> str:
    texts = []
    for form in (left, right):
        shown = [f"{a.name}: {a.size} {_KINDS[a.kind]}" for a in form.axes]
        texts.append(", ".join(shown) or "none (it is a single point)")
    return f"iterators: the intrinsic needs {texts[0]}; the block has {texts[1]}"


def _axis_weight(left: Form, right: Form, candidate: _Candidate) -> int:
    if not candidate.axes:
        return abs(len(left.axes) - len(right.axes))
    pairs = zip(left.axes, (right.axes[n] for n in candidate.axes), strict=True)
    return 2 * sum(_axis_key(a) != _axis_key(b) for a, b in pairs)


def _differences(left: Form, right: Form, candidate: _Candidate) -> list[str]:
    found = []
    same_axes = sorted(map(_axis_key, left.axes)) == sorted(map(_axis_key, right.axes))
    if not same_axes:
        found.append(_axes_difference(left, right))
    elif _axis_weight(left, right, candidate):
        found += _axis_by_axis(left, right, candidate)
    if candidate.axes:
        for number, other in enumerate(candidate.operands):
            found += _map_difference(left, right, number, other, candidate)
    return found + _type_differences(left, right, candidate.operands)


def _axis_by_axis(left: Form, right: Form, candidate: _Candidate) -> list[str]:
    found = []
    for axis, number in zip(left.axes, candidate.axes, strict=True):
        other = right.axes[number]
        if _axis_key(axis) != _axis_key(other):
            found.append(
                f"iterator {axis.name} of the intrinsic is {axis.size} {_KINDS[axis.kind]}, "
                f"{other.name} of the block {other.size} {_KINDS[other.kind]}"
            )
    return found


def _names(form: Form) -> list[str]:
    return [a.name for a in form.axes]


def _map_difference(left: Form, right: Form, number: int, other: int, candidate: _Candidate) -> list[str]:
    a, b = left.operands[number], right.operands[other]
    rows = [a.rows[d] for d in a.used_rows]
    others = [tuple(b.rows[d][n] for n in candidate.axes) for d in b.used_rows]
    if rows == others:
        return []
    # both sides use the intrinsic's names, so equal texts mean equal maps
    shown = [_row_texts(r, _names(left)) for r in (rows, others)]
    swapped = sorted(rows) == sorted(others)
    hint = f"; a view cannot swap dimensions, so keep {b.buffer.name} in that order" if swapped else ""
    verb = "writes" if number == left.output else "reads"
    return [
        f"operand {a.buffer.name}: the intrinsic {verb} {a.buffer.name}{shown[0]}, "
        f"the block {verb} {b.buffer.name}{shown[1]} there{hint}"
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


def _type_differences(left: Form, right: Form, operands: Sequence[int]) -> list[str]:
    found = []
    for number, other in enumerate(operands):
        a, b = left.operands[number].buffer, right.operands[other].buffer
        if a.dtype != b.dtype:
            found.append(f"operand {a.name}: the intrinsic needs {a.dtype}, {b.name} is {b.dtype}")
        if a.scope != b.scope:
            found.append(f'operand {a.name}: the intrinsic needs scope "{a.scope}", {b.name} is in "{b.scope}"')
    return list(dict.fromkeys(found))
