"""A matrix product for an accelerator with a 16 x 16 x 16 instruction: C = A @ B.T.

Top to bottom: the program, the instruction, the schedule that maps one to the other step by step.
`python -m tir_mlir.examples.demo` (`make demo`) shows the program after each step, runs it and times it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tir_mlir import Schedule, TensorIntrin
from tir_mlir.script import IRModule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

# ---- the program


def matmul(m: int = 1024, n: int = 1024, k: int = 1024) -> IRModule:
    """C[m, n] = A[m, k] @ B[n, k].T as three plain loops."""

    @I.ir_module
    class Matmul:
        @T.prim_func
        def main(
            A: T.Buffer((m, k), "float32"),  # type: ignore[valid-type]
            B: T.Buffer((n, k), "float32"),  # type: ignore[valid-type]
            C: T.Buffer((m, n), "float32"),  # type: ignore[valid-type]
        ):
            T.func_attr({"global_symbol": "main", "tir.noalias": True})
            for y, x, r in T.grid(m, n, k):
                with T.block("matmul"):
                    vy, vx, vr = T.axis.remap("SSR", [y, x, r])
                    with T.init():
                        C[vy, vx] = 0.0
                    C[vy, vx] += A[vy, vr] * B[vx, vr]

    return Matmul  # type: ignore[return-value]  # the decorator made it a module


# ---- the instruction: its semantics (matched against the program), and the call that implements it


@T.prim_func
def tmm16_desc(a: T.handle, b: T.handle, c: T.handle):  # type: ignore[valid-type]
    A = T.match_buffer(a, (16, 16), scope="global.A_reg", offset_factor=16)
    B = T.match_buffer(b, (16, 16), scope="global.B_reg", offset_factor=16)
    C = T.match_buffer(c, (16, 16), scope="global.accumulator", offset_factor=16)
    with T.block("root"):
        T.reads(C[0:16, 0:16], A[0:16, 0:16], B[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        for y, x, r in T.grid(16, 16, 16):
            with T.block("mac"):
                vy, vx, vr = T.axis.remap("SSR", [y, x, r])
                C[vy, vx] += A[vy, vr] * B[vx, vr]


@T.prim_func
def tmm16_impl(a: T.handle, b: T.handle, c: T.handle):  # type: ignore[valid-type]
    sa = T.int32()
    sb = T.int32()
    sc = T.int32()
    A = T.match_buffer(a, (16, 16), strides=[sa, 1], scope="global.A_reg", offset_factor=16)
    B = T.match_buffer(b, (16, 16), strides=[sb, 1], scope="global.B_reg", offset_factor=16)
    C = T.match_buffer(c, (16, 16), strides=[sc, 1], scope="global.accumulator", offset_factor=16)
    with T.block("root"):
        T.reads(C[0:16, 0:16], A[0:16, 0:16], B[0:16, 0:16])
        T.writes(C[0:16, 0:16])
        T.evaluate(
            T.call_extern("int32", "tmm16", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r"), sa, sb, sc)
        )


# An implementation in C. Without it, the kernel of this name in tir_mlir is used.
C_KERNEL = """
int tmm16(float *c, const float *a, const float *b, int stride_a, int stride_b, int stride_c) {
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column) {
      float sum = 0.0f;
      for (int r = 0; r < 16; ++r)
        sum += a[row * stride_a + r] * b[column * stride_b + r];
      c[row * stride_c + column] += sum;
    }
  return 0;
}
"""


# ---- the schedule


@dataclass(frozen=True)
class ScheduleStep:
    """A step: its call, its purpose, and the program after it."""

    call: str
    why: str
    mod: IRModule


def steps(sch: Schedule) -> Iterator[ScheduleStep]:
    """Map the block "matmul" of a schedule to tmm16; yields after each step."""
    TensorIntrin.register("tmm16", tmm16_desc, tmm16_impl, override=True)

    def record_step(call: str, why: str) -> ScheduleStep:
        return ScheduleStep(call, why, sch.mod)

    y, x, r = sch.get_loops("matmul")
    y, yi = sch.split(y, factors=[None, 16])
    yield record_step("split(y, [None, 16])", "tiles of 16 rows")
    x, xi = sch.split(x, factors=[None, 16])
    yield record_step("split(x, [None, 16])", "of 16 columns")
    r, ri = sch.split(r, factors=[None, 16])
    yield record_step("split(r, [None, 16])", "and 16 terms of the sum: the size of the instruction")
    sch.reorder(y, x, r, yi, xi, ri)
    yield record_step("reorder(y, x, r, yi, xi, ri)", "the loops of one tile go innermost")

    tile = sch.blockize(yi)
    yield record_step("blockize(yi)", "a tile becomes one block that reads and writes regions")

    a = sch.cache_read(tile, 0, "global.A_reg")
    yield record_step('cache_read(tile, 0, "global.A_reg")', "the tile reads a copy of A in the accelerator's memory")
    b = sch.cache_read(tile, 1, "global.B_reg")
    yield record_step('cache_read(tile, 1, "global.B_reg")', "and a copy of B")
    sch.compute_at(a, r)
    yield record_step("compute_at(a, r)", "copy only the 16 x 16 elements that the next tile needs")
    sch.compute_at(b, r)
    yield record_step("compute_at(b, r)", "same for B")
    c = sch.cache_write(tile, 0, "global.accumulator")
    yield record_step('cache_write(tile, 0, "global.accumulator")', "accumulate in the accumulator memory")
    sch.reverse_compute_at(c, x)
    yield record_step("reverse_compute_at(c, x)", "write back once a tile of C is complete")

    sch.decompose_reduction(tile, r)
    yield record_step("decompose_reduction(tile, r)", "zeroing the accumulator becomes a separate block")
    sch.tensorize(tile, "tmm16")
    yield record_step('tensorize(tile, "tmm16")', "replace the tile, which computes the same as tmm16, by a call of it")


def schedule_matmul(m: int = 1024, n: int = 1024, k: int = 1024, kernel: str | None = None) -> Schedule:
    """Apply the whole schedule. `kernel`: LLVM IR that defines tmm16 (see `tir_mlir.create_llvm`)."""
    sch = Schedule(matmul(m, n, k))
    for _ in steps(sch):
        pass
    if kernel is not None:
        import_kernel(sch, kernel)
    return sch


def import_kernel(sch: Schedule, kernel: str) -> None:
    """Attach LLVM IR that defines tmm16 to the program, as an annotation of its outermost loop."""
    outermost = sch.get_loops("matmul_o_update")[0]
    sch.annotate(outermost, "pragma_import_llvm", kernel)
