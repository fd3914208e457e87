"""A user's file: a module, an instruction with a kernel in C."""

from typing import no_type_check

from tir_mlir import Schedule, TensorIntrin, build, create_llvm, te
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


@I.ir_module
class Module:
    @T.prim_func
    def main(X: T.Buffer((16, 128), "float32"), Y: T.Buffer((16, 128), "float32")):
        T.func_attr({"tir.noalias": True})
        for i in T.parallel(16):
            for j in range(128):
                with T.block("Y"):
                    T.where(j < 100)
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = T.if_then_else(X[vi, vj] > 0.0, X[vi, vj], 0.0)

    @T.prim_func
    def other(x: T.handle):
        X = T.match_buffer(x, (8,), "int32")
        for i in T.serial(8):
            with T.block("X"):
                v = T.axis.S(8, i)
                X[v] = v


@T.prim_func(private=True)  # type: ignore[call-arg]
@no_type_check
def cleared(X: T.Buffer((8,), "int32")):
    for i in range(8):
        with T.block("X"):
            v = T.axis.spatial(8, i)
            X[v] = 0


@T.prim_func
def dot_desc(a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (4,), "int8", offset_factor=4)
    B = T.match_buffer(b, (4,), "int8", offset_factor=4)
    C = T.match_buffer(c, (1,), "int32", offset_factor=1)
    with T.block("root"):
        T.reads(C[0], A[0:4], B[0:4])
        T.writes(C[0])
        for k in range(4):
            with T.block("update"):
                vk = T.axis.remap("R", [k])
                C[0] = C[0] + T.cast(A[vk], "int32") * T.cast(B[vk], "int32")


@T.prim_func
def dot_impl(a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (4,), "int8", offset_factor=4)
    B = T.match_buffer(b, (4,), "int8", offset_factor=4)
    C = T.match_buffer(c, (1,), "int32", offset_factor=1)
    with T.block("root"):
        T.reads(C[0], A[0:4], B[0:4])
        T.writes(C[0])
        T.evaluate(T.call_extern("int32", "dot4", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r")))


@T.macro
def halved(X, Y, i):
    x: T.let[T.float32] = X[i]
    Y[i] = x * T.float32(0.5)


@T.prim_func
def halves(X: T.Buffer((16,), "float32"), Y: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("Y"):
            vi = T.axis.spatial(16, i)
            halved(X, Y, vi)


def symmetric(n: int) -> te.Tensor:
    X = te.placeholder((n, n), name="X")
    k = te.reduce_axis((0, n), name="k")
    P = te.compute((n, n), lambda i, j: X[i, j] + X[j, i] - 1.0, name="P")
    Q = te.compute((n,), lambda i: te.sum(P[i, k] * 2.0, axis=k), name="Q")
    return te.compute((n,), lambda i: Q[i] + 1.0, name="R")


def main() -> None:
    sch = Schedule(Module)
    print(halves.script(), symmetric(4))
    sch.work_on("main")
    i, j = sch.get_loops("Y")
    sch.split(j, [None, 32])
    print(sch.get_child_blocks(i), sch.history, sch.explain("parallel", i))
    build(sch)
    build(Module)
    print(cleared.script())
    TensorIntrin.register("dot4", dot_desc, dot_impl)
    text = create_llvm("int dot4(int *c, const signed char *a, const signed char *b) { return 0; }")
    sch.annotate(i, "pragma_import_llvm", text)


if __name__ == "__main__":
    main()
