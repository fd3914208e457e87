"""Exported models: a library without Python, weights in a mapped file, an example in C that is compiled and run."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest
from harness import emulate
from harness.graph_cases import mlp, random, run_mlp

from tir_mlir import build, target
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.packed_functions import register_packed
from tir_mlir.graph.shipping import c_model
from tir_mlir.runtime.tools import toolchain
from tir_mlir.target import named
from tir_mlir.target.host import architecture, features


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


WEB = """
import { open } from "./net.js";
const said = (f) => { try { f(); return "nothing"; } catch (e) { return `${e.name}: ${e.message}`; } };
const filled = (count) => Float32Array.from({ length: count }, (_, i) => (i % 13) / 13 - 0.5);
const model = await open();
const found = [5, 1, 17].map((n) => model.run({ data: filled(n * 33), shape: [n, 33] })[0]);
const short = await open(new Uint8Array(3)).catch((e) => e.message);
console.log(JSON.stringify([found.map((y) => [y.shape, [...y.data]]), said(() => model.run()), short]));
"""


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
def test_a_module_of_web_assembly_runs_in_node(tmp_path):
    graph, folder = mlp("n"), tmp_path / "net"
    paths = build(graph, target="wasm_simd", threads=1).export(folder)
    assert {path.name for path in paths} == {"net.safetensors", "net.wasm", "net.js"}
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "run.js").write_text(WEB)
    ran = subprocess.run(["node", "run.js"], cwd=folder, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    results, none, short = json.loads(ran.stdout)
    for n, (shape, values) in zip((5, 1, 17), results, strict=True):
        wanted = run_mlp(graph, example_input(n, 33))
        np.testing.assert_allclose(np.array(values).reshape(shape), wanted, rtol=1e-4, atol=1e-5)
    assert none.startswith("TypeError: net takes 1 inputs: net(x: Buffer[(n, 33), ")
    assert short == "net: the file is not as long as the weights of this model"


EMULATED = {"aarch64": emulate.arm(), "riscv64": emulate.riscv()}


@pytest.mark.nightly
@pytest.mark.parametrize("name", [name for name in target.NAMES if name != "wasm_simd"])
def test_the_example_runs_on_every_target(name, tmp_path):
    """Linked with a C library of zig, on this machine or emulated."""
    cpu, graph = target.NAMES[name], mlp("n")
    build(graph, target=name, threads=1).export(tmp_path / "net")
    machine = EMULATED.get(cpu.arch)
    apple = "-apple-" in cpu.triple
    triple = "aarch64-macos" if apple else "x86_64-linux-musl" if machine is None else machine.triple
    linked = [] if apple else ["-static"]
    sources = [str(tmp_path / "net" / file) for file in ("example.c", "net.c", "net_kernels.o")]
    program = str(tmp_path / "example")
    toolchain.run(
        "zig", ["cc", "-target", triple, *linked, "-fno-sanitize=all", *sources, "-o", program, "-lm"], timeout=1200
    )
    if apple or (machine is None and cpu.hindrance) or (machine is not None and machine.path is None):
        pytest.skip(f"{name} cannot run here")
    before = [] if machine is None else [str(machine.path), "-cpu", machine.cpu]
    args = [*before, program, str(tmp_path / "net" / "net.safetensors"), "5"]
    ran = subprocess.run(args, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    found = np.array(ran.stdout.split(), float).reshape(5, 10)
    np.testing.assert_allclose(found, run_mlp(graph, example_input(5, 33)), rtol=1e-4, atol=1e-5)


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


MISUSE = """
#include <stdio.h>
#include <stdlib.h>
#include "net/net.h"

