"""Report which raise sites of the package the tests reach, and with which messages.

    python tools/refusals.py record DIR COMMAND...    run a command (pytest, lit); record the errors of its processes
    python tools/refusals.py report DIR               count the reached raise sites and list the others
    python tools/refusals.py compare DIR OTHER        list the messages of DIR that are not in OTHER

A raise site is a `raise ...Error(...)` or a call of `refuse`, `check` or `fail` in `dialect/`, `passes/` or
`tir_mlir/`. Messages are compared without numbers and paths.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"dialect": "tir_mlir.dialect", "passes": "tir_mlir.passes", "tir_mlir": "tir_mlir"}
RAISING = ("refuse", "check", "fail")
"""Functions that raise on behalf of their caller."""
FRAMES = 3
"""Number of package frames recorded with an error, which a helper of a helper may raise."""


@dataclass(frozen=True)
class RaiseSite:
    """Lines of one raise statement."""

    module: str
    first: int
    last: int


def raise_sites() -> Iterator[RaiseSite]:
    """Yield every raise site of the package."""
    for folder, name in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            module = ".".join([name, *(parts[:-1] if parts[-1] == "__init__" else parts)])
            yield from (
                RaiseSite(module, n.lineno, n.end_lineno or n.lineno) for n in _raising(ast.parse(path.read_text()))
            )


def _raising(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            if re.search(r"(Error|^Not\w+|Stop)$", _name(node.exc)):
                yield node
        elif isinstance(node, ast.Call) and _name(node) in RAISING:
            yield node


def _name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def install(folder: str) -> None:
    """Record every package error that this process creates; called at startup."""
    from importlib.machinery import PathFinder

    class Finder:
        def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
            spec = PathFinder.find_spec(name, path, target) if name.startswith("tir_mlir.dialect") else None
            if spec is None or spec.loader is None or not name.endswith(".errors"):
                return None
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                module.TirError.__new__ = _recording_new(folder)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
            return spec

    sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]


def _recording_new(folder: str) -> Any:
    """Return a `__new__` for error classes that records each distinct error once."""
    seen: set[str] = set()

    def new(cls: type, *args: Any, **options: Any) -> Any:
        frames, frame = [], sys._getframe(1)
        while frame is not None and len(frames) < FRAMES:
            module = str(frame.f_globals.get("__name__"))
            if module.startswith("tir_mlir"):
                frames.append((module, frame.f_lineno))
            frame = frame.f_back  # type: ignore[assignment]
        message = str(args[0] if args else options.get("message", ""))
        line = json.dumps([cls.__name__, frames, _bare(message), _bare(str(options.get("fix", "")))])
        if line not in seen:
            seen.add(line)
            with open(os.path.join(folder, f"{os.getpid()}.jsonl"), "a") as out:
                out.write(line + "\n")
        return Exception.__new__(cls, *args, **options)

    return new


def _bare(text: str) -> str:
    """Strip a message of what varies between runs."""
    return re.sub(r"\d+", "N", re.sub(r"/[\w./\-]+", "/PATH", text))[:500]


def record(folder: str, command: list[str]) -> int:
    """Run a command and return its exit code."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as hook:
        tools, where = str(ROOT / "tools"), os.path.abspath(folder)
        code = f"import sys\nsys.path.append({tools!r})\nimport refusals\nrefusals.install({where!r})\n"
        Path(hook, "sitecustomize.py").write_text(code)
        path = os.pathsep.join(filter(None, [hook, os.environ.get("PYTHONPATH")]))
        return subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False).returncode


def recorded(folder: str) -> list[Any]:
    """Return the recorded errors as (class, frames, message, fix)."""
    return [json.loads(line) for path in sorted(Path(folder).glob("*.jsonl")) for line in path.read_text().splitlines()]


def report(folder: str) -> int:
    """Print the reached raise sites, and the unreached ones."""
    lines = {(module, line) for _, frames, _, _ in recorded(folder) for module, line in frames}
    every = list(raise_sites())
    missed = [p for p in every if not any((p.module, n) in lines for n in range(p.first, p.last + 1))]
    for site in missed:
        print(f"not reached: {site.module}:{site.first}")
    messages, fixes = ({entry[k] for entry in recorded(folder)} for k in (2, 3))
    print(f"{len(every) - len(missed)} of {len(every)} raise sites, {len(messages)} messages, {len(fixes)} fixes")
    return 0


def compare(folder: str, other: str) -> int:
    """Print the messages of one recording that are missing in another; exit code 1 if there are any."""
    lost = sorted({(e[0], e[2], e[3]) for e in recorded(folder)} - {(e[0], e[2], e[3]) for e in recorded(other)})
    for name, message, fix in lost:
        print(f"{name}: {message}" + (f"\n    fix: {fix}" if fix else ""))
    print(f"{len(lost)} messages are not in {other}")
    return 1 if lost else 0


def main(argv: list[str]) -> int:
    match argv:
        case ["record", folder, _, *_]:
            return record(folder, argv[2:])
        case ["report", folder]:
            return report(folder)
        case ["compare", folder, other]:
            return compare(folder, other)
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
