"""Examples: blocks and reductions."""

from pages import example, refused
from programs import bytes_matmul, matmul, odd_matmul, padded, row_sums, sums_and_bias, sums_up_to, two_stages

from tir_mlir import Schedule, TensorIntrin
from tir_mlir.script import tir as T


@T.prim_func
def axpy_desc(a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (1,), "float32")
    B = T.match_buffer(b, (16,), "float32")
    C = T.match_buffer(c, (16,), "float32")
    with T.block("root"):
        T.reads(C[0:16], A[0], B[0:16])
        T.writes(C[0:16])
        for j in range(16):
            with T.block("axpy"):
                vj = T.axis.spatial(16, j)
                C[vj] = C[vj] + A[0] * B[vj]


@T.prim_func
def axpy_impl(a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (1,), "float32", offset_factor=1)
    B = T.match_buffer(b, (16,), "float32", offset_factor=1)
    C = T.match_buffer(c, (16,), "float32", offset_factor=1)
    with T.block("root"):
        T.reads(C[0:16], A[0], B[0:16])
        T.writes(C[0:16])
        for j in T.vectorized(16):
            with T.block("axpy_vector"):
                vj = T.axis.spatial(16, j)
                C[vj] = C[vj] + A[0] * B[vj]


@example(matmul)
def blockize(sch: Schedule):
    _i, j, k = sch.get_loops("C")
    j_0, j_1 = sch.split(j, factors=[None, 8])
    sch.reorder(j_0, k, j_1)
    return sch.blockize(j_1)


@example(matmul)
def decompose_reduction(sch: Schedule):
    _i, _j, k = sch.get_loops("C")
    return sch.decompose_reduction("C", k)


@example(row_sums)
def rfactor(sch: Schedule):
    _i, k = sch.get_loops("C")
    _k_0, k_1 = sch.split(k, factors=[None, 8])
    return sch.rfactor(k_1, factor_axis=0)


@example(sums_up_to)
def trim_reduction(sch: Schedule):
    i_0, _i_1 = sch.split(sch.get_loops("C")[0], factors=[None, 16])
    sch.trim_reduction("C", i_0)


@refused(row_sums)
def trim_reduction(sch: Schedule):  # noqa: F811
    sch.trim_reduction("C", sch.get_loops("C")[0])


@example(bytes_matmul)
def shift_operand(sch: Schedule):
    return sch.shift_operand("C", "A")


@refused(matmul)
def shift_operand(sch: Schedule):  # noqa: F811
    sch.shift_operand("C", "A")


@example(matmul)
def tensorize(sch: Schedule):
    TensorIntrin.register("manual_axpy", axpy_desc, axpy_impl, override=True)
    _i, j, k = sch.get_loops("C")
    j_0, j_1 = sch.split(j, factors=[None, 16])
    sch.reorder(j_0, k, j_1)
    sch.decompose_reduction("C", j_0)
    sch.tensorize(j_1, "manual_axpy")


@refused(matmul)
def tensorize(sch: Schedule):  # noqa: F811
    TensorIntrin.register("manual_axpy", axpy_desc, axpy_impl, override=True)
    _i, j, k = sch.get_loops("C")
    j_0, j_1 = sch.split(j, factors=[None, 8])
    sch.reorder(j_0, k, j_1)
    sch.decompose_reduction("C", j_0)
    sch.tensorize(j_1, "manual_axpy")


@example(two_stages)
def reorder_block_iter_var(sch: Schedule):
    sch.reorder_block_iter_var("B", [1, 0])


@example(odd_matmul)
def pad_einsum(sch: Schedule):
    sch.pad_einsum("C", [16, 16, 16])


@example(padded)
def decompose_padding(sch: Schedule):
    (i,) = sch.get_loops("B")
    return sch.decompose_padding("B", i)


@example(padded)
def can_decompose_padding(sch: Schedule):
    (i,) = sch.get_loops("B")
    return sch.can_decompose_padding("B", i)


@example(sums_and_bias)
def fuse_reduction_epilogue(sch: Schedule):
    sch.fuse_reduction_epilogue("B", "C")
