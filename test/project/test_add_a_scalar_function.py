"""A scalar function is one record: those of the page, in a copy of the sources, work in all forms."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT

PAGE = (ROOT / "docs" / "internals" / "add-a-scalar-function.md").read_text(encoding="utf-8")


def block(title: str) -> str:
    (text,) = re.findall(rf'```python title="{title}"\n(.*?)```', PAGE, re.DOTALL)
    return text


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The sources with the records of the page, and the stubs that the tool writes."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("dialect", "passes", "tir_mlir", "tools", "test"):
        shutil.copytree(ROOT / name, copy / name, symlinks=True)  # with the compiled modules
    shutil.copy(ROOT / "pyproject.toml", copy)
    records = copy / "dialect" / "ops" / "functions.py"
    text, removed = re.subn(r'^    _op\("cbrt",.*\n', "", records.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert removed == 1  # the record in MLIR_ONLY
    for group in ("FLOAT_FUNCTIONS", "COMPOSED"):
        assert text.count(f"{group} = (\n") == 1
        text = text.replace(f"{group} = (\n", f"{group} = (\n{block(group)}")
    records.write_text(text, encoding="utf-8")
    run(copy, "tools/scalar_stubs.py")
    return copy


def run(copy: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    done = subprocess.run([sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.slow
def test_the_program_prints_what_the_page_shows(copy):
    pytest.importorskip("torch")
    (copy / "program.py").write_text(block("program.py"), encoding="utf-8")
    (shown,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert run(copy, "program.py") == shown


@pytest.mark.slow
def test_the_stubs_and_the_tests_of_records_know_it(copy):
    stub = (copy / "tir_mlir/te/scalar_functions.pyi").read_text(encoding="utf-8")
    assert "def cbrt(x: ExprLike) -> Expr:\n" in stub
    tests = ["test/dialect/ops/test_scalar_functions.py", "test/tir_mlir/script/test_operations.py"]
    run(
        copy,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "--tier",
        "all",
        *tests,
        "-k",
        "cbrt or deg2rad or only_one",
    )
