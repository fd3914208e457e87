"""The rules of calls between programs: arguments fit the parameters, written ones overlap no other, no recursion."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import has_distinct_buffers
from tir_mlir.dialect.analysis.accesses import accesses_of_op, resolve_views
from tir_mlir.dialect.calls import Effect, bound_sizes, callee_of, calls_in, effects_of, passed_dims
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Buffer, Constraint, Func, Index, attrs, func_of
from tir_mlir.dialect.ir.op_views import MemrefCastOp, ViewLikeOp, isa
from tir_mlir.dialect.presburger import constraint_text, domain, holds, question, region_map
from tir_mlir.dialect.presburger.sets import assumptions
from tir_mlir.dialect.verify.bounds import in_bounds
from tir_mlir.dialect.verify.violation import fail

RULE = "call"
Part = tuple[Buffer, list[Index], list[Index], bool]
"""A region of a root buffer: the buffer, mins, extents, and whether it is exact."""


def program_call(op: ir.Operation) -> None:
    """Check the call of a program of the module."""
    callee = callee_of(op)
    if callee is None:
        return
    if cycle := _cycle(func_of(op), callee):
        fail(op, RULE, f"{' calls '.join(cycle)}: programs do not call themselves; write the repetition as a loop")
    for number, arg in enumerate(callee.args):
        if isinstance(arg.type, ir.MemRefType):
            _buffer(op, callee, number)
    for access in accesses_of_op(op):
        in_bounds(op, access)
    _sizes(op, callee)
    _check_assumptions(op, callee)
    if has_distinct_buffers(callee.op):
        _check_no_alias(op, callee, effects_of(callee))


def _cycle(caller: Func, callee: Func) -> list[str]:
    """The names of programs from the caller over the callee back to the caller; [] if there are none."""
    pending, seen = [(callee, [caller.name, callee.name])], {callee.name}
    while pending:
        func, path = pending.pop()
        if func.name == caller.name:
            return path
        for call in calls_in(func):
            inner = callee_of(call)
            if inner is not None and (inner.name not in seen or inner.name == caller.name):
                seen.add(inner.name)
                pending.append((inner, [*path, inner.name]))
    return []


# --- types ------------------------------------------------------------------------------------------------------------


def _buffer(op: ir.Operation, callee: Func, number: int) -> None:
    """Check what MLIR's types do not: the sign of integers, and a declared factor of offsets."""
    declared, passed = Buffer(callee.args[number]), Buffer(op.operands[number])
    passed = _uncast(passed)
    if declared.dtype != passed.dtype:
        text = (
            f"parameter {declared.name} of {callee.name} is of {declared.dtype}, but {passed.name} is of {passed.dtype}"
        )
        fail(op, RULE, text)
    factor = declared.attributes.get(attrs.OFFSET_FACTOR, 0)
    if factor > 1 and not _is_multiple(op, passed, factor):
        fail(
            op,
            RULE,
            f"parameter {declared.name} of {callee.name} has offset_factor={factor}, and it is not provable that the"
            f" part of {passed.root.name} that is passed starts at a multiple of {factor} elements",
            provable=False,
        )


def _uncast(buffer: Buffer) -> Buffer:
    while buffer.op is not None and isa(buffer.op, MemrefCastOp):
        buffer = Buffer(MemrefCastOp(buffer.op).source)
    return buffer


def _is_multiple(op: ir.Operation, buffer: Buffer, factor: int) -> bool:
    """Whether the element at which a buffer starts in its root is a multiple of a factor."""
    if buffer.op is None or not buffer.is_view:
        return True
    source = Buffer(ViewLikeOp(buffer.op).source)
    mins = resolve_views(buffer, [Index.constant(0)] * buffer.rank, [Index.constant(1)] * buffer.rank)[1]
    strides, offset = source.type.get_strides_and_offset()
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if dynamic in (*strides, offset) or len(mins) != len(strides):
        return False
    start = sum((m * s for m, s in zip(mins, strides, strict=True)), Index.constant(offset))
    with question("where an argument starts"):
        return holds(domain(op, extra=[start]), start % factor, is_eq=True)


# --- sizes ------------------------------------------------------------------------------------------------------------


