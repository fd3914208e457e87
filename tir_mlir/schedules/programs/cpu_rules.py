"""The functions that schedule blocks for a CPU."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import block_info, iters, num_instances
from tir_mlir.schedules.convolutions.conv2d import conv2d, padding
from tir_mlir.schedules.convolutions.winograd import winograd
from tir_mlir.schedules.producers import with_producers
from tir_mlir.schedules.products.gemm import gemm
from tir_mlir.schedules.products.gemv import gemv
from tir_mlir.schedules.products.group_sums import schedule_groups
from tir_mlir.schedules.products.grouped_tiles import grouped_tiles
from tir_mlir.schedules.programs.attention import schedule_attention
from tir_mlir.schedules.programs.block_kinds import Kind, kind_of
from tir_mlir.schedules.programs.rules import HEAVY, Attempt, Program
from tir_mlir.schedules.rows.elementwise import elementwise_chain, inline_producers
from tir_mlir.schedules.rows.independent import independent
from tir_mlir.schedules.rows.reduction import reduction
from tir_mlir.schedules.rows.rowwise import schedule_rows
from tir_mlir.schedules.rows.stages import stages
from tir_mlir.target import Target


@dataclass(frozen=True)
class CpuRules:
    """The rules for a CPU, with the options of `schedules.auto`."""

    target: Target
    threads: int | None
    reciprocal: bool
    free: bool
    attention: bool = True
    epilogues: bool = True
    kept_kinds: frozenset[Kind] = frozenset({Kind.SCHEDULED, Kind.NUMBER})

    def schedule_function(self, sch: Schedule, function: str) -> str | None:
        return None

    def attempts(self, program: Program, name: str, epilogue: BlockHandle | None) -> Iterator[Attempt]:
        sch, target, threads, block, free = program.sch, self.target, self.threads, program.blocks[name], self.free
        kind = program.kinds[name]
        if kind in (Kind.PRODUCT, Kind.ELEMENTWISE):
            outside = program.unfusible_blocks(name, frozenset())
            if program.attention(name):
                yield (
                    "attention",
                    lambda: schedule_attention(sch, block, target, threads, self.reciprocal, outside, free, epilogue),
                )
        if kind is Kind.PRODUCT:
            yield "group_sums", lambda: schedule_groups(sch, block, target, threads, epilogue)
            yield "grouped_tiles", lambda: grouped_tiles(sch, block, target, threads, epilogue)
            yield "gemm", lambda: gemm(sch, block, target, threads, free=free, epilogue=epilogue)
            yield "gemv", lambda: gemv(sch, block, target, threads, free, epilogue)
        if kind is Kind.CONVOLUTION and epilogue is not None:
            yield "winograd", lambda: winograd(sch, block, target, threads, epilogue)
        if kind in (Kind.PRODUCT, Kind.CONVOLUTION):
            yield "conv2d", lambda: conv2d(sch, block, target, threads, free, epilogue)
        if kind is Kind.REDUCTION and _has_rows_and_columns(sch, block):
            yield "gemm", lambda: _gemm_of_producers(sch, block, target, threads, free, program.light(name))
        if kind in (Kind.PRODUCT, Kind.CONVOLUTION, Kind.REDUCTION):
            yield "reduction", lambda: reduction(sch, block, target, threads, free)
        if kind is Kind.ELEMENTWISE:
            fixed = program.unfusible_blocks(name, HEAVY) | (
                set(program.blocks) - {name} if program.follows_attention(name) else set()
            )
            fixed |= {m.info.name for m in program.reductions(name, fixed) if len(m.info.writes) > 1}  # argmax
            if program.reductions(name, fixed):
                yield "rowwise", lambda: schedule_rows(sch, block, target, threads, self.reciprocal, fixed, free)
            if not sch.get_producers(block):
                yield "padding", lambda: padding(sch, block, target, threads)
            yield "stages", lambda: stages(sch, block, target, threads, program.unfusible_blocks(name, HEAVY))
            light = program.light(name) | fixed
            yield "elementwise", lambda: elementwise_chain(sch, block, target, threads, self.reciprocal, light, free)
        yield "independent", lambda: independent(sch, block, target, threads, free)


def _has_rows_and_columns(sch: Schedule, block: BlockHandle) -> bool:
    """Whether what a block sums is computed before it, for rows and columns."""
    info = block_info(sch, block)
    return len(iters(info, "S")) > 1 and len(iters(info, "R")) == 1 and bool(sch.get_producers(block))


def _gemm_of_producers(
    sch: Schedule, block: BlockHandle, target: Target, threads: int | None, free: bool, fixed: Collection[str]
) -> None:
    """Schedule a sum of terms of rows and columns, `sum_k (A[i, k] - B[j, k]) ** 2`, as a product with its tiles.

    Producers that compute each term are inlined; those of fewer elements, and those in `fixed`, are not. Raises
    ScheduleError for other sums.
    """
    many = num_instances(block_info(sch, block))
    few = {m.info.name for m in with_producers(sch, block, fixed) if num_instances(m.info) < many}
    inline_producers(sch, block, few.union(fixed))
    if kind_of(sch, block) is not Kind.PRODUCT:
        raise ScheduleError("the terms of the sum are not products of rows and columns")
    gemm(sch, block, target, threads, free=free)
