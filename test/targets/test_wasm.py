"""Modules for WebAssembly: they run in wasmtime, and by their loader in node, and equal NumPy."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from harness import webassembly
from programs.products import product, widened
from programs.rowwise import softmax
from programs.short import each, main

from tir_mlir import Schedule, build, schedules
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.script.parser import parse

pytestmark = pytest.mark.slow
RNG = np.random.default_rng(11)
NODE = shutil.which("node")
in_node = pytest.mark.skipif(NODE is None, reason="node is not there")


def text(body, params='X: T.Buffer((13, 37), "float32"), Y: T.Buffer((13, 37), "float32")', loop="range"):
    return f"""
@T.prim_func
def main({params}):
    for i in T.{"parallel" if loop == "parallel" else "serial"}(13):
        for j in range(37):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = {body}
"""


SYMBOLIC = """
@T.prim_func
def main(a: T.handle, b: T.handle, s: T.float32):
    n = T.int32()
    A = T.match_buffer(a, (n, 4), "float32")
    B = T.match_buffer(b, (n + 1, 4), "float32")
    for i, j in T.grid(n, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi + 1, vj] = A[vi, vj] * s
"""


def compiled(program, tmp_path, **options):
    return build(parse(program) if isinstance(program, str) else program, target="wasm_simd", **options).export(
        tmp_path / "f.wasm"
    )


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
def test_products(dtype, tmp_path):
    m, n, k = 17, 35, 29
    sums = {"float16": "float32", "int8": "int32"}.get(dtype, dtype)
    sch = Schedule(product(m, n, k, dtype) if sums == dtype else widened(m, n, k, dtype, sums))
    schedules.gemm(sch, "C", target="wasm_simd", threads=1)
    low, high = (-128, 128) if dtype == "int8" else (-4, 5)
    a, b = (RNG.integers(low, high, s).astype(dtype) for s in ((m, k), (k, n)))
    path, _ = compiled(sch, tmp_path)
    *_, c = webassembly.run(path, "main", [a, b, np.zeros((m, n), sums)])
    np.testing.assert_array_equal(c, a.astype(sums) @ b.astype(sums))


def test_elements(tmp_path):
    sch = Schedule(parse(text("T.max(X[vi, vj] * X[vi, vj] + T.float32(1), T.float32(0))")))
    schedules.elementwise(sch, "Y", target="wasm_simd", threads=1)
    x = RNG.uniform(-2, 2, (13, 37)).astype("float32")
    _, y = webassembly.run(compiled(sch, tmp_path)[0], "main", [x, x * 0])
    np.testing.assert_allclose(y, x * x + 1, rtol=1e-6)


def test_rows(tmp_path):
    sch = Schedule(softmax((19, 37)))
    schedules.softmax(sch, "out", target="wasm_simd", threads=1)
    x = RNG.normal(size=(19, 37)).astype("float32")
    _, found = webassembly.run(compiled(sch, tmp_path)[0], "main", [x, x * 0])
    power = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(found, power / power.sum(1, keepdims=True), rtol=1e-5)


def test_parallel_loops_are_serial(tmp_path):
    x = RNG.uniform(-2, 2, (13, 37)).astype("float32")
    _, y = webassembly.run(compiled(text("X[vi, vj] + X[vi, vj]", loop="parallel"), tmp_path)[0], "main", [x, x * 0])
    np.testing.assert_array_equal(y, x + x)


def test_half_is_rounded_as_numpy_rounds(tmp_path):
    params = 'X: T.Buffer((13, 37), "float32"), Y: T.Buffer((13, 37), "float16")'
    x = np.concatenate([RNG.uniform(-7e4, 7e4, 200), RNG.uniform(-1e-4, 1e-4, 200), RNG.normal(size=75),
                        [np.inf, -np.inf, 65519, 65520, 0, -0.0]]).astype("float32").reshape(13, 37)  # fmt: skip
    path, _ = compiled(text('T.Cast("float16", X[vi, vj])', params), tmp_path)
    _, y = webassembly.run(path, "main", [x, np.zeros((13, 37), "float16")])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(y.view("uint16"), x.astype("float16").view("uint16"))


def test_every_half_is_widened_as_numpy_widens(tmp_path):
    program = text(
        'T.Cast("float32", X[vi, vj])', 'X: T.Buffer((256, 256), "float16"), Y: T.Buffer((256, 256), "float32")'
    )
    program = program.replace("(13)", "(256)").replace("(37)", "(256)")
    x = np.arange(1 << 16, dtype="uint16").view("float16").reshape(256, 256)
    _, y = webassembly.run(compiled(program, tmp_path)[0], "main", [x, np.zeros((256, 256), "float32")])
    np.testing.assert_array_equal(y, x.astype("float32"))


def test_wide_products(tmp_path):
    program = text(
        "T.floordiv(X[vi, vj], T.int64(7))", 'X: T.Buffer((13, 37), "int64"), Y: T.Buffer((13, 37), "int64")'
    )
    x = RNG.integers(-(2**63), 2**63, (13, 37))
    _, y = webassembly.run(compiled(program, tmp_path)[0], "main", [x, x * 0])
    np.testing.assert_array_equal(y, x // 7)


def test_memory_grows_and_is_used_again(tmp_path):
    """A buffer of 4 MB that the program allocates, in many calls: the module has only so much memory."""
    program = main(
        "X:1024x1024 Y:1024x1024; B:1024x1024",
        each("B:1024x1024", "B[vi, vj] = X[vi, vj] * T.float32(2)"),
        each("Y:1024x1024", "Y[vi, vj] = B[vj, vi]"),
    )
    x = RNG.uniform(size=(1024, 1024)).astype("float32")
    runs = webassembly.Module(compiled(program, tmp_path)[0])
    for _ in range(20):
        _, y = runs("main", [x, x * 0])
    np.testing.assert_array_equal(y, 2 * x.T)
    assert runs.size < 32 << 20


def test_a_function_that_cannot_be_imported(tmp_path):
    lib = build(parse(text("T.erfc(X[vi, vj])").replace("T.erfc", "T.nearbyint")), target="wasm_simd")
    assert lib.export(tmp_path / "f.wasm")  # an instruction
    program = text('T.call_extern("float32", "my_function", X[vi, vj])')
    with pytest.raises(BuildError, match="calls 'my_function', which a WebAssembly module cannot import; fix: write"):
        build(parse(program), target="wasm_simd").export(tmp_path / "g.wasm")
    assert not (tmp_path / "g.wasm").exists()


def test_only_code_for_webassembly_is_a_module(tmp_path):
    with pytest.raises(BuildError, match=r'f.wasm: this code is for aarch64; fix: build\(..., target="wasm_simd"\)'):
        build(product(4, 4, 4), target="neon").export(tmp_path / "f.wasm")
    with pytest.raises(BuildError, match=r'cannot run: it is .*; lib.export\("f.wasm"\) writes it, with a Java'):
        build(product(4, 4, 4), target="wasm_simd")(1, 2, 3)


def node(tmp_path, script):
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "run.js").write_text('import { load } from "./f.js";\nconst lib = await load();\n' + script)
    done = subprocess.run([NODE, "run.js"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


SAY = """
const said = (f) => { try { f(); return "nothing"; } catch (e) { return `${e.name}: ${e.message}`; } };
"""


@in_node
def test_the_loader_runs_a_product(tmp_path):
    m, n, k = 17, 35, 29
    sch = Schedule(product(m, n, k))
    schedules.gemm(sch, "C", target="wasm_simd", threads=1)
    compiled(sch, tmp_path)
    a, b = (RNG.integers(-4, 5, s) for s in ((m, k), (k, n)))
    script = f"""
