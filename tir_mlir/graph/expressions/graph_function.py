"""`Function`: a graph as an expression, alone or as it is in a module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.graph import tensor_func
from tir_mlir.dialect.ir import enter_context
from tir_mlir.extensions import implement
from tir_mlir.graph.expressions.nodes import Attrs, Call, Expr, SeqExpr, Var, as_expr, checked_type
from tir_mlir.graph.expressions.read_graph import read_graph
from tir_mlir.graph.expressions.struct_info import StructInfo, as_struct_info
from tir_mlir.graph.graph import Graph
from tir_mlir.script import module
from tir_mlir.script.module import GlobalVar, IRModule
from tir_mlir.script.printer.graphs import WEIGHTS

if TYPE_CHECKING:
    from tir_mlir.graph.expressions.struct_info import Annotation
    from tir_mlir.graph.model import Model
    from tir_mlir.script.module import PrimFunc
    from tir_mlir.target import Target

ModuleFunction: TypeAlias = "Function | PrimFunc"


class FunctionHome(Protocol):
    """What has the functions that a graph calls: a module, or a rewriter."""

    @property
    def functions(self) -> Mapping[str, ModuleFunction]: ...


class Function(Expr):
    """A graph: parameters, and a body that binds variables and has a value. `mod["main"]` is one."""

    kinds = ("function",)

    def __init__(
        self,
        params: Sequence[Var],
        body: Expr,
        ret_struct_info: Annotation | None = None,
        is_pure: bool = True,
        attrs: Mapping[str, object] | None = None,
        span: object = None,
        *,
        ret_ty: Annotation | None = None,
        module: FunctionHome | None = None,
    ):
        """ret_struct_info, or ret_ty: the type of the value. Errors: GraphError for one that it cannot be.

        module: the one that has the functions that it calls, for printing it alone.
        """
        for param in params:
            if not isinstance(param, Var):
                raise GraphError(f"a parameter of a function is a relax.Var, not {short_repr(param)}")
        self.params = list(params)
        self.body = body if isinstance(body, SeqExpr) else SeqExpr([], as_expr(body))
        declared = ret_ty if ret_struct_info is None else ret_struct_info
        if declared is not None:
            checked_type("the value of the function", as_struct_info(declared), self.ret_struct_info)
        self.attrs = Attrs(attrs or {})
        self.module = module
        self.name = str(self.attrs.get("global_symbol", "main"))

    @staticmethod
    @implement(module.graph_function)
    def of_module(module: IRModule, name: str) -> Function:
        """The graph of a module as an expression."""
        with enter_context():
            read = read_graph(tensor_func(module.mlir, name))
        function = Function(read.params, read.body, attrs=read.attributes, module=module)
        function.name = name
        return function

    @property
    def ret_struct_info(self) -> StructInfo:
        return self.body.body.struct_info

    @property
    def ret_ty(self) -> StructInfo:
        """The newer name of `ret_struct_info`."""
        return self.ret_struct_info

    def with_attr(self, key: str | Mapping[str, object], value: object = None) -> Function:
        """A copy with one more attribute, or with those of a dictionary."""
        added = dict(key) if isinstance(key, Mapping) else {key: value}
        return self.with_body(self.body, {**self.attrs, **added})

    with_attrs = with_attr

    def without_attr(self, key: str) -> Function:
        """A copy without an attribute."""
        return self.with_body(self.body, {k: v for k, v in self.attrs.items() if k != key})

    def with_body(self, body: Expr, attrs: Mapping[str, object] | None = None) -> Function:
        """A copy with another body."""
        function = Function(self.params, body, attrs=self.attrs if attrs is None else attrs, module=self.module)
        function.name = self.name
        return function

    def with_name(self, name: str) -> Function:
        """A copy with another name."""
        function = self.with_body(self.body)
        function.name = name
        return function

    @property
    def isolated_module(self) -> IRModule:
        """A module with only this graph and the functions that it calls."""
        functions = {} if self.module is None else self.module.functions
        return IRModule({**_reachable_functions(self, functions), self.name: self})

    def build_model(self, target: Target | str = "llvm", **options: Any) -> Model:
        """Compile to a Model; `tir_mlir.build(function)` is the same. Weights are inputs, as a module has no arrays."""
        return Graph(self.without_attr(WEIGHTS).isolated_module, name=self.name).build_model(target, **options)

    def script(self, **options: Any) -> str:
        """The function as TVMScript, printed as a module with the functions that it calls."""
        return self.isolated_module.script(**options)

    def show(self, **options: Any) -> None:
        """Print the function as TVMScript, colored in terminals and notebooks."""
        self.isolated_module.show(**options)

    def _repr_html_(self) -> str:
        return self.isolated_module._repr_html_()

    def __repr__(self) -> str:
        return f"Function({self.name})"


def callees_of(function: Function) -> list[GlobalVar]:
    """The functions of the module that a graph calls, each once."""
    callees: dict[GlobalVar, None] = {}
    for binding in function.body.bindings:
        value = binding.value
        if isinstance(value, Call):
            callees.update((v, None) for v in (value.op, *value.args) if isinstance(v, GlobalVar))
    return list(callees)


def _reachable_functions(function: Function, functions: Mapping[str, ModuleFunction]) -> dict[str, ModuleFunction]:
    """The functions that a graph calls, and those that they call."""
    callees: dict[str, ModuleFunction] = {}
    waiting = [function]
    while waiting:
        for name in callees_of(waiting.pop()):
            if name in functions and name not in callees:
                callees[name] = functions[name]
                waiting += [f for f in [functions[name]] if isinstance(f, Function)]
    return callees
