"""Calls of other functions of the module: `T.call("f", A, B[0:4, :], n)`, `Module.f(A, B, n)`; callees come first."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import memref

from tir_mlir.dialect.analysis import kept_dims
from tir_mlir.dialect.ir import Buffer, Func, Index, create, dtypes, funcs
from tir_mlir.script.parser import arithmetic
from tir_mlir.script.parser.function_state import MISSING
from tir_mlir.script.parser.items import BufferProperty, BufferRef, GlobalFunction, RegionRef, describe, is_expr
from tir_mlir.script.parser.source import ParseError

if TYPE_CHECKING:
    from tir_mlir.script.parser.expressions import Evaluator
    from tir_mlir.script.parser.function_state import ParserState

CLASS_NAMES = ("cls",)
"""Names of the module in its functions, besides that of its class."""
_DYNAMIC = ir.ShapedType.get_dynamic_size()
_ANY = ir.ShapedType.get_dynamic_stride_or_offset()


def function_of(state: ParserState, base: str, name: str) -> GlobalFunction | None:
    """The function that `Module.name` denotes in a program; None if `base` is not a name of the module."""
    if base not in state.class_names or state.scope.find(base) is not None or name not in state.programs:
        return None
    return GlobalFunction(name)


def plain_function(state: ParserState, name: str) -> GlobalFunction | None:
    """The function of the module that a name denotes: one of the class, or of the text, if it means nothing else."""
    if name not in state.programs or state.scope.find(name) is not None or name in state.scope.assigned:
        return None
    value = state.scope.python_value(name)
    return GlobalFunction(name) if value is MISSING or getattr(type(value), "is_class_member", False) else None


def named_call(evaluate: Evaluator, node: ast.Call) -> None:
    """`T.call("f", ...)`."""
    name = evaluate(node.args[0]) if node.args else None
    if not isinstance(name, str):
        raise ParseError('T.call needs the name of a function of the module: T.call("f", A, B)')
    call(evaluate, name, node.args[1:], node)


def call(evaluate: Evaluator, name: str, args: list[ast.expr], node: ast.Call) -> None:
    """Create `func.call @name(args)`; buffers are passed whole, or as views of regions."""
    callee = _callee(evaluate.state, name)
    ordered = _order_arguments(callee, args, node)
    operands = []
    for number, arg in enumerate(ordered):
        try:
            operands.append(_argument(evaluate, callee, number, arg, node))
        except ParseError as refused:
            raise evaluate.state.error(arg, str(refused)) from None
    with evaluate.state.source.location(node):
        ir.Operation.create(
            "func.call", operands=operands, attributes={"callee": ir.FlatSymbolRefAttr.get(callee.name)}
        )


def _callee(state: ParserState, name: str) -> Func:
    functions = {f.name: f for f in funcs(state.module)}
    caller = state.func.name if state.func is not None else ""
    if name == caller or (name not in functions and name in state.programs):
        who = "itself" if name == caller else f"{name}, which calls {caller}"
        raise ParseError(f"{caller} calls {who}: programs do not call themselves; write the repetition as a loop")
    if name not in functions:
        available = ", ".join(n for n in state.programs if n != caller) or "none"
        raise ParseError(f"the module has no function {name} (it has {available}); T.call_extern calls a C function")
    return functions[name]


def _order_arguments(callee: Func, args: list[ast.expr], node: ast.Call) -> list[ast.expr]:
    """The argument of each parameter, by position or by name."""
    names = [callee.arg_name(n) for n in range(len(callee.args))]
    arguments = dict(zip(names, args, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in names or keyword.arg in arguments:
            problem = "twice" if keyword.arg in arguments else "which it does not take"
            raise ParseError(f"{callee.name} is given {keyword.arg}, {problem}; it takes {', '.join(names)}")
        arguments[keyword.arg] = keyword.value
    if len(args) > len(names) or len(arguments) != len(names):
        has = len(args) + len(node.keywords)
        raise ParseError(f"{callee.name} takes {len(names)} arguments ({', '.join(names)}), not {has}")
    return [arguments[name] for name in names]


def _argument(evaluate: Evaluator, callee: Func, number: int, arg: ast.expr, node: ast.Call) -> ir.Value:
    param, name = callee.args[number], f"parameter {callee.arg_name(number)} of {callee.name}"
    if isinstance(param.type, ir.MemRefType):
        part = _part(evaluate, arg, name)
        with evaluate.state.source.location(node):
            return _cast_to_parameter(_view(part, Buffer(param)), Buffer(param), name)
    item = evaluate(arg)
    if not is_expr(item) and not isinstance(item, int | float):
        raise ParseError(f"{name} is a number, not {describe(item)}")
    with evaluate.state.source.location(node):
        if isinstance(param.type, ir.IndexType):
            index = arithmetic.to_index(item)
            return create.apply(index) if isinstance(index, Index) else index
        return arithmetic.to_value(arithmetic.as_expr(item), dtypes.to_name(param.type))


# ---- buffers


def _part(evaluate: Evaluator, arg: ast.expr, name: str) -> BufferRef | RegionRef:
    """The buffer or region that is passed."""
    if isinstance(arg, ast.Subscript):
        return evaluate.region(arg)
    item = evaluate(arg)
    if isinstance(item, BufferProperty) and item.what == "data":
        return item.buffer
    if isinstance(item, BufferRef):
        return item
    raise ParseError(f"{name} is a buffer: pass one, or a region such as A[0:4, :], not {describe(item)}")


def _view(part: BufferRef | RegionRef, param: Buffer) -> ir.Value:
    """The whole buffer, or a `memref.subview` of a region, without the unit axes that the parameter has not."""
    if isinstance(part, BufferRef):
        return part.ssa
    sizes = [e.as_constant() for e in part.extents]
    dims = list(range(len(sizes)))
    if len(sizes) != param.rank:
        matched = kept_dims(param.shape, sizes)
        dims = dims if matched is None else matched
    source = ir.MemRefType(part.buffer.ssa.type)
    strides, offset = source.get_strides_and_offset()
    fixed = [m.as_constant() for m in part.mins]
    is_static = None not in fixed and _ANY not in (*strides, offset)
    start = offset + sum(f * s for f, s in zip(fixed, strides, strict=True)) if is_static else _ANY  # type: ignore[operator]
    if all(f == 0 for f in fixed):
        start = offset
    layout = ir.StridedLayoutAttr.get(start, [strides[k] for k in dims])
    static = [_DYNAMIC if s is None else s for s in sizes]
    type_ = ir.MemRefType.get([static[k] for k in dims], source.element_type, layout, source.memory_space)
    offsets: list[ir.Value | int] = [
        m if m is not None else create.apply(i) for m, i in zip(fixed, part.mins, strict=True)
    ]
    extents: list[ir.Value | int] = [
        s if s is not None else create.apply(e) for s, e in zip(sizes, part.extents, strict=True)
    ]
    return memref.subview(part.buffer.ssa, offsets, extents, [1] * len(sizes), result_type=type_)


def _cast_to_parameter(value: ir.Value, param: Buffer, name: str) -> ir.Value:
    """A buffer as the type of a parameter; a cast where that knows less of its sizes or strides."""
    if value.type == param.value.type:
        return value
    passed = Buffer(value)
    facts = (param.dtype, passed.dtype, "type"), (param.scope, passed.scope, "scope"), (param.rank, passed.rank, "rank")
    for expected, has, word in facts:
        if expected != has:
            raise ParseError(f"{name} has the {word} {expected}, but what is passed of {passed.root.name} has {has}")
    for axis, (expected, has) in enumerate(zip(param.shape, passed.shape, strict=True)):
        if None not in (expected, has) and expected != has:
            raise ParseError(f"axis {axis} of {name} has {expected} elements, but {has} are passed")
    _same_layout(passed.type, param.type, name)
    return memref.cast(param.value.type, value)


def _same_layout(passed: ir.MemRefType, expected: ir.MemRefType, name: str) -> None:
    """Check that a parameter takes the strides and the offset of what is passed."""
    have, start = passed.get_strides_and_offset()
    want, offset = expected.get_strides_and_offset()
    way = 'fix: T.match_buffer(..., strides=["s0", 1]) declares one that takes parts of buffers; or pass a whole buffer'
    if isinstance(expected.layout, ir.AffineMapAttr) and not _is_dense(passed):
        raise ParseError(f"{name} is row-major from its first element, but a part of a buffer is passed; {way}")
    if offset not in (_ANY, start):
        raise ParseError(f"{name} starts at element {offset} of its memory, but a part from elsewhere is passed; {way}")
    for axis, (stride, has, size) in enumerate(zip(want, have, passed.shape, strict=True)):
        if stride not in (_ANY, has) and size != 1:
            actual = "a variable one" if has == _ANY else has
            raise ParseError(f"axis {axis} of {name} has the stride {stride}, but {actual} is passed; {way}")


def _is_dense(type_: ir.MemRefType) -> bool:
    """Whether a buffer is row-major from its first element."""
    if isinstance(type_.layout, ir.AffineMapAttr):
        return True
    strides, offset = type_.get_strides_and_offset()
    step = 1
    for stride, size in zip(reversed(list(strides)), reversed(list(type_.shape)), strict=True):
        if size != 1 and stride != step:
            return False
        step = _ANY if size == _DYNAMIC or step == _ANY else step * size
    return offset == 0 and _DYNAMIC not in list(type_.shape)[1:]


def callees_first(nodes: Mapping[str, ast.FunctionDef], class_names: Collection[str]) -> list[str]:
    """The names of functions so that each comes after those it calls; as given where they call each other.

    class_names: the names of the class, whose attributes are the functions.
    """
    if len(nodes) == 1:
        return list(nodes)
    order: list[str] = []
    entered: set[str] = set()

    def visit(name: str) -> None:
        if name in entered:
            return
        entered.add(name)
        for callee in _called_functions(nodes[name], class_names, nodes):
            visit(callee)
        order.append(name)

    for name in nodes:
        visit(name)
    return order


def _called_functions(node: ast.FunctionDef, class_names: Collection[str], names: Collection[str]) -> Iterator[str]:
    """The functions of the module that a function calls, and maybe others."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and (name := _called_name(call, class_names)) in names:
            yield name


def _called_name(call: ast.Call, class_names: Collection[str]) -> str:
    func = call.func
    if isinstance(func, ast.Name) and func.id != "call":
        return func.id
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in class_names:
        return func.attr
    return _text(call.args) if getattr(func, "attr", getattr(func, "id", "")) == "call" else ""


def _text(args: Sequence[ast.expr]) -> str:
    first = args[0] if args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
