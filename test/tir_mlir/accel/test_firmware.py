"""Firmware: a folder of C that calls a machine's functions in order; it runs, and calls nothing but instructions."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from programs.emulators import CPUS, compile_firmware, run_firmware
from programs.systolic import product, schedule_product, systolic

from tir_mlir import accel, build
from tir_mlir.accel import MachineFunction
from tir_mlir.accel.firmware.graph_model import write_graph
from tir_mlir.accel.machines import gemmini, tmm16
from tir_mlir.errors import BuildError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.packed_functions import register_packed
from tir_mlir.runtime.library import Library
from tir_mlir.script import IRModule
from tir_mlir.script import tir as T

FLAGS = ("-std=c99", "-ffreestanding", "-Wall", "-Wextra", "-Werror")
SHAPES = [(16, 16, 16), (17, 15, 127), (15, 17, 1)]


def product_library(m: int, n: int, k: int) -> Library:
    machine = systolic()
    return build(schedule_product(machine, m, n, k, (2, 2, 2), True), target=machine)


def run_natively(folder: Path, inputs: dict[str, np.ndarray], output: str, shape: tuple[int, ...]) -> np.ndarray:
    """Compile the files of a folder for this machine with a `main` that fills inputs, and prints an output."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc: apt-get install gcc")
    name = folder.name
    data = "".join(f"extern int8_t {name}_{n}[{a.size}];\n" for n, a in inputs.items())
    fill = "".join(
        f"static const int8_t of_{n}[] = {{{', '.join(map(str, a.reshape(-1)))}}};\n"
        f"for (int i = 0; i < {a.size}; ++i) {name}_{n}[i] = of_{n}[i];\n"
        for n, a in inputs.items()
    )
    (folder / "test.c").write_text(
        f"#include <stdint.h>\n#include <stdio.h>\nint firmware(void);\n{data}extern int8_t {name}_{output}[];\n"
        f"int main(void) {{\n{fill}firmware();\n"
        f'for (int i = 0; i < {int(np.prod(shape))}; ++i) printf("%d\\n", {name}_{output}[i]);\nreturn 0; }}\n'
    )
    objects = []
    for source in sorted(folder.glob("*.c")):
        objects.append(source.with_suffix(".o"))
        flags = [] if source.name == "test.c" else [*FLAGS, "-Dmain=firmware"] if source.name == "main.c" else FLAGS
        subprocess.run(["gcc", "-O1", *flags, "-c", source, "-o", objects[-1]], check=True)
    subprocess.run(["gcc", *objects, "-lm", "-o", folder / "run"], check=True)
    printed = subprocess.run([folder / "run"], check=True, capture_output=True, text=True).stdout
    return np.array(printed.split(), np.int8).reshape(shape)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.few(1)
