"""Tensors and expressions given to the parser: `te.create_prim_func`, and a probe that finds the types of elements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from mlir import ir

from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.dialect.ir import cache_by_structure, enter_context
from tir_mlir.extensions import implement
from tir_mlir.script import tir
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.parser import FunctionSource, arithmetic, build
from tir_mlir.script.parser.function_state import ParserState, Scope, assigned_names
from tir_mlir.script.parser.items import dtype_of
from tir_mlir.script.parser.statements import FunctionParser
from tir_mlir.te import expr
from tir_mlir.te.expr import Expr, Size, Var, rename_keys, subscript, t_call, t_name
from tir_mlir.te.source_location import TeSource, file_of, refuse, set_location
from tir_mlir.te.statements import StatementsOp
from tir_mlir.te.tensor import ComputeOp, IterVar, PlaceholderOp, Tensor, UpdateOp

if TYPE_CHECKING:
    from tir_mlir.te.expr import Leaf

MakeStatements: TypeAlias = Callable[[], list[ast.stmt]]


def create_prim_func(
    ops: Leaf | Sequence[Leaf], index_dtype_override: str | None = None, assume: Sequence[Expr] = ()
) -> PrimFunc:
    """Create the function `main` whose parameters are the given tensors and variables, in order.

        A = te.placeholder((128, 128), name="A")
        B = te.compute((128, 128), lambda i, j: A[i, j] + 1.0, name="B")
        sch = Schedule(te.create_prim_func([A, B]))

    Each te.compute becomes a loop nest with one block, in topological order; a computed tensor that is not a parameter
    becomes an allocated buffer. A reduction over an axis without elements is its start value. index_dtype_override:
    accepted for compatibility; ignored. assume: conditions on variables of shapes, as `n <= 512`, which proofs use and
    every call checks.
    Raises ScriptError for an input or a shape variable that is not a parameter, and for verifier errors.
    """
    args = list(ops) if isinstance(ops, Sequence) else [ops]
    if not args:
        raise refuse("te.create_prim_func needs the tensors that are the parameters: te.create_prim_func([A, B])")
    for arg in args:
        if not isinstance(arg, (Tensor, Var)) or isinstance(arg, IterVar):
            raise refuse(f"a parameter is a tensor or a te.var, not {short_repr(arg)}")
    for number, arg in enumerate(args):
        if any(arg is earlier for earlier in args[:number]):
            raise refuse(f"{arg.name} is given twice")
    order = _topological([a for a in args if isinstance(a, Tensor)])
    _check_inputs(args, order)
    return PrimFunc(_FunctionBuilder(args).module(order, assume), "main")


def _topological(tensors: Sequence[Tensor]) -> list[ComputeOp | StatementsOp]:
    """The compute operations of tensors, in topological order."""
    ordered: list[ComputeOp | StatementsOp] = []
    seen: set[int] = set()
    stack = [(t.op, False) for t in reversed(tensors)]
    while stack:
        op, done = stack.pop()
        if done and isinstance(op, (ComputeOp, StatementsOp)):
            ordered.append(op)
        elif id(op) not in seen:
            seen.add(id(op))
            stack.append((op, True))
            stack += [(t.op, False) for t in reversed(op.input_tensors)]
    return ordered


def _check_inputs(args: Sequence[Leaf], order: Sequence[ComputeOp | StatementsOp]) -> None:
    """Check that all inputs and variables of the computations are bound by the parameters."""
    param_keys = {a.key for a in args}
    bound = {key for a in args for key in _sizes_of(a)} | param_keys
    for op in order:
        for tensor in op.input_tensors:
            if isinstance(tensor.op, PlaceholderOp) and tensor.key not in param_keys:
                raise refuse(f"{op.name} reads {tensor.name}, a placeholder that is not a parameter: add it")
    variables: dict[str, tuple[Var, str]] = {}
    for tensor in [*(a for a in args if isinstance(a, Tensor)), *(t for op in order for t in op.tensors)]:
        variables |= {key: (var, f"the shape of {tensor.name}") for key, var in _sizes_of(tensor).items()}
    for op in order:
        variables |= {key: (var, op.name) for key, var in op.variables.items()}
    for key, (var, where) in variables.items():
        if key not in bound:
            raise refuse(f"{where} uses the variable {var.name}, neither a parameter nor in the shape of one: add it")


class _FunctionBuilder:
    """Builds the AST of the function and parses it."""

    def __init__(self, args: Sequence[Leaf]):
        self.args = args
        self.names = KeyNames()
        self.blocks: set[str] = set()
        sizes = {k: v for a in args for k, v in _sizes_of(a).items()}
        for leaf in [*args, *(v for k, v in sizes.items() if all(k != a.key for a in args))]:
            self.names.give(leaf.key, leaf.name)

    def module(self, order: Sequence[ComputeOp | StatementsOp], assume: Sequence[Expr]) -> IRModule:
        params = [_parameter(a, self.names) for a in self.args]
        origin = order[0].location if order else set_location(ast.Pass())
        attributes = ast.Dict([ast.Constant("tir.noalias")], [ast.Constant(True)])
        body: list[ast.stmt] = [ast.Expr(_call("func_attr", attributes))]
        param_keys = {a.key for a in self.args}
        body += [
            _assign(self.names.of[k], _call("int32"))
            for k in dict.fromkeys(key for a in self.args for key in _sizes_of(a))
            if k not in param_keys
        ]
        body += [ast.Expr(_call("assume", rename_keys(condition.node, self.names.of))) for condition in assume]
        for op in order:
            statements = self._operation(op)
            _copy_location(op.location, statements)
            body += statements
        function = _function(params, body, origin)
        return build([FunctionSource("main", function, TeSource(file_of(origin)), {"T": tir})])

    def _operation(self, op: ComputeOp | StatementsOp) -> list[ast.stmt]:
        """The statements of an operation: buffers, loops, blocks."""
        statements: list[ast.stmt] = []
        for tensor in op.tensors:
            if tensor.key not in self.names.of:
                shape = _shape(tensor.shape, self.names)
                alloc = _call("alloc_buffer", shape, ast.Constant(tensor.dtype))
                statements.append(_assign(self.names.give(tensor.key, tensor.name), alloc))
        if isinstance(op, StatementsOp):
            return statements + self._nest(op.axis, {}, [(op.name, lambda: self._statements_block(op))])
        if isinstance(op, UpdateOp):
            copy = self._nest(op.copy_axis, {}, [(f"{op.name}_copy", lambda: self._copy(op))])
            return statements + copy + self._nest(op.axis, {}, [(op.name, lambda: self._update_element(op))])
        if op.reduction is not None and any(_is_empty(axis) for axis in op.reduce_axis):
            return statements + self._nest(op.axis, op.attrs, [(op.name, lambda: self._starts(op))])
        if op.reduction is not None or len(op.body) == 1:
            blocks = [(op.name, lambda: self._values(op))]
        else:
            blocks = [
                (t.name, lambda t=t, e=e: [self._store(t, op.axis, e)])
                for t, e in zip(op.tensors, op.body, strict=True)
            ]
        return statements + self._nest([*op.axis, *op.reduce_axis], op.attrs, blocks)

    def _nest(
        self, axes: Sequence[IterVar], attrs: Mapping[str, object], blocks: Sequence[tuple[str, MakeStatements]]
    ) -> list[ast.stmt]:
        """Loops over axes around blocks of a name and statements."""
        loops = [self.names.fresh(a.name) for a in axes]
        body = [self._block(axes, attrs, title, loops, values) for title, values in blocks]
        for axis, variable in reversed(list(zip(axes, loops, strict=True))):
            body = [_loop(variable, self._bounds(axis), body)]
        for variable in loops:
            self.names.forget(variable)
        return body

    def _bounds(self, axis: IterVar) -> list[ast.expr]:
        low, extent = axis.dom.min, axis.dom.extent
        if isinstance(low, int) and low == 0:
            return [_size(extent, self.names)]
        return [_size(low, self.names), _size(low + extent, self.names)]

    def _block(
        self, axes: Sequence[IterVar], attrs: Mapping[str, object], title: str, loops: list[str], values: MakeStatements
    ) -> ast.stmt:
        """A block with one iter per axis, or one unit iter if there are no axes."""
        iters = [self.names.give(a.key, f"v_{a.name}") for a in axes]
        body: list[ast.stmt] = []
        for axis, variable, iterator in zip(axes, loops, iters, strict=True):
            bounds = self._bounds(axis)
            domain = bounds[0] if len(bounds) == 1 else ast.Tuple(bounds, ast.Load())
            kind = "axis.reduce" if axis.is_reduce else "axis.opaque" if axis.is_ordered else "axis.spatial"
            body.append(_assign(iterator, _call(kind, domain, _name(variable))))
        if not axes:
            iters = [self.names.fresh("vi")]
            body.append(_assign(iters[0], _call("axis.spatial", ast.Constant(1), ast.Constant(0))))
        if attrs:
            body.append(ast.Expr(_call("block_attr", _plain(attrs))))
        body += values()
        for iterator in iters:
            self.names.forget(iterator)
        unique, number = title, 0
        while unique in self.blocks:
            number += 1
            unique = f"{title}_{number}"
        self.blocks.add(unique)
        return _with_statement(_call("block", ast.Constant(unique)), body)

    def _values(self, op: ComputeOp) -> list[ast.stmt]:
        """The stores of a block; a reduction includes its init."""
        reduction = op.reduction
        if reduction is None:
            return [self._store(op.tensors[0], op.axis, op.body[0])]
        types = [t.dtype for t in op.tensors]
        old = [subscript(t.key, t, tuple(op.axis)) for t in op.tensors]
        new = list(reduction.sources)
        for condition in reduction.conditions:
            new = [
                t_call("if_then_else", condition, n, e)
                for n, e in zip(new, reduction.reducer.identity(types), strict=True)
            ]
        results = reduction.reducer.combine(old, new)
        return [_with_statement(_call("init"), self._starts(op)), *self._update(op, results)]

    def _starts(self, op: ComputeOp) -> list[ast.stmt]:
        """The stores of the start values of a reduction."""
        assert op.reduction is not None
        starts = op.reduction.inits or op.reduction.reducer.identity([t.dtype for t in op.tensors])
        return [self._store(t, op.axis, s) for t, s in zip(op.tensors, starts, strict=True)]

    def _update(self, op: ComputeOp, results: list[Expr]) -> list[ast.stmt]:
        """The stores of a reduction update. All values are computed before the first store."""
        if len(results) == 1:
            return [self._store(op.tensors[0], op.axis, results[0])]
        variables = [self.names.fresh(f"v_{t.name}") for t in op.tensors]
        statements = [_assign(k, rename_keys(r.node, self.names.of)) for k, r in zip(variables, results, strict=True)]
        statements += [
            ast.Assign([self._target(t, op.axis)], _name(k)) for t, k in zip(op.tensors, variables, strict=True)
        ]
        for variable in variables:
            self.names.forget(variable)
        return statements

    def _statements_block(self, op: StatementsOp) -> list[ast.stmt]:
        """The statements of a block, of its indices, operands and results."""
        leaves = [*op.axis, *op.input_tensors, *op.tensors]
        return op.block([self.names.of[leaf.key] for leaf in leaves], self.names.of, self.names.fresh)

    def _copy(self, op: UpdateOp) -> list[ast.stmt]:
        """`result[i, j] = data[i, j]`."""
        return [self._store(op.tensors[0], op.copy_axis, op.data(*op.copy_axis))]

    def _update_element(self, op: UpdateOp) -> list[ast.stmt]:
        """`if condition: result[where] = value`."""
        store = self._store(op.tensors[0], op.where, op.body[0])
        if op.condition is None:
            return [store]
        return [ast.If(rename_keys(op.condition.node, self.names.of), [store], [])]

    def _store(self, tensor: Tensor, index: Sequence[Expr], value: Expr) -> ast.stmt:
        return ast.Assign([self._target(tensor, index)], rename_keys(value.node, self.names.of))

    def _target(self, tensor: Tensor, index: Sequence[Expr]) -> ast.expr:
        return rename_keys(subscript(tensor.key, tensor, tuple(index)).node, self.names.of)


def _is_empty(axis: IterVar) -> bool:
    """Whether a reduce axis has no element."""
    return isinstance(axis.dom.extent, int) and axis.dom.extent == 0


def _plain(value: object) -> ast.expr:
    """A Python value as AST."""
    if isinstance(value, dict):
        return ast.Dict([_plain(k) for k in value], [_plain(v) for v in value.values()])
    if isinstance(value, (list, tuple)):
        return ast.List([_plain(v) for v in value], ast.Load())
    if value is None or not isinstance(value, (str, bool, int, float)):
        raise refuse(f"an attribute is a string, a number, a list or a dictionary, not {short_repr(value)}")
    return ast.Constant(value)


class Probe(ast.Pass):
    """A pseudo-statement that holds expressions to infer the types of."""

    def __init__(self, values: Sequence[ast.expr] = ()):
        super().__init__()
        self.values = values


class _Prober(FunctionParser):
    """Parses a function with a probe and records the types of its values."""

    found: list[str]

    def _Probe(self, stmt: Probe) -> None:
        self.found = [dtype_of(arithmetic.as_expr(self.evaluate(v))) for v in stmt.values]


def _structure(exprs: Sequence[Expr]) -> Hashable:
    """What the types of expressions depend on: their operations and constants, the element types and ranks of what they
    read, and named sizes; not names, positions, or sizes that are numbers."""
    numbers: dict[str, int] = {}
    leaves = _leaves(exprs)

    def structure_of(part: object) -> Hashable:
        if isinstance(part, ast.Name):
            leaf = leaves.get(part.id)
            return part.id if leaf is None else (numbers.setdefault(part.id, len(numbers)), *facts(leaf))
        if isinstance(part, ast.expr_context):
            return None
        if isinstance(part, ast.AST):
            return (type(part), *[structure_of(getattr(part, name, None)) for name in part._fields])
        return tuple(map(structure_of, part)) if isinstance(part, list) else (type(part), repr(part))

    def facts(leaf: Leaf) -> tuple[Hashable, ...]:
        sizes = getattr(leaf, "shape", None)
        if sizes is None:
            return (leaf.dtype,)
        return leaf.dtype, len(sizes), *[structure_of(size.node) for size in sizes if isinstance(size, Expr)]

    return tuple(structure_of(expr.node) for expr in exprs)


@implement(expr.dtypes_of)
@cache_by_structure(_structure)
def dtypes_of(exprs: Sequence[Expr]) -> list[str]:
    """The element type of each expression. Raises ScriptError at the offending subexpression.

    Expressions of equal structure have equal types: they are parsed once.
    """
    leaves, names = _leaves(exprs), KeyNames()
    for key, leaf in leaves.items():
        names.give(key, leaf.name)
    params = [_parameter(leaf, names) for leaf in leaves.values()]
    probe = set_location(Probe([rename_keys(e.node, names.of) for e in exprs]))
    function = _function(params, [probe], set_location(ast.Pass()))
    with enter_context():
        state = ParserState(TeSource(file_of(probe)), Scope({"T": tir}, assigned_names(function)), ir.Module.create())
        prober = _Prober(state)
        prober.function(function, "probe", True)
        return prober.found


def _leaves(exprs: Sequence[Expr]) -> dict[str, Leaf]:
    """What expressions read, by key, after the named sizes of its shape."""
    read = {key: leaf for expr in exprs for key, leaf in expr.leaves.items()}
    return {key: size for leaf in read.values() for key, size in _sizes_of(leaf).items()} | read


class KeyNames:
    """Unique readable names for the keys in an AST."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}
        self._used = {"T"}

    def give(self, key: str, hint: str) -> str:
        """A name for a key."""
        self.of[key] = self.fresh(hint)
        return self.of[key]

    def fresh(self, hint: str) -> str:
        """`hint`, or with the first free suffix `_1`, `_2`, ..."""
        name, number = hint, 0
        while name in self._used:
            number += 1
            name = f"{hint}_{number}"
        self._used.add(name)
        return name

    def forget(self, name: str) -> None:
        """Release a name at the end of its loop or block."""
        self._used.discard(name)


