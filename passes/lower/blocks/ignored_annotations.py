"""Warn about annotations that ask for code which lowering does not generate."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Block, Loop, annotation_keys, is_block, is_loop, walk
from tir_mlir.passes.lower.registry import Content, location_text, lowering, programs, warn


@lowering(
    "tir-lower-ignored-annotations",
    "Warn about annotations that lowering ignores",
    works_on=Content(annotations={*annotation_keys.IGNORED}),
)
def run(module: ir.Module, device: str = "cpu") -> None:
    """Give a LoweringWarning for each annotation of TVM that asks for code which lowering does not generate.

        for %k {...} {tir.annotations = {software_pipeline_stage = [0, 1]}}   -->   the same, and a warning

    The program is unchanged. device: "gpu" for code of kernels, where `prefetch` has no effect. Requires blocks, which
    carry annotations.
    """
    for func in programs(module):
        for op in walk.ops(func.op):
            if is_loop(op) or is_block(op):
                _check(Loop(op) if is_loop(op) else Block(op), device == "gpu")


def _check(view: Loop | Block, gpu: bool) -> None:
    for key in view.annotations:
        if instead := annotation_keys.replacement_for(key, gpu):
            word, where = "loop" if isinstance(view, Loop) else "block", " on a GPU" if gpu else ""
            warn(f'{location_text(view.op)}: {word} "{view.name}": annotation "{key}" has no effect{where}; {instead}')
