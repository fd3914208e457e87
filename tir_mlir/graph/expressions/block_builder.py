"""`BlockBuilder`: write graphs as expressions, function by function."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.graph import free_name
from tir_mlir.graph.emit import as_tensor_list
from tir_mlir.graph.expressions.emitter import BindingEmitter
from tir_mlir.graph.expressions.graph_function import Function, ModuleFunction
from tir_mlir.graph.expressions.match_cast import MatchCast, bind_cast_sizes
from tir_mlir.graph.expressions.nodes import Call, Expr, SeqExpr, Tuple, Var, VarBinding, as_expr
from tir_mlir.graph.expressions.read_graph import CALL_TIR
from tir_mlir.graph.expressions.struct_info import SIZES, TensorStructInfo, as_struct_info
from tir_mlir.script.module import GlobalVar, IRModule, PrimFunc
from tir_mlir.script.printer.value_names import identifier
from tir_mlir.script.structural_equal import canonical
from tir_mlir.te import Tensor, create_prim_func, placeholder

if TYPE_CHECKING:
    from tir_mlir.graph.expressions.struct_info import Annotation

TeFunction: TypeAlias = Callable[..., Tensor | Sequence[Tensor]]


@dataclass
class _Open:
    """The function that is being written."""

    name: str
    params: list[Var] | None
    attrs: dict[str, object]
    emitter: BindingEmitter
    result: Expr | None = None
    outputs: list[Expr] = field(default_factory=list)


class BlockBuilder:
    """Write graphs and the programs that they call.

    bb = BlockBuilder()
    with bb.function("main", [x, w]):
        with bb.dataflow():
            lv = bb.emit(op.nn.dense(x, w))
            gv = bb.emit_output(bb.call_te(topi.nn.relu, lv))
        bb.emit_func_output(gv)
    module = bb.get()
    """

    _current: ClassVar[list[BlockBuilder]] = []

    def __init__(self, mod: IRModule | None = None):
        """mod: the functions to start with; they are copied."""
        self.functions: dict[str, ModuleFunction] = {} if mod is None else dict(mod.functions)
        self._open: list[_Open] = []
        self._texts: dict[str, tuple[PrimFunc, str]] = {}
        self.around: dict[str, ModuleFunction] = {}  # functions of modules that graphs are from: their names are taken

    @staticmethod
    def current() -> BlockBuilder | None:
        """The builder of the innermost `with bb.function(...)`."""
        return BlockBuilder._current[-1] if BlockBuilder._current else None

    # --- functions ----------------------------------------------------------------------------------------------------

    @contextmanager
    def function(
        self,
        name: str,
        params: Var | Sequence[Var] | None = None,
        attrs: Mapping[str, object] | None = None,
        private: bool = False,
        pure: bool = True,
    ) -> Iterator[None]:
        """Write a function; `emit_func_output` ends it. params: here, or given with the output."""
        param_vars = [params] if isinstance(params, Var) else None if params is None else list(params)
        func_attrs = {**(attrs or {}), **({"Primitive": 1} if private else {})}
        with self.scope(name, param_vars, func_attrs) as opened:
            yield
        if opened.result is None:
            raise GraphError(f"the function {name} has no output; fix: bb.emit_func_output(value)")
        body = SeqExpr(opened.emitter.blocks, opened.result)
        func = Function(opened.params or [], body, attrs=opened.attrs)
        func.name = name
        self.functions[name] = func

    @contextmanager
    def scope(
        self,
        name: str,
        params: list[Var] | None,
        attrs: Mapping[str, object],
        module: Mapping[str, ModuleFunction] | None = None,
    ) -> Iterator[_Open]:
        """Bindings inside are of one function; home: functions that it may call, besides those of the builder."""
        param_names = {p.name_hint for p in params or ()}
        functions = ChainMap(self.functions, dict(module or {}))
        opened = _Open(name, params, dict(attrs), BindingEmitter(functions, self._add_program, param_names))
        self._open.append(opened)
        BlockBuilder._current.append(self)
        try:
            yield opened
        finally:
            BlockBuilder._current.pop()
            self._open.pop()

    @property
    def current_function(self) -> _Open:
        """The function that is being written. Errors: GraphError outside of one."""
        if not self._open:
            raise GraphError('no function is being written; fix: with bb.function("main", [x]):')
        return self._open[-1]

    @property
    def emitter(self) -> BindingEmitter:
        return self.current_function.emitter

    @contextmanager
    def dataflow(self) -> Iterator[None]:
        """Write a block without side effects; `emit_output` gives what is used after it."""
        self.emitter.begin_block(dataflow=True)
        try:
            yield
        finally:
            self.emitter.in_dataflow = False

    # --- values -------------------------------------------------------------------------------------------------------

    def emit(self, expr: object, name_hint: str = "") -> Var:
        """Bind a value to a new variable. Its type is inferred. Errors: GraphError for operands that do not fit."""
        return self.emitter.emit(expr, name_hint)

    def emit_output(self, output: object, name_hint: str = "") -> Var:
        """The same, for a value that is used after the dataflow block."""
        return self.emitter.emit(output, name_hint, output=True)

    def match_cast(self, value: object, struct_info: Annotation, name_hint: str = "") -> Var:
        """The value as a variable, said to be of a type. Errors: GraphError for what is not shown to be so.

        A name of a size in the type is that of this size already: `value.struct_info.shape` has them.
        """
        var = value if isinstance(value, Var) else self.emit(value, name_hint)
        for name, size in bind_cast_sizes(MatchCast(var, as_struct_info(struct_info)), ()).items():
            if SIZES.text(size) != name:
                raise GraphError(f"{name} is a new name for the size {size}; fix: use {size} itself")
        return var

    def emit_normalized(self, binding: VarBinding) -> Var:
        """Append a binding of a variable that exists."""
        return self.emitter.emit_binding(binding)

    def emit_te(
        self,
        func: TeFunction,
        *args: object,
        name_hint: str = "",
        primfunc_name_hint: str | None = None,
        **kwargs: object,
    ) -> Var:
        """Bind the call of a program that is made of a function on te tensors."""
        return self.emit(self.call_te(func, *args, primfunc_name_hint=primfunc_name_hint, **kwargs), name_hint)

    def call_te(self, func: TeFunction, *args: object, primfunc_name_hint: str | None = None, **kwargs: object) -> Call:
        """The call of a program that is made of a function on te tensors: `bb.call_te(topi.nn.dense, x, w)`.

        Values become te tensors, also those in lists; other arguments are passed as they are. Equal programs are one.
        `primfunc_name_hint`: for its name.
        """
        hint = primfunc_name_hint or identifier(getattr(func, "__name__", "te").strip("<>"), "te")
        kwargs.pop("name_hint", None)
        inputs: list[tuple[Expr, Tensor]] = []
        outputs = func(
            *(self._tensor(a, inputs) for a in args), **{k: self._tensor(v, inputs) for k, v in kwargs.items()}
        )
        results = as_tensor_list(outputs)
        name = self._add_program(create_prim_func([*(t for _, t in inputs), *results]), hint)
        infos = [TensorStructInfo(t.shape, t.dtype) for t in results]
        return Call(CALL_TIR, [name, Tuple([v for v, _ in inputs])], sinfo_args=infos)

    def _tensor(self, argument: object, inputs: list[tuple[Expr, Tensor]]) -> object:
        """The te tensor of a value."""
        if isinstance(argument, (list, tuple)) and not isinstance(argument, Expr):
            return (
                type(argument)(self._tensor(g, inputs) for g in argument)
                if type(argument) in (list, tuple)
                else argument
            )
        if isinstance(argument, Tuple):
            return [self._tensor(g, inputs) for g in argument]
        if not isinstance(argument, Expr):
            return argument
        value = self.emitter.operand(argument)
        for operand, tensor in inputs:
            if operand is value:
                return tensor
        info = value.struct_info
        if not isinstance(info, TensorStructInfo) or info.shape is None:
            raise GraphError(f"{value!r} is {info}; a te function takes tensors of known shape")
        name = value.name_hint.replace(".", "_") if isinstance(value, Var) else f"c{len(inputs)}"
        inputs.append((value, placeholder(tuple(info.shape), info.dtype, name=name)))
        return inputs[-1][1]

    def normalize(self, expr: object) -> Expr:
        """A value whose operands are variables and constants, and whose type is known."""
        return self.emitter.normalize(expr)

    def lookup_binding(self, var: object) -> Expr | None:
        """What a variable is bound to, None for a parameter."""
        for opened in reversed(self._open):
            if isinstance(var, Var) and var in opened.emitter.values:
                return opened.emitter.values[var]
        return None

    def emit_func_output(self, output: object, params: Var | Sequence[Var] | None = None) -> GlobalVar:
        """What the function returns; params: if they were not given at its beginning. Returns the function's name."""
        opened = self.current_function
        if params is not None:
            if opened.params is not None:
                raise GraphError(f"the parameters of {opened.name} are given twice")
            opened.params = [params] if isinstance(params, Var) else list(params)
        opened.result = opened.emitter.operand(as_expr(output))
        return GlobalVar(opened.name)

    # --- the module ---------------------------------------------------------------------------------------------------

    def add_func(self, func: ModuleFunction, func_name: str) -> GlobalVar:
        """Add a function under a name, or a numbered one if it is taken. Returns its name in the module."""
        if isinstance(func, PrimFunc):
            return self._add_program(func, func_name)
        if not isinstance(func, Function):
            raise GraphError(f"add_func takes a PrimFunc or a graph, not {short_repr(func)}")
        name = self.get_unique_name(func_name)
        self.functions[name] = func
        return GlobalVar(name)

    def _add_program(self, func: PrimFunc, name_hint: str = "") -> GlobalVar:
        """The name of an equal program, or of this one, added. Names inside of them may differ."""
        name_hint = name_hint or str(func.attrs.get("global_symbol", func.name))
        text = _text(func)
        for name, candidate in {**self.around, **self.functions}.items():
            if isinstance(candidate, PrimFunc) and name.startswith(name_hint) and self._text(name, candidate) == text:
                return GlobalVar(name)
        name = self.get_unique_name(name_hint)
        self.functions[name], self._texts[name] = func, (func, text)
        return GlobalVar(name)

    def _text(self, name: str, func: PrimFunc) -> str:
        """The text of a program of the module, made once."""
        cached = self._texts.get(name)
        if cached is None or cached[0] is not func:
            cached = self._texts[name] = (func, _text(func))
        return cached[1]

    def get_unique_name(self, name_prefix: str) -> str:
        """A name that no function of the module has."""
        return free_name(name_prefix, {**self.around, **self.functions}, "")

    def update_func(self, gv: str, updated_func: ModuleFunction) -> None:
        """Replace a function, or add one under this name."""
        self.functions[str(gv)] = updated_func

    def get(self) -> IRModule:
        """The module of what was written. Errors: GraphError and TirError for functions that do not fit."""
        return IRModule(self.functions)

    finalize = get

    def __getitem__(self, name: str) -> ModuleFunction:
        return self.functions[name]


def _text(func: PrimFunc) -> str:
    """The text of a program without names."""
    return canonical(IRModule({"main": func}).mlir, names=False, symbols=False)