def _sizes(op: ir.Operation, callee: Func) -> None:
    """Check that the extents passed are those declared, for all sizes of the caller."""
    for dim in passed_dims(op, callee):
        if dim.wanted is not None and dim.wanted.is_equal_to(dim.given):
            continue
        numbers = None if dim.wanted is None else (dim.wanted.as_constant(), dim.given.as_constant())
        constant = numbers is not None and None not in numbers
        if not constant and dim.wanted is not None and _equal(op, dim.wanted, dim.given):
            continue
        where = f"axis {dim.axis} of parameter {dim.parameter} of {callee.name}"
        if constant:
            fail(op, RULE, f"{where} has {numbers[0]} elements, but {numbers[1]} are passed")  # type: ignore[index]
        way = "fix: state it by T.assume, or pass buffers of the same size variables"
        text = f"it is not provable that {where} has as many elements as are passed; {way}"
        fail(op, RULE, text, provable=False)


def _equal(op: ir.Operation, first: Index, second: Index) -> bool:
    difference = first - second
    try:
        with question("the extents that a call passes"):
            return holds(domain(op, extra=[difference]), difference, is_eq=True)
    except (KeyError, NotProvable):
        return False


def _check_assumptions(op: ir.Operation, callee: Func) -> None:
    """Check that what the callee assumes of its sizes holds for those passed."""
    sizes = bound_sizes(op, callee)
    for promise in assumptions(callee.op):
        index = promise.index.substitute(sizes) if all(v in sizes for v in promise.index.values) else None
        if index is None or not _holds(op, Constraint(index, promise.is_eq)):
            assumption = constraint_text(promise, callee.op)
            text = f"{callee.name} assumes {assumption}, which is not provable of the sizes passed"
            fail(op, RULE, f"{text}; fix: T.assume it of the sizes of {func_of(op).name}", provable=False)


def _holds(op: ir.Operation, promise: Constraint) -> bool:
    try:
        with question("an assumption of a program that is called"):
            return holds(domain(op, extra=[promise.index]), promise.index, promise.is_eq)
    except (KeyError, NotProvable):
        return False


# --- aliasing ---------------------------------------------------------------------------------------------------------


def _check_no_alias(op: ir.Operation, callee: Func, effects: Sequence[Effect]) -> None:
    """Check that a buffer that the callee writes shares no element with another that it takes."""
    for number, effect in enumerate(effects):
        for second, other in enumerate(effects):
            checked = other.writes and second < number
            if effect.writes and second != number and not checked and (other.writes or other.reads):
                _distinct(op, callee, number, second)


def _distinct(op: ir.Operation, callee: Func, written: int, number: int) -> None:
    first, second = (Buffer(op.operands[n]) for n in (written, number))
    names = [callee.arg_name(n) for n in (written, number)]
    if first.root != second.root:
        if first.root.is_param and second.root.is_param and not has_distinct_buffers(func_of(op).op):
            text = f"{first.root.name} and {second.root.name} may be the same memory, as {func_of(op).name} has"
            _refuse(op, callee, names, f"{text} tir.noalias = False", provable=False)
        return
    if _uncast(first) == _uncast(second):
        _refuse(op, callee, names, f"{_uncast(first).name} is passed for both", provable=True)
    parts = [resolve_views(b, [Index.constant(0)] * b.rank, b.dims) for b in (first, second)]
    if _plainly_apart(parts[0], parts[1]):
        return
    indices = [i for _, mins, extents, _ in parts for i in (*mins, *extents)]
    try:
        with question("whether two arguments of a call overlap"):
            dom = domain(op, extra=indices)
            maps = [region_map(dom, mins, extents) for _, mins, extents, _ in parts]
            if maps[0].intersect(maps[1]).is_empty():
                return
    except (KeyError, NotProvable):
        _refuse(op, callee, names, f"both are parts of {first.root.name}, which may overlap", provable=False)
    exact = dom.exact and all(part[3] for part in parts)
    _refuse(op, callee, names, f"both are parts of {first.root.name}, which overlap", provable=exact)


def _plainly_apart(first: Part, second: Part) -> bool:
    """Whether constant ranges on some axis show that two regions of a buffer are apart."""
    for (low, extent), (second_low, count) in zip(_ranges(first), _ranges(second), strict=True):
        if None in (low, extent, second_low, count):
            continue
        if low + extent <= second_low or second_low + count <= low:  # type: ignore[operator]
            return True
    return False


def _ranges(part: Part) -> list[tuple[int | None, int | None]]:
    return [(low.as_constant(), extent.as_constant()) for low, extent in zip(part[1], part[2], strict=True)]


def _refuse(op: ir.Operation, callee: Func, names: Sequence[str], why: str, provable: bool) -> None:
    text = f"{callee.name} writes {names[0]}, so that {names[1]} must be other memory: {why}"
    way = f'fix: pass distinct buffers, or T.func_attr({{"tir.noalias": False}}) in {callee.name}'
    fail(op, RULE, f"{text}; {way}", provable=provable)
