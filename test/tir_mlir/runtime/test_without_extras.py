"""The base installation without extras: supported features, and errors that name the missing extra."""

import shutil

import numpy as np
import pytest

from tir_mlir import Schedule, build, create_llvm
from tir_mlir.dialect.diagnostics import BuildError, ScriptError, ToolError
from tir_mlir.examples import demo
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.opt.driver import main as tir_opt
from tir_mlir.runtime.drivers import clang
from tir_mlir.runtime.tools import toolchain
from tir_mlir.script import IRModule
from tir_mlir.script import tir as T

EXTRAS = {"mlir": "tools", "ziglang": "c"}  # module -> extra


@pytest.fixture
def without(monkeypatch, tmp_path):
    """Hide the wheels of extras; nothing is on PATH, and nothing in the cache."""
    found = toolchain._wheel_folder

    def hide(*extras: str) -> None:
        monkeypatch.setattr(toolchain, "_wheel_folder", lambda m: None if EXTRAS.get(m) in extras else found(m))

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "cache"))
    for name in toolchain.TOOLS:
        monkeypatch.delenv(toolchain.variable(name), raising=False)
    return hide


@T.prim_func
def calls(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.call_extern("float32", "twice_plus", A[vi])


KERNEL = """
@bias = internal constant float 3.0
define float @helper(float %x) {
  %b = load float, ptr @bias
  %y = fadd float %x, %b
  ret float %y
}
define float @twice_plus(float %x) {
  %y = fadd float %x, %x
  %z = call float @helper(float %y)
  ret float %z
}
"""


def with_kernel(text: str) -> Schedule:
    sch = Schedule(calls)
    sch.annotate(sch.get_loops("B")[0], "pragma_import_llvm", text)
    return sch


def run(lib) -> np.ndarray:
    a, b = np.arange(8, dtype="float32"), np.empty(8, "float32")
    lib(a, b)
    return b


@pytest.mark.parametrize("hidden", [(), ("tools", "c")])
def test_a_kernel_in_llvm_ir(without, hidden):
    without(*hidden)
    lib = build(with_kernel(KERNEL))
    np.testing.assert_array_equal(run(lib), 2 * np.arange(8, dtype="float32") + 3)
    assert ("llvm.func internal @twice_plus" in lib.lowered) == (not hidden)
    assert not any("twice_plus" in line for line in lib.assembly.splitlines() if "call" in line)  # inlined
    again = build(with_kernel(KERNEL))
    assert again.timing.cached
    np.testing.assert_array_equal(run(again), run(lib))


def test_two_kernels_with_helpers_of_one_name(without):
    without("tools", "c")

    @T.prim_func
    def both(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = T.call_extern("float32", "twice_plus", A[vi]) + T.call_extern("float32", "other", A[vi])

    sch = Schedule(both)
    loop = sch.get_loops("B")[0]
    sch.annotate(loop, "pragma_import_llvm", KERNEL)
    sch.annotate("B", "pragma_import_llvm", KERNEL.replace("@twice_plus", "@other").replace("3.0", "10.0"))
    np.testing.assert_array_equal(run(build(sch)), 4 * np.arange(8, dtype="float32") + 13)


@pytest.mark.parametrize("hidden", [(), ("tools", "c")])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            KERNEL.replace("@twice_plus(float %x)", "@twice_plus(float %x, i32 %n)"),
            "signature",
        ),
        (KERNEL.replace("twice_plus", "thrice"), "defines: helper, thrice"),
        ("define nonsense\n{", "cannot be read"),
        (
            KERNEL + "define void @c() {\n  ret void\n}\n"
            "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] "
            "[{ i32, ptr, ptr } { i32 65535, ptr @c, ptr null }]\n",
            "static constructors",
        ),
    ],
)
def test_a_kernel_that_does_not_fit(without, hidden, text, why):
    without(*hidden)
    with pytest.raises(BuildError, match=why):
        build(with_kernel(text))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_short_floats(without, dtype):
    without("tools", "c")
    mod = IRModule({"main": narrow(dtype)})
    lib = build(mod)
    x = np.array([1.0, 1.00390625, 3.14159, -65000.0, 1e-3, np.inf, -0.0, 2.5], "float32")
    y = np.empty(8, "float32")
    lib(x, y)
    if dtype == "float16":
        expected = x.astype("float16").astype("float32")
    else:  # to nearest even: half of the last digit that stays, and one more where that is odd
        bits = x.view("uint32")
        expected = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype("uint32").view("float32")
    np.testing.assert_array_equal(y, expected)


