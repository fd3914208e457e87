"""The fix texts of the package's refusals, read from its source."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = "fix: "
SHORTEST = 10
"""Characters of a fix that say which one it is."""


@dataclass(frozen=True)
class FixSite:
    """A fix text of the source. pieces: what it says before, between and after the values that are put in."""

    path: str
    line: int
    pieces: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {'...'.join(self.pieces)}"

    def is_named_by(self, text: str) -> bool:
        """Whether a text is a part of this fix with values put in, and says which one: SHORTEST of its characters, or
        all that there are, are the fix's."""
        least = min(SHORTEST, sum(map(len, self.pieces)))
        count = len(self.pieces)
        ranges = [self.pieces[first : last + 1] for first in range(count) for last in range(first + 1, count)]
        return any(text in piece for piece in self.pieces) or any(_said(part, text) >= least for part in ranges)


def _said(pieces: Sequence[str], text: str) -> int:
    """How many characters of a text are pieces: the end of the first one, all of those between and the start of the
    last one, with values between them; 0 if the text is something else."""
    first, last = pieces[0], pieces[-1]
    start = next(n for n in range(len(first), -1, -1) if text.startswith(first[len(first) - n :]))
    end = next(n for n in range(len(last), -1, -1) if text.endswith(last[:n]))
    rest, between = text[start : len(text) - end], 0
    for piece in pieces[1:-1]:
        if piece not in rest:
            return 0
        rest, between = rest.partition(piece)[2], between + len(piece)
    return start + between + end


def fix_sites(*folders: str) -> list[FixSite]:
    """The fixes that refusals in these folders name, each once, in the order of the source: what follows "fix: " in a
    text, and what is passed as `fix`, also by way of a constant, a variable or a function."""
    sites: dict[FixSite, None] = {}
    for folder in folders:
        top = ROOT / folder
        for path in [top] if top.is_file() else sorted(top.rglob("*.py")):
            for expression, function in _fixes_in(_tree(path)):
                sites |= dict.fromkeys(_Reader().sites(expression, path, function))
    return list(sites)


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _fixes_in(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.AST]]:
    """Each expression that is a fix, and the function that it is in."""
    for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
        parts = {id(part) for n in ast.walk(function) if isinstance(n, ast.JoinedStr) for part in n.values}
        for node in [n for n in ast.walk(function) if id(n) not in parts]:
            if isinstance(node, ast.Call):
                yield from ((k.value, function) for k in node.keywords if k.arg == "fix")
                if isinstance(node.func, ast.Name) and node.func.id == "check" and len(node.args) > 3:
                    yield node.args[3], function
            elif isinstance(node, ast.JoinedStr | ast.Constant) and _after_mark(node) is not None:
                yield node, function


def _after_mark(node: ast.expr) -> list[ast.expr] | None:
    """The parts of a text after "fix: ", None if it has no such mark."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    for number, part in enumerate(parts):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and MARK in part.value:
            rest = ast.copy_location(ast.Constant(part.value.partition(MARK)[2]), part)
            return [rest, *parts[number + 1 :]]
    return None


class _Reader:
    """Reads the texts that an expression may be."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def sites(self, node: ast.AST, path: Path, function: ast.AST) -> Iterator[FixSite]:
        if id(node) in self._seen:
            return
        self._seen.add(id(node))
        again = functools.partial(self.sites, path=path, function=function)
        if isinstance(node, ast.Constant | ast.JoinedStr):
            yield from self._text(node, path, function)
        elif isinstance(node, ast.IfExp):
            yield from (*again(node.body), *again(node.orelse))
        elif isinstance(node, ast.BoolOp | ast.BinOp | ast.List | ast.Tuple | ast.Dict | ast.Subscript):
            for part in ast.iter_child_nodes(node):
                yield from again(part)
        elif isinstance(node, ast.Name):
            for value, where, inside in _values(node.id, path, function):
                yield from self.sites(value, where, inside)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield from again(node.func.value)
                for argument in node.args:
                    yield from again(argument)
            elif isinstance(node.func, ast.Name):
                for called, where in _functions(node.func.id, path):
                    for value in _results(called):
                        yield from self.sites(value, where, called)

    def _text(self, node: ast.Constant | ast.JoinedStr, path: Path, function: ast.AST) -> Iterator[FixSite]:
        parts = _after_mark(node) or (node.values if isinstance(node, ast.JoinedStr) else [node])
        pieces = [""]
        for part in parts:
            if isinstance(part, ast.Constant):
                pieces[-1] += str(part.value)
            else:
                pieces.append("")
        if any(len(piece.strip(" ,;")) > 2 for piece in pieces):
            yield FixSite(str(path.relative_to(ROOT)), node.lineno, tuple(pieces))
        else:
            for part in parts:
                if isinstance(part, ast.FormattedValue):
                    yield from self.sites(part.value, path, function)


def _results(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a function returns, and what it adds to lists."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            yield from node.args


def _values(name: str, path: Path, function: ast.AST) -> Iterator[tuple[ast.expr, Path, ast.AST]]:
    """What a variable of a function, or a constant of a module, is assigned."""
    local = list(_assigned(name, ast.walk(function)))
    if local or not name.isupper():
        yield from ((value, path, function) for value in local)
        return
    for where in [path, *_modules()]:
        values = list(_assigned(name, iter(_tree(where).body)))
        if values:
            yield from ((value, where, _tree(where)) for value in values)
            return


def _assigned(name: str, nodes: Iterator[ast.AST]) -> Iterator[ast.expr]:
    for node in nodes:
        for target in node.targets if isinstance(node, ast.Assign) else []:
            if isinstance(target, ast.Name) and target.id == name:
                yield node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=False)
                yield from (value for one, value in pairs if isinstance(one, ast.Name) and one.id == name)


def _functions(name: str, path: Path) -> list[tuple[ast.FunctionDef, Path]]:
    for where in [path, *_modules()]:
        defined = [n for n in _tree(where).body if isinstance(n, ast.FunctionDef) and n.name == name]
        if defined:
            return [(one, where) for one in defined]
    return []


@functools.cache
def _modules() -> list[Path]:
    return sorted((ROOT / "passes").rglob("*.py"))
