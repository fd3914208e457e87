"""Parsing of statements, and of the buffers that they define: the body of one function, Python AST to ops."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import partial

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.analysis import kept_dims
from tir_mlir.dialect.diagnostics import ScriptError, TirError, short_repr
from tir_mlir.dialect.ir import Buffer, Index, annotation_keys, attrs, create, dtypes
from tir_mlir.dialect.presburger import assume, dim_factors, speaks_of_sizes
from tir_mlir.dialect.presburger import sizes as allowed
from tir_mlir.dialect.verify import is_huge
from tir_mlir.script.language.words import REFUSED_STATEMENTS
from tir_mlir.script.parser import arithmetic, blocks, calls, conditions, loops, parameters
from tir_mlir.script.parser.arithmetic import is_wide
from tir_mlir.script.parser.expressions import Evaluator
from tir_mlir.script.parser.function_signature import SignatureParser
from tir_mlir.script.parser.function_state import ParserState
from tir_mlir.script.parser.items import (
    AffineCondition,
    BufferProperty,
    BufferRef,
    RegionRef,
    ScriptValue,
    UnboundVar,
    as_const,
    as_index,
    describe,
    is_expr,
)
from tir_mlir.script.parser.parameters import BufferSpec
from tir_mlir.script.parser.source import ParseError


class FunctionParser:
    """Parses the body of one function into the module of its state."""

    def __init__(self, state: ParserState):
        self.state = state
        self.evaluate = Evaluator(state)
        state.run = self.run
        self.used: set[int] = set()
        self.only: ast.stmt | None = None  # the one statement of the function that is not a declaration

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Parse statements in order."""
        for number, stmt in enumerate(body):
            if id(stmt) in self.used:
                continue
            if loops.is_launch(self.evaluate, stmt):
                assert isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Call)
                loops.parse_launch(self.evaluate, stmt.targets[0], stmt.value, body[number + 1 :], self.run)
                return
            method = getattr(self, "_" + type(stmt).__name__, None)
            if method is None:
                otherwise = f"{type(stmt).__name__} is not supported"
                raise self.state.error(stmt, REFUSED_STATEMENTS.get(type(stmt).__name__, otherwise))
            try:
                with self.state.source.location(stmt):
                    method(stmt)
            except ParseError as refused:
                raise self.state.error(stmt, str(refused)) from None
            except ScriptError:
                raise
            except RecursionError:
                raise self.state.error(stmt, "this is nested too deeply") from None
            except TirError as error:
                raise self.state.error(stmt, str(error)) from None
            except OverflowError as error:  # an integer too large for the bindings
                raise self.state.error(stmt, f"cannot be expressed in MLIR: {error}") from error

    def _Pass(self, stmt: ast.Pass) -> None:
        """Nothing."""

    def _For(self, stmt: ast.For) -> None:
        loops.parse_for(self.evaluate, stmt, self.run)

    def _While(self, stmt: ast.While) -> None:
        loops.parse_while(self.evaluate, stmt, self.run)

    def _If(self, stmt: ast.If) -> None:
        conditions.parse_if(self.evaluate, stmt, self.run)

    def _With(self, stmt: ast.With) -> None:
        call = stmt.items[0].context_expr
        word = blocks.construct_of(self.evaluate, call)
        if word == "LetStmt" and len(stmt.items) == 1 and isinstance(stmt.items[0].optional_vars, ast.Name):
            assert isinstance(call, ast.Call)
            value = self.evaluate(calls.bind(self.evaluate(call.func), call)["value"])
            with self.state.nest("with T.LetStmt"):
                self._define(stmt.items[0].optional_vars, value)
                self.run(stmt.body)
            return
        if word == "launch_thread" and len(stmt.items) == 1:
            assert isinstance(call, ast.Call)
            loops.parse_launch(self.evaluate, stmt.items[0].optional_vars, call, stmt.body, self.run)
            return
        if len(stmt.items) != 1 or stmt.items[0].optional_vars is not None or word not in ("block", "init"):
            words = "T.block(name), T.init() and T.launch_thread(axis, n)"
            raise self.state.error(stmt, f"with is for {words}, one at a time")
        assert isinstance(call, ast.Call)
        if word == "init":
            blocks.with_init(self.evaluate, stmt, self.run)
        else:
            blocks.with_block(self.evaluate, stmt, call, self.run, self._is_only(stmt))

    def _is_only(self, stmt: ast.stmt) -> bool:
        """Whether a statement is the only one of the function, apart from declarations."""
        return not self.state.blocks and self.only is stmt

    # ---- expressions for their effect

    def _Expr(self, stmt: ast.Expr) -> None:
        value = stmt.value
        if isinstance(value, ast.Constant) and (isinstance(value.value, str) or value.value is ...):
            return
        if not isinstance(value, ast.Call):
            raise ParseError("an expression statement has no effect; did you mean an assignment?")
        if blocks.is_breakpoint(stmt):
            raise ParseError("breakpoint() must be directly in a block; the interpreter stops before its body")
        word = blocks.construct_of(self.evaluate, value) if not _is_method(value) else None
        if word == "func_attr":
            self._func_attr(value)
        elif word == "assume":
            self._assume(value)
        elif word == "evaluate":
            inner = calls.bind(self.evaluate(value.func), value)["value"]
            if isinstance(inner, ast.Call) and ast.unparse(inner.func).endswith(".assume"):
                self._assume(inner)
            else:
                self.evaluate(inner)
        elif word in ("where", "reads", "writes", "block_attr"):
            raise ParseError(f"T.{word} must be directly in a block")
        elif word in ("alloc_buffer", "match_buffer", "decl_buffer"):
            raise ParseError(f"T.{word} returns a buffer: name it, A = T.{word}(...)")
        elif word in ("block", "init"):
            raise ParseError(f"T.{word} is used as: with T.{word}(...):")
        elif word in ("spatial", "reduce", "opaque", "remap", "scan"):
            raise ParseError(f"T.axis.{word} returns an iter: name it, vi = T.axis.{word}(...)")
        else:
            self.evaluate(value)

    def _func_attr(self, node: ast.Call) -> None:
        args = calls.bind(self.evaluate(node.func), node)
        facts = self.evaluate.python(args["attributes"], "a function attribute")
        if not isinstance(facts, dict) or self.state.func is None:
            raise ParseError(f"T.func_attr takes a dictionary, not {facts!r}")
        facts = {re.sub(r"^tirx\.", "tir.", str(key)): value for key, value in facts.items()}  # newer TVM's spelling
        self.state.source.check_annotations(node, facts, annotation_keys.FUNC)
        attrs.put(self.state.func.op, attrs.ATTRS, {**self.state.func.attributes, **facts})

    def _assume(self, node: ast.Call) -> None:
        """`T.assume`: a condition on shape variables at the top of the function, or on data inside a block."""
        func = self.state.func
        if self.state.blocks:
            test = self.evaluate(calls.bind(self.evaluate(node.func), node)["condition"])
            create.assume(arithmetic.to_value(arithmetic.condition(test), "bool"))
            return
        if func is None or ir.InsertionPoint.current.block != func.body:
            raise ParseError("T.assume on shape variables must be at the top of the function")
        test = self.evaluate(calls.bind(self.evaluate(node.func), node)["condition"])
        if test is True:
            return
        constraints = test.constraints() if isinstance(test, AffineCondition) else None
        if constraints is None or not all(speaks_of_sizes(c) for c in constraints):
            raise ParseError(
                "T.assume takes a conjunction of affine comparisons of shape variables, such as n % 16 == 0 and m >= 1,"
                f" not {describe(test)}"
            )
        assume(func.op, constraints)
        if allowed(func.op).set.is_empty():
            raise ParseError("this assumption contradicts the ones before it: no sizes satisfy all of them")

    # ---- assignments

    def _Assign(self, stmt: ast.Assign) -> None:
        if len(stmt.targets) != 1:
            raise ParseError("chained assignments are not supported")
        self._assign(stmt.targets[0], stmt.value)

    def _AnnAssign(self, stmt: ast.AnnAssign) -> None:
        if stmt.value is None:
            raise ParseError(f"{ast.unparse(stmt.target)} is declared without a value")
        self._assign(stmt.target, stmt.value)

    def _AugAssign(self, stmt: ast.AugAssign) -> None:
        target = stmt.target
        if not isinstance(target, ast.Subscript):
            raise ParseError("x += y needs an element of a buffer; a name is bound only once")
        if type(stmt.op) not in arithmetic.BINARY:
            raise ParseError(f"the operator {type(stmt.op).__name__} is not supported")
        buffer, items = self._element(target)
        old = self.evaluate.load(buffer, items, target)
        value = self.evaluate.binary(arithmetic.BINARY[type(stmt.op)], old, self.evaluate(stmt.value), stmt)
        self.evaluate.store(buffer, items, value, target)

    def _element(self, target: ast.Subscript) -> tuple[BufferRef, list[object]]:
        base = self.evaluate(target.value)
        if not isinstance(base, BufferRef):
            raise self.state.error(target, f"cannot store to {describe(base)}; store to a buffer: A[i, j] = value")
        return base, self.evaluate.subscripts(target)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        self._prepare_assignment(target, value)()

    def _prepare_assignment(self, target: ast.expr, value: ast.expr) -> Callable[[], None]:
        """Compute what is assigned, and return what stores or binds it: `a, b = b, a` reads all before it binds any."""
        if isinstance(target, ast.Subscript):
            return partial(self._store, target, self.evaluate(value))
        if isinstance(target, ast.Name):
            return self._bind_name(target, value)
        if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            if len(target.elts) != len(value.elts):
                raise ParseError(f"{len(value.elts)} values for {len(target.elts)} names")
            parts = [self._prepare_assignment(*pair) for pair in zip(target.elts, value.elts, strict=True)]
            return partial(_run_all, parts)
        if isinstance(target, ast.Tuple) and _is_axis(value):
            raise ParseError("axes must be declared directly in a block, before its other statements")
        if isinstance(target, ast.Tuple | ast.List):
            return partial(self._unpack, target, self.evaluate(value))
        raise ParseError(f"cannot assign to {ast.unparse(target)}")

    def _store(self, target: ast.Subscript, item: object) -> None:
        buffer, items = self._element(target)
        try:
            self.evaluate.store(buffer, items, item, target)
        except ParseError as refused:
            raise self.state.error(target, str(refused)) from None

    def _unpack(self, target: ast.Tuple | ast.List, item: object) -> None:
        elements = target.elts
        if not isinstance(item, tuple | list) or len(item) != len(elements):
            raise ParseError(f"{describe(item)} cannot be unpacked into {ast.unparse(target)}")
        for element, part in zip(elements, item, strict=True):
            self._define(element, part)

    def _bind_name(self, target: ast.Name, value: ast.expr) -> Callable[[], None]:
        word = blocks.construct_of(self.evaluate, value) if not _is_method(value) else None
        make = {"alloc_buffer": alloc_buffer, "match_buffer": match_region,
                "decl_buffer": arena_view}.get(word or "")  # fmt: skip
        if make is not None:
            assert isinstance(value, ast.Call)
            return partial(self._buffer, target, make(self.evaluate, target.id, value))
        if word == "var":
            return partial(self.state.scope.define, target.id, UnboundVar(target.id), target, "size")
        if _is_axis(value):
            raise ParseError("axes must be declared directly in a block, before its other statements")
        return partial(self._define, target, self.evaluate(value))

    def _buffer(self, target: ast.Name, buffer: BufferRef) -> None:
        self.state.scope.define(target.id, buffer, target, "buffer")

    def _define(self, target: ast.expr, item: object) -> None:
        """Bind a name to a value; the op of an SSA value keeps the name as an attribute."""
        if not isinstance(target, ast.Name):
            raise ParseError(f"cannot assign to {ast.unparse(target)}")
        old = self.state.scope.frames[-1].get(target.id)
        fixed = old is not None and old.kind == "value" and isinstance(old.item, ScriptValue)
        if old is not None and fixed and target.id not in self.state.scope.unrolled:
            raise ParseError(f"{target.id} is already bound (line {old.line}); use a buffer for a value that changes")
        if isinstance(item, UnboundVar):
            item = UnboundVar(target.id)
        if isinstance(item, ScriptValue) and not isinstance(item.ssa.owner, ir.Block):
            op = item.ssa.owner
            if attrs.NAME not in op.attributes:
                op.attributes[attrs.NAME] = ir.StringAttr.get(target.id)
        kind = "value" if is_expr(item) else "Python value"
        self.state.scope.define(target.id, item, target, kind)

    def function(self, node: ast.FunctionDef, name: str, private: bool) -> None:
        """Parse the signature and the body of one function."""
        state = self.state
        signature = _signature(state, self.evaluate, node)
        self.used = signature.used
        stmts = [s for s in node.body if id(s) not in self.used and not _declares(s)]
        self.only = stmts[0] if len(stmts) == 1 else None
        attributes = {} if private else {"global_symbol": name}
        with state.source.location(node):
            solve = partial(solve_shape_vars, self.evaluate)
            names = parameters.make_func(state, name, signature.specs, attributes, private, solve)
            for key in signature.wide:
                _declare_wide(names.get(key))
            for key, item in names.items():
                binding = state.scope.frames[0].get(key)
                if binding is not None and binding.kind in ("size", "parameter"):
                    del state.scope.frames[0][key]
                param = next((a for a in node.args.args if a.arg == key), node)
                kind = "buffer" if isinstance(item, BufferRef) else "parameter"
                state.scope.define(key, item, param, kind)
            assert state.func is not None
            with create.at_end(state.func.body):  # an extent that is not affine emits ops
                extents = signature.extents(names)
            parameters.finish_shapes(state, signature.specs, names, extents)
        with create.at_end(state.func.body):
            self.run(node.body)


