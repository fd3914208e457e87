"""Visitors and rewriters of graphs: classes whose methods are called for each kind of expression."""

from __future__ import annotations

from typing import Any, TypeVar

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.expressions.block_builder import BlockBuilder
from tir_mlir.graph.expressions.graph_function import Function, FunctionHome, ModuleFunction
from tir_mlir.graph.expressions.nodes import (
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    ExternFunc,
    Op,
    PrimValue,
    SeqExpr,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from tir_mlir.script.module import GlobalVar, IRModule

_Class = TypeVar("_Class", bound=type)
GraphT = TypeVar("GraphT", Function, IRModule)


def visitor(cls: _Class) -> _Class:
    """The decorator of a visitor class, as TVM has it. Errors: GraphError for another class."""
    return _check_class(cls, PyExprVisitor, "visitor")


def mutator(cls: _Class) -> _Class:
    """The decorator of a rewriter class, as TVM has it. Errors: GraphError for another class."""
    return _check_class(cls, PyExprMutator, "mutator")


def _check_class(cls: _Class, base: type, word: str) -> _Class:
    if not isinstance(cls, type) or not issubclass(cls, base):
        raise GraphError(f"@{word} decorates a class derived from {base.__name__}, not {short_repr(cls)}")
    return cls


class _Functor:
    """Calls the method of an expression's kind."""

    def visit_expr(self, expr: object) -> Any:
        """Call the method of this kind of expression: `visit_call_` of a call."""
        if not (kinds := getattr(expr, "kinds", ())):
            raise GraphError(f"no visit of {short_repr(expr)}")
        return getattr(self, f"visit_{kinds[0]}_")(expr)


class PyExprVisitor(_Functor):
    """Reads a graph: override `visit_call_`, `visit_var_binding_`, ...; the base's method visits what is below."""

    def visit_function_(self, op: Function) -> None:
        for param in op.params:
            self.visit_var_def(param)
        self.visit_expr(op.body)

    def visit_seq_expr_(self, op: SeqExpr) -> None:
        for block in op.blocks:
            self.visit_binding_block(block)
        self.visit_expr(op.body)

    def visit_binding_block(self, block: BindingBlock) -> None:
        if isinstance(block, DataflowBlock):
            self.visit_dataflow_block_(block)
        else:
            self.visit_binding_block_(block)

    def visit_binding_block_(self, block: BindingBlock) -> None:
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_dataflow_block_(self, block: DataflowBlock) -> None:
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_binding(self, binding: VarBinding) -> None:
        self.visit_var_binding_(binding)

    def visit_var_binding_(self, binding: VarBinding) -> None:
        self.visit_expr(binding.value)
        self.visit_var_def(binding.var)

    def visit_var_def(self, var: Var) -> None:
        if isinstance(var, DataflowVar):
            self.visit_dataflow_var_def_(var)
        else:
            self.visit_var_def_(var)

    def visit_var_def_(self, var: Var) -> None: ...

    def visit_dataflow_var_def_(self, var: DataflowVar) -> None: ...

    def visit_call_(self, op: Call) -> None:
        self.visit_expr(op.op)
        for arg in op.args:
            self.visit_expr(arg)

    def visit_tuple_(self, op: Tuple) -> None:
        for item in op.fields:
            self.visit_expr(item)

    def visit_tuple_getitem_(self, op: TupleGetItem) -> None:
        self.visit_expr(op.tuple_value)

    def visit_dataflow_var_(self, op: DataflowVar) -> None:
        self.visit_var_(op)

    def visit_var_(self, op: Var) -> None: ...

    def visit_constant_(self, op: Constant) -> None: ...

    def visit_prim_value_(self, op: PrimValue) -> None:
        self.visit_constant_(op)

    def visit_global_var_(self, op: GlobalVar) -> None: ...

    def visit_extern_func_(self, op: ExternFunc) -> None: ...

    def visit_shape_expr_(self, op: ShapeExpr) -> None: ...

    def visit_op_(self, op: Op) -> None: ...


class PyExprMutator(_Functor):
    """Rewrites a graph: each method returns what its expression becomes. `builder_` writes the new function.

        @mutator
        class Twice(PyExprMutator):
            def visit_call_(self, call):
                call = self.visit_expr_post_order(call)
                return op.multiply(call.args[0], const(2.0)) if call.op == Op.get("relax.add") else call

    Bindings that nothing uses any more remain; `remove_all_unused` removes them.
    """

    def __init__(self, mod: IRModule | None = None):
        self.builder_ = BlockBuilder(mod)
        self._remap: dict[Var, Var] = {}

    def visit_expr_post_order(self, expr: object) -> Any:
        """The expression with its parts rewritten."""
        if isinstance(expr, Call):
            return self._call(expr)
        if isinstance(expr, Tuple):
            fields = [self.visit_expr(f) for f in expr.fields]
            return expr if _all_identical(fields, expr.fields) else Tuple(fields)
        if isinstance(expr, TupleGetItem):
            tuple_value = self.visit_expr(expr.tuple_value)
            return expr if tuple_value is expr.tuple_value else TupleGetItem(tuple_value, expr.index)
        if isinstance(expr, Var):
            return self._remap.get(expr, expr)
        if isinstance(expr, Function):
            return self._function(expr)
        return self._seq(expr) if isinstance(expr, SeqExpr) else expr

    visit_call_ = visit_tuple_ = visit_tuple_getitem_ = visit_var_ = visit_constant_ = visit_expr_post_order
    visit_function_ = visit_seq_expr_ = visit_global_var_ = visit_extern_func_ = visit_expr_post_order
    visit_shape_expr_ = visit_op_ = visit_expr_post_order

    def visit_dataflow_var_(self, op: DataflowVar) -> object:
        return self.visit_var_(op)

    def visit_prim_value_(self, op: PrimValue) -> object:
        return self.visit_constant_(op)

    def _call(self, call: Call) -> Call:
        op, args = self.visit_expr(call.op), [self.visit_expr(a) for a in call.args]
        return (
            call if op is call.op and _all_identical(args, call.args) else Call(op, args, call.attrs, call.sinfo_args)
        )

    def _function(self, func: Function) -> Function:
        module = {} if func.module is None else func.module.functions
        self.builder_.around |= {**module, func.name: func}
        with self.builder_.scope(func.name, None, func.attrs, module) as opened:
            opened.emitter.names |= {b.var.name_hint for b in func.body.bindings}
            params = [self.visit_var_def(p) for p in func.params]
            body = self.visit_expr(func.body)
            body = body.body if isinstance(body, SeqExpr) else body
            rewritten = Function(params, SeqExpr(opened.emitter.blocks, opened.emitter.operand(body)), attrs=func.attrs)
        rewritten.module, rewritten.name = _Home(self.builder_, func.module), func.name
        return rewritten

    def _seq(self, seq: SeqExpr) -> SeqExpr:
        for block in seq.blocks:
            self.visit_binding_block(block)
        return SeqExpr(self.builder_.emitter.blocks, self.builder_.emitter.operand(self.visit_expr(seq.body)))

    def visit_binding_block(self, block: BindingBlock) -> BindingBlock:
        """Rewrite a block; the new one is the last of the builder."""
        emitter = self.builder_.emitter
        emitter.begin_block(dataflow=isinstance(block, DataflowBlock))
        if isinstance(block, DataflowBlock):
            self.visit_dataflow_block_(block)
        else:
            self.visit_binding_block_(block)
        emitter.in_dataflow = False
        return emitter.blocks[-1]

    def visit_binding_block_(self, block: BindingBlock) -> object:
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_dataflow_block_(self, block: DataflowBlock) -> object:
        for binding in block.bindings:
            self.visit_binding(binding)

    def visit_binding(self, binding: VarBinding) -> None:
        self.visit_var_binding_(binding)

    def visit_var_binding_(self, binding: VarBinding) -> None:
        value = self.builder_.normalize(self.visit_expr(binding.value))
        var = self.visit_var_def(binding.var)
        if var.struct_info != value.struct_info:
            var = type(var)(var.name_hint, value.struct_info)
        if var is not binding.var:
            self.set_var_remap(binding.var, var)
        self.builder_.emit_normalized(VarBinding(var, value))

    def visit_var_def(self, var: Var) -> Var:
        """The new definition of a variable."""
        new_var = self.visit_dataflow_var_def_(var) if isinstance(var, DataflowVar) else self.visit_var_def_(var)
        if new_var is not var:
            self.set_var_remap(var, new_var)
        return new_var

    def visit_var_def_(self, var: Var) -> Var:
        return var

    def visit_dataflow_var_def_(self, var: DataflowVar) -> Var:
        return var

    def set_var_remap(self, vid: Var, var: Var) -> None:
        """Later uses of a variable are of another one."""
        self._remap[vid] = var

    def get_var_remap(self, vid: Var) -> Var:
        return self._remap.get(vid, vid)

    def lookup_binding(self, var: object) -> Expr | None:
        """What a variable of the new function is bound to, None for a parameter."""
        return self.builder_.lookup_binding(var)

    def remove_all_unused(self, func: GraphT) -> GraphT:
        """The function without the bindings that nothing uses."""
        return remove_all_unused(func)


class _Home:
    """The functions that a rewritten function may call: those of its module, and those that the rewriter added."""

    def __init__(self, builder: BlockBuilder, module: FunctionHome | None):
        self.builder, self.module = builder, module

    @property
    def functions(self) -> dict[str, ModuleFunction]:
        return {**({} if self.module is None else self.module.functions), **self.builder.functions}


def _all_identical(new: list[object], old: list[Any]) -> bool:
    return all(a is b for a, b in zip(new, old, strict=True))


def remove_all_unused(func: GraphT) -> GraphT:
    """A function, or a module, without the bindings that nothing uses. Calls of registered functions remain."""
    if isinstance(func, IRModule):
        module = func.clone()
        module.update({name: remove_all_unused(f) for name, f in func.functions.items() if isinstance(f, Function)})
        return module
    if not isinstance(func, Function):
        raise GraphError(f"remove_all_unused takes a graph or a module, not {short_repr(func)}")
    uses = _Used()
    uses.visit_expr(func.body.body)
    blocks = []
    for block in reversed(func.body.blocks):
        bindings = [b for b in reversed(block.bindings) if uses.keeps(b)]
        if bindings:
            blocks.insert(0, type(block)(bindings[::-1]))
    return func.with_body(SeqExpr(blocks, func.body.body))


class _Used(PyExprVisitor):
    """The variables that are used below the bindings seen so far."""

    def __init__(self) -> None:
        self.found: set[Var] = set()

    def visit_var_(self, op: Var) -> None:
        self.found.add(op)

    def keeps(self, binding: VarBinding) -> bool:
        """Whether a binding is needed; then so are the variables of its value."""
        value = binding.value
        has_effect = isinstance(value, Call) and value.op == Op.get("relax.call_dps_packed")
        if binding.var not in self.found and not has_effect:
            return False
        self.visit_expr(value)
        return True
