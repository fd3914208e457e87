"""Exported models: a library without Python, weights in a mapped file, an example in C that is compiled and run."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from harness.graph_cases import mlp, random, run_mlp

from tir_mlir import build
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.packed_functions import register_packed
from tir_mlir.runtime.tools import toolchain


def example_input(*shape: int) -> np.ndarray:
    """What example.c fills inputs with."""
    return ((np.arange(np.prod(shape)) % 13) / 13.0 - 0.5).astype("float32").reshape(shape)


def outcome(folder, libraries: list[str], *args: str) -> subprocess.CompletedProcess:
    program = str(folder / "example")
    toolchain.run("zig", ["cc", str(folder / "example.c"), *libraries, "-o", program, f"-Wl,-rpath,{folder}", "-lm"])
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shipped") / "mlp"
    graph = mlp("n")
    build(graph, threads=1).export(folder)
    return folder, graph


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["mlp.so", "libmlp.a"])
def test_the_example_computes_the_same(exported, kind):
    folder, graph = exported
    for n in (1, 17):
        ran = outcome(folder, [str(folder / kind)], str(folder / "mlp.safetensors"), str(n))
        assert ran.returncode == 0, ran.stderr
        found = np.array(ran.stdout.split(), float).reshape(n, 10)
        np.testing.assert_allclose(found, run_mlp(graph, example_input(n, 33)), rtol=1e-4, atol=1e-5)


@pytest.mark.nightly
def test_a_file_of_other_weights_is_refused(exported, tmp_path):
    folder, _ = exported
    data = (folder / "mlp.safetensors").read_bytes()
    for name, content, why in (
        ("short", data[:-1], "is not as long as the weights of this model"),
        ("other", data.replace(b"w0", b"q0", 1), "has not the weights of this model"),
    ):
        (tmp_path / name).write_bytes(content)
        ran = outcome(folder, [str(folder / "mlp.so")], str(tmp_path / name))
        assert ran.returncode == 1
        assert why in ran.stderr
    assert "cannot be opened" in outcome(folder, [str(folder / "mlp.so")], str(tmp_path / "none")).stderr


@pytest.mark.slow
def test_other_programs_read_the_weights(exported):
    numpy = pytest.importorskip("safetensors.numpy")
    folder, graph = exported
    found = numpy.load_file(folder / "mlp.safetensors")
    names = {name.removesuffix(".panels") for name in found if not name.startswith("__padding__")}
    assert names == set(graph.weights)
    np.testing.assert_array_equal(found["b0"], graph.weights["b0"])


@pytest.mark.slow
def test_an_object_for_another_cpu(tmp_path):
    paths = build(mlp(), target="neon", threads=1).export(tmp_path / "net")
    names = {path.name for path in paths}
    assert names == {"net.safetensors", "net.h", "net.c", "example.c", "net_kernels.o", "net_kernels.h"}
    assert (tmp_path / "net" / "net_kernels.o").read_bytes()[18:20] == b"\xb7\x00"  # AArch64


@pytest.mark.slow
def test_a_module_of_web_assembly(tmp_path):
    paths = build(mlp(), target="wasm_simd", threads=1).export(tmp_path / "net")
    assert {path.name for path in paths} == {"net.safetensors", "net.wasm", "net.js"}


def test_a_model_for_another_cpu_cannot_be_called():
    with pytest.raises(BuildError, match=r"was built for aarch64"):
        build(mlp(), target="neon", threads=1)(random(1, 33))


def test_a_name_that_c_does_not_take_is_refused(tmp_path):
    with pytest.raises(BuildError, match=r"C identifier, not '1st'; fix: name="):
        build(mlp(), threads=1).export(tmp_path, name="1st")


def test_functions_of_python_are_not_exported(tmp_path):
    register_packed("test.python", lambda x, out: np.copyto(out, x), override=True)
    b = GraphBuilder()
    b.output(b.call_packed("test.python", [b.input("x", (3,))], [((3,), "float32")]))
    with pytest.raises(BuildError, match=r"calls test.python of Python.*fix: give it as C"):
        build(b.finish(), threads=1).export(tmp_path / "net")


@pytest.mark.slow
def test_computed_weights_for_another_cpu(tmp_path):
    b = GraphBuilder()
    w = random(4, 3)
    b.output(b.op("matmul", b.input("x", (2, 4)), b.op("exp", b.weight("w", w))))
    build(b.finish(), target="neon", threads=1).export(tmp_path / "net")
    data = (tmp_path / "net" / "net.safetensors").read_bytes()
    head = int.from_bytes(data[:8], "little") + 8
    assert head % 64 == 0
    np.testing.assert_allclose(np.frombuffer(data[head : head + 48], "f").reshape(4, 3), np.exp(w), rtol=1e-5)
