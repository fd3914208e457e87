"""Read `@R.function` into expressions, and these into a module."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any, TypeVar

from tir_mlir.dialect.diagnostics import GraphError, ScriptError, TirError
from tir_mlir.dialect.graph import free_name
from tir_mlir.dialect.ir import enter_context, walk
from tir_mlir.extensions import implement
from tir_mlir.graph import script as relax
from tir_mlir.graph import size_code
from tir_mlir.graph.builder import add_function
from tir_mlir.graph.expressions import (
    Call,
    Expr,
    Function,
    GlobalVar,
    Op,
    SeqExpr,
    ShapeExpr,
    StructInfo,
    TensorStructInfo,
    Tuple,
    TupleStructInfo,
    Var,
    write_functions,
)
from tir_mlir.graph.expressions.emitter import BindingEmitter
from tir_mlir.graph.expressions.graph_function import ModuleFunction
from tir_mlir.graph.expressions.match_cast import MatchCast, bind_cast_sizes
from tir_mlir.graph.expressions.read_graph import CALL_DPS_PACKED, CALL_TIR
from tir_mlir.graph.expressions.struct_info import SIZES, as_struct_info
from tir_mlir.graph.operators import OPERATORS
from tir_mlir.script import parser
from tir_mlir.script.module import IRModule, PrimFunc, verify_module
from tir_mlir.script.parser import FunctionSource

R = TypeVar("R")
_SIZE_WORDS = ("int64", "int32", "Var", "var", "SizeVar")


@implement(parser.read_graphs)
def read_graphs(module: IRModule, programs: Sequence[FunctionSource]) -> None:
    """Add graphs to a module that has the programs they call. Raises ScriptError with the line."""
    sources = {p.name: p for p in programs}
    functions = _GraphFunctions(module, sources)
    for name in sources:
        functions[name]
    with enter_context():
        write_functions(module, functions.graphs)
        verify_module(module.mlir)


@implement(parser.graph_namespace)
def graph_namespace() -> ModuleType:
    """The namespace of this package."""
    return relax


class _GraphFunctions(Mapping[str, ModuleFunction]):
    """The functions of a module by name; a graph is read when it is first asked for."""

    def __init__(self, module: IRModule, sources: Mapping[str, FunctionSource]):
        self.module, self.sources = module, sources
        self.graphs: dict[str, Function] = {}
        self._open: list[str] = []

    def __getitem__(self, name: str) -> ModuleFunction:
        if name not in self.sources:
            return self.module.prim_funcs[name]
        if name in self._open:
            program = self.sources[name]
            raise program.source.error(program.node, f"graphs call each other in a circle: {' -> '.join(self._open)}")
        if name not in self.graphs:
            self._open.append(name)
            self.graphs[name] = _GraphReader(self.sources[name], self).function()
            self._open.pop()
        return self.graphs[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*self.module.prim_funcs, *self.sources])

    def __len__(self) -> int:
        return len(self.module.prim_funcs) + len(self.sources)

    def __contains__(self, name: object) -> bool:
        return name in self.sources or name in self.module.prim_funcs

    def add(self, function: PrimFunc) -> GlobalVar:
        """A program from outside the module, which a graph calls by its Python name."""
        with enter_context():
            return GlobalVar(add_function(self.module, function))


class _ModuleMember(GlobalVar):
    """`cls.f`: a function of the module; a graph is called like a Python function."""

    def __call__(self, *args: object) -> Call:
        return Call(GlobalVar(self), args)


class _GraphReader:
    """The reader of one graph: nodes and values -> expressions."""

    def __init__(self, program: FunctionSource, functions: _GraphFunctions):
        self.program, self.source, self.node = program, program.source, program.node
        self.attributes: dict[str, object] = {}
        self.emitter = BindingEmitter(functions, functions.add)
        self.names = {"__builtins__": builtins, **program.names}
        members = {name: _ModuleMember(name) for name in functions}
        self.names |= {**members, "cls": SimpleNamespace(**members), "relax": relax, "R": relax}
        self.names |= {"Tensor": relax.Tensor, "Object": relax.Object, "Shape": relax.Shape, "Tuple": relax.Tuple}
        if program.class_name:
            self.names[program.class_name] = self.names["cls"]
        self.result: Expr | None = None
        self.sizes: set[str] = set()  # of the parameters

    def function(self) -> Function:
        if self.program.private:
            self.attributes["Primitive"] = 1
        params = [self._parameter(arg) for arg in self._args()]
        for stmt in self.node.body:
            self._statement(stmt)
        if self.result is None:
            raise self.source.error(self.node, f"{self.node.name} returns nothing; fix: end with `return gv`")
        self._check(self.node.returns, self.result)
        return Function(params, SeqExpr(self.emitter.blocks, self.result), attrs=self.attributes)

    def _args(self) -> list[ast.arg]:
        args = self.node.args
        extra = [*args.kwonlyargs, *args.posonlyargs, args.vararg, args.kwarg, *args.defaults]
        for node in extra:
            if node is not None:
                raise self.source.error(node, "a graph takes plain positional parameters without defaults")
        return args.args

    def _parameter(self, arg: ast.arg) -> Var:
        if arg.annotation is None:
            raise self.source.error(arg, f'parameter {arg.arg} needs a type, such as R.Tensor((1, 784), "float32")')
        info = self._with_sizes(arg.arg, self._info(arg.annotation))
        if not isinstance(info, TensorStructInfo) or info.shape is None:
            raise self.source.error(arg, f"parameter {arg.arg} is {info}; fix: give its shape and element type")
        var = self.names[arg.arg] = Var(arg.arg, info)
        self.sizes |= {name for size in info.shape for name in size_code.symbols(SIZES.text(size))}
        self.emitter.names.add(arg.arg)
        return var

    def _with_sizes(self, name: str, info: StructInfo) -> StructInfo:
        """Of a tensor whose rank is known a size for each axis: x: R.Tensor("float32", ndim=2) is (x_0, x_1)."""
        if not isinstance(info, TensorStructInfo) or info.shape is not None or info.ndim < 0 or not info.dtype:
            return info
        reserved = {*self.sizes, *(arg.arg for arg in self._args()), *self.names}
        return TensorStructInfo([free_name(f"{name}_{n}", reserved) for n in range(info.ndim)], info.dtype)

    # --- statements ---------------------------------------------------------------------------------------------------

    def _statement(self, stmt: ast.stmt) -> None:
        if self.result is not None:
            raise self.source.error(stmt, "nothing follows the return of a graph")
        if isinstance(stmt, ast.With):
            self._dataflow(stmt)
        elif isinstance(stmt, ast.Return) and stmt.value is not None:
            self.result = self._run_at(stmt, lambda: self.emitter.operand(self._value(stmt.value)))
        elif isinstance(stmt, ast.Assign) and len(stmt.targets) == 1:
            self._assign(stmt, stmt.targets[0], stmt.value, None)
        elif isinstance(stmt, ast.AnnAssign) and stmt.value is not None:
            self._assign(stmt, stmt.target, stmt.value, stmt.annotation)
        elif isinstance(stmt, ast.If):
            self._if(stmt)
        elif isinstance(stmt, ast.Expr):
            self._line(stmt)
        elif not isinstance(stmt, ast.Pass):
            raise self.source.error(
                stmt,
                "a graph has assignments, `with R.dataflow():`, `if` and a return; fix: compute in Python before it",
            )

    def _dataflow(self, stmt: ast.With) -> None:
        call = stmt.items[0].context_expr
        if len(stmt.items) != 1 or not isinstance(call, ast.Call) or _last_word(call.func) != "dataflow":
            raise self.source.error(stmt, "the only block of a graph is `with R.dataflow():`")
        self.emitter.begin_block(dataflow=True)
        for inner in stmt.body:
            self._statement(inner)
        self.emitter.in_dataflow = False

    def _if(self, stmt: ast.If) -> None:
        """`if c: y = f(x)`, `else: y = g(x)` -> `y = R.where(c, f(x), g(x))`: both branches are computed."""
        condition = self._run_at(stmt.test, lambda: self.emitter.operand(self._eval(stmt.test)))
        self._run_at(stmt.test, lambda: check_condition(condition))
        if not stmt.orelse:
            raise self.source.error(stmt, "an `if` of a graph has an `else`, which binds the same name")
        sides = [self._branch(body) for body in (stmt.body, stmt.orelse)]
        name = sides[0][0]
        if name != sides[1][0]:
            raise self.source.error(
                stmt, f"the branches of an `if` end by binding one name, not {name} and {sides[1][0]}"
            )
        selected = self._run_at(stmt, lambda: select_value(condition, sides[0][1], sides[1][1]))
        self.names[name] = self._bind_value(stmt, name, selected)

    def _branch(self, body: Sequence[ast.stmt]) -> tuple[str, Expr]:
        """The name that the last line of a branch binds, and its value; its other names are new."""
        last = body[-1]
        target = last.targets[0] if isinstance(last, ast.Assign) else getattr(last, "target", None)
        if isinstance(last, ast.If):
            raise self.source.error(last, "a branch ends with an assignment; fix: bind what the inner `if` chose")
        if not isinstance(target, ast.Name):
            raise self.source.error(last, "the last line of a branch of an `if` binds its value: gv = ...")
        outside, outer_count = dict(self.names), len(self.emitter.values)
        for stmt in body:
            if isinstance(stmt, (ast.Return, ast.With)):
                raise self.source.error(stmt, "a branch of an `if` has assignments; it returns by the name it binds")
            self._statement(stmt)
            for node in (n for n in ast.walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)):
                if node.id != target.id and node.id in outside:
                    raise self.source.error(
                        node, f"{node.id} is bound again in a branch, which hands on {target.id} only; fix: rename it"
                    )
        branch_values = list(self.emitter.values.values())[outer_count:]
        self._run_at(last, lambda: check_branch(branch_values, self.emitter.functions))
        value = self._run_at(last, lambda: self.emitter.operand(self.names[target.id]))
        self.names = outside
        return target.id, value

    def _line(self, stmt: ast.Expr) -> None:
        value = stmt.value
        if isinstance(value, ast.Constant):  # a docstring, or ...
            return
        word = _last_word(value.func) if isinstance(value, ast.Call) else ""
        if word == "func_attr" and isinstance(value, ast.Call) and len(value.args) == 1:
            self.attributes |= self._eval(value.args[0])
        elif word == "output" and isinstance(value, ast.Call):
            for arg in value.args:
                self._eval(arg)
        else:
            raise self.source.error(stmt, "the value of this line is not used; fix: bind it, `lv = ...`")

    def _assign(self, stmt: ast.stmt, target: ast.expr, value: ast.expr, annotation: ast.expr | None) -> None:
        names = [t.id for t in (target.elts if isinstance(target, ast.Tuple) else [target]) if isinstance(t, ast.Name)]
        if not names or (isinstance(target, ast.Tuple) and len(names) != len(target.elts)):
            raise self.source.error(stmt, "a graph assigns to names")
        values = value.elts if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) else [value]
        sizes = [_size(name, v) for name, v in zip(names, values, strict=False)]
        if len(values) == len(names) and all(size is not None for size in sizes):
            self.names |= {name: SIZES.variable(str(size)) for name, size in zip(names, sizes, strict=True)}
            return
        rvalue = self._eval(value)
        if isinstance(target, ast.Name):
            self.names[target.id] = self._bind_value(stmt, target.id, rvalue)
        else:
            self._unpack(stmt, names, rvalue)
        if annotation is not None:
            self._check(annotation, self.names[names[0]])

    def _bind_value(self, stmt: ast.stmt, name: str, value: object) -> Any:
        """The variable of a value; what is not a value of the graph remains what it is."""
        if isinstance(value, MatchCast):
            return self._cast(stmt, value)
        if isinstance(value, Call) or (isinstance(value, Expr) and not isinstance(value, Var)):
            return self._run_at(stmt, lambda: self.emitter.emit(value, name, output=not self.emitter.in_dataflow))
        return value

    def _cast(self, stmt: ast.stmt, cast: MatchCast) -> Expr | ShapeExpr:
        """The value of a match_cast; the sizes that it names mean those of the value from here on."""
        value = self._run_at(
            stmt, lambda: cast.value if isinstance(cast.value, ShapeExpr) else self.emitter.operand(cast.value)
        )
        sizes = self._run_at(stmt, lambda: bind_cast_sizes(MatchCast(value, cast.info), self.sizes))
        self.names |= {name: size for name, size in sizes.items() if name.isidentifier()}
        return value

    def _unpack(self, stmt: ast.stmt, names: list[str], value: object) -> None:
        """`a, b = R.split(x, 2)`."""
        tuple_var = self._bind_value(stmt, f"{names[0]}_tuple", value)
        items = self._run_at(stmt, lambda: list(tuple_var))
        if len(items) != len(names):
            raise self.source.error(stmt, f"{len(items)} values are not {len(names)} names")
        for name, item in zip(names, items, strict=True):
            self.names[name] = self._bind_value(stmt, name, item)

    # --- expressions --------------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr | None) -> object:
        return None if node is None else self._eval(node)

    def _eval(self, node: ast.expr) -> Any:
        """The value of an expression of Python, in which operators make calls."""
        code = compile(ast.Expression(node), self.source.filename, "eval")
        return self._run_at(node, lambda: eval(code, self.names))

    def _run_at(self, node: ast.AST, run: Callable[[], R]) -> R:
        try:
            return run()
        except ScriptError:
            raise
        except TirError as error:
            raise self.source.error(node, str(error)) from error
        except Exception as error:
            raise self.source.error(node, f"{type(error).__name__}: {error}") from error

    def _info(self, annotation: ast.expr) -> StructInfo:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            text = annotation.value
            annotation = self._run_at(annotation, lambda: ast.parse(text, mode="eval").body)
        return self._run_at(annotation, lambda: as_struct_info(self._eval(annotation)))

    def _check(self, annotation: ast.expr | None, value: object) -> None:
        """A written type must be the inferred one, where both are numbers."""
        if annotation is None or not isinstance(value, Expr):
            return
        declared, inferred = self._info(annotation), value.struct_info
        if value.first_of_tuple and isinstance(declared, TupleStructInfo) and declared.fields:
            declared = declared.fields[0]
        if not declared.could_be(inferred):
            raise self.source.error(annotation, f"the value is {inferred}, not {declared}")


def _last_word(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _size(name: str, value: ast.expr) -> str | None:
    """The name of a size: `n = T.int64()`, `n = T.Var("n", "int64")`; None for another value."""
    if not isinstance(value, ast.Call) or _last_word(value.func) not in _SIZE_WORDS:
        return None
    if not isinstance(value.func, ast.Attribute):
        return None
    literals = [a.value for a in value.args if isinstance(a, ast.Constant)]
    if _last_word(value.func).startswith("int"):
        return name if not value.args else None
    return str(literals[0]) if literals else name


# --- `if`: both branches are computed, and the condition chooses; what may fail unchosen is refused ------------------

_INTEGER_DIVISIONS = ("div", "rem")


def check_condition(value: object) -> None:
    """Errors: GraphError for a condition that is not one bool."""
    info = getattr(value, "struct_info", None)
    if not isinstance(info, TensorStructInfo) or info.dtype != "bool" or info.ndim != 0:
        raise GraphError(f'a condition is R.Tensor((), "bool"), not {info or value!r}')


def _divides(name: str) -> bool:
    return name in OPERATORS and OPERATORS[name].divides


def check_branch(values: Iterable[Expr], functions: Mapping[str, ModuleFunction]) -> None:
    """Errors: GraphError for values of a branch that may fail, or have an effect, when the other one is chosen."""
    for value in values:
        if not isinstance(value, Call):
            continue
        if value.op == CALL_DPS_PACKED:
            raise GraphError(
                f"{value!r} may have an effect, and both branches of an `if` are computed; fix: T.prim_func"
            )
        if isinstance(value.op, Op) and _divides(value.op.short) and not _is_float(value):
            raise GraphError(
                f"{value!r} divides integers, perhaps by 0 where the other branch is chosen: both are computed; "
                "fix: divide before the `if`, by what is not 0"
            )
        if value.op == CALL_TIR and isinstance(value.args[0], GlobalVar):
            _check_program(str(value.args[0]), functions)
        if isinstance(value.op, GlobalVar) and isinstance(called := functions.get(str(value.op)), Function):
            check_branch((b.value for b in called.body.bindings), functions)


def _is_float(call: Call) -> bool:
    return "float" in str(getattr(call.struct_info, "dtype", ""))


def _check_program(name: str, functions: Mapping[str, ModuleFunction]) -> None:
    program = functions.get(name)
    if not isinstance(program, PrimFunc):
        return
    with enter_context():
        for op in walk.ops(program.func.op):
            words = op.name.removeprefix("arith.")
            if op.name.startswith("arith.") and words.endswith("i") and any(w in words for w in _INTEGER_DIVISIONS):
                raise GraphError(
                    f"{name} divides integers, and both branches of an `if` are computed; fix: call it before the `if`"
                )


def select_value(condition: Expr, then_value: Expr, else_value: Expr) -> Expr:
    """What an `if` is worth: `where` of both values, of tuples field by field. Errors: GraphError for two types."""
    first, second = then_value.struct_info, else_value.struct_info
    if first != second:
        raise GraphError(f"the branches of an `if` make values of one type, not {first} and {second}")
    if isinstance(first, TupleStructInfo):
        return Tuple([select_value(condition, a, b) for a, b in zip(then_value, else_value, strict=True)])  # pyright: ignore[reportArgumentType]
    return Call(Op.get("relax.where"), [condition, then_value, else_value])
