"""Lowering passes from TensorIR on upstream MLIR to the LLVM dialect, by name, and the pipeline of all of them."""

import importlib
import pkgutil

from tir_mlir.passes.lower.registry import LOWERINGS, LoweringWarning

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)

from tir_mlir.passes.lower.to_llvm import lower_to_llvm  # noqa: E402 - the pipeline looks the passes up

__all__ = ["LOWERINGS", "LoweringWarning", "lower_to_llvm"]