const a = Float32Array.from({a.ravel().tolist()}), b = Float32Array.from({b.ravel().tolist()});
const c = new Float32Array({m * n});
lib.main(a, b, c);
console.log(JSON.stringify([...c]));
"""
    np.testing.assert_array_equal(node(tmp_path, script), (a @ b).ravel())


@in_node
def test_the_loader_provides_mathematics(tmp_path):
    compiled(text("T.sin(X[vi, vj]) + T.pow(X[vi, vj], T.float32(3))"), tmp_path)
    x = RNG.uniform(0, 2, (13, 37)).astype("float32")
    script = f"""
const x = Float32Array.from({x.ravel().tolist()}), y = new Float32Array(x.length);
lib.main(x, y);
console.log(JSON.stringify([...y]));
"""
    np.testing.assert_allclose(node(tmp_path, script), (np.sin(x) + x**3).ravel(), rtol=1e-6)


@in_node
def test_sizes_at_run_time(tmp_path):
    compiled(SYMBOLIC, tmp_path)
    script = (
        SAY
        + """
const a = Float32Array.from([1, 2, 3, 4, 5, 6, 7, 8]), b = new Float32Array(12);
lib.main({ data: a, shape: [2, 4] }, { data: b, shape: [3, 4] }, 10);
console.log(JSON.stringify([[...b],
  said(() => lib.main({ data: a, shape: [2, 4] }, { data: a, shape: [2, 4] }, 10)),
  said(() => lib.main(a, b, 10)),
  said(() => lib.main({ data: a, shape: [3, 4] }, b, 10)),
]));
"""
    )
    result, shape, unknown, elements = node(tmp_path, script)
    assert result == [0] * 4 + [10, 20, 30, 40, 50, 60, 70, 80]
    assert shape == 'RangeError: main: axis 0 of B is 2; B: Buffer[((n + 1), 4), "float32"] needs 3'
    assert unknown == "TypeError: main: A has sizes that are not constant: pass {data, shape}"
    assert elements.startswith("RangeError: main: A has 8 elements, and the shape [3,4] of A: Buffer")


@in_node
def test_wrong_arguments(tmp_path):
    compiled(text("X[vi, vj] + T.float32(1)"), tmp_path)
    script = (
        SAY
        + """
