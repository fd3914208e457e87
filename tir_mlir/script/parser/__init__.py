"""The doors: `parse(text)`, `@T.prim_func`, `@I.ir_module` -> a verified module."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import ScriptError, TirError, short_repr
from tir_mlir.dialect.ir import entered
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.parser import python_scope
from tir_mlir.script.parser.scope import Scope, State, assigned_names
from tir_mlir.script.parser.source import Refused, Source
from tir_mlir.script.parser.statements import FunctionParser
from tir_mlir.script.parser.verify import verify_source


@dataclass
class Program:
    """One function to be parsed: its text, its AST, and what Python names mean there."""

    name: str
    node: ast.FunctionDef
    source: Source
    names: Mapping[str, Any]
    private: bool = False
    check: bool = True


class ClassMember:
    """A `@T.prim_func` in a class body: parsed when `@I.ir_module` takes the class."""

    def __init__(self, program: Program):
        self.program = program

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ScriptError(f"{self.program.name} is a member of a class without @I.ir_module: decorate the class")


def build(programs: Iterable[Program]) -> IRModule:
    """Parse functions into one module and verify it.

    Errors: ScriptError at the line of the user's text.
    """
    programs = list(programs)
    seen: dict[str, Program] = {}
    with entered():
        module = ir.Module.create()
        states = []
        for program in programs:
            if program.name in seen:
                raise program.source.error(program.node, f"the module has a function {program.name} already")
            seen[program.name] = program
            states.append(_parse_one(module, program))
        if all(p.check for p in programs):
            verify_source(module, states)
    return IRModule(module)


def _parse_one(module: ir.Module, program: Program) -> State:
    state = State(program.source, Scope(program.names, assigned_names(program.node)), module)
    try:
        FunctionParser(state).function(program.node, program.name, program.private)
    except RecursionError:
        raise program.source.error(program.node, "an expression or statement is nested too deeply") from None
    except ScriptError:
        raise
    except (TirError, Refused) as error:  # a number too large for what it is meant for, say
        raise program.source.error(program.node, str(error)) from None
    return state


# ---- decorators


def decorate(func: Callable[..., Any], private: bool, check: bool, frame: types.FrameType) -> Any:
    """What `@T.prim_func` makes: a PrimFunc, or a member that waits for its class."""
    if isinstance(func, ClassMember | PrimFunc):
        name = func.program.name if isinstance(func, ClassMember) else func.name
        raise ScriptError(f"{name} is decorated with @T.prim_func more than once: leave one of them")
    if not isinstance(func, types.FunctionType):
        raise ScriptError(f"@T.prim_func decorates a function, not {short_repr(func)}")
    program = _program(func, private, check, frame)
    outer = func.__qualname__.rpartition(".")[0]
    if outer and not outer.endswith("<locals>"):
        return ClassMember(program)
    return PrimFunc(build([program]), program.name)


def _program(func: types.FunctionType, private: bool, check: bool, frame: types.FrameType | None) -> Program:
    source = Source.of_function(func)
    tree = source.parse()
    node = next((n for n in tree.body if isinstance(n, ast.FunctionDef)), None)
    if node is None:
        raise ScriptError(f"the source text of {func.__qualname__} is no def statement")
    return Program(func.__name__, node, source, python_scope.of_function(func, frame), private, check)


def parse_class(cls: type, check: bool = True) -> IRModule:
    """The module of a class decorated with `@I.ir_module`."""
    if not isinstance(cls, type):
        raise ScriptError(f"@I.ir_module decorates a class, not {short_repr(cls)}")
    programs = [m.program for m in vars(cls).values() if isinstance(m, ClassMember)]
    if not check:
        programs = [replace(p, check=False) for p in programs]
    for name, member in vars(cls).items():
        if isinstance(member, types.FunctionType):
            raise ScriptError(f"{cls.__name__}.{name} is no prim_func: decorate it with @T.prim_func")
    return build(programs)


# ---- text


def parse(source: Any, globals: Mapping[str, Any] | None = None, filename: str = "<script>") -> IRModule:  # noqa: A002
    """TVMScript text (as `script()` prints it), a function, or an undecorated class -> a verified module.

    `globals`: the Python names the text uses besides T, tir, I and tvm.script. Statements of the text outside its
    functions (`N = 128`) are run, imports of tvm and of this package are taken as done.
    Errors: ScriptError with file, line and the line itself.
    """
    if globals is not None and not isinstance(globals, Mapping):
        raise ScriptError(f"globals are Python names with their values, a dictionary, not {type(globals).__name__}")
    if isinstance(source, IRModule):
        return source
    if isinstance(source, PrimFunc):
        return source.alone
    if isinstance(source, types.FunctionType | type):
        members = [source] if isinstance(source, types.FunctionType) else list(vars(source).values())
        programs = [_bare(m, globals or {}) for m in members if isinstance(m, types.FunctionType | ClassMember)]
        return build(programs)
    if not isinstance(source, str):
        raise ScriptError(f"parse takes TVMScript text or a function, not {type(source).__name__}")
    text = Source.of_text(source, filename)
    names = {**python_scope.default(), **(globals or {})}
    programs: list[Program] = []
    for stmt in text.parse().body:
        programs += _top(stmt, text, names)
    if not programs:
        raise ScriptError("the text holds no @T.prim_func", filename, 1)
    return build(programs)


def _bare(member: types.FunctionType | ClassMember, given: Mapping[str, Any]) -> Program:
    """A function without its decorator."""
    if isinstance(member, ClassMember):
        return member.program
    program = _program(member, False, True, None)
    program.names = {**python_scope.default(), **given, **program.names}
    return program


def _top(stmt: ast.stmt, text: Source, names: dict[str, Any]) -> list[Program]:
    """The programs of one top-level statement; anything that is none is run as Python."""
    if isinstance(stmt, ast.ClassDef) and (not stmt.decorator_list or _is(stmt.decorator_list, "ir_module")):
        return [_member(s, text, names) for s in stmt.body if isinstance(s, ast.FunctionDef)]
    if isinstance(stmt, ast.FunctionDef) and _is(stmt.decorator_list, "prim_func"):
        return [_member(stmt, text, names)]
    if isinstance(stmt, ast.Import | ast.ImportFrom) and _known_import(stmt, names):
        return []
    try:
        code = compile(ast.Module([stmt], []), text.filename, "exec")
        exec(code, names)  # noqa: S102  the user's own text
    except Exception as error:  # noqa: BLE001  whatever the text raises, or is not to Python, is an error at its line
        raise text.error(stmt, f"{type(error).__name__}: {getattr(error, 'msg', error)}") from error
    return []


def _is(decorators: list[ast.expr], word: str) -> bool:
    return any(ast.unparse(d).split("(")[0].rpartition(".")[2] == word for d in decorators)


def _known_import(stmt: ast.Import | ast.ImportFrom, names: dict[str, Any]) -> bool:
    """Imports of the script languages are done already, also where the package is called tvm."""
    home = stmt.module or "" if isinstance(stmt, ast.ImportFrom) else stmt.names[0].name
    if isinstance(stmt, ast.ImportFrom) and home == "__future__":
        return True
    if home.split(".")[0] not in ("tvm", "tir_mlir"):
        return False
    for alias in stmt.names:
        target = {"ir": "I", "tir": "T", "tirx": "T"}.get(alias.name)
        if target is not None:
            names[alias.asname or alias.name] = names[target]
    return True


def _member(node: ast.FunctionDef, text: Source, names: Mapping[str, Any]) -> Program:
    options: dict[str, Any] = {}
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            options |= {k.arg: getattr(k.value, "value", None) for k in decorator.keywords if k.arg}
    return Program(
        node.name, node, text, names, bool(options.get("private")), options.get("check_well_formed") is not False
    )
