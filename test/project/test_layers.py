"""The house: imports go one way, files and functions stay small, importing costs little."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from harness import ROOT

FOLDERS = {"tir_mlir/dialect": "dialect", "tir_mlir/passes": "passes"}  # the links

# Who may import whom: a module belongs to the longest prefix that fits; it may import its own row and those listed.
# Names are below `tir_mlir.`; a listed package allows the modules directly in it, not its sub-packages.
ROWS: dict[str, str] = {
    "dialect": "",
    "dialect.analysis": "dialect.calls dialect.diagnostics dialect.incremental dialect.ir dialect.presburger",
    "dialect.calls": "dialect.diagnostics dialect.ir",
    "dialect.computation": "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger",
    "dialect.diagnostics": "",
    "dialect.graph": "dialect.ir",
    "dialect.index_maps": "dialect.diagnostics dialect.ir dialect.presburger dialect.symbolic",
    "dialect.incremental": "dialect.ir",
    "dialect.ir": "dialect.diagnostics dialect.symbolic",
    "dialect.presburger": "dialect.diagnostics dialect.incremental dialect.ir",
    "dialect.symbolic": "dialect.diagnostics",
    "dialect.verify": (
        "dialect.analysis dialect.calls dialect.diagnostics dialect.incremental dialect.ir dialect.presburger"
    ),
    "target": "dialect.diagnostics",
    "passes": "",
    "passes.linalg": "dialect.computation dialect.diagnostics dialect.ir dialect.presburger dialect.verify passes",
    "passes.lower": "dialect.calls dialect.diagnostics dialect.ir dialect.presburger passes",
    "passes.lower.blocks": "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger passes.lower",
    "passes.lower.llvm": "dialect.analysis dialect.calls dialect.diagnostics dialect.ir passes.lower",
    "passes.lower.loops": (
        "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger passes.lower passes.lower.memory"
    ),
    "passes.lower.memory": (
        "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger dialect.verify passes.lower "
        "passes.lower.blocks"
    ),
    "passes.lower.vector": (
        "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger passes.lower passes.lower.memory"
    ),
    "passes.schedule": "dialect.diagnostics dialect.ir",
    "passes.schedule.annotation": "dialect.analysis dialect.diagnostics dialect.index_maps dialect.ir passes.schedule",
    "passes.schedule.blocks": (
        "dialect.analysis dialect.computation dialect.diagnostics dialect.ir dialect.presburger dialect.verify "
        "passes.schedule passes.schedule.edits passes.schedule.legality"
    ),
    "passes.schedule.caching": (
        "dialect.analysis dialect.diagnostics dialect.index_maps dialect.ir dialect.presburger dialect.verify "
        "passes.schedule passes.schedule.edits passes.schedule.layout passes.schedule.legality"
    ),
    "passes.schedule.edits": (
        "dialect.analysis dialect.diagnostics dialect.incremental dialect.ir dialect.presburger passes.schedule"
    ),
    "passes.schedule.inlining": (
        "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger dialect.verify passes.schedule "
        "passes.schedule.edits passes.schedule.legality"
    ),
    "passes.schedule.layout": (
        "dialect.analysis dialect.calls dialect.diagnostics dialect.index_maps dialect.ir dialect.presburger "
        "dialect.symbolic dialect.verify passes.schedule passes.schedule.edits passes.schedule.legality"
    ),
    "passes.schedule.legality": (
        "dialect.analysis dialect.diagnostics dialect.incremental dialect.ir dialect.presburger passes.schedule"
    ),
    "passes.schedule.loops": (
        "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger dialect.verify passes.schedule "
        "passes.schedule.edits passes.schedule.legality"
    ),
    "passes.schedule.placement": (
        "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger dialect.verify passes.schedule "
        "passes.schedule.edits passes.schedule.inlining passes.schedule.legality"
    ),
    "passes.schedule.queries": (
        "dialect.diagnostics dialect.incremental dialect.ir dialect.verify passes.schedule passes.schedule.inlining "
        "passes.schedule.legality passes.schedule.placement"
    ),
    "passes.schedule.reduction": (
        "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger passes.schedule passes.schedule.caching "
        "passes.schedule.edits passes.schedule.inlining passes.schedule.legality"
    ),
    "runtime": "dialect.diagnostics dialect.ir target",
    "runtime.cache": "dialect.diagnostics runtime.llvm runtime.tools",
    "runtime.call": (
        "dialect.analysis dialect.calls dialect.diagnostics dialect.ir dialect.presburger dialect.symbolic "
        "runtime.cache runtime.llvm"
    ),
    "runtime.drivers": (
        "dialect.diagnostics dialect.ir runtime.cache runtime.call runtime.kernels runtime.llvm runtime.tools target"
    ),
    "runtime.llvm": "dialect.calls dialect.diagnostics dialect.ir runtime.tools target",
    "runtime.tools": "dialect.diagnostics",
    "runtime.kernels": "target",
    "script": (
        "dialect.diagnostics dialect.graph dialect.ir dialect.presburger dialect.verify passes.linalg runtime.tools"
    ),
    "script.language": "dialect.diagnostics dialect.index_maps",
    "script.parser": (
        "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger dialect.symbolic dialect.verify script "
        "script.language target"
    ),
    "script.parser.modules": "dialect.analysis dialect.ir script.parser",
    "script.printer": (
        "dialect.analysis dialect.calls dialect.diagnostics dialect.graph dialect.ir dialect.presburger script "
        "script.language"
    ),
    "te": "dialect.diagnostics dialect.ir dialect.symbolic script script.parser",
    "graph": (
        "build dialect.diagnostics dialect.graph dialect.ir dialect.symbolic equivalence graph.memory graph.operators "
        "graph.shipping graph.transforms interpreter runtime runtime.cache runtime.call runtime.drivers script target "
        "te"
    ),
    "graph.precision": (
        "dialect.diagnostics dialect.graph dialect.ir graph graph.operators graph.rewrite graph.transforms"
    ),
    "graph.rewrite": "dialect.diagnostics dialect.graph dialect.ir dialect.symbolic graph graph.operators",
    "graph.profiling": "build dialect.ir graph graph.memory graph.transforms runtime script target visual",
    "graph.shipping": (
        "build dialect.diagnostics dialect.graph dialect.ir dialect.symbolic graph graph.memory runtime runtime.call "
        "runtime.drivers runtime.tools target"
    ),
    "graph.expressions": (
        "dialect.diagnostics dialect.graph dialect.ir dialect.symbolic graph graph.operators "
        "graph.rewrite script script.printer te"
    ),
    "graph.script": (
        "dialect.diagnostics dialect.graph dialect.ir graph graph.expressions graph.memory graph.operators script "
        "script.parser"
    ),
    "graph.transforms": (
        "dialect.analysis dialect.computation dialect.diagnostics dialect.graph dialect.ir dialect.symbolic graph "
        "graph.memory graph.operators graph.rewrite interpreter.ops passes.linalg passes.lower runtime schedule "
        "schedules schedules.programs script target te"
    ),
    "graph.memory": (
        "dialect.analysis dialect.calls dialect.diagnostics dialect.graph dialect.ir dialect.symbolic graph.operators"
    ),
    "visual": "dialect.analysis dialect.diagnostics dialect.ir dialect.presburger script script.printer",
    "equivalence": (
        "dialect.analysis dialect.calls dialect.computation dialect.diagnostics dialect.index_maps dialect.ir "
        "dialect.presburger dialect.verify equivalence.arenas equivalence.field passes.lower passes.lower.blocks "
        "passes.lower.llvm passes.lower.memory runtime.call runtime.drivers runtime.llvm"
    ),
    "equivalence.arenas": "dialect.calls dialect.diagnostics dialect.ir equivalence",
    "equivalence.field": "dialect.ir",
    "schedule": (
        "dialect.analysis dialect.diagnostics dialect.incremental dialect.index_maps dialect.ir dialect.symbolic "
        "dialect.verify equivalence passes.schedule passes.schedule.blocks passes.schedule.edits "
        "passes.schedule.legality passes.schedule.placement passes.schedule.queries script script.printer visual"
    ),
    "schedule.trace": (
        "dialect.diagnostics dialect.index_maps dialect.ir dialect.symbolic passes.schedule passes.schedule.queries "
        "schedule script"
    ),
    "interpreter": (
        "dialect.analysis dialect.diagnostics dialect.ir dialect.symbolic passes.lower runtime.call script "
        "script.parser"
    ),
    "interpreter.ops": "dialect.analysis dialect.computation dialect.diagnostics dialect.ir equivalence interpreter",
    "intrin": (
        "build dialect.analysis dialect.computation dialect.diagnostics dialect.ir equivalence interpreter "
        "passes.lower runtime runtime.call runtime.drivers runtime.kernels script.parser target"
    ),
    "build": (
        "dialect.diagnostics dialect.ir passes.lower passes.lower.loops runtime runtime.cache runtime.call "
        "runtime.drivers runtime.llvm runtime.tools target"
    ),
    "schedules": "dialect.diagnostics dialect.ir schedule",
    "schedules.products": "build dialect.diagnostics dialect.ir intrin runtime schedule schedules script target te",
    "schedules.convolutions": "dialect.diagnostics dialect.ir schedule schedules schedules.products target",
    "schedules.rows": "dialect.diagnostics dialect.ir schedule schedules target",
    "schedules.programs": (
        "dialect.diagnostics dialect.ir schedule schedules schedules.convolutions schedules.products schedules.rows "
        "target"
    ),
    "tune.report": "dialect.diagnostics schedule schedules.products",
    "tune.boards": (
        "build dialect.diagnostics dialect.ir runtime runtime.cache runtime.call runtime.drivers runtime.kernels "
        "runtime.tools target tune.trials"
    ),
    "tune.machines": "dialect.diagnostics tune.search tune.spaces tune.trials",
    "tune.models": (
        "dialect.diagnostics dialect.ir graph graph.expressions graph.fronts.torch_export graph.memory "
        "graph.transforms runtime runtime.call script target tune.records tune.report tune.search tune.trials"
    ),
    "tune.search": (
        "dialect.calls dialect.diagnostics dialect.ir dialect.verify passes.schedule.queries schedule schedules "
        "script script.parser target tune.boards tune.records tune.report tune.spaces tune.trials"
    ),
    "tune.spaces": (
        "dialect.computation dialect.diagnostics dialect.ir passes.schedule.queries schedule schedules target"
    ),
    "tune.trials": (
        "build dialect.diagnostics dialect.ir equivalence runtime runtime.call runtime.drivers runtime.kernels "
        "runtime.tools target"
    ),
    "topi": "dialect.diagnostics dialect.symbolic te",
    "topi.image": "te topi",
    "topi.nn": "dialect.diagnostics te topi topi.image",
    "graph.operators": "topi topi.nn",
    "graph.fronts": "dialect.diagnostics dialect.symbolic te topi.nn",
    "graph.fronts.aten": "dialect.diagnostics dialect.symbolic graph.fronts graph.operators te",
    "graph.fronts.linalg_model": (
        "dialect.diagnostics dialect.graph dialect.ir dialect.symbolic graph passes.linalg script"
    ),
    "graph.fronts.onnx_model": ("dialect.diagnostics dialect.graph graph graph.fronts graph.operators te topi"),
    "graph.fronts.torch_export": (
        "dialect.diagnostics dialect.ir graph graph.fronts graph.fronts.aten graph.operators runtime.cache script"
    ),
    "testing": "dialect.diagnostics schedule schedule.trace script",
    "tune.records": (
        "dialect.computation dialect.diagnostics dialect.ir dialect.verify runtime runtime.kernels runtime.llvm "
        "schedule schedule.trace schedules.programs script script.parser target tune.spaces"
    ),
    "errors": "dialect.diagnostics",
}
TOP = (
    "opt",
    "compat",
    "examples",
    "graph",
    "schedules",
    "tune",
)  # these may import everything; nothing below imports them
LAYERS = {f"tir_mlir.{row}": {f"tir_mlir.{name}" for name in allowed.split()} for row, allowed in ROWS.items()}


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


@cache
def imported(path: Path, top_level_only: bool = False) -> list[tuple[int, str]]:
    """Lines and full names of what a file imports, at the top level only or inside functions as well."""
    found = []
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    tree = ast.parse(path.read_text())
    for node in tree.body if top_level_only else ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        found += [(node.lineno, name) for name in names if isinstance(node, (ast.Import, ast.ImportFrom))]
    return found


def layer(module: str) -> str:
    """The row of a module; "tir_mlir" for the package's own `__init__` and what stands on top."""
    return next((row for row in sorted(LAYERS, key=len, reverse=True) if within(module, row)), "tir_mlir")


