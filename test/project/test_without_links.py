"""A checkout in which git made no symbolic links (`git clone -c core.symlinks=false`, the default on Windows) works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT

pytestmark = pytest.mark.slow
PROGRAM = """
import multiprocessing, operator, pickle
from tir_mlir import Schedule, build
from tir_mlir.script import parse, tir as T
from tir_mlir.runtime.cache import fingerprint
from programs.matmul import matmul

if __name__ == "__main__":
    import tir_mlir.dialect, tir_mlir.passes.lower.llvm

    print(tir_mlir.dialect.__file__, tir_mlir.passes.lower.llvm.__file__)
    sch = Schedule(matmul(8, 8, 8))
    sch.split(sch.get_loops(sch.get_child_blocks(sch.get_block("root"))[0])[0], [2, None])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(operator.methodcaller("script"), (sch.mod,)) == sch.mod.script()
    assert pickle.loads(pickle.dumps(sch)).mod.script() == sch.mod.script()
    build(sch.mod, cache=False)
    assert "passes/lower/pipeline.py" in fingerprint._sources()
"""
TESTS = (
    "test/passes/schedule/loops/test_merge.py",
    "test/tir_mlir/script/test_module.py",
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of this checkout where each link is a file with its target, as git writes it."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("tir_mlir", "dialect", "passes", "test", "tools"):
        shutil.copytree(ROOT / name, copy / name, symlinks=True)  # with the compiled modules
    for path in [path for path in copy.rglob("*") if path.is_symlink()]:
        target = os.readlink(path)
        path.unlink()
        path.write_text(target)
    shutil.copy(ROOT / "pyproject.toml", copy)
    assert (copy / "tir_mlir" / "dialect").is_file() or not (ROOT / "tir_mlir" / "dialect").is_symlink()
    return copy


def run(checkout: Path, *command: str) -> str:
    env = {**os.environ, "PYTHONPATH": f"{checkout}{os.pathsep}{checkout / 'test'}"}
    done = subprocess.run(
        [sys.executable, *command], cwd=checkout, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.nightly
def test_programs_are_built_and_sent_to_other_processes(checkout):
    (checkout / "program.py").write_text(PROGRAM)
    assert run(checkout, "program.py").split() == [
        str(checkout / "dialect" / "__init__.py"),
        str(checkout / "passes" / "lower" / "llvm" / "__init__.py"),
    ]


@pytest.mark.nightly
def test_commands(checkout):
    assert "tir-lower" in run(checkout, "-m", "tir_mlir.opt", "--list-passes")


def test_tests(checkout):
    assert " passed" in run(checkout, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-v", *TESTS)