const x = new Float32Array(13 * 37);
console.log(JSON.stringify([said(() => lib.main(x)), said(() => lib.main(x, new Int32Array(13 * 37))),
  said(() => lib.main(x, x)), said(() => lib.main(x, new Float32Array(3)))]));
"""
    )
    assert node(tmp_path, script) == [
        'TypeError: main takes 2 arguments: main(X: Buffer[(13, 37), "float32"], Y: Buffer[(13, 37), "float32"]); '
        "1 are given",
        "TypeError: main: Y must be a Float32Array or {data, shape} (float32)",
        "RangeError: main: X and Y share memory",
        'RangeError: main: Y has 3 elements, and the shape [13,37] of Y: Buffer[(13, 37), "float32"]',
    ]


@in_node
def test_a_checked_module_names_the_access(tmp_path):
    program = main("I:4:int32 X:8 Y:4", each("Y:4", "Y[vi] = X[I[vi]]"))
    compiled(program, tmp_path, checked=True)
    script = (
        SAY
        + """
const x = Float32Array.from([0, 1, 2, 3, 4, 5, 6, 7]), y = new Float32Array(4);
const wrong = said(() => lib.main(Int32Array.from([0, 9, 2, 3]), x, y));
lib.main(Int32Array.from([7, 6, 5, 4]), x, y);
console.log(JSON.stringify([wrong, [...y]]));
"""
    )
    wrong, right = node(tmp_path, script)
    assert wrong.startswith("RangeError: main: read of X in Y, ") and wrong.endswith("is outside, at index [9]")
    assert right == [7, 6, 5, 4]