def _run_all(parts: Sequence[Callable[[], None]]) -> None:
    for part in parts:
        part()


def _declare_wide(size: object) -> None:
    """Mark a shape variable as declared by `T.int64()`."""
    value = size.is_value() if isinstance(size, Index) else None
    if value is not None and not isinstance(value.owner, ir.Block) and len(value.owner.results) == 1:
        value.owner.attributes[attrs.DTYPE] = ir.StringAttr.get("int64")


def _signature(state: ParserState, evaluate: Evaluator, node: ast.FunctionDef) -> SignatureParser:
    """Parse a signature with an insertion point in a scratch module: an op created without a parent aborts the
    process when it is destroyed."""
    module = ir.Module.create()
    try:
        with ir.InsertionPoint(module.body):
            return SignatureParser(state, evaluate, node)
    finally:
        for op in reversed(list(module.body.operations)):
            op.operation.erase()


def _declares(stmt: ast.stmt) -> bool:
    """Whether a statement is a docstring, T.func_attr or T.assume."""
    value = getattr(stmt, "value", None)
    if not isinstance(stmt, ast.Expr):
        return False
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).endswith(("func_attr", "assume"))
    return isinstance(value, ast.Constant)


def _is_method(node: ast.expr) -> bool:
    """Whether a node is `A.access_ptr(...)` or `A.scope()`, which are methods of buffers, not constructs of T."""
    function = node.func if isinstance(node, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in ("access_ptr", "scope")


def _is_axis(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ".axis." in ast.unparse(node.func)


def solve_shape_vars(
    evaluate: Evaluator, buffers: Sequence[tuple[BufferSpec, ir.Value]], names: parameters.Names
) -> None:
    """Bind the remaining variables: for an extent `n * 16 + 3`, n is `(extent - 3) // 16`.

    The call signature checks that extents have this form, so proofs may rely on it.
    """
    for spec, arg in buffers:
        for axis, dim in enumerate(spec.dims):
            if isinstance(dim, ast.expr) and (name := _open(evaluate, dim, names)) is not None:
                _solve_one(evaluate, arg, axis, dim, name, names)


def _open(evaluate: Evaluator, dim: ast.expr, names: parameters.Names) -> str | None:
    """The only unbound variable of an extent, or None."""
    variables = {n.id for n in ast.walk(dim) if isinstance(n, ast.Name)} - set(names)
    bindings = {n: evaluate.state.scope.find(n) for n in variables}
    unbound = [n for n, b in bindings.items() if b is not None and isinstance(b.item, UnboundVar)]
    return unbound[0] if len(unbound) == 1 else None


def _solve_one(
    evaluate: Evaluator, arg: ir.Value, axis: int, dim: ast.expr, name: str, names: parameters.Names
) -> None:
    extent = memref.dim(arg, arith.constant(ir.IndexType.get(), axis))
    with evaluate.state.scope.frame():
        for symbol, item in {**names, name: Index.from_value(extent)}.items():
            evaluate.state.scope.define(symbol, item, dim, "size")
        try:
            index = as_index(evaluate(dim))
        except ParseError:
            index = None
    factors = None if index is None else dim_factors(index.expr)
    factor = 0 if factors is None or index is None else factors[0].get(index.values.index(extent), 0)
    if index is None or factor <= 0:
        if not any(True for _ in extent.uses):  # if it has uses, the shape is rejected and the module dropped
            extent.owner.erase()
        return
    remainder = (Index.from_value(extent) - (index - Index.from_value(extent) * factor)).simplify()
    divisor = arith.constant(ir.IndexType.get(), factor)
    value = arith.floordivsi(create.apply(remainder), divisor)
    value.owner.attributes[attrs.NAME] = ir.StringAttr.get(name)
    names[name] = Index.from_value(value)


def alloc_buffer(evaluate: Evaluator, name: str, node: ast.Call) -> BufferRef:
    """Parse `Y = T.alloc_buffer(shape, dtype, scope=...)`; allocated at the start of the owning block or function."""
    args = calls.bind(evaluate(node.func), node)
    shape = evaluate(args["shape"])
    items = shape if isinstance(shape, tuple | list) else (shape,)
    extents = [_extent(s) for s in items]
    if is_huge(extents):
        raise ParseError(f"buffer {name} has more elements than 64 bits can count")
    dtype = _dtype(evaluate.python(args["dtype"], "dtype")) if "dtype" in args else "float32"
    scope = (evaluate.python(args["scope"], "scope") if "scope" in args else "") or "global"
    if not isinstance(scope, str):
        raise ParseError(f'the scope of {name} is a string such as "global", not {describe(scope)}')
    with evaluate.state.source.location(node):
        value = evaluate.state.allocation_scopes[-1].prologue(lambda: create.alloc(name, extents, dtype, scope))
    if any(map(is_wide, items)):
        _declare_wide_extents(value)
    return BufferRef(name, value, dtype, [Index.wrap(e) for e in extents], scope)


def _dtype(value: object) -> str:
    """The name of an element type."""
    if not isinstance(value, str):
        raise ParseError(dtypes.refusal(short_repr(value)))
    return value


def _declare_wide_extents(buffer: ir.Value) -> None:
    buffer.owner.attributes[attrs.EXTENT_DTYPE] = ir.StringAttr.get("int64")


def _extent(item: object) -> int | Index:
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
    dtype = _dtype(evaluate.python(args["dtype"], "dtype")) if "dtype" in args else "float32"
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
            _declare_wide_extents(buffer.ssa)
        if any(isinstance(s, str) for s in strides):
            parameters.bind_strides(buffer, strides)
        return buffer

    with state.source.location(node):
        buffer = state.allocation_scopes[-1].prologue(make)
    for stride, value in zip(strides, buffer.stride_values, strict=False):
        if isinstance(stride, str):
            state.scope.define(stride, ScriptValue(value, "int32"), node, "stride")
    return buffer


def _as_tuple(item: object) -> tuple[object, ...]:
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
    offsets: list[ir.Value | int] = [
        m if m is not None else create.apply(i) for m, i in zip(fixed, region.mins, strict=True)
    ]
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
