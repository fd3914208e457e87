"""Invalid kernel code: C for clang, LLVM IR for import, MLIR for a registered kernel. Never run."""

from __future__ import annotations

from functools import cache
from random import Random

from fuzzing.inputs import texts
from fuzzing.inputs.judging import Fault, described, short, tried
from fuzzing.inputs.mlir import ODD as MLIR
from tir_mlir import build, create_llvm
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.kernels.registry import emit, register_kernel
from tir_mlir.script.module import IRModule

C = """#include <stdint.h>
static float twice(float x) { return x + x; }
int fuzz_kernel(float *x, int32_t n) {
  for (int i = 0; i < n; ++i) {
    float y = x[i] > 0.0f ? twice(x[i]) : 1.0f / x[i];
    x[i] = __builtin_fmaf(y, 2.0f, 3.0f);
  }
  return 0;
}
"""
KERNEL = """llvm.func @fuzz_kernel(%x: !llvm.ptr, %n: i32) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %two = llvm.mlir.constant(2.0 : f32) : f32
  %a = llvm.load %x : !llvm.ptr -> f32
  %b = llvm.fmul %a, %two : f32
  %c = llvm.call @fuzz_helper(%b) : (f32) -> f32
  llvm.store %c, %x : f32, !llvm.ptr
  llvm.return %zero : i32
}
llvm.func internal @fuzz_helper(%v: f32) -> f32 {
  llvm.return %v : f32
}
"""
CALLS = """module {
  func.func private @fuzz_kernel(!llvm.ptr, i32) -> i32
  func.func @main(%X: memref<4xf32> {tir.name = "X"}) {
    %0 = memref.extract_aligned_pointer_as_index %X : memref<4xf32> -> index
    %1 = arith.index_cast %0 : index to i64
    %2 = llvm.inttoptr %1 {tir.access = "rw"} : i64 to !llvm.ptr
    %n = arith.constant 4 : i32
    affine.for %i = 0 to 1 {
      %3 = func.call @fuzz_kernel(%2, %n) : (!llvm.ptr, i32) -> i32
    } ANNOTATIONS
    return
  }
}
"""
C_ODD = (
    *texts.NUMBERS, "int", "float", "double", "char", "void", "struct s", "*", "&", "asm(\"nop\");",
    "asm volatile(\"bad %0\" : : \"r\"(1));", "__attribute__((noinline))", "__attribute__((vector_size(64)))",
    "__builtin_trap()", "extern", "\"C\"", "static", "inline", "const", "#include <nobody.h>", "#define x y",
    "#error no", "#pragma omp parallel", "while (1)", "goto", "x[i]", "fuzz_kernel", "{", "}", ";", "(", ")", "'",
    '"', "//", "/*", "\\", "_Float16", "__int128", "long double", "va_list", "register", "volatile", "union",
)  # fmt: skip
LL_ODD = (
    *texts.NUMBERS, "i32", "i1", "i999999", "float", "half", "ptr", "void", "<4 x float>", "<0 x i1>", "[9 x i8]",
    "%0", "%x", "@fuzz_kernel", "poison", "undef", "zeroinitializer", "null", "fadd", "udiv", "sdiv", "ret",
    "br label %3", "call", "tail", "musttail", "phi", "alloca", "load", "store", "getelementptr", "inbounds",
    "define", "declare", "attributes", "#0", "!0", "!{}", "metadata", "dso_local", "unreachable", "fast", "nsw",
    "zext", "bitcast", "addrspacecast", "addrspace(3)", "align 3", "x86_fp80", "token", "asm \"x\", \"r\"(i32 0)",
    "ccc", "fastcc", "cc 999", "target triple = \"nobody\"", "target datalayout = \"x\"", "module asm \"nobody\"",
    "immarg", "byval(i32)",
)  # fmt: skip


@cache
def _ll() -> str:
    return create_llvm(C)


def case(random: Random) -> str:
    """Build a text in one of three languages into a program that calls it."""
    match random.randrange(16):
        case 0:
            return _c(random)
        case 1 | 2 | 3 | 4 | 5 | 6 | 7:
            return _built(random, texts.changed(random, _ll(), LL_ODD), pragma=True)
        case _:
            return _built(random, texts.changed(random, KERNEL, MLIR), pragma=False)


def _c(random: Random) -> str:
    text = texts.changed(random, C, C_ODD)
    word, got = tried(short(text), lambda: create_llvm(text))
    if word == "accepted":
        return _built(random, got, pragma=True)
    if not isinstance(got, BuildError):
        raise Fault(f"refused by {described(got)}\n{short(text)}")
    return word


def _built(random: Random, text: str, pragma: bool) -> str:
    """Compile the program with this code, without running it."""
    if not pragma:
        register_kernel("fuzz_kernel", lambda: emit(text), override=True)
    annotated = f"{{tir.annotations = {{pragma_import_llvm = {_quoted(text)}}}}}" if pragma else ""
    module = IRModule.from_mlir(CALLS.replace("ANNOTATIONS", annotated))
    word, error = tried(short(text), lambda: build(module, cache=False))
    if word != "accepted" and not isinstance(error, BuildError):
        raise Fault(f"refused by {described(error)}\n{short(text)}")
    return word


def _quoted(text: str) -> str:
    """Return a string as an MLIR string literal."""
    data = text.encode(errors="replace")
    return '"' + "".join(chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\{c:02X}" for c in data) + '"'