def test_a_product_runs_on_weights_in_the_firmware(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    lib, rng = product_library(*shape), np.random.default_rng(0)
    a, b, c = (rng.integers(-128, 128, s, np.int8) for s in ((m, k), (k, n), (m, n)))
    lib.export(tmp_path / "product", bare_metal=True, constants={"B": b})
    lib(a, b, c)
    np.testing.assert_array_equal(run_natively(tmp_path / "product", {"A": a}, "C", (m, n)), c)
    assert "void product_run(const int8_t *A, int8_t *C);" in (tmp_path / "product" / "product.h").read_text()


def test_functions_are_called_in_order(tmp_path: Path) -> None:
    machine = systolic()
    mods = {
        name: schedule_product(machine, m, 16, 16, (1, 1, 1), False).mod["main"].with_attr("global_symbol", name)
        for name, m in (("first", 16), ("second", 32))
    }
    lib = build(IRModule(mods), target=machine)
    lib.export(tmp_path / "both", bare_metal=True, constants={"first.B": np.ones((16, 16), np.int8)})
    text = (tmp_path / "both" / "both.c").read_text()
    assert text.index("first(first_A, both_first_B, first_C);") < text.index("second(second_A, second_B, second_C);")


def test_wrong_constants_are_named(tmp_path: Path) -> None:
    lib = product_library(16, 16, 16)
    for constants, message in (
        ({"X": np.zeros(1)}, r"constants\['X'\] is not a parameter; these are: A, B, C"),
        ({"B": np.zeros((16, 15), np.int8)}, r"constants\['B'\] has shape \(16, 15\) and type int8; .* \(16, 16\)"),
        ({"C": np.zeros((16, 16), np.int8)}, r"constants\['C'\]: the program writes this parameter"),
    ):
        with pytest.raises(BuildError, match=message):
            lib.export(tmp_path / "made", bare_metal=True, constants=constants)


def test_a_name_that_is_a_header_of_the_machine_is_refused(tmp_path: Path) -> None:
    lib = accel.map(dense(True), tmm16()).build()  # its header is accel.h
    with pytest.raises(BuildError, match=r'accel\.h is .* one that Machine\("tmm16"\) includes; fix: name="accel_net"'):
        lib.export(tmp_path / "accel", bare_metal=True)
    assert (tmp_path / "accel" / "accel_net.h") in lib.export(tmp_path / "accel", "accel_net", bare_metal=True)


def test_firmware_of_a_cpu_is_refused(tmp_path: Path) -> None:
    lib = build(product(16, 16, 16))
    with pytest.raises(BuildError, match="bare_metal=True writes programs of an accelerator, and main"):
        lib.export(tmp_path / "made", bare_metal=True)
    with pytest.raises(BuildError, match="constants= are weights of firmware; fix: bare_metal=True"):
        lib.export(tmp_path / "made.o", constants={"A": np.zeros(1)})


@pytest.mark.parametrize(
    "cpu", ["rv64gc", *(pytest.param(name, marks=pytest.mark.slow) for name in ("rv64imac", "rv32imac", "cortex-m4"))]
)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.few(1)
def test_firmware_runs_on_another_cpu(tmp_path: Path, cpu: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    lib, rng = product_library(*shape), np.random.default_rng(1)
    a, b, c = (rng.integers(-128, 128, s, np.int8) for s in ((m, k), (k, n), (m, n)))
    lib.export(tmp_path / "product", bare_metal=True, constants={"B": b})
    expected = np.zeros_like(c)
    lib(a, b, expected)
    elf = compile_firmware(tmp_path / "product", CPUS[cpu])
    run_firmware(elf, CPUS[cpu], {"product_A": a}, {"product_C": c})
    np.testing.assert_array_equal(c, expected)


def mlp(machine: accel.Machine) -> tuple[Graph, dict[str, MachineFunction]]:
    """Two layers on the machine; what is before, between and behind them on the CPU, with a softmax."""
    layers = {}
    for name, shape, tiles in (("hidden", (5, 40, 33), (1, 2, 2)), ("last", (5, 17, 40), (1, 2, 2))):
        layers[f"array.{name}"] = build(schedule_product(machine, *shape, tiles, True), target=machine).main
        register_packed(f"array.{name}", layers[f"array.{name}"], override=True)
    rng = np.random.default_rng(0)
    w1, w2 = rng.integers(-128, 128, (33, 40), np.int8), rng.integers(-128, 128, (40, 17), np.int8)
    b = GraphBuilder("mlp")
    x = b.op("multiply", b.input("x", (5, 33)), b.constant(np.float32(30)))
    x = b.op("astype", b.op("round", x), dtype="int8")
    x = b.op("nn.relu", b.call_packed("array.hidden", [x, b.weight("w1", w1)], [((5, 40), "int8")]))
    y = b.call_packed("array.last", [x, b.weight("w2", w2)], [((5, 17), "int8")])
    b.output(b.op("nn.softmax", b.op("astype", y, dtype="float32")), y)
    return b.finish(), layers


@pytest.mark.nightly
def test_a_graph_runs_on_another_cpu(tmp_path: Path) -> None:
    machine = systolic()
    graph, layers = mlp(machine)
    write_graph(tmp_path / "mlp", graph, machine, {name: f.placed for name, f in layers.items()})
    x = np.random.default_rng(1).normal(0, 1, (5, 33)).astype(np.float32)
    shares, numbers = build(graph, threads=1)(x)
    made = {"mlp_out0": np.zeros((5, 17), np.float32), "mlp_out1": np.zeros((5, 17), np.int8)}
    elf = compile_firmware(tmp_path / "mlp", CPUS["rv64gc"])
    run_firmware(elf, CPUS["rv64gc"], {"mlp_x": x}, made)
    np.testing.assert_array_equal(made["mlp_out1"], numbers)
    np.testing.assert_allclose(made["mlp_out0"], shares, rtol=1e-5)


def test_what_firmware_of_a_graph_has_not_is_named(tmp_path: Path) -> None:
    machine = systolic()
    graph, _ = mlp(machine)
    with pytest.raises(BuildError, match=r"calls array\.hidden, which is not a program of the machine"):
        write_graph(tmp_path / "mlp", graph, machine, {})
    b = GraphBuilder("sized")
    b.output(b.op("nn.relu", b.input("x", ("n", 3))))
    with pytest.raises(BuildError, match="the graph has the size n, which a call decides"):
        write_graph(tmp_path / "sized", b.finish(), machine, {})


def test_an_offloaded_graph_calls_nothing_but_instructions(tmp_path: Path) -> None:
    if shutil.which("gcc") is None or shutil.which("nm") is None:
        pytest.skip("needs gcc and nm: apt-get install gcc")
    folder, rng = tmp_path / "net", np.random.default_rng(0)
    b = GraphBuilder("net")
    x = b.op(
        "nn.relu", b.op("nn.dense", b.input("x", (17, 15)), b.weight("w", rng.standard_normal((33, 15), "float32")))
    )
    b.output(b.op("nn.softmax", b.op("nn.dense", x, b.weight("v", rng.standard_normal((31, 33), "float32")))))
    batch = [rng.standard_normal((17, 15), np.float32)]
    kinds = {"activations": "int8", "symmetric": True, "per_channel": False, "bias": "int32"}
    net = b.finish().calibrate(batch, threads=1, **kinds).offload(gemmini())
    assert net.offloaded.share == 1.0
    net.export(folder)
    (folder / "include").mkdir()
    calls = set(re.findall(r"\bgemmini_\w+(?=\()", (folder / "net_functions.c").read_text()))
    declared = "".join(f"void {word}();\n" for word in sorted(calls))
    (folder / "include" / "gemmini.h").write_text(f"#define GARBAGE_ADDR UINT32_MAX\n{declared}")
    objects = []
    for source in sorted(folder.glob("*.c")):
        objects.append(source.with_suffix(".o"))
        subprocess.run(["gcc", *FLAGS, "-O2", f"-I{folder}", "-c", source, "-o", objects[-1]], check=True)
    subprocess.run(["gcc", "-r", "-nostdlib", *objects, "-o", folder / "all.o"], check=True)
    listed = subprocess.run(["nm", "-u", folder / "all.o"], check=True, capture_output=True, text=True).stdout
    assert all(name.startswith("gemmini_") for name in listed.split()[1::2]) and "gemmini_extended_preload" in listed


ACCEL_H = """static float REG[256][16], ACC[256][16];
static void accel_dma_load(int32_t to, const float *from, int32_t stride) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) REG[to + i][j] = from[i * stride + j]; }
static void accel_dma_store(float *to, int32_t from, int32_t stride) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) to[i * stride + j] = ACC[from + i][j]; }
static void accel_fill_zero(int32_t to) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) ACC[to + i][j] = 0; }
static void accel_tmm_add(int32_t c, int32_t a, int32_t b) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) for (int k = 0; k < 16; ++k)
    ACC[c + i][j] += REG[a + i][k] * REG[b + j][k]; }
"""


def dense(w_by_rows: bool):
    """A layer. w_by_rows: whether a row of the weights is of a column of the result, as the machine reads them."""

    @T.prim_func
    def rows(X: T.Buffer((5, 20), "float32"), W: T.Buffer((17, 20), "float32"), Y: T.Buffer((5, 17), "float32")):
        for i, j, k in T.grid(5, 17, 20):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] += X[vi, vk] * W[vj, vk]

    @T.prim_func
    def columns(X: T.Buffer((5, 20), "float32"), W: T.Buffer((20, 17), "float32"), Y: T.Buffer((5, 17), "float32")):
        for i, j, k in T.grid(5, 17, 20):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] += X[vi, vk] * W[vk, vj]

    return rows if w_by_rows else columns


@pytest.mark.parametrize("w_by_rows", [True, False], ids=["padded", "transposed and padded"])
def test_weights_are_laid_out_by_the_export(tmp_path: Path, w_by_rows: bool) -> None:
    folder, rng = tmp_path / "layer", np.random.default_rng(0)
    x, w = rng.integers(-9, 9, (5, 20)).astype(np.float32), rng.integers(-9, 9, (17, 20)).astype(np.float32)
    weights = {"W": w if w_by_rows else np.ascontiguousarray(w.T)}
    accel.map(dense(w_by_rows), tmm16()).build().export(folder, bare_metal=True, constants=weights)
    (folder / "accel.h").write_text(ACCEL_H)
    assert "on the CPU: W" not in (folder / "layer_functions.c").read_text()
    assert re.search(rf"float layer_W_W\w*_pad\[{32 * 32}\] ALIGNED", (folder / "layer_weights.c").read_text())
    y = np.zeros((5, 17), np.float32)
    elf = compile_firmware(folder, CPUS["rv64gc"])
    run_firmware(elf, CPUS["rv64gc"], {"layer_X": x}, {"layer_Y": y})
    np.testing.assert_array_equal(y, x @ w.T)
