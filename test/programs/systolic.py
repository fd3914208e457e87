"""A systolic array with a scratchpad and an accumulator, as tests describe it, and its product."""

from __future__ import annotations

from tir_mlir import Schedule, accel
from tir_mlir.accel import upto
from tir_mlir.script import tir as T

HEADER = """static int8_t SP[1024][16]; static int32_t ACC[256][16];
static int32_t ld_stride, st_stride; static float st_scale;
static void config_ld(int32_t stride) { ld_stride = stride; }
static void config_st(int32_t stride, float scale) { st_stride = stride; st_scale = scale; }
static void mvin(const int8_t *from, int32_t to, int32_t rows, int32_t cols) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j)
    SP[to + i][j] = i < rows && j < cols ? from[i * ld_stride + j] : 0; }
static void zero(int32_t to) { for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) ACC[to + i][j] = 0; }
static void compute(int32_t a, int32_t b, int32_t c) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) for (int k = 0; k < 16; ++k)
    ACC[c + i][j] += SP[a + i][k] * SP[b + k][j]; }
static void mvout(int8_t *to, int32_t from, int32_t rows, int32_t cols) {
  for (int i = 0; i < rows; ++i) for (int j = 0; j < cols; ++j) {
    float x = (float)ACC[from + i][j] * st_scale;
    x = x + 12582912.0f; x = x - 12582912.0f; /* rounded: the sum has no digits behind the point */
    to[i * st_stride + j] = (int8_t)(x > 127 ? 127 : x < 0 ? 0 : x); } }
"""


def systolic(rows: int = 1024, interlocks: str = "all") -> accel.Machine:
    """The machine; rows: of its scratchpad; interlocks: of its units."""
    m = accel.Machine("array", header=HEADER)
    sp, acc = m.memory("sp", rows=rows, row=(16, "int8")), m.memory("acc", rows=256, row=(16, "int32"))
    load, execute, store = (m.unit(name, queue=8, interlocks=interlocks) for name in ("load", "execute", "store"))
    ld, st = m.state("ld", stride="int32"), m.state("st", stride="int32", scale="float32")

    @m.instruction(load, sets=ld, call="config_ld({stride})")
    def config_ld(stride: T.int32): ...

    @m.instruction(store, sets=st, call="config_st({stride}, {scale})")
    def config_st(stride: T.int32, scale: T.float32): ...

    @m.instruction(load, call="mvin({D}, {R.row}, {rows}, {cols})", cycles=lambda rows, cols: rows, latency=100)
    def mvin(D: m.host("int8"), R: sp, rows: upto(16), cols: upto(16)):
        T.assume(D.strides[0] == ld.stride)
        for i, j in T.grid(16, 16):
            R[i, j] = T.if_then_else(i < rows and j < cols, D[i, j], T.int8(0))

    @m.instruction(execute, call="zero({C.row})", cycles=16)
    def zero(C: acc):
        for i, j in T.grid(16, 16):
            C[i, j] = 0

    @m.instruction(execute, call="compute({A.row}, {B.row}, {C.row})", cycles=16)
    def compute(A: sp, B: sp, C: acc):
        for i, j, k in T.grid(16, 16, 16):
            C[i, j] += T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])

    @m.instruction(store, call="mvout({D}, {C.row}, {rows}, {cols})", cycles=lambda rows, cols, scale: rows)
    def mvout(C: acc, D: m.host("int8"), rows: upto(16), cols: upto(16), scale: T.float32):
        T.assume(D.strides[0] == st.stride)
        T.assume(st.scale == scale)
        for i, j in T.grid(16, 16):
            if i < rows and j < cols:
                scaled = T.round(T.Cast("float32", C[i, j]) * scale)
                D[i, j] = T.Cast("int8", T.max(T.min(scaled, T.float32(127)), T.float32(0)))

    return m


