"""Programs that fail when they run: each calls a kernel with a planted fault."""

from __future__ import annotations

from typing import Any

from programs.parsed import parse

from tir_mlir.runtime.kernels.registry import emit, register_kernel
from tir_mlir.tune.trials import Job, TrialLimits, job_of

STORES = """
        llvm.func @NAME(%p: !llvm.ptr) -> i32 {
          %v = llvm.mlir.constant(VALUE : f32) : f32
          %z = llvm.mlir.constant(0 : i32) : i32
          %far = llvm.mlir.constant(AT : i64) : i64
          %q = llvm.getelementptr %p[%far] : (!llvm.ptr, i64) -> !llvm.ptr, f32
          llvm.store volatile %v, %q : f32, !llvm.ptr
          llvm.return %z : i32
        }"""


def stores(name: str, value: float, at: int = 0) -> str:
    """A kernel that stores a value at a distance from its pointer."""
    return STORES.replace("NAME", name).replace("VALUE", str(value)).replace("AT", str(at))


KERNELS = {
    "planted_fill": stores("planted_fill", 2.0),
    "planted_other": stores("planted_other", 3.0),
    "planted_wild": stores("planted_wild", 2.0, -(1 << 46)),
    "planted_hang": """
        llvm.func @planted_hang(%p: !llvm.ptr) -> i32 {
          %v = llvm.mlir.constant(2.0 : f32) : f32
          llvm.br ^again
        ^again:
          llvm.store volatile %v, %p : f32, !llvm.ptr
          llvm.br ^again
        }""",
    "planted_wait": """
        llvm.func @pause() -> i32
        llvm.func @planted_wait(%p: !llvm.ptr) -> i32 {
          %r = llvm.call @pause() : () -> i32
          llvm.return %r : i32
        }""",
    "planted_eater": """
        llvm.func @mmap(!llvm.ptr, i64, i32, i32, i32, i64) -> !llvm.ptr
        llvm.func @planted_eater(%p: !llvm.ptr) -> i32 {
          %none = llvm.mlir.zero : !llvm.ptr
          %start = llvm.mlir.constant(0 : i64) : i64
          %size = llvm.mlir.constant(1048576 : i64) : i64
          %access = llvm.mlir.constant(3 : i32) : i32
          %populate = llvm.mlir.constant(32802 : i32) : i32
          %file = llvm.mlir.constant(-1 : i32) : i32
          llvm.br ^again
        ^again:
          %q = llvm.call @mmap(%none, %size, %access, %populate, %file, %start)
            : (!llvm.ptr, i64, i32, i32, i32, i64) -> !llvm.ptr
          llvm.br ^again
        }""",
}
PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((1,), "float32")):
        for i in range(1):
            with T.block("b"):
                vi = T.axis.spatial(1, i)
                T.reads()
                T.writes(A[vi])
                T.evaluate(T.call_extern("int32", "NAME", A.access_ptr("w")))
"""


def job(name: str, limits: TrialLimits | None = None, **options: Any) -> Job:
    """A job whose program calls the kernel of this name, which this process registers."""
    if name in KERNELS:
        register_kernel(name, lambda: emit(KERNELS[name]), override=True)
    return job_of(parse(PROGRAM.replace("NAME", name)), limits=limits or TrialLimits(run=5.0), **options)
