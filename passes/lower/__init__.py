"""What takes a TensorIR module down to LLVM: our passes by name, and the way through all of them."""

from __future__ import annotations

from tir_mlir.passes.lower import (
    abi,
    align,
    allocs,
    bf16,
    blocks,
    bools,
    collapsed,
    compact,
    conditions,
    elementary,
    fastmath,
    guards,
    pipelines,
    pointers,
    prefetch,
    registers,
    runs,
    scopes,
    stack,
    tails,
    threads,
    transpose,
    unroll,
    vectorize,
)
from tir_mlir.passes.lower.llvm import lower_to_llvm
from tir_mlir.passes.lower.registry import LOWERINGS, LoweringPass
from tir_mlir.passes.lower.threads import LoweringWarning

__all__ = [
    "LOWERINGS",
    "LoweringPass",
    "LoweringWarning",
    "abi",
    "align",
    "allocs",
    "bf16",
    "blocks",
    "bools",
    "collapsed",
    "compact",
    "conditions",
    "elementary",
    "fastmath",
    "guards",
    "lower_to_llvm",
    "pipelines",
    "pointers",
    "prefetch",
    "registers",
    "runs",
    "scopes",
    "stack",
    "tails",
    "threads",
    "transpose",
    "unroll",
    "vectorize",
]
