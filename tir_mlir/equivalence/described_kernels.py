"""Replace calls of kernels by the description of the intrinsic that they implement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mlir import ir
from mlir.dialects import memref

from tir_mlir.dialect.analysis import address, buffer_strides, extra_offset, has_known_strides, pointee
from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.computation.scalar_params import saturates
from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    Index,
    attrs,
    clone_module,
    constant_integer,
    create,
    dtypes,
    edit,
    read_apply,
    step,
    walk,
)
from tir_mlir.dialect.ir.index import read_value, trim
from tir_mlir.dialect.ir.op_traits import MAXIMA, MINIMA, is_scalar
from tir_mlir.dialect.ir.op_views import (
    AddIOp,
    AlignedPointerOp,
    ApplyOp,
    BinaryOp,
    CallOp,
    ConstantOp,
    FuncOp,
    IndexCastSIOp,
    IntToPtrOp,
    MulIOp,
    NamedViewOp,
    PointerOp,
    StridedMetadataOp,
    isa,
)
from tir_mlir.dialect.presburger.intervals import linear_terms
from tir_mlir.passes.lower.blocks import scopes

_DYNAMIC = ir.ShapedType.get_dynamic_stride_or_offset()


TracedValue: TypeAlias = "tuple[Any, ...] | int | float | None"
"""What a value is, see `_source`."""


@dataclass(frozen=True)
class _TracedCall:
    """A call with its operands traced to pointers, strides, offsets and constants; other operands are None."""

    op: ir.Operation
    callee: str
    given: list[TracedValue]


@dataclass
class OpenWindow:
    """A parameter at an offset into a memref, in elements, beyond whose end it may reach, and its strides by
    dimension."""

    memref: ir.Value
    offset: ir.Value
    strides: dict[int, Index] = field(default_factory=dict)


@dataclass
class Arguments:
    """What the parameters of an implementation are in a call, by number."""

    memrefs: dict[int, ir.Value] = field(default_factory=dict)
    windows: dict[int, OpenWindow] = field(default_factory=dict)
    scalars: dict[int, ir.Value] = field(default_factory=dict)

    @property
    def numbers(self) -> set[int]:
        return {*self.memrefs, *self.windows, *self.scalars}


@dataclass(frozen=True)
class KernelMatch:
    """Calls that are the whole implementation of an intrinsic, in order, and what its parameters are."""

    calls: list[ir.Operation]
    intrinsic: TensorIntrin
    arguments: Arguments

    @property
    def is_plain(self) -> bool:
        """Whether all parameters are memrefs."""
        return not self.arguments.windows and not self.arguments.scalars


def describe_calls(module: ir.Module) -> None:
    """Replace the calls of intrinsic implementations by their descriptions; other calls remain.

    Calls match an implementation if their operands are pointers, strides and offsets of the same parameters in the same
    order, and the memory has the shapes and strides that the implementation declares.
    """
    for match in matches_in(module):
        _inline(match)


def describe_open_calls(module: ir.Module) -> ir.Module:
    """The module with descriptions in place of calls that have scalar arguments, or windows that may end outside of
    their buffers."""
    if all(match.is_plain for match in matches_in(module)):
        return module
    described = clone_module(module)
    for match in matches_in(described):
        if not match.is_plain:
            _inline(match)
    return described


def matches_in(module: ir.Module) -> list[KernelMatch]:
    """The calls of a module that implement intrinsics."""
    calls = [op for op in walk.ops(module.operation) if isa(op, CallOp)]
    return [m for op in calls if (m := match_at(op)) is not None and m.calls[0] == op]


def match_at(op: ir.Operation) -> KernelMatch | None:
    """The match that a call is part of, the longest if there are several; None if their descriptions differ."""
    known = [i for name in TensorIntrin.list() if (i := TensorIntrin.get(name)) is not None]
    named = [i for i in known if f"@{_callee(op)}(" in i.impl]
    matches = [match for intrinsic in named for match in _matches(op, intrinsic)]
    most = max((len(m.calls) for m in matches), default=0)
    longest = [m for m in matches if len(m.calls) == most]
    return longest[0] if len({canonical_description(m.intrinsic.desc) for m in longest}) == 1 else None


def _matches(op: ir.Operation, intrinsic: TensorIntrin) -> Iterator[KernelMatch]:
    """The matches of an implementation that a call is part of."""
    impl = intrinsic.impl_func().func
    pattern = [call_of(call) for call in walk.ops(impl.op) if isa(call, CallOp)]
    positions = [n for n, call in enumerate(pattern) if call.callee == _callee(op)]
    if not positions or any(call.op.block != pattern[0].op.block for call in pattern):
        return
    siblings = [o.operation for o in op.block.operations] if len(pattern) > 1 else [op]
    calls = [o for o in siblings if isa(o, CallOp)]
    for position in positions:
        first = calls.index(op) - position
        run = calls[first : first + len(pattern)] if first >= 0 else []
        if len(run) == len(pattern) and _are_adjacent(run, siblings):
            bound = _bind_arguments([call_of(call) for call in run], pattern, impl)
            if bound is not None:
                yield KernelMatch(run, intrinsic, bound)


def _are_adjacent(calls: Sequence[ir.Operation], siblings: Sequence[ir.Operation]) -> bool:
    """Whether what stands between calls of a block touches no memory, and nothing uses what they return."""
    between = siblings[siblings.index(calls[0]) : siblings.index(calls[-1]) + 1]
    plain = all(op in calls or is_scalar(op.name) or isa(op, *_ADDRESSES) for op in between)
    return plain and not any(True for call in calls for r in call.results for _ in r.uses)


_ADDRESSES = (PointerOp, NamedViewOp, IntToPtrOp, ApplyOp)


def _fact(given: tuple[Any, ...], wanted: str) -> str:
    """What an operand is: the wanted one of base and pointer, if the memref starts where its offsets count from."""
    if given[0] == "window":
        return wanted
    if {given[0], wanted} == {"base", "pointer"} and ir.MemRefType(given[1].type).get_strides_and_offset()[1] == 0:
        return wanted
    return given[0]


_FACTS = ("pointer", "base", "stride", "offset")
"""What an operand may be of a memref."""


def _callee(op: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(op.attributes["callee"]).value


def call_of(op: ir.Operation) -> _TracedCall:
    """A call with its operands traced."""
    return _TracedCall(op, _callee(op), [_source(v) or ("value", v) for v in op.operands])


def _source(value: ir.Value) -> TracedValue:
    """("pointer", memref), ("base", memref), ("window", memref, offset), ("stride", memref, dimension, factor),
    ("offset", memref), ("parameter", argument of the function), a number, an operation on such values, (name, map,
    operand, ...), or None."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return ("parameter", value) if isa(owner.owner.operation, FuncOp) else None
    op = owner.operation
    if isa(op, ConstantOp):
        attribute = op.attributes["value"]
        return attribute.value if isinstance(attribute, (ir.IntegerAttr, ir.FloatAttr)) else None
    if isa(op, IndexCastSIOp):
        return _source(IndexCastSIOp(op).source)
    if isa(op, StridedMetadataOp):
        return _metadata(op, ir.OpResult(value).result_number)
    if isa(op, IntToPtrOp):
        memref = pointee(op)
        return None if memref is None else _pointer(op, memref)
    if isa(op, ApplyOp):
        index = read_apply(op.results[0])
        (stride,) = index.values if len(index.values) == 1 else (None,)
        factor = None if stride is None else step(index, stride)
        if stride is not None and factor is not None and index.is_equal_to(Index.from_value(stride) * factor):
            return _scale_stride([_source(stride), factor])
        return _operation(op, str(op.attributes["map"]))
    if isa(op, MulIOp) and (product := _scale_stride([_source(v) for v in op.operands])) is not None:
        return product
    return _operation(op) if is_scalar(op.name) else None


