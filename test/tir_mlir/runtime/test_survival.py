"""Robustness of a process: forks, Ctrl-C at any point, a full disk, a schedule in each thread."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness import ROOT

from tir_mlir.runtime.drivers import shared_libraries
from tir_mlir.runtime.llvm import llvm_c

HEAD = '''
import os, random, signal, sys, threading, time
import numpy as np
from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.script.parser import parse

TEXT = """
@T.prim_func
def main(X: T.Buffer((256,), "float32"), Y: T.Buffer((256,), "float32")):
    for i in range(256):
        with T.block("Y"):
            vi = T.axis.spatial(256, i)
            Y[vi] = X[vi] + T.float32({k})
"""

def scheduled(k):
    sch = Schedule(parse(TEXT.format(k=k)))
    outer, inner = sch.split(sch.get_loops("Y")[0], [None, 16])
    sch.parallel(outer)
    sch.vectorize(inner)
    return sch

def right(lib, k):
    y = np.zeros(256, "float32")
    lib(np.ones(256, "float32"), y)
    return bool((y == k + 1).all())
'''


def run(code, folder, **variables):
    """What a process of its own prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TIR_CACHE_DIR": str(folder), **variables}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", HEAD + code],
        env=environment,
        text=True,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split("\n")[:-1]


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_a_forked_process_runs_schedules_and_builds(tmp_path):
    code = """
lib = build(scheduled(1), cache=False)
assert right(lib, 1)
for _ in range(2):  # a child, and the parent again
    child = os.fork()
    if not child:
        signal.alarm(60)
        print(right(lib, 1), right(build(scheduled(2), cache=False), 2), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print(right(build(scheduled(3), cache=False), 3), flush=True)
"""
    assert run(code, tmp_path) == ["True True", "True"] * 2


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_a_fork_during_another_threads_work_is_reported(tmp_path):
    code = """
from tir_mlir.schedule import executor
inside, done, verify = threading.Event(), threading.Event(), executor.verify
def slowly(*args, **options):
    inside.set()
    done.wait()
    verify(*args, **options)
executor.verify = slowly
thread = threading.Thread(target=scheduled, args=(1,))
thread.start()
inside.wait()
child = os.fork()
if not child:
    signal.alarm(60)
    try:
        scheduled(1)
    except TirError as error:
        print(type(error).__name__, error, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
done.set()
thread.join()
print(right(build(scheduled(1)), 1))
"""
    told, parent = run(code, tmp_path)
    assert told.startswith("ForkError this process was forked while another thread was active in MLIR")
    assert parent == "True"


def test_ctrl_c_at_any_moment(tmp_path, tier):
    """After each interrupt the schedule is as it was or a step further, and everything still works."""
    code = """
random.seed(13)
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
hit = 0
sch = scheduled(1)
right(build(sch), 1)  # loaded and warm
for number in range(COUNT):
    sch = Schedule(parse(TEXT.format(k=number)))
    steps = len(sch.trace)
    signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0005, 0.05))
    try:
        try:
            outer, inner = sch.split(sch.get_loops("Y")[0], [None, 16])
            sch.parallel(outer)
            sch.vectorize(inner)
            right(build(sch), number)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        hit += 1
    again = Schedule(parse(TEXT.format(k=number)))
    sch.trace.apply_to_schedule(again)
    assert again.mod.script() == sch.mod.script()  # the trace tells all that was done
    assert right(build(sch), number), number
print(hit > 10)
"""
    assert run(code.replace("COUNT", "600" if tier == "all" else "40"), tmp_path) == ["True"]
    assert not [p.name for p in tmp_path.rglob("new-*")][5:]  # few unfinished files; they go in time


@pytest.mark.nightly
def test_entered_contexts_are_exited_at_exit(tmp_path):
    code = """
from mlir import ir
from tir_mlir.dialect.ir import enter_context
enter_context().__enter__()
module = ir.Module.create()
ir.InsertionPoint(module.body).__enter__()
ir.Location.name("deep").__enter__()
print(right(build(scheduled(1)), 1))
"""
    assert run(code, tmp_path) == ["True"]


