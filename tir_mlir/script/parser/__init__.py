"""The parser: Python AST of TVMScript to a verified MLIR module. Entry points: `parse`, `decorate`, `parse_class`."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mlir import ir

from tir_mlir.dialect.diagnostics import ScriptError, TirError, short_repr
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.extensions import extension_point
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.parser import inlined_calls, python_scope
from tir_mlir.script.parser.function_state import ParserState, Scope, assigned_names
from tir_mlir.script.parser.module_calls import CLASS_NAMES, callees_first
from tir_mlir.script.parser.source import ParseError, SourceText, pause_garbage_collection, short_traceback
from tir_mlir.script.parser.statements import FunctionParser
from tir_mlir.script.parser.verify_parsed import verify_source


@dataclass
class FunctionSource:
    """A function to parse: its source text, its AST, and the Python names visible in it."""

    name: str
    node: ast.FunctionDef
    source: SourceText
    names: Mapping[str, object]
    private: bool = False
    check: bool = True
    class_name: str = ""
    graph: bool = False


class ClassMember:
    """A `@T.prim_func` or `@R.function` in a class body; parsed when `@I.ir_module` decorates the class."""

    is_class_member = True

    def __init__(self, program: FunctionSource):
        self.program = program

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ScriptError(f"{self.program.name} is a member of a class without @I.ir_module: decorate the class")


@extension_point
def read_graphs(module: IRModule, programs: Sequence[FunctionSource]) -> None:
    """Add graphs to a module that has the programs they call. Raises ScriptError with the line."""
    ...


@extension_point
def graph_namespace() -> object:
    """`R`, the namespace of graphs."""
    ...


def build(programs: Iterable[FunctionSource]) -> IRModule:
    """Parse functions into one module and verify it. Raises ScriptError with the source line."""
    seen: dict[str, FunctionSource] = {}
    for program in programs:
        if program.name in seen:
            raise program.source.error(program.node, f"the module already has a function {program.name}")
        seen[program.name] = program
    class_names = {*CLASS_NAMES, *(p.class_name for p in seen.values() if p.class_name)}
    with enter_context():
        module = ir.Module.create()
        tir_programs = {name: p for name, p in seen.items() if not p.graph}
        order = callees_first({name: p.node for name, p in tir_programs.items()}, class_names)
        states = [_parse_one(module, seen[name], tir_programs, class_names) for name in order]
        if order != list(tir_programs):
            _rearrange(module, list(tir_programs))
        if states and all(p.check for p in seen.values()):
            verify_source(module, states)
    built = IRModule(module)
    if graphs := [p for p in seen.values() if p.graph]:
        read_graphs(built, graphs)
    return built


def _rearrange(module: ir.Module, names: Sequence[str]) -> None:
    """Put the functions in the order of the text."""
    ops = {func.name: func.op for func in funcs(module)}
    for name in names:
        module.body.append(ops[name])


def _parse_one(
    module: ir.Module, program: FunctionSource, programs: Collection[str], class_names: Collection[str]
) -> ParserState:
    state = ParserState(program.source, Scope(program.names, assigned_names(program.node)), module)
    state.programs, state.class_names = programs, class_names
    try:
        FunctionParser(state).function(program.node, program.name, program.private)
    except RecursionError:
        raise program.source.error(program.node, "an expression or statement is nested too deeply") from None
    except ScriptError:
        raise
    except (TirError, ParseError) as error:  # such as an integer out of range
        raise program.source.error(program.node, str(error)) from None
    return state


# ---- decorators


@short_traceback
@pause_garbage_collection
def decorate(
    func: Callable[..., object], private: bool, check: bool, frame: types.FrameType, graph: bool = False
) -> object:
    """Implementation of `@T.prim_func` and `@R.function`: the function, or a ClassMember inside a class body."""
    word = "@R.function" if graph else "@T.prim_func"
    if isinstance(func, ClassMember | PrimFunc):
        name = func.program.name if isinstance(func, ClassMember) else func.name
        raise ScriptError(f"{name} is decorated with {word} more than once: remove all but one")
    if not isinstance(func, types.FunctionType):
        raise ScriptError(f"{word} decorates a function, not {short_repr(func)}")
    program = source_of(func, frame, private, check)
    program.graph = graph
    outer = func.__qualname__.rpartition(".")[0]
    if outer and not outer.endswith("<locals>"):
        return ClassMember(program)
    return build([program])[program.name]


def source_of(
    func: types.FunctionType, frame: types.FrameType | None, private: bool = False, check: bool = True
) -> FunctionSource:
    """The source of a function of a file, and the names that it sees."""
    source = SourceText.of_function(func)
    tree = source.parse()
    node = next((n for n in tree.body if isinstance(n, ast.FunctionDef)), None)
    if node is None:
        raise ScriptError(f"the source text of {func.__qualname__} is not a def statement")
    return FunctionSource(func.__name__, node, source, python_scope.of_function(func, frame), private, check)


@short_traceback
@pause_garbage_collection
def parse_class(cls: type, check: bool = True) -> IRModule:
    """The module of a class decorated with `@I.ir_module`."""
    if not isinstance(cls, type):
        raise ScriptError(f"@I.ir_module decorates a class, not {short_repr(cls)}")
    programs = [m.program for m in vars(cls).values() if isinstance(m, ClassMember)]
    programs = [replace(p, class_name=cls.__name__) for p in programs]
    if not check:
        programs = [replace(p, check=False) for p in programs]
    for name, member in vars(cls).items():
        if isinstance(member, types.FunctionType):
            raise ScriptError(
                f"{cls.__name__}.{name} is not a prim_func: decorate it with @T.prim_func, a graph with @R.function"
            )
    return build(programs)


# ---- text


@short_traceback
@pause_garbage_collection
def parse(source: object, globals: Mapping[str, object] | None = None, filename: str = "<script>") -> IRModule:
    """Parse TVMScript text (as printed by `script()`), a function, or an undecorated class. Returns a verified module.

    globals: the Python names that the text uses, besides T, tir, I and tvm.script. Top-level statements of the text
    (`N = 128`) are executed; imports of tvm and of this package are skipped.
    Raises ScriptError with file, line and the source line.
    """
    if isinstance(source, IRModule):
        return source
    if isinstance(source, PrimFunc):
        return source.isolated_module
    return build(read(source, globals, filename))


def read(
    source: object, globals: Mapping[str, object] | None = None, filename: str = "<script>"
) -> list[FunctionSource]:
    """The functions that `parse` finds in text, in a function or in a class, before they are parsed."""
    if globals is not None and not isinstance(globals, Mapping):
        raise ScriptError(f"parse takes globals as a dictionary of names, not {type(globals).__name__}")
    if isinstance(source, types.FunctionType | type):
        members = [source] if isinstance(source, types.FunctionType) else list(vars(source).values())
        return [
            _undecorated_source(m, globals or {}) for m in members if isinstance(m, types.FunctionType | ClassMember)
        ]
    if not isinstance(source, str):
        raise ScriptError(f"parse takes TVMScript text or a function, not {type(source).__name__}")
    text = SourceText.of_text(source, filename)
    names = {**python_scope.namespaces(), **(globals or {})}
    if "R.function" in source:
        names.setdefault("R", graph_namespace())
    programs: list[FunctionSource] = []
    for stmt in text.parse().body:
        programs += _top_level(stmt, text, names)
    if not programs:
        raise ScriptError("the text has no @T.prim_func, and no @R.function", filename, 1)
    return programs


def _undecorated_source(member: types.FunctionType | ClassMember, outer_names: Mapping[str, object]) -> FunctionSource:
    """The source of a function without a decorator."""
    if isinstance(member, ClassMember):
        return member.program
    program = source_of(member, None)
    program.names = {**python_scope.namespaces(), **outer_names, **program.names}
    return program


def _top_level(stmt: ast.stmt, text: SourceText, names: dict[str, object]) -> list[FunctionSource]:
    """The functions in a top-level statement; any other statement is executed."""
    if isinstance(stmt, ast.ClassDef) and (not stmt.decorator_list or _has_decorator(stmt.decorator_list, "ir_module")):
        return [_member(s, text, names, stmt.name) for s in stmt.body if isinstance(s, ast.FunctionDef)]
    if isinstance(stmt, ast.FunctionDef) and any(_has_decorator(stmt.decorator_list, w) for w in FUNCTIONS):
        return [_member(stmt, text, names)]
    if isinstance(stmt, ast.Import | ast.ImportFrom) and _known_import(stmt, names):
        return []
    try:
        code = compile(ast.Module([stmt], []), text.filename, "exec")
        exec(code, names)
        for name in _defined_names(stmt):
            inlined_calls.remember(names.get(name), stmt, text)
    except Exception as error:
        raise text.error(stmt, f"{type(error).__name__}: {getattr(error, 'msg', error)}") from error
    return []


def _defined_names(stmt: ast.stmt) -> list[str]:
    """The names of the function, or of the lambda, that a statement defines."""
    if isinstance(stmt, ast.FunctionDef):
        return [stmt.name]
    return [t.id for t in stmt.targets if isinstance(t, ast.Name)] if isinstance(stmt, ast.Assign) else []


FUNCTIONS = ("prim_func", "function")
"""The decorators of functions of a module."""


def _has_decorator(decorators: list[ast.expr], word: str) -> bool:
    return any(ast.unparse(d).split("(")[0].rpartition(".")[2] == word for d in decorators)


def _known_import(stmt: ast.Import | ast.ImportFrom, names: dict[str, object]) -> bool:
    """Whether an import names the script namespaces (of tvm or of this package), which are already bound."""
    module = stmt.module or "" if isinstance(stmt, ast.ImportFrom) else stmt.names[0].name
    if isinstance(stmt, ast.ImportFrom) and module == "__future__":
        return True
    if module.split(".")[0] not in ("tvm", "tir_mlir"):
        return False
    for alias in stmt.names:
        target = {"ir": "I", "tir": "T", "tirx": "T"}.get(alias.name)
        if target is not None:
            names[alias.asname or alias.name] = names[target]
        if alias.name == "relax" or (module, alias.name) == ("tir_mlir.graph", "script"):
            names[alias.asname or alias.name] = graph_namespace()
    return True


def _member(
    node: ast.FunctionDef, text: SourceText, names: Mapping[str, object], class_name: str = ""
) -> FunctionSource:
    options: dict[str, object] = {}
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            options |= {k.arg: getattr(k.value, "value", None) for k in decorator.keywords if k.arg}
    private, check = bool(options.get("private")), options.get("check_well_formed") is not False
    graph = _has_decorator(node.decorator_list, "function")
    return FunctionSource(node.name, node, text, names, private, check, class_name, graph)
