"""Programs of users pass type checkers in their default modes, and editors know the types of a schedule's steps."""

import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tir_mlir import Schedule

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.py"))

needs_pyright = pytest.mark.skipif(not importlib.util.find_spec("basedpyright"), reason="needs basedpyright")
needs_mypy = pytest.mark.skipif(not importlib.util.find_spec("mypy"), reason="needs mypy")


def check(tool: str, *options: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a checker away from this project's own settings, as a user would."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", tool, *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env, check=False)


def pyright(files: list[Path], folder: Path, mode: str = "recommended") -> list[dict]:
    """What pyright reports on files, in its own words. It finds the package where Python does, as an installed one."""
    settings = {"pythonVersion": "3.10", "typeCheckingMode": mode}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    for file in files:
        (folder / file.name).write_text(file.read_text())
    done = check(
        "basedpyright", "--outputjson", "--pythonpath", sys.executable, *(f.name for f in files), folder=folder
    )
    return json.loads(done.stdout)["generalDiagnostics"]


WRONG = 'scheduled().split("i", [4])\nscheduled().no_such_step()\nmatmul.showw()\n'
REVEALED = {
    'sch.get_block("C")': "BlockHandle",
    'sch.get_loops("C")': "list[LoopHandle]",
    'sch.split(sch.get_loops("C")[0], [None, 4])': "list[LoopHandle]",
    'sch.fuse(*sch.get_loops("C"))': "LoopHandle",
    'sch.cache_read("C", 0, "local")': "BlockHandle",
    'sch.sample_perfect_tile(sch.get_loops("C")[0], n=2)': "list[ExprHandle | None]",
    'sch.can_split(sch.get_loops("C")[0], [None, 4])': "Answer",
    "sch.mod": "IRModule",
    "sch.mod.script()": "str",
    'sch.mod["main"]': "PrimFunc",
    "sch.verify()": "Result",
    "sch.history": "History",
    "sch.trace": "Trace",
    "sch.copy()": "Schedule",
    "build(sch)": "Library",
    "build(sch).timing": "Timing",
}


@pytest.fixture(scope="module")
def reported(tmp_path_factory) -> dict[str, list[dict]]:
    """What one run of pyright reports on each file: the programs, one with mistakes, one that asks for types."""
    folder = tmp_path_factory.mktemp("checked")
    (folder / "sources").mkdir()
    wrong, asked = folder / "sources" / "wrong.py", folder / "sources" / "asked.py"
    wrong.write_text(f"{PROGRAMS[0].read_text()}\n\n{WRONG}")
    lines = ["from tir_mlir import Schedule, build", "from tir_mlir.script import IRModule", ""]
    lines += ["", "def ask(mod: IRModule) -> None:", "    sch = Schedule(mod)"]
    asked.write_text("\n".join([*lines, *(f"    reveal_type({call})" for call in REVEALED)]) + "\n")
    found: dict[str, list[dict]] = {}
    for diagnostic in pyright([*PROGRAMS, wrong, asked], folder):
        found.setdefault(Path(diagnostic["file"]).name, []).append(diagnostic)
    return found


def errors(diagnostics: list[dict]) -> list[str]:
    return [d["message"] for d in diagnostics if d["severity"] == "error"]


@needs_pyright
def test_pyright_accepts_programs(reported):
    assert len(PROGRAMS) == 2
    assert [errors(reported.get(program.name, [])) for program in PROGRAMS] == [[], []]


@pytest.mark.nightly
@needs_pyright
def test_pyright_accepts_programs_in_its_own_default_mode(tmp_path):
    assert errors(pyright(PROGRAMS, tmp_path, "standard")) == []


@needs_pyright
def test_pyright_still_checks_the_schedule(reported):
    split, step, show = errors(reported["wrong.py"])
    assert "LoopHandle" in split and "split" in split
    assert "no_such_step" in step and "Schedule" in step
    assert "showw" in show and "PrimFunc" in show


@needs_pyright
def test_types_are_visible_to_an_editor(reported):
    found = [m for d in reported["asked.py"] if (m := re.search(r'Type of "(.*)" is "(.*)"', d["message"]))]
    assert {m[1]: m[2] for m in found} == REVEALED


@pytest.mark.nightly
@needs_mypy
def test_mypy_accepts_programs(tmp_path):
    options = ["--follow-imports=silent", "--cache-dir", str(tmp_path / "cache")]  # as for an installed package
    done = check("mypy", *options, *map(str, PROGRAMS), folder=tmp_path)
    assert done.stdout.strip().endswith("no issues found in 2 source files"), done.stdout + done.stderr


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_the_programs_run(program, tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr


def test_steps_have_full_signatures():
    """What completion shows: a type for each parameter and result of each public method, its doc where it has one."""
    for name, method in inspect.getmembers(Schedule, inspect.isfunction):
        if name.startswith("_"):
            continue
        signature = inspect.signature(method)
        assert signature.return_annotation is not inspect.Signature.empty, name
        for parameter in list(signature.parameters.values())[1:]:
            assert parameter.annotation is not inspect.Parameter.empty, f"{name}({parameter.name})"


def test_the_package_is_marked_as_typed():
    assert (ROOT / "tir_mlir" / "py.typed").is_file()