def _sizes_of(leaf: Leaf) -> dict[str, Var]:
    """The variables in the shape of a tensor."""
    sizes = () if isinstance(leaf, Var) else [size for size in leaf.shape if isinstance(size, Expr)]
    return {key: var for size in sizes for key, var in size.leaves.items() if isinstance(var, Var)}


def _size(value: Size, names: KeyNames) -> ast.expr:
    """An extent: a number or an expression of shape variables."""
    return rename_keys(value.node, names.of) if isinstance(value, Expr) else ast.Constant(value)


def _shape(values: Sequence[Size], names: KeyNames) -> ast.expr:
    return ast.Tuple([_size(v, names) for v in values], ast.Load())


def _parameter(leaf: Leaf, names: KeyNames) -> ast.arg:
    """`A: T.Buffer((n, 16), "float32")` for a tensor, `n: T.int32` for a variable."""
    if isinstance(leaf, Var):
        return ast.arg(names.of[leaf.key], t_name(leaf.dtype))
    return ast.arg(names.of[leaf.key], _call("Buffer", _shape(leaf.shape, names), ast.Constant(leaf.dtype)))


def _call(word: str, *args: ast.expr) -> ast.Call:
    return ast.Call(t_name(word), list(args), [])


def _name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def _assign(target: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(target, ast.Store())], value)


def _loop(variable: str, bounds: Sequence[ast.expr], body: list[ast.stmt]) -> ast.stmt:
    """`for variable in T.serial(bounds)`."""
    return ast.For(ast.Name(variable, ast.Store()), _call("serial", *bounds), body, [])


def _with_statement(head: ast.Call, body: list[ast.stmt]) -> ast.stmt:
    """`with head:`."""
    return ast.With([ast.withitem(head)], body)


def _function(params: list[ast.arg], body: list[ast.stmt], origin: ast.AST) -> ast.FunctionDef:
    arguments = ast.arguments([], params, None, [], [], None, [])
    definition = ast.FunctionDef("main", arguments, body, [])
    _copy_location(origin, [definition])
    return definition


def _copy_location(origin: ast.AST, nodes: Sequence[ast.AST]) -> None:
    """Copy the location of `origin` to every node without one."""
    marks = ("lineno", "end_lineno", "col_offset", "end_col_offset", "file")
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if "lineno" in node._attributes and "lineno" not in node.__dict__:
            node.__dict__ |= {mark: getattr(origin, mark) for mark in marks}
