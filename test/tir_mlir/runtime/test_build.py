"""Programs are MLIR text."""
# ruff: noqa: E501

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tir_mlir
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ArgumentError, BuildError

PROGRAM = """
#rows = affine_map<()[s0] -> (s0, 16)>
module {
  func.func @matmul(%A: memref<?x16xf32> {tir.name = "A", tir.shape = #rows, tir.syms = ["n"]}, %B: memref<16x8xf32> {tir.name = "B"},
                    %C: memref<?x8xf32> {tir.name = "C", tir.shape = affine_map<()[s0] -> (s0, 8)>, tir.syms = ["n"]})
      attributes {tir.id = 0 : i64, tir.attrs = {global_symbol = "matmul", tir.noalias = true}} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %n = memref.dim {tir.name = "n"} %A, %c0 : memref<?x16xf32>
    affine.for %i = 0 to %n {
      affine.for %j = 0 to 8 {
        affine.for %k = 0 to 16 {
          affine.parallel (%vi, %vj, %vk) = (%i, %j, %k) to (%i + 1, %j + 1, %k + 1) {
            affine.if affine_set<(d0) : (d0 == 0)>(%vk) {
              affine.store %zero, %C[%vi, %vj] : memref<?x8xf32>
            } {tir.init}
            %c = affine.load %C[%vi, %vj] : memref<?x8xf32>
            %a = affine.load %A[%vi, %vk] : memref<?x16xf32>
            %b = affine.load %B[%vk, %vj] : memref<16x8xf32>
            %p = arith.mulf %a, %b : f32
            %s = arith.addf %c, %p : f32
            affine.store %s, %C[%vi, %vj] : memref<?x8xf32>
          } {tir.block = "C", tir.id = 4 : i64, tir.iters = ["S", "S", "R"], tir.names = ["vi", "vj", "vk"],
             tir.min = affine_map<()[s0] -> (0, 0, 0)>, tir.extent = affine_map<()[s0] -> (s0, 8, 16)>, tir.syms = ["n"]}
        } {tir.loop = "k", tir.id = 3 : i64}
      } {tir.loop = "j", tir.id = 2 : i64}
    } {tir.loop = "i", tir.id = 1 : i64}
    return
  }
  func.func @fill(%X: memref<4xf32> {tir.name = "X"}, %v: f32 {tir.name = "v"}, %m: i32 {tir.name = "m"})
      attributes {tir.id = 5 : i64} {
    %w = arith.sitofp %m : i32 to f32
    %y = arith.addf %v, %w : f32
    affine.for %i = 0 to 4 {
      affine.store %y, %X[%i] : memref<4xf32>
    } {tir.loop = "i", tir.id = 6 : i64}
    return
  }
}
"""

SMALL = """func.func @f(%X: memref<4xTYPE> {tir.name = "X"}, %Y: memref<4xTYPE> {tir.name = "Y"}) attributes {tir.id = 0 : i64} {
  affine.for %i = 0 to 4 {
    %x = affine.load %X[%i] : memref<4xTYPE>
    %y = BODY : TYPE
    affine.store %y, %Y[%i] : memref<4xTYPE>
  } {tir.loop = "i", tir.id = 1 : i64}
  return
}"""


@pytest.fixture(scope="module", params=["jit", "tools"])
def lib(request):
    from mlir import ir

    from tir_mlir.dialect.ir import enter_context

    with enter_context():
        module = ir.Module.parse(PROGRAM)
    return build(module, driver=request.param, cache=False)


def test_numbers(lib):
    random = np.random.default_rng(0)
    for n in (1, 5, 32):
        a, b = random.standard_normal((n, 16), dtype=np.float32), random.standard_normal((16, 8), dtype=np.float32)
        c = np.full((n, 8), np.nan, "float32")
        lib["matmul"](a, b, c)
        np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)


def test_scalars_and_names(lib):
    x = np.zeros(4, "float32")
    lib.fill(x, 1.5, -3)
    assert (x == -1.5).all()
    assert lib.functions == ["matmul", "fill"]
    with pytest.raises(KeyError, match="no function 'main' in this library; it has: matmul, fill"):
        lib["main"]
    with pytest.raises(AttributeError, match="its functions are: matmul, fill"):
        lib.main
    with pytest.raises(BuildError, match="2 functions: call one"):
        lib(x, 1.5, -3)
    with pytest.raises(ArgumentError, match="fits int32"):
        lib.fill(x, 1.5, 1 << 31)


def test_each_stage_can_be_seen(lib):
    assert "tir.block" in lib.mlir and "affine.parallel" in lib.mlir
    assert "llvm.func" in lib.lowered and "affine" not in lib.lowered
    assert "define" in lib.llvm_ir
    assert "_mlir_ciface_matmul" in lib.assembly
    assert {"lower", "link", "compile"} <= set(lib.timing)


def test_calls_from_several_threads(lib):
    results = {}

    def work(i: int) -> None:
        x = np.zeros(4, "float32")
        for _ in range(200):
            lib.fill(x, float(i), 0)
        results[i] = x

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all((results[i] == i).all() for i in range(4))


def test_a_function_outlives_its_library(parse):
    fill = build(parse(PROGRAM))["fill"]
    x = np.zeros(4, "float32")
    fill(x, 2.0, 0)
    assert (x == 2).all()


