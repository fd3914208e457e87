"""The house: imports go one way, files and functions stay small, importing costs little."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"tir_mlir/dialect": "dialect", "tir_mlir/passes": "passes"}  # the links

# who may import whom: a module of the left is in the first row whose prefix fits
LAYERS: dict[str, tuple[str, ...]] = {
    "tir_mlir.dialect": (),
    "tir_mlir.passes.schedule": ("tir_mlir.dialect",),
    "tir_mlir.passes.lower": ("tir_mlir.dialect",),
    "tir_mlir.passes.linalg": ("tir_mlir.dialect",),
    "tir_mlir.passes": ("tir_mlir.dialect",),
    "tir_mlir.script": ("tir_mlir.dialect", "tir_mlir.passes.linalg", "tir_mlir.runtime.toolchain"),
    "tir_mlir.te": ("tir_mlir.dialect", "tir_mlir.script"),
    "tir_mlir.schedule": ("tir_mlir.dialect", "tir_mlir.passes.schedule", "tir_mlir.script", "tir_mlir.check"),
    "tir_mlir.check": ("tir_mlir.dialect", "tir_mlir.passes.lower", "tir_mlir.runtime", "tir_mlir.build"),
    "tir_mlir.interpreter": (
        "tir_mlir.dialect",
        "tir_mlir.passes.lower",
        "tir_mlir.runtime",
        "tir_mlir.script",
        "tir_mlir.check.described",
        "tir_mlir.check.intrinsic",
        "tir_mlir.check.work",
    ),
    "tir_mlir.target": ("tir_mlir.runtime.host",),
    "tir_mlir.schedules": ("tir_mlir.dialect", "tir_mlir.schedule", "tir_mlir.target", "tir_mlir.intrin"),
    "tir_mlir.runtime": ("tir_mlir.dialect", "tir_mlir.intrin.kernels"),
    "tir_mlir.intrin.kernels": ("tir_mlir.dialect", "tir_mlir.runtime.host"),
    "tir_mlir.intrin": (
        "tir_mlir.dialect",
        "tir_mlir.script",
        "tir_mlir.runtime.host",
        "tir_mlir.target",
        "tir_mlir.check.intrinsic",
        "tir_mlir.interpreter.trial",
    ),
    "tir_mlir.build": ("tir_mlir.dialect", "tir_mlir.passes.lower", "tir_mlir.runtime", "tir_mlir.target"),
    "tir_mlir.compat": ("tir_mlir",),
    "tir_mlir.optdriver": ("tir_mlir",),
    "tir_mlir.opt": ("tir_mlir",),
    "tir_mlir.examples": ("tir_mlir",),
    "tir_mlir": (
        "tir_mlir.build",
        "tir_mlir.dialect.index_map",
        "tir_mlir.interpreter",
        "tir_mlir.intrin",
        "tir_mlir.runtime.clang",
        "tir_mlir.schedule",
        "tir_mlir.script.linalg",
    ),
}
TOP = (
    "tir_mlir.compat",
    "tir_mlir.optdriver",
    "tir_mlir.opt",
    "tir_mlir.examples",
    "tir_mlir.schedules",
)  # nothing below imports these


def sources() -> list[Path]:
    """Every Python file of the package once, where it really lies."""
    folders = [ROOT / "tir_mlir", ROOT / "dialect", ROOT / "passes"]
    found = [Path(at) / name for folder in folders for at, _, names in os.walk(folder) for name in names]
    return sorted(path for path in found if path.suffix == ".py")


def module_name(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] != "tir_mlir":
        parts.insert(0, "tir_mlir")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and full names of what a file imports from the project, imports inside functions included."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        yield from ((node.lineno, name) for name in names if isinstance(node, (ast.Import, ast.ImportFrom)))


def layer(module: str) -> str:
    return next(prefix for prefix in sorted(LAYERS, key=len, reverse=True) if within(module, prefix))


def within(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


def test_imports_go_one_way():
    wrong = []
    for path in sources():
        own = layer(module_name(path))
        for line, name in imported(path):
            if not within(name, "tir_mlir") or (own != "tir_mlir" and within(name, own)):
                continue
            if not any(within(name, allowed) for allowed in LAYERS[own]):
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {own} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_nothing_imports_what_stands_on_top():
    wrong = []
    for path in sources():
        for line, name in imported(path):
            used = [top for top in TOP if within(name, top) and not within(module_name(path), top)]
            if used and layer(module_name(path)) not in TOP:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {name}")
    assert not wrong, "\n".join(wrong)


def test_linked_folders_are_imported_under_one_name():
    wrong = [
        f"{path}:{line}: {name}"
        for path in sources()
        for line, name in imported(path)
        if within(name, "dialect") or within(name, "passes")
    ]
    assert not wrong, "\n".join(wrong)


def test_files_are_short():
    long = [f"{path.relative_to(ROOT)}: {n} lines" for path in sources() if (n := len(path.open().readlines())) > 400]
    assert not long, "\n".join(long)


def test_functions_are_short():
    """At most 40 lines, docstring and signature not counted."""
    long = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (n := body_lines(node)) > 40:
                long.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has {n} lines")
    assert not long, "\n".join(long)


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_no_catch_all_module_names():
    assert not [path for path in sources() if path.stem in ("utils", "util", "helpers", "helper", "common", "misc")]


@pytest.mark.parametrize("more", ["", "; from tir_mlir import Schedule, TensorIntrin, build; import tir_mlir.script"])
def test_importing_makes_no_context(more):
    code = (
        f"import time; t = time.perf_counter(); import tir_mlir{more}; t = time.perf_counter() - t\n"
        "import sys; context = sys.modules.get('tir_mlir.dialect.context')\n"
        "assert context is None or context._context is None\n"
        "print(f'imported in {1e3 * t:.0f} ms')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout)


def test_passes_with_open_wrong_code_reports_are_not_used():
    from tir_mlir.passes.lower import pipeline

    kept_out = ("affine-super-vectorize", "affine-loop-fusion", "scf-parallel-loop-fusion")
    used = [name.partition("{")[0] for parallel in (False, True) for name in pipeline.pass_names(parallel)]
    assert not set(kept_out) & set(used)


def test_files_name_no_place_of_one_machine():
    """Every text of the checkout is good for any machine."""
    places = tuple("/" + place for place in ("home/", "root/", "work/", "Users/"))
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    wrong = []
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        text = path.read_text(errors="ignore") if path.is_file() and path != Path(__file__) else ""
        if hits := [p for p in places if p in text]:
            wrong.append(f"{name}: {', '.join(hits)}")
    assert not wrong, "\n".join(wrong)