@pytest.mark.nightly
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs limits of a process")
def test_a_disk_that_takes_no_more(tmp_path):
    code = f"""
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
made = build(scheduled(2), driver="tools")
other = made.export({str(tmp_path / "kept.so")!r})
before = [p.read_bytes() for p in other]
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
sys.stdout.write(str(right(build(scheduled(1)), 1)) + "\\n")  # the cache keeps nothing; the program runs
try:
    build(scheduled(3), driver="tools")
except TirError as error:
    print(type(error).__name__, "llc failed" in str(error) or "no temporary file" in str(error))
try:
    made.export({str(tmp_path / "kept.so")!r})
except TirError as error:
    print(type(error).__name__, "llc failed" in str(error) or "cannot be written" in str(error))
print([p.read_bytes() for p in other] == before)
"""
    lines = run(code, tmp_path / "cache")
    assert lines == ["True", "ToolError True", "ToolError True", "True"]
    runtime = Path(shared_libraries.openmp()).name  # comes with a library whose loops run in threads
    assert {p.name for p in tmp_path.iterdir() if p.is_file()} == {"kept.h", "kept.o", "kept.so", runtime}


def died(code, folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TIR_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", HEAD + code], env=environment, capture_output=True, check=False)
    return done.returncode < 0


@pytest.mark.nightly
def test_a_crash_in_llvm_is_not_met_twice(tmp_path):
    """The process is lost; the next one knows, and has the tools build the program."""
    code = """
from tir_mlir.runtime.drivers import jit
jit.compile_program = lambda *_, **__: os.abort()
build(scheduled(1))
"""
    assert died(code, tmp_path)
    code = """
import pathlib, warnings
from tir_mlir.passes.lower import LoweringWarning
for _ in range(2):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        lib = build(scheduled(1))
    print(right(lib, 1), ["the tools driver is used" in str(w.message) for w in said if w.category is LoweringWarning])
[note] = pathlib.Path(os.environ["TIR_CACHE_DIR"], "crashes").iterdir()
note.unlink()
print(right(build(scheduled(1)), 1))
"""
    assert run(code, tmp_path) == ["True [True]", "True [True]", "True"]


def test_a_crash_in_a_pass_is_not_met_twice(tmp_path):
    code = """
from dataclasses import replace
from tir_mlir.passes.lower.registry import LOWERINGS
LOWERINGS["tir-lower-blocks"] = replace(LOWERINGS["tir-lower-blocks"], run=lambda _: os.abort())
build(scheduled(1))
"""
    assert died(code, tmp_path)
    code = """
import pathlib, re
try:
    build(scheduled(1))
except TirError as error:
    print(type(error).__name__, "an MLIR pass crashed" in str(error))
    path = pathlib.Path(re.search(r"the program is in (\\S+):", str(error))[1])
print("func.func @main" in path.read_text())
path.unlink()
print(right(build(scheduled(1)), 1))
"""
    assert run(code, tmp_path) == ["BuildError True", "True", "True"]


@pytest.mark.nightly
def test_schedules_in_several_threads(tmp_path):
    code = """
found = {}
def work(number):
    found[number] = all(right(build(scheduled(10 * number + k)), 10 * number + k) for k in range(4))
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(found == dict.fromkeys(range(4), True))
"""
    assert run(code, tmp_path) == ["True"]


@pytest.mark.nightly
def test_buffers_that_do_not_fit_the_memory(tmp_path):
    """Compiled code that does not get its memory would write to address 0."""
    code = """
from tir_mlir import interpret
SPREAD = \"\"\"
@T.prim_func
def main(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    B = T.alloc_buffer(({n},), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi * {step}] = X[vi]
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = B[vi * {step}]
\"\"\"
sch = Schedule(parse(SPREAD.format(n=2**50, step=2**47)))
sch.vectorize(sch.get_loops("Y")[0])
x, y = np.ones(8, "float32"), np.zeros(8, "float32")
for call in (
    lambda: build(sch), lambda: build(sch), lambda: build(sch, driver="tools"),
    sch.verify, lambda: sch.verify("full"), lambda: interpret(sch, x, y),
):
    try:
        call()
    except (TirError, MemoryError) as error:
        print(type(error).__name__, "memory" in str(error) or "iterations" in str(error))
build(parse(SPREAD.format(n=2**20, step=2**17)))(x, y)
print((y == 1).all())
"""
    refused = ["BuildError True"] * 3 + ["NotChecked True"] * 2 + ["MemoryError True"]
    assert run(code, tmp_path) == [*refused, "True"]


def test_threads_look_llvm_up_once(monkeypatch):
    made = []

    def slowly():
        time.sleep(0.05)
        made.append("functions")
        return made[0]

    monkeypatch.setattr(llvm_c, "_found", [])
    monkeypatch.setattr(llvm_c, "_look_up", slowly)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: llvm_c.llvm(), range(4))) == made * 4
    assert made == ["functions"]
