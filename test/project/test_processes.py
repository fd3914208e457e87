"""One module starts processes, one forks this one."""

from __future__ import annotations

import ast

from project.test_layers import sources, syntax

DOORS = ("tir_mlir/processes/commands.py", "tir_mlir/processes/forked.py")
MODULES = ("subprocess", "pty", "multiprocessing", "_posixsubprocess", "concurrent.futures.process")
STARTS = ("fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp", "startfile")
ASYNCHRONOUS = ("create_subprocess_exec", "create_subprocess_shell", "ProcessPoolExecutor")


def starts(tree: ast.Module) -> list[str]:
    """Where a file names what starts processes: lines and words."""
    found = []
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name in MODULES]
        elif isinstance(node, ast.ImportFrom):
            pipes = node.module == "multiprocessing" and all(alias.name == "Pipe" for alias in node.names)
            taken = [a.name for a in node.names if a.name in (*STARTS, *ASYNCHRONOUS) or a.name.startswith("spawn")]
            names = taken if node.module not in MODULES or pipes else [str(node.module)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            of_os = node.value.id == "os" and (node.attr in STARTS or node.attr.startswith(("exec", "spawn")))
            names = [node.attr] if of_os or node.attr in ASYNCHRONOUS else []
        found += [f"{getattr(node, 'lineno')}: {name}" for name in names]  # noqa: B009
    return found


def test_nothing_else_starts_a_process():
    from harness import ROOT

    places = {str(path.relative_to(ROOT)): starts(syntax(path)) for path in sources()}
    wrong = [f"{name}:{place}" for name, lines in places.items() for place in lines if name not in DOORS]
    assert not wrong, "start it with tir_mlir.processes:\n" + "\n".join(wrong)
    assert all(places[name] for name in DOORS)


def test_each_way_to_start_one_is_seen():
    for text in (
        "import subprocess",
        "from subprocess import run",
        "import multiprocessing",
        "from multiprocessing import Pipe, Process",
        "import os\nos.system('x')",
        "import os\nos.spawnv(0, 'x', [])",
        "import os\nos.execv('x', [])",
        "from os import posix_spawn",
        "import asyncio\nasyncio.create_subprocess_exec('x')",
        "from concurrent.futures import ProcessPoolExecutor",
    ):
        assert starts(ast.parse(text)), text
    assert not starts(ast.parse("from multiprocessing import Pipe\nfrom multiprocessing.connection import Connection"))
