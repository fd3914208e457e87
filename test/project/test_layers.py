"""The house: imports go one way, files and functions remain small, importing costs little."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from harness import ROOT

from tir_mlir import extensions

# Each package, lowest first, and what it may import: packages above it, or parts of them with all in them.
PACKAGES: dict[str, str] = {
    "extensions": "",
    "sources": "",
    "dialect": "extensions",
    "errors": "dialect.diagnostics",
    "processes": "dialect.diagnostics",
    "target": "dialect.diagnostics",
    "passes": "dialect",
    "runtime": "dialect extensions processes sources target",
    "cache": "dialect.diagnostics runtime.cache runtime.tools",
    "ptx": "dialect.analysis.shared_banks dialect.diagnostics errors extensions runtime target",
    "targets": "dialect passes.lower runtime target",
    "build": "dialect extensions runtime target targets",
    "prediction": "dialect passes.lower runtime target targets",
    "equivalence": "build dialect errors passes.lower ptx runtime target",
    "script": "dialect extensions passes.linalg processes runtime.tools target",
    "interpreter": "build dialect equivalence extensions passes.lower ptx runtime.call runtime.library script target",
    "te": "dialect extensions script",
    "topi": "dialect te",
    "visual": "dialect script",
    "intrin": "build dialect equivalence extensions interpreter passes.lower runtime script.parser target",
    "schedule": "build dialect equivalence extensions passes runtime script target targets visual",
    "schedules": "build dialect intrin passes.lower.memory.allocs prediction.cores runtime schedule script target te",
    "testing": "dialect.diagnostics schedule script",
    "graph": (
        "build dialect equivalence extensions interpreter passes.linalg passes.lower ptx.program runtime schedule "
        "schedules script sources target targets te topi visual"
    ),
    "llm": "build dialect graph processes runtime schedule schedules script.module target targets.stages te",
    "accel": (
        "build dialect equivalence extensions graph interpreter intrin passes.lower processes runtime schedule "
        "schedules.block_queries schedules.free_choice script target targets visual"
    ),
    # the front of the package
    "tir_mlir": (
        "accel build cache dialect errors graph interpreter intrin extensions prediction runtime schedule schedules "
        "script sources target te topi visual"
    ),
    "examples": "build errors runtime.kernels schedules script tir_mlir",
    "opt": "dialect graph passes processes runtime schedule script target targets.stages tir_mlir",
    "tune": (
        "accel build dialect equivalence extensions graph opt passes.schedule.queries prediction processes ptx runtime "
        "schedule schedules script sources target targets.stages tir_mlir visual"
    ),
    "__main__": "opt",
    "onnx_backend": "build dialect graph",
    "compat": "build dialect graph runtime schedule script target te tir_mlir topi tune",
}
# The parts of the packages, and which other parts of the same package they may import; ".": the modules directly in it.
PARTS: dict[str, str] = {
    "accel.checks": ". timing",
    "accel.firmware": ".",
    "accel.machines": ".",
    "accel.mapping": ". timing",
    "accel.offload": ". firmware mapping",
    "accel.timing": ".",
    "dialect.analysis": "calls diagnostics incremental ir presburger",
    "dialect.calls": "diagnostics ir",
    "dialect.computation": "analysis constants diagnostics ir presburger symbolic",
    "dialect.graph": "constants ir",
    "dialect.incremental": "ir",
    "dialect.index_maps": "diagnostics ir presburger symbolic",
    "dialect.constants": "diagnostics",
    "dialect.ir": "constants diagnostics ops symbolic",
    "dialect.ops": "",
    "dialect.presburger": "diagnostics incremental ir symbolic",
    "dialect.verify": "analysis calls diagnostics incremental ir presburger",
    "passes.linalg": ".",
    "passes.lower": ".",
    "passes.lower.blocks": "lower schedule.pipelining",
    "passes.lower.direct": "lower lower.memory",
    "passes.lower.gpu": "lower lower.blocks lower.loops lower.memory lower.vector",
    "passes.lower.gpu.grids": "lower lower.blocks lower.gpu",
    "passes.lower.gpu.matrices": "lower lower.gpu lower.gpu.nvvm lower.gpu.pipelines lower.memory",
    "passes.lower.gpu.nvvm": "lower lower.gpu.outline lower.llvm",
    "passes.lower.gpu.outline": "lower lower.gpu",
    "passes.lower.gpu.pipelines": "lower lower.gpu lower.gpu.outline lower.memory",
    "passes.lower.llvm": "lower",
    "passes.lower.loops": "lower lower.llvm lower.memory",
    "passes.lower.memory": "lower lower.blocks",
    "passes.lower.vector": "lower lower.memory",
    "passes.schedule.annotation": "schedule",
    "passes.schedule.blocks": "schedule schedule.edits schedule.legality",
    "passes.schedule.caching": "schedule schedule.edits schedule.layout schedule.legality",
    "passes.schedule.edits": "schedule",
    "passes.schedule.inlining": "schedule schedule.edits schedule.legality",
    "passes.schedule.layout": "schedule schedule.edits schedule.legality",
    "passes.schedule.legality": "schedule",
    "passes.schedule.loops": "schedule schedule.edits",
    "passes.schedule.pipelining": "schedule schedule.edits schedule.layout",
    "passes.schedule.placement": "schedule schedule.edits schedule.inlining schedule.legality",
    "passes.schedule.queries": "schedule schedule.inlining schedule.legality schedule.placement",
    "passes.schedule.reduction": "schedule schedule.caching schedule.edits schedule.inlining schedule.legality",
    "ptx.instructions": ".",
    "ptx.prediction": ". instructions",
    "runtime.cache": "llvm tools",
    "runtime.call": "cache llvm",
    "runtime.drivers": ". cache call kernels llvm tools",
    "runtime.gpu": "call drivers",
    "runtime.llvm": ". tools",
    "runtime.workers": ". cache tools",
    "script.parser": ". language",
    "script.printer": "language",
    "targets.cpu": ".",
    "interpreter.ops": ".",
    "topi.image": ".",
    "topi.nn": ". image",
    "schedule.trace": ".",
    "schedules.convolutions": ". products",
    "schedules.products": ". gpu rows",
    "schedules.gpu": ". rows",
    "schedules.programs": ". convolutions gpu products rows",
    "schedules.rows": ".",
    "tune.boards": "trials",
    "tune.models": "records report search trials",
    "tune.records": "spaces",
    "tune.trials": "records",
    "tune.search": "boards records report spaces trials",
    "compat.relax": ".",
    "dialect.symbolic": "diagnostics",
    "graph.device": ". memory rewrite transforms units",
    "graph.expressions": ". operators rewrite",
    "graph.importers": ". operators",
    "graph.importers.aten": ". importers operators",
    "graph.importers.linalg_model": ".",
    "graph.importers.onnx_model": ". importers importers.onnx_operators",
    "graph.importers.onnx_operators": ". importers operators",
    "graph.importers.torch_compile": ". importers.aten importers.torch_export",
    "graph.importers.torch_export": ". importers importers.aten operators units",
    "graph.memory": ". operators",
    "graph.operators": ".",
    "graph.precision": ". memory operators rewrite transforms",
    "graph.profiling": ". memory transforms",
    "graph.rewrite": ". operators",
    "graph.script": ". expressions operators",
    "graph.shipping": ". memory",
    "graph.transforms": ". memory operators rewrite units",
    "graph.units": ". memory operators",
    "graph.verification": ". memory transforms",
}


@cache
def sources() -> list[Path]:
    """Every Python file of the package once, where it really lies."""
    folders = [ROOT / "tir_mlir", ROOT / "dialect", ROOT / "passes"]
    found = [Path(at) / name for folder in folders for at, _, names in os.walk(folder) for name in names]
    return sorted(path for path in found if path.suffix == ".py")


@cache
def module_name(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] != "tir_mlir":
        parts.insert(0, "tir_mlir")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imported(path: Path, types: bool = True) -> list[tuple[int, str]]:
    """Lines and full names of what a file imports, inside functions as well. types: also for types only."""
    found = []
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    for node, for_types in import_nodes(path):
        names: list[str] = []
        if for_types and not types:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            names = [str(arg.value) for arg in node.args if isinstance(arg, ast.Constant)]
        found += [(node.lineno, name) for name in names]
    return found


@cache
def import_nodes(path: Path) -> list[tuple[ast.Import | ast.ImportFrom | ast.Call, bool]]:
    """The imports of a file and the calls of `import_module`, each with whether it is below `if TYPE_CHECKING`."""
    text = path.read_text()
    calls = "import_module" in text
    found, left = [], [(node, False) for node in reversed(syntax(path).body)]
    while left:
        node, for_types = left.pop()
        called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Import | ast.ImportFrom) or called.endswith("import_module"):
            found.append((node, for_types))
        for_types = for_types or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        inner = [
            n
            for n in ast.iter_child_nodes(node)
            if calls or isinstance(n, ast.stmt | ast.excepthandler | ast.match_case)
        ]
        left += [(n, for_types) for n in reversed(inner)]
    return found


def package(module: str) -> str:
    """The row of a module in PACKAGES: "tir_mlir.passes.lower" -> "passes"."""
    return module.split(".")[1] if "." in module else module


@cache
def doors() -> set[str]:
    """The modules that are folders."""
    return {module_name(path) for path in sources() if path.name == "__init__.py"}


@cache
def part(module: str) -> str:
    """The folder of a module, without `tir_mlir.`: the row in PARTS, or a package."""
    return (module if module in doors() else module.rpartition(".")[0]).removeprefix("tir_mlir.")


def within(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


def home(name: str, modules: set[str]) -> str:
    """The module of an imported name: itself, or the one that defines it."""
    return name if name in modules else name.rpartition(".")[0]


@cache
def all_modules() -> set[str]:
    return {module_name(path) for path in sources()}


@cache
def edges(types: bool = True) -> list[tuple[str, str, str]]:
    """(importing module, imported module, place) for every import of the project in the project."""
    modules, imports = all_modules(), []
    for path in sources():
        for line, name in imported(path, types):
            if within(name, "tir_mlir") and (to := home(name, modules)) in modules:
                imports.append((module_name(path), to, f"{path.relative_to(ROOT)}:{line}"))
    return imports


def between_packages() -> Iterator[tuple[str, str, str]]:
    """(package, module without `tir_mlir.`, place) for every import of another package, in functions as well."""
    for module, to, place in edges():
        if package(module) != package(to):
            yield package(module), to.removeprefix("tir_mlir."), place


def within_packages() -> Iterator[tuple[str, str, str]]:
    """(part, other part, place) for every import in a package; a door may import what is behind it."""
    for module, to, place in edges():
        own, other = part(module), part(to)
        if package(module) == package(to) != "tir_mlir" and not within(other, own):
            yield own, "." if other == package(to) else other.partition(".")[2], place


def test_every_package_has_its_row():
    assert {package(module) for module in all_modules()} == set(PACKAGES)


def test_packages_import_what_their_rows_say():
    wrong = [
        f"{place}: {own} imports {to}"
        for own, to, place in between_packages()
        if not any(within(to, name) for name in PACKAGES[own].split())
    ]
    wrong += [f"{p}: {own} imports {to}" for own, to, p in within_packages() if to not in PARTS.get(own, "").split()]
    assert not wrong, "\n".join(wrong)


def test_no_row_is_wider_than_its_imports():
    across, inside = list(between_packages()), list(within_packages())
    idle = [
        f"{row}: {name}"
        for row, names in PACKAGES.items()
        for name in names.split()
        if not any(own == row and within(to, name) for own, to, _ in across)
    ]
    used = {(own, to) for own, to, _ in inside}
    idle += [f"{row}: {name}" for row, names in PARTS.items() for name in names.split() if (row, name) not in used]
    assert not idle


def test_packages_have_no_circle():
    """A row names rows above it. Imports in functions count, as the rows hold them."""
    above: set[str] = set()
    for row, names in PACKAGES.items():
        assert {name.partition(".")[0] for name in names.split()} <= above, row
        above.add(row)


def test_parts_have_no_circle():
    """A folder and what is in it may import each other (a registry and its primitives)."""
    graph = {row: {f"{row.partition('.')[0]}.{name}" for name in names.split()} for row, names in PARTS.items()}
    assert not circles({row: {to for to in names if not within(row, to)} for row, names in graph.items()})


def test_modules_import_each_other_in_no_circle():
    """Imports in functions and of doors count, those for types do not."""
    graph: dict[str, set[str]] = {}
    for module, to, _ in edges(types=False):
        if module != to:
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
        if not door.exists() or not ast.get_docstring(syntax(door)):
            wrong.append(f"{folder.relative_to(ROOT)}: no docstring in __init__.py")
    assert not wrong, "\n".join(wrong)


def test_functions_are_short():
    """At most 40 lines, docstring and signature not counted."""
    long = []
    for path in sources():
        for node in ast.walk(syntax(path)):
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


def extension_points() -> Iterator[str]:
    """The full names of what is declared with `@extension_point`."""

    def look(tree: ast.AST, prefix: str) -> Iterator[str]:
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, ast.ClassDef):
                yield from look(node, f"{prefix}.{node.name}")
            elif isinstance(node, ast.FunctionDef):
                if any(ast.unparse(decorator) == "extension_point" for decorator in node.decorator_list):
                    yield f"{prefix}.{node.name}"

    for path in sources():
        yield from look(syntax(path), module_name(path))


def parameters(function: Any) -> list[tuple[str, object]]:
    """Names and defaults of the parameters."""
    return [(p.name, p.default) for p in inspect.signature(function).parameters.values()]


def test_each_extension_point_is_implemented_above_it():
    """By a module that imports it, with the same parameters; the table of modules has no other rows."""
    for door in ("tir_mlir", "tir_mlir.graph", "tir_mlir.schedule"):
        importlib.import_module(door)
    points = set(extension_points())
    assert points == set(extensions.MODULES)
    read = {(module, to) for module, to, _ in edges(types=False)}
    for point in sorted(points):
        below = next(module for module in sorted(all_modules(), key=len, reverse=True) if within(point, module))
        assert (extensions.MODULES[point], below) in read, point
        declared: Any = importlib.import_module(below)
        for name in point.removeprefix(f"{below}.").split("."):
            declared = getattr(declared, name)
        above = extensions.implementation(point)
        first = 1 if "self" in inspect.signature(declared).parameters else 0  # above it has the name of what it is
        assert parameters(declared)[first:] == parameters(above)[first:], point


def test_a_package_has_what_stands_on_it():
    """Built-in intrinsics and graphs are found where only a package below them was imported."""
    code = (
        "from tir_mlir.dialect.computation import TensorIntrin\n"
        "assert TensorIntrin.get('dot_uint8_int8_16x4_x86_avx512_vpdpbusd_512') is not None\n"
        "from tir_mlir.script import parse\n"
        "text = '@R.function\\ndef main(x: R.Tensor((4,), \"float32\")):\\n    return R.nn.relu(x)'\n"
        "assert 'R.nn.relu(x)' in parse(text).script()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