int main(int argc, char **argv) {
  static float x[33 * 64], y[10 * 64];
  static char bytes[1 << 16] __attribute__((aligned(64)));
  net_model *model = net_open(argv[1]);
  if (!model) return puts(net_error()), 1;
  int64_t sizes[] = {1, 33, 8};
  for (int i = 0; i < 3; i++) printf("%d %s\\n", net_run(model, sizes[i], x, y, bytes), i < 2 ? net_error() : "");
  printf("%d %s\\n", net_run(NULL, 8, x, y, bytes), net_error());
  printf("%d %s\\n", net_run(model, 8, x, NULL, bytes), net_error());
  printf("%d %s\\n", net_run(model, 8, x, y, NULL), net_error());
  printf("%d %s\\n", net_run(model, 8, x, y, bytes + 8), net_error());
  return 0;
}
"""


@pytest.fixture(scope="module")
def ranged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranged")
    graph = mlp("n")
    with enter_context():
        attrs.put(graph.func.op, encoding.RANGES, {"n": [2, 32]})
    build(graph, threads=1).export(folder / "net")
    (folder / "misuse.c").write_text(MISUSE)
    toolchain.run("zig", ["cc", str(folder / "misuse.c"), str(folder / "net" / "net.so"), "-o", str(folder / "misuse")])
    return folder


@pytest.mark.nightly
def test_a_run_with_arguments_that_do_not_fit_is_an_error(ranged):
    net = ranged / "net"
    ran = subprocess.run([ranged / "misuse", net / "net.safetensors"], capture_output=True, text=True, timeout=60)
    assert ran.stdout.splitlines() == [
        "-1 net_run: the size n must be 2 to 32",
        "-1 net_run: the size n must be 2 to 32",
        "0 ",
        "-1 net_run: the model is NULL",
        "-1 net_run: out is NULL",
        "-1 net_run: the arena is NULL",
        "-1 net_run: the arena is not at a multiple of 64 bytes",
    ]


@pytest.mark.nightly
def test_a_cpu_that_lacks_an_instruction_set_is_refused(ranged, tmp_path, monkeypatch):
    lacking = next(name for name in c_model._CPUID if name not in features())
    monkeypatch.setattr(c_model, "features_of_host", lambda: {*features(), lacking})
    net = tmp_path / "net"
    build(mlp("n"), threads=1).export(net)
    ran = outcome(net, [str(net / "net.so")], str(net / "net.safetensors"), "4")
    assert ran.returncode == 1
    assert ran.stderr == f"the code of net uses {lacking}, which this CPU or its system lacks\n"


@pytest.mark.nightly
@pytest.mark.skipif(architecture() != "x86_64", reason="CPUID is of x86")
def test_each_instruction_set_is_found_where_the_system_tells_it(tmp_path):
    """The rows of the table, one by one, against what Linux says of this CPU."""
    rows = "\n".join(
        f'  puts("{name}"); puts(one({leaf}u, {subleaf}, {word}, {bit}, {saved}u) ? "1" : "0");'
        for name, (leaf, subleaf, word, bit, saved) in c_model._CPUID.items()
    )
    source = c_model.lacking_code("llvm")
    head, _, body = source.partition("static const char *lacking(void)")
    code = f"""#include <stdio.h>
#include <stddef.h>
{head}
static const char *lacking(void){body}
static int one(unsigned leaf, unsigned subleaf, unsigned word, unsigned bit, unsigned mask) {{
  unsigned saved = 0, high, words[4];
  __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  return __get_cpuid_count(leaf, subleaf, words, words + 1, words + 2, words + 3) && words[word] >> bit & 1 &&
         (saved & mask) == mask;
}}
int main(void) {{
  const char *found = lacking();
  if (found) return puts(found), 1;
{rows}
}}"""
    (tmp_path / "a.c").write_text(code)
    toolchain.run("zig", ["cc", str(tmp_path / "a.c"), "-o", str(tmp_path / "a")])
    ran = subprocess.run([tmp_path / "a"], capture_output=True, text=True, timeout=60, check=True).stdout.split()
    found = {name for name, has in zip(ran[::2], ran[1::2], strict=True) if has == "1"}
    assert found == set(c_model._CPUID) & features()


@pytest.mark.parametrize(
    ("target", "words"), [("neon_i8mm", ["dotprod", "i8mm"]), ("avx2", ["avx2", "fma"]), ("neon", [])]
)
def test_what_a_target_needs_is_in_its_loader(target, words):
    code = c_model.lacking_code(named(target))
    assert all(f'"{word}"' in code for word in words) and ("getauxval" in code or "cpuid" in code) == bool(words)