def _metadata(op: ir.Operation, number: int) -> TracedValue:
    """The offset or a stride, of the results (base, offset, sizes, strides)."""
    rank = (len(op.results) - 2) // 2
    if number == 1:
        return "offset", StridedMetadataOp(op).source
    return ("stride", StridedMetadataOp(op).source, number - 2 - rank, 1) if number >= 2 + rank else None


def _operation(op: ir.Operation, facts: str = "") -> TracedValue:
    """An operation on traced values; None if one of them is not."""
    operands = [_source(v) for v in op.operands]
    return None if None in operands else (op.name, facts, *operands)


def _scale_stride(factors: list[TracedValue]) -> TracedValue:
    """A stride times a number."""
    number = next((f for f in factors if isinstance(f, int)), None)
    stride = next((f for f in factors if isinstance(f, tuple) and f[0] == "stride"), None)
    return None if number is None or stride is None else (*stride[:3], stride[3] * number)


def _pointer(op: ir.Operation, memref: ir.Value) -> TracedValue:
    """("pointer", memref) for the first element, base + offset * size; ("base", memref) for what offsets count from."""
    cast = IndexCastSIOp(IntToPtrOp(op).address.owner.operation)
    sum_ = cast.source.owner.operation
    if isa(sum_, AlignedPointerOp):
        return "base", memref
    if isa(sum_, AddIOp) and _is_first(sum_, memref):
        return "pointer", memref
    found = address(op)
    offset = None if found is None else extra_offset(found[1], found[0])
    return None if offset is None else ("window", memref, offset)


