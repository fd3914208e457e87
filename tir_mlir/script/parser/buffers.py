"""Buffers defined in a body: `T.alloc_buffer`, and `T.match_buffer` of a region."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any

from mlir import ir
from mlir.dialects import memref

from tir_mlir.dialect.analysis import kept_dims
from tir_mlir.dialect.ir import Buffer, Index, attrs, create, dtypes
from tir_mlir.dialect.verify import is_huge
from tir_mlir.script.parser import calls, parameters
from tir_mlir.script.parser.arithmetic import is_wide
from tir_mlir.script.parser.expressions import Evaluator
from tir_mlir.script.parser.items import BufferProperty, BufferRef, RegionRef, ScriptValue, as_const, describe
from tir_mlir.script.parser.source import ParseError


def alloc_buffer(evaluate: Evaluator, name: str, node: ast.Call) -> BufferRef:
    """Parse `Y = T.alloc_buffer(shape, dtype, scope=...)`; allocated at the start of the owning block or function."""
    args = calls.bind(evaluate(node.func), node)
    shape = evaluate(args["shape"])
    items = shape if isinstance(shape, tuple | list) else (shape,)
    extents = [_extent(s) for s in items]
    if is_huge(extents):
        raise ParseError(f"buffer {name} has more elements than 64 bits can count")
    dtype = evaluate.python(args["dtype"], "dtype") if "dtype" in args else "float32"
    scope = (evaluate.python(args["scope"], "scope") if "scope" in args else "") or "global"
    if not isinstance(scope, str):
        raise ParseError(f'the scope of {name} is a string such as "global", not {describe(scope)}')
    with evaluate.state.source.location(node):
        value = evaluate.state.allocation_scopes[-1].prologue(lambda: create.alloc(name, extents, dtype, scope))
    if any(map(is_wide, items)):
        _declare_wide(value)
    return BufferRef(name, value, dtype, [Index.wrap(e) for e in extents], scope)


def _declare_wide(buffer: ir.Value) -> None:
    buffer.owner.attributes[attrs.EXTENT_DTYPE] = ir.StringAttr.get("int64")


def _extent(item: Any) -> int | Index:
    number = as_const(item)
    if number is not None:
        if number < 0:
            raise ParseError(f"an extent cannot be negative: {number}")
        return number
    if isinstance(item, Index):
        return item
    raise ParseError(f"an extent is an integer or an expression of size variables, not {describe(item)}")


def arena_view(evaluate: Evaluator, name: str, node: ast.Call) -> BufferRef:
    """Parse `V = T.decl_buffer(shape, dtype, data=arena.data, byte_offset=64)`: a view at the start of its body."""
    args = calls.bind(evaluate(node.func), node)
    data = evaluate(args["data"]) if "data" in args else None
    if not isinstance(data, BufferProperty) or data.what != "data":
        raise ParseError(
            f"{name} is declared in no memory: data=arena.data makes it a view of a buffer of int8; T.alloc_buffer"
            " allocates a buffer, T.match_buffer makes a view of a region"
        )
    arena = data.buffer
    if arena.dtype not in ("int8", "uint8") or arena.rank != 1 or arena.scope != "global":
        raise ParseError(f"an arena is a global buffer of int8 with one axis; {arena.name} is none")
    shape = evaluate(args["shape"])
    extents = [_extent(s) for s in _as_tuple(shape)]
    dtype = evaluate.python(args["dtype"], "dtype") if "dtype" in args else "float32"
    if unknown := [key for key in args if key not in ("shape", "dtype", "data", "elem_offset", "byte_offset")]:
        raise ParseError(f"{name} is row-major in the memory of {arena.name}: T.decl_buffer takes no {unknown[0]} here")
    offset = _byte_offset(evaluate, args, dtype)
    with evaluate.state.source.location(node):
        make = partial(create.arena_view, name, arena.ssa, offset, extents, dtype)
        value = evaluate.state.allocation_scopes[-1].prologue(make)
    return BufferRef(name, value, dtype, [Index.wrap(e) for e in extents])


def _byte_offset(evaluate: Evaluator, args: dict[str, ast.expr], dtype: str) -> Index:
    keys = [key for key in ("byte_offset", "elem_offset") if key in args]
    if len(keys) == 2:
        raise ParseError("a view starts at byte_offset or at elem_offset, not at both")
    if not keys:
        return Index.constant(0)
    index = evaluate.index(args[keys[0]], keys[0])
    return index if keys[0] == "byte_offset" else index * (max(8, dtypes.bits(dtype)) // 8)


def match_region(evaluate: Evaluator, name: str, node: ast.Call) -> BufferRef:
    """Parse `A_1 = T.match_buffer(A[...], shape, strides=...)` in a block: a view of the region."""
    state = evaluate.state
    args = calls.bind(evaluate(node.func), node)
    region = evaluate.region(args["param"])
    source = Buffer(region.buffer.ssa)
    sizes = [e.as_constant() for e in region.extents]
    shape = list(_as_tuple(evaluate(args["shape"]))) if "shape" in args else list(region.extents)
    extents = [Index.wrap(_extent(s)) for s in shape]
    dims = kept_dims([e.as_constant() for e in extents], sizes)
    if dims is None:
        text = ", ".join(str(s) for s in sizes)
        raise ParseError(f"{name} does not match its region of {source.name}, which is ({text})")
    if None in sizes:
        raise ParseError(f"the region that {name} matches must have constant extents")
    _agree(evaluate, name, source, args)
    strides = _strides(evaluate, args, len(extents))
    if ir.InsertionPoint.current.block != state.allocation_scopes[-1].body:
        raise ParseError("T.match_buffer of a region must be directly in the body of its block")

    def make() -> BufferRef:
        buffer = _view(name, region, [s for s in sizes if s is not None], extents, dims)
        _facts(evaluate, buffer, args, strides)
        if "shape" in args and any(map(is_wide, shape)):
            _declare_wide(buffer.ssa)
        if any(isinstance(s, str) for s in strides):
            parameters.bind_strides(buffer, strides)
        return buffer

    with state.source.location(node):
        buffer = state.allocation_scopes[-1].prologue(make)
    for stride, value in zip(strides, buffer.stride_values, strict=False):
        if isinstance(stride, str):
            state.scope.define(stride, ScriptValue(value, "int32"), node, "stride")
    return buffer


def _as_tuple(item: Any) -> tuple[Any, ...]:
    return tuple(item) if isinstance(item, tuple | list) else (item,)


def _agree(evaluate: Evaluator, name: str, source: Buffer, args: dict[str, ast.expr]) -> None:
    """Check that a view declares the dtype and the scope of its source."""
    for key, has in (("dtype", source.dtype), ("scope", source.scope)):
        if key in args and (says := evaluate.python(args[key], key)) != has:
            raise ParseError(f'{name} is declared with {key} "{says}" but {source.name} has "{has}"')


def _strides(evaluate: Evaluator, args: dict[str, ast.expr], rank: int) -> list[int | str]:
    node = args.get("strides")
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return []
    elements = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    strides: list[int | str] = []
    for element in elements:
        text = parameters.size_name(evaluate.state, element)
        number = None if text is not None else as_const(evaluate(element))
        if text is None and number is None:
            raise ParseError("a stride is a number or a variable: strides=[sa, 1]")
        strides.append(text if text is not None else number)  # type: ignore[arg-type]
    if strides and len(strides) != rank:
        raise ParseError(f"there are {rank} axes but {len(strides)} strides")
    return strides


def _view(name: str, region: RegionRef, sizes: list[int], extents: list[Index], dims: list[int]) -> BufferRef:
    """Create the `memref.subview` of a region, with the layout inferred from its source."""
    source = ir.MemRefType(region.buffer.ssa.type)
    strides, offset = source.get_strides_and_offset()
    fixed = [m.as_constant() for m in region.mins]
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    is_static = None not in fixed and dynamic not in (*strides, offset)
    start = offset + sum(f * s for f, s in zip(fixed, strides, strict=True)) if is_static else dynamic  # type: ignore[operator]
    layout = ir.StridedLayoutAttr.get(start, [strides[k] for k in dims])
    result = ir.MemRefType.get([sizes[k] for k in dims], source.element_type, layout, source.memory_space)
    offsets: list[Any] = [m if m is not None else create.apply(i) for m, i in zip(fixed, region.mins, strict=True)]
    op = memref.subview(region.buffer.ssa, offsets, sizes, [1] * len(sizes), result_type=result)
    op.owner.attributes[attrs.NAME] = ir.StringAttr.get(name)
    return BufferRef(name, op, region.buffer.dtype, extents, region.buffer.scope)


def _facts(evaluate: Evaluator, buffer: BufferRef, args: dict[str, ast.expr], strides: list[int | str]) -> None:
    facts = buffer.ssa.owner.attributes
    fields = (("offset_factor", attrs.OFFSET_FACTOR, 0), ("align", attrs.ALIGN, attrs.DEFAULT_ALIGN))
    for key, attribute, default in fields:
        if key in args and (value := evaluate.python(args[key], key)) and value != default:
            facts[attribute] = attrs.to_attr(value)
    if strides:
        facts[attrs.STRIDES] = attrs.to_attr([s if isinstance(s, str) else "" for s in strides])