def product(m: int, n: int, k: int):
    """int8 matrices, a sum in int32, and its requantisation."""

    @T.prim_func
    def main(A: T.Buffer((m, k), "int8"), B: T.Buffer((k, n), "int8"), C: T.Buffer((m, n), "int8")):
        S = T.alloc_buffer((m, n), "int32")
        for i, j, r in T.grid(m, n, k):
            with T.block("S"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    S[vi, vj] = 0
                S[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])
        for i, j in T.grid(m, n):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.Cast(
                    "int8",
                    T.max(
                        T.min(T.round(T.Cast("float32", S[vi, vj]) * T.float32(0.001953125)), T.float32(127)),
                        T.float32(0),
                    ),
                )

    return main


@T.prim_func
def symbolic_product(a: T.handle, b: T.handle, c: T.handle):
    """The same, of any sizes."""
    m, n, k = T.int32(), T.int32(), T.int32()
    A = T.match_buffer(a, (m, k), "int8")
    B = T.match_buffer(b, (k, n), "int8")
    C = T.match_buffer(c, (m, n), "int8")
    T.assume(k >= 1)
    S = T.alloc_buffer((m, n), "int32")
    for i, j, r in T.grid(m, n, k):
        with T.block("S"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, r])
            with T.init():
                S[vi, vj] = 0
            S[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])
    for i, j in T.grid(m, n):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.Cast(
                "int8",
                T.max(
                    T.min(T.round(T.Cast("float32", S[vi, vj]) * T.float32(0.001953125)), T.float32(127)), T.float32(0)
                ),
            )


def schedule_product(
    machine: accel.Machine, m: int, n: int, k: int, tiles: tuple[int, int, int], ahead: bool
) -> Schedule:
    """The product on the machine, in so many tiles of 16; ahead: whether copies are double-buffered."""
    sch = Schedule(product(m, n, k))
    put_product(sch, machine, tiles, ahead, bool(m % 16 or n % 16 or k % 16))
    return sch


def put_product(
    sch: Schedule, machine: accel.Machine, tiles: tuple[int, int, int], ahead: bool, is_ragged: bool
) -> None:
    """Schedule a product for the machine. is_ragged: whether sizes may be no multiples of 16."""
    sp, acc = (machine.spaces[name].scope for name in ("sp", "acc"))
    if is_ragged:
        sch.pad_einsum("S", [16, 16, 16])
        sch.compute_inline("S_pad")
        a, b = sch.get_sblock("A_pad"), sch.get_sblock("B_pad")
        for copy in (a, b):
            sch.set_scope(copy, 0, sp)
    else:
        a, b = sch.cache_read("S", "A", sp), sch.cache_read("S", "B", sp)
    sch.set_scope("S", 0, acc)
    inner, outer, middle = [], [], []
    for loop, count in zip(sch.get_loops("S"), tiles, strict=True):
        whole, lane = sch.split(loop, [None, 16])
        first, second = sch.split(whole, [None, count])
        outer, middle, inner = [*outer, first], [*middle, second], [*inner, lane]
    sch.reorder(*outer, *middle, *inner)
    for copy in (a, b):
        sch.compute_at(copy, outer[2])
    sch.reverse_compute_at("C", outer[1])
    for block in (a, b, "S"):
        sch.transform_layout(block, ("write", 0), lambda x, y: (x // 16, y // 16, x % 16, y % 16))
    zero = sch.decompose_reduction("S", outer[2])
    if ahead and sch.get(outer[2]).extent != 1:
        sch.double_buffer([a, b], outer[2])
    sch.tensorize(inner[0], "array.compute")
    for block, name in ((a, "array.mvin"), (b, "array.mvin"), ("C", "array.mvout")):
        x, y = sch.get_loops(block)[-2:]
        (x_0, x_1), (y_0, y_1) = sch.split(x, [None, 16]), sch.split(y, [None, 16])
        sch.reorder(x_0, y_0, x_1, y_1)
        sch.tensorize(x_1, name)
    sch.tensorize(sch.get_loops(zero)[-2], "array.zero")
