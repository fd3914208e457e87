"""A primitive is five places written by hand, and `make manual`: that of the page, in a copy of the sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT

PAGE = ROOT / "docs" / "internals" / "add-a-primitive.md"
BY_HAND = {
    "tools/manual/loops.py": '''

@example(matmul)
def drop_unit_loop(sch: Schedule):
    k_0, k_1 = sch.split(sch.get_loops("C")[2], factors=[None, 1])
    sch.drop_unit_loop(k_1)


@refused(matmul)
def drop_unit_loop(sch: Schedule):  # noqa: F811
    sch.drop_unit_loop(sch.get_loops("C")[0])
''',
    "tools/fuzzing/steps/wide.py": '''

def drop_unit_loop(c: Choice) -> Arguments:
    return [c.loop()], {}


WIDE_STEPS["drop_unit_loop"] = (drop_unit_loop, 1)
''',
    "test/lit/passes/schedule/loops/drop_unit_loop.py": """\
# RUN: tir-opt %s --emit=script -p 'tir-drop-unit-loop{loop=j}' | FileCheck %s
# RUN: not tir-opt %s -p 'tir-drop-unit-loop{loop=i}' 2>&1 | FileCheck %s --check-prefix=REFUSED

# REFUSED: loop i runs 8 times, not once
# CHECK: for i in range(8):
# CHECK-NEXT: with T.block("B"):
@T.prim_func
def main(B: T.Buffer((8,), "float32")):
    for i, j in T.grid(8, 1):
        with T.block("B"):
            vi = T.axis.spatial(8, i + j)
            B[vi] = T.float32(0)
""",
    "test/passes/schedule/loops/test_drop_unit_loop.py": '''import numpy as np
from tir_mlir import Schedule, build
from tir_mlir.script.parser import parse

TWICE = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i, j in T.grid(8, 1):
        with T.block("B"):
            vi = T.axis.spatial(8, i + j)
            B[vi] = A[vi] * 2.0
"""


def test_the_result_stays():
    sch = Schedule(parse(TWICE))
    i, j = sch.get_loops("B")
    assert sch.can_drop_unit_loop(j) and not sch.can_drop_unit_loop(i)
    sch.drop_unit_loop(j)
    assert len(sch.get_loops("B")) == 1
    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    build(sch, cache=False)(a, b)
    np.testing.assert_array_equal(b, a * 2)
''',
}  # fmt: skip


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The sources with the primitive of the page, where `make manual` was run."""
    copy = tmp_path_factory.mktemp("copy")
    for name in ("dialect", "passes", "tir_mlir", "tools", "docs", "test"):
        shutil.copytree(ROOT / name, copy / name, symlinks=True)  # with the compiled modules
    for name in ("pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, copy / name)
    (source,) = re.findall(r"```python .*?\n(.*?@primitive.*?)```", PAGE.read_text(), re.DOTALL)
    (copy / "passes/schedule/loops/drop_unit_loop.py").write_text(source)
    for name, text in BY_HAND.items():
        with open(copy / name, "a") as file:
            file.write(text)
    for tool in re.findall(r"python (tools/\w+(?:\.py)?)$", _rule("manual"), re.MULTILINE):
        run(copy, tool)
    return copy


def _rule(name: str) -> str:
    return re.findall(rf"^{name}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[0]


def run(copy: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    done = subprocess.run([sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_names_what_is_written_by_hand():
    table = PAGE.read_text().partition("## The five places")[2]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == len(BY_HAND) + 1 == 5


@pytest.mark.slow
@pytest.mark.nightly
def test_make_manual_writes_the_rest(copy):
    methods = (copy / "tir_mlir/schedule/derived_methods.py").read_text()
    assert "    def drop_unit_loop(self, loop: LoopHandle) -> None:\n" in methods
    assert (
        "can_drop_unit_loop = _query(Primitives.drop_unit_loop)"
        in (copy / "tir_mlir/schedule/can_types.py").read_text()
    )
    assert "loop i runs 32 times, not once" in (copy / "docs/reference/primitives/drop_unit_loop.md").read_text()
    assert "[drop_unit_loop](drop_unit_loop.md)" in (copy / "docs/reference/primitives/index.md").read_text()


@pytest.mark.nightly
@pytest.mark.slow
def test_the_primitive_is_a_method_a_pass_and_a_step_of_the_fuzzer(copy):
    assert "  tir-drop-unit-loop{loop}" in run(copy, "-m", "tir_mlir.opt", "--list-passes")
    program = (
        "import sys; sys.path.insert(0, 'tools'); from fuzzing.steps.step import ALL; print('drop_unit_loop' in ALL)"
    )
    assert run(copy, "-c", program) == "True\n"
    tests = ["test/passes/schedule/loops/test_drop_unit_loop.py", "test/project/test_lit_coverage.py"]
    tests += ["test/tir_mlir/schedule/test_explain.py::test_generated_methods_and_static_types_are_up_to_date"]
    run(copy, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--tier", "all", *tests)


def test_a_method_that_needs_more_than_a_signature_is_named():
    sys.path.insert(0, str(ROOT / "tools"))
    import schedule_methods
    from tir_mlir.passes.schedule import PRIMITIVES

    one = PRIMITIVES["transform_block_layout"]
    with pytest.raises(TypeError, match=r"IndexMap.* has no type of a method; write the method in primitives\.py"):
        schedule_methods._method(one.name, one.signature, one.returns)
