"""Examples: lookup of blocks and loops."""

from pages import example, refused
from programs import two_stages

from tir_mlir import Schedule


@example(two_stages)
def get_block(sch: Schedule):
    return sch.get_block("B")


@refused(two_stages)
def get_block(sch: Schedule):  # noqa: F811
    sch.get_block("D")


@example(two_stages)
def get_loops(sch: Schedule):
    return sch.get_loops("B")


@example(two_stages)
def get_child_blocks(sch: Schedule):
    return sch.get_child_blocks("root")


@example(two_stages)
def get_producers(sch: Schedule):
    return sch.get_producers("C")


@example(two_stages)
def get_consumers(sch: Schedule):
    return sch.get_consumers("B")


@example(two_stages)
def get_output_blocks(sch: Schedule):
    return sch.get_output_blocks("root")
