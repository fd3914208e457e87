"""`python -m tir_mlir.compat FILE.py`: arguments, exit status, and where tracebacks point."""

import subprocess
import sys
from pathlib import Path

from harness import ROOT

PROGRAM = """
from __future__ import annotations
import sys
import tvm
from tvm.script import tir as T

@tvm.script.ir_module
class Copy:
    @T.prim_func
    def main(A: T.Buffer[16, "float32"], B: T.Buffer[16, "float32"]):
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = A[vi]
"""


def run(folder: Path, program: str, *args: str) -> subprocess.CompletedProcess:
    path = folder / "program.py"
    path.write_text(program)
    command = [sys.executable, "-m", "tir_mlir.compat", str(path), *args]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_runs_as_the_main_program(tmp_path):
    (tmp_path / "beside.py").write_text("word = 'beside'")
    end = "import beside\nprint(__name__, __file__, sys.argv[1:], beside.word)\nsys.exit(3)\n"
    done = run(tmp_path, PROGRAM + end, "a", "--help")
    assert done.stdout.split() == ["__main__", str(tmp_path / "program.py"), "['a',", "'--help']", "beside"]
    assert (done.returncode, done.stderr) == (3, "")


def test_tracebacks_start_in_the_program(tmp_path):
    done = run(tmp_path, PROGRAM + "def f():\n    raise KeyError('x')\nf()\n")
    first = done.stderr.splitlines()[1]
    assert done.returncode == 1
    assert f'File "{tmp_path}/program.py", line 17, in <module>' in first
    assert "tir_mlir/compat/run.py" not in done.stderr and "KeyError: 'x'" in done.stderr


def test_an_error_in_a_program_shows_its_line(tmp_path):
    done = run(tmp_path, PROGRAM.replace("range(16)", "range(15)"))
    assert done.returncode == 1
    assert f"{tmp_path}/program.py:1" in done.stderr and "vi = T.axis.spatial(16, i)" in done.stderr


def test_a_future_import_of_ours_is_not_the_programs(tmp_path):
    done = run(tmp_path, "def f(a: undefined): ...\n")
    assert done.returncode == 1 and "NameError" in done.stderr


def test_syntax_errors_and_missing_files(tmp_path):
    done = run(tmp_path, "x = 1\nimport tvm\nfrom __future__ import annotations\n")
    assert done.returncode == 1 and "program.py" in done.stderr and "line 3" in done.stderr
    command = [sys.executable, "-m", "tir_mlir.compat"]
    missing = subprocess.run([*command, "no_such.py"], capture_output=True, text=True, cwd=ROOT)
    assert (missing.returncode, missing.stderr) == (2, "tir_mlir.compat: no_such.py: No such file or directory\n")
    usage = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert usage.returncode == 2 and "FILE.py" in usage.stderr
    helped = subprocess.run([*command, "--help"], capture_output=True, text=True, cwd=ROOT)
    assert helped.returncode == 0 and "FILE.py" in helped.stdout


TODAY = """
import numpy as np
import tvm
from tvm import s_tir
from tvm.script import ir as I
from tvm.script import tirx as T

@I.ir_module
class Relu:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        Y = T.sblock_alloc_buffer((64,))
        for i in range(64):
            with T.sblock("Y"):
                vi = T.axis.spatial(64, i)
                Y[vi] = A[vi] * T.float32(2)
        for i in range(64):
            with T.sblock("B"):
                vi = T.axis.spatial(64, i)
                B[vi] = T.max(Y[vi], T.float32(0))

sch = s_tir.Schedule(Relu)
outer, inner = sch.split(sch.get_loops(sch.get_sblock("B"))[0], factors=[None, 16])
sch.compute_at(sch.get_sblock("Y"), outer)
sch.vectorize(inner)
a = tvm.runtime.tensor(np.linspace(-1, 1, 64, dtype="float32"))
b = tvm.runtime.empty((64,), "float32", device=tvm.cpu())
tvm.compile(sch.mod, target=tvm.target.Target("llvm"))(a, b)
np.testing.assert_allclose(b.numpy(), np.maximum(2 * a.numpy(), 0))
print(tvm.ir.structural_equal(sch.mod, sch.mod), tvm.__version__)
"""


def test_a_program_in_todays_spelling(tmp_path):
    done = run(tmp_path, TODAY)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("True 0.")
