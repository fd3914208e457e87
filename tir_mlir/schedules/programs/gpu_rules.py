"""The functions that schedule blocks for a GPU: every block becomes a kernel, or a part of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.gpu.attention import attention_tiles, is_tiled_attention
from tir_mlir.schedules.gpu.elementwise import elementwise
from tir_mlir.schedules.gpu.product import product
from tir_mlir.schedules.gpu.reduction import reduction
from tir_mlir.schedules.gpu.rowwise import rowwise
from tir_mlir.schedules.gpu.scatter import scatter
from tir_mlir.schedules.gpu.tensor_cores import tensor_core_product
from tir_mlir.schedules.gpu.threads import one_thread, per_element
from tir_mlir.schedules.gpu.transpose import transpose
from tir_mlir.schedules.programs.block_kinds import Kind
from tir_mlir.schedules.programs.rules import HEAVY, Attempt, Program
from tir_mlir.target import GPU

RULES: dict[Kind, tuple[str, ...]] = {
    Kind.PRODUCT: ("tensor_cores", "product", "reduction", "per_element"),
    Kind.CONVOLUTION: ("tensor_cores", "product", "reduction", "per_element"),
    Kind.REDUCTION: ("scatter", "product", "reduction", "per_element", "one_thread"),
    Kind.ELEMENTWISE: ("rowwise", "transpose", "elementwise", "per_element", "one_thread"),
    Kind.OPAQUE: ("scatter", "per_element", "one_thread"),
    Kind.NUMBER: ("one_thread",),
}
"""The functions for the blocks of a kind, best first; one that refuses a block leaves it to the next one."""


@dataclass(frozen=True)
class GpuRules:
    """The rules for a GPU."""

    gpu: GPU
    attention: bool = False
    epilogues: bool = True
    kept_kinds: frozenset[Kind] = frozenset({Kind.SCHEDULED})

    def schedule_function(self, sch: Schedule, function: str) -> str | None:
        if not is_tiled_attention(sch, function) or not self.gpu.has("mma"):
            return None
        attention_tiles(sch, self.gpu, function)
        return "attention"

    def attempts(self, program: Program, name: str, epilogue: BlockHandle | None) -> Iterator[Attempt]:
        sch, block, gpu = program.sch, program.blocks[name], self.gpu
        fixed = program.unfusible_blocks(name, HEAVY)
        light = program.light(name) | fixed
        calls = {
            "tensor_cores": lambda: tensor_core_product(sch, block, gpu, epilogue),
            "product": lambda: product(sch, block, gpu, epilogue),
            "rowwise": lambda: rowwise(sch, block, fixed),
            "reduction": lambda: reduction(sch, block),
            "transpose": lambda: transpose(sch, block, light),
            "elementwise": lambda: elementwise(sch, block, light),
            "scatter": lambda: scatter(sch, block, gpu),
            "per_element": lambda: per_element(sch, block),
            "one_thread": lambda: one_thread(sch, block),
        }
        for rule in RULES[program.kinds[name]]:
            if rule != "rowwise" or program.reductions(name, fixed):
                yield rule, calls[rule]