def narrow(dtype: str):
    @T.prim_func
    def main(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("Y"):
                vi = T.axis.spatial(8, i)
                Y[vi] = T.cast(T.cast(X[vi], dtype), "float32")

    return main


def test_a_copy_between_layouts(without):
    without("tools", "c")
    mod = IRModule.from_mlir(
        """
        func.func @main(%a: memref<4x6xf32>, %b: memref<4x6xf32>) {
          %s = memref.subview %a[1, 2] [2, 3] [1, 1] : memref<4x6xf32> to memref<2x3xf32, strided<[6, 1], offset: 8>>
          %t = memref.subview %b[0, 1] [2, 3] [1, 1] : memref<4x6xf32> to memref<2x3xf32, strided<[6, 1], offset: 1>>
          memref.copy %s, %t
            : memref<2x3xf32, strided<[6, 1], offset: 8>> to memref<2x3xf32, strided<[6, 1], offset: 1>>
          return
        }
        """
    )
    a, b = np.arange(24, dtype="float32").reshape(4, 6), np.zeros((4, 6), "float32")
    lib = build(mod)
    assert "memrefCopy" in lib.lowered
    lib(a, b)
    expected = np.zeros((4, 6), "float32")
    expected[0:2, 1:4] = a[1:3, 2:5]
    np.testing.assert_array_equal(b, expected)


# ---- mlir-opt, by the bindings


def test_mlir_opt_is_a_python_where_it_is_not_installed(without):
    without("tools")
    text = (
        "func.func @f() -> i32 {\n  %0 = arith.constant 1 : i32\n  %1 = arith.addi %0, %0 : i32\n  return %1 : i32\n}\n"
    )
    printed = toolchain.run("mlir-opt", ["--pass-pipeline=builtin.module(canonicalize)"], input=text)
    assert "arith.constant 2" in printed
    done = toolchain.attempt("mlir-opt", input="func.func @f() {\n  %0 = arith.constant 1.0 : i32\n  return\n}\n")
    assert done.returncode == 1 and "-:3:3: error: floating point value" in done.stderr
    with pytest.raises(ToolError, match="exit code 1"):
        toolchain.run("mlir-opt", ["--pass-pipeline=builtin.module(no-such-pass)"], input=text)


ABORTS = """
func.func @main(%A: tensor<4xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.pad %A low[1] high[-2147483649] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}
"""


def test_text_over_which_mlir_aborts_is_an_error(without):
    without("tools")
    with pytest.raises(ScriptError, match=r"MLIR crashes on this text .killed by SIGABRT"):
        IRModule.from_mlir(ABORTS)


def test_an_upstream_pass_of_tir_opt(without, tmp_path, capsys):
    without("tools", "c")
    path = tmp_path / "f.mlir"
    path.write_text("func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %0 : i32\n}\n")
    assert tir_opt([str(path), "--int-range-optimizations"]) == 0
    assert "arith.addi" in capsys.readouterr().out


# ---- the errors


def test_create_llvm_names_the_c_extra(without, monkeypatch):
    without("c")
    with pytest.raises(ToolError) as caught:
        create_llvm("int f(int x) { return x; }")
    assert str(caught.value).splitlines()[0] == "create_llvm needs a C compiler: pip install 'tir-mlir[c]'"
    assert "TIR_ZIG" in str(caught.value)
    assert clang  # the module stays importable


@pytest.mark.parametrize(
    ("hidden", "first"),
    [
        (("c",), "needs a C compiler: pip install 'tir-mlir[c]'"),
        (("tools",), "needs the tools of MLIR: pip install 'tir-mlir[tools]'"),
        (("c", "tools"), "needs the tools of MLIR and a C compiler: pip install 'tir-mlir[c,tools]'"),
    ],
)
def test_the_tool_driver_names_all_missing_extras(without, hidden, first):
    without(*hidden)
    with pytest.raises(ToolError) as caught:
        build(narrow("float16"), driver="tools")
    assert str(caught.value).splitlines()[0] == f'build(..., driver="tools") {first}'


def test_versions_name_the_package_of_a_missing_tool(without):
    without("tools", "c")
    found = toolchain.versions()
    assert found["zig"] == "missing: pip install 'tir-mlir[c]'"
    assert found["mlir-opt"] == found["mlir-translate"] == "missing: pip install 'tir-mlir[tools]'"
    assert found["llc"].startswith("22.")


def test_no_tool_of_the_system_is_taken_here(without):
    without("tools", "c")
    assert shutil.which("zig") is None


def test_an_exported_model_names_the_extra(without, tmp_path):
    without("tools", "c")
    b = GraphBuilder()
    b.output(b.op("nn.relu", b.input("x", (3,))))
    model = build(b.finish(), threads=1)
    with pytest.raises(ToolError, match=r"model.export needs a C compiler: pip install 'tir-mlir\[c\]'"):
        model.export(tmp_path / "net")
    assert not (tmp_path / "net").exists()


@pytest.mark.nightly
def test_the_demo_skips_the_stage_in_c(without, capsys):
    without("tools", "c")
    assert demo.main(["--size", "16", "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert "skipped: tensorized, kernel in C: create_llvm needs a C compiler: pip install 'tir-mlir[c]'" in printed
    assert "All results agree" in printed
