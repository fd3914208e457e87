"""Calls of Python functions, lambdas and macros with values of the program: their bodies are inlined.

A function computes one value from its arguments: assignments, `if` and `for` on Python values, one `return`. A macro
(`T.macro`) may contain any statement of a program. Errors quote the line of the body and name the call.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import linecache
import types
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.dialect.ir import attrs
from tir_mlir.dialect.ir.op_views import ConstantOp, ElementLoadOp, IndexCastSIOp, isa
from tir_mlir.script.language.markers import Macro
from tir_mlir.script.parser import arithmetic, python_scope
from tir_mlir.script.parser.function_state import NameBinding, NameFrame, ParserState, Scope, assigned_names
from tir_mlir.script.parser.items import Const, ScriptValue, describe, is_expr
from tir_mlir.script.parser.source import ParseError, SourceText

if TYPE_CHECKING:
    from tir_mlir.script.parser.expressions import Evaluator

_DEEPEST = 64
_TEXT = "__tir_source__"
_TRIVIAL = (ElementLoadOp, ConstantOp, IndexCastSIOp)
Function = ast.FunctionDef | ast.Lambda


class LocalLambda:
    """A lambda written in a program: inlined where it is called, and a Python function for Python's own calls."""

    def __init__(self, node: ast.Lambda, state: ParserState, run: Callable[[ast.expr], object]):
        self.node, self.source, self.run = node, state.source, run
        self.scope = Scope(state.scope.python, {})
        self.scope.frames = list(state.scope.frames)

    __name__ = "lambda"

    def __call__(self, *args: object, **keywords: object) -> object:
        function = self.run(self.node)
        assert callable(function)
        return function(*args, **keywords)


Inlinable = types.FunctionType | Macro | LocalLambda


class InlinedSource(SourceText):
    """The source of a body at a call: locations are those of the call, errors quote the body."""

    def __init__(self, caller: SourceText, body: SourceText, name: str, call: ast.AST):
        super().__init__(caller.filename, caller.lines, caller.first_line, caller.indent)
        self.caller, self.body, self.name, self.call = caller, body, name, call

    def location(self, node: ast.AST) -> ir.Location:
        return self.caller.location(self.call)

    def error(self, node: ast.AST | None, message: str) -> ScriptError:
        cause = self.body.error(getattr(node, "inner", None), message)
        text = f"{cause}\n  in {self.name}, called in line {getattr(self.call, 'lineno', 0)} of {self.caller.filename}"
        return ScriptError(message, cause.filename, cause.lineno, text)


@dataclass(frozen=True)
class InlinedBody:
    """A function to inline: its AST, the source of it, and the Python names that it sees."""

    name: str
    node: Function
    source: SourceText
    names: Mapping[str, object]


# ---- calls


def is_inlinable(callee: object) -> bool:
    """Whether a callee has a body that can be inlined."""
    return isinstance(_unwrap_callee(callee)[0], Inlinable)


def call(
    evaluate: Evaluator, callee: object, args: Sequence[object], keywords: dict[str, object], node: ast.Call
) -> object:
    """Inline a call. Returns the value of a function; None for a macro of statements."""
    function, args, keywords = _unwrap_callee(callee, args, keywords)
    assert isinstance(function, Inlinable)
    macro = function if isinstance(function, Macro) else None
    body = _body(function)
    bound = _bind_arguments(body, function, args, keywords)
    state = evaluate.state
    if state.inlined >= _DEEPEST:
        raise ParseError(f"{body.name} is inlined more than {_DEEPEST} levels deep; a recursive call has no end here")
    tree = _relocate_to_call(body.node, node)
    scope = _scope(state, body, function, macro is None or macro.hygienic)
    scope.frames.append(NameFrame(bound))
    with _switch_scope(state, scope, InlinedSource(state.source, body.source, body.name, node)):
        for name, item in bound.items():
            scope.frames[-1][name] = NameBinding(
                _name_argument(item, name, tree), getattr(node, "lineno", 0), "argument"
            )
        if isinstance(tree, ast.Lambda):
            return evaluate(tree.body)
        if macro is not None and not any(isinstance(n, ast.Return) for n in ast.walk(tree)):
            state.run(tree.body)  # type: ignore[misc]
            return _check_own_names(state, body)
        return _FunctionBody(evaluate, body.name).value(tree)


def _check_own_names(state: ParserState, body: InlinedBody) -> None:
    """A macro may not bind a name that it also reads from its caller: what it binds is its own."""
    frame = state.scope.frames[-1]
    for name in frame.bound.keys() & frame.read:
        what = f"{name} is bound in {body.name}, which reads {name} of its caller before"
        raise state.error(frame.bound[name], f"{what}: choose another name, or pass it as an argument")


