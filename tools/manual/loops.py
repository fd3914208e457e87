"""Examples: loops."""

from pages import example, refused
from programs import any_rows, elementwise, matmul, prefix, row_sums, running, together, two_stages

from tir_mlir import Schedule


@example(elementwise)
def split(sch: Schedule):
    _i, j = sch.get_loops("B")
    return sch.split(j, factors=[None, 8])


@refused(elementwise)
def split(sch: Schedule):  # noqa: F811
    i, _j = sch.get_loops("B")
    sch.split(i, factors=[4, 4])


@example(elementwise)
def fuse(sch: Schedule):
    i, j = sch.get_loops("B")
    return sch.fuse(i, j)


@example(two_stages)
def merge(sch: Schedule):
    first, second = sch.get_loops("B")[1], sch.get_loops("C")[1]
    return sch.merge(first, second)


@example(together)
def fission(sch: Schedule):
    (i,) = sch.get_loops("B")
    return sch.fission(i, after="B")


@refused(running)
def fission(sch: Schedule):  # noqa: F811
    (i,) = sch.get_loops("S")
    sch.fission(i, after="S")


@example(elementwise)
def loop_partition(sch: Schedule):
    i, _j = sch.get_loops("B")
    return sch.loop_partition(i, [4, None])


@example(any_rows)
def version_loop(sch: Schedule):
    i, _j = sch.get_loops("B")
    return sch.version_loop(i, [16])


@refused(elementwise)
def version_loop(sch: Schedule):  # noqa: F811
    i, _j = sch.get_loops("B")
    sch.version_loop(i, [16])


@example(elementwise)
def add_unit_loop(sch: Schedule):
    return sch.add_unit_loop("B")


@example(matmul)
def reorder(sch: Schedule):
    i, _j, k = sch.get_loops("C")
    sch.reorder(k, i)


@example(elementwise)
def parallel(sch: Schedule):
    i, _j = sch.get_loops("B")
    sch.parallel(i)


@refused(row_sums)
def parallel(sch: Schedule):  # noqa: F811
    _i, k = sch.get_loops("C")
    sch.parallel(k)


@example(elementwise)
def vectorize(sch: Schedule):
    _i, j = sch.get_loops("B")
    sch.vectorize(j)


@refused(prefix)
def vectorize(sch: Schedule):  # noqa: F811
    (i,) = sch.get_loops("B")
    sch.vectorize(i)


@example(elementwise)
def unroll(sch: Schedule):
    _i, j = sch.get_loops("B")
    sch.unroll(j)


@example(elementwise)
def bind(sch: Schedule):
    i, _j = sch.get_loops("B")
    sch.bind(i, "threadIdx.x")


@example(elementwise)
def annotate(sch: Schedule):
    i, _j = sch.get_loops("B")
    sch.annotate(i, "pragma_auto_unroll_max_step", 16)


@example(elementwise)
def unannotate(sch: Schedule):
    sch.annotate("B", "my_tool.note", "hot")
    sch.unannotate("B", "my_tool.note")
