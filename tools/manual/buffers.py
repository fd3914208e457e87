"""Examples: caching, storage and layouts of buffers."""

from pages import example
from programs import elementwise, in_place, matmul, repeated, scaled, three_stages, two_stages

from tir_mlir import Schedule


@example(matmul)
def cache_read(sch: Schedule):
    return sch.cache_read("C", 0, "local")


@example(matmul)
def cache_write(sch: Schedule):
    return sch.cache_write("C", 0, "local")


@example(matmul)
def reindex(sch: Schedule):
    return sch.reindex("C", ("read", 1))


@example(matmul)
def reindex_cache_read(sch: Schedule):
    return sch.reindex_cache_read("C", 1, "local", lambda vi, vj, vk: (vj, vk))


@example(matmul)
def reindex_cache_write(sch: Schedule):
    return sch.reindex_cache_write("C", 0, "local", lambda vi, vj, vk: (vj, vi))


@example(two_stages)
def set_scope(sch: Schedule):
    sch.set_scope("B", 0, "local")


@example(two_stages)
def storage_align(sch: Schedule):
    sch.storage_align("B", 0, axis=-2, factor=16, offset=1)


@example(two_stages)
def swizzle(sch: Schedule):
    sch.set_scope("B", 0, "shared")
    sch.swizzle("B", 0)


@example(matmul)
def tma_pipeline(sch: Schedule):
    i, j, k = sch.get_loops("C")
    k_0, _k_1 = sch.split(k, factors=[None, 8])
    sch.reorder(k_0, i, j)
    copies = [sch.cache_read("C", operand, "shared") for operand in "AB"]
    for copy in copies:
        sch.compute_at(copy, k_0)
    sch.tma_pipeline(copies, k_0, stages=3)


@example(two_stages)
def unsafe_set_dtype(sch: Schedule):
    sch.unsafe_set_dtype("B", 0, "float64")


@example(elementwise)
def transform_layout(sch: Schedule):
    sch.transform_layout("B", ("write", 0), lambda i, j: (i // 8, j // 4, i % 8, j % 4))


@example(elementwise)
def annotate_buffer_access(sch: Schedule):
    sch.annotate_buffer_access("B", 0, "read", lambda i, j: ((i - 1, i + 1), j))


@example(elementwise)
def unsafe_hide_buffer_access(sch: Schedule):
    sch.unsafe_hide_buffer_access("B", "read", [0])


@example(in_place)
def cache_inplace(sch: Schedule):
    return sch.cache_inplace("A", 0, "local")


@example(repeated)
def cache_index(sch: Schedule):
    return sch.cache_index("B", "global")


@example(scaled)
def cache_value(sch: Schedule):
    return sch.cache_value("B", [0], "local")


@example(two_stages)
def read_at(sch: Schedule):
    i, _j = sch.get_loops("C")
    return sch.read_at(i, "C", 0, "shared")


@example(three_stages)
def write_in_place(sch: Schedule):
    sch.write_in_place("C", "B")


@example(two_stages)
def write_at(sch: Schedule):
    i, _j = sch.get_loops("B")
    return sch.write_at(i, "B", 0, "shared")


@example(elementwise)
def transform_block_layout(sch: Schedule):
    sch.transform_block_layout("B", lambda i, j: (i // 8, j, i % 8))