def _unwrap_callee(
    callee: object, args: Sequence[object] = (), keywords: Mapping[str, object] | None = None
) -> tuple[object, list[object], dict[str, object]]:
    """The function behind `functools.partial` objects and bound methods, and all its arguments."""
    positional, named = list(args), dict(keywords or {})
    while True:
        if isinstance(callee, functools.partial):
            positional, named = [*callee.args, *positional], {**callee.keywords, **named}
            callee = callee.func
        elif isinstance(callee, types.MethodType):
            positional, callee = [callee.__self__, *positional], callee.__func__
        else:
            return callee, positional, named


def _bind_arguments(
    body: InlinedBody, function: Inlinable, args: Sequence[object], keywords: dict[str, object]
) -> dict[str, object]:
    """The argument of each parameter."""
    signature = _signature(function)
    try:
        bound_args = signature.bind(*args, **keywords)
    except TypeError as error:
        raise ParseError(f"{body.name}{signature}: {error}") from None
    bound_args.apply_defaults()
    return bound_args.arguments


def _signature(function: Inlinable) -> inspect.Signature:
    if not isinstance(function, LocalLambda):
        return inspect.signature(function.func if isinstance(function, Macro) else function)
    params = function.node.args
    if params.vararg or params.kwarg or params.defaults or params.kwonlyargs:
        raise ParseError("a lambda in a program has plain parameters only")
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(a.arg, kind) for a in (*params.posonlyargs, *params.args)])


def _name_argument(item: object, name: str, tree: Function) -> object:
    """An argument; a computed value that the body uses several times gets its name, so that it prints once."""
    uses = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(tree))
    return named_value(item, name) if uses > 1 else item


def named_value(item: object, name: str) -> object:
    """Give the op of a computed value a name, unless it has one."""
    if isinstance(item, ScriptValue) and not isinstance(item.ssa.owner, ir.Block):
        op = item.ssa.owner.operation
        if not isa(op, *_TRIVIAL) and attrs.NAME not in op.attributes and len(op.results) == 1:
            op.attributes[attrs.NAME] = ir.StringAttr.get(name)
    return item


def _scope(state: ParserState, body: InlinedBody, function: Inlinable, hygienic: bool) -> Scope:
    """The names that a body sees: its own, those around its definition; without hygiene those of the caller."""
    outer = state.scope
    if isinstance(function, LocalLambda):
        scope = Scope(function.scope.python, {})
        made_in = function.scope.frames
        is_inside = [*map(id, made_in)] == [*map(id, outer.frames[: len(made_in)])]
        scope.frames = list(outer.frames if is_inside else made_in)  # as in Python, names mean what they do at the call
    elif hygienic:
        assigned = assigned_names(body.node) if isinstance(body.node, ast.FunctionDef) else {}
        scope = Scope(body.names, assigned)
    else:
        scope = Scope(ChainMap(dict(outer.python), dict(body.names)), {})
        scope.frames = list(outer.frames)
    scope.depth, scope.in_header = outer.depth, outer.in_header
    return scope


@contextmanager
def _switch_scope(state: ParserState, scope: Scope, source: SourceText) -> Iterator[None]:
    old = state.scope, state.source
    state.scope, state.source, state.inlined = scope, source, state.inlined + 1
    try:
        yield
    finally:
        (state.scope, state.source), state.inlined = old, state.inlined - 1


# ---- the text of a function


def remember(function: object, node: ast.AST, source: SourceText) -> None:
    """Keep the AST of a function that was made from text, which is in no file."""
    value = getattr(node, "value", node)
    if isinstance(function, types.FunctionType) and isinstance(value, ast.FunctionDef | ast.Lambda):
        setattr(function, _TEXT, (value, source))


def _body(function: Inlinable) -> InlinedBody:
    if isinstance(function, LocalLambda):
        return InlinedBody("the lambda", function.node, function.source, {})
    function = function.func if isinstance(function, Macro) else function
    name = "the lambda" if function.__name__ == "<lambda>" else function.__name__
    node, source = getattr(function, _TEXT, None) or _find(function)
    return InlinedBody(name, node, source, python_scope.of_function(function, None))


def _find(function: types.FunctionType) -> tuple[Function, SourceText]:
    """The AST of a function in its file: by line and name, a lambda also by its code."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    candidates = [n for n in _functions(code.co_filename, tuple(lines)) if _first_line(n) == code.co_firstlineno]
    if function.__name__ != "<lambda>":
        candidates = [n for n in candidates if isinstance(n, ast.FunctionDef) and n.name == function.__name__]
    else:
        candidates = [n for n in candidates if isinstance(n, ast.Lambda) and _facts(_code(n)) == _facts(code)]
    if not candidates:
        raise ParseError(
            f"the source text of {function.__qualname__} cannot be found ({code.co_filename}); it cannot be inlined: "
            "define it in a file, or compute the value with functions of T"
        )
    if len({ast.dump(n) for n in candidates}) > 1:
        raise ParseError(f"line {code.co_firstlineno} has several lambdas; write one a line, or a def")
    return candidates[0], SourceText(code.co_filename, lines)


@functools.lru_cache(maxsize=32)
def _functions(filename: str, lines: tuple[str, ...]) -> list[Function]:
    try:
        tree = ast.parse("".join(lines), filename)
    except (SyntaxError, ValueError):  # a notebook cell with magics
        return []
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda)]


def _first_line(node: Function) -> int:
    decorators = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


def _code(node: ast.Lambda) -> types.CodeType:
    code = compile(ast.fix_missing_locations(ast.Expression(copy.deepcopy(node))), "", "eval")
    return next(c for c in code.co_consts if isinstance(c, types.CodeType))


def _facts(code: types.CodeType) -> tuple[object, ...]:
    """What a lambda's code has wherever it is compiled: its parameters, names and constants."""
    constants = [repr(c) for c in code.co_consts if not isinstance(c, types.CodeType)]
    return code.co_varnames, sorted({*code.co_names, *code.co_freevars}), sorted(constants)