def test_the_module_is_left_as_it_was_and_holders_are_taken(parse):
    module = parse(PROGRAM)
    before = str(module)

    class Holder:
        def __init__(self, mod):
            self.mod = mod

    class Script:
        mlir = module

    assert build(Holder(Script())).functions == ["matmul", "fill"]
    assert str(module) == before


def test_refused(parse):
    module = parse(PROGRAM)
    with pytest.raises(BuildError, match="unknown target 'avr'; known: 'llvm'"):
        build(module, target="avr")
    with pytest.raises(BuildError, match="unknown driver 'make'; known: 'jit', 'tools'"):
        build(module, driver="make")
    with pytest.raises(BuildError, match=r"takes an IRModule.* not int"):
        build(3)
    with pytest.raises(BuildError, match="no public function"):
        build(parse("module {}"))
    with pytest.raises(BuildError, match="'f' returns f32"):
        build(parse("func.func @f(%x: f32) -> f32 { return %x : f32 }"))
    with pytest.raises(BuildError, match=r"x.dll has no suffix of a library for C; fix: one of .so, .a, .o, .h"):
        build(module).export("x.dll")


@pytest.mark.parametrize("driver", ["jit", "tools"])
def test_export_loads_without_the_package(parse, tmp_path, driver):
    shared, obj, header = build(parse(PROGRAM), driver=driver).export(tmp_path / "out" / "libm.so")
    assert (
        obj.stat().st_size and "int matmul(int64_t n, const float *A, const float *B, float *C);" in header.read_text()
    )
    program = (
        "import ctypes, sys; lib = ctypes.CDLL(sys.argv[1])\n"
        "x = (ctypes.c_float * 4)()\n"
        "assert lib.fill(x, ctypes.c_float(1.5), ctypes.c_int32(2)) == 0; print(list(x))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, shared], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[3.5, 3.5, 3.5, 3.5]"


@pytest.mark.parametrize("driver", ["jit", "tools"])
@pytest.mark.parametrize(
    ("kind", "body", "x", "want"),
    [
        ("bf16", "arith.addf %x, %x", np.array([1, 2, 3, 4], "float32").view("uint32") >> 16, [2, 4, 6, 8]),
        ("f16", "arith.mulf %x, %x", np.array([1, 2, 3, 4], "float16"), [1, 4, 9, 16]),
        ("f32", "math.exp %x", np.array([0, 0, 0, 1], "float32"), [1, 1, 1, np.e]),
    ],
)
def test_types_and_what_they_call(parse, driver, kind, body, x, want):
    module = parse(SMALL.replace("BODY", body).replace("TYPE", kind))
    x = x.astype("uint16") if kind == "bf16" else x
    y = np.ones_like(x)
    build(module, driver=driver)(x, y)
    got = (y.astype("uint32") << 16).view("float32") if kind == "bf16" else y
    np.testing.assert_allclose(got.astype("float32"), want, rtol=1e-3)


@pytest.mark.parametrize("driver", ["jit", "tools"])
def test_copies_between_layouts(parse, driver):
    text = """func.func @f(%X: memref<4x6xf32> {tir.name = "X"}, %Y: memref<2x3xf32> {tir.name = "Y"}) attributes {tir.id = 0 : i64} {
      %v = memref.subview %X[1, 2] [2, 3] [2, 1] : memref<4x6xf32> to memref<2x3xf32, strided<[12, 1], offset: 8>>
      memref.copy %v, %Y : memref<2x3xf32, strided<[12, 1], offset: 8>> to memref<2x3xf32>
      return
    }"""
    x, y = np.arange(24, dtype="float32").reshape(4, 6), np.zeros((2, 3), "float32")
    build(parse(text), driver=driver)(x, y)
    np.testing.assert_array_equal(y, x[1::2, 2:5])


@pytest.mark.parametrize("driver", ["jit", "tools"])
def test_parallel_loops(parse, driver):
    text = SMALL.replace("BODY", "arith.addf %x, %x").replace("TYPE", "f32")
    module = parse(text.replace('{tir.loop = "i"', '{tir.kind = "parallel", tir.loop = "i"'))
    lib = build(module, driver=driver)
    assert "__kmpc_fork_call" in lib.llvm_ir
    x, y = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    lib(x, y)
    np.testing.assert_array_equal(y, 2 * x)


def test_import_is_light():
    code = (
        "import time; t = time.perf_counter(); import sys, tir_mlir; s = time.perf_counter() - t\n"
        "assert 'mlir' not in sys.modules and 'numpy' not in sys.modules, 'heavy'; assert s < 0.3, s"
    )
    root = str(Path(tir_mlir.__file__).parent.parent)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, env={**os.environ, "PYTHONPATH": root})


def test_the_name_build_is_the_function_however_it_was_reached():
    code = (
        "import tir_mlir\nfrom tir_mlir import build\nassert callable(build)\nimport tir_mlir.build\n"
        "from tir_mlir import build as again\nfrom tir_mlir.build import build as third\nassert callable(again) and callable(third)\n"
        "try: again(3)\nexcept Exception as e: assert 'IRModule' in str(e), e"
    )
    root = str(Path(tir_mlir.__file__).parent.parent)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root, env={**os.environ, "PYTHONPATH": root})
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tir_mlir.nothing
