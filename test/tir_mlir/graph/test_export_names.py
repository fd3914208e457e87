"""What an exported model calls its inputs and sizes in C, and how its files are linked."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from harness.graph_cases import mlp, run_mlp

from tir_mlir import build
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.runtime.drivers.c_entry import identifier, identifiers
from tir_mlir.runtime.drivers.shared_libraries import openmp
from tir_mlir.runtime.tools import c_tools, toolchain

COMPILERS = ["zig cc", pytest.param("cc", marks=pytest.mark.skipif(not shutil.which("cc"), reason="no cc"))]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("x", "x"), ("A", "A"), ("a.b", "a_b"), ("int", "int_"), ("class", "class_"), ("EOF", "EOF_"), ("3d", "v3d"),
     ("linux", "linux_"), ("int64_t", "int64_t_"), ("", "v"), ("__x86_64__", "v__x86_64__"), ("_Bool", "v_Bool"),
     ("_x", "_x"), ("naïve", "na_ve")],
)  # fmt: skip
def test_a_name_in_c(name, wanted):
    assert identifier(name) == wanted


def test_names_in_c_differ():
    assert identifiers(["x", "x", "x_", "int", "int_", "a-b", "a_b", "i"], {"i"}) == [
        "x", "x_", "x__", "int_", "int__", "a_b", "a_b_", "i_",
    ]  # fmt: skip


INPUTS = (
    "model arena i argc argv int class EOF NULL linux errno size slot total error layout x out net net_run net_error "
    "net_kernels net_kernels_error net_model malloc printf main weights lacking a.b a_b 3d count_x uint8_t __x86_64__"
).split()
SIZES = ["model", "x", "int", "argc", "total", "out", "i", "net_arena_bytes"]


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    folder = tmp_path_factory.mktemp("named")
    b = GraphBuilder("main")
    total = None
    for number, name in enumerate(INPUTS):
        part = b.op("sum", b.input(name, (SIZES[number % len(SIZES)], 2)))
        total = part if total is None else b.op("add", total, part)
    b.output(total)
    build(b.finish(), threads=1).export(folder, "net")
    return folder


@pytest.mark.slow
def test_names_that_c_has_already_compile(named, tmp_path):
    for source in ("net.c", "example.c"):
        c_tools.compile_c(named / source, tmp_path / "x.o", f"-I{named}", "-Wall", "-Werror")
    assert "the size int is the parameter int_" in (named / "net.h").read_text()


@pytest.mark.nightly
@pytest.mark.parametrize("compiler", COMPILERS)
def test_each_name_is_the_parameter_of_its_input(named, compiler):
    total = float(run(named, commands(named)[1], compiler, *"3" * len(SIZES)))
    assert total == pytest.approx(len(INPUTS) * filled(3, 2).sum(), rel=1e-4)


def filled(*shape: int) -> np.ndarray:
    """What the example fills inputs with."""
    return ((np.arange(np.prod(shape)) % 13) / 13.0 - 0.5).astype("float32").reshape(shape)


def commands(folder: Path) -> list[str]:
    """How the example says it is compiled."""
    return re.findall(r"^   (cc .*)$", (folder / "example.c").read_text(), re.MULTILINE)


def run(folder: Path, command: str, compiler: str, *sizes: str) -> str:
    """Compile the example by a command, with another compiler, and run it."""
    words = command.replace("'", "").split()[1:]
    zig = [toolchain.find("zig").path, "cc"] if compiler == "zig cc" else [compiler]
    subprocess.run([*zig, *words], cwd=folder, check=True, capture_output=True)
    ran = subprocess.run(["./example", "net.safetensors", *sizes], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def parallel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parallel") / "net"
    graph = mlp(64, (512, 1024, 10))
    build(graph, threads=2).export(folder, "net")
    return folder, graph


@pytest.mark.nightly
@pytest.mark.slow
def test_the_openmp_runtime_is_beside_the_library(parallel):
    folder, _ = parallel
    runtime = Path(openmp()).resolve()
    assert (folder / runtime.name).read_bytes() == runtime.read_bytes()
    code = (folder / "net.so").read_bytes()
    assert b"$ORIGIN\0" in code and runtime.name.encode() + b"\0" in code
    assert str(runtime.parent).encode() not in code


@pytest.mark.nightly
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("kind", ["net.so", "libnet.a"])
def test_the_example_is_compiled_as_it_says(parallel, kind, compiler):
    folder, graph = parallel
    (command,) = [c for c in commands(folder) if kind in c]
    found = np.array(run(folder, command, compiler).split(), float).reshape(64, 10)
    np.testing.assert_allclose(found, run_mlp(graph, filled(64, 512)), rtol=1e-3, atol=1e-4)


@pytest.mark.slow
def test_without_parallel_loops_no_runtime_goes_along(tmp_path):
    paths = build(mlp(), threads=1).export(tmp_path, "net")
    assert not any("omp" in path.name for path in paths)
    assert commands(tmp_path) == [
        "cc example.c net.so -o example -Wl,-rpath,'$ORIGIN'",
        "cc example.c libnet.a -o example -lm",
    ]