def _is_first(sum_: ir.Operation, memref: ir.Value) -> bool:
    """Whether a sum is the address of the first element of a memref: base + offset * size."""
    base, product = (v.owner.operation for v in sum_.operands)
    if not isa(base, AlignedPointerOp) or not isa(product, MulIOp):
        return False
    offset, size = (v.owner.operation for v in product.operands)
    width = dtypes.bits(dtypes.to_name(ir.MemRefType(memref.type).element_type)) // 8
    return (
        isa(size, ConstantOp)
        and ir.IntegerAttr(size.attributes["value"]).value == width
        and isa(offset, StridedMetadataOp)
        and StridedMetadataOp(offset).source == memref
        and MulIOp(product).lhs == offset.results[1]
    )


def _bind_arguments(calls: Sequence[_TracedCall], pattern: Sequence[_TracedCall], impl: Func) -> Arguments | None:
    """What the parameters of an implementation are in calls; None if they are not its calls."""
    bound = Arguments()
    for call, wanted in zip(calls, pattern, strict=True):
        if call.callee != wanted.callee or len(call.given) != len(wanted.given):
            return None
        operands = zip(wanted.given, call.given, call.op.operands, strict=True)
        pointers_first = sorted(operands, key=lambda o: not isinstance(o[0], tuple) or o[0][0] not in _POINTERS)
        if not all(_unify(w, g, v, impl, bound) for w, g, v in pointers_first):
            return None
    fits = bound.numbers == {*range(len(impl.args))}
    return bound if fits and all(_laid_out(impl, n, m) for n, m in bound.memrefs.items()) else None


_POINTERS = ("pointer", "base")


def _unify(wanted: TracedValue, given: TracedValue, value: ir.Value | None, impl: Func, bound: Arguments) -> bool:
    """Whether an operand is the wanted one, with arguments for the parameters; these are added to `bound`."""
    if not isinstance(wanted, tuple):
        return wanted is not None and wanted == given
    if wanted[0] == "parameter":
        number = impl.args.index(wanted[1]) if wanted[1] in impl.args else -1
        return number >= 0 and value is not None and bound.scalars.setdefault(number, value) == value
    if wanted[0] == "stride" and wanted[1] in impl.args and impl.args.index(wanted[1]) in bound.windows:
        strides = bound.windows[impl.args.index(wanted[1])].strides
        stride = _quotient(given, wanted[3])
        return stride is not None and strides.setdefault(wanted[2], stride).is_equal_to(stride)
    if not isinstance(given, tuple) or _fact(given, wanted[0]) != wanted[0]:
        return False
    if wanted[0] not in _FACTS:
        if len(wanted) != len(given) or wanted[1] != given[1]:
            return False
        return all(_unify(w, g, None, impl, bound) for w, g in zip(wanted[2:], given[2:], strict=True))
    number = impl.args.index(wanted[1]) if wanted[1] in impl.args else -1
    if given[0] == "window":
        window = OpenWindow(*given[1:])
        return number >= 0 and _has_start(window) and bound.windows.setdefault(number, window) == window
    same = number >= 0 and len(wanted) == len(given) and wanted[2:] == given[2:]
    return same and bound.memrefs.setdefault(number, given[1]) == given[1]


