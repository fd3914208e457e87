"""A function that is bound to blocks and threads as loops of a CPU: its threads one after the other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import cast

from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.units.unit_queries import (
    NAME,
    UnitQuery,
    canonical_text,
    decode_query,
    encode_result,
    parse_canonical,
    run_unit,
)
from tir_mlir.passes.lower.gpu import emulation
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.target import CUDA, resolved
from tir_mlir.targets.kernels import lower_to_kernels
from tir_mlir.targets.stages import BuildOptions


def emulated_functions(functions: Sequence[PrimFunc], options: BuildOptions) -> list[PrimFunc]:
    """The functions as loops. Raises LoweringError for what a GPU does not run."""
    questions = [UnitQuery(function) for function in functions]
    return [parse_canonical(text) for text in run_unit(f"{__name__}:emulate", questions, options)]


def emulate(payload: bytes) -> bytes:
    """The answer to one question of `emulated_functions`."""
    text, _, target, _ = decode_query(payload)
    with enter_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of lowering tell of kernels, which are built for a GPU as well
        threads = lower_to_kernels(parse_canonical(text).module.mlir, cast(CUDA, resolved(target)))
        emulation.run(threads)
        return encode_result(canonical_text(IRModule(threads)[NAME]))
