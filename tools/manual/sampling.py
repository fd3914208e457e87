"""Examples: sampling, with decisions recorded in the trace."""

from pages import example
from programs import elementwise, two_stages

from tir_mlir import Schedule


@example(elementwise)
def sample_perfect_tile(sch: Schedule):
    i, _j = sch.get_loops("B")
    factors = sch.sample_perfect_tile(i, n=2, decision=[4, 8])
    sch.split(i, factors)


@example(elementwise)
def sample_partitioned_tile(sch: Schedule):
    i, _j = sch.get_loops("B")
    factors = sch.sample_partitioned_tile(i, n=3, partition_pos=1, innerpart_factor=8, decision=[2, 8, 2])
    sch.split(i, factors)


@example(elementwise)
def sample_categorical(sch: Schedule):
    _i, j = sch.get_loops("B")
    width = sch.sample_categorical([4, 10], [0.5, 0.5], decision=1)
    sch.split(j, [None, width])


@example(two_stages)
def sample_compute_location(sch: Schedule):
    where = sch.sample_compute_location("B", decision=0)
    sch.compute_at("B", where)


@example(elementwise)
def enter_postproc(sch: Schedule):
    sch.enter_postproc()
