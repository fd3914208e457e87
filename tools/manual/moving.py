"""Examples: compute location and inlining."""

from pages import example, refused
from programs import blur, two_stages

from tir_mlir import Schedule


@example(blur)
def compute_at(sch: Schedule):
    i_0, _i_1 = sch.split(sch.get_loops("C")[0], factors=[None, 8])
    sch.compute_at("B", i_0)


@refused(blur)
def compute_at(sch: Schedule):  # noqa: F811
    (i,) = sch.get_loops("B")
    sch.compute_at("C", i)


@example(two_stages)
def reverse_compute_at(sch: Schedule):
    i, _j = sch.get_loops("B")
    sch.reverse_compute_at("C", i)


@example(blur)
def compute_inline(sch: Schedule):
    sch.compute_inline("B")


@refused(blur)
def compute_inline(sch: Schedule):  # noqa: F811
    sch.compute_inline("C")


@example(two_stages)
def reverse_compute_inline(sch: Schedule):
    sch.reverse_compute_inline("C")


@example(blur)
def rolling_buffer(sch: Schedule):
    i_0, _i_1 = sch.split(sch.get_loops("C")[0], factors=[None, 8])
    sch.compute_at("B", i_0)
    sch.rolling_buffer("B", 0)


@example(two_stages)
def double_buffer(sch: Schedule):
    i, _j = sch.get_loops("B")
    sch.reverse_compute_at("C", i)
    sch.double_buffer("B", i)


@refused(blur)
def double_buffer(sch: Schedule):  # noqa: F811
    (i,) = sch.get_loops("B")
    sch.double_buffer("B", i)


@example(two_stages)
def pipeline(sch: Schedule):
    i, _j = sch.get_loops("B")
    sch.reverse_compute_at("C", i)
    sch.pipeline(i, stages=2)


@refused(two_stages)
def pipeline(sch: Schedule):  # noqa: F811
    i, _j = sch.get_loops("B")
    sch.reverse_compute_at("C", i)
    sch.pipeline(i, stages=[1, 0])
