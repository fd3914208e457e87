import numpy as np
import pytest
from mlir import ir

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.runtime.drivers import link_kernels
from tir_mlir.runtime.drivers.clang import create_llvm
from tir_mlir.runtime.kernels import registry
from tir_mlir.runtime.kernels.registry import emit, register_kernel

# a call of SYMBOL on rows of C, A, B that are 32 apart, as tensorize makes it
CALL = """
func.func private @SYMBOL(!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32) -> i32
func.func @main(%A: memref<16x32xf32> {tir.name = "A"}, %B: memref<16x32xf32> {tir.name = "B"},
                %C: memref<16x32xf32> {tir.name = "C"}) attributes {tir.id = 0 : i64} {
  %stride = arith.constant 32 : i32
  affine.for %i = 0 to 2 {
    %a = memref.extract_aligned_pointer_as_index %A : memref<16x32xf32> -> index
    %b = memref.extract_aligned_pointer_as_index %B : memref<16x32xf32> -> index
    %c = memref.extract_aligned_pointer_as_index %C : memref<16x32xf32> -> index
    %a1 = arith.index_cast %a : index to i64
    %b1 = arith.index_cast %b : index to i64
    %c1 = arith.index_cast %c : index to i64
    %pa = llvm.inttoptr %a1 {tir.access = "r"} : i64 to !llvm.ptr
    %pb = llvm.inttoptr %b1 {tir.access = "r"} : i64 to !llvm.ptr
    %pc = llvm.inttoptr %c1 {tir.access = "rw"} : i64 to !llvm.ptr
    %r = func.call @SYMBOL(%pc, %pa, %pb, %stride, %stride, %stride)
      : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32) -> i32
  } {tir.loop = "i", tir.id = 1 : i64}
  return
}
"""

C_SOURCE = """
static const char name[] = "kernel"; static int calls;
static float product(const float *a, const float *b) { calls += name[0] == 'k'; return *a * *b; }
extern "C" int SYMBOL(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      for (int k = 0; k < 16; ++k)
        cc[i * stride_c + j] += product(aa + i * stride_a + k, bb + j * stride_b + k);
  return 0;
}
"""


@pytest.fixture
def program(parse):
    def program(symbol: str = "tmm16", *texts: str) -> ir.Module:
        module = parse(CALL.replace("SYMBOL", symbol))
        loops = []
        with enter_context():
            module.operation.walk(
                lambda op: (loops.append(op) if op.name == "affine.for" else None, ir.WalkResult.ADVANCE)[1]
            )
            if texts:
                (text,) = texts
                attrs.put(loops[0], attrs.ANNOTATIONS, {link_kernels.PRAGMA: text, "other": 1})
        return module

    return program


def check(lib) -> None:
    random = np.random.default_rng(0)
    a, b, c = (random.standard_normal((16, 32), dtype=np.float32) for _ in range(3))
    want = c.copy()
    want[:, :16] += 2 * (a[:, :16] @ b[:, :16].T)
    lib["main"](a, b, c)
    np.testing.assert_allclose(c, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("driver", ["jit", "tools"])
def test_built_in_kernel(program, driver):
    lib = build(program(), driver=driver)
    check(lib)
    assert "vfmadd" in lib.assembly or "fmadd" in lib.assembly or "fmla" in lib.assembly or "mulps" in lib.assembly


@pytest.mark.parametrize("driver", ["jit", "tools"])
@pytest.mark.parametrize("symbol", ["tmm16", "another"])
def test_c_kernel_wins_over_the_built_in_one(program, driver, symbol):
    text = create_llvm(C_SOURCE.replace("SYMBOL", symbol))
    module = program(symbol, text)
    lib = build(module, driver=driver)
    check(lib)
    assert "calls" in lib.lowered  # the C kernel's static variable
    assert link_kernels.PRAGMA in str(module) and link_kernels.PRAGMA in lib.mlir  # the program is left as it was
    assert link_kernels.PRAGMA not in lib.lowered


def test_a_shared_library(program, tmp_path):
    from tir_mlir.runtime.drivers import aot
    from tir_mlir.runtime.tools import c_tools

    obj, shared = str(tmp_path / "k.o"), str(tmp_path / "libk.so")
    aot.compile_object(create_llvm(C_SOURCE.replace("SYMBOL", "in_a_library")), obj)
    c_tools.link_shared([obj], shared, [])
    for driver in ("jit", "tools"):
        check(build(program("in_a_library"), libs=[shared], driver=driver))
    with pytest.raises(BuildError, match="cannot be loaded"):
        build(program("in_a_library"), libs=[str(tmp_path / "none.so")])


def test_a_registered_kernel(program, monkeypatch):
    monkeypatch.setattr(registry, "_kernels", dict(registry._kernels))
    source = create_llvm(C_SOURCE.replace("SYMBOL", "mine"))
    register_kernel("mine", lambda: emit(str(link_kernels.import_llvm(source))))
    check(build(program("mine")))
    register_kernel("empty", lambda: emit("llvm.func @something_else() { llvm.return }"))
    with pytest.raises(BuildError, match=r"'empty' defines no llvm.func of that name; it made: something_else"):
        build(program("empty"))
    register_kernel("wrong", lambda: emit("llvm.func @wrong() { llvm.nobody }"))
    with pytest.raises(BuildError, match=r"the kernel registered for 'wrong' is not valid MLIR: (.|\n)*nobody"):
        build(program("wrong"))


def test_no_kernel_at_all(program):
    with pytest.raises(BuildError) as caught:
        build(program("nobody"))
    message = str(caught.value)
    for part in (
        "'nobody'",
        "(!llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32) -> i32",
        "create_llvm",
        link_kernels.PRAGMA,
        "register_kernel('nobody'",
        "libs=[",
    ):
        assert part in message


def test_annotated_text_without_the_symbol(program):
    with pytest.raises(BuildError, match=r"'nobody'[\s\S]*the annotated text defines: .*somebody"):
        build(program("nobody", create_llvm(C_SOURCE.replace("SYMBOL", "somebody"))))


def test_a_wrong_signature_error_shows_both(program):
    text = create_llvm('extern "C" int tmm16(float *c, float *a, float *b) { return 0; }')
    with pytest.raises(BuildError, match=r"i32 \(ptr, ptr, ptr, i32, i32, i32\)>\n.*i32 \(ptr, ptr, ptr\)>"):
        build(program("tmm16", text))


def test_hidden_and_merged_symbols_become_local(program):
    text = create_llvm(
        "struct S { float v; __attribute__((noinline)) float get() { return v; } };\n"
        '__attribute__((visibility("hidden"))) float one() { S s{1.0f}; return s.get(); }\n'
        + C_SOURCE.replace("SYMBOL", "tmm16").replace("return *a", "return one() * *a")
    )
    check(build(program("tmm16", text)))


def test_static_constructors_are_refused(program):
    source = "extern float seed(); float global = 3.0f; struct T { T() { global = global * 2; } }; "
    text = create_llvm(
        source + "volatile float z; T t; struct U { U() { z = z + 1; } } u;" + C_SOURCE.replace("SYMBOL", "tmm16")
    )
    with pytest.raises(BuildError, match="static constructors"):
        build(program("tmm16", text))


def test_a_kernel_without_a_meaning(program):
    """Undefined in every run: LLVM leaves a function without code, over which its linker ends the process."""
    source = C_SOURCE.replace("SYMBOL", "undefined").replace("int i = 0", "int i = 1e400")
    with pytest.raises(BuildError, match="main has undefined behavior in every run"):
        build(program("undefined", create_llvm(source)))
