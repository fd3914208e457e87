"""Functions that a block allows to approximate."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Block, annotation_keys, is_block, walk
from tir_mlir.dialect.ir.op_traits import CONTRACTED, DIFFERENCES
from tir_mlir.passes.lower.registry import Content, lowering, programs

_STRICT, _APPROXIMATE, _CONTRACT = (f"#arith.fastmath<{flags}>" for flags in ("none", "afn", "contract"))


@lowering(
    "tir-lower-gpu-approximate",
    "Allow approximate functions in blocks with the annotation",
    works_on=Content(annotations={annotation_keys.APPROXIMATE}),
)
def run(module: ir.Module) -> None:
    """Mark the functions and the arithmetic of blocks with the annotation "approximate".

        %p = arith.mulf %x, %c : f32          %p = arith.mulf %x, %c fastmath<contract> : f32
        %d = arith.subf %p, %m : f32    -->   %d = arith.subf %p, %m fastmath<contract> : f32
        %e = math.exp %d : f32                %e = math.exp %d fastmath<afn> : f32

    `tir-lower-gpu-approximations` makes instructions of the functions that a GPU has; products and sums become one
    instruction, which rounds once. Requires blocks, after `tir-lower-fastmath`.
    """
    for func in programs(module):
        for block in [Block(op) for op in walk.ops(func.op) if is_block(op)]:
            if block.annotations.get(annotation_keys.APPROXIMATE):
                for op in walk.ops(block.op):
                    if op.name.startswith("math."):
                        op.attributes["fastmath"] = ir.Attribute.parse(_APPROXIMATE)
                    elif op.name in CONTRACTED | DIFFERENCES and str(op.attributes["fastmath"]) == _STRICT:
                        op.attributes["fastmath"] = ir.Attribute.parse(_CONTRACT)
