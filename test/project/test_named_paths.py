"""Files, folders and modules that docstrings, comments and pages name exist."""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import subprocess
import tokenize
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("dialect", "passes", "tir_mlir", "tools", "test")
PAGES = ("docs", "dialect", "passes", ".")
PATH = re.compile(
    r"(?<![\w./:{<$~-])(?:(?:dialect|passes|tir_mlir|tools|docs|test)/[\w/.-]*\w|(?:[\w-]+/)+[\w-]+\.(?:py|c|md|mlir))(?![\w{*])"
)
FILE = re.compile(r"(?<![\w./:{<$*-])[a-z]\w+\.py\b(?![.:])")
MODULE = re.compile(r"(?<![\w./-])tir_mlir(?:\.\w+)+(?![\w/(])")
FIRMWARE = r"(?P<export>layer|net)/((?P=export)(_functions|_weights)?|main)\.c"
"""The files of an export of the pages, into a folder of its name."""
MADE = re.compile(rf"docs/reference/.*|build/.*|{FIRMWARE}|.*\b(test_)?(NAME|FAMILY)\b.*")
"""What a command makes; a pattern of names."""
OF_USERS = {"file.py", "matmul.py", "model.py", "nobody.py", "search.py", "sitecustomize.py", "user.py"}


@cache
def tree() -> tuple[frozenset[str], frozenset[str]]:
    """The files and folders of the project, each with all ends of its path, and the names of files."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    files = [Path(line) for line in listed.stdout.splitlines()]
    paths = {path for file in files for path in (file, *file.parents)}
    ends = {"/".join(path.parts[n:]) for path in paths for n in range(len(path.parts))}
    return frozenset(ends), frozenset(file.name for file in files)


def prose(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """The docstrings and comments of a source, with their lines; all of a page."""
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def sources() -> list[Path]:
    return [
        path for top in SOURCES for path in (ROOT / top).rglob("*.py") if "lit" not in path.parts and _is_real(path)
    ]


def _is_real(path: Path) -> bool:
    """Whether a path goes through no link: `tir_mlir/dialect` is `dialect`."""
    return path.resolve() == path


def unknown(paths: list[Path], pattern: re.Pattern[str], exists: Callable[[str], bool]) -> list[str]:
    """Where the prose of files has a name that does not exist."""
    found = []
    for path in paths:
        text = path.read_text()
        absent = {m.group() for m in pattern.finditer(text) if not exists(m.group())}
        for line, part in prose(path, text) if absent else ():
            found += [f"{path.relative_to(ROOT)}:{line}: {m}" for m in pattern.findall(part) if m in absent]
    return found


def test_paths_exist():
    pages = [path for top in PAGES for path in (ROOT / top).glob("**/*.md" if top == "docs" else "*.md")]
    pages = [page for page in pages if page.name != "CHANGELOG.md"]  # of its time
    assert not unknown(
        sources() + pages, PATH, lambda name: bool(MADE.fullmatch(name)) or name.rstrip("/.") in tree()[0]
    )


def test_files_of_the_package_exist():
    own = [path for path in sources() if "test" not in path.parts]
    assert not unknown(own, FILE, lambda name: name in tree()[1] or name in OF_USERS)


@cache
def is_module(name: str) -> bool:
    """Whether a dotted name is a module, or what one has."""
    with suppress(ModuleNotFoundError):
        if importlib.util.find_spec(name) is not None:
            return True
    module, _, last = name.rpartition(".")
    with suppress(ModuleNotFoundError):
        return hasattr(importlib.import_module(module), last)
    outer, _, middle = module.rpartition(".")
    return hasattr(getattr(importlib.import_module(outer), middle, None), last)


def test_modules_exist():
    pages = list((ROOT / "docs").rglob("*.md"))
    assert not unknown(sources() + pages, MODULE, is_module)