def _relocate_to_call(tree: Function, call_: ast.AST) -> Function:
    """A copy of a function at the position of a call; `inner` keeps the own position of each node."""
    copied = copy.deepcopy(tree)
    for node, original in zip(ast.walk(copied), ast.walk(tree), strict=True):
        node.inner = getattr(original, "inner", original)  # type: ignore[attr-defined]
        for key in ("lineno", "end_lineno", "col_offset", "end_col_offset", "file"):
            if hasattr(call_, key) and (hasattr(original, key) or key == "file"):
                setattr(node, key, getattr(call_, key))
    return copied


# ---- bodies of functions


class _Returned(Exception):
    def __init__(self, value: object):
        self.value = value


class _FunctionBody:
    """Runs the statements of a Python function at parse time; its values are those of the program."""

    def __init__(self, evaluate: Evaluator, name: str):
        self.evaluate, self.name = evaluate, name

    def value(self, tree: ast.FunctionDef) -> object:
        try:
            self._run(tree.body)
        except _Returned as returned:
            return returned.value
        return None

    def _run(self, body: Sequence[ast.stmt]) -> None:
        for stmt in body:
            method = getattr(self, "_" + type(stmt).__name__, None)
            try:
                if method is None:
                    raise ParseError(
                        f"{type(stmt).__name__} is not supported in {self.name}, which is called with values of the "
                        "program and inlined: it may assign names, use if and for on Python values, and return a "
                        "value; decorate a function of statements with @T.macro"
                    )
                method(stmt)
            except ParseError as refused:
                raise self.evaluate.state.error(stmt, str(refused)) from None

    def _Pass(self, stmt: ast.Pass) -> None:
        """Nothing."""

    def _Expr(self, stmt: ast.Expr) -> None:
        if not isinstance(stmt.value, ast.Constant):
            self.evaluate(stmt.value)

    def _Return(self, stmt: ast.Return) -> None:
        raise _Returned(None if stmt.value is None else self.evaluate(stmt.value))

    def _Assign(self, stmt: ast.Assign) -> None:
        item = self.evaluate(stmt.value)
        for target in stmt.targets:
            self._bind(target, item)

    def _AnnAssign(self, stmt: ast.AnnAssign) -> None:
        if stmt.value is not None:
            self._bind(stmt.target, self.evaluate(stmt.value))

    def _AugAssign(self, stmt: ast.AugAssign) -> None:
        if not isinstance(stmt.target, ast.Name):
            raise ParseError(f"{self.name} cannot store to {ast.unparse(stmt.target)}; use @T.macro for statements")
        lhs = ast.copy_location(ast.Name(stmt.target.id, ast.Load()), stmt.target)
        operation = ast.copy_location(ast.BinOp(lhs, stmt.op, stmt.value), stmt)
        operation.inner = getattr(stmt, "inner", None)  # type: ignore[attr-defined]
        self._bind(stmt.target, self.evaluate(operation))

    def _bind(self, target: ast.expr, item: object) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if not isinstance(item, tuple | list) or len(item) != len(target.elts):
                raise ParseError(f"{describe(item)} cannot be unpacked into {ast.unparse(target)}")
            for element, part in zip(target.elts, item, strict=True):
                self._bind(element, part)
        elif isinstance(target, ast.Name):
            binding = NameBinding(named_value(item, target.id), target.lineno, "name")
            self.evaluate.state.scope.frames[-1][target.id] = binding
        else:
            raise ParseError(f"{self.name} cannot store to {ast.unparse(target)}; use @T.macro for statements")

    def _If(self, stmt: ast.If) -> None:
        test = self.evaluate(stmt.test)
        test = arithmetic.condition(test) if is_expr(test) else Const(bool(test))
        if not isinstance(test, Const):
            raise ParseError(f"{self.name} branches on a value of the program; choose a value: a if condition else b")
        self._run(stmt.body if test.value else stmt.orelse)

    def _For(self, stmt: ast.For) -> None:
        items = self.evaluate(stmt.iter)
        if not isinstance(items, range | list | tuple | dict):
            raise ParseError(
                f"for in {self.name} runs over Python values, not {describe(items)}; use @T.macro for loops"
            )
        for item in items:
            self._bind(stmt.target, item)
            self._run(stmt.body)
        self._run(stmt.orelse)