def within(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


def home(name: str, modules: set[str]) -> str:
    """The module of an imported name: itself, or the one that defines it."""
    return name if name in modules else name.rpartition(".")[0]


def all_modules() -> set[str]:
    return {module_name(path) for path in sources()}


def edges(top_level_only: bool = False) -> Iterator[tuple[str, str, str]]:
    """(importing module, imported module, place) for every import of the project in the project."""
    modules = all_modules()
    for path in sources():
        for line, name in imported(path, top_level_only):
            if within(name, "tir_mlir") and (to := home(name, modules)) in modules:
                yield module_name(path), to, f"{path.relative_to(ROOT)}:{line}"


def test_imports_go_one_way():
    wrong = []
    for module, to, place in edges():
        own, other = layer(module), layer(to)
        if own == "tir_mlir" or own == other or within(other, own):  # a package's front may import what is in it
            continue
        if other not in LAYERS[own]:
            wrong.append(f"{place}: {own} imports {to}")
    assert not wrong, "\n".join(wrong)


def test_no_row_is_wider_than_its_imports():
    used: dict[str, set[str]] = {row: set() for row in LAYERS}
    for module, to, _ in edges():
        used.get(layer(module), set()).add(layer(to))
    idle = {row: sorted(allowed - used[row]) for row, allowed in LAYERS.items() if allowed - used[row]}
    assert not idle


def test_the_rows_have_no_circle():
    """Between sub-packages; a package and what is in it may import each other (a registry and its primitives)."""
    graph = {row: {to for to in allowed if not within(row, to)} for row, allowed in LAYERS.items()}
    assert not circles(graph)


def test_modules_import_each_other_in_no_circle():
    """When they are loaded. Doors are left out: they import what is behind them."""
    doors = {module_name(path) for path in sources() if path.name == "__init__.py"}
    graph: dict[str, set[str]] = {}
    for module, to, _ in edges(top_level_only=True):
        if module not in doors and to not in doors:
            graph.setdefault(module, set()).add(to)
    assert not circles(graph)


def circles(graph: dict[str, set[str]]) -> list[str]:
    """The nodes that can reach themselves."""

    def reached(node: str) -> set[str]:
        found: set[str] = set()
        waiting = [node]
        while waiting:
            for to in graph.get(waiting.pop(), ()):
                if to not in found:
                    found.add(to)
                    waiting.append(to)
        return found

    return sorted(node for node in graph if node in reached(node))


def test_nothing_imports_the_top_layers():
    """But the package's own door, which loads their names when they are first used."""
    wrong = []
    for module, to, place in edges():
        if module == "tir_mlir":
            continue
        for top in (f"tir_mlir.{name}" for name in TOP):
            if within(to, top) and not within(module, top) and not any(within(module, f"tir_mlir.{n}") for n in TOP):
                wrong.append(f"{place}: {to}")
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
    long = [f"{path.relative_to(ROOT)}: {n} lines" for path in sources() if (n := len(path.open().readlines())) > 600]
    assert not long, "\n".join(long)


def test_folders_are_small():
    """At most 20 modules, and a door that says in its docstring what belongs behind it."""
    wrong = []
    for folder in {path.parent for path in sources()}:
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        door = folder / "__init__.py"
        if len(modules) > 20:
            wrong.append(f"{folder.relative_to(ROOT)}: {len(modules)} modules")
        if not door.exists() or not ast.get_docstring(ast.parse(door.read_text())):
            wrong.append(f"{folder.relative_to(ROOT)}: no docstring in __init__.py")
    assert not wrong, "\n".join(wrong)


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
        "import sys; context = sys.modules.get('tir_mlir.dialect.ir.context')\n"
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