def _quotient(given: TracedValue, divisor: int) -> Index | None:
    """A number or an index without the factor that a stride has; None if it has not."""
    if isinstance(given, int):
        return Index.constant(given // divisor) if given % divisor == 0 else None
    if not isinstance(given, tuple) or given[0] != "value":
        return None
    whole, _ = _offset_terms(given[1])
    terms, constant = linear_terms(whole.expr)
    if constant % divisor or any(factor % divisor for factor in terms.values()):
        return None
    parts = [trim(term * (factor // divisor), whole.values) for term, factor in terms.items()]
    return sum(parts, Index.constant(constant // divisor)).simplify()


def _offset_terms(value: ir.Value) -> tuple[Index, list[tuple[Index, Index]]]:
    """A sum of indices and products of them: the indices together, and the factors of each product."""
    owner = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if owner is not None and isa(owner, IndexCastSIOp):
        return _offset_terms(IndexCastSIOp(owner).source)
    if owner is not None and isa(owner, AddIOp):
        (first, products), (second, others) = map(_offset_terms, owner.operands)
        return (first + second).simplify(), [*products, *others]
    if owner is not None and isa(owner, MulIOp):
        left, right = map(read_value, owner.operands)
        is_linear = left.as_constant() is not None or right.as_constant() is not None
        return (left * right, []) if is_linear else (Index.constant(0), [(left, right)])
    return read_value(value), []


def _laid_out(impl: Func, number: int, memref: ir.Value) -> bool:
    """Whether a memref has the shape, element type and constant strides of a parameter. Scalar parameters may say that
    less of it is accessed."""
    expected, actual = ir.MemRefType(impl.args[number].type), ir.MemRefType(memref.type)
    sized = any(isinstance(a.type, ir.IndexType) for a in impl.args)
    shapes = expected.shape, actual.shape
    fits = len(shapes[0]) == len(shapes[1]) and all(n <= m for m, n in zip(*shapes, strict=True))
    if not (fits if sized else shapes[0] == shapes[1]) or expected.element_type != actual.element_type:
        return False
    pairs = zip(expected.get_strides_and_offset()[0], actual.get_strides_and_offset()[0], expected.shape, strict=True)
    return all(want in (has, _DYNAMIC) or size == 1 for want, has, size in pairs)


def canonical_description(desc: str) -> str:
    """A description without locations and storage scopes, for comparison."""
    module = ir.Module.parse(desc)
    everything = walk.ops(module.operation)
    scopes.run(module)
    for op in everything:
        if isa(op, FuncOp):
            op.attributes["sym_name"] = ir.StringAttr.get("desc")
    return str(module)


def _inline(match: KernelMatch) -> None:
    """Replace the calls of a match by the description."""
    parsed = match.intrinsic.desc_func()
    ip = ir.InsertionPoint(match.calls[-1])
    with ip, match.calls[-1].location:
        mapping = {parsed.func.args[n]: value for n, value in argument_values(match, parsed.func).items()}
    sizes = [v for a, v in mapping.items() if isinstance(a.type, ir.IndexType)]
    for op in parsed.func.body_ops():
        copied = edit.clone(op, ip, mapping)
        mapping |= dict(zip(op.results, copied.results, strict=True))
        for size in sizes:
            edit.substitute({size: read_value(size)}, copied)
    for call in match.calls:
        call.erase()


def argument_values(match: KernelMatch, desc: Func) -> dict[int, ir.Value]:
    """Create what the parameters of a description are in a call, at the insertion point."""
    values = dict(match.arguments.memrefs)
    for number, window in match.arguments.windows.items():
        values[number] = _view(window, desc.params[[p.value for p in desc.params].index(desc.args[number])])
    for number, value in match.arguments.scalars.items():
        is_size = isinstance(desc.args[number].type, ir.IndexType)
        values[number] = _size(value, match.intrinsic) if is_size else value
    return values


def _size(value: ir.Value, intrinsic: TensorIntrin) -> ir.Value:
    """The index of a size argument. Beyond the bounds that the description assumes, it computes the same as at them."""
    form = intrinsic.form()
    sides = [(p, saturates(form, p)) for p in form.sizes]
    least = {p.low for p, (is_same, _) in sides if is_same}
    greatest = {p.high for p, (_, is_same) in sides if is_same}
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if isa(op, IndexCastSIOp):
            value = IndexCastSIOp(op).source
        elif (op.name in MINIMA and constant_integer(BinaryOp(op).rhs) in greatest) or (
            op.name in MAXIMA and constant_integer(BinaryOp(op).rhs) in least
        ):
            value = BinaryOp(op).lhs
        else:
            break
    return value


def _view(window: OpenWindow, param: Buffer) -> ir.Value:
    """Create the view of a window, whose part that is accessed is in the memref."""
    buffer = Buffer(window.memref)
    base = window_start(window)
    own = buffer_strides(buffer)
    static = [Index.constant(s) for s in param.type.get_strides_and_offset()[0]]
    layout = [window.strides.get(d, s) for d, s in enumerate(static)]
    sizes = [1] * buffer.rank
    taken: set[int] = set()
    for size, stride in reversed(list(zip(param.shape, layout, strict=True))):
        equal = [d for d, s in enumerate(own) if s.is_equal_to(stride)]
        taken.add(dim := max((d for d in equal if d not in taken), default=equal[-1]))
        sizes[dim] = size or 1
    offsets = [create.apply(index) for index in base]
    shape = [n or 0 for n in param.shape]
    numbers = [_DYNAMIC if (n := stride.as_constant()) is None else n for stride in layout]
    type_ = ir.MemRefType.get(
        shape, buffer.type.element_type, ir.StridedLayoutAttr.get(_DYNAMIC, numbers), buffer.type.memory_space
    )
    view = memref.subview(window.memref, offsets, sizes, [1] * buffer.rank, result_type=type_)
    view.owner.attributes[attrs.OPEN] = ir.UnitAttr.get()
    return view


def window_start(window: OpenWindow) -> list[Index]:
    """The index of the first element of a window in each dimension of its memref."""
    offset, products = _offset_terms(window.offset)
    terms, constant = linear_terms(offset.expr)
    rest, indices = dict(terms), list[Index]()  # a remainder stays one term: its parts may be out of bounds
    for stride in buffer_strides(Buffer(window.memref)):
        index = sum((i for i, s in products if s.is_equal_to(stride)), Index.constant(0))
        if (number := stride.as_constant()) is not None:
            taken = {term: rest.pop(term) // number for term in [*rest] if rest[term] % number == 0}
            parts = [trim(term * factor, offset.values) for term, factor in taken.items()]
            index = sum(parts, Index.constant(constant // number)).simplify()
            constant %= number
        indices.append(index)
    return indices


def _has_start(window: OpenWindow) -> bool:
    """Whether each product in the offset of a window has a stride of its memref as a factor."""
    buffer = Buffer(window.memref)
    _, products = _offset_terms(window.offset)
    return not products or (
        has_known_strides(buffer) and all(any(s.is_equal_to(t) for t in buffer_strides(buffer)) for _, s in products)
    )
