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
from tir_mlir.te import expr, script_ast
from tir_mlir.te.expr import Expr, Var, rename_keys, subscript, t_call
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
    bound = {key for a in args for key in script_ast.sizes_of(a)} | param_keys
    for op in order:
        for tensor in op.input_tensors:
            if isinstance(tensor.op, PlaceholderOp) and tensor.key not in param_keys:
                raise refuse(f"{op.name} reads {tensor.name}, a placeholder that is not a parameter: add it")
    variables: dict[str, tuple[Var, str]] = {}
    for tensor in [*(a for a in args if isinstance(a, Tensor)), *(t for op in order for t in op.tensors)]:
        variables |= {key: (var, f"the shape of {tensor.name}") for key, var in script_ast.sizes_of(tensor).items()}
    for op in order:
        variables |= {key: (var, op.name) for key, var in op.variables.items()}
    for key, (var, where) in variables.items():
        if key not in bound:
            raise refuse(f"{where} uses the variable {var.name}, neither a parameter nor in the shape of one: add it")


class _FunctionBuilder:
    """Builds the AST of the function and parses it."""

    def __init__(self, args: Sequence[Leaf]):
        self.args = args
        self.names = script_ast.KeyNames()
        self.blocks: set[str] = set()
        sizes = {k: v for a in args for k, v in script_ast.sizes_of(a).items()}
        for leaf in [*args, *(v for k, v in sizes.items() if all(k != a.key for a in args))]:
            self.names.give(leaf.key, leaf.name)

    def module(self, order: Sequence[ComputeOp | StatementsOp], assume: Sequence[Expr]) -> IRModule:
        params = [script_ast.parameter(a, self.names) for a in self.args]
        origin = order[0].location if order else set_location(ast.Pass())
        attributes = ast.Dict([ast.Constant("tir.noalias")], [ast.Constant(True)])
        body: list[ast.stmt] = [ast.Expr(script_ast.call("func_attr", attributes))]
        param_keys = {a.key for a in self.args}
        body += [
            script_ast.assign(self.names.of[k], script_ast.call("int32"))
            for k in dict.fromkeys(key for a in self.args for key in script_ast.sizes_of(a))
            if k not in param_keys
        ]
        body += [
            ast.Expr(script_ast.call("assume", rename_keys(condition.node, self.names.of))) for condition in assume
        ]
        for op in order:
            statements = self._operation(op)
            script_ast.copy_location(op.location, statements)
            body += statements
        function = script_ast.function(params, body, origin)
        return build([FunctionSource("main", function, TeSource(file_of(origin)), {"T": tir})])

    def _operation(self, op: ComputeOp | StatementsOp) -> list[ast.stmt]:
        """The statements of an operation: buffers, loops, blocks."""
        statements: list[ast.stmt] = []
        for tensor in op.tensors:
            if tensor.key not in self.names.of:
                shape = script_ast.shape(tensor.shape, self.names)
                alloc = script_ast.call("alloc_buffer", shape, ast.Constant(tensor.dtype))
                statements.append(script_ast.assign(self.names.give(tensor.key, tensor.name), alloc))
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
            body = [script_ast.loop(variable, self._bounds(axis), body)]
        for variable in loops:
            self.names.forget(variable)
        return body

    def _bounds(self, axis: IterVar) -> list[ast.expr]:
        low, extent = axis.dom.min, axis.dom.extent
        if isinstance(low, int) and low == 0:
            return [script_ast.size(extent, self.names)]
        return [script_ast.size(low, self.names), script_ast.size(low + extent, self.names)]

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
            body.append(script_ast.assign(iterator, script_ast.call(kind, domain, script_ast.name(variable))))
        if not axes:
            iters = [self.names.fresh("vi")]
            body.append(script_ast.assign(iters[0], script_ast.call("axis.spatial", ast.Constant(1), ast.Constant(0))))
        if attrs:
            body.append(ast.Expr(script_ast.call("block_attr", _plain(attrs))))
        body += values()
        for iterator in iters:
            self.names.forget(iterator)
        unique, number = title, 0
        while unique in self.blocks:
            number += 1
            unique = f"{title}_{number}"
        self.blocks.add(unique)
        return script_ast.with_statement(script_ast.call("block", ast.Constant(unique)), body)

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
        return [script_ast.with_statement(script_ast.call("init"), self._starts(op)), *self._update(op, results)]

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
        statements = [
            script_ast.assign(k, rename_keys(r.node, self.names.of)) for k, r in zip(variables, results, strict=True)
        ]
        statements += [
            ast.Assign([self._target(t, op.axis)], script_ast.name(k))
            for t, k in zip(op.tensors, variables, strict=True)
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
    leaves, names = _leaves(exprs), script_ast.KeyNames()
    for key, leaf in leaves.items():
        names.give(key, leaf.name)
    params = [script_ast.parameter(leaf, names) for leaf in leaves.values()]
    probe = set_location(Probe([rename_keys(e.node, names.of) for e in exprs]))
    function = script_ast.function(params, [probe], set_location(ast.Pass()))
    with enter_context():
        state = ParserState(TeSource(file_of(probe)), Scope({"T": tir}, assigned_names(function)), ir.Module.create())
        prober = _Prober(state)
        prober.function(function, "probe", True)
        return prober.found


def _leaves(exprs: Sequence[Expr]) -> dict[str, Leaf]:
    """What expressions read, by key, after the named sizes of its shape."""
    read = {key: leaf for expr in exprs for key, leaf in expr.leaves.items()}
    return {key: size for leaf in read.values() for key, size in script_ast.sizes_of(leaf).items()} | read
